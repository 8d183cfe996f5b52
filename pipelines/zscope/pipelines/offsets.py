"""Offsets of time zones from UTC and their changes, as arrays for converting many times at once.

The standard library returns the offset at one moment; converting a million local times needs the list of
changes. They are determined once per year by comparing the offsets of successive days and bisecting where
they differ. No zone changed its clock twice within three days since 1900, so no change is missed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import cache, cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from zscope.parsers.zones import zone_of
from zscope.schemas.arrow import LOCAL
from zscope.schemas.arrow import UTC as UTC_TYPE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zscope.pipelines.settings import Zones

Times = NDArray[np.int64]
"""Microseconds since 1970, by UTC or by a local clock."""

FIRST_YEAR, LAST_YEAR = 1900, 2100
"""The years that dates of records can have. Outside them the nearest offset is used."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_SECOND_US = 1_000_000
_DAY_S = 86_400
_YEAR_STARTS_US: Times = (
    np.arange(f"{FIRST_YEAR}", f"{LAST_YEAR + 2}", dtype="datetime64[Y]")
    .astype("datetime64[us]")
    .astype(np.int64)
)


@dataclass(frozen=True)
class Changes:
    """The clock changes of a zone in a range of years, in order."""

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
    def _last_of_old(self) -> Times:
        """Local times up to which the offset before each change is possible."""
        return np.maximum.accumulate(self.moments + np.maximum(self.before, self.after))

    @cached_property
    def _first_of_new(self) -> Times:
        """Local times from which the offset after each change is possible."""
        return np.maximum.accumulate(self.moments + np.minimum(self.before, self.after))

    def passed(self, local: Times) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the minimum and maximum number of changes before local times.

        The two differ for times around a change that the clock skips or shows twice.
        """
        return (
            np.searchsorted(self._last_of_old, local, "right"),
            np.searchsorted(self._first_of_new, local, "right"),
        )

    @cached_property
    def twice(self) -> NDArray[np.intp]:
        """Indices of the changes that set the clock back, so that it repeats a span."""
        return np.flatnonzero(self.after < self.before)

    @cached_property
    def never(self) -> NDArray[np.intp]:
        """Indices of the changes that set the clock forward, so that it skips a span."""
        return np.flatnonzero(self.after > self.before)

    def to_local(self, utc: Times) -> Times:
        """Convert UTC to local time."""
        local: Times = utc + self.offsets[np.searchsorted(self.moments, utc, "right")]
        return local


@dataclass
class Offsets:
    """The offsets of one zone; changes are determined when they are needed."""

    zone: tzinfo
    _years: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    _known: tuple[int, int, Changes] | None = None
    """First year, last year, and the changes in them."""

    @property
    def fixed(self) -> bool:
        """Whether the zone has a constant offset."""
        return isinstance(self.zone, timezone)

    def changes(self, first: int, last: int) -> Changes:
        """Return the changes between the years of two times, and one year before and after."""
        begin, end = _year_of(first) - 1, _year_of(last) + 1
        begin, end = max(begin, FIRST_YEAR), min(end, LAST_YEAR)
        if self._known and self._known[0] <= begin and end <= self._known[1]:
            return self._known[2]
        if self._known:
            begin, end = min(begin, self._known[0]), max(end, self._known[1])
        changes = self._find(begin, end)
        self._known = begin, end, changes
        return changes

    def _find(self, begin: int, end: int) -> Changes:
        start = int(_YEAR_STARTS_US[begin - FIRST_YEAR]) // _SECOND_US
        offsets = [self._offset(start)]
        if self.fixed:
            return Changes(np.empty(0, np.int64), np.array(offsets))
        moments = []
        for year in range(begin, end + 1):
            if year not in self._years:
                self._years[year] = self._changes_in(year)
            for moment, offset in self._years[year]:
                moments.append(moment)
                offsets.append(offset)
        return Changes(np.array(moments, np.int64), np.array(offsets))

    def _changes_in(self, year: int) -> list[tuple[int, int]]:
        """Return the changes in a year: their times, and the offsets after them."""
        start, end = (int(_YEAR_STARTS_US[year - FIRST_YEAR + step]) // _SECOND_US for step in (0, 1))
        days = [(moment, self._offset(moment)) for moment in range(start, end + 1, _DAY_S)]
        changes = []
        for (low, old), (high, new) in pairwise(days):
            if old != new:
                # Invariant: the old offset applies at `low`, another one at `high`.
                while high - low > 1:
                    middle = (low + high) // 2
                    if self._offset(middle) == old:
                        low = middle  # noqa: PLW2901 - bisection
                    else:
                        high = middle  # noqa: PLW2901 - bisection
                changes.append((high * _SECOND_US, new))
        return changes

    def _offset(self, moment: int) -> int:
        """Return the offset in microseconds at a time in seconds."""
        distance = (_EPOCH + timedelta(seconds=moment)).astimezone(self.zone).utcoffset()
        return (distance or timedelta()) // _MICROSECOND


def microseconds(local: datetime) -> int:
    """Return a local time as a number, as arrays of times contain it."""
    return (local.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND


def _year_of(time: int) -> int:
    """Return the year of a time, limited to the supported years."""
    years = int(np.searchsorted(_YEAR_STARTS_US, time, "right")) - 1
    return FIRST_YEAR + min(max(years, 0), LAST_YEAR - FIRST_YEAR)


@cache
def offsets_of(zone: str) -> Offsets:
    """Return the offsets of a named zone; cached for all files of a run."""
    return Offsets(zone_of(zone))


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
        pa.field("zone", pa.string(), metadata={"meaning": "Time zone, as in the settings."}),
    ],
    metadata={"table": "system_clock"},
)
"""Spans with a constant offset of the clock of a system, for converting local times in SQL."""


def spans(system: str, zone: str, first: int, last: int) -> pa.Table:
    """Return the spans of constant offset between the years of two local times, and one year before and
    after.

    The neighbouring years are included because columns of a record can have older times than the record.
    """
    offsets = offsets_of(zone)
    changes = offsets.changes(first, last)
    begin = max(_year_of(first) - 1, FIRST_YEAR) - FIRST_YEAR
    end = min(_year_of(last) + 1, LAST_YEAR) - FIRST_YEAR + 1
    edges = _YEAR_STARTS_US[[begin, end]]
    inside = (changes.moments > edges[0]) & (changes.moments < edges[1])
    bounds = np.concatenate([edges[:1], changes.moments[inside], edges[1:]])
    offset = changes.offsets[np.searchsorted(changes.moments, bounds[:-1], "right")]
    columns = [
        pa.array([system] * len(offset), pa.string()),
        pa.array(bounds[:-1]).view(UTC_TYPE),
        pa.array(bounds[1:]).view(UTC_TYPE),
        pa.array(bounds[:-1] + offset).view(LOCAL),
        pa.array(bounds[1:] + offset).view(LOCAL),
        pa.array((offset // _SECOND_US).astype(np.int32)),
        pa.array([zone] * len(offset), pa.string()),
    ]
    return pa.table(columns, schema=CLOCK_SCHEMA)


def system_clock(zones: Zones, systems: Iterable[str], first: int, last: int) -> pa.Table:
    """Return the spans of all systems whose zone is known."""
    known = [(system, zone) for system in systems if (zone := zones.of(system)) is not None]
    return pa.concat_tables(
        [CLOCK_SCHEMA.empty_table(), *(spans(system, zone, first, last) for system, zone in known)]
    )
