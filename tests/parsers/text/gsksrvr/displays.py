"""Reads displays of GSKSRVR."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tests.parsers.text.reading import Reading, Row, in_turn, read_reports

from zscope.parsers.text.gsksrvr.grammar import Gsksrvr
from zscope.parsers.text.report import Origin, Report, Source

if TYPE_CHECKING:
    from zscope.parsers.issues import Issue


def read_displays(
    tables: Iterable[str],
    displays: Iterable[tuple[Iterable[str], Origin]],
    *,
    complete: bool = True,
) -> Reading:
    """Displays that follow one another in a file, each with where it was made."""
    texts, origins = zip(*displays, strict=True)
    stripped = [[text.rstrip() for text in lines] for lines in texts]
    reports = [
        Report("gsksrvr", lines, origin, complete)
        for lines, origin in zip(in_turn(*stripped), origins, strict=True)
    ]
    return read_reports(Gsksrvr, tables, reports)


def read_display(table: str, lines: Iterable[str]) -> tuple[list[Row], list[Issue], list[str]]:
    """Rows, issues and the names of the reports in the lines of one reply on the console."""
    reading = read_displays([table], [(lines, Origin(Source.CONSOLE))])
    return reading.rows, reading.issues, reading.names
