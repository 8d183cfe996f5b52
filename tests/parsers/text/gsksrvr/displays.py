"""Helpers that read displays of GSKSRVR."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.parsers.text.reading import Reading, Row, in_turn, read_reports

from zscope.parsers.text.captured_report import CapturedReport, Origin, ReportSource
from zscope.parsers.text.gsksrvr.gsk_grammar import Gsksrvr

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zscope.parsers.issues import Issue


def read_displays(
    tables: Iterable[str],
    displays: Iterable[tuple[Iterable[str], Origin]],
    *,
    complete: bool = True,
) -> Reading:
    """Read displays that follow each other in a file, each with its origin."""
    texts, origins = zip(*displays, strict=True)
    stripped = [[text.rstrip() for text in lines] for lines in texts]
    reports = [
        CapturedReport("gsksrvr", lines, origin, complete)
        for lines, origin in zip(in_turn(*stripped), origins, strict=True)
    ]
    return read_reports(Gsksrvr, tables, reports)


def read_display(table: str, lines: Iterable[str]) -> tuple[list[Row], list[Issue], list[str]]:
    """Rows, issues and the names of the reports in the lines of one reply on the console."""
    reading = read_displays([table], [(lines, Origin(ReportSource.CONSOLE))])
    return reading.rows, reading.issues, reading.names
