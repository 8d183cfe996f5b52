"""zERT summary records (subtype 12): security sessions whose counters run on from interval to interval."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from zscope.parsers.smf.write import SectionRows, encode_section, write_fields
from zscope.parsers.synthetic.batch import Batch, Numbers, RecordMaker, Scene
from zscope.parsers.synthetic.cast import APPLICATIONS, TLS
from zscope.parsers.synthetic.rmf_machine import Workload
from zscope.parsers.synthetic.zert_sections import one_row
from zscope.parsers.synthetic.zert_sessions import SecuritySessions, length_at, of_layout
from zscope.schemas import catalog

if TYPE_CHECKING:
    from zscope.parsers.smf.codecs.raw import ByteRows
    from zscope.parsers.synthetic.recipe import Recipe

TRIPLETS = 6
ENABLED = 2
FEWEST_SESSIONS, MOST_SESSIONS = 12, 2_000
FEWEST_INTERVALS = 4
ACTIVE = "active_conn_count"
FOUR_BYTES = ("conn_count", "partial_conn_count", "short_conn_count", "failed_handshake_count", ACTIVE)
EIGHT_BYTES = ("in_bytes", "out_bytes", "in_segments", "out_segments")


@dataclass(frozen=True, slots=True)
class SummaryPlan:
    """How so many summary records are spread over the span of a dump."""

    records: int
    sessions: int
    """Security sessions of each system."""
    first_us: int
    """Where the first interval begins."""
    length_us: int
    """Of an interval: that of RMF, several of them, or a part of one."""

    @staticmethod
    def of(records: int, recipe: Recipe) -> SummaryPlan:
        """As many sessions as it takes, and longer intervals when there are few records."""
        systems, work = len(recipe.systems), Workload(recipe)
        first, length, intervals = work.first_us, recipe.interval_us, work.count
        if not intervals:
            first, length, intervals = recipe.start_us, recipe.end_us - recipe.start_us, 1
        sessions = records // (systems * intervals)
        if sessions < FEWEST_SESSIONS:
            sessions = max(1, min(FEWEST_SESSIONS, records // (systems * FEWEST_INTERVALS)))
        sessions = min(sessions, MOST_SESSIONS)
        # Each system also tells once that zERT aggregation was switched on.
        needed = max(1, -(-max(0, records - systems) // (systems * sessions)))
        length = length * (intervals // needed) if needed <= intervals else length // -(-needed // intervals)
        return SummaryPlan(records, sessions, first, length)


@dataclass
class ZertSummary:
    """Makes the records of one interval after the other; keeps the counters of every session."""

    scene: Scene
    plan: SummaryPlan
    _done: int = 0
    """Intervals written."""
    _left: int = -1
    """Records still to be made; -1 before the first."""
    _counters: dict[str, Numbers] = field(default_factory=dict)

    def until(self, time: int, *, last: bool) -> Batch:
        """All records of intervals that end before a time, or all that are left."""
        batch = Batch()
        if self._left < 0:
            self._left = self.plan.records
            self._counters = self._nothing()
            systems = range(min(self._left, len(self.scene.names)))
            for system in systems:
                self._enabled(batch, system)
            self._left -= len(systems)
        while self._left > 0 and (last or self._end(self._done) < time):
            self._interval(batch)
        return batch

    @cached_property
    def _sessions(self) -> SecuritySessions:
        return SecuritySessions(self.scene, self.plan.sessions)

    @cached_property
    def _maker(self) -> RecordMaker:
        return RecordMaker(self.scene, catalog().records[119, 12], TRIPLETS)

    @cached_property
    def _identification(self) -> ByteRows:
        return self.scene.identification("STACK")

    def _end(self, interval: int) -> int:
        """When an interval ends."""
        return self.plan.first_us + self.plan.length_us * (interval + 1)

    def _nothing(self) -> dict[str, Numbers]:
        """Counters of sessions that have not begun."""
        return {name: np.zeros(len(self._sessions), np.int64) for name in (*FOUR_BYTES, *EIGHT_BYTES)}

    def _enabled(self, batch: Batch, system: int) -> None:
        """Each system starts with a record that holds nothing but this news."""
        section = of_layout("common")
        length = length_at(self.scene, section, newest=bool(self.scene.newest[system]))
        columns = one_row(section, {"summary_event_type": ENABLED})
        common = SectionRows(section, encode_section(section, columns, 1, length), length)
        self._put(batch, np.array([system]), [common], self.scene.recipe.start_us)

    def _interval(self, batch: Batch) -> None:
        """The records of all sessions for one interval, or as many as are still to be made."""
        before = self._counters
        self._advance()
        rows = np.arange(min(self._left, len(self._sessions)))
        common = {newest: self._common(before, newest=newest) for newest in (False, True)}
        self._write(batch, common, rows)
        self._done += 1
        self._left -= len(rows)

    def _write(self, batch: Batch, common: dict[bool, ByteRows], rows: Numbers) -> None:
        """The records of some sessions, from the common sections of all at both levels."""
        sessions = self._sessions
        for shape in np.unique(sessions.shapes[rows]):
            alike = rows[sessions.shapes[rows] == shape]
            rows_of_level = common[bool(sessions.newest[alike[0]])][alike]
            section = SectionRows(of_layout("common"), rows_of_level, rows_of_level.shape[1])
            parts = [section, *sessions.protection(alike)]
            self._put(batch, sessions.systems[alike], parts, self._end(self._done))
            first = int(alike[0])
            tables, protection = batch.tally.tables, sessions.application(first).protection
            tables["smf119_zert_summary_dn"] += len(alike) * sessions.name_count(first)
            for other in ("ssh", "ipsec"):
                tables[f"smf119_zert_summary_{other}"] += len(alike) * (protection == other)

    def _put(self, batch: Batch, systems: Numbers, parts: list[SectionRows], time: int) -> None:
        """Take records that are all alike."""
        written = np.full(len(systems), time, np.int64)
        ident = self._identification[systems]
        named = SectionRows(of_layout("identification"), ident, ident.shape[1])
        heads = self.scene.headers(119, 12, systems, written, "TCP")
        self._maker.alike(batch, np.zeros(len(systems)), heads, lambda _: [named, *parts], systems, written)
        batch.tally.tables["smf119_zert_summary"] += len(systems)

    def _advance(self) -> None:
        """Let an interval go by."""
        sessions, before = self._sessions, self._counters
        rng = self.scene.random(12, self._done)
        new = rng.poisson(sessions.rates)
        size = np.array([app.kilobytes for app in APPLICATIONS])[sessions.applications] * 1_000
        total = (new * size * rng.uniform(0.7, 1.4, len(new))).astype(np.int64)
        failed = np.where(sessions.newest & (sessions.bits == TLS), rng.binomial(new, 0.01), 0)
        step = {
            "conn_count": new,
            "partial_conn_count": rng.binomial(new, 0.02),
            "short_conn_count": rng.binomial(new - failed, 0.75) + failed,
            "failed_handshake_count": failed,
            "in_bytes": total // 5,
            "out_bytes": total - total // 5,
            "in_segments": new * 4 + total // 7_000,
            "out_segments": new * 4 + total // 1_750,
        }
        self._counters = {name: before[name] + added for name, added in step.items()}
        self._counters[ACTIVE] = self._counters["conn_count"] % 7

    def _common(self, before: dict[str, Numbers], *, newest: bool) -> ByteRows:
        """The common sections of all sessions, with the counters of the interval just past."""
        rows = self._sessions.common[newest].copy()
        columns: dict[str, pa.Array] = {"interval_us": pa.array([self.plan.length_us], pa.uint64())}
        for moment, counters in (("init", before), ("end", self._counters)):
            for names, size in ((FOUR_BYTES, np.uint32), (EIGHT_BYTES, np.uint64)):
                columns |= {f"{moment}_{name}": pa.array(counters[name].astype(size)) for name in names}
        write_fields(rows, of_layout("common"), columns)
        return rows
