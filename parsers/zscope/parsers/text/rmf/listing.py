"""RMF listings: pages brought together to intervals, each of which becomes rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zscope.parsers.issues import Code, Issue
from zscope.parsers.text.out import Out
from zscope.parsers.text.rmf.facts import TABLE
from zscope.parsers.text.rmf.heading import Heading, Identity, read_heading, title_of
from zscope.parsers.text.rmf.interval import REPORTS, Interval

if TYPE_CHECKING:
    from datetime import datetime

    from zscope.parsers.text.out import Sheet
    from zscope.parsers.text.report import Report

MOST_PAGES = 500
"""Of one interval: a file in which it never ends must not fill memory."""
MOST_OPEN = 8
"""Intervals whose pages may come in turn: of several systems, or report by report."""


class RmfListing:
    """Reads the pages of one file."""

    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet
        self._open: list[Interval] = []
        """In the order of their first pages."""
        self._begun: dict[tuple[str, datetime], int] = {}
        """Line of the first page of each interval so far."""
        self._pages: dict[int, int] = {}
        """Line of each page so far, by what tells it from others."""

    def read(self, report: Report) -> None:
        """Take one page."""
        title = title_of(report.lines[0].text)
        if title not in REPORTS:
            self._pass_over(title, report.first_line)
            return
        out = Out(self._sheet, report.origin)
        heading = read_heading(report, out)
        if heading.identity is None or self._is_repeated(heading, heading.identity, out):
            return
        self._interval(report, heading, heading.identity).add(report, heading)

    def finish(self) -> None:
        """Write what is left."""
        while self._open:
            self._open.pop(0).write()

    def _interval(self, page: Report, heading: Heading, identity: Identity) -> Interval:
        """The interval that a page belongs to."""
        for interval in self._open:
            if interval.identity.is_of(identity):
                if interval.pages < MOST_PAGES:
                    interval.compare(heading, identity)
                    return interval
                self._open.remove(interval)
                interval.write()
                break
        if len(self._open) == MOST_OPEN:
            self._open.pop(0).write()
        interval = Interval.begin(self._sheet, page.origin, heading, identity)
        self._tell_scattered(interval)
        self._open.append(interval)
        return interval

    def _tell_scattered(self, interval: Interval) -> None:
        identity, line = interval.identity, interval.first.line_no
        first = self._begun.setdefault((identity.system, identity.start), line)
        if first != line and not identity.confirmed:
            problem = f"other pages of this interval, from line {first} on, are too far off: it has two rows"
            interval.out.issue(Code.REPORT_REPEATED, problem, line, 1, table=TABLE)

    def _is_repeated(self, heading: Heading, identity: Identity, out: Out) -> bool:
        """Whether the same page was there before: files put together from several have some twice."""
        body = tuple(line.text for line in heading.body if line.text.strip())
        page = hash((identity, heading.title, body))
        before = self._pages.setdefault(page, heading.line_no)
        if before == heading.line_no:
            return False
        problem = f"this page is the same as the one in line {before}: it is left out"
        out.issue(Code.REPORT_REPEATED, problem, heading.line_no, 1)
        return True

    def _pass_over(self, title: str, line_no: int) -> None:
        text = f"the report {title} is not read: it is passed over"
        self._sheet.told += 1
        self._sheet.issues.add_once(
            Issue(Code.OTHER_REPORT, text, self._sheet.file, section=title, line_no=line_no)
        )
