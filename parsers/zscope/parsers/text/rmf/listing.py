"""RMF listings: assign pages to intervals, and add the rows of each interval."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from zscope.parsers.issues import Code, Issue
from zscope.parsers.text.captured_report import CapturedReport, KnownFrom, Origin
from zscope.parsers.text.report_rows import ReportRows
from zscope.parsers.text.rmf.arithmetic import check_interval
from zscope.parsers.text.rmf.cpu import CpuPages
from zscope.parsers.text.rmf.crypto import read_crypto_listing
from zscope.parsers.text.rmf.interval_values import TABLE, IntervalValues
from zscope.parsers.text.rmf.page_heading import (
    IntervalIdentity,
    RmfHeading,
    is_set_back,
    read_heading,
)
from zscope.parsers.text.rmf.page_title import (
    CPU_TITLE,
    CRYPTO_TITLE,
    PARTITION_TITLE,
    TITLES_READ,
    WORKLOAD_TITLE,
    damaged_title,
    title_of,
)
from zscope.parsers.text.rmf.partition import PartitionPages
from zscope.parsers.text.rmf.workload.workload_listing import WorkloadListing
from zscope.parsers.text.spelling import edit_distance

if TYPE_CHECKING:
    from datetime import datetime

    from zscope.parsers.text.report_rows import FileRows

REPORTS = {
    CPU_TITLE: "RMF CPU Activity",
    PARTITION_TITLE: "RMF Partition Data",
    CRYPTO_TITLE: "RMF Crypto Hardware Activity",
}
"""Page titles and the common names of the reports."""
_CARDS_LATER_MS = 2_000


@dataclass(slots=True, eq=False)
class ListingInterval:
    """The pages of one interval of a system."""

    identity: IntervalIdentity
    first: RmfHeading
    out: ReportRows
    interval_values: IntervalValues
    cpu: CpuPages
    partition: PartitionPages
    crypto: list[CapturedReport] = field(default_factory=list)
    crypto_heading: RmfHeading | None = None
    first_lines: dict[str, int] = field(default_factory=dict)
    """The titles so far, each with the line of its first page."""
    last: RmfHeading | None = None
    pages: int = 0
    second: bool = False
    """Whether the clock shows the start for the second time."""

    @classmethod
    def begin(
        cls, sheet: FileRows, origin: Origin, heading: RmfHeading, identity: IntervalIdentity, *, second: bool
    ) -> ListingInterval:
        """Begin an interval; what the page lacks of system and time is known from the capture."""
        own = Origin(
            origin.source,
            identity.system,
            KnownFrom.REPORT if heading.has_system else origin.system_from,
            identity.start.date(),
            identity.start.time(),
            KnownFrom.REPORT,
        )
        lead = {
            "interval_start_local": identity.start,
            "interval_ms": identity.interval_ms,
            "second_hour": second or None,
        }
        out = ReportRows(sheet, own, lead)
        interval_values = IntervalValues()
        return cls(
            identity,
            heading,
            out,
            interval_values,
            CpuPages(out, interval_values),
            PartitionPages(out, interval_values),
            second=second,
        )

    def compare_with_first(self, heading: RmfHeading, identity: IntervalIdentity) -> None:
        """Report differences between this page and the first, and add what the first page lacks."""
        length, end = self.identity.interval_ms, self.identity.end
        if length is None:
            length = self.out.common["interval_ms"] = identity.interval_ms
        elif identity.interval_ms is not None:
            # Crypto records are not written at the same moment as those about processors.
            wandering = _CARDS_LATER_MS if CRYPTO_TITLE in (heading.title, self.first.title) else 0
            if abs(length - identity.interval_ms) > wandering:
                page_value = f"{identity.interval_ms / 1000:g} s"
                self._report_contradiction(heading, "INTERVAL", page_value, f"{length / 1000:g} s")
        if end is None:
            end = identity.end
        elif identity.end not in {None, end}:
            self._report_contradiction(heading, "END", str(identity.end), str(end))
        self.identity = self.identity._replace(end=end, interval_ms=length)

    def report_second(self, first_line: int) -> None:
        """Report that the same start occurs again."""
        problem = f"the start of this interval is also in line {first_line}, with other figures: "
        problem += "it is in the second hour after the clock was set back"
        self.out.issue(Code.AMBIGUOUS_TIME, problem, self.first.line_no, 1, table=TABLE)

    def _report_contradiction(self, heading: RmfHeading, label: str, page_value: str, first: str) -> None:
        problem = f"{label} is {page_value} here and {first} on the first page; the first value is used"
        self.out.issue(Code.BAD_VALUE, problem, heading.line_no, field=label, table=TABLE)

    def add(self, page: CapturedReport, heading: RmfHeading) -> None:
        """Read one page."""
        if heading.title not in self.first_lines:
            self.first_lines[heading.title] = heading.line_no
            self.out.add_report(REPORTS[heading.title], heading.line_no)
        elif self._pages_missing(heading):
            self.page_missing()
        self.last = heading
        self.pages += 1
        width = max(len(line.text) for line in page.lines)
        if heading.title == CPU_TITLE:
            self.cpu.read(heading, width)
        elif heading.title == PARTITION_TITLE:
            self.partition.read(heading, width)
        else:
            self.crypto_heading = self.crypto_heading or heading
            self.crypto.append(
                CapturedReport(page.family, [page.lines[0], *heading.body], page.origin, page.complete)
            )

    def page_missing(self) -> None:
        """Forget the rows that the next page could continue: a page before it is missing."""
        self.cpu.pages_missing()
        self.partition.pages_missing()

    def _pages_missing(self, heading: RmfHeading) -> bool:
        previous = self.last.page if self.last else None
        if previous is None or heading.page is None or heading.page <= previous + 1:
            return False
        problem = f"the pages from {previous + 1} to {heading.page - 1} of this interval are missing"
        self.out.issue(Code.REPORT_CUT, problem, heading.line_no, 1)
        return True

    def write(self) -> None:
        """Read the crypto report, which needs all its pages, add the row of the interval and check its
        figures.
        """
        if self.crypto_heading is not None:
            read_crypto_listing(self.crypto, self.crypto_heading, self.out)
        if CPU_TITLE not in self.first_lines and PARTITION_TITLE not in self.first_lines:
            return
        first, interval_values = self.first, self.interval_values
        values = {
            "interval_end_local": self.identity.end,
            "cycle_length_ms": first.cycle_ms,
            "zos_level": first.zos_level,
            "report_level": first.report_level,
            "changed_labels": ",".join(interval_values.changed) or None,
            **interval_values.values,
        }
        row = self.out.row(TABLE, first.line_no, values, interval_values.extra, interval_values.lines)
        self._report_empty()
        self.cpu.table.report_missing_rows()
        self.partition.table.report_missing_rows()
        check_interval({**self.out.common, **row}, self.cpu.table.rows, self.partition.table.rows, self.out)

    def _report_empty(self) -> None:
        for title, pages in ((CPU_TITLE, self.cpu), (PARTITION_TITLE, self.partition)):
            if title in self.first_lines and pages.empty:
                expected = pages.table.first_headings
                problem = f"{REPORTS[title]} has no table: column headings ({expected}) were expected"
                self.out.issue(Code.REPORT_UNREADABLE, problem, self.first_lines[title], 1)


class _HalfInterval(NamedTuple):
    """An interval with only one of two reports that belong together."""

    title: str
    system: str
    line: int
    out: ReportRows


MOST_PAGES = 500
"""Pages of one interval: a file without a second interval must not fill memory."""
MOST_OPEN = 8
"""Intervals that can be open at the same time, because pages alternate between systems or come report by
report.
"""


class RmfListing:
    """Reads the RMF pages of one file."""

    def __init__(self, sheet: FileRows) -> None:
        self._sheet = sheet
        self._workload = WorkloadListing(sheet)
        self._open_intervals: list[ListingInterval] = []
        """In the order of their first pages."""
        self._first_lines: dict[tuple[str, datetime], int] = {}
        """Line of the first page of each interval so far."""
        self._last_page: tuple[ListingInterval, str] | None = None
        """The interval and title of the last page."""
        self._set_back: set[tuple[str, datetime, str]] = set()
        """Systems, starts and titles of pages in hours in which clocks can be set back."""
        self._halves: dict[datetime, list[_HalfInterval]] = {}
        """Intervals with only one of two reports that belong together, by start."""
        self._pages: dict[int, int] = {}
        """Line of each page so far, by the hash of its contents."""

    def read(self, report: CapturedReport) -> None:
        """Read one page."""
        text = report.lines[0].text
        title = title_of(text)
        if title not in TITLES_READ and damaged_title(text) is None:
            self._skip_report(title, report)
            return
        out = ReportRows(self._sheet, report.origin)
        heading = read_heading(report, out)
        if heading.identity is None:
            # The page could belong to each of them.
            for interval in self._open_intervals:
                interval.page_missing()
            out.skipped(report.lines)
            return
        if self._is_repeated(heading, heading.identity, out):
            out.skipped(report.lines)
            return
        if heading.title == WORKLOAD_TITLE:
            self._workload.read(report, heading)
            return
        interval = self._interval(report, heading, heading.identity)
        interval.add(report, heading)
        self._last_page = interval, heading.title
        if is_set_back(heading.identity.start):
            self._set_back.add((heading.identity.system, heading.identity.start, heading.title))

    def finish(self) -> None:
        """Write the intervals that are still open."""
        while self._open_intervals:
            self._write(0)
        self._workload.finish()
        self._report_parted()

    def _write(self, number: int) -> None:
        """Write an open interval."""
        interval = self._open_intervals.pop(number)
        interval.write()
        titles = {CPU_TITLE, PARTITION_TITLE} & interval.first_lines.keys()
        if len(titles) == 1:
            title, identity = titles.pop(), interval.identity
            half = _HalfInterval(title, identity.system, interval.first_lines[title], interval.out)
            self._halves.setdefault(identity.start, []).append(half)

    def _report_parted(self) -> None:
        """Report intervals whose two reports have different systems, if the names are nearly the same."""
        for halves in self._halves.values():
            for one, other in combinations(halves, 2):
                if one.title != other.title and edit_distance(one.system, other.system) == 1:
                    problem = f"{one.title} has the system {one.system} and {other.title} {other.system}: "
                    problem += "one of the names may be wrong"
                    for half in (one, other):
                        half.out.issue(Code.BAD_VALUE, problem, half.line, 1, field="SYSTEM ID", table=TABLE)

    def _interval(
        self, page: CapturedReport, heading: RmfHeading, identity: IntervalIdentity
    ) -> ListingInterval:
        """Return the interval of a page."""
        interval, second = self._open_interval(heading, identity)
        if interval is not None:
            if interval.pages < MOST_PAGES:
                interval.compare_with_first(heading, identity)
                return interval
            self._write(self._open_intervals.index(interval))
        if len(self._open_intervals) == MOST_OPEN:
            self._write(0)
        interval = ListingInterval.begin(self._sheet, page.origin, heading, identity, second=second)
        if second:
            interval.report_second(self._first_lines[identity.system, identity.start])
        else:
            self._report_scattered(interval)
        self._open_intervals.append(interval)
        return interval

    def _open_interval(
        self, heading: RmfHeading, identity: IntervalIdentity
    ) -> tuple[ListingInterval | None, bool]:
        """Return the open interval that a page continues; if there is none, whether the page begins the
        interval for the second time, because the clock was set back.
        """
        same = [interval for interval in self._open_intervals if interval.identity.is_of(identity)]
        if not is_set_back(identity.start):
            return (same[0] if same else None), False
        last, last_title = self._last_page or (None, "")
        if last in same and heading.title == last_title and not _is_first_page(heading):
            return last, False
        lacking = [interval for interval in same if heading.title not in interval.first_lines]
        if lacking:
            return lacking[0], False
        if seconds := [interval for interval in same if interval.second]:
            return seconds[0], False
        return None, (identity.system, identity.start, heading.title) in self._set_back

    def _report_scattered(self, interval: ListingInterval) -> None:
        identity, line = interval.identity, interval.first.line_no
        first = self._first_lines.setdefault((identity.system, identity.start), line)
        if first != line and not identity.confirmed:
            problem = f"other pages of this interval, from line {first} on, are too far away: it has two rows"
            interval.out.issue(Code.REPORT_REPEATED, problem, line, 1, table=TABLE)

    def _is_repeated(self, heading: RmfHeading, identity: IntervalIdentity, out: ReportRows) -> bool:
        """Return whether the same page was read before, as in files that were concatenated."""
        body = tuple(line.text for line in heading.body if line.text.strip())
        page = hash((identity, heading.title, body))
        previous = self._pages.setdefault(page, heading.line_no)
        if previous == heading.line_no:
            return False
        problem = f"this page is the same as the one in line {previous}; it is skipped"
        out.issue(Code.REPORT_REPEATED, problem, heading.line_no, 1)
        return True

    def _skip_report(self, title: str, report: CapturedReport) -> None:
        text = f"the report {title} is not read; it is skipped"
        self._sheet.add_once(
            Issue(Code.OTHER_REPORT, text, self._sheet.file, section=title, line_no=report.first_line)
        )
        ReportRows(self._sheet, report.origin).skipped(report.lines)


def _is_first_page(heading: RmfHeading) -> bool:
    """Return whether the page has the block of labels that is before the table."""
    return any(label in line.text for line in heading.body for label in ("H/W MODEL", "MVS PARTITION NAME"))
