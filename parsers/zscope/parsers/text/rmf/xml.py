"""Read Postprocessor XML documents: one `postprocessor` element for each interval and report."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from zscope.parsers.issues import Code, Issue
from zscope.parsers.smf.framing import refuse
from zscope.parsers.text.report_rows import quoted
from zscope.parsers.text.rmf.xml_reports import read_cpu_xml, read_crypto_xml
from zscope.parsers.text.rmf.xml_tree import (
    REPORTS_READ,
    MonitorThreeError,
    XmlBytes,
    XmlDamageError,
    XmlElement,
    XmlTree,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.parsers.text.report_rows import FileRows


_LONGEST_QUOTED = 500
_ERROR_MESSAGE = re.compile(r"[A-Z@#$]{3,4}\d{2,5}[EST]", re.ASCII | re.IGNORECASE)
"""IDs of messages end in their severity: error, severe, terminating."""


class RmfXml:
    """Reads a document interval by interval; intervals before damage are read."""

    def __init__(self, sheet: FileRows) -> None:
        self._sheet = sheet
        self._skipped_reports: set[str] = set()
        self._reports: dict[tuple[str, ...], int] = {}
        """Line of each report so far, by kind, system and times."""

    def read(self, chunks: Iterator[bytes]) -> Iterator[int]:
        """Read a document; yield the number of bytes read so far after each report."""
        data = XmlBytes(chunks)
        tree = XmlTree(data.encoding, data.first_line)
        done = 0
        try:
            for piece, done in data:
                tree.feed(piece)
                yield from self._finished(tree, done)
            tree.close()
        except MonitorThreeError:
            self._sheet.add_issue(refuse(b"", self._sheet.file, Code.MONITOR_III))
        except XmlDamageError as damage:
            yield from self._finished(tree, done)
            if unit := tree.unfinished():
                self._read_unit(unit, complete=False)
            self._report_damage(damage)
            yield done

    def _finished(self, tree: XmlTree, done: int) -> Iterator[int]:
        while tree.finished:
            unit = tree.finished.popleft()
            self._read_unit(unit)
            if unit.name == "postprocessor":
                yield done

    def _read_unit(self, unit: XmlElement, *, complete: bool = True) -> None:
        if unit.name == "mfpmsg":
            self._log_message(unit)
        elif unit.name == "message":
            self._server_message(unit)
        elif unit.name == "report":
            self._skip_report(unit.line, "Monitor III")
        else:
            self._postprocessor(unit, complete=complete)

    def _postprocessor(self, unit: XmlElement, *, complete: bool) -> None:
        answers = list(unit.all("message"))
        for answer in answers:
            self._server_message(answer)
        metric = unit.at("metric")
        report = (metric.attributes.get("id", "") if metric else "").strip().upper()
        if report and report not in REPORTS_READ:
            self._skip_report(unit.line, report)
        elif self._is_repeated(unit, report):
            return
        elif unit.at("segment") and report:
            (read_cpu_xml if report == "CPU" else read_crypto_xml)(unit, self._sheet)
        elif complete and not answers:
            expected = "a metric with an id and segments with data"
            problem = f"the report beginning in line {unit.line} is empty; expected: {expected}"
            self._add_issue(Code.REPORT_UNREADABLE, problem, unit.line, column=1)

    def _is_repeated(self, unit: XmlElement, report: str) -> bool:
        """Return whether the same report was read before, as in documents that were concatenated."""
        times = [unit.text_at("time-data", name) for name in ("display-start", "display-end")]
        key = (report, unit.text_at("resource", "resname"), *times)
        if not all(key) or not unit.at("segment"):
            return False
        if key not in self._reports:
            self._reports[key] = unit.line
            return False
        problem = f"the report has the same interval as the one in line {self._reports[key]}; it is left out"
        self._add_issue(Code.REPORT_REPEATED, problem, unit.line, column=1)
        return True

    def _server_message(self, message: XmlElement) -> None:
        """Report a message that the data server returned instead of data."""
        severity = message.text_at("severity") or "not given"
        text = message.text_at("description") or message.text
        name = message.attributes.get("id", "")
        text = f"the data server answered {name} (severity {severity}): {_one_line(text)}"
        self._add_issue(Code.RMF_MESSAGE, text, message.line)

    def _log_message(self, message: XmlElement) -> None:
        name = message.attributes.get("id", "")
        if _ERROR_MESSAGE.fullmatch(name):
            self._add_issue(
                Code.RMF_MESSAGE, f"the Postprocessor said {name}: {_one_line(message.text)}", message.line
            )

    def _skip_report(self, line: int, report: str) -> None:
        if report not in self._skipped_reports:
            self._skipped_reports.add(report)
            text = f"the report {quoted(report)} is not one that zscope reads; it was skipped"
            self._add_issue(Code.OTHER_REPORT, text, line, field=report)

    def _report_damage(self, damage: XmlDamageError) -> None:
        text = f"the XML cannot be read beyond this place: {damage.problem}; everything before it was read"
        self._add_issue(Code.XML_DAMAGED, text, damage.line, column=damage.column)

    def _add_issue(
        self, code: Code, text: str, line: int, *, column: int | None = None, field: str = ""
    ) -> None:
        self._sheet.add_issue(
            Issue(code, text, self._sheet.file, line_no=line, column_no=column, field=field)
        )


def _one_line(text: str) -> str:
    """Return a message in one line of limited length."""
    return " ".join(text.split())[:_LONGEST_QUOTED]
