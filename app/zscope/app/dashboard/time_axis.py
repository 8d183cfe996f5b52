"""Charts over time: how finely they are drawn, and where a line breaks off because rows are missing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal

import pyarrow as pa

from zscope.app.dashboard.filter_choices import choices

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from zscope.app.dashboard.page_data import PageData

PIECE = "piece"
_SLACK = timedelta(seconds=2)
"""Records and reports differ in the fractions of a second."""
Span = Literal["hour_utc", "day"]
"""Column that rows over time are grouped by: the hour in UTC, or the local day of the system."""
STEPS: dict[Span, timedelta] = {"hour_utc": timedelta(hours=1), "day": timedelta(days=1)}
"""Length of the groups."""
UNITS: dict[Span, str] = {"hour_utc": "utcyearmonthdatehours", "day": "utcyearmonthdate"}
"""The same as units of Vega, so that a bar is as wide as its hour or day."""
_HOURLY = timedelta(days=8)
"""Up to this length, hours are distinguishable on a screen."""


def in_pieces(table: pa.Table, of: Sequence[str], start: str, length: timedelta | str) -> pa.Table:
    """Return the rows in time order with a column `PIECE`: rows of one piece follow each other without a gap.

    A piece has one value in each of the columns `of`. `length` is the length of every row, or the name of a
    column with it in milliseconds. Rows without a start are left out: a time axis has no place for them.
    """
    placed = table.filter(table[start].is_valid())
    ordered = placed.sort_by([(name, "ascending") for name in (*of, start)])
    pieces: list[int] = []
    before: tuple[list[object], datetime] | None = None
    number = 0
    for row in ordered.select([*of, start, *([length] if isinstance(length, str) else [])]).to_pylist():
        key, begin = [row[name] for name in of], row[start]
        lasts = length if isinstance(length, timedelta) else timedelta(milliseconds=row[length] or 0)
        if before is None or before[0] != key or begin - before[1] > _SLACK:
            number += 1
        pieces.append(number)
        before = (key, begin + lasts)
    return ordered.append_column(PIECE, pa.array(pieces, pa.int32()))


def drawn_at(time: date) -> datetime:
    """Return the moment at which a time is drawn: a local day where an axis in UTC has that day."""
    return time if isinstance(time, datetime) else datetime.combine(time, datetime.min.time(), UTC)


def span(data: PageData, hourly: timedelta = _HOURLY) -> Span:
    """Return the column that an hourly metric is grouped by for the period shown: the hour up to a length."""
    return "hour_utc" if period_length(data) <= hourly else "day"


def period_length(data: PageData) -> timedelta:
    """Return the length of the period shown; zero if no data has a time."""
    offered = choices(data.queries, data.version)
    begin, end = data.filters.begin or offered.first_utc, data.filters.end or offered.last_utc
    return end - begin if begin and end else timedelta(0)
