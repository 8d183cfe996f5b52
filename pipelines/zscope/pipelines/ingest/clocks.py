"""Convert local times of records to UTC, including dumps with a clock change.

Most local times have one offset and are converted as arrays. Clock changes need more:

- In autumn a clock shows an hour twice. The order of the records of a system shows which of the two it was,
  so a `Clocks` has to observe all record headers in the order of the file before it converts the rows.
- In spring a clock skips an hour. A record with such a time was written by a clock that was set late, so the
  offset before the change is correct. If the clock was not changed at all, the configured zone is wrong; the
  issue about these records says so.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zscope.parsers.issues import Code, Issue
from zscope.pipelines.ingest.clock_passes import BEFORE_US, Headers, Pass, Passes, time_range
from zscope.pipelines.offsets import offsets_of
from zscope.schemas.arrow import UTC as UTC_TYPE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from zscope.parsers.issues import Issues
    from zscope.parsers.smf.walker import Window
    from zscope.parsers.text.coding import CodePage
    from zscope.pipelines.offsets import Changes, Times
    from zscope.pipelines.settings import Zones


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_HINT = "if this system does not change its clock, configure a fixed offset such as +01:00"


@dataclass
class _AmbiguousTimes:
    """Times of one system that cannot be converted to UTC."""

    span: str
    records: int = 0
    rows: int = 0
    first_record: int | None = None
    advice: str = ""


@dataclass
class ClockIssues:
    """Adds the issues about clock changes to one file: one issue for each system and change."""

    zones: Zones
    issues: Issues
    file: str
    _ambiguous: dict[str, _AmbiguousTimes] = field(default_factory=dict)

    def add_passes(self, system: str, moment: int, passes: Passes) -> None:
        """Add what the order of the records of a system did not determine about a repeated hour."""
        records, first = passes.unknown()
        if records:
            ambiguous = self._ambiguous_times(system, moment)
            ambiguous.records += records
            ambiguous.first_record = min(ambiguous.first_record or first, first)
        if passes.not_set_back:
            text = (
                f"the clock of {_name(system)} was not set back between {self._span(system, moment)} local "
                f"time, as clocks of {self.zones.of(system)} are: times in that span were converted with the "
                f"offset before the change; {_HINT}"
            )
            self.issues.add(Issue(Code.CLOCK_DIFFERS, text, self.file))

    def add_unordered(self, system: str, moment: int, rows: int, advice: str) -> None:
        """Add rows in a repeated hour whose order is not known, and what would tell the two hours apart."""
        times = self._ambiguous_times(system, moment)
        times.rows += rows
        times.advice = advice

    def add_skipped(self, system: str, moment: int, count: int) -> None:
        """Add times that a clock of the zone never shows."""
        text = (
            f"{_count(count, 'time')} of {_name(system)} between {self._span(system, moment)} local time, "
            f"which clocks of {self.zones.of(system)} skip, were converted with the offset before the "
            f"change, as if the clock was set late; {_HINT}"
        )
        self.issues.add(Issue(Code.CLOCK_DIFFERS, text, self.file))

    def finish(self) -> None:
        """Add the issues about times that cannot be converted."""
        for system, times in self._ambiguous.items():
            counts = [_count(times.records, "record")] if times.records else []
            counts += [_count(times.rows, "row")] if times.rows else []
            text = (
                f"{' and '.join(counts)} of {_name(system)} between {times.span} local time, which its clock "
                "shows twice: it is unknown which of the two it was, so UTC columns such as written_utc are "
                f"null; the local times are unchanged{times.advice and f'; {times.advice}'}"
            )
            self.issues.add(Issue(Code.AMBIGUOUS_TIME, text, self.file, times.first_record))

    def _ambiguous_times(self, system: str, moment: int) -> _AmbiguousTimes:
        return self._ambiguous.setdefault(system, _AmbiguousTimes(self._span(system, moment)))

    def _span(self, system: str, moment: int) -> str:
        """Return the local times between which the clock repeats or skips an hour."""
        zone = self.zones.of(system) or ""
        changes = offsets_of(zone).changes(moment, moment)
        change = changes.moments.tolist().index(moment)
        first, last = sorted((int(changes.before[change]), int(changes.after[change])))
        begin, end = (_EPOCH + timedelta(microseconds=moment + offset) for offset in (first, last))
        return f"{begin:%Y-%m-%d %H:%M} and {end:%Y-%m-%d %H:%M}"


def _name(system: str) -> str:
    return system or "a system without a name"


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun if count == 1 else f'{noun}s'}"


_FARTHEST = (1 << 63) - (1 << 40)
"""Times that would overflow with an offset become null."""
_MOST_PASSES = 4096
"""More systems than this mean a damaged dump; the order of records of the others is not stored."""


@dataclass(frozen=True, slots=True)
class _SetBack:
    """A change that sets a clock back, with the offsets before and after it."""

    moment: int
    offset_before: int
    offset_after: int


@dataclass
class Clocks:
    """The clocks of all systems in one file. Not thread-safe."""

    zones: Zones
    issues: Issues
    file: str
    page: CodePage
    unnamed: str | None = None
    """System of records without a system name."""
    _passes: dict[tuple[str, int], Passes] = field(default_factory=dict)
    """By system and clock change, where the clock was set back."""
    _skipped: Counter[tuple[str, int]] = field(default_factory=Counter)
    """Number of records or rows with a skipped local time, by system and clock change."""
    _unordered: Counter[tuple[str, int]] = field(default_factory=Counter)
    """Number of rows in a repeated hour whose order is not known, by system and clock change."""
    _advice: dict[tuple[str, int], str] = field(default_factory=dict)
    """What would tell the two hours of such rows apart, by system and clock change."""

    def __post_init__(self) -> None:
        named = {*self.zones.systems.values(), self.zones.default}
        self._changing = [offsets for zone in named if zone and not (offsets := offsets_of(zone)).fixed]

    @property
    def undecided(self) -> bool:
        """Whether later records can still determine the times of records in a repeated hour.

        This is so for a dump that begins inside such an hour. Rows that are converted before the rest of the
        headers was observed get null, and later rows of the same records as well.
        """
        return any(passes.undecided for passes in self._passes.values())

    @property
    def used_order(self) -> bool:
        """Whether any time depends on the order of the records, or is counted near a clock change."""
        return bool(self._passes or self._skipped or self._unordered)

    def observe(self, window: Window) -> None:
        """Observe the headers of a window, in the order of the file; slow only on days of a clock change."""
        if not self._changing or not len(window.starts):
            return
        span = time_range(window)
        if span is not None and not self._near(*span):
            return
        headers = Headers(window, self.page, self.unnamed)
        if not len(headers.times):
            return
        first, last = int(headers.times.min()), int(headers.times.max())
        if not self._near(first, last):
            return
        zones = [self.zones.of(name) for name in headers.names]
        for zone in dict.fromkeys(zones):
            if zone is None:
                continue
            of_zone = np.array([other == zone for other in zones])
            changes = offsets_of(zone).changes(first, last)
            mine = np.flatnonzero(of_zone[headers.systems])
            for change, records in _in_spans(headers, mine, changes.twice, *_observed_spans(changes)):
                name = headers.names[headers.systems[records[0]]]
                if (passes := self._passes_of(name, changes, change)) is not None:
                    passes.observe(headers.numbers[records], headers.times[records])
            for change, records in _in_spans(headers, mine, changes.never, *_skipped_spans(changes)):
                name = headers.names[headers.systems[records[0]]]
                self._skipped[name, int(changes.moments[change])] += len(records)

    def _near(self, first: int, last: int) -> bool:
        """Whether any clock is changed between two times, or shortly before or after."""
        for offsets in self._changing:
            changes = offsets.changes(first, last)
            for begins, ends in (_observed_spans(changes), _skipped_spans(changes)):
                if ((begins <= last) & (first < ends)).any():
                    return True
        return False

    def _passes_of(self, system: str, changes: Changes, change: int) -> Passes | None:
        key = system, int(changes.moments[change])
        if key not in self._passes:
            if len(self._passes) >= _MOST_PASSES:
                return None
            self._passes[key] = Passes(
                key[1] + int(changes.after[change]), key[1] + int(changes.before[change])
            )
        return self._passes[key]

    def to_utc(self, system: pa.Array, local: pa.Array, record_no: pa.Array) -> pa.Array:
        """Convert local times of records, whose headers have to be observed before.

        The result is null if no zone is configured for the system or the time is ambiguous.
        """
        return self._convert(system, local, record_no.cast(pa.int64()).to_numpy(zero_copy_only=False))

    def to_utc_of_reports(
        self, system: pa.Array, local: pa.Array, second_hour: pa.Array | None = None
    ) -> pa.Array:
        """Convert local times of reports.

        Their order is not known, but `second_hour` can mark rows that repeat a time with other figures: in a
        repeated hour with such rows, the other rows of the system are of the first hour.
        """
        second = None if second_hour is None else pc.fill_null(second_hour, False).to_numpy(False)
        return self._convert(system, local, None, second)

    def _convert(
        self,
        system: pa.Array,
        local: pa.Array,
        record_no: Times | None,
        second_hour: NDArray[np.bool_] | None = None,
    ) -> pa.Array:
        values: Times = pc.fill_null(local.cast(pa.int64()), 0).to_numpy(zero_copy_only=False)
        has_utc = (values > -_FARTHEST) & (values < _FARTHEST)
        if local.null_count:
            has_utc &= local.is_valid().to_numpy(zero_copy_only=False)
        names, which = system_indices(system)
        zones = [self.zones.of(name) for name in names]
        if (utc := _with_one_offset(values, has_utc, zones)) is not None:
            return pa.array(utc).view(UTC_TYPE)
        utc = np.zeros(len(values), np.int64)
        for zone in dict.fromkeys(zones):
            of_zone = np.array([other == zone for other in zones], np.bool_)[which]
            if zone is None:
                has_utc &= ~of_zone
                continue
            rows = np.flatnonzero(has_utc & of_zone)
            if not len(rows):
                continue
            times = values[rows]
            changes = offsets_of(zone).changes(int(times.min()), int(times.max()))
            least, most = changes.passed(np.array([times.min(), times.max()]))
            if least[0] == most[1]:
                utc[rows] = times - changes.offsets[least[0]]
                continue
            before, after = changes.passed(times)
            utc[rows] = times - changes.offsets[before]
            for group in _grouped(which[rows], before, np.flatnonzero(before != after)):
                at = rows[group]
                change, name = int(before[group[0]]), names[which[at[0]]] or ""
                numbers = None if record_no is None else record_no[at]
                if second_hour is not None and second_hour[at].any() and self._is_set_back(changes, change):
                    kinds = np.where(second_hour[at], Pass.SECOND, Pass.FIRST).astype(np.int8)
                else:
                    kinds = self._row_passes(name, changes, change, numbers, len(at))
                second = kinds == Pass.SECOND
                utc[at[second]] = values[at[second]] - changes.offsets[after[group[second]]]
                has_utc[at[kinds == Pass.UNKNOWN]] = False
        return pa.array(utc, mask=None if has_utc.all() else ~has_utc).view(UTC_TYPE)

    @staticmethod
    def _is_set_back(changes: Changes, change: int) -> bool:
        return bool(changes.after[change] < changes.before[change])

    def _row_passes(
        self, name: str, changes: Changes, change: int, numbers: Times | None, rows: int
    ) -> NDArray[np.int8]:
        """Return the pass of each row; all rows lie in the span around one clock change."""
        key = name, int(changes.moments[change])
        if changes.after[change] > changes.before[change]:
            if numbers is None:
                self._skipped[key] += rows
            return np.full(rows, Pass.FIRST, np.int8)
        if numbers is None or key not in self._passes:
            self._unordered[key] += rows
            return np.full(rows, Pass.UNKNOWN, np.int8)
        passes = self._passes[key]
        if outside := int(rows - passes.covers(numbers).sum()):
            self._unordered[key] += outside
        return passes.of(numbers)

    @property
    def has_unordered(self) -> bool:
        """Whether there are rows in a repeated hour whose order is not known."""
        return self._unordered.total() > 0

    def both_times(self, system: str, local: int) -> tuple[int, int] | None:
        """Return the two times in UTC that a local time in a repeated hour can be; None for other times."""
        change = self._set_back_at(system, local)
        if change is None:
            return None
        return local - change.offset_before, local - change.offset_after

    def decide(self, system: str, local: int, rows: int) -> None:
        """Note that rows in a repeated hour have UTC after all."""
        if change := self._set_back_at(system, local):
            self._unordered[system, change.moment] -= rows

    def advise(self, system: str, local: int, advice: str) -> None:
        """Note what would tell the two hours of rows apart."""
        if change := self._set_back_at(system, local):
            self._advice[system, change.moment] = advice

    def _set_back_at(self, system: str, local: int) -> _SetBack | None:
        """Return the clock change that repeats a local time, if there is one."""
        zone = self.zones.of(system)
        if zone is None or not -_FARTHEST < local < _FARTHEST:
            return None
        changes = offsets_of(zone).changes(local, local)
        before, after = (int(passed[0]) for passed in changes.passed(np.array([local])))
        if before == after or not self._is_set_back(changes, before):
            return None
        return _SetBack(int(changes.moments[before]), int(changes.before[before]), int(changes.after[before]))

    def report(self) -> None:
        """Add the issues, after the whole file was read."""
        issues = ClockIssues(self.zones, self.issues, self.file)
        for (system, moment), passes in self._passes.items():
            issues.add_passes(system, moment, passes)
        for (system, moment), rows in self._unordered.items():
            if rows:
                issues.add_unordered(system, moment, rows, self._advice.get((system, moment), ""))
        for (system, moment), records in self._skipped.items():
            issues.add_skipped(system, moment, records)
        issues.finish()


def _with_one_offset(values: Times, has_utc: NDArray[np.bool_], zones: list[str | None]) -> Times | None:
    """Convert all times with one offset, which is possible for nearly all batches; otherwise return None."""
    if len(set(zones)) != 1 or zones[0] is None or not len(values) or not has_utc.all():
        return None
    ends = np.array([values.min(), values.max()])
    changes = offsets_of(zones[0]).changes(int(ends[0]), int(ends[1]))
    least, most = changes.passed(ends)
    return values - changes.offsets[least[0]] if least[0] == most[1] else None


def _observed_spans(changes: Changes) -> tuple[Times, Times]:
    """Return the spans of local time whose records are observed, for each change that sets a clock back."""
    moments, before = changes.moments[changes.twice], changes.before[changes.twice]
    after = changes.after[changes.twice]
    return moments + after - BEFORE_US, moments + before + (before - after)


def _skipped_spans(changes: Changes) -> tuple[Times, Times]:
    """Return the spans of local time that a clock skips."""
    moments = changes.moments[changes.never]
    return moments + changes.before[changes.never], moments + changes.after[changes.never]


def _in_spans(
    headers: Headers, mine: NDArray[np.intp], which: NDArray[np.intp], begins: Times, ends: Times
) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Yield the clock change and the records of each span and system."""
    if not len(begins):
        return
    times = headers.times[mine]
    at = np.searchsorted(begins, times, "right") - 1
    inside = np.flatnonzero((at >= 0) & (times < ends[np.maximum(at, 0)]))
    for group in _grouped(headers.systems[mine], at, inside):
        yield int(which[at[group[0]]]), mine[group]


def _grouped(
    one: NDArray[np.int64], other: NDArray[np.intp], rows: NDArray[np.intp]
) -> Iterator[NDArray[np.intp]]:
    """Yield the rows grouped by two numbers, in order."""
    if not len(rows):
        return
    keys = one[rows] * (int(other.max()) + 1) + other[rows]
    order = np.argsort(keys, kind="stable")
    yield from np.split(rows[order], np.flatnonzero(np.diff(keys[order])) + 1)


def system_indices(system: pa.Array) -> tuple[list[str | None], NDArray[np.int64]]:
    """Return the distinct system names, and for each row the index of its name."""
    encoded = system if pa.types.is_dictionary(system.type) else system.dictionary_encode()
    names = encoded.dictionary.to_pylist()
    if encoded.null_count or not names:
        names.append(None)
    which = pc.fill_null(encoded.indices.cast(pa.int64()), len(names) - 1)
    return names, which.to_numpy(zero_copy_only=False)
