"""Displays of a world: NETSTAT daily on every system, System SSL caches several times on the servers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from zscope.samples.dump.connections import FULL, RESUMED
from zscope.samples.dump.site import STACK
from zscope.samples.reports.displays import LocalClock
from zscope.samples.reports.files import (
    ReportFile,
    cache_displays,
    console_displays,
    shell_session,
    syslog_of,
)
from zscope.samples.reports.snapshots import CLOSED_S, CacheCounters, Snapshot
from zscope.samples.world.services import ADDRESSES, IS_TLS13, LISTENING, SUITES
from zscope.samples.world.world_connections import WorldConnections, seen_by
from zscope.samples.world.world_recipe import (
    CLIENTS,
    DAY_US,
    MINUTE_US,
    NAMES,
    NIGHTS,
    SYSTEMS,
    WorldRecipe,
    moment,
)
from zscope.samples.world.world_scenario import SCENARIO

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zscope.parsers.smf.codecs.base import ByteRows
    from zscope.samples.dump.arrays import Numbers
    from zscope.samples.dump.connections import Connections
    from zscope.samples.dump.context import RecordContext
    from zscope.samples.world.benchmark_runs import PlannedRun

CACHES = {"session-id": False, "ticket": True}
HOUR_US = 60 * MINUTE_US
_NETSTAT_AT_US = 12 * HOUR_US + 7 * MINUTE_US + 30_000_000
RESET_SYSTEM = NAMES.index(SCENARIO.reports.cache_reset)
_RESET_AT_US = 9 * HOUR_US + 30 * MINUTE_US
_AROUND_US = 30_000_000
"""Time before and after runs about tickets at which the caches are displayed additionally."""
_AFTER_NIGHT_US = 12 * HOUR_US
_STARTED_BEFORE_US = 9 * DAY_US + 5 * HOUR_US
_FULL_A_MISS = 32
"""One of this many full handshakes had a session id that the cache did not contain."""
_MOST_SHOWN = 12
"""Maximum number of TTLS CONN displays in a captured session."""


@dataclass
class Caches:
    """Counters of the session caches on the servers, and their displays."""

    recipe: WorldRecipe
    runs: Sequence[PlannedRun]
    _counts: Numbers = field(init=False)
    """By server, cache, kind (full, resumed) and time range."""

    def __post_init__(self) -> None:
        shape = (len(NAMES) - CLIENTS, len(CACHES), 2, len(self._edges) - 1)
        self._counts = np.zeros(shape, np.int64)

    @property
    def times_us(self) -> list[int]:
        """Times of the displays."""
        recipe = self.recipe
        times = [
            recipe.day_us(day) + hour * HOUR_US for day in range(recipe.days) for hour in recipe.display_hours
        ]
        times.append(recipe.day_us(recipe.days))
        if self.runs:
            times += [recipe.day_us(recipe.days + night) + _AFTER_NIGHT_US for night in range(NIGHTS)]
        for run in self.runs:
            if "sysplex_tickets" in run.tags:
                times += [run.begin_us - _AROUND_US, run.end_us + _AROUND_US]
        return sorted(times)

    @property
    def reset_us(self) -> int:
        """Time at which the counters of a server are reset."""
        return self.recipe.start_us + _RESET_AT_US

    @property
    def _edges(self) -> Numbers:
        return np.array(sorted([*self.times_us, self.reset_us, self.times_us[-1] + DAY_US]))

    def add(self, connections: WorldConnections) -> None:
        """Count the handshakes of connections."""
        for server in range(len(self._counts)):
            mine = connections[connections.server == CLIENTS + server]
            tls13 = IS_TLS13[mine.suite]
            for cache, newest in enumerate(CACHES.values()):
                for kind, handshake in enumerate((FULL, RESUMED)):
                    chosen = mine[(mine.handshake == handshake) & (tls13 == newest)]
                    self._counts[server, cache, kind] += np.histogram(
                        chosen.handshake_time, self._edges, weights=chosen.times
                    )[0]

    def shown(self, system: int, cache: str, at_us: int) -> CacheCounters:
        """Return the counters at a time."""
        reset = self.reset_us if system == RESET_SYSTEM and at_us > self.reset_us else None
        edges = self._edges[:-1]
        past = (edges < at_us) & (edges >= (reset or 0))
        counted = self._counts[system - CLIENTS, list(CACHES).index(cache)][:, past].sum(axis=1)
        full, resumed = counted.tolist()
        since = moment(self.recipe.start_us - _STARTED_BEFORE_US)
        return CacheCounters(full, resumed, full // _FULL_A_MISS, moment(reset) if reset else None, since)

    def expected(self) -> list[dict[str, Any]]:
        """Return the expected values: all displays, and the handshakes between two displays."""
        rows = []
        for system in range(CLIENTS, len(NAMES)):
            for number, cache in enumerate(CACHES):
                before = None
                for at_us in self.times_us:
                    shown = self.shown(system, cache, at_us)
                    row = {
                        "system": NAMES[system],
                        "cache": cache,
                        "at": moment(at_us).isoformat(),
                        "add_successful": shown.full,
                        "retrieval_successful": shown.resumed,
                        "reset": shown.reset.isoformat() if shown.reset else None,
                    }
                    if before is not None:
                        edges = self._edges[:-1]
                        between = (edges >= before) & (edges < at_us)
                        since = self._counts[system - CLIENTS, number][:, between].sum(axis=1)
                        row["handshakes_since_display"] = dict(
                            zip(("full", "resumed"), since.tolist(), strict=True)
                        )
                    rows.append(row)
                    before = at_us
        return rows


@dataclass
class Displays:
    """Captures displays at certain times and writes them to files."""

    context: RecordContext
    caches: Caches
    prefixes: ByteRows
    _sessions: list[ReportFile] = field(default_factory=list)
    _seen: dict[int, list[Snapshot]] = field(default_factory=dict)
    """By time, snapshots of the servers when caches are displayed."""
    _console: list[tuple[int, list[str]]] = field(default_factory=list)

    def day(self, connections: WorldConnections, begin_us: int) -> None:
        """Capture the displays of a day from its connections."""
        recipe = self.caches.recipe
        recorded_from, recorded_to = recipe.recorded_us
        at_us = begin_us + _NETSTAT_AT_US
        if recipe.recording == "counts":
            # Displays agree with records, so the connections that they show need records of their own.
            at_us = (recorded_from + recorded_to) // 2
        first = not self._sessions
        for system in range(len(NAMES)):
            if not self.in_traffic(begin_us) or not begin_us <= at_us < begin_us + DAY_US:
                break
            now = self._moment(connections, system, at_us)
            level, clock = SYSTEMS[system].level, local_clock(recipe, system)
            fewer = Snapshot(now.system, now.at_utc, now.open[:_MOST_SHOWN], now.closing[:_MOST_SHOWN])
            self._sessions.append(shell_session(fewer, clock, level, LISTENING))
            if first:
                self._console.append((at_us, console_displays(fewer, clock, level, LISTENING)))
        for time in self.caches.times_us:
            if begin_us <= time < begin_us + DAY_US:
                self._seen[time] = [self._moment(connections, s, time) for s in range(CLIENTS, len(NAMES))]

    def in_traffic(self, begin_us: int) -> bool:
        """Return whether a day is one of background traffic."""
        return begin_us < self.caches.recipe.day_us(self.caches.recipe.days)

    def files(self) -> Iterator[ReportFile]:
        """Yield all files: a z/OS UNIX session for each system and day, and a log of all systems."""
        yield from self._sessions
        clocks = {name: local_clock(self.caches.recipe, number) for number, name in enumerate(NAMES)}
        parts = list(self._console)
        for at_us in self.caches.times_us:
            at = moment(at_us)
            counted = {
                (NAMES[system], tls13, at): self.caches.shown(system, cache, at_us)
                for system in range(CLIENTS, len(NAMES))
                for cache, tls13 in CACHES.items()
            }
            empty = [Snapshot(name, at, [], []) for name in NAMES[CLIENTS:]]
            parts.append((at_us, cache_displays(at, self._seen.get(at_us, empty), clocks, counted)))
        first = clocks[NAMES[0]].local(moment(min(at_us for at_us, _ in parts)))
        yield syslog_of(parts, NAMES[0], first, "SYSLOG of all systems: GSKSRVR caches, NETSTAT")

    def _moment(self, connections: WorldConnections, system: int, at_us: int) -> Snapshot:
        recent = (
            (connections.times == 1)
            & (connections.start <= at_us)
            & (connections.end > at_us - CLOSED_S * 1_000_000)
        )
        rows = connection_rows(self.context, seen_by(connections[recent], system, self.prefixes))
        at = moment(at_us)
        return Snapshot(
            NAMES[system],
            at,
            [row for row in rows if row["end_utc"] > at],
            [row for row in rows if row["end_utc"] <= at],
        )


def local_clock(recipe: WorldRecipe, system: int) -> LocalClock:
    """Return the clock of a system."""
    return LocalClock(recipe.systems[system])


def connection_rows(context: RecordContext, seen: Connections) -> list[dict[str, Any]]:
    """Return connections with the columns of decoded zERT records."""
    addresses = context.site.local_rows(seen).tolist()
    return [_connection_row(context, seen, at, ADDRESSES[address]) for at, address in enumerate(addresses)]


def _connection_row(context: RecordContext, seen: Connections, at: int, address: str) -> dict[str, Any]:
    owner = context.site.applications[seen.application[at]]
    protected = owner.protection == "tls" and seen.handshake[at] in {FULL, RESUMED}
    suite = SUITES[seen.suite[at]] if protected else None
    length, partner_port = int(seen.session_length[at]), int(seen.partner_port[at])
    ports = (partner_port, owner.port) if owner.calls_out else (owner.port, partner_port)
    local_port, remote_port = ports
    return {
        "system": NAMES[seen.system[at]], "stack": STACK, "job_name": owner.job, "user_id": owner.user,
        "connection_id": int(seen.connection_id[at]), "local_ip": address, "local_port": local_port,
        "remote_ip": ADDRESSES[seen.partner[at]], "remote_port": remote_port,
        "start_utc": moment(int(seen.start[at])), "end_utc": moment(int(seen.end[at])),
        "in_bytes": int(seen.in_bytes[at]), "out_bytes": int(seen.out_bytes[at]),
        "tls_version": suite.version_code if suite else None, "cipher": suite.code if suite else None,
        "session_id": seen.session[at, :length].tobytes().hex().upper() if length else None,
        "handshake_role": owner.role,
    }  # fmt: skip
