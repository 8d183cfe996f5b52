"""zERT summary records (type 119 subtype 12): security sessions and their counters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from zscope.samples.dump.arrays import ColumnTable, column
from zscope.samples.dump.assemble import SmfBatch
from zscope.samples.dump.records.connection_records import zert_switched
from zscope.samples.dump.records.rmf_machine import ConnectionCpuTime
from zscope.samples.dump.site import (
    APPLICATIONS,
    CLIENT_CERTIFICATES,
    FIRST_PARTNERS,
    PARTNERS,
    TLS,
)

if TYPE_CHECKING:
    from zscope.samples.dump.arrays import Floats, Numbers
    from zscope.samples.dump.context import RecordContext
    from zscope.samples.dump.recipe import Recipe


_LETTERS = {"tls": "T", "ssh": "S", "ipsec": "I", "": "N"}


@dataclass
class SecuritySessions(ColumnTable):
    """Security sessions of all systems, with what does not change between intervals."""

    system: Numbers = column()
    application: Numbers = column()
    suite: Numbers = column()
    client: Numbers = column()
    """Number of the client certificate; 0 for none."""
    partner: Numbers = column()
    local_row: Numbers = column()
    """Number of the local address."""


def dump_sessions(context: RecordContext, each: int) -> SecuritySessions:
    """Return as many sessions of each system; every application occurs before one occurs twice."""
    number = np.arange(each * len(context.names))
    system, application = number // each, number % each % len(APPLICATIONS)
    elliptic, certified = (
        np.array([getattr(owner, name) for owner in APPLICATIONS])[application]
        for name in ("elliptic", "client_auth")
    )
    drawn = context.random(12_002).integers(0, PARTNERS - FIRST_PARTNERS, len(number))
    partner = FIRST_PARTNERS + drawn
    return SecuritySessions(
        system=system,
        application=application,
        suite=context.site.draw_suites(context.random(12_001), system, elliptic),
        client=np.where(certified, 1 + number % CLIENT_CERTIFICATES, 0),
        partner=partner,
        local_row=2 * system + context.site.partner_is_v6[partner],
    )


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
    sessions: SecuritySessions
    _done: int = 0
    """Number of intervals written."""
    _left: int = -1
    """Number of records still to write; -1 before the first."""

    def __post_init__(self) -> None:
        names = (*FOUR_BYTES, *EIGHT_BYTES)
        self._counters = {name: np.zeros(len(self.sessions), np.int64) for name in names}

    def until(self, time: int, *, last: bool) -> SmfBatch:
        """Generate all records of intervals that end before a time, or all remaining records."""
        batch = SmfBatch()
        if self._left < 0:
            self._left = self.plan.records
            systems = range(min(self._left, len(self.context.names)))
            for system in systems:
                self._enabled(batch, system)
            self._left -= len(systems)
        while self._left > 0 and (last or self._end(self._done) < time):
            self._interval(batch)
        return batch

    @cached_property
    def _protection(self) -> Numbers:
        """For each session, the bits of the protocol that protects it."""
        return self.context.site.protection[self.sessions.application].astype(np.int64)

    @cached_property
    def _ids(self) -> list[str]:
        """For each session, its identifier."""
        values = self.context.random(12_003).integers(0, 256, (len(self.sessions), 20), np.uint8)
        letters = [_LETTERS[owner.protection] for owner in self.context.site.applications]
        return [
            f"{letters[application]}-{row.tobytes().hex().upper()}"
            for application, row in zip(self.sessions.application.tolist(), values, strict=True)
        ]

    @cached_property
    def _rates(self) -> Floats:
        """For each session, the expected connections in an interval."""
        spread = self.context.random(12_000).uniform(0.5, 3, len(self.sessions))
        return np.array([owner.weight for owner in APPLICATIONS])[self.sessions.application] * spread

    def _end(self, interval: int) -> int:
        """Return the end of an interval."""
        return self.plan.first_us + self.plan.length_us * (interval + 1)

    def _enabled(self, batch: SmfBatch, system: int) -> None:
        """Add the first record of a system, which only reports that zERT aggregation is on."""
        written = np.array([self.context.recipe.start_us])
        batch.extend(zert_switched(self.context, 12, system, ENABLED, written))

    def _interval(self, batch: SmfBatch) -> None:
        """Add the records of all sessions for one interval, or the remaining number of records."""
        before = self._counters
        self._advance()
        rows = np.arange(min(self._left, len(self.sessions)))
        self._write(batch, before, rows)
        self._done += 1
        self._left -= len(rows)

    def _write(self, batch: SmfBatch, before: dict[str, Numbers], rows: Numbers) -> None:
        """Add the records of some sessions, from the counters before and after an interval."""
        protection = self._protection[rows]
        arrays: dict[str, Any] = {
            **vars(self.sessions[rows]),
            "session": rows,
            "session_ids": self._ids,
            "protection": protection,
            "length_us": self.plan.length_us,
        }
        batch.expected.tables["smf119_zert_summary_dn"] += int(
            ((protection == TLS) * np.where(arrays["client"] > 0, 4, 2)).sum()
        )
        for moment, counters in (("before", before), ("after", self._counters)):
            arrays[moment] = {name: values[rows] for name, values in counters.items()}
        written = np.full(len(rows), self._end(self._done), np.int64)
        batch.extend(self.context.make("dump/records/zert_summary.toml", 12, arrays, written))

    def _advance(self) -> None:
        """Advance the counters by one interval."""
        rng, before = self.context.random(12, self._done), self._counters
        new = rng.poisson(self._rates)
        size = np.array([app.kilobytes for app in APPLICATIONS])[self.sessions.application] * 1_000
        total = (new * size * rng.uniform(0.7, 1.4, len(new))).astype(np.int64)
        can_fail = self.context.newest[self.sessions.system] & (self._protection == TLS)
        failed = np.where(can_fail, rng.binomial(new, 0.01), 0)
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
