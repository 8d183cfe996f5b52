"""zERT summary records (type 119 subtype 12): security sessions and their counters."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from zscope.samples.dump.assemble import SmfBatch
from zscope.samples.dump.declared_records import DeclaredRecords
from zscope.samples.dump.records.rmf_machine import ConnectionCpuTime
from zscope.samples.dump.records.zert_sections import CertificateNames, session_names
from zscope.samples.dump.site import (
    APPLICATIONS,
    CLIENT_CERTIFICATES,
    FIRST_PARTNERS,
    PARTNERS,
    TLS,
)
from zscope.schemas import catalog

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zscope.samples.dump.arrays import Numbers
    from zscope.samples.dump.context import RecordContext
    from zscope.samples.dump.recipe import Recipe


_LETTERS = {"tls": "T", "ssh": "S", "ipsec": "I", "": "N"}


@dataclass(frozen=True)
class SecuritySessions:
    """The security sessions of all systems, and their properties that do not change between intervals."""

    context: RecordContext
    each: int
    """Number of sessions of each system."""

    def __len__(self) -> int:
        return self.each * len(self.context.names)

    @cached_property
    def systems(self) -> Numbers:
        """For each session, its system."""
        return np.arange(len(self)) // max(1, self.each)

    @cached_property
    def applications(self) -> Numbers:
        """For each session, its application; every application occurs before one occurs twice."""
        return np.arange(len(self)) % max(1, self.each) % len(APPLICATIONS)

    @cached_property
    def newest(self) -> NDArray[np.bool_]:
        """For each session, whether its records are of level 3.2."""
        newest: NDArray[np.bool_] = self.context.newest[self.systems]
        return newest

    @cached_property
    def bits(self) -> Numbers:
        """For each session, the bits of the protocol that protects it."""
        return self.context.site.protection[self.applications].astype(np.int64)

    @cached_property
    def rates(self) -> NDArray[np.float64]:
        """For each session, the expected connections in an interval."""
        weights = np.array([app.weight for app in APPLICATIONS])[self.applications]
        rates: NDArray[np.float64] = weights * self.context.random(12_000).uniform(0.5, 3, len(self))
        return rates

    @cached_property
    def suites(self) -> Numbers:
        """For each session, its cipher suite."""
        elliptic = np.array([app.elliptic for app in APPLICATIONS])[self.applications]
        return self.context.site.draw_suites(self.context.random(12_001), self.systems, elliptic)

    @cached_property
    def clients(self) -> Numbers:
        """For each session, its client certificate; 0 for none."""
        certified = np.array([app.client_auth for app in APPLICATIONS])[self.applications]
        return np.where(certified, 1 + np.arange(len(self)) % CLIENT_CERTIFICATES, 0)

    @cached_property
    def partners(self) -> Numbers:
        """For each session, its partner."""
        return FIRST_PARTNERS + self.context.random(12_002).integers(0, PARTNERS - FIRST_PARTNERS, len(self))

    @cached_property
    def local_rows(self) -> Numbers:
        """For each session, the index of its local address."""
        rows: Numbers = 2 * self.systems + self.context.site.partner_is_v6[self.partners]
        return rows

    @cached_property
    def ids(self) -> list[str]:
        """For each session, its identifier."""
        values = self.context.random(12_003).integers(0, 256, (len(self), 20), np.uint8)
        owners = self.context.site.applications
        letters = [_LETTERS[owners[number].protection] for number in self.applications.tolist()]
        return [
            f"{letter}-{row.tobytes().hex().upper()}" for letter, row in zip(letters, values, strict=True)
        ]

    @cached_property
    def arrays(self) -> dict[str, Numbers]:
        """Everything that its records show of a session, by the names in their declaration."""
        return {
            "system": self.systems,
            "application": self.applications,
            "protection": self.bits,
            "suite": self.suites,
            "client": self.clients,
            "partner": self.partners,
            "local_row": self.local_rows,
            "session": np.arange(len(self)),
        }


ENABLED = 2
FEWEST_SESSIONS, MOST_SESSIONS = 12, 2_000
FEWEST_INTERVALS = 4
ACTIVE = "active_conn_count"
FOUR_BYTES = ("conn_count", "partial_conn_count", "short_conn_count", "failed_handshake_count", ACTIVE)
EIGHT_BYTES = ("in_bytes", "out_bytes", "in_segments", "out_segments")


@dataclass(frozen=True, slots=True)
class SummaryPlan:
    """Distribution of summary records over the time span of a dump."""

    records: int
    sessions: int
    """Security sessions of each system."""
    first_us: int
    """Start of the first interval."""
    length_us: int
    """Length of an interval: that of RMF, several of them, or a part of one."""

    @staticmethod
    def of(records: int, recipe: Recipe) -> SummaryPlan:
        """Plan as many sessions as necessary, and longer intervals if there are few records."""
        systems, work = len(recipe.systems), ConnectionCpuTime(recipe)
        first, length, intervals = work.first_us, recipe.interval_us, work.count
        if not intervals:
            first, length, intervals = recipe.start_us, recipe.end_us - recipe.start_us, 1
        sessions = records // (systems * intervals)
        if sessions < FEWEST_SESSIONS:
            sessions = max(1, min(FEWEST_SESSIONS, records // (systems * FEWEST_INTERVALS)))
        sessions = min(sessions, MOST_SESSIONS)
        # One more record of each system reports that zERT aggregation was switched on.
        needed = max(1, -(-max(0, records - systems) // (systems * sessions)))
        length = length * (intervals // needed) if needed <= intervals else length // -(-needed // intervals)
        return SummaryPlan(records, sessions, first, length)


@dataclass
class ZertSummary:
    """Generates the records interval by interval and keeps the counters of every session."""

    context: RecordContext
    plan: SummaryPlan
    _done: int = 0
    """Number of intervals written."""
    _left: int = -1
    """Number of records still to write; -1 before the first."""
    _counters: dict[str, Numbers] = field(default_factory=dict)

    def until(self, time: int, *, last: bool) -> SmfBatch:
        """Generate all records of intervals that end before a time, or all remaining records."""
        batch = SmfBatch()
        if self._left < 0:
            self._left = self.plan.records
            self._counters = self._nothing()
            systems = range(min(self._left, len(self.context.names)))
            for system in systems:
                self._enabled(batch, system)
            self._left -= len(systems)
        while self._left > 0 and (last or self._end(self._done) < time):
            self._interval(batch)
        return batch

    @cached_property
    def _sessions(self) -> SecuritySessions:
        return SecuritySessions(self.context, self.plan.sessions)

    @cached_property
    def _records(self) -> DeclaredRecords:
        site = self.context.site
        names = session_names(site) | {
            "length_us": self.plan.length_us,
            "session_ids": self._sessions.ids,
            "all_addresses": [*site.partner_addresses, *site.local_addresses],
            "partner_count": len(site.partner_addresses),
        }
        ready = CertificateNames(site, catalog().records[119, 12].section("dn"))
        return DeclaredRecords(self.context, "dump/records/zert_summary.toml", 12, names, ready.of)

    @cached_property
    def _switched(self) -> DeclaredRecords:
        return DeclaredRecords(self.context, "dump/records/zert_switched.toml", 12)

    def _end(self, interval: int) -> int:
        """Return the end of an interval."""
        return self.plan.first_us + self.plan.length_us * (interval + 1)

    def _nothing(self) -> dict[str, Numbers]:
        """Return counters of zero."""
        return {name: np.zeros(len(self._sessions), np.int64) for name in (*FOUR_BYTES, *EIGHT_BYTES)}

    def _enabled(self, batch: SmfBatch, system: int) -> None:
        """Add the first record of a system, which only reports that zERT aggregation is on."""
        written = np.array([self.context.recipe.start_us])
        batch.extend(self._switched.make({"system": np.array([system]), "event": ENABLED}, written))

    def _interval(self, batch: SmfBatch) -> None:
        """Add the records of all sessions for one interval, or the remaining number of records."""
        before = self._counters
        self._advance()
        rows = np.arange(min(self._left, len(self._sessions)))
        self._write(batch, before, rows)
        self._done += 1
        self._left -= len(rows)

    def _write(self, batch: SmfBatch, before: dict[str, Numbers], rows: Numbers) -> None:
        """Add the records of some sessions, from the counters before and after an interval."""
        arrays: dict[str, Any] = {name: values[rows] for name, values in self._sessions.arrays.items()}
        protection, tables = arrays["protection"], batch.expected.tables
        tables["smf119_zert_summary_dn"] += int(
            ((protection == TLS) * np.where(arrays["client"] > 0, 4, 2)).sum()
        )
        for moment, counters in (("before", before), ("after", self._counters)):
            arrays[moment] = {name: values[rows] for name, values in counters.items()}
        written = np.full(len(rows), self._end(self._done), np.int64)
        batch.extend(self._records.make(arrays, written))

    def _advance(self) -> None:
        """Advance the counters by one interval."""
        sessions, before = self._sessions, self._counters
        rng = self.context.random(12, self._done)
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
