"""The figures in a sentence, and the ways in which a sentence can write the figures of cells."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from zscope.pipelines.quantities import number, percent

if TYPE_CHECKING:
    from collections.abc import Iterable

_NAMES = re.compile(
    r"\d{4}-\d\d-\d\d(?: \d\d:\d\d)?|SMF \d+(?:-\d+)?|TLSv[\d.]+|at least 95 % of|within 90 days"
    r"|\d+(?:\.\d)? (?:days?|hours?) up to|(?:rule|action) \S+"
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
