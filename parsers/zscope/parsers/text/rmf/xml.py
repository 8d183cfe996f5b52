"""Postprocessor reports as XML: one `postprocessor` element for each interval and report."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from zscope.parsers.issues import Code, Issue
from zscope.parsers.smf.refusal import refuse
from zscope.parsers.text.out import shown
from zscope.parsers.text.rmf.xml_bytes import XmlBytes
from zscope.parsers.text.rmf.xml_cpu import read_cpu
from zscope.parsers.text.rmf.xml_crypto import read_crypto
from zscope.parsers.text.rmf.xml_tree import REPORTS_READ, Element, MonitorThreeError, XmlDamageError, XmlTree

if TYPE_CHECKING:
    from zscope.parsers.text.out import Sheet

_LONGEST_QUOTED = 500
_ERROR_MESSAGE = re.compile(r"[A-Z@#$]{3,4}\d{2,5}[EST]", re.ASCII | re.IGNORECASE)
"""Ids of messages end in a letter for how bad it is: error, severe, terminating."""


class RmfXml:
    """Reads a document interval by interval; what was complete before damage is kept."""

    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet
        self._others: set[str] = set()
        self._reports: dict[tuple[str, ...], int] = {}
        """Line of each report so far, by kind, system and times."""

    def read(self, chunks: Iterator[bytes]) -> Iterator[int]:
        """Tell after each report how many bytes were read so far."""
        data = XmlBytes(chunks)
        tree = XmlTree(data.encoding, data.first_line)
        done = 0
        try:
            for piece, done in data:
                tree.feed(piece)
                yield from self._finished(tree, done)
            tree.close()
        except MonitorThreeError:
            self._sheet.tell(refuse(b"", self._sheet.file, Code.MONITOR_III))
        except XmlDamageError as damage:
            yield from self._finished(tree, done)
            if unit := tree.unfinished():
                self._take(unit, whole=False)
            self._damaged(damage)
            yield done

    def _finished(self, tree: XmlTree, done: int) -> Iterator[int]:
        while tree.finished:
            unit = tree.finished.popleft()
            self._take(unit)
            if unit.name == "postprocessor":
                yield done

    def _take(self, unit: Element, *, whole: bool = True) -> None:
        if unit.name == "mfpmsg":
            self._log_message(unit)
        elif unit.name == "message":
            self._answer(unit)
        elif unit.name == "report":
            self._other(unit.line, "Monitor III")
        else:
            self._postprocessor(unit, whole=whole)

    def _postprocessor(self, unit: Element, *, whole: bool) -> None:
        answers = list(unit.all("message"))
        for answer in answers:
            self._answer(answer)
        metric = unit.at("metric")
        report = (metric.attributes.get("id", "") if metric else "").strip().upper()
        if report and report not in REPORTS_READ:
            self._other(unit.line, report)
        elif self._is_repeated(unit, report):
            return
        elif unit.at("segment") and report:
            (read_cpu if report == "CPU" else read_crypto)(unit, self._sheet)
        elif whole and not answers:
            expected = "a metric with an id and segments with data"
            problem = f"the report beginning in line {unit.line} is empty; expected: {expected}"
            self._tell(Code.REPORT_UNREADABLE, problem, unit.line, column=1)

    def _is_repeated(self, unit: Element, report: str) -> bool:
        """Whether the same report was there before: documents put together from several have some twice."""
        times = [unit.text_at("time-data", name) for name in ("display-start", "display-end")]
        key = (report, unit.text_at("resource", "resname"), *times)
        if not all(key) or not unit.at("segment"):
            return False
        if key not in self._reports:
            self._reports[key] = unit.line
            return False
        problem = (
            f"the report is about the same interval as the one in line {self._reports[key]}: it is left out"
        )
        self._tell(Code.REPORT_REPEATED, problem, unit.line, column=1)
        return True

    def _answer(self, message: Element) -> None:
        """What the data server says in place of data."""
        severity = message.text_at("severity") or "not given"
        text = message.text_at("description") or message.text
        name = message.attributes.get("id", "")
        said = f"the data server answered {name} (severity {severity}): {_line(text)}"
        self._tell(Code.RMF_MESSAGE, said, message.line)

    def _log_message(self, message: Element) -> None:
        name = message.attributes.get("id", "")
        if _ERROR_MESSAGE.fullmatch(name):
            self._tell(
                Code.RMF_MESSAGE, f"the Postprocessor said {name}: {_line(message.text)}", message.line
            )

    def _other(self, line: int, report: str) -> None:
        if report not in self._others:
            self._others.add(report)
            text = f"the report {shown(report)} is not one that zscope reads; it was passed over"
            self._tell(Code.OTHER_REPORT, text, line, field=report)

    def _damaged(self, damage: XmlDamageError) -> None:
        text = f"the XML cannot be read beyond this place: {damage.problem}; everything before it was kept"
        self._tell(Code.XML_DAMAGED, text, damage.line, column=damage.column)

    def _tell(self, code: Code, text: str, line: int, *, column: int | None = None, field: str = "") -> None:
        self._sheet.tell(Issue(code, text, self._sheet.file, line_no=line, column_no=column, field=field))


def _line(text: str) -> str:
    """A message in one line and not too long."""
    return " ".join(text.split())[:_LONGEST_QUOTED]
