"""Connections of a world, with both ends in one row, and their conversion to the view of one end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from zscope.samples.dump.connections import CONNECTION, FULL, RESUMED, SESSION_ID_BYTES
from zscope.samples.world.services import DISTRIBUTED, FIRST_RUN_SERVICE, IS_TLS13, SERVICES, application
from zscope.samples.world.world_recipe import CLIENTS, NAMES

if TYPE_CHECKING:
    from zscope.samples.dump.arrays import Connections, Numbers

WORLD_CONNECTION = np.dtype(
    [
        ("start", "i8"),
        ("end", "i8"),
        ("handshake_time", "i8"),
        ("service", "u1"),
        ("client", "u1"),
        ("server", "u1"),
        ("suite", "u1"),
        ("client_certificate", "u1"),
        ("handshake", "u1"),
        ("session", "u4"),
        ("long", "?"),
        ("changed", "?"),
        ("up", "u8"),
        ("down", "u8"),
        ("requests", "u4"),
        ("times", "u4"),
        ("run", "i2"),
        ("port", "u2"),
        ("client_id", "u4"),
        ("server_id", "u4"),
    ]
)
"""`handshake_time` is the start of the connection, or later where protection begins later. `up` is the number
of bytes from the client to the server. `run` is the number of the benchmark run, -1 for other traffic.
`times` is the number of equal connections that a row stands for; only a connection of its own (1) has records
of its own. Bytes and requests are those of one connection.
"""
WorldConnections = NDArray[np.void]
SEEN_CONNECTION = np.dtype([*CONNECTION.descr, ("handshake_time", "i8"), ("times", "u4")])
TICK_US = 10_000
"""All times are whole hundredths of a second, the precision of zERT records."""
SHORTEST_LONG_US = 10_500_000
"""Shortest duration of a connection that zERT reports in two records."""
FIRST_PORT, PORTS = 1_024, 64_000
FIRST_ID = 0x1000
PREFIX_BYTES = 28


def ticks(times: NDArray[np.float64] | Numbers) -> Numbers:
    """Round times down to whole hundredths of a second."""
    whole: Numbers = np.asarray(times).astype(np.int64) // TICK_US * TICK_US
    return whole


class Numbering:
    """Assigns connection numbers and ports in the order of starts, as the stacks of both ends would."""

    def __init__(self) -> None:
        self._made = np.zeros(len(NAMES), np.int64)

    def number(self, connections: WorldConnections) -> None:
        """Number connections that are sorted by start."""
        for system in range(len(NAMES)):
            calls = system < CLIENTS
            rows = np.flatnonzero(connections["client" if calls else "server"] == system)
            times = connections["times"][rows].astype(np.int64)
            numbers = self._made[system] + np.cumsum(times) - times
            connections["client_id" if calls else "server_id"][rows] = (FIRST_ID + numbers) & 0xFFFFFFFF
            if calls:
                connections["port"][rows] = FIRST_PORT + numbers % PORTS
            self._made[system] += times.sum()


def seen_by(connections: WorldConnections, system: int, prefixes: NDArray[np.uint8]) -> Connections:
    """Return the connections of a system as it sees them; `prefixes` are the first bytes of session ids."""
    calls = system < CLIENTS
    mine = connections[connections["client" if calls else "server"] == system]
    seen = np.zeros(len(mine), SEEN_CONNECTION)
    for name in (
        "start",
        "end",
        "handshake_time",
        "suite",
        "client_certificate",
        "handshake",
        "long",
        "changed",
        "times",
    ):
        seen[name] = mine[name]
    seen["system"] = system
    seen["application"] = application(mine["service"], calls=calls)
    distributed = np.where(mine["service"] < FIRST_RUN_SERVICE, DISTRIBUTED, mine["server"])
    seen["partner"] = distributed if calls else mine["client"]
    seen["partner_port"] = mine["port"]
    seen["connection_id"] = mine["client_id" if calls else "server_id"]
    seen["in_bytes"] = mine["down" if calls else "up"]
    seen["out_bytes"] = mine["up" if calls else "down"]
    good = (mine["handshake"] == FULL) | (mine["handshake"] == RESUMED)
    # What TLSv1.3 shows as a session id is not published, so there is none.
    shown = good & ~IS_TLS13[mine["suite"]]
    seen["session_length"] = np.where(shown, SESSION_ID_BYTES, 0)
    ids = np.zeros((len(mine), SESSION_ID_BYTES), np.uint8)
    ids[:, :PREFIX_BYTES] = prefixes[mine["service"]]
    ids[:, PREFIX_BYTES:] = mine["session"].astype(">u4").view(np.uint8).reshape(-1, 4)
    ids[~shown] = 0
    seen["session"] = ids
    return seen


def session_prefixes(rng: np.random.Generator) -> NDArray[np.uint8]:
    """Return the first bytes of the session ids of each service."""
    return rng.integers(0, 256, (len(SERVICES), PREFIX_BYTES), np.uint8)
