"""zERT summary records of a world: counters of security sessions that add up its connections."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from zscope.parsers.synthetic.batch import Batch
from zscope.parsers.synthetic.cast import CLIENT_CERTIFICATES
from zscope.parsers.synthetic.connections import FAILED
from zscope.parsers.synthetic.world.cast import DISTRIBUTED, FIRST_BENCH, SERVICES, SUITES, application
from zscope.parsers.synthetic.world.recipe import CLIENTS, NAMES
from zscope.parsers.synthetic.zert_sessions import SecuritySessions
from zscope.parsers.synthetic.zert_summary import ACTIVE, EIGHT_BYTES, FOUR_BYTES, SummaryPlan, ZertSummary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zscope.parsers.synthetic.batch import Numbers, Scene
    from zscope.parsers.synthetic.world.links import Links

HOUR_US = 3_600_000_000
_SIZES = (2, CLIENTS, len(NAMES) - CLIENTS, len(SERVICES), len(SUITES), CLIENT_CERTIFICATES + 1)
"""Side (client, server), client, server, service, suite, client certificate: each has its own session."""
_SEGMENT_BYTES = np.uint64(1_400)


@dataclass(frozen=True)
class WorldSessions(SecuritySessions):
    """Every session that connections of a world can have."""

    def __len__(self) -> int:
        return int(np.prod(_SIZES))

    @cached_property
    def _axes(self) -> tuple[Numbers, ...]:
        return tuple(axis.ravel() for axis in np.indices(_SIZES))

    @cached_property
    def systems(self) -> Numbers:
        """The one whose end it is."""
        side, client, server, *_ = self._axes
        return np.where(side == 0, client, CLIENTS + server)

    @cached_property
    def applications(self) -> Numbers:
        """The one at that end."""
        service = self._axes[3].astype(np.uint8)
        calls = self._axes[0] == 0
        numbers = np.where(calls, application(service, calls=True), application(service, calls=False))
        return numbers.astype(np.int64)

    @cached_property
    def suites(self) -> Numbers:
        """Their suites."""
        return self._axes[4]

    @cached_property
    def clients(self) -> Numbers:
        """Their client certificates."""
        return self._axes[5]

    @cached_property
    def partners(self) -> Numbers:
        """Who is at the other end."""
        side, client, server, service, *_ = self._axes
        called = np.where(service < FIRST_BENCH, DISTRIBUTED, CLIENTS + server)
        return np.where(side == 0, called, client)

    @cached_property
    def local_rows(self) -> Numbers:
        """The own address."""
        side, client, server, service, *_ = self._axes
        called = np.where(service < FIRST_BENCH, DISTRIBUTED, CLIENTS + server)
        return np.where(side == 0, client, called)


class WorldSummary(ZertSummary):
    """Writes a record of each session in which something happened, every hour."""

    def __init__(self, scene: Scene, first_us: int) -> None:
        super().__init__(scene, SummaryPlan(0, 0, first_us, HOUR_US))
        self._counters = self._nothing()

    def enabled(self, system: int) -> Batch:
        """Each system begins with the news that zERT aggregation is on."""
        batch = Batch()
        self._enabled(batch, system)
        return batch

    def hour(self, links: Links) -> list[Batch]:
        """For each system the records of the next hour, about connections of which any part lies in it."""
        begin = self._end(self._done - 1)
        step, before = _steps(links, begin, begin + HOUR_US), self._counters
        self._counters = {
            name: step[name] if name == ACTIVE else counter + step[name] for name, counter in before.items()
        }
        busy = np.any([added != 0 for added in step.values()], axis=0)
        common = (
            {newest: self._common(before, newest=newest) for newest in (False, True)} if busy.any() else {}
        )
        batches = []
        for system in range(len(NAMES)):
            batch = Batch()
            self._write(batch, common, np.flatnonzero(busy & (self._sessions.systems == system)))
            batches.append(batch)
        self._done += 1
        return batches

    @cached_property
    def _sessions(self) -> SecuritySessions:
        return WorldSessions(self.scene, 0)


def _steps(links: Links, begin: int, end: int) -> dict[str, Numbers]:
    """By how much the counters of every session grow from one time to another, and what is open then."""
    since, until = links["shaken"], links["end"]
    new = (since >= begin) & (since < end)
    lasting = np.maximum(until - since, 1)
    before, after = (np.clip((time - since) / lasting, 0.0, 1.0) for time in (begin, end))
    # An end at the very last moment of the hour is in it.
    after = np.where(until < end, 1.0, after)

    def grown(amount: NDArray[np.uint64]) -> Numbers:
        counted: Numbers = (amount * after).astype(np.int64) - (amount * before).astype(np.int64)
        return counted

    up, down = links["up"], links["down"]
    up_segments, down_segments = 4 + up // _SEGMENT_BYTES, 4 + down // _SEGMENT_BYTES
    sent = {"bytes": (grown(up), grown(down)), "segments": (grown(up_segments), grown(down_segments))}
    counts: dict[str, NDArray[Any]] = {
        "conn_count": new,
        "partial_conn_count": new & links["changed"],
        "short_conn_count": new & ~links["long"],
        "failed_handshake_count": new & (links["handshake"] == FAILED),
        ACTIVE: (since < end) & (until >= end),
    }
    steps: dict[str, Numbers] = {
        name: np.zeros(int(np.prod(_SIZES)), np.int64) for name in (*FOUR_BYTES, *EIGHT_BYTES)
    }
    for side in (0, 1):
        place = _session_of(links, side)
        mine = dict(counts)
        for what, (upward, downward) in sent.items():
            mine[f"in_{what}"], mine[f"out_{what}"] = (downward, upward) if side == 0 else (upward, downward)
        for name, values in mine.items():
            steps[name] += np.bincount(place, values, len(steps[name])).astype(np.int64)
    return steps


def _session_of(links: Links, side: int) -> Numbers:
    parts = (
        np.full(len(links), side),
        links["client"],
        links["server"] - CLIENTS,
        links["service"],
        links["suite"],
        links["client_certificate"],
    )
    places: Numbers = np.ravel_multi_index(tuple(part.astype(np.int64) for part in parts), _SIZES)
    return places
