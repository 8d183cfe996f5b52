"""Convert local times to UTC, in the hours in which a clock is changed as well.

Most local times have one offset and are converted as arrays. Clock changes need more:

- In autumn a clock shows an hour twice. The order of the records of a dump shows which of the two it was, so
  `Clocks` has to observe all record headers in the order of the file before it converts the rows. A report
  can mark its rows of the second hour. What nothing tells apart has no time in UTC, and is one issue for each
  system and hour.
- In spring a clock skips an hour. A record with such a time was written by a clock that was set late, so the
  offset before the change is correct. If the clock was not changed at all, the configured zone is wrong; the
  issue about these records says so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zscope.parsers.issues import Code, Issue
from zscope.parsers.zones import offset_text
from zscope.pipelines.local_time.record_order import Headers, Pass, Passes, time_range
from zscope.pipelines.local_time.timelines import SECOND_US, Timeline, timeline_of
from zscope.pipelines.quantities import counted
from zscope.schemas.arrow import UTC as UTC_TYPE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from zscope.parsers.issues import Issues
    from zscope.parsers.smf.walker import Window
    from zscope.parsers.text.coding import CodePage
    from zscope.pipelines.local_time.timelines import Times
    from zscope.pipelines.settings import Zones


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY_US = 24 * 3600 * SECOND_US
"""Only records up to this long before a repeated hour show that a system is in its first pass."""
_FARTHEST = (1 << 63) - (1 << 40)
"""Times that would overflow with an offset become null."""
_MOST_ORDERS = 4096
"""More systems than this mean a damaged dump; the order of records of the others is not stored."""
_FIXED = "if this system does not change its clock, configure a fixed offset such as +01:00"


@dataclass
class ClockChange:
    """A change of the clock of a system, and the times of one file that it concerns."""

    system: str
    zone: str
    begin: int
    """The local time at which the repeated or skipped hour begins."""
    end: int
    offsets: tuple[int, int]
    """The offset before and after the change."""
    passes: Passes | None = None
    """Where the clock was set back: the order of the records of a dump."""
    rows: int = 0
    """Number of rows in a repeated hour whose pass is unknown."""
    skipped: int = 0
    """Number of records or rows with a time that the clock skips."""
    advice: str = ""
    """Input that would show the hour of the rows, for the issue."""

    @property
    def is_back(self) -> bool:
        """Whether the clock was set back, so that it repeats an hour."""
        return self.offsets[1] < self.offsets[0]

    def both_times(self, local: int) -> tuple[int, int]:
        """Return the two times in UTC that a local time in a repeated hour can be."""
        return local - self.offsets[0], local - self.offsets[1]

    def passes_of(
        self, rows: int, numbers: Times | None, second: NDArray[np.bool_] | None
    ) -> NDArray[np.int8]:
        """Return the pass of each of the given rows, and count the rows whose pass is unknown."""
        if not self.is_back:
            # Records were counted when their headers were observed.
            self.skipped += rows if numbers is None else 0
            return np.full(rows, Pass.FIRST, np.int8)
        if second is not None and second.any():
            return np.where(second, Pass.SECOND, Pass.FIRST).astype(np.int8)
        if numbers is None or self.passes is None:
            self.rows += rows
            return np.full(rows, Pass.UNKNOWN, np.int8)
        self.rows += self.passes.before_all(numbers)
        return self.passes.of(numbers)

    def issues(self, file: str) -> Iterator[Issue]:
        """Yield what the user has to know."""
        begin, end = (_EPOCH + timedelta(microseconds=time) for time in (self.begin, self.end))
        span = f"between {begin:%Y-%m-%d %H:%M} and {end:%Y-%m-%d %H:%M} local time"
        system = self.system or "a system without a name"
        if self.passes and self.passes.not_set_back:
            text = (
                f"the clock of {system} was not set back {span}, as clocks of {self.zone} are: times in that "
                f"span were converted with the offset before the change; {_FIXED}"
            )
            yield Issue(Code.CLOCK_DIFFERS, text, file)
        if self.skipped:
            text = (
                f"{counted(self.skipped, 'time')} of {system} {span}, which clocks of {self.zone} skip, were "
                f"converted with the offset before the change, as if the clock was set late; {_FIXED}"
            )
            yield Issue(Code.CLOCK_DIFFERS, text, file)
        records, first = self.passes.unknown() if self.passes else (0, 0)
        counts = [counted(records, "record")] if records else []
        counts += [counted(self.rows, "row")] if self.rows else []
        if counts:
            text = (
                f"{' and '.join(counts)} of {system} {span}, which its clock shows twice: it is unknown "
                "which of the two it was, so UTC columns such as written_utc are null; the local times are "
                f"unchanged; {self.advice or self._remedy()}"
            )
            yield Issue(Code.AMBIGUOUS_TIME, text, file, first if records else None)

    def _remedy(self) -> str:
        named = f"{self.system}=" if self.system else ""
        first, second = (f"--timezone {named}{offset_text(offset // SECOND_US)}" for offset in self.offsets)
        return (
            "to repair, if the file is of one of the two hours: zscope loads remove its load, and ingest it "
            f"again with {first} for the first hour, or with {second} for the second"
        )


@dataclass
class Clocks:
    """The clocks of all systems in one file. Not thread-safe."""

    zones: Zones
    issues: Issues
    file: str
    page: CodePage
    unnamed: str | None = None
    """System of records without a system name."""
    _changes: dict[tuple[str, int], ClockChange] = field(default_factory=dict)
    """The changes near which the file has times, by system and moment."""
    _orders: int = 0
    """Number of changes for which the order of the records is stored."""

    def __post_init__(self) -> None:
        named = {zone for zone in (*self.zones.systems.values(), self.zones.default) if zone}
        timelines = {zone: timeline_of(zone) for zone in named}
        self._changing = {zone: timeline for zone, timeline in timelines.items() if len(timeline.moments)}

    def with_zones(self, zones: Zones) -> Clocks:
        """Return the clocks of the same file, before any time of it, with other zones."""
        return Clocks(zones, self.issues, self.file, self.page, self.unnamed)

    @property
    def near_a_change(self) -> bool:
        """Whether any time depends on the order of the records, or is counted near a clock change."""
        return bool(self._changes)

    @property
    def has_ambiguous_rows(self) -> bool:
        """Whether there are rows in a repeated hour whose order is not known."""
        return any(change.rows for change in self._changes.values())

    def observe(self, window: Window) -> None:
        """Observe the headers of a window, in the order of the file; slow only on days of a clock change."""
        if not self._changing or not len(window.starts):
            return
        span = time_range(window)
        if span is not None and not any(self._near(*span)):
            return
        headers = Headers(window, self.page, self.unnamed)
        if not len(headers.times):
            return
        for zone, index, begin, end in self._near(int(headers.times.min()), int(headers.times.max())):
            inside = np.flatnonzero((headers.times >= begin) & (headers.times < end))
            for group in _grouped(headers.systems[inside]):
                records = inside[group]
                name = headers.names[headers.systems[records[0]]]
                if self.zones.of(name) == zone:
                    self._observe(self._change(name, zone, index), headers, records)

    def _observe(self, change: ClockChange, headers: Headers, records: NDArray[np.intp]) -> None:
        if not change.is_back:
            change.skipped += len(records)
            return
        if change.passes is None and self._orders < _MOST_ORDERS:
            self._orders += 1
            change.passes = Passes(change.begin, change.end)
        if change.passes:
            change.passes.observe(headers.numbers[records], headers.times[records])

    def _near(self, first: int, last: int) -> Iterator[tuple[str, int, int, int]]:
        """Yield the changes with records to observe between two times: zone, index and span of local time."""
        for zone, timeline in self._changing.items():
            is_back = timeline.after < timeline.before
            begins = timeline.begins - np.where(is_back, _DAY_US, 0)
            ends = timeline.ends + np.where(is_back, timeline.ends - timeline.begins, 0)
            for index in np.flatnonzero((begins <= last) & (first < ends)).tolist():
                yield zone, index, int(begins[index]), int(ends[index])

    def _change(self, system: str, zone: str, index: int) -> ClockChange:
        timeline = timeline_of(zone)
        key = system, int(timeline.moments[index])
        if key not in self._changes:
            begin, end = int(timeline.begins[index]), int(timeline.ends[index])
            offsets = int(timeline.before[index]), int(timeline.after[index])
            self._changes[key] = ClockChange(system, zone, begin, end, offsets)
        return self._changes[key]

    def to_utc(
        self,
        system: pa.Array,
        local: pa.Array,
        record_no: pa.Array | None = None,
        second_hour: pa.Array | None = None,
    ) -> pa.Array:
        """Convert local times; the result is null without a zone, and where the time is ambiguous.

        With `record_no`, the times are of records, whose headers have to be observed before. Times of reports
        have no known order, but `second_hour` can mark rows that repeat a time with other figures: in a
        repeated hour with such rows, the other rows of the system are of the first hour.
        """
        values: Times = pc.fill_null(local.cast(pa.int64()), 0).to_numpy(zero_copy_only=False)
        has_utc = (values > -_FARTHEST) & (values < _FARTHEST)
        if local.null_count:
            has_utc &= local.is_valid().to_numpy(zero_copy_only=False)
        numbers = None if record_no is None else record_no.cast(pa.int64()).to_numpy(zero_copy_only=False)
        second = None if second_hour is None else pc.fill_null(second_hour, False).to_numpy(False)
        names, which = system_indices(system)
        zones = [self.zones.of(name) for name in names]
        utc = np.zeros(len(values), np.int64)
        for zone in dict.fromkeys(zones):
            of_zone = np.array([other == zone for other in zones], np.bool_)[which]
            if zone is None:
                has_utc &= ~of_zone
                continue
            rows = np.flatnonzero(has_utc & of_zone)
            utc[rows], changes = _with_first_offset(timeline_of(zone), values[rows])
            near = rows[changes >= 0]
            changes = changes[changes >= 0]
            for group in _grouped(which[near] << 32 | changes):
                at, index = near[group], int(changes[group[0]])
                change = self._change(names[which[at[0]]] or "", zone, index)
                numbers_there = None if numbers is None else numbers[at]
                kinds = change.passes_of(len(at), numbers_there, None if second is None else second[at])
                utc[at[kinds == Pass.SECOND]] += change.offsets[0] - change.offsets[1]
                has_utc[at[kinds == Pass.UNKNOWN]] = False
        return pa.array(utc, mask=None if has_utc.all() else ~has_utc).view(UTC_TYPE)

    def repeated(self, system: str, local: int) -> ClockChange | None:
        """Return the clock change that repeats a local time, if there is one."""
        zone = self.zones.of(system)
        if zone is None or not -_FARTHEST < local < _FARTHEST:
            return None
        _, changes = _with_first_offset(timeline_of(zone), np.array([local]))
        change = self._change(system, zone, int(changes[0])) if changes[0] >= 0 else None
        return change if change and change.is_back else None

    def report(self) -> None:
        """Add the issues, after the whole file was read."""
        for change in self._changes.values():
            for issue in change.issues(self.file):
                self.issues.add(issue)


def _with_first_offset(timeline: Timeline, local: Times) -> tuple[Times, NDArray[np.intp]]:
    """Convert local times with the first offset that they can have.

    Also returns for each time the number of the change that skips or repeats it, or -1.
    """
    none = np.full(len(local), -1, np.intp)
    if not len(local):
        return local, none
    least, most = timeline.passed(np.array([local.min(), local.max()]))
    if least[0] == most[1]:  # as in nearly all batches
        return local - timeline.offsets[least[0]], none
    before, after = timeline.passed(local)
    return local - timeline.offsets[before], np.where(before == after, none, before)


def _grouped(keys: Times) -> Iterator[NDArray[np.intp]]:
    """Yield the places of equal numbers, in order."""
    if len(keys):
        order = np.argsort(keys, kind="stable")
        yield from np.split(order, np.flatnonzero(np.diff(keys[order])) + 1)


def system_indices(system: pa.Array) -> tuple[list[str | None], NDArray[np.int64]]:
    """Return the distinct system names, and for each row the index of its name."""
    encoded = system if pa.types.is_dictionary(system.type) else system.dictionary_encode()
    names = encoded.dictionary.to_pylist()
    if encoded.null_count or not names:
        names.append(None)
    which = pc.fill_null(encoded.indices.cast(pa.int64()), len(names) - 1)
    return names, which.to_numpy(zero_copy_only=False)
