"""The SMF dumps of a world: one for each system, with the records of its connections and zERT sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zscope.samples.dump.assemble import SmfBatch
from zscope.samples.dump.connections import FAILED, Connections
from zscope.samples.dump.manifest import ExpectedCounts, positive
from zscope.samples.dump.records.connection_records import (
    CHANGED,
    ENDED,
    SHORT,
    STARTED,
    Events,
    closed,
    opened,
    zert_detail,
)
from zscope.samples.dump.records.zert_summary import (
    ACTIVE,
    EIGHT_BYTES,
    FOUR_BYTES,
    SecuritySessions,
    SummaryPlan,
    ZertSummary,
)
from zscope.samples.dump.site import CLIENT_CERTIFICATES
from zscope.samples.dump.write import DUMP_HEADER, DUMP_TRAILER
from zscope.samples.world.services import DISTRIBUTED, FIRST_RUN_SERVICE, SERVICES, SUITES, application
from zscope.samples.world.world_recipe import CLIENTS, NAMES

if TYPE_CHECKING:
    from pathlib import Path

    from zscope.samples.dump.arrays import Flags, Floats, Numbers
    from zscope.samples.dump.context import RecordContext
    from zscope.samples.dump.output import HashingWriter, PieceWriter
    from zscope.samples.world.world_connections import SeenConnections, WorldConnections


def _kind(record: bytes) -> int:
    """Return a number for the type and subtype of a record."""
    return record[5] << 16 | int.from_bytes(record[22:24], "big")


class SystemDump:
    """The dump of one system while it is written."""

    def __init__(
        self, context: RecordContext, system: int, path: Path, file: HashingWriter, writer: PieceWriter
    ) -> None:
        self.path = path
        self.expected = ExpectedCounts()
        self._context, self._system, self._file, self._writer = context, system, file, writer
        self._waiting = SmfBatch()
        self._last_us = context.recipe.start_us
        self._plain(DUMP_HEADER)

    def finish(self) -> None:
        """Write the remaining records and the trailer."""
        self.write_until(None)
        self._plain(DUMP_TRAILER)
        self._writer.flush()

    def add(self, batch: SmfBatch) -> None:
        """Add records, which are buffered until all earlier ones are available."""
        self.expected.add(batch.expected)
        self._waiting.extend(SmfBatch(batch.records, batch.written))

    def write_until(self, time: int | None) -> None:
        """Write the buffered records from before a time, or all of them.

        Records of each type and subtype follow each other, as if each had its own log stream: so they pack
        best.
        """
        if not self._waiting.records:
            return
        written, records = np.concatenate(self._waiting.written), self._waiting.records
        order = np.argsort(written, kind="stable")
        count = len(order) if time is None else int(np.searchsorted(written[order], time))
        now, later = order[:count], order[count:]
        if count:
            self._last_us = int(written[now[-1]])
        kinds = [_kind(records[at]) for at in now.tolist()]
        self._writer.take(records[at] for at in now[np.argsort(np.array(kinds), kind="stable")].tolist())
        self._waiting = SmfBatch([records[at] for at in later.tolist()], [written[later]])

    def expected_contents(self) -> dict[str, Any]:
        """Return the expected contents of the file."""
        return {
            "sha256": self._file.sha256,
            "bytes": self._file.count,
            "records": self.expected.records,
            "records_by_type": positive(self.expected.types),
            "rows_by_table": positive(self.expected.tables),
        }

    def _plain(self, record_type: int) -> None:
        """Write the header or trailer of the dump program."""
        self._writer.take(self._context.plain_record(record_type, self._system, self._last_us, self.expected))


def connection_records(context: RecordContext, seen: SeenConnections, begin: int, end: int) -> SmfBatch:
    """Generate records of subtypes 1, 2 and 11 about events in the time span."""

    def now(times: Numbers) -> Flags:
        return (times >= begin) & (times < end)

    seen = seen[seen.times == 1]
    begun, over = seen[now(seen.start)], seen[now(seen.end)]
    changed = seen[seen.changed & now(seen.handshake_time)]
    started, ended, short = begun[begun.long], over[over.long], over[~over.long]
    counts = [len(started), len(changed), len(ended), len(short)]
    events = Events(
        Connections.joined([started, changed, ended, short]),
        np.repeat([STARTED, CHANGED, ENDED, SHORT], counts),
        np.concatenate([started.start, changed.handshake_time, ended.end, short.end]),
    )
    batch = zert_detail(context, events)
    batch.extend(opened(context, begun))
    batch.extend(closed(context, over))
    return batch


BEGINS, CEASES = 5, 6
"""zERT events: records of connections begin and cease."""


# zERT summary records of a world: counters of security sessions that add up its connections.

_SIZES = (2, CLIENTS, len(NAMES) - CLIENTS, len(SERVICES), len(SUITES), CLIENT_CERTIFICATES + 1)
"""Side (client, server), client, server, service, suite, client certificate: each combination is a session.
"""
_SEGMENT_BYTES = 1_400


def world_sessions() -> SecuritySessions:
    """Return every security session that connections of a world can have."""
    side, client, server, service, suite, certificate = (axis.ravel() for axis in np.indices(_SIZES))
    calls = side == 0
    called = np.where(service < FIRST_RUN_SERVICE, DISTRIBUTED, CLIENTS + server)
    return SecuritySessions(
        system=np.where(calls, client, CLIENTS + server),
        application=np.where(calls, application(service, calls=True), application(service, calls=False)),
        suite=suite,
        client=certificate,
        partner=np.where(calls, called, client),
        local_row=np.where(calls, client, called),
    )


class WorldSummary(ZertSummary):
    """Generates zERT summary records of the sessions with activity."""

    def __init__(self, context: RecordContext, first_us: int, length_us: int) -> None:
        super().__init__(context, SummaryPlan(0, 0, first_us, length_us), world_sessions())

    def enabled(self, system: int) -> SmfBatch:
        """Return the first record of a system, which reports that zERT aggregation is on."""
        batch = SmfBatch()
        self._enabled(batch, system)
        return batch

    def interval(self, connections: WorldConnections) -> list[SmfBatch]:
        """Return for each system the records of the next interval about the connections open in it."""
        begin = self._end(self._done - 1)
        step, before = _steps(connections, begin, self._end(self._done)), self._counters
        self._counters = {
            name: step[name] if name == ACTIVE else counter + step[name] for name, counter in before.items()
        }
        busy = np.any([added != 0 for added in step.values()], axis=0)
        batches = []
        for system in range(len(NAMES)):
            batch = SmfBatch()
            self._write(batch, before, np.flatnonzero(busy & (self.sessions.system == system)))
            batches.append(batch)
        self._done += 1
        return batches


def _steps(connections: WorldConnections, begin: int, end: int) -> dict[str, Numbers]:
    """Return how much the counters of every session grow from one time to another, and the active
    connections.
    """
    since, until = connections.handshake_time, connections.end
    new = (since >= begin) & (since < end)
    lasting = np.maximum(until - since, 1)
    before: Floats
    before, after = (np.clip((time - since) / lasting, 0.0, 1.0) for time in (begin, end))
    # An end at the very last moment of the interval is in it.
    after = np.where(until < end, 1.0, after)

    times = connections.times

    def grown(amount: Numbers) -> Numbers:
        return ((amount * after).astype(np.int64) - (amount * before).astype(np.int64)) * times

    up, down = connections.up, connections.down
    up_segments, down_segments = 4 + up // _SEGMENT_BYTES, 4 + down // _SEGMENT_BYTES
    sent = {"bytes": (grown(up), grown(down)), "segments": (grown(up_segments), grown(down_segments))}
    counts = {
        "conn_count": new,
        "partial_conn_count": new & connections.changed,
        "short_conn_count": new & ~connections.long,
        "failed_handshake_count": new & (connections.handshake == FAILED),
        ACTIVE: (since < end) & (until >= end),
    }
    steps: dict[str, Numbers] = {
        name: np.zeros(int(np.prod(_SIZES)), np.int64) for name in (*FOUR_BYTES, *EIGHT_BYTES)
    }
    for side in (0, 1):
        place = _session_of(connections, side)
        mine = {name: times * value for name, value in counts.items()}
        for what, (upward, downward) in sent.items():
            mine[f"in_{what}"], mine[f"out_{what}"] = (downward, upward) if side == 0 else (upward, downward)
        for name, values in mine.items():
            steps[name] += np.bincount(place, values, len(steps[name])).astype(np.int64)
    return steps


def _session_of(connections: WorldConnections, side: int) -> Numbers:
    parts = (
        np.full(len(connections), side),
        connections.client,
        connections.server - CLIENTS,
        connections.service,
        connections.suite,
        connections.client_certificate,
    )
    return np.ravel_multi_index(parts, _SIZES)
