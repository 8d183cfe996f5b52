"""Read the pages of a listing, and return their rows and issues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.parsers.text.reading import Reading, Row, in_turn, read_reports

from zscope.parsers.issues import Code, Issue
from zscope.parsers.text.captured_report import CapturedReport, Origin, ReportSource
from zscope.parsers.text.rmf.listing import RmfListing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

TABLES = ("rmf_interval", "rmf_cpu", "rmf_partition")
CHECKS = {Code.ARITHMETIC, Code.COUNT_DIFFERS}
"""Issues about the values of figures: invented figures need not agree."""


def read_listing(
    tables: Iterable[str], pages: Iterable[Sequence[str]], origin: Origin | None = None
) -> Reading:
    """Return the pages as reports, numbered from line 1."""
    stripped = [[text.rstrip() for text in page] for page in pages]
    reports = [
        CapturedReport("rmf", lines, origin or Origin(ReportSource.TEXT)) for lines in in_turn(*stripped)
    ]
    return read_reports(RmfListing, tables, reports)


def read_pages(*pages: Sequence[str]) -> tuple[dict[str, list[Row]], list[Issue]]:
    """The rows and issues of pages of CPU Activity and Partition Data."""
    reading = read_listing(TABLES, pages)
    return reading.tables, reading.issues


def unread(issues: list[Issue]) -> list[Issue]:
    """Return the issues about text that cannot be read."""
    return [issue for issue in issues if issue.code not in CHECKS]


def shown(rows: list[Row], *columns: str) -> list[tuple[Any, ...]]:
    """Return some columns of the rows."""
    return [tuple(row[column] for column in columns) for row in rows]
