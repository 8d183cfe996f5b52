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

from collections.abc import Iterator, Sequence
from typing import Literal

from zscope.schemas.declared import Declared


class SeriesDeclaration(Declared, frozen=True):
    """The table `[series]` of a metric."""

    rows: str = ""
    """SQL condition on the rows that are exported by default; all rows if empty."""
    status: str = ""
    """Text column that becomes a label of series with the value 1."""
    newest: Literal["", "day"] = ""
    """`day`: samples without time combine the last 24 hours, instead of the newest interval."""


def series_problems(
    declared: SeriesDeclaration, columns: Sequence[str], *, clocked: bool
) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a table `[series]`, after its key.

    >>> list(series_problems(SeriesDeclaration(status="why"), ["system"], clocked=False))
    [('series', 'no column why')]
    """
    if declared.status and declared.status not in columns:
        yield "series", f"no column {declared.status}"
    if declared.newest and not clocked:
        yield "series", "newest needs a clock, and columns that can all be combined"
