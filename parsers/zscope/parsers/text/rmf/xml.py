"""Read Postprocessor XML documents: one `postprocessor` element for each interval and report."""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING

from zscope.parsers.issues import Code, Issue
from zscope.parsers.smf.framing import refuse
from zscope.parsers.text.line_ledger import LineUse
from zscope.parsers.text.report_rows import quoted
from zscope.parsers.text.rmf.page_heading import is_set_back
from zscope.parsers.text.rmf.workload.xml_report import read_workload_xml
from zscope.parsers.text.rmf.xml_parser import XmlDamageError, XmlParser, XmlText
from zscope.parsers.text.rmf.xml_reports import display_time, read_cpu_xml, read_crypto_xml
from zscope.parsers.text.rmf.xml_tree import REPORTS_READ, MonitorThreeError, XmlElement
from zscope.parsers.text.spelling import nearly

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.parsers.text.report_rows import FileRows


_READERS = {"CPU": read_cpu_xml, "CRYPTO": read_crypto_xml, "WLMGL": read_workload_xml}
_LONGEST_QUOTED = 500
_ERROR_MESSAGE = re.compile(r"[A-Z@#$]{3,4}\d{2,5}[EST]", re.ASCII | re.IGNORECASE)
"""IDs of messages end in their severity: error, severe, terminating."""


class Occurrence(Enum):
    """How often the interval of a report occurred before."""

    FIRST = 1
    SECOND_HOUR = 2
    REPEATED = 3


class RmfXml:
    """Reads a document interval by interval; intervals before damage are read."""

    def __init__(self, sheet: FileRows) -> None:
        self._sheet = sheet
        self._skipped_reports: set[str] = set()
        self._reports: dict[tuple[str, ...], dict[int, int]] = {}
        """Lines of the reports so far, by kind, system and times, and by the hash of their contents."""

    def read(self, chunks: Iterator[bytes]) -> Iterator[int]:
        """Read a document; yield the number of bytes read so far after each report."""
        document = XmlText(chunks)
        if refused := document.coding.refused:
            text = f"the document cannot have the declared encoding {quoted(refused)}: it is read as UTF-8"
            self._add_issue(Code.XML_DAMAGED, text, 1, column=1, field="encoding")
        parser = XmlParser()
        done = 0
        try:
            for piece, done in document:
                parser.feed(piece)
                yield from self._finished(parser, done)
            parser.close()
            self._sheet.ledger.hand_out_to(parser.line)
        except MonitorThreeError:
            self._sheet.add_issue(refuse(b"", self._sheet.file, Code.MONITOR_III))
        except XmlDamageError as damage:
            yield from self._finished(parser, done)
            if unit := parser.tree.unfinished():
                unit.damaged, unit.last_line = True, damage.line
                self._read_unit(unit)
            self._report_damage(damage)
            yield done

    def _finished(self, parser: XmlParser, done: int) -> Iterator[int]:
        ledger = self._sheet.ledger
        ledger.hand_out_to(parser.line)
        while parser.damages:
            damage = parser.damages.popleft()
            text = f"the XML is damaged here: {damage.problem}"
            if damage.resumed > damage.line:
                text += f"; it is not read up to line {damage.resumed}"
            self._add_issue(Code.XML_DAMAGED, text, damage.line, column=damage.column)
            ledger.take_all(range(damage.line, damage.resumed), LineUse.ISSUE)
        finished = parser.tree.finished
        while finished:
            unit = finished.popleft()
            self._read_unit(unit)
            if unit.name == "postprocessor":
                yield done

    def _read_unit(self, unit: XmlElement) -> None:
        self._sheet.ledger.add_part(unit.line, max(unit.line, unit.last_line), LineUse.OWED)
        if unit.damaged:
            self._sheet.ledger.take(unit.line, LineUse.ISSUE)
        if unit.name == "mfpmsg":
            self._log_message(unit)
        elif unit.name == "message":
            self._server_message(unit)
        elif unit.name == "report":
            self._skip_report(unit.line, "Monitor III")
        else:
            self._postprocessor(unit)

    def _postprocessor(self, unit: XmlElement) -> None:
        answers = list(unit.all("message"))
        for answer in answers:
            self._server_message(answer)
        metric = unit.at("metric")
        report = (metric.attributes.get("id", "") if metric else "").strip().upper()
        if metric and (known := nearly(report, REPORTS_READ)):
            text = f"the report {quoted(report)} is read as {known}, which differs in one character"
            self._add_issue(Code.REPORT_UNREADABLE, text, metric.line, field=report)
            report = known
        if report and report not in REPORTS_READ:
            self._skip_report(unit.line, report)
        elif unit.at("segment") and report:
            occurrence = self._occurrence(unit, report)
            if occurrence is not Occurrence.REPEATED:
                _READERS[report](unit, self._sheet, second=occurrence is Occurrence.SECOND_HOUR)
        elif not (unit.damaged or answers):
            expected = "a metric with an id and segments with data"
            problem = f"the report beginning in line {unit.line} is empty; expected: {expected}"
            self._add_issue(Code.REPORT_UNREADABLE, problem, unit.line, column=1)

    def _occurrence(self, unit: XmlElement, report: str) -> Occurrence:
        """Return whether the same report was read before, as in documents that were concatenated, or one of
        the same local time with other figures.
        """
        times = [unit.text_at("time-data", name) for name in ("display-start", "display-end")]
        key = (report, unit.text_at("resource", "resname"), *times)
        if not all(key):
            return Occurrence.FIRST
        if metric := unit.at("metric"):
            key = (*key, metric.attributes.get("option", ""))
        known = self._reports.setdefault(key, {})
        contents = hash(unit.contents())
        if not known or (contents not in known and len(known) == 1 and _is_set_back(times[0])):
            line = next(iter(known.values()), None)
            known[contents] = unit.line
            if line is None:
                return Occurrence.FIRST
            problem = f"the start of this interval is also in line {line}, with other figures: "
            problem += "it is in the second hour after the clock was set back"
            self._add_issue(Code.AMBIGUOUS_TIME, problem, unit.line, column=1)
            return Occurrence.SECOND_HOUR
        line = known.get(contents) or next(iter(known.values()))
        problem = f"the report has the same interval as the one in line {line}; it is skipped"
        self._add_issue(Code.REPORT_REPEATED, problem, unit.line, column=1)
        return Occurrence.REPEATED

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
        else:
            self._sheet.ledger.take(message.line, LineUse.FURNITURE)

    def _skip_report(self, line: int, report: str) -> None:
        self._sheet.ledger.take(line, LineUse.ISSUE)
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


def _is_set_back(printed: str) -> bool:
    start = display_time(printed)
    return start is not None and is_set_back(start)
