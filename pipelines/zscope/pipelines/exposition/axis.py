"""When the rows of a metric are: the column in which their interval begins, and how to tell where it ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zscope.pipelines.metrics import Metric

_END_BY_BEGIN = {
    "interval_start_utc": "interval_end_utc",
    "from_utc": "to_utc",
    "period_from_utc": "period_to_utc",
    "begin_utc": "end_utc",
}
_LENGTHS = {"hour_utc": "INTERVAL 1 HOUR", "day_utc": "INTERVAL 1 DAY", "week_utc": "INTERVAL 7 DAY"}
"""Columns that name the begin of an interval whose length is always the same."""
_LENGTH = "interval_ms"
SPANS = ("day", "week")
"""What rows of a metric with a clock can be put together by, besides its columns."""


@dataclass(frozen=True, slots=True)
class Axis:
    """Begin and end of what a row is about."""

    begin: str
    """Column."""
    end: str
    """Expression in SQL over the columns of the metric; the begin where nothing tells the end, or where the
    clock of the metric is the end itself."""
    columns: frozenset[str]
    """The columns that only tell the time."""
    fixed: bool = False
    """Whether the end follows from the begin alone, so that it is the same after rows are put together."""


def axis_of(metric: Metric, by: tuple[str, ...] | None = None) -> Axis | None:
    """The time axis of a metric; none where its rows are about the state of things."""
    names = {column.name for column in metric.columns if column.in_file}
    begin = metric.clock or next((name for name in _END_BY_BEGIN if name in names), "")
    if not begin:
        return None
    end = _END_BY_BEGIN.get(begin, "")
    told = frozenset({begin, end} & names)
    if metric.clock and (span := next((key for key in by or () if key in SPANS), "")):
        begin = f"{span}_utc"
        return Axis(begin, f"{begin} + {_LENGTHS[begin]}", told, fixed=True)
    if begin in _LENGTHS:
        return Axis(begin, f"{begin} + {_LENGTHS[begin]}", told, fixed=True)
    if end in names:
        return Axis(begin, f"coalesce({end}, {begin})", told)
    if _LENGTH in names:
        return Axis(begin, f"coalesce({begin} + to_milliseconds({_LENGTH}), {begin})", told)
    return Axis(begin, begin, told, fixed=True)
