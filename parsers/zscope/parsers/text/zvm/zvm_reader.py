"""Performance Toolkit listings and screens: assign pages to reports, and add the rows of each report."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from zscope.parsers.issues import Code, Issue
from zscope.parsers.text.captured_report import Line
from zscope.parsers.text.report_rows import ReportRows, quoted
from zscope.parsers.text.zvm.zvm_columns import CHANNEL, REPORT_KINDS, ZvmReportKind
from zscope.parsers.text.zvm.zvm_heading import (
    ReportPeriod,
    ZvmHeading,
    heading_lines,
    period_of,
    read_heading,
    report_number,
)
from zscope.parsers.text.zvm.zvm_rows import (
    USERS_BEGIN,
    ReportRefusedError,
    ZvmReportBody,
    ZvmRow,
    check_rows,
    is_headings,
    looks_like_row,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zscope.parsers.text.captured_report import CapturedReport
    from zscope.parsers.text.report_rows import FileRows


MOST_LINES = 50_000
"""Lines of one report, unless it is a single page: a report without an end must not fill memory."""
MOST_OPEN = 8
"""Reports that can be open at the same time, because pages can alternate, as screens do."""
_CONTROLS = frozenset(" 01+-")


@dataclass(slots=True)
class _Pages:
    """The pages of one report so far."""

    heading: ZvmHeading
    first: CapturedReport
    bodies: list[Sequence[Line]] = field(default_factory=list)
    lines: int = 0

    def add(self, body: Sequence[Line]) -> None:
        """Add a page."""
        self.bodies.append(body)
        self.lines += len(body)


class PerformanceToolkit:
    """Reads the reports of one file."""

    def __init__(self, sheet: FileRows) -> None:
        self._sheet = sheet
        self._open: dict[ZvmHeading, _Pages] = {}
        """In the order of their first pages."""
        self._first_lines: dict[ZvmHeading, int] = {}
        """Line of the first page of each report so far."""
        self._page_lines: dict[int, int] = {}
        """Line of each page so far, by the hash of its contents."""

    def read(self, report: CapturedReport) -> None:
        """Read one page."""
        out = ReportRows(self._sheet, report.origin)
        lines = _without_control(report.lines)
        number = report_number(lines[0].text)
        if number not in REPORT_KINDS:
            self._skip_report(number, report)
            return
        kind = REPORT_KINDS[number]
        after_first = enumerate(lines[1:], 1)
        below = next((at for at, line in after_first if is_headings(kind, line)), len(lines))
        heading = read_heading(lines[:below], out)
        first_body = heading_lines(lines[:below])
        for line in lines[:first_body]:
            out.used(line.no)
            if line is not lines[0] and looks_like_row(line.text):
                problem = f"{quoted(line.text)} is between the lines of the heading; the row is skipped"
                out.issue(Code.UNKNOWN_LINE, problem, line.no, 1)
        body = lines[first_body:]
        if not report.complete:
            problem = f"the page is too long: it is read up to line {lines[-1].no:,}"
            out.issue(Code.REPORT_CUT, problem, lines[-1].no)
        if self._is_repeated(heading, body, out):
            out.skipped(body)
        else:
            self._pages(heading, report, out).add(body)

    def finish(self) -> None:
        """Write the reports that are still open."""
        for heading in list(self._open):
            self._write(self._open.pop(heading))

    def _pages(self, heading: ZvmHeading, report: CapturedReport, out: ReportRows) -> _Pages:
        """Return the report of a page."""
        pages = self._open.get(heading)
        if pages and pages.lines < MOST_LINES:
            return pages
        if pages or len(self._open) == MOST_OPEN:
            self._write(self._open.pop(heading if pages else next(iter(self._open))))
        first = self._first_lines.setdefault(heading, report.first_line)
        if first != report.first_line:
            problem = f"other pages of this report, from line {first} on, are too far away: rows may repeat"
            out.issue(Code.REPORT_REPEATED, problem, report.first_line, 1)
        self._open[heading] = _Pages(heading, report)
        return self._open[heading]

    def _is_repeated(self, heading: ZvmHeading, body: Sequence[Line], out: ReportRows) -> bool:
        """Return whether the same page was read before, as in files that were concatenated."""
        no = body[0].no if body else 0
        page = hash((heading, tuple(line.text for line in body if line.text.strip())))
        previous = self._page_lines.setdefault(page, no)
        if previous == no:
            return False
        if not heading.screen:
            problem = f"this page is the same as the one at line {previous}; it is skipped"
            out.issue(Code.REPORT_REPEATED, problem, no, 1)
        return True

    def _write(self, pages: _Pages) -> None:
        heading, first = pages.heading, pages.first
        kind = REPORT_KINDS[heading.number]
        period = period_of(heading, first.origin)
        start = period.start
        origin = replace(
            first.origin,
            day=start.date() if start else None,
            clock=start.time() if start else None,
            time_from=period.date_from,
        )
        out = ReportRows(self._sheet, origin, {"interval_start_local": start})
        out.add_report(f"ZVM FCX{heading.number} {kind.title}", first.first_line)
        if period.contradiction:
            out.issue(Code.ARITHMETIC, period.contradiction, first.first_line, table=kind.table)
        body = ZvmReportBody(kind, out, kind.classes and _has_classes(pages.bodies))
        refusals = 0
        for lines in pages.bodies:
            count = len(body.rows)
            try:
                body.read(lines)
            except ReportRefusedError as refused:
                del body.rows[count:]
                out.skipped(lines)
                refusals += 1
                skipped = "page" if len(pages.bodies) > 1 else "report"
                problem = f"{refused.text}; the {skipped} is skipped"
                out.issue(Code.REPORT_UNREADABLE, problem, refused.line.no, refused.column, table=kind.table)
        if refusals == len(pages.bodies):
            return
        self._add_rows(kind, heading, period, body, first.first_line)

    def _add_rows(
        self, kind: ZvmReportKind, heading: ZvmHeading, period: ReportPeriod, body: ZvmReportBody, line: int
    ) -> None:
        out = body.out
        if body.layout is None and not body.left_out:
            problem = f"the report has no column headings ({kind.headings_shown})"
            out.issue(Code.REPORT_CUT, problem, line, 1, table=kind.table)
        elif body.layout and not body.rows and not body.left_out:
            problem = "the report ends after its column headings: rows were expected"
            out.issue(Code.REPORT_CUT, problem, line, 1, table=kind.table)
        rows = _distinct(kind, body.rows, out, quiet=heading.screen)
        if period.seconds is None and rows:
            problem = "the length of the period is not known (For ... Secs, From and To, Interval)"
            rest = (
                "period_s is null"
                if kind is CHANNEL
                else "CPU time is meaningless without it: the report is skipped"
            )
            out.issue(Code.REPORT_UNREADABLE, f"{problem}; {rest}", line, 1, table=kind.table)
            if kind is not CHANNEL:
                out.skipped(row.line for row in rows)
                rows = []
        check_rows(kind, rows, period.seconds, out)
        seconds = None if period.seconds is None else float(period.seconds)
        machine = {label: text for label, text in (("CPU", heading.cpu), ("SER", heading.serial)) if text}
        shared = []
        for row in rows:
            values = {name: figure.value for name, figure in row.figures.items()}
            row_values = out.row(
                kind.table,
                row.line.no,
                {"period_s": seconds, kind.key: row.key, **values, **row.texts},
                {**row.extra, **machine},
            )
            if row_values.get("shared"):
                shared.append(row.key)
        if shared:
            self._report_shared(shared, out, line)

    def _report_shared(self, shared: Sequence[str], out: ReportRows, line: int) -> None:
        problem = f"paths {', '.join(shared)} are shared: their rates are those of all partitions together"
        out.issue(Code.SHARED_PATH, problem, line, table=CHANNEL.table)

    def _skip_report(self, number: str, report: CapturedReport) -> None:
        text = f"the report FCX{number} is not read; it is skipped"
        self._sheet.add_once(
            Issue(
                Code.OTHER_REPORT, text, self._sheet.file, section=f"FCX{number}", line_no=report.first_line
            )
        )
        ReportRows(self._sheet, report.origin).skipped(report.lines)


def _distinct(kind: ZvmReportKind, rows: Sequence[ZvmRow], out: ReportRows, *, quiet: bool) -> list[ZvmRow]:
    """Return the first row of each key; scrolled screens repeat lines."""
    first: dict[str, ZvmRow] = {}
    for row in rows:
        previous = first.setdefault(row.key, row)
        if previous is row:
            continue
        out.skipped([row.line])
        if not (quiet and row.says_the_same(previous)):
            problem = f"{row.key} was already in line {previous.line.no}; the repeated row is skipped"
            out.issue(Code.REPORT_REPEATED, problem, row.line.no, 1, table=kind.table)
    return list(first.values())


def _has_classes(bodies: Sequence[Sequence[Line]]) -> bool:
    """Return whether a line announces the users: the lines before it are about classes of users."""
    return any(line.text.strip().upper() == USERS_BEGIN for body in bodies for line in body)


def _without_control(lines: list[Line]) -> list[Line]:
    """Return the lines with a blank for the carriage control character, if all lines after the first have
    one.
    """
    first, *others = lines
    if not all(line.text[0] in _CONTROLS for line in others if line.text):
        return lines
    return [first, *(Line(line.no, f" {line.text[1:]}" if line.text else "") for line in others)]
