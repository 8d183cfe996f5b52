"""A text, XML or JSON file with reports as an input."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa

from zscope.parsers.containers.streams import ARCHIVES, UNPACKED_CHUNK
from zscope.parsers.inputs import INVENTORY_SCHEMA, FileSummary, day_of, report_progress, system_of
from zscope.parsers.issues import Code, InputError, Issue
from zscope.parsers.smf.framing import refuse
from zscope.parsers.text.captured_report import KnownFrom, ReportSource, single_lines
from zscope.parsers.text.coding import EBCDIC, LineEnds, code_page, read_line_parts, read_pieces
from zscope.parsers.text.console_lines import ends_report, is_prompt
from zscope.parsers.text.families import families, families_of, family_name
from zscope.parsers.text.file_defaults import FileDefaults
from zscope.parsers.text.headings import begins_heading
from zscope.parsers.text.input_lines import BEGIN_LINES, InputLines
from zscope.parsers.text.json_objects import JsonObjectReader
from zscope.parsers.text.json_objects import looks_like_json as opens_object
from zscope.parsers.text.line_ledger import LineLedger, LineUse
from zscope.parsers.text.outside_text import is_rest_of_line
from zscope.parsers.text.report_rows import FileRows, ReportSummary, quoted
from zscope.parsers.text.report_splitter import ReportSplitter
from zscope.schemas.reports import report_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Set

    from zscope.parsers.containers.streams import ByteSource
    from zscope.parsers.inputs import Member
    from zscope.parsers.issues import Issues
    from zscope.parsers.options import ReadOptions, Selection
    from zscope.parsers.text.captured_report import CapturedReport, Grammar
    from zscope.parsers.text.coding import Coding
    from zscope.parsers.text.report_family import ReportFamily

_HEAD_BYTES = 1 << 16
_OPENING_BYTES = 1 << 12
_BENCHMARK_RUN = re.compile(rb"^\s*\[\[\s*run\s*\]\]", re.MULTILINE)
"""The heading of a run in a runs.toml."""
_LINE_ENDS = ("\n", "\r", "\x0c", "\x85")
_PADDING = "\0 \x1a"
"""Characters that can follow the last line end."""
_TAIL_BYTES = 16
_SAME_BEGIN = 5
"""Lines of a log that begin with the same characters follow each other: a date, or the kind of record."""


@dataclass
class _Tail:
    """A stream that remembers its last bytes."""

    stream: ByteSource
    last: bytes = b""

    def read(self, size: int = -1, /) -> bytes:
        """Return the next bytes."""
        piece = self.stream.read(size)
        self.last = (self.last + piece[-_TAIL_BYTES:])[-_TAIL_BYTES:]
        return piece

    def ends_line(self, coding: Coding) -> bool:
        """Return whether the text ends with a line end; records always end."""
        if coding.ends is not LineEnds.CHARACTERS:
            return True
        # Wide characters have zeros beside the characters of line ends.
        last = code_page().latin(self.last) if coding.name == EBCDIC else self.last.replace(b"\0", b"")
        text = last.decode("latin-1").rstrip(_PADDING)
        return not text or text.endswith(_LINE_ENDS)


def looks_like_json(head: bytes, coding: Coding) -> bool:
    """Return whether a text that begins with these bytes contains JSON objects."""
    return opens_object("".join(read_pieces(BytesIO(head[:_OPENING_BYTES]), coding)))


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
    _is_other: bool = field(default=False, init=False)
    """Whether no selected table comes from a file of this kind: it is read up to its first report."""
    _first_line: str = field(default="", init=False)
    """The first line of a text that is not empty."""
    ledger: LineLedger = field(default_factory=LineLedger, init=False)
    """What became of each line."""

    def __post_init__(self) -> None:
        self.summary = FileSummary(self.member.name, self.member.packing, self.kind, str(self.coding))

    def batches(self, selection: Selection) -> Iterator[tuple[str, pa.RecordBatch]]:
        """Yield the rows of the selected tables; reports that give none of them are skipped."""
        tables = report_tables()
        wanted = {name: columns for name, columns in selection.columns.items() if name in tables}
        sheet = FileRows(wanted, self.issues, self.member.name, ledger=self.ledger)
        yield from self._read_reports(sheet, families_of(wanted))

    def inventory(self) -> pa.Table:
        """Return one row for each system, report and form."""
        sheet = FileRows({}, self.issues, self.member.name, ledger=self.ledger)
        for _ in self._read_reports(sheet, set(families())):
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
            firsts_utc = [report.first_utc for report in reports if report.first_utc]
            lasts_utc = [report.last_utc for report in reports if report.last_utc]
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
                    "first_utc": min(firsts_utc, default=None),
                    "last_utc": max(lasts_utc, default=None),
                }
            )
        return pa.Table.from_pylist(rows, schema=INVENTORY_SCHEMA)

    def unpacked(self, out: BinaryIO) -> int:
        """Write the unpacked bytes; return how many.

        Files of an archive are refused: text must not get between the records of a dump.
        """
        if not self.member.packing or self.member.packing[-1] in ARCHIVES:
            text = "is text, not a dump or a packed file: there is nothing to unpack"
            raise InputError(Issue(Code.UNKNOWN_DATA, text, self.member.name))
        written = 0
        while piece := self.member.stream.read(UNPACKED_CHUNK):
            written += out.write(piece)
        return written

    def _read_reports(
        self, sheet: FileRows, wanted: Set[ReportFamily]
    ) -> Iterator[tuple[str, pa.RecordBatch]]:
        self._is_other = self.kind != "text" and wanted.isdisjoint(_families_in(self.kind))
        head = self.member.stream.peek(_HEAD_BYTES)
        self._reports = sheet.reports
        match self.kind:
            case "xml":
                yield from self._read_xml(sheet)
            case "json":
                yield from self._read_json(sheet, wanted)
            case _:
                yield from self._read_text(sheet, wanted)
        yield from sheet.remaining_batches()
        report_progress(self.summary, self.member, self.options)
        if not self.summary.reports and not sheet.issue_count:
            self.summary.no_report = True
            self.issues.add(self._no_report(head))
        if undated := [report.line for report in sheet.reports if _should_have_date(report)]:
            shows = "1 display shows" if len(undated) == 1 else f"{len(undated):,} displays show"
            text = (
                f"{shows} no date, or no time of day, and the rows have no time: give the date with --taken, "
                "or in the file name, such as SYSA-netstat-2026-03-02.txt"
            )
            self.issues.add(Issue(Code.NO_DATE, text, self.member.name, line_no=undated[0]))

    def _read_text(self, sheet: FileRows, wanted: Set[ReportFamily]) -> Iterator[tuple[str, pa.RecordBatch]]:
        tail = _Tail(self.member.stream)
        lines = InputLines(
            read_line_parts(tail, self.coding),
            self.ledger,
            self.summary,
            lambda: report_progress(self.summary, self.member, self.options),
        )
        yield from self._read_captured(sheet, wanted, self._splitter(sheet).reports_in(lines))
        self._first_line = lines.first_line
        if not tail.ends_line(self.coding):
            self._report_cut(sheet, lines)
        self._note_cut_begin(sheet, lines)
        self._report_owed(sheet)

    def _report_owed(self, sheet: FileRows) -> None:
        """Report the lines of reports that no grammar took, and count those outside of reports."""
        for first, last in self.ledger.owed():
            place = f"lines {first} to {last} are" if last > first else "the line is"
            problem = f"{place} part of a report, and nothing was read from it: compare it with the rows"
            sheet.add_issue(Issue(Code.UNKNOWN_LINE, problem, self.member.name, line_no=first))
            self.ledger.take_all(range(first, last + 1), LineUse.ISSUE)
        self.summary.outside = self.ledger.counts()[LineUse.OUTSIDE]

    def _report_cut(self, sheet: FileRows, lines: InputLines) -> None:
        """Report a text without a line end after its last line, if this is a line of a report."""
        number, text = lines.last_line
        use = self.ledger.use_of(number)
        in_report = use in {LineUse.ROW, LineUse.ISSUE} or (
            use is LineUse.FURNITURE and not ends_report(text)
        )
        if use is LineUse.OUTSIDE:
            before = lines.line_before
            follows = (
                before[:_SAME_BEGIN] == text[:_SAME_BEGIN] and self.ledger.use_of(number - 1) > LineUse.OWED
            )
            in_report = follows or begins_heading(text)
        if not in_report:
            self._note_unended_line(sheet, number, text)
            return
        problem = "the file ends inside a report, without a line end: this line may be cut, and others "
        problem += "missing; transfer the file again, or add a line end if it is complete"
        # The last row of a CSV has all its values, and many programs write no line end after it.
        is_whole = use is LineUse.ROW and self._reports[-1].source == ReportSource.CSV
        code = Code.LINE_END_MISSING if is_whole else Code.REPORT_CUT
        sheet.add_issue(Issue(code, problem, self.member.name, line_no=number))

    def _note_unended_line(self, sheet: FileRows, number: int, text: str) -> None:
        """Note a last line outside of reports that may be cut: others, with reports, may have followed."""
        if self.summary.reports and not ends_report(text) and not is_prompt(text):
            problem = (
                f"the last line, {quoted(text.strip())}, is part of no report and has no line end: it may "
            )
            problem += "be cut, and reports after it missing; add a line end if the file is complete"
            sheet.add_issue(Issue(Code.LINE_END_MISSING, problem, self.member.name, line_no=number))

    def _note_cut_begin(self, sheet: FileRows, lines: InputLines) -> None:
        """Note a first line that may be the rest of one: lines of a report may have preceded it."""
        if len(lines.begin) < BEGIN_LINES or not self.summary.reports:
            return
        (number, text), (_, following) = lines.begin
        if self.ledger.use_of(number) is LineUse.OUTSIDE and is_rest_of_line(text, following):
            problem = (
                f"the file begins with {quoted(text.strip())}, which may be the rest of a line: if lines "
            )
            problem += "are missing before it, transfer the file again"
            sheet.add_issue(Issue(Code.HEADING_MISSING, problem, self.member.name, line_no=number))

    def _splitter(self, sheet: FileRows) -> ReportSplitter:
        return ReportSplitter(
            self._file_defaults(), self._unknown_line_reporter(sheet), self._report_headless
        )

    def _read_captured(
        self, sheet: FileRows, wanted: Set[ReportFamily], captured: Iterator[CapturedReport]
    ) -> Iterator[tuple[str, pa.RecordBatch]]:
        """Read the reports of some families, and count the others."""
        known = {family.name: family for family in families()}
        grammars: dict[str, Grammar] = {}
        others = 0
        for report in captured:
            self.ledger.take_all([no for no, text in report.lines if not text.strip()], LineUse.BLANK)
            self.ledger.owe([no for no, _ in report.lines])
            family = known[report.family]
            if family in wanted or family.refused.match(report.lines[0].text):
                if family.name not in grammars:
                    grammars[family.name] = family.grammar(sheet, self.options)
                grammars[family.name].read(report)
                yield from sheet.full_batches()
            else:
                others += 1
                numbers = (line.no for line in single_lines(report.lines))
                self.ledger.take_all(numbers, LineUse.NOT_SELECTED)
        for grammar in grammars.values():
            grammar.finish()
        self.summary.reports = len(sheet.reports) + others

    def _read_xml(self, sheet: FileRows) -> Iterator[tuple[str, pa.RecordBatch]]:
        make_grammar = next(family.xml_grammar for family in families() if family.xml_grammar)
        for done in make_grammar(sheet).read(iter(lambda: self.member.stream.read(UNPACKED_CHUNK), b"")):
            self.summary.bytes = done
            report_progress(self.summary, self.member, self.options)
            yield from sheet.full_batches()
            if self._is_recognised(sheet):
                return
        self.summary.reports = len(sheet.reports)
        self.ledger.settle()
        self._report_owed(sheet)

    def _is_recognised(self, sheet: FileRows) -> bool:
        """Return whether the file contains a report, and none is selected."""
        self.summary.reports = len(sheet.reports)
        self.summary.skipped = self._is_other and bool(sheet.reports)
        return self.summary.skipped

    def _read_json(self, sheet: FileRows, wanted: Set[ReportFamily]) -> Iterator[tuple[str, pa.RecordBatch]]:
        objects = JsonObjectReader(sheet, self.options, self._file_defaults(), pending=not self.member.named)
        for done in objects.read(self.member.stream, self.coding):
            self.summary.lines, self.summary.bytes = done
            report_progress(self.summary, self.member, self.options)
            yield from sheet.full_batches()
            if self._is_recognised(sheet):
                return
        captured = self._splitter(sheet).reports_of(objects.captured_texts())
        yield from self._read_captured(sheet, wanted, captured)
        self.ledger.settle()
        self._report_owed(sheet)

    def _unknown_line_reporter(self, sheet: FileRows) -> Callable[[int, str], None]:
        def report_line(line: int, text: str) -> None:
            sheet.add_issue(Issue(Code.UNKNOWN_LINE, text, self.member.name, line_no=line))

        return report_line

    def _report_headless(self, line: int, text: str) -> None:
        self.issues.add(Issue(Code.HEADING_MISSING, text, self.member.name, line_no=line))

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
        renamed = options.renamed_columns
        return FileDefaults(system, known_from, day, options.clock, day_from, options.run, renamed)

    def _no_report(self, head: bytes) -> Issue:
        refused = refuse(head, self.member.name)
        if refused.code not in {Code.UNKNOWN_DATA, Code.TEXT_MODE}:
            return refused
        if _BENCHMARK_RUN.search(head):
            skipped, looked_for = Code.BENCHMARK_RUNS, ""
            text = "a list of benchmark runs, which zscope runs import reads"
        else:
            *described, last = (family.described for family in families())
            skipped, looked_for = Code.NOT_AN_INPUT, f"; name an SMF dump, {', '.join(described)} or {last}"
            begin = self._first_line or head[:200].decode("utf-8", "replace").partition("\n")[0]
            text = f"readable text without a report that zscope knows (it begins {quoted(begin)})"
        if not self.member.named:
            return Issue(skipped, f"skipped: {text}", self.member.name)
        return Issue(Code.NO_REPORT, f"the file is {text}{looked_for}", self.member.name)


def _families_in(kind: str) -> set[ReportFamily]:
    """Return the families that a kind of file can contain."""
    match kind:
        case "xml":
            return {family for family in families() if family.xml_grammar}
        case "json":
            return {family for family in families() if family.in_json}
        case _:
            return {*families()}


def _should_have_date(report: ReportSummary) -> bool:
    """Return whether a report should have a date; supplied figures have times in their rows, and policy files
    have none.
    """
    has_date = report.has_date and report.source not in {ReportSource.CSV, ReportSource.JSON}
    return has_date and report.when_local is None
