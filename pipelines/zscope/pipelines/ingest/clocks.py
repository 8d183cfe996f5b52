"""From the local times in record headers to UTC, with changes of the clock inside a dump.

Most local times have one offset and are converted as arrays. Twice a year that is not so. In autumn a clock
shows an hour twice: the order of the records of a system tells which of the two it was, so a `Clocks` has to
see all record headers in the order of the file, and before the rows made of them. In spring a clock skips an
hour: who writes a record in it has a clock that was set late, and so the offset before the change is right.
If the clock is not set at all, its zone is wrong, and the issue about those records asks to look into that.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zscope.pipelines.ingest.clock_issues import ClockIssues
from zscope.pipelines.ingest.headers import Headers, time_range
from zscope.pipelines.ingest.passes import BEFORE_US, Pass, Passes
from zscope.pipelines.offsets import offsets_of
from zscope.schemas.arrow import UTC

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from zscope.parsers.issues import Issues
    from zscope.parsers.smf.ebcdic import CodePage
    from zscope.parsers.smf.frames import Window
    from zscope.pipelines.offsets import Changes, Times
    from zscope.pipelines.zones import Zones

_FARTHEST = (1 << 63) - (1 << 40)
"""Times so far away that an offset would not fit beside them become null."""
_MOST_PASSES = 4096
"""More systems than this in one dump are damage; the order of the others is not kept."""


@dataclass
class Clocks:
    """The clocks of all systems in one file. Not for several threads at once."""

    zones: Zones
    issues: Issues
    file: str
    page: CodePage
    unnamed: str | None = None
    """System of records that do not name theirs."""
    _passes: dict[tuple[str, int], Passes] = field(default_factory=dict)
    """By system, and by the change that makes its clock show a span twice."""
    _never: Counter[tuple[str, int]] = field(default_factory=Counter)
    """How many records or rows are in a span that the clock skips, by system and change."""
    _orderless: Counter[tuple[str, int]] = field(default_factory=Counter)
    """How many rows are in a span shown twice without that their order is known."""

    def __post_init__(self) -> None:
        named = {*self.zones.systems.values(), self.zones.default}
        self._changing = [offsets for zone in named if zone and not (offsets := offsets_of(zone)).fixed]

    @property
    def undecided(self) -> bool:
        """Whether records of an hour shown twice wait for later ones to tell which of the two it was.

        So it is with a dump that begins inside such an hour. Whoever observes the rest of the headers before
        asking for rows gets all their times; rows asked for before that have none, and that stays so.
        """
        return any(passes.undecided for passes in self._passes.values())

    def observe(self, window: Window) -> None:
        """Look at the headers of a window, in the order of the file; cheap but for the days of a change."""
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
            for change, records in _in_spans(headers, mine, changes.twice, *_around_twice(changes)):
                name = headers.names[headers.systems[records[0]]]
                if (passes := self._passes_of(name, changes, change)) is not None:
                    passes.observe(headers.numbers[records], headers.times[records])
            for change, records in _in_spans(headers, mine, changes.never, *_inside_never(changes)):
                name = headers.names[headers.systems[records[0]]]
                self._never[name, int(changes.moments[change])] += len(records)

    def _near(self, first: int, last: int) -> bool:
        """Whether some clock is changed between two times, or soon before or after."""
        for offsets in self._changing:
            changes = offsets.changes(first, last)
            for begins, ends in (_around_twice(changes), _inside_never(changes)):
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
        """The moments of local times of records; their headers have to be observed before.

        Null where no zone is known for the system, and where nothing tells which of two moments it was.
        """
        return self._convert(system, local, record_no.cast(pa.int64()).to_numpy(zero_copy_only=False))

    def to_utc_of_reports(self, system: pa.Array, local: pa.Array) -> pa.Array:
        """The moments of local times in reports, of which no order is known."""
        return self._convert(system, local, None)

    def _convert(self, system: pa.Array, local: pa.Array, record_no: Times | None) -> pa.Array:
        values: Times = pc.fill_null(local.cast(pa.int64()), 0).to_numpy(zero_copy_only=False)
        known = (values > -_FARTHEST) & (values < _FARTHEST)
        if local.null_count:
            known &= local.is_valid().to_numpy(zero_copy_only=False)
        names, which = _numbered(system)
        zones = [self.zones.of(name) for name in names]
        if (utc := _at_once(values, known, zones)) is not None:
            return pa.array(utc).view(UTC)
        utc = np.zeros(len(values), np.int64)
        for zone in dict.fromkeys(zones):
            of_zone = np.array([other == zone for other in zones], np.bool_)[which]
            if zone is None:
                known &= ~of_zone
                continue
            rows = np.flatnonzero(known & of_zone)
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
                kinds = self._kinds(name, changes, change, numbers, len(at))
                second = kinds == Pass.SECOND
                utc[at[second]] = values[at[second]] - changes.offsets[after[group[second]]]
                known[at[kinds == Pass.UNKNOWN]] = False
        return pa.array(utc, mask=None if known.all() else ~known).view(UTC)

    def _kinds(
        self, name: str, changes: Changes, change: int, numbers: Times | None, rows: int
    ) -> NDArray[np.int8]:
        """The pass of rows that all lie in the span around one change."""
        key = name, int(changes.moments[change])
        if changes.after[change] > changes.before[change]:
            if numbers is None:
                self._never[key] += rows
            return np.full(rows, Pass.FIRST, np.int8)
        if numbers is None or key not in self._passes:
            self._orderless[key] += rows
            return np.full(rows, Pass.UNKNOWN, np.int8)
        passes = self._passes[key]
        if outside := int(rows - passes.covers(numbers).sum()):
            self._orderless[key] += outside
        return passes.of(numbers)

    def report(self) -> None:
        """Tell, once the file is read, what could not be told about its times."""
        said = ClockIssues(self.zones, self.issues, self.file)
        for (system, moment), passes in self._passes.items():
            said.passes(system, moment, passes)
        for (system, moment), rows in self._orderless.items():
            said.orderless(system, moment, rows)
        for (system, moment), records in self._never.items():
            said.never(system, moment, records)
        said.finish()


def _at_once(values: Times, known: NDArray[np.bool_], zones: list[str | None]) -> Times | None:
    """All times with one offset, as nearly all batches are; None where it takes more than that."""
    if len(set(zones)) != 1 or zones[0] is None or not len(values) or not known.all():
        return None
    ends = np.array([values.min(), values.max()])
    changes = offsets_of(zones[0]).changes(int(ends[0]), int(ends[1]))
    least, most = changes.passed(ends)
    return values - changes.offsets[least[0]] if least[0] == most[1] else None


def _around_twice(changes: Changes) -> tuple[Times, Times]:
    """Where the records begin and end whose order tells the passes of each span that is shown twice."""
    moments, before = changes.moments[changes.twice], changes.before[changes.twice]
    after = changes.after[changes.twice]
    return moments + after - BEFORE_US, moments + before + (before - after)


def _inside_never(changes: Changes) -> tuple[Times, Times]:
    """Where each span begins and ends that the clock skips."""
    moments = changes.moments[changes.never]
    return moments + changes.before[changes.never], moments + changes.after[changes.never]


def _in_spans(
    headers: Headers, mine: NDArray[np.intp], which: NDArray[np.intp], begins: Times, ends: Times
) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """The records in each of some spans, one system at a time, and the change that makes the span."""
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
    """Rows with the same two numbers, together and in order."""
    if not len(rows):
        return
    keys = one[rows] * (int(other.max()) + 1) + other[rows]
    order = np.argsort(keys, kind="stable")
    yield from np.split(rows[order], np.flatnonzero(np.diff(keys[order])) + 1)


def _numbered(system: pa.Array) -> tuple[list[str | None], NDArray[np.int64]]:
    """The names of systems, and the number of the name of each row."""
    encoded = system if pa.types.is_dictionary(system.type) else system.dictionary_encode()
    names = encoded.dictionary.to_pylist()
    if encoded.null_count or not names:
        names.append(None)
    which = pc.fill_null(encoded.indices.cast(pa.int64()), len(names) - 1)
    return names, which.to_numpy(zero_copy_only=False)
