"""Connections of a world, seen from nowhere: both ends at once; and as each end sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from zscope.parsers.synthetic.connections import ABBREVIATED, CONNECTION, FULL, SESSION_ID_BYTES, Connections
from zscope.parsers.synthetic.world.cast import DISTRIBUTED, FIRST_BENCH, IS_TLS13, SERVICES, application
from zscope.parsers.synthetic.world.recipe import CLIENTS, NAMES

if TYPE_CHECKING:
    from zscope.parsers.synthetic.batch import Numbers

LINK = np.dtype(
    [
        ("start", "i8"),
        ("end", "i8"),
        ("shaken", "i8"),
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
        ("run", "i2"),
        ("port", "u2"),
        ("client_id", "u4"),
        ("server_id", "u4"),
    ]
)
"""`shaken` is when the handshake was: at the start, or later where protection comes later. `up` goes from the
client to the server. `run` counts the benchmark runs, -1 for other traffic."""
Links = NDArray[np.void]
SIDE = np.dtype([*CONNECTION.descr, ("shaken", "i8")])
TICK_US = 10_000
"""All times are whole hundredths of a second, as zERT records hold no more."""
FIRST_PORT, PORTS = 1_024, 64_000
FIRST_ID = 0x1000
PREFIX_BYTES = 28


def ticks(times: NDArray[np.float64] | Numbers) -> Numbers:
    """Times in whole hundredths of a second."""
    whole: Numbers = np.asarray(times).astype(np.int64) // TICK_US * TICK_US
    return whole


class Numbering:
    """Gives connections the numbers and ports that the stacks of both ends would, in the order of starts."""

    def __init__(self) -> None:
        self._made = np.zeros(len(NAMES), np.int64)

    def number(self, links: Links) -> None:
        """Number connections that are in order."""
        for system in range(len(NAMES)):
            calls = system < CLIENTS
            rows = np.flatnonzero(links["client" if calls else "server"] == system)
            numbers = self._made[system] + np.arange(len(rows))
            links["client_id" if calls else "server_id"][rows] = (FIRST_ID + numbers) & 0xFFFFFFFF
            if calls:
                links["port"][rows] = FIRST_PORT + numbers % PORTS
            self._made[system] += len(rows)


def side(links: Links, system: int, prefixes: NDArray[np.uint8]) -> Connections:
    """The connections of a system as it sees them itself; `prefixes` begin the session ids of services."""
    calls = system < CLIENTS
    mine = links[links["client" if calls else "server"] == system]
    seen = np.zeros(len(mine), SIDE)
    for name in ("start", "end", "shaken", "suite", "client_certificate", "handshake", "long", "changed"):
        seen[name] = mine[name]
    seen["system"] = system
    seen["application"] = application(mine["service"], calls=calls)
    distributed = np.where(mine["service"] < FIRST_BENCH, DISTRIBUTED, mine["server"])
    seen["partner"] = distributed if calls else mine["client"]
    seen["partner_port"] = mine["port"]
    seen["connection_id"] = mine["client_id" if calls else "server_id"]
    seen["in_bytes"] = mine["down" if calls else "up"]
    seen["out_bytes"] = mine["up" if calls else "down"]
    good = (mine["handshake"] == FULL) | (mine["handshake"] == ABBREVIATED)
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
    """How the session ids of each service begin."""
    return rng.integers(0, 256, (len(SERVICES), PREFIX_BYTES), np.uint8)
