"""Connections of a world, with both ends in one row, and their conversion to the view of one end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from zscope.samples.dump.arrays import column
from zscope.samples.dump.connections import (
    FULL,
    RESUMED,
    SESSION_ID_BYTES,
    ConnectionColumns,
    Connections,
)
from zscope.samples.world.services import DISTRIBUTED, FIRST_RUN_SERVICE, IS_TLS13, SERVICES, application
from zscope.samples.world.world_recipe import CLIENTS, NAMES

if TYPE_CHECKING:
    from zscope.parsers.smf.codecs.base import ByteRows
    from zscope.samples.dump.arrays import Floats, Numbers


@dataclass
class WorldConnections(ConnectionColumns):
    """Connections with both ends in one row. Bytes and requests are those of one connection."""

    handshake_time: Numbers = column()
    """The start of the connection, or later where protection begins later."""
    service: Numbers = column()
    client: Numbers = column()
    server: Numbers = column()
    session: Numbers = column()
    up: Numbers = column()
    """Bytes from the client to the server."""
    down: Numbers = column()
    requests: Numbers = column()
    times: Numbers = column()
    """Number of equal connections that a row stands for; only a connection of its own (1) has records."""
    run: Numbers = column()
    """Number of the benchmark run, -1 for other traffic."""
    port: Numbers = column()
    client_id: Numbers = column()
    server_id: Numbers = column()

    def systems(self, side: str) -> Numbers:
        """Return the systems at one side, `client` or `server`."""
        return self.client if side == "client" else self.server

    def of_system(self, system: int) -> WorldConnections:
        """Return the connections of a system."""
        return self[(self.client if system < CLIENTS else self.server) == system]


@dataclass
class SeenConnections(Connections):
    """Connections of a world as one of their ends sees them."""

    handshake_time: Numbers = column()
    times: Numbers = column()


TICK_US = 10_000
"""All times are whole hundredths of a second, the precision of zERT records."""
SHORTEST_LONG_US = 10_500_000
"""Shortest duration of a connection that zERT reports in two records."""
FIRST_PORT, PORTS = 1_024, 64_000
FIRST_ID = 0x1000
PREFIX_BYTES = 28


def ticks(times: Floats | Numbers) -> Numbers:
    """Round times down to whole hundredths of a second."""
    return times.astype(np.int64) // TICK_US * TICK_US


class Numbering:
    """Assigns connection numbers and ports in the order of starts, as the stacks of both ends would."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._made = np.zeros(len(NAMES), np.int64)

    def number(self, connections: WorldConnections) -> None:
        """Number connections that are sorted by start."""
        for system in range(len(NAMES)):
            calls = system < CLIENTS
            rows = np.flatnonzero((connections.client if calls else connections.server) == system)
            times = connections.times[rows]
            numbers = self._made[system] + np.cumsum(times) - times
            ids = connections.client_id if calls else connections.server_id
            ids[rows] = (FIRST_ID + numbers % self._most) & 0xFFFFFFFF
            if calls:
                connections.port[rows] = FIRST_PORT + numbers % PORTS
            self._made[system] += times.sum()


def seen_by(connections: WorldConnections, system: int, prefixes: ByteRows) -> SeenConnections:
    """Return the connections of a system as it sees them; `prefixes` are the first bytes of session ids."""
    calls, mine = system < CLIENTS, connections.of_system(system)
    called = np.where(mine.service < FIRST_RUN_SERVICE, DISTRIBUTED, mine.server)
    good = (mine.handshake == FULL) | (mine.handshake == RESUMED)
    # What TLSv1.3 shows as a session id is not published, so there is none.
    shown = good & ~IS_TLS13[mine.suite]
    last_bytes = mine.session.astype(">u4").view(np.uint8).reshape(-1, SESSION_ID_BYTES - PREFIX_BYTES)
    return SeenConnections(
        start=mine.start,
        end=mine.end,
        handshake_time=mine.handshake_time,
        suite=mine.suite,
        client_certificate=mine.client_certificate,
        handshake=mine.handshake,
        long=mine.long,
        changed=mine.changed,
        times=mine.times,
        system=np.full(len(mine), system),
        application=application(mine.service, calls=calls),
        partner=called if calls else mine.client,
        partner_port=mine.port,
        connection_id=mine.client_id if calls else mine.server_id,
        in_bytes=mine.down if calls else mine.up,
        out_bytes=mine.up if calls else mine.down,
        session_length=np.where(shown, SESSION_ID_BYTES, 0),
        session=np.hstack([prefixes[mine.service], last_bytes]) * shown[:, None],
    )


def session_prefixes(rng: np.random.Generator) -> ByteRows:
    """Return the first bytes of the session ids of each service."""
    return rng.integers(0, 256, (len(SERVICES), PREFIX_BYTES), np.uint8)
