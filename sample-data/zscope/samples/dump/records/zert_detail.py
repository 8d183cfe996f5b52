"""zERT connection detail records (type 119 subtype 11)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from zscope.samples.dump.connections import FAILED, FULL, Connections, connection_arrays
from zscope.samples.dump.declared_records import DeclaredRecords
from zscope.samples.dump.records.zert_sections import (
    UNKNOWN_CIPHER,
    CertificateNames,
    session_names,
)
from zscope.samples.dump.site import TLS
from zscope.schemas import catalog

if TYPE_CHECKING:
    from zscope.samples.dump.arrays import Flags, Numbers
    from zscope.samples.dump.assemble import SmfBatch
    from zscope.samples.dump.context import RecordContext
    from zscope.samples.dump.site import Site


STARTED, CHANGED, ENDED, SHORT = 1, 2, 3, 4


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


@dataclass(frozen=True)
class ZertDetail:
    """Generates zERT connection detail records."""

    context: RecordContext

    def make(self, events: Events) -> SmfBatch:
        """Generate one record for each event."""
        site = self.context.site
        arrays = connection_arrays(events.connections, site)
        arrays |= {"event": events.event, "protection": events.protection(site)}
        batch = self._records.make(arrays, events.written)
        _count(batch, events, site)
        return batch

    @cached_property
    def _records(self) -> DeclaredRecords:
        site = self.context.site
        names = session_names(site) | {"tls13": self.context.recipe.tls13}
        ready = CertificateNames(site, catalog().records[119, 11].section("dn"))
        return DeclaredRecords(self.context, "dump/records/zert_detail.toml", 11, names, ready.of)


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
