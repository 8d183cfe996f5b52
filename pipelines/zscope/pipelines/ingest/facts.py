"""What is noted about an input while it is read: clocks, times, offsets, counts and intervals.

The facts need nothing of the store, and can be sent to another process. Those of the ranges of one dump are
added to each other in the order of the file, which gives the facts of the whole dump.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import MAXYEAR, MINYEAR, datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from zscope.parsers.zones import zone_of
from zscope.pipelines.ingest.gaps import INTERVAL_COLUMNS, INTERVAL_TABLES, find_gaps
from zscope.pipelines.ingest.system_names import SharedSmfidCounts, StatedSysplexes, SystemNames
from zscope.pipelines.local_time.recorded_offsets import RecordedOffsets
from zscope.pipelines.store.commits import LoadGap, LoadKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from zscope.parsers.issues import Issues
    from zscope.parsers.smf.walker import Window
    from zscope.pipelines.ingest.value_checks import TimeChecks
    from zscope.pipelines.local_time.to_utc import Clocks


MAX_KINDS = 1000
"""Combinations of system and type stored with a load: every later run reads them, and a damaged dump can have
a different one in each record.
"""
MAX_GAPS = 1000
_NO_SUBTYPE = 1 << 16
RMF = "rmf"
"""Kind of the reports that have local times only, and whose system may write SMF 70 records."""


@dataclass
class InputFacts:
    """What is noted about an input while it is read, for its entry in the load history."""

    clocks: Clocks
    times: TimeChecks
    last_record_offset: int | None = None
    counted: list[dict[str, Any]] = field(default_factory=list)
    """Records and reports by kind; set after reading."""
    rows_outside: int = 0
    """Rows of tables that the selection of systems and days leaves out."""
    offsets: RecordedOffsets = field(default_factory=RecordedOffsets)
    """The offsets from UTC that the records show, and the rows whose time zone is not known."""
    sysplexes: StatedSysplexes = field(default_factory=StatedSysplexes)
    _intervals: dict[str, list[pa.RecordBatch]] = field(default_factory=dict)

    def observe_window(self, window: Window) -> None:
        """Observe the records of a dump, in their order."""
        self.clocks.observe(window)
        self.last_record_offset = int(window.offsets[-1])

    def observe_rows(self, table: str, rows: pa.RecordBatch) -> None:
        """Observe decoded rows of a table."""
        if table in INTERVAL_TABLES:
            self._intervals.setdefault(table, []).append(rows.select(INTERVAL_COLUMNS))

    def observe_stored(self, table: str, stored: pa.RecordBatch) -> None:
        """Observe the same rows as they are stored."""
        self.times.observe(table, stored)
        self.offsets.observe(table, stored, self.clocks.zones)
        self.sysplexes.observe(table, stored)

    def count(self, kinds: list[dict[str, Any]]) -> None:
        """Take the kinds that the reader counted; times in UTC get those on the clock of the system."""
        for row in kinds:
            zone = self.clocks.zones.of(row["system"])
            for end in ("first", "last"):
                if zone and row[f"{end}_utc"]:
                    row[f"{end}_local"] = _on_clock(row[f"{end}_utc"], zone)
        self.counted = kinds

    def name_systems(
        self, rows: Iterable[tuple[str, pa.RecordBatch]], names: SystemNames, load_id: int
    ) -> None:
        """Use names of systems with their sysplex: these are all rows of the input, with these names."""
        self.offsets, self._intervals, counts = RecordedOffsets(), {}, SharedSmfidCounts()
        for table, batch in rows:
            self.observe_rows(table, batch)
            self.offsets.observe(table, batch, self.clocks.zones)
            counts.observe(table, batch, names.shared)
        self.counted = [
            row
            | {
                "system": kind.system,
                "records": kind.records,
                "total_bytes": kind.bytes,
                "first_local": _time(kind.first_local),
                "last_local": _time(kind.last_local),
                "first_utc": _time(kind.first_utc),
                "last_utc": _time(kind.last_utc),
            }
            for row in self.counted
            for kind in counts.named(load_id, [_load_kind(row)], names)
        ]

    def add(self, later: InputFacts) -> None:
        """Add the facts of the next range of the same dump."""
        self.times.add(later.times)
        if later.last_record_offset is not None:
            self.last_record_offset = later.last_record_offset
        self.rows_outside += later.rows_outside
        self.offsets.add(later.offsets)
        self.sysplexes.add(later.sysplexes)
        for table, batches in later._intervals.items():
            self._intervals.setdefault(table, []).extend(batches)
        kinds = {_kind(row): row for row in self.counted}
        for row in later.counted:
            known = kinds.setdefault(_kind(row), row)
            if known is not row:
                kinds[_kind(row)] = _sum(known, row)
        page = self.clocks.page
        self.counted = sorted(
            kinds.values(), key=lambda row: (_type(row), page.encode(row["system"] or ""))
        )  # the order in which the reader counts them

    def use_issues(self, issues: Issues) -> None:
        """Add further issues to this collection."""
        self.clocks.issues = self.times.issues = issues

    def kinds(self) -> tuple[LoadKind, ...]:
        """Return the records and reports by kind; if there are too many kinds, those with most records."""
        rows = sorted(self.counted, key=lambda row: -int(row["records"]))[:MAX_KINDS]
        return tuple(map(_load_kind, rows))

    @property
    def first_local(self) -> str | None:
        """The earliest local time of all records and reports."""
        times = (row["first_local"] for row in self.counted if row["first_local"])
        return _iso(min(times, default=None))

    @property
    def last_local(self) -> str | None:
        """The latest local time of all records and reports."""
        times = (row["last_local"] for row in self.counted if row["last_local"])
        return _iso(max(times, default=None))

    def rmf_without_zone(self) -> dict[str, tuple[datetime, datetime]]:
        """Return the starts of the first and last interval of RMF reports, for systems without a zone."""
        periods: dict[str, tuple[datetime, datetime]] = {}
        for row in self.counted:
            system, first, last = row["system"], row["first_local"], row["last_local"]
            if row["kind"] == RMF and system and first and self.clocks.zones.of(system) is None:
                known = periods.get(system, (first, last))
                periods[system] = min(known[0], first), max(known[1], last)
        return periods

    def use_zones(self, zones: Mapping[str, str]) -> None:
        """Add time zones of systems. Rows that were converted before have to be converted again."""
        known, by_name = self.clocks.zones, {system.upper(): zone for system, zone in zones.items()}
        self.clocks = self.clocks.with_zones(replace(known, systems={**known.systems, **by_name}))
        for system in zones:
            del self.offsets.without_zone[system]

    def zones(self) -> dict[str, str]:
        """Return the zones of the systems in the input, where they are known."""
        systems = {kind.system for kind in self.kinds() if kind.system}
        zones = ((system, self.clocks.zones.of(system)) for system in sorted(systems))
        return {system: zone for system, zone in zones if zone}

    def gaps(self) -> tuple[LoadGap, ...]:
        """Return the missing intervals, table by table."""
        gaps = []
        for table, batches in self._intervals.items():
            for row in find_gaps(pa.Table.from_batches(batches), table, self.clocks.zones).to_pylist():
                times = {name: row[name].isoformat() for name in ("from_local", "to_local")}
                gaps.append(LoadGap(**(row | times)))
        return tuple(gaps[:MAX_GAPS])


def _load_kind(row: dict[str, Any]) -> LoadKind:
    return LoadKind(
        system=row["system"],
        record_type=row["record_type"],
        record_subtype=row["record_subtype"],
        report=row["report"],
        records=row["records"],
        bytes=row["total_bytes"],
        first_local=_iso(row["first_local"]),
        last_local=_iso(row["last_local"]),
        first_utc=_iso(row["first_utc"]),
        last_utc=_iso(row["last_utc"]),
    )


def _kind(row: dict[str, Any]) -> tuple[object, ...]:
    return row["system"], row["record_type"], row["record_subtype"], row["report"]


def _type(row: dict[str, Any]) -> tuple[int, int]:
    subtype = row["record_subtype"]
    return row["record_type"], _NO_SUBTYPE if subtype is None else subtype


def _sum(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Return the counts of two ranges together."""
    sums = {name: one[name] + other[name] for name in ("records", "total_bytes")}
    firsts = [row["first_local"] for row in (one, other) if row["first_local"]]
    lasts = [row["last_local"] for row in (one, other) if row["last_local"]]
    return one | sums | {"first_local": min(firsts, default=None), "last_local": max(lasts, default=None)}


def _on_clock(moment: datetime, zone: str) -> datetime | None:
    """Return a moment on a clock; None at the ends of the calendar, where the clock can be past it."""
    if not MINYEAR < moment.year < MAXYEAR:
        return None
    return moment.astimezone(zone_of(zone)).replace(tzinfo=None)


def _iso(time: datetime | None) -> str | None:
    return time.isoformat() if time else None


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
