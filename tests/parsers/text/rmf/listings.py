"""Reads the pages of a listing, and tells what their rows and issues say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tests.parsers.text.reading import Reading, Row, in_turn, read_reports

from zscope.parsers.issues import Code, Issue
from zscope.parsers.text.report import Origin, Report, Source
from zscope.parsers.text.rmf.listing import RmfListing

TABLES = ("rmf_interval", "rmf_cpu", "rmf_partition")
CHECKS = {Code.ARITHMETIC, Code.COUNT_DIFFERS}
"""Issues about figures that were read: invented ones need not fit together."""


def read_listing(
    tables: Iterable[str], pages: Iterable[Sequence[str]], origin: Origin | None = None
) -> Reading:
    """Pages, the first line of the first of which is line 1."""
    stripped = [[text.rstrip() for text in page] for page in pages]
    reports = [Report("rmf", lines, origin or Origin(Source.TEXT)) for lines in in_turn(*stripped)]
    return read_reports(RmfListing, tables, reports)


def read_pages(*pages: Sequence[str]) -> tuple[dict[str, list[Row]], list[Issue]]:
    """The rows and issues of pages of CPU Activity and Partition Data."""
    reading = read_listing(TABLES, pages)
    return reading.tables, reading.issues


def unread(issues: list[Issue]) -> list[Issue]:
    """Issues about what could not be read."""
    return [issue for issue in issues if issue.code not in CHECKS]


def shown(rows: list[Row], *columns: str) -> list[tuple[Any, ...]]:
    """Some columns of the rows."""
    return [tuple(row[column] for column in columns) for row in rows]
