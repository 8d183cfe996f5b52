"""Offsets of clocks from UTC that records show, and what they say about missing and wrong time zones.

SMF 70 records state the offset. Others have the end of their connection or interval in UTC and are written
at that time, so the difference to the local time of their header is the offset, a multiple of 15 minutes.
Single damaged records can show any offset; what few records of a table show is not used.

Everything that gives the offset of a clock for some time is a claim: the time zone configured for this load,
the records of each table, and the same of other loads of the system. The issue about a system without a time
zone names what is known. Two claims that overlap and differ are a conflict, except next to a clock change,
where intervals and the records about them do not begin and end at the same time.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from zscope.parsers.issues import Code, Issue
from zscope.parsers.zones import offset_text
from zscope.pipelines.local_time.timelines import (
    EARLIEST_US,
    LATEST_US,
    MISSING,
    clock_spans,
    microseconds,
    time_numbers,
)
from zscope.pipelines.local_time.to_utc import system_indices
from zscope.pipelines.store.commits import LoadOffset
from zscope.schemas.stored import HOUR_US, local_clock, stored_schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa

    from zscope.parsers.issues import Issues
    from zscope.pipelines.settings import Zones
    from zscope.pipelines.store.commits import Load

STATED = "local_offset_us"
"""Column of records that state the offset."""
_ENDS = ("end_utc", "interval_end_utc")
"""Columns with the time in UTC at which a record was written, nearly."""
QUARTER_US = HOUR_US // 4
_DELAY_US = 120_000_000
"""A record is written up to this long after the end of what it describes."""
_GREATEST = 16 * 4
"""The greatest offset that can be configured, in quarters of an hour."""
_NO_OFFSET = 127
"""Stands for the offset of rows whose two times do not differ by quarters of an hour."""
_MOST_HOURS = 100_000
"""More hours with records than this mean a damaged dump, whose further hours are ignored."""
_SHARE_OF_HOUR, _SHARE_OF_TABLE = 0.25, 0.01
"""An offset counts if this share of the rows shows it: in the repeated hour of autumn there are two."""
LONGEST_PAUSE_H = 24
"""A clock can be changed and changed back in a longer time without records."""
MAX_OFFSETS = 1000
"""Number of spans that are stored with a load."""


class _Shown(NamedTuple):
    """What rows of a table show in an hour."""

    system: str
    table: str
    hour: int
    quarters: int
    """The offset, in quarters of an hour."""


@dataclass
class RecordedOffsets:
    """Collects the offsets that the rows of one file show, and counts rows without a known time zone."""

    without_zone: Counter[str] = field(default_factory=Counter)
    """Number of rows with a local time, but without a known time zone, by system; empty if unnamed."""
    _rows: Counter[_Shown] = field(default_factory=Counter)

    def observe(self, table: str, rows: pa.RecordBatch, zones: Zones) -> None:
        """Observe rows of a table, as they are stored."""
        clock, shown = local_clock(table), offset_column(table)
        if clock is None:
            return
        names, which = system_indices(rows["system"])
        unknown = [zones.of(name) is None for name in names]
        if not any(unknown) and shown is None:
            return
        local = time_numbers(rows[clock])
        dated = (local >= EARLIEST_US) & (local < LATEST_US)
        counts = np.bincount(which[dated], minlength=len(names))
        for name, count, without in zip(names, counts.tolist(), unknown, strict=True):
            if without and count:
                self.without_zone[name or ""] += count
        if shown is None:
            return
        other = time_numbers(rows[shown])
        usable = dated & (other != MISSING)
        offset = other if shown == STATED else local - other
        quarters = np.floor_divide(offset + QUARTER_US // 2, QUARTER_US)
        near = np.abs(offset - quarters * QUARTER_US) <= _DELAY_US
        quarters = np.where(near & (np.abs(quarters) <= _GREATEST), quarters, _NO_OFFSET)
        hours = (local - EARLIEST_US) // HOUR_US
        # One number for the three: 2**22 hours are more than two centuries.
        numbers = ((which << 22 | hours) << 8 | quarters + 128)[usable]
        distinct, counts = np.unique(numbers, return_counts=True)
        for number, count in zip(distinct.tolist(), counts.tolist(), strict=True):
            if name := names[number >> 30]:
                hour, quarter = number >> 8 & (1 << 22) - 1, (number & 255) - 128
                self._add(_Shown(name, table, hour, quarter), count)

    def _add(self, shown: _Shown, count: int) -> None:
        if shown in self._rows or len(self._rows) < _MOST_HOURS:
            self._rows[shown] += count

    def add(self, later: RecordedOffsets) -> None:
        """Add what was observed in the next range of the same file."""
        self.without_zone += later.without_zone
        for shown, count in later._rows.items():
            self._add(shown, count)

    def spans(self) -> tuple[LoadOffset, ...]:
        """Return the spans of constant offset, by system and table; stated offsets come first."""
        in_hour, with_offset, in_table = Counter[object](), Counter[object](), Counter[object]()
        for shown, count in self._rows.items():
            source = shown.system, shown.table
            in_hour[source, shown.hour] += count
            with_offset[source, shown.quarters] += count
            in_table[source] += count
        hours: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
        for shown, count in sorted(self._rows.items()):
            source = shown.system, shown.table
            usual = with_offset[source, shown.quarters] >= _SHARE_OF_TABLE * in_table[source]
            usual &= count >= _SHARE_OF_HOUR * in_hour[source, shown.hour]
            if usual and shown.quarters != _NO_OFFSET:
                hours[source].append((shown.hour, shown.quarters))
        spans = []
        for system, table in sorted(hours, key=lambda source: (source[0], not is_stated(source[1]), source)):
            for quarters, first, last in _joined(hours[system, table]):
                seconds = quarters * QUARTER_US // 1_000_000
                spans.append(LoadOffset(system, table, _hour_text(first), _hour_text(last + 1), seconds))
        return tuple(spans[:MAX_OFFSETS])


@cache
def offset_column(table: str) -> str | None:
    """Return the column of a stored table from which the offset of the clock follows, if it has one.

    >>> offset_column("smf70_interval"), offset_column("smf119_zert_detail"), offset_column("netstat_conn")
    ('local_offset_us', 'end_utc', None)
    """
    if local_clock(table) != "written_local":
        return None
    names = stored_schema(table).names
    return next((name for name in (STATED, *_ENDS) if name in names), None)


def is_stated(table: str) -> bool:
    """Whether the rows of a table state the offset of the clock."""
    return offset_column(table) == STATED


def _joined(shown: list[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
    """Join the hours with one offset: yield the offset, the first and the last hour of each span.

    A span ends where another offset follows, or where there are no records for long.
    """
    spans: dict[int, tuple[int, int]] = {}
    for hour, quarters in shown:
        begin, end = spans.get(quarters, (hour, hour))
        changed = any(end < to < hour for other, (_, to) in spans.items() if other != quarters)
        if changed or hour - end > LONGEST_PAUSE_H:
            yield quarters, begin, end
            begin = hour
        spans[quarters] = begin, hour
    for quarters, (begin, end) in spans.items():
        yield quarters, begin, end


def _hour_text(hour: int) -> str:
    return str(np.datetime64(EARLIEST_US + hour * HOUR_US, "us").astype("datetime64[s]"))


AROUND_CHANGE = timedelta(hours=2)
"""How long before or after a clock change records can have the other offset."""
_DAY = timedelta(days=1)
_EXAMPLE = "such as Europe/Berlin or +01:00"

Period = tuple[datetime, datetime]
"""A period of local time."""


@dataclass(frozen=True, order=True, slots=True)
class OffsetSpan:
    """A span of local time and the offset of a clock in it."""

    begin: datetime
    end: datetime
    offset_s: int

    def near(self, period: Period, distance: timedelta) -> bool:
        """Return whether the span overlaps a period, extended by a distance at both ends."""
        return self.begin < period[1] + distance and period[0] - distance < self.end


@dataclass(frozen=True, slots=True)
class _Claim:
    """What one source states about the clock of a system."""

    source: str
    """As the subject of a sentence, such as "the time zone of load 3"."""
    spans: tuple[OffsetSpan, ...]
    zone: str | None = None
    """The configured time zone; None if records show the offsets."""

    def zones(self) -> list[str]:
        """Return the values for the option `--timezone`."""
        return [self.zone] if self.zone else list(dict.fromkeys(offset_text(s.offset_s) for s in self.spans))


class LoadsByEnd:
    """Loads in the order of their last local time, to find those of a period without reading all."""

    def __init__(self, loads: Iterable[Load]) -> None:
        self._loads = {load.load_id: load for load in loads}
        self._ends = sorted((load.last_local or "", load.load_id) for load in self._loads.values())

    def add(self, load: Load) -> None:
        """Add a load."""
        self._loads[load.load_id] = load
        insort(self._ends, (load.last_local or "", load.load_id))

    def remove(self, load_id: int) -> None:
        """Remove a load."""
        load = self._loads.pop(load_id)
        self._ends.remove((load.last_local or "", load_id))

    def near(self, period: Period, distance: timedelta = timedelta()) -> list[Load]:
        """Return the loads that can have times of a period, in the order of their numbers."""
        first, last = (period[0] - distance).isoformat(), (period[1] + distance).isoformat()
        loads = (self._loads[number] for _, number in self._ends[bisect_left(self._ends, (first,)) :])
        near = (load for load in loads if (load.first_local or "") <= last)
        return sorted(near, key=lambda load: load.load_id)


@dataclass(frozen=True, slots=True)
class ZoneChecks:
    """Checks the time zones of one load, before it is committed."""

    load: Load
    offsets: RecordedOffsets
    others: LoadsByEnd
    replaced: int | None = None
    """The load that this one replaces, which does not count."""

    def report(self, issues: Issues, *, stored: bool) -> None:
        """Add the issues; without `stored`, the load is not committed and needs no removal."""
        for system, rows in sorted(self.offsets.without_zone.items()):
            issues.add(Issue(Code.NO_TIME_ZONE, self._without_zone(system, rows, stored), self.load.file))
        for system in sorted({kind.system for kind in self.load.kinds if kind.system}):
            if text := self._conflict(system):
                issues.add(Issue(Code.ZONE_CONFLICT, text, self.load.file))

    def _without_zone(self, system: str, rows: int, stored: bool) -> str:
        noun = "row has" if rows == 1 else "rows have"
        claim = self._best_claim(system) if system else None
        options = claim.zones() if claim else []
        if claim and len(options) == 1:
            zone = options[0]
            known = f"{claim.source} is {zone}"
        elif claim:
            zone = "ZONE"
            known = (
                f"{claim.source} is {' and '.join(options)} at different times, so ZONE is the name of a "
                "zone with clock changes, such as Europe/Berlin"
            )
        else:
            zone, known = "ZONE", f"no record states it; ZONE is the zone of the system, {_EXAMPLE}"
        again = (
            f"zscope loads remove {self.load.load_id}, and then ingest the file again" if stored else "ingest"
        )
        if not system:
            return (
                f"{rows:,} {noun} no time in UTC, because neither the system nor its time zone is known: "
                f"metrics that combine sources or periods leave them out; {known}; to repair: name the "
                f"system in the file name, such as SYSA-netstat-2026-03-02.txt, or with --system: {again} "
                f"with --timezone {zone}"
            )
        return (
            f"{rows:,} {noun} no time in UTC, because the time zone of {system} is not configured: metrics "
            f"that combine sources or periods leave them out; {known}; to repair: {again} with "
            f"--timezone {system}={zone}"
        )

    def _best_claim(self, system: str) -> _Claim | None:
        """Return what is known about the clock: from this file if possible, otherwise from other loads."""
        claims = _claims(self.load, system, own=True)
        if not claims and (period := _period(self.load, system)):
            claims = list(self._of_others(system, period, _DAY))
        return claims[0] if claims else None

    def _conflict(self, system: str) -> str:
        """Describe the first conflict of a system, with the number of others; empty if there is none."""
        period = _period(self.load, system)
        own = _claims(self.load, system, own=True)
        if period is None or not own:
            return ""
        configured = own[0] if own[0].zone else None
        others = list(self._of_others(system, period))
        pairs = [(one, other) for i, one in enumerate(own) for other in [*own[i + 1 :], *others]]
        found = [text for one, other in pairs if (text := _compare(one, other, configured))]
        if not found:
            return ""
        more = f" ({len(found) - 1} more sources or loads contradict each other)" if found[1:] else ""
        return (
            f"{system}: {found[0]}{more}; one of them is wrong, and with it the times in UTC; to repair: "
            "remove the loads with the wrong one (zscope loads remove ID), and "
            "ingest their files again with the right --timezone"
        )

    def _of_others(self, system: str, period: Period, distance: timedelta = timedelta()) -> Iterator[_Claim]:
        """Yield the claims of other loads about a period."""
        for load in self.others.near(period, distance):
            its = _period(load, system) if load.load_id != self.replaced else None
            if its and OffsetSpan(*its, 0).near(period, distance):
                yield from _claims(load, system, own=False)


def _claims(load: Load, system: str, *, own: bool) -> list[_Claim]:
    """Return the claims of a load: its configured time zone first, then the records of each table."""
    claims = []
    zone, period = load.zones.get(system), _period(load, system)
    if zone and period:
        source = f"the configured time zone {zone}" if own else f"the time zone of load {load.load_id}"
        claims.append(_Claim(source, _zone_spans(system, zone, period), zone))
    tables = defaultdict(list)
    for each in load.offsets:
        if each.system == system:
            tables[each.source].append(span_of(each))
    for table, shown in tables.items():
        source = f"the offset {'stated' if is_stated(table) else 'shown by the times'} in {table}"
        claims.append(_Claim(source if own else f"{source} of load {load.load_id}", tuple(shown)))
    return claims


def span_of(each: LoadOffset) -> OffsetSpan:
    """Return a span of the load history."""
    begin, end = (datetime.fromisoformat(text) for text in (each.from_local, each.to_local))
    return OffsetSpan(begin, end, each.offset_s)


def _period(load: Load, system: str) -> Period | None:
    """Return the first and last local time of a system in a load."""
    times = [
        datetime.fromisoformat(text)
        for kind in load.kinds
        if kind.system == system
        for text in (kind.first_local, kind.last_local)
        if text
    ]
    return (min(times), max(times) + timedelta(microseconds=1)) if times else None


def _zone_spans(system: str, zone: str, period: Period) -> tuple[OffsetSpan, ...]:
    begin, end = period[0] - AROUND_CHANGE, period[1] + AROUND_CHANGE
    rows = clock_spans(system, zone, microseconds(begin), microseconds(end)).to_pylist()
    cut = [(max(row["from_local"], begin), min(row["to_local"], end), row["offset_s"]) for row in rows]
    return tuple(OffsetSpan(*each) for each in cut if each[0] < each[1])


def _compare(one: _Claim, other: _Claim, configured: _Claim | None = None) -> str:
    """Describe the first span in which two claims cannot both be true; empty if there is none.

    Two files with one of the two hours each, when a clock is set back, differ everywhere. They do not
    contradict each other if each agrees with the configured zone.
    """
    if configured and one is not configured and not any(_compare(configured, each) for each in (one, other)):
        return ""
    for a in one.spans:
        for b in other.spans:
            begin, end = max(a.begin, b.begin), min(a.end, b.end)
            if begin >= end or a.offset_s == b.offset_s:
                continue
            alike = [each for each in one.spans if each.offset_s == b.offset_s]
            alike += [each for each in other.spans if each.offset_s == a.offset_s]
            if left := _without(begin, end, alike):
                both = (f"{c.source} ({offset_text(s.offset_s)})" for c, s in ((one, a), (other, b)))
                return f"{' and '.join(both)} cannot both be true at {left:%Y-%m-%d %H:%M} local time"
    return ""


def _without(begin: datetime, end: datetime, alike: Sequence[OffsetSpan]) -> datetime | None:
    """Return the first time of a period that is not next to a span in which both sides agree."""
    for span in sorted(alike):
        if span.begin - AROUND_CHANGE <= begin < span.end + AROUND_CHANGE:
            begin = span.end + AROUND_CHANGE
    return begin if begin < end else None
