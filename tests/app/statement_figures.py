"""The figures in a sentence, and the ways in which a sentence can write the figures of cells."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from zscope.pipelines.quantities import number, percent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tests.app.report_reading import ReportReader

_NAMES = re.compile(
    r"\d{4}-\d\d-\d\d(?: \d\d:\d\d)?|SMF \d+(?:-\d+)?|TLSv[\d.]+|at least 95 % of|within 90 days"
    r"|less than 1 %|fewer hours than the 8|\d+(?:\.\d)? (?:days?|hours?) up to|(?:rule|action) \S+"
)
"""Dates, periods, kinds of records, versions, limits of the subject, and names with figures in them."""
_FIGURE = re.compile(r"(?<![\w.~/-])[+-]?\d+(?:,\d{3})*(?:\.\d+)?(?![\w~])")


def figures(sentence: str) -> list[str]:
    """Return the figures as they are written.

    >>> figures("SRV1, port 443: 1,200 of 2,400 connections (50.0 %) from 2026-03-09 on have TLSv1.2.")
    ['443', '1,200', '2,400', '50.0']
    """
    return _FIGURE.findall(_NAMES.sub(" ", sentence))


def missing(sentence: str, cells: Iterable[object]) -> list[str]:
    """Return the figures of a sentence that no cell has to the written digits.

    >>> missing("1,200 of 2,400 connections (50.0 %), and 3.", [1200, 2400, 50.04, "three or 4"])
    ['3']
    """
    ways: set[str] = set()
    for cell in cells:
        if isinstance(cell, str):
            ways.update(figures(cell))
        elif isinstance(cell, int | float):
            ways |= {number(cell, 3), percent(cell).split()[0], f"{cell:+.1f}"}
            if cell == int(cell):
                ways |= {f"{cell:,.0f}", f"{cell:.0f}"}
    return [figure for figure in figures(sentence) if figure not in ways]


_PARTS = {
    "price": ("price-by-system", "price-by-job", "price-by-port"),
    "saving": ("advice-by-rule", "advice-by-port"),
    "exposure": ("exposure-records", "unprotected"),
    "old versions": ("exposure-records", "unprotected"),
    "certificates": ("certificate-ends", "certificates"),
    "change": ("changes-beyond-noise", "changes-counted"),
    "coverage": ("covered-hours",),
    "runs": ("left-out-hours",),
}
"""The tables of a report with the figures of each subject."""
_OF_STATEMENT = {"System": "system", "Source": "source"}


def report_cells(report: ReportReader, said: Mapping[str, Any]) -> Iterator[object]:
    """Return the cells of a report, outside of its statements, that are about a statement."""
    for part in _PARTS[said["subject"]]:
        for row in report.tables[part].rows if part in report.tables else ():
            if all(
                said[column] is None or row[heading].text == said[column]
                for heading, column in _OF_STATEMENT.items()
                if heading in row
            ):
                for heading, cell in row.items():
                    yield cell.text if cell.value is None else float(cell.value)
                    if heading.endswith("per hour") and cell.value and row["Subject"].text == "bytes":
                        yield float(cell.value) / 1e6
    if said["unit"] == "settings":
        yield said["value"]
