"""A text, XML or JSON file with reports as an input."""

from __future__ import annotations

import codecs
from collections import defaultdict
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa

from zscope.parsers.containers.streams import UNPACKED_CHUNK
from zscope.parsers.inputs import INVENTORY_SCHEMA, FileSummary, report_progress
from zscope.parsers.issues import Code, InputError, Issue
from zscope.parsers.smf.framing import refuse
from zscope.parsers.text.captured_report import KnownFrom, ReportSource
from zscope.parsers.text.coding import read_lines, read_pieces
from zscope.parsers.text.families import (
    FAMILIES,
    OBJECT_FAMILIES,
    families_of,
    family_name,
    grammars,
    xml_grammar,
)
from zscope.parsers.text.file_name import day_of, system_of
from zscope.parsers.text.headings import RMF
from zscope.parsers.text.json_objects import JsonObjectReader
from zscope.parsers.text.json_objects import looks_like_json as opens_object
from zscope.parsers.text.report_rows import FileRows, ReportSummary, quoted
from zscope.parsers.text.report_splitter import FileDefaults, ReportSplitter
from zscope.parsers.text.supplied.forms import forms_for
from zscope.schemas.reports import report_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Set

    from zscope.parsers.containers.source import Member
    from zscope.parsers.issues import Issues
    from zscope.parsers.options import ReadOptions
    from zscope.parsers.select import Selection
    from zscope.parsers.text.coding import Coding

PROGRESS_LINES = 10_000
"""Lines between two progress reports."""
_HEAD_BYTES = 1 << 16
_OPENING_BYTES = 1 << 12
_XML = (b"<?xml", b"<ddsml", b"<!DOCTYPE")
_FAMILIES_BY_KIND: dict[str, Set[str]] = {"xml": {RMF}, "json": OBJECT_FAMILIES}
"""Families that a kind of file can contain; a text file can contain all."""
_XML_EBCDIC = tuple(mark.decode().encode("cp037") for mark in _XML)


def looks_like_json(head: bytes, coding: Coding) -> bool:
    """Return whether a text that begins with these bytes contains JSON objects."""
    return opens_object("".join(read_pieces(BytesIO(head[:_OPENING_BYTES]), coding)))


def looks_like_xml(head: bytes) -> bool:
    """Return whether these bytes begin an XML document, in ASCII, UTF-8, UTF-16 or EBCDIC."""
    opening = head[:_HEAD_BYTES].removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n\x40\x15\x25")
    return opening.startswith((*_XML, *_XML_EBCDIC)) or _wide(opening).startswith(_XML)


def _wide(opening: bytes) -> bytes:
    """Return the first characters of a text in UTF-16."""
    if not opening.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return b""
    return opening[:256].decode("utf-16", "ignore").lstrip().encode("ascii", "ignore")


@dataclass
class ReportInput:
    """One file with reports."""

    member: Member
    coding: Coding
    options: ReadOptions
    issues: Issues
    kind: str = "text"
    """`text`, `xml` or `json`."""
    summary: FileSummary = field(init=False)
    _reports: list[ReportSummary] = field(default_factory=list, init=False)
    """The reports read so far."""
    _first_line: str = field(default="", init=False)
    """The first line that is not empty."""

    def __post_init__(self) -> None:
        self.summary = FileSummary(self.member.name, self.member.packing, self.kind, str(self.coding))

    def batches(self, selection: Selection) -> Iterator[tuple[str, pa.RecordBatch]]:
        """Yield the rows of the selected tables; reports that give none of them are skipped."""
        tables = report_tables()
        wanted = {name: columns for name, columns in selection.columns.items() if name in tables}
        sheet = FileRows(wanted, self.issues, self.member.name)
        yield from self._read_reports(sheet, families_of(wanted))

    def inventory(self) -> pa.Table:
        """Return one row for each system, report and form."""
        sheet = FileRows({}, self.issues, self.member.name)
        for _ in self._read_reports(sheet, set(FAMILIES)):
            pass
        return self.contents()

    def contents(self) -> pa.Table:
        """Return one row for each system, report and form that was read."""
        groups: dict[tuple[str, str, str], list[ReportSummary]] = defaultdict(list)
        for report in self._reports:
            groups[report.system or "", report.name, report.source].append(report)
        packing = ", ".join(self.summary.packing) or None
        rows = []
        for (system, name, source), reports in sorted(groups.items()):
            times = [report.when_local for report in reports if report.when_local]
            rows.append(
                {
                    "file": self.member.name,
                    "kind": family_name(name),
                    "packing": packing,
                    "framing": self.summary.form,
                    "system": system or None,
                    "report": name,
                    "source": source,
                    "records": len(reports),
                    "percent": round(100 * len(reports) / len(self._reports), 2),
                    "first_local": min(times, default=None),
                    "last_local": max(times, default=None),
                }
            )
        return pa.Table.from_pylist(rows, schema=INVENTORY_SCHEMA)

    def unpacked(self, out: BinaryIO) -> int:
        """Write the unpacked bytes; return how many.

        Files of a zip archive are refused: text must not get between the records of a dump.
        """
        if not self.member.packing or self.member.packing[-1] == "zip":
            text = "is text, not a dump or a packed file: there is nothing to unpack"
            raise InputError(Issue(Code.UNKNOWN_DATA, text, self.member.name))
        written = 0
        while piece := self.member.stream.read(UNPACKED_CHUNK):
            written += out.write(piece)
        return written

    def _read_reports(self, sheet: FileRows, families: Set[str]) -> Iterator[tuple[str, pa.RecordBatch]]:
        if self.kind in _FAMILIES_BY_KIND and families.isdisjoint(_FAMILIES_BY_KIND[self.kind]):
            self.summary.skipped = True
            return
        head = self.member.stream.peek(_HEAD_BYTES)
        self._reports = sheet.reports
        match self.kind:
            case "xml":
                yield from self._read_xml(sheet)
            case "json":
                yield from self._read_json(sheet)
            case _:
                yield from self._read_text(sheet, families)
        yield from sheet.remaining_batches()
        report_progress(self.summary, self.member, self.options)
        if not self.summary.reports and not sheet.issue_count:
            self.summary.no_report = True
            self.issues.add(self._no_report(head))
        if undated := [report.line for report in sheet.reports if _should_have_date(report)]:
            shows = "1 display shows" if len(undated) == 1 else f"{len(undated):,} displays show"
            text = f"{shows} no date, and the rows have none: give the date as an option or in the file name"
            self.issues.add(Issue(Code.NO_DATE, text, self.member.name, line_no=undated[0]))

    def _read_text(self, sheet: FileRows, families: Set[str]) -> Iterator[tuple[str, pa.RecordBatch]]:
        by_family = grammars(sheet, self.options)
        others = 0
        splitter = ReportSplitter(
            self._file_defaults(), self._unknown_line_reporter(sheet), self._report_headless
        )
        for report in splitter.reports(self._lines()):
            if report.family in families:
                by_family[report.family].read(report)
                yield from sheet.full_batches()
            else:
                others += 1
        for grammar in by_family.values():
            grammar.finish()
        self.summary.reports = len(sheet.reports) + others

    def _read_xml(self, sheet: FileRows) -> Iterator[tuple[str, pa.RecordBatch]]:
        grammar = xml_grammar(sheet)
        for done in grammar.read(iter(lambda: self.member.stream.read(UNPACKED_CHUNK), b"")):
            self.summary.bytes = done
            report_progress(self.summary, self.member, self.options)
            yield from sheet.full_batches()
        self.summary.reports = len(sheet.reports)

    def _read_json(self, sheet: FileRows) -> Iterator[tuple[str, pa.RecordBatch]]:
        objects = JsonObjectReader(sheet, self.options, self._file_defaults(), pending=not self.member.named)
        for done in objects.read(self.member.stream, self.coding):
            self.summary.lines, self.summary.bytes = done
            report_progress(self.summary, self.member, self.options)
            yield from sheet.full_batches()
        self.summary.reports = len(sheet.reports)

    def _unknown_line_reporter(self, sheet: FileRows) -> Callable[[int, str], None]:
        def report_line(line: int, text: str) -> None:
            sheet.add_issue(Issue(Code.UNKNOWN_LINE, text, self.member.name, line_no=line))

        return report_line

    def _report_headless(self, line: int, text: str) -> None:
        self.issues.add(Issue(Code.HEADING_MISSING, text, self.member.name, line_no=line))

    def _lines(self) -> Iterator[str]:
        for number, line in enumerate(read_lines(self.member.stream, self.coding), 1):
            if number % PROGRESS_LINES == 0:
                report_progress(self.summary, self.member, self.options)
            self.summary.lines = number
            self.summary.bytes += len(line) + 1
            self._first_line = self._first_line or line.strip()
            yield line

    def _file_defaults(self) -> FileDefaults:
        """Return system and day from the options, or else from the file name."""
        options, name = self.options, self.member.name
        system, system_from = options.system, KnownFrom.OPTION
        if system is None:
            system, system_from = system_of(name), KnownFrom.FILE_NAME
        day, day_from = options.day, KnownFrom.OPTION
        if day is None:
            day, day_from = day_of(name), KnownFrom.FILE_NAME
        known_from = system_from if system else None
        forms = forms_for(options.renamed_columns)
        return FileDefaults(system, known_from, day, options.clock, day_from, options.run, forms)

    def _no_report(self, head: bytes) -> Issue:
        refused = refuse(head, self.member.name)
        if refused.code is not Code.UNKNOWN_DATA:
            return refused
        begin = self._first_line or head[:200].decode("utf-8", "replace").partition("\n")[0]
        text = f"readable text without a report that zscope knows (it begins {quoted(begin)})"
        if not self.member.named:
            return Issue(Code.NOT_AN_INPUT, f"skipped: {text}", self.member.name)
        looked_for = (
            "name an SMF dump, an RMF listing or XML with CPU reports, a listing or screen of Performance "
            "Toolkit (FCX112, FCX215), a capture with the heading of NETSTAT or of a GSKSRVR display "
            "(GSK01...), or a CSV or JSON file whose columns have the names of docs/inputs.md or of --map"
        )
        return Issue(Code.NO_REPORT, f"the file is {text}; {looked_for}", self.member.name)


def _should_have_date(report: ReportSummary) -> bool:
    """Return whether a report should have a date; supplied figures have times in their rows."""
    return report.when_local is None and report.source not in {ReportSource.CSV, ReportSource.JSON}
