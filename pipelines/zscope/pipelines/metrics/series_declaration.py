"""How a metric is exported as series, where that does not follow from its columns: the table `[series]`.

Metrics whose rows are successive intervals are exported without it. With it, metrics whose rows are a state,
such as a price with a status, are exported, too.

    [series]
    rows = "shared_by <> 'client network'"   # rows that are exported unless the user chooses others
    status = "status"                        # a text column: its series have the value 1 and a label
    newest = "day"                           # samples without time are about the last 24 hours of data

A label must have few values. Rows with unbounded ones, such as addresses of clients, are left out by `rows`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

KEYS = frozenset({"rows", "status", "newest"})
DAY = "day"


@dataclass(frozen=True, slots=True)
class SeriesDeclaration:
    """The table `[series]` of a metric."""

    rows: str = ""
    """SQL condition on the rows that are exported by default; all rows if empty."""
    status: str = ""
    """Text column that becomes a label of series with the value 1."""
    newest: str = ""
    """`day`: samples without time combine the last 24 hours, instead of the newest interval."""


def series_problem(content: Mapping[str, object], columns: Sequence[str], *, clocked: bool) -> str:
    """Return what is wrong with a table `[series]`; empty if nothing is.

    >>> series_problem({"status": "why"}, ["system"], clocked=False)
    'series: no column why'
    """
    if unknown := sorted(set(content) - KEYS):
        return f"series: unknown key {', '.join(unknown)}"
    if (status := content.get("status")) and status not in columns:
        return f"series: no column {status}"
    if content.get("newest", DAY) != DAY:
        return f"series: newest is {content['newest']!r}, not {DAY}"
    if "newest" in content and not clocked:
        return "series: newest needs a clock, and columns that can all be combined"
    return ""
