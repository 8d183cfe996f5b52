"""Performance Toolkit listings and screens: pages brought together to reports, each of which becomes rows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from zscope.parsers.issues import Code, Issue
from zscope.parsers.text.out import Out
from zscope.parsers.text.report import Line
from zscope.parsers.text.zvm.checks import check_rows
from zscope.parsers.text.zvm.heading import Heading, heading_lines, read_heading, report_number
from zscope.parsers.text.zvm.kinds import CHANNEL, KINDS, Kind
from zscope.parsers.text.zvm.period import Period, period_of
from zscope.parsers.text.zvm.rows import USERS_BEGIN, Body, Refused, Row, is_headings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zscope.parsers.text.out import Sheet
    from zscope.parsers.text.report import Report

MOST_LINES = 50_000
"""Of one report, unless it is a single page: a file in which it never ends must not fill memory."""
MOST_OPEN = 8
"""Reports whose pages may come in turn, as screens do."""
_CONTROLS = frozenset(" 01+-")


@dataclass(slots=True)
class _Pages:
    """The pages of one report so far."""

    heading: Heading
    first: Report
    bodies: list[Sequence[Line]] = field(default_factory=list)
    lines: int = 0

    def add(self, body: Sequence[Line]) -> None:
        """Take another page."""
        self.bodies.append(body)
        self.lines += len(body)


class PerformanceToolkit:
    """Reads the reports of one file."""

    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet
        self._open: dict[Heading, _Pages] = {}
        """In the order of their first pages."""
        self._begun: dict[Heading, int] = {}
        """Line of the first page of each report so far."""
        self._seen: dict[int, int] = {}
        """Line of each page so far, by what tells it from others."""

    def read(self, report: Report) -> None:
        """Take one page."""
        out = Out(self._sheet, report.origin)
        lines = _without_control(report.lines)
        number = report_number(lines[0].text)
        if number not in KINDS:
            self._pass_over(number, report.first_line)
            return
        kind = KINDS[number]
        below = next((at for at, line in enumerate(lines) if is_headings(kind, line)), len(lines))
        heading = read_heading(lines[:below], out)
        body = lines[heading_lines(lines[:below]) :]
        if not report.complete:
            problem = f"the page is too long: nothing is taken behind line {lines[-1].no:,}"
            out.issue(Code.REPORT_CUT, problem, lines[-1].no)
        if not self._is_repeated(heading, body, out):
            self._pages(heading, report, out).add(body)

    def finish(self) -> None:
        """Write what is left."""
        for heading in list(self._open):
            self._write(self._open.pop(heading))

    def _pages(self, heading: Heading, report: Report, out: Out) -> _Pages:
        """The report that a page belongs to."""
        pages = self._open.get(heading)
        if pages and pages.lines < MOST_LINES:
            return pages
        if pages or len(self._open) == MOST_OPEN:
            self._write(self._open.pop(heading if pages else next(iter(self._open))))
        first = self._begun.setdefault(heading, report.first_line)
        if first != report.first_line:
            problem = f"other pages of this report, from line {first} on, are too far off: rows may be twice"
            out.issue(Code.REPORT_REPEATED, problem, report.first_line, 1)
        self._open[heading] = _Pages(heading, report)
        return self._open[heading]

    def _is_repeated(self, heading: Heading, body: Sequence[Line], out: Out) -> bool:
        """Whether the same page was there before: files put together from several have some twice."""
        no = body[0].no if body else 0
        page = hash((heading, tuple(line.text for line in body if line.text.strip())))
        before = self._seen.setdefault(page, no)
        if before == no:
            return False
        if not heading.screen:
            problem = f"this page is the same as the one at line {before}: it is left out"
            out.issue(Code.REPORT_REPEATED, problem, no, 1)
        return True

    def _write(self, pages: _Pages) -> None:
        heading, first = pages.heading, pages.first
        kind = KINDS[heading.number]
        period = period_of(heading, first.origin)
        start = period.start
        origin = replace(
            first.origin,
            day=start.date() if start else None,
            clock=start.time() if start else None,
            time_from=period.told,
        )
        out = Out(self._sheet, origin, {"interval_start_local": start})
        out.found(f"ZVM FCX{heading.number} {kind.title}", first.first_line)
        if period.contradiction:
            out.issue(Code.ARITHMETIC, period.contradiction, first.first_line, table=kind.table)
        body = Body(kind, out, _has_classes(pages.bodies))
        try:
            for lines in pages.bodies:
                body.read(lines)
        except Refused as refused:
            problem = f"{refused.text}: the report is left out"
            out.issue(Code.REPORT_UNREADABLE, problem, refused.line.no, refused.column, table=kind.table)
            return
        self._put(kind, heading, period, body, first.first_line)

    def _put(self, kind: Kind, heading: Heading, period: Period, body: Body, line: int) -> None:
        out = body.out
        if body.layout is None and not body.left_out:
            problem = f"the report has no column headings ({kind.headings_shown})"
            out.issue(Code.REPORT_CUT, problem, line, 1, table=kind.table)
        elif body.layout and not body.rows and not body.left_out:
            problem = "the report ends behind its column headings: rows were expected"
            out.issue(Code.REPORT_CUT, problem, line, 1, table=kind.table)
        rows = _distinct(kind, body.rows, out, quiet=heading.screen)
        if period.seconds is None and rows:
            problem = "nothing tells how long the period is (For ... Secs, From and To, Interval)"
            rest = (
                "period_s is null"
                if kind is CHANNEL
                else "CPU time says nothing then: the report is left out"
            )
            out.issue(Code.REPORT_UNREADABLE, f"{problem}; {rest}", line, 1, table=kind.table)
            rows = rows if kind is CHANNEL else []
        check_rows(kind, rows, period.seconds, out)
        seconds = None if period.seconds is None else float(period.seconds)
        machine = {label: text for label, text in (("CPU", heading.cpu), ("SER", heading.serial)) if text}
        shared = []
        for row in rows:
            values = {name: figure.value for name, figure in row.figures.items()}
            made = out.row(
                kind.table,
                row.line.no,
                {"period_s": seconds, kind.key: row.key, **values, **row.texts},
                {**row.extra, **machine},
            )
            if made.get("shared"):
                shared.append(row.key)
        if shared:
            self._tell_shared(shared, out, line)

    def _tell_shared(self, shared: Sequence[str], out: Out, line: int) -> None:
        problem = f"paths {', '.join(shared)} are shared: their rates are those of all partitions together"
        out.issue(Code.SHARED_PATH, problem, line, table=CHANNEL.table)

    def _pass_over(self, number: str, line_no: int) -> None:
        text = f"the report FCX{number} is not read: it is passed over"
        self._sheet.told += 1
        self._sheet.issues.add_once(
            Issue(Code.OTHER_REPORT, text, self._sheet.file, section=f"FCX{number}", line_no=line_no)
        )


def _distinct(kind: Kind, rows: Sequence[Row], out: Out, *, quiet: bool) -> list[Row]:
    """The first row about each thing; screens that were scrolled show some lines twice."""
    first: dict[str, Row] = {}
    for row in rows:
        before = first.setdefault(row.key, row)
        if before is not row and not (quiet and row.says_the_same(before)):
            problem = f"{row.key} was in line {before.line.no} already: what is repeated is left out"
            out.issue(Code.REPORT_REPEATED, problem, row.line.no, 1, table=kind.table)
    return list(first.values())


def _has_classes(bodies: Sequence[Sequence[Line]]) -> bool:
    """Whether a line says that users begin behind it: what is above it is about classes of them."""
    return any(line.text.strip().upper() == USERS_BEGIN for body in bodies for line in body)


def _without_control(lines: list[Line]) -> list[Line]:
    """Lines with a blank for the carriage control character, where all below the first have one."""
    first, *others = lines
    if not all(line.text[0] in _CONTROLS for line in others if line.text):
        return lines
    return [first, *(Line(line.no, f" {line.text[1:]}" if line.text else "") for line in others)]
