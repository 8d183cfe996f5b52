"""The offset of a clock from UTC over time, as arrays that convert many times at once.

The standard library returns the offset at one moment; converting a million local times needs the list of
changes. It is determined once for each zone, by comparing the offsets of days two apart and bisecting
where they differ. No zone changed its clock twice within three days since 1900, so no change is missed.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import cache, cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from zscope.parsers.zones import zone_of
from zscope.schemas.arrow import LOCAL
from zscope.schemas.arrow import UTC as UTC_TYPE

Times = NDArray[np.int64]
"""Microseconds since 1970, by UTC or by a local clock."""

SECOND_US = 1_000_000
MISSING = np.iinfo(np.int64).min
EARLIEST_US, LATEST_US = (int(np.datetime64(year, "us").astype(np.int64)) for year in ("1900", "2101"))
"""The times that records can have. Outside them the nearest offset is used."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FIRST_DAY, _LAST_DAY = datetime(1900, 1, 1), datetime(2101, 1, 1)  # noqa: DTZ001 - local times
_STEP = timedelta(days=2)


def time_numbers(column: pa.Array) -> Times:
    """Return times in microseconds since 1970; a time that is null is the smallest integer."""
    numbers: Times = column.cast(pa.int64()).fill_null(MISSING).to_numpy(zero_copy_only=False)
    return numbers


@dataclass(frozen=True)
class Timeline:
    """The changes of a clock, in order."""

    moments: Times
    """Times of the changes, in UTC."""
    offsets: Times
    """Offsets from UTC before the first change, between changes, and after the last one."""

    @cached_property
    def before(self) -> Times:
        """The offset before each change."""
        return self.offsets[:-1]

    @cached_property
    def after(self) -> Times:
        """The offset after each change."""
        return self.offsets[1:]

    @cached_property
    def begins(self) -> Times:
        """The local time at which each change begins to skip or repeat a span."""
        return self.moments + np.minimum(self.before, self.after)

    @cached_property
    def ends(self) -> Times:
        """The local time at which the span of each change ends."""
        return self.moments + np.maximum(self.before, self.after)

    def passed(self, local: Times) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the minimum and maximum number of changes before local times.

        The two differ for times around a change that the clock skips or shows twice.
        """
        last_of_old, first_of_new = np.maximum.accumulate(self.ends), np.maximum.accumulate(self.begins)
        return np.searchsorted(last_of_old, local, "right"), np.searchsorted(first_of_new, local, "right")

    def to_local(self, utc: Times) -> Times:
        """Convert UTC to local time."""
        local: Times = utc + self.offsets[np.searchsorted(self.moments, utc, "right")]
        return local


@cache
def timeline_of(zone: str) -> Timeline:
    """Return the offsets of a time zone; cached for all files of a run."""
    clock = zone_of(zone)
    day, offsets, moments = _FIRST_DAY, [clock.utcoffset(_FIRST_DAY)], []
    while day < _LAST_DAY and not isinstance(clock, timezone):
        day += _STEP
        offset = clock.utcoffset(day)
        if offset != offsets[-1]:
            moments.append(_change_before(clock, day, offsets[-1]))
            offsets.append(offset)
    distances = [(offset or timedelta()) // _MICROSECOND for offset in offsets]
    return Timeline(np.array(moments, np.int64), np.array(distances, np.int64))


def _change_before(clock: tzinfo, local: datetime, old: timedelta | None) -> int:
    """Return the moment at which the old offset ended, up to a step before a local time."""
    end = int((local.replace(tzinfo=clock) - _EPOCH).total_seconds())
    # A clock can skip a whole day, whose local times have the old offset after the change.
    seconds = range(end - int(_STEP.total_seconds()) - 86_400, end)

    def is_new(second: int) -> bool:
        return (_EPOCH + timedelta(seconds=second)).astimezone(clock).utcoffset() != old

    return seconds[0] * SECOND_US + bisect_left(seconds, True, key=is_new) * SECOND_US


def microseconds(local: datetime) -> int:
    """Return a local time as a number, as arrays of times contain it."""
    return (local.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND


CLOCK_SCHEMA = pa.schema(
    [
        pa.field("system", pa.string(), metadata={"meaning": "Name of the system."}),
        pa.field("from_utc", UTC_TYPE, metadata={"meaning": "Start of the span with this offset."}),
        pa.field("to_utc", UTC_TYPE, metadata={"meaning": "End of the span, exclusive."}),
        pa.field("from_local", LOCAL, metadata={"meaning": "Local time at from_utc."}),
        pa.field("to_local", LOCAL, metadata={"meaning": "Local time at to_utc with this offset."}),
        pa.field(
            "offset_s",
            pa.int32(),
            metadata={"meaning": "Seconds the clock is ahead of UTC.", "unit": "s"},
        ),
        pa.field(
            "zone",
            pa.string(),
            metadata={
                "meaning": "Time zone, as in the settings; for RMF reports without one, the offset that "
                "SMF 70 records state."
            },
        ),
    ],
    metadata={"table": "system_clock"},
)
"""Spans with a constant offset of the clock of a system, for converting local times in SQL."""


def clock_spans(system: str, zone: str, first: int, last: int) -> pa.Table:
    """Return the spans of constant offset between the years of two local times, and one year before and
    after.

    The neighbouring years are included because columns of a record can have older times than the record.
    """
    timeline = timeline_of(zone)
    times = np.clip([first, last], EARLIEST_US, LATEST_US - 1).astype("datetime64[us]")
    years = times.astype("datetime64[Y]") + np.array([-1, 2])
    edges = np.clip(years.astype("datetime64[us]").astype(np.int64), EARLIEST_US, LATEST_US)
    inside = (timeline.moments > edges[0]) & (timeline.moments < edges[1])
    bounds = np.concatenate([edges[:1], timeline.moments[inside], edges[1:]])
    offset = timeline.offsets[np.searchsorted(timeline.moments, bounds[:-1], "right")]
    columns = [
        pa.array([system] * len(offset), pa.string()),
        pa.array(bounds[:-1]).view(UTC_TYPE),
        pa.array(bounds[1:]).view(UTC_TYPE),
        pa.array(bounds[:-1] + offset).view(LOCAL),
        pa.array(bounds[1:] + offset).view(LOCAL),
        pa.array((offset // SECOND_US).astype(np.int32)),
        pa.array([zone] * len(offset), pa.string()),
    ]
    return pa.table(columns, schema=CLOCK_SCHEMA)
