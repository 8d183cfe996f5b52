"""TCP connections over time: who talks to whom, how long, and which TLS session protects it.

A connection that is open when a slice of time ends is kept and ends in a later one, so that its records of
subtypes 1, 2 and 11 agree. What is kept is bounded; when there is no more room, connections are short.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zscope.parsers.synthetic.cast import (
    APPLICATIONS,
    CLIENT_CERTIFICATES,
    FIRST_PARTNERS,
    PARTNERS,
    SERVER_WITH_CLIENT_AUTH,
    SUITES,
    TLS13,
)

if TYPE_CHECKING:
    from zscope.parsers.synthetic.batch import Numbers, Scene
    from zscope.parsers.synthetic.cast import Cast

SESSION_ID_BYTES = 32
NO_TLS, FULL, ABBREVIATED, FAILED = 0, 1, 2, 3
CONNECTION = np.dtype(
    [
        ("system", "u1"),
        ("application", "u1"),
        ("partner", "u2"),
        ("partner_port", "u2"),
        ("connection_id", "u4"),
        ("start", "i8"),
        ("end", "i8"),
        ("suite", "u1"),
        ("client_certificate", "u1"),
        ("handshake", "u1"),
        ("session_length", "u1"),
        ("session", "u1", (SESSION_ID_BYTES,)),
        ("in_bytes", "u8"),
        ("out_bytes", "u8"),
        ("long", "?"),
        ("changed", "?"),
    ]
)
Connections = NDArray[np.void]

SHORT_US = 10_000_000
"""zERT writes a single record for a connection that is shorter."""
LONG_SHARE = 0.22
CHANGED_SHARE = 0.04
"""Share of long connections that are not protected from the start."""
FAILED_SHARE = 0.012
MOST_PENDING = 20_000
SESSIONS_KEPT = 64
"""Of each application and system; a resumed connection picks one of these."""
TAKEN_OVER = ("partner", "client_certificate", "suite", "session")
"""What a resumed connection has from the full handshake before it."""
FIRST_CONNECTION_ID = 0x1000
LONGEST_SHORT_US = 9_900_000
MEAN_LONG_US = 150_000_000
_TLS = np.array([app.protection == "tls" for app in APPLICATIONS])
_WEIGHTS = np.array([app.weight for app in APPLICATIONS]) / sum(app.weight for app in APPLICATIONS)
_CALLS_OUT = np.array([app.calls_out for app in APPLICATIONS])
_RESUMPTION = np.array([app.resumption for app in APPLICATIONS])
_KILOBYTES = np.array([app.kilobytes for app in APPLICATIONS])
_CLIENT_AUTH = np.array([app.role == SERVER_WITH_CLIENT_AUTH for app in APPLICATIONS])
_ELLIPTIC = np.array([app.elliptic for app in APPLICATIONS])
_TLS13 = np.array([suite.version == TLS13 for suite in SUITES])


@dataclass
class ConnectionSource:
    """Makes the connections of a dump, slice by slice."""

    scene: Scene
    _pending: Connections = field(default_factory=lambda: np.empty(0, CONNECTION))
    _sessions: dict[tuple[int, int], Connections] = field(default_factory=dict)
    _next_id: int = FIRST_CONNECTION_ID

    def due(self, end: int, most: int) -> Connections:
        """Connections kept from before that end before a time, at most so many; others last longer."""
        ends = np.flatnonzero(self._pending["end"] < end)
        ends = ends[np.argsort(self._pending["end"][ends], kind="stable")]
        now, later = ends[:most], ends[most:]
        connections = self._pending[now]
        self._pending["end"][later] = end + SHORT_US
        self._pending = np.delete(self._pending, now)
        return connections

    def new(self, rng: np.random.Generator, starts: Numbers, end: int) -> Connections:
        """Connections that make as many zERT detail records before `end` as there are starts to choose from.

        A short connection makes one record, a long one a record when it starts and another when it ends.
        """
        drawn = np.zeros(len(starts), CONNECTION)
        drawn["start"] = starts
        self._last(rng, drawn, end)
        total = np.cumsum(zert_records(drawn, end))
        whole = int(np.searchsorted(total, len(starts), side="right"))
        rest = len(starts) - (int(total[whole - 1]) if whole else 0)
        made = drawn[: whole + rest]
        made["long"][whole:] = made["changed"][whole:] = False
        made["end"][whole:] = made["start"][whole:]
        made = made[np.argsort(made["start"], kind="stable")]
        self._meet(rng, made, rng.choice(len(APPLICATIONS), len(made), p=_WEIGHTS))
        self._protect(rng, made)
        self._pending = np.concatenate([self._pending, made[made["end"] >= end]])
        return made

    def unseen(self, rng: np.random.Generator, starts: Numbers, *, protected: bool) -> Connections:
        """Short connections that zERT has no records of; without TLS if it would have some of others."""
        made = np.zeros(len(starts), CONNECTION)
        made["start"] = made["end"] = np.sort(starts)
        weights = np.where(protected | ~_TLS, _WEIGHTS, 0)
        self._meet(rng, made, rng.choice(len(APPLICATIONS), len(made), p=weights / weights.sum()))
        if protected:
            self._protect(rng, made)
        return made

    def _last(self, rng: np.random.Generator, made: Connections, end: int) -> None:
        """How long the connections last, and whether their protection changes meanwhile."""
        count = len(made)
        room = max(0, MOST_PENDING - len(self._pending))
        made["long"] = (rng.random(count) < LONG_SHARE) & (np.arange(count) < room)
        short = np.minimum(np.exp(rng.normal(13.5, 1.2, count)), LONGEST_SHORT_US)
        long = SHORT_US + rng.exponential(MEAN_LONG_US, count)
        made["end"] = made["start"] + np.where(made["long"], long, short).astype(np.int64)
        made["end"] = np.where(
            made["long"], made["end"], np.minimum(made["end"], np.maximum(end - 1, made["start"]))
        )
        made["changed"] = made["long"] & (made["end"] < end) & (rng.random(count) < CHANGED_SHARE)

    def _meet(self, rng: np.random.Generator, made: Connections, applications: Numbers) -> None:
        """Who talks to whom, and how much."""
        count = len(made)
        made["system"] = rng.integers(0, len(self.scene.names), count)
        made["application"] = applications
        busy = rng.random(count) ** 2.5
        partners = FIRST_PARTNERS + (busy * (PARTNERS - FIRST_PARTNERS)).astype(np.int64)
        called = rng.integers(0, FIRST_PARTNERS, count)
        made["partner"] = np.where(_CALLS_OUT[applications], called, partners)
        made["partner_port"] = rng.integers(1024, 65_000, count)
        made["connection_id"] = (self._next_id + np.arange(count)) & 0xFFFFFFFF
        self._next_id += count
        size = _KILOBYTES[applications] * np.exp(rng.normal(0, 0.9, count)) * 1_000
        made["in_bytes"] = 200 + size * 0.2
        made["out_bytes"] = 200 + size * 0.8

    # --- TLS -----------------------------------------------------------------------------------------------

    def _protect(self, rng: np.random.Generator, made: Connections) -> None:
        """Handshake, suite and session of the connections; a resumed one takes them from an earlier one."""
        count = len(made)
        application = made["application"]
        tls = _TLS[application]
        share = np.minimum(self.scene.recipe.resumed * _RESUMPTION[application], 0.95)
        made["handshake"] = np.where(tls, np.where(rng.random(count) < share, ABBREVIATED, FULL), NO_TLS)
        if self.scene.recipe.tls13:
            failed = tls & self.scene.newest[made["system"]] & (rng.random(count) < FAILED_SHARE)
            made["handshake"][failed] = FAILED
        certificates = rng.integers(1, CLIENT_CERTIFICATES + 1, count)
        made["client_certificate"] = np.where(_CLIENT_AUTH[application], certificates, 0)
        for system, (rsa, ec) in enumerate(self.scene.cast.suites):
            for weights, elliptic in ((rsa, False), (ec, True)):
                rows = np.flatnonzero((made["system"] == system) & (_ELLIPTIC[application] == elliptic))
                made["suite"][rows] = rng.choice(len(SUITES), len(rows), p=weights)
        made["session"] = rng.integers(0, 256, (count, SESSION_ID_BYTES), np.uint8)
        luck = rng.random(count)
        groups = made["system"].astype(np.int64) * len(APPLICATIONS) + application
        for group in np.unique(groups[tls]).tolist():
            self._resume(made, np.flatnonzero(groups == group), luck)
        # What TLSv1.3 shows as a session id is not published, so there is none.
        made["session_length"] = np.where(_TLS13[made["suite"]], 0, SESSION_ID_BYTES)
        without = (made["handshake"] == NO_TLS) | (made["handshake"] == FAILED)
        made["session_length"][without] = 0
        made["session"][made["session_length"] == 0] = 0

    def _resume(self, made: Connections, rows: Numbers, luck: NDArray[np.float64]) -> None:
        """Resumed connections of one application take over the session of an earlier full handshake."""
        key = int(made["system"][rows[0]]), int(made["application"][rows[0]])
        known = self._sessions.get(key, made[:0])
        self._sessions[key] = resume(made, rows, known, luck, TAKEN_OVER)


def resume(
    made: Connections, rows: Numbers, known: Connections, luck: NDArray[np.float64], taken: tuple[str, ...]
) -> Connections:
    """Let resumed connections take over values of earlier full handshakes, and give what later ones can.

    A connection that finds nothing to resume makes a full handshake.
    """
    if not len(known) and made["handshake"][rows[0]] == ABBREVIATED:
        made["handshake"][rows[0]] = FULL
    resumed = rows[made["handshake"][rows] == ABBREVIATED]
    full = rows[made["handshake"][rows] == FULL]
    before = len(known) + np.searchsorted(full, resumed)
    nothing = before == 0
    made["handshake"][resumed[nothing]] = FULL
    resumed, before = resumed[~nothing], before[~nothing]
    reach = np.minimum(before, SESSIONS_KEPT)
    chosen = before - 1 - (luck[resumed] * reach).astype(np.int64)
    sources = np.concatenate([known, made[full]])
    for name in taken:
        made[name][resumed] = sources[name][chosen]
    return sources[-SESSIONS_KEPT:].copy()


def zert_records(connections: Connections, end: int) -> NDArray[np.int64]:
    """How many zERT detail records each connection makes before a time."""
    closed: NDArray[np.int64] = (connections["long"] & (connections["end"] < end)).astype(np.int64)
    records: NDArray[np.int64] = 1 + closed + connections["changed"]
    return records


def columns_of(connections: Connections, cast: Cast) -> dict[str, Any]:
    """Values that several record types show in the same way."""
    outward = cast.calls_out[connections["application"]]
    ports = cast.ports[connections["application"]]
    partner_port = connections["partner_port"]
    return {
        "remote_port": np.where(outward, ports, partner_port),
        "local_port": np.where(outward, partner_port, ports),
        "connection_id": connections["connection_id"],
        "in_bytes": connections["in_bytes"],
        "out_bytes": connections["out_bytes"],
        "in_segments": 4 + connections["in_bytes"] // np.uint64(1_400),
        "out_segments": 4 + connections["out_bytes"] // np.uint64(1_400),
    }
