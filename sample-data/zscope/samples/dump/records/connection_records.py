"""Records of TCP connections: their starts and ends (type 119 subtypes 1 and 2), and zERT events (11)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from zscope.samples.dump.connections import FAILED, FULL, RESUMED, Connections, connection_arrays
from zscope.samples.dump.site import TLS
from zscope.samples.dump.site_names import UNKNOWN_CIPHER

if TYPE_CHECKING:
    from zscope.samples.dump.arrays import Flags, Numbers
    from zscope.samples.dump.assemble import SmfBatch
    from zscope.samples.dump.context import RecordContext
    from zscope.samples.dump.site import Site

STARTED, CHANGED, ENDED, SHORT = 1, 2, 3, 4


def opened(context: RecordContext, connections: Connections) -> SmfBatch:
    """Generate one record for each connection, at its start."""
    arrays = connection_arrays(connections, context.site)
    return context.make("dump/records/tcp_init.toml", 1, arrays, connections.start)


def closed(context: RecordContext, connections: Connections) -> SmfBatch:
    """Generate one record for each connection, at its end."""
    arrays = connection_arrays(connections, context.site)
    arrays["secured"] = secured_by_attls(connections, context.site)
    return context.make("dump/records/tcp_term.toml", 2, arrays, connections.end)


def secured_by_attls(connections: Connections, site: Site) -> Flags:
    """Return which connections have an AT-TLS section.

    Without the four-digit field, whose offset is not published, connections with four-digit suites count as
    protected by the application itself.
    """
    protected = np.isin(connections.handshake, [FULL, RESUMED])
    has_field: Flags = np.array(
        [site.writes_long_ciphers or suite.code.startswith("00") for suite in site.known_suites]
    )
    return protected & has_field[connections.suite]


@dataclass(frozen=True, slots=True)
class Events:
    """zERT events: for each, a connection, the kind of event and its time."""

    connections: Connections
    event: Numbers
    written: Numbers

    def both(self, other: Events) -> Events:
        """Return these events followed by others."""
        return Events(
            Connections.joined([self.connections, other.connections]),
            np.concatenate([self.event, other.event]),
            np.concatenate([self.written, other.written]),
        )

    @property
    def ended(self) -> Flags:
        """Which events are the last one of their connection."""
        return np.isin(self.event, [ENDED, SHORT])

    def protection(self, site: Site) -> Numbers:
        """Return the protocol bits that protect each connection at the time of the event."""
        unprotected = (self.event == STARTED) & self.connections.changed
        return np.where(unprotected, 0, site.protection[self.connections.application])


def ends_of(connections: Connections) -> Events:
    """Return the end events of connections that started earlier."""
    return Events(connections, np.full(len(connections), ENDED), connections.end)


def events_of(connections: Connections, end: int) -> Events:
    """Return the events of new connections before a time."""
    numbers = np.arange(len(connections))
    long = numbers[connections.long]
    short = numbers[~connections.long]
    closed = long[connections.end[long] < end]
    changed = numbers[connections.changed]
    middle = (connections.start[changed] + connections.end[changed]) // 2
    index = np.concatenate([short, long, changed, closed])
    event = np.repeat([SHORT, STARTED, CHANGED, ENDED], [len(short), len(long), len(changed), len(closed)])
    starts, ends = connections.start[long], connections.end
    written = np.concatenate([ends[short], starts, middle, ends[closed]])
    return Events(connections[index], event, written)


def zert_detail(context: RecordContext, events: Events) -> SmfBatch:
    """Generate one zERT record for each event."""
    arrays = connection_arrays(events.connections, context.site)
    arrays |= {"event": events.event, "protection": events.protection(context.site)}
    batch = context.make("dump/records/zert_detail.toml", 11, arrays, events.written)
    _count(batch, events, context.site)
    return batch


def zert_switched(
    context: RecordContext, subtype: int, system: int, event: int, written: Numbers
) -> SmfBatch:
    """Generate the record that a system begins or ceases to write zERT records of a subtype."""
    given = {"system": np.array([system]), "event": event}
    return context.make("dump/records/zert_switched.toml", subtype, given, written)


def _count(batch: SmfBatch, events: Events, site: Site) -> None:
    """Add the expected counts of these events."""
    expected, protection = batch.expected, events.protection(site)
    tls = events.connections[protection == TLS]
    failed = tls.handshake == FAILED
    good = tls[~failed]
    expected.tables["smf119_zert_dn"] += 2 * len(good) + 2 * int((good.client_certificate > 0).sum())
    for number, suite in enumerate(site.known_suites):
        count = int((good.suite == number).sum())
        expected.tls_versions[suite.version] += count
        expected.ciphers[suite.code] += count
    full = int((good.handshake == FULL).sum())
    expected.handshakes.update(full=full, abbreviated=len(good) - full, failed=int(failed.sum()))
    expected.tls_versions["unknown"] += int(failed.sum())
    expected.ciphers[UNKNOWN_CIPHER] += int(failed.sum())
