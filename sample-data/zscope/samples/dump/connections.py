"""Generate TCP connections: partners, duration, bytes and the TLS session that protects them.

A connection that is still open when a slice of time ends is stored and ends in a later slice, so that its
records of subtypes 1, 2 and 11 agree. The number of stored connections is limited; beyond the limit, all new
connections are short.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from zscope.samples.dump.arrays import ColumnTable, column
from zscope.samples.dump.site import (
    APPLICATIONS,
    CLIENT_CERTIFICATES,
    FIRST_PARTNERS,
    PARTNERS,
    SUITES,
)

if TYPE_CHECKING:
    from zscope.parsers.smf.codecs.base import ByteRows
    from zscope.samples.dump.arrays import Flags, Floats, Numbers
    from zscope.samples.dump.site import Site
    from zscope.samples.dump.site_context import SiteContext

SESSION_ID_BYTES = 32
NO_TLS, FULL, RESUMED, FAILED = 0, 1, 2, 3


@dataclass
class ConnectionColumns(ColumnTable):
    """Connections with the columns that do not depend on the end that sees them."""

    start: Numbers = column()
    end: Numbers = column()
    suite: Numbers = column()
    client_certificate: Numbers = column()
    handshake: Numbers = column()
    long: Flags = column(np.bool_)
    """Whether zERT reports start and end in two records."""
    changed: Flags = column(np.bool_)
    """Whether they are not protected from the start."""


@dataclass
class Connections(ConnectionColumns):
    """Connections as one of their ends sees them."""

    system: Numbers = column()
    application: Numbers = column()
    partner: Numbers = column()
    partner_port: Numbers = column()
    connection_id: Numbers = column()
    session_length: Numbers = column()
    session: ByteRows = column(np.uint8, SESSION_ID_BYTES)
    in_bytes: Numbers = column()
    out_bytes: Numbers = column()


SHORT_US = 10_000_000
"""zERT writes a single record for a shorter connection."""
LONG_SHARE = 0.22
CHANGED_SHARE = 0.04
"""Share of long connections that are not protected from the start."""
FAILED_SHARE = 0.012
MOST_PENDING = 20_000
SESSIONS_KEPT = 64
"""Full handshakes remembered for each application and system, from which resumed connections choose."""
COPIED_FIELDS = ("partner", "client_certificate", "suite", "session")
"""Fields that a resumed connection copies from its full handshake."""
FIRST_CONNECTION_ID = 0x1000
LONGEST_SHORT_US = 9_900_000
MEAN_LONG_US = 150_000_000
_TLS = np.array([app.protection == "tls" for app in APPLICATIONS])
_WEIGHTS = np.array([app.weight for app in APPLICATIONS]) / sum(app.weight for app in APPLICATIONS)
_CALLS_OUT = np.array([app.calls_out for app in APPLICATIONS])
_RESUMPTION = np.array([app.resumption for app in APPLICATIONS])
_KILOBYTES = np.array([app.kilobytes for app in APPLICATIONS])
_CLIENT_AUTH = np.array([app.client_auth for app in APPLICATIONS])
_ELLIPTIC = np.array([app.elliptic for app in APPLICATIONS])
_TLS13 = np.array([suite.is_tls13 for suite in SUITES])


@dataclass
class ConnectionGenerator:
    """Generates the connections of a dump, slice by slice."""

    context: SiteContext
    _pending: Connections = field(default_factory=Connections)
    _sessions: dict[tuple[int, int], Connections] = field(default_factory=dict)
    _next_id: int = FIRST_CONNECTION_ID

    def due(self, end: int, most: int) -> Connections:
        """Return stored connections that end before a time, at most `most`; prolong the others."""
        ends = np.flatnonzero(self._pending.end < end)
        ends = ends[np.argsort(self._pending.end[ends], kind="stable")]
        now, later = ends[:most], ends[most:]
        connections = self._pending[now]
        self._pending.end[later] = end + SHORT_US
        stays = np.ones(len(self._pending), bool)
        stays[now] = False
        self._pending = self._pending[stays]
        return connections

    def new(self, rng: np.random.Generator, starts: Numbers, end: int) -> Connections:
        """Generate connections that lead to exactly `len(starts)` zERT detail records before `end`.

        A short connection leads to one record, a long one to a record at its start and another at its end.
        """
        candidates = Connections.zeros(len(starts))
        candidates.start[:] = starts
        self._set_durations(rng, candidates, end)
        total = np.cumsum(zert_records(candidates, end))
        whole = int(np.searchsorted(total, len(starts), side="right"))
        rest = len(starts) - (int(total[whole - 1]) if whole else 0)
        new = candidates[: whole + rest]
        new.long[whole:] = False
        new.changed[whole:] = False
        new.end[whole:] = new.start[whole:]
        new = new[np.argsort(new.start, kind="stable")]
        self._set_partners(rng, new, rng.choice(len(APPLICATIONS), len(new), p=_WEIGHTS))
        self._set_tls(rng, new)
        self._pending = Connections.joined([self._pending, new[new.end >= end]])
        return new

    def unseen(self, rng: np.random.Generator, starts: Numbers, *, protected: bool) -> Connections:
        """Generate short connections without zERT records.

        Set `protected` where the dump has no zERT records at all; otherwise the connections are without TLS.
        """
        new = Connections.zeros(len(starts))
        new.start[:] = new.end[:] = np.sort(starts)
        weights = np.where(protected | ~_TLS, _WEIGHTS, 0)
        self._set_partners(rng, new, rng.choice(len(APPLICATIONS), len(new), p=weights / weights.sum()))
        if protected:
            self._set_tls(rng, new)
        return new

    def _set_durations(self, rng: np.random.Generator, new: Connections, end: int) -> None:
        """Set the durations, and whether the protection changes during the connection."""
        count = len(new)
        room = max(0, MOST_PENDING - len(self._pending))
        new.long[:] = (rng.random(count) < LONG_SHARE) & (np.arange(count) < room)
        short = np.minimum(np.exp(rng.normal(13.5, 1.2, count)), LONGEST_SHORT_US)
        long = SHORT_US + rng.exponential(MEAN_LONG_US, count)
        new.end[:] = new.start + np.where(new.long, long, short).astype(np.int64)
        new.end[:] = np.where(new.long, new.end, np.minimum(new.end, np.maximum(end - 1, new.start)))
        new.changed[:] = new.long & (new.end < end) & (rng.random(count) < CHANGED_SHARE)

    def _set_partners(self, rng: np.random.Generator, new: Connections, applications: Numbers) -> None:
        """Set systems, applications, partners and bytes."""
        count = len(new)
        new.system[:] = rng.integers(0, len(self.context.names), count)
        new.application[:] = applications
        busy = rng.random(count) ** 2.5
        partners = FIRST_PARTNERS + (busy * (PARTNERS - FIRST_PARTNERS)).astype(np.int64)
        called = rng.integers(0, FIRST_PARTNERS, count)
        new.partner[:] = np.where(_CALLS_OUT[applications], called, partners)
        new.partner_port[:] = rng.integers(1024, 65_000, count)
        new.connection_id[:] = (self._next_id + np.arange(count)) & 0xFFFFFFFF
        self._next_id += count
        size = _KILOBYTES[applications] * np.exp(rng.normal(0, 0.9, count)) * 1_000
        new.in_bytes[:] = 200 + size * 0.2
        new.out_bytes[:] = 200 + size * 0.8

    def _set_tls(self, rng: np.random.Generator, new: Connections) -> None:
        """Set handshakes, cipher suites and sessions."""
        count = len(new)
        application = new.application
        tls = _TLS[application]
        share = np.minimum(self.context.recipe.resumed * _RESUMPTION[application], 0.95)
        new.handshake[:] = np.where(tls, np.where(rng.random(count) < share, RESUMED, FULL), NO_TLS)
        if self.context.recipe.tls13:
            failed = tls & self.context.newest[new.system] & (rng.random(count) < FAILED_SHARE)
            new.handshake[failed] = FAILED
        certificates = rng.integers(1, CLIENT_CERTIFICATES + 1, count)
        new.client_certificate[:] = np.where(_CLIENT_AUTH[application], certificates, 0)
        new.suite[:] = self.context.site.draw_suites(rng, new.system, _ELLIPTIC[application])
        new.session[:] = rng.integers(0, 256, (count, SESSION_ID_BYTES), np.uint8)
        draws = rng.random(count)
        groups = new.system * len(APPLICATIONS) + application
        for group in np.unique(groups[tls]).tolist():
            self._resume(new, np.flatnonzero(groups == group), draws)
        # The content of the session id in TLSv1.3 records is not published, so there is none.
        new.session_length[:] = np.where(_TLS13[new.suite], 0, SESSION_ID_BYTES)
        without = (new.handshake == NO_TLS) | (new.handshake == FAILED)
        new.session_length[without] = 0
        new.session[new.session_length == 0] = 0

    def _resume(self, new: Connections, rows: Numbers, draws: Floats) -> None:
        key = int(new.system[rows[0]]), int(new.application[rows[0]])
        known = self._sessions.get(key, new[:0])
        self._sessions[key] = resume(new, rows, known, draws, COPIED_FIELDS)


Columns = TypeVar("Columns", bound=ConnectionColumns)


def resume(new: Columns, rows: Numbers, known: Columns, draws: Floats, fields: tuple[str, ...]) -> Columns:
    """Copy fields of earlier full handshakes to the resumed connections among some rows.

    `known` contains full handshakes of earlier calls. A connection without an earlier full handshake becomes
    a full handshake itself. Return the full handshakes for the next call.
    """
    if not len(known) and new.handshake[rows[0]] == RESUMED:
        new.handshake[rows[0]] = FULL
    resumed = rows[new.handshake[rows] == RESUMED]
    full = rows[new.handshake[rows] == FULL]
    before = len(known) + np.searchsorted(full, resumed)
    unmatched = before == 0
    new.handshake[resumed[unmatched]] = FULL
    resumed, before = resumed[~unmatched], before[~unmatched]
    reach = np.minimum(before, SESSIONS_KEPT)
    chosen = before - 1 - (draws[resumed] * reach).astype(np.int64)
    sources = type(new).joined([known, new[full]])
    for name in fields:
        getattr(new, name)[resumed] = getattr(sources, name)[chosen]
    return sources[-SESSIONS_KEPT:].copy()


def zert_records(connections: Connections, end: int) -> Numbers:
    """Return the number of zERT detail records of each connection before a time."""
    return 1 + (connections.long & (connections.end < end)) + connections.changed.astype(np.int64)


def connection_arrays(connections: Connections, site: Site) -> dict[str, Any]:
    """Return the columns of connections, with the numbers of their local addresses."""
    return {**vars(connections), "local_row": site.local_rows(connections)}
