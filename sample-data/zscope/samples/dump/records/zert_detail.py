"""zERT connection detail records (type 119 subtype 11)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from zscope.parsers.smf.record_writer import SectionRows, encode_section, write_fields
from zscope.samples.dump.arrays import Connections, Numbers, pick, utc
from zscope.samples.dump.assemble import RecordAssembler, SmfBatch
from zscope.samples.dump.connections import FAILED, FULL, common_columns
from zscope.samples.dump.records.zert_sections import (
    IP_FILTER_RULES,
    IPSEC_TUNNEL,
    SSH_SESSION,
    UNKNOWN_CIPHER,
    VERSION_NAMES,
    certificate_columns,
    names_section,
    one_row,
)
from zscope.samples.dump.site import CLIENT_CERTIFICATES, IPSEC, SSH, TLS, addresses
from zscope.schemas import Format, catalog

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zscope.parsers.smf.codecs.base import ByteRows
    from zscope.samples.dump.arrays import Choice
    from zscope.samples.dump.context import RecordContext
    from zscope.samples.dump.site import Site
    from zscope.schemas import Section


STARTED, CHANGED, ENDED, SHORT = 1, 2, 3, 4


@dataclass(frozen=True, slots=True)
class Events:
    """zERT events: for each, a connection, the kind of event and its time."""

    connections: Connections
    event: Choice
    written: Numbers

    def both(self, other: Events) -> Events:
        """Return these events followed by others."""
        return Events(
            np.concatenate([self.connections, other.connections]),
            np.concatenate([self.event, other.event]),
            np.concatenate([self.written, other.written]),
        )

    @property
    def ended(self) -> NDArray[np.bool_]:
        """Which events are the last one of their connection."""
        over: NDArray[np.bool_] = (self.event == ENDED) | (self.event == SHORT)
        return over

    def protection(self, site: Site) -> Choice:
        """Return the protocol bits that protect each connection at the time of the event."""
        unprotected = (self.event == STARTED) & self.connections["changed"]
        return np.where(unprotected, 0, site.protection[self.connections["application"]])


def ends_of(connections: Connections) -> Events:
    """Return the end events of connections that started earlier."""
    return Events(connections, np.full(len(connections), ENDED), connections["end"].astype(np.int64))


def events_of(connections: Connections, end: int) -> Events:
    """Return the events of new connections before a time."""
    numbers = np.arange(len(connections))
    long = numbers[connections["long"]]
    short = numbers[~connections["long"]]
    closed = long[connections["end"][long] < end]
    changed = numbers[connections["changed"]]
    middle = (connections["start"][changed] + connections["end"][changed]) // 2
    index = np.concatenate([short, long, changed, closed])
    event = np.repeat([SHORT, STARTED, CHANGED, ENDED], [len(short), len(long), len(changed), len(closed)])
    starts, ends = connections["start"][long], connections["end"]
    written = np.concatenate([ends[short], starts, middle, ends[closed]])
    return Events(connections[index], event, written.astype(np.int64))


TRIPLETS, LEVEL_3_2_TRIPLETS = 7, 8


@dataclass(frozen=True)
class ZertDetail:
    """Generates zERT connection detail records."""

    context: RecordContext
    _known_names: dict[tuple[int, bool], SectionRows] = field(default_factory=dict)

    def make(self, events: Events) -> SmfBatch:
        """Generate one record for each event."""
        batch = SmfBatch()
        if not len(events.event):
            return batch
        connections, systems = events.connections, events.connections["system"]
        heads = self.context.headers(119, 11, systems, events.written, "TCP")
        ident, common = self._identification[systems], self._common(events)
        protection, profiles = events.protection(self.context.site), self._profiles(connections)
        tls = self._tls(connections, profiles)
        failed = connections["handshake"] == FAILED
        newest = self.context.newest[systems] & self.context.recipe.tls13
        named = np.where((protection == TLS) & ~failed, self._named[profiles], -1)

        def sections(rows: Numbers) -> list[SectionRows]:
            first = rows[0]
            parts = [
                SectionRows(self._section("identification"), ident[rows], ident.shape[1]),
                SectionRows(self._section("common"), common[rows], common.shape[1]),
            ]
            if protection[first] == TLS:
                length = tls.shape[1] - (0 if newest[first] else self.context.site.unpublished_tls_bytes)
                parts.append(SectionRows(self._section("tls"), tls[rows, :length], length))
            if named[first] >= 0:
                parts.append(self._names(int(named[first]), block=bool(newest[first])))
            return parts + self._others.get(int(protection[first]), [])

        def triplets(rows: Numbers) -> int:
            return LEVEL_3_2_TRIPLETS if newest[rows[0]] else TRIPLETS

        shapes = (named * 256 + protection) * 2 + newest
        self._assembler.add_alike(batch, shapes, heads, sections, systems, events.written, triplets)
        _count(batch, events, self.context.site)
        return batch

    @cached_property
    def _assembler(self) -> RecordAssembler:
        return RecordAssembler(self.context, catalog().records[119, 11], TRIPLETS)

    @cached_property
    def _identification(self) -> ByteRows:
        return self.context.identification("STACK")

    def _section(self, key: str) -> Section:
        return self._assembler.layout.section(key)

    # --- the common section --------------------------------------------------------------------------------

    @cached_property
    def _owners(self) -> ByteRows:
        """The common section of each application, without what changes from connection to connection."""
        section, owners = self._section("common"), self.context.site.applications
        numbers, count = np.arange(len(owners)), len(owners)
        secured = self.context.site.protection == IPSEC
        columns = {
            "ip_security_flags": pa.array(np.where(secured, 0xA0, 0).astype(np.uint8)),
            "ip_protocol": pa.array(np.full(count, 6, np.uint8)),
            "job_name": pick([app.job for app in owners], numbers),
            "job_id": pick([f"STC{7_000 + number:05}" for number in numbers], numbers),
            "user_id": pick([app.user for app in owners], numbers),
        }
        return encode_section(section, columns, count, self.context.length(section))

    @cached_property
    def _addresses(self) -> tuple[ByteRows, ByteRows]:
        site = self.context.site
        return (
            addresses(site.partner_addresses, Format.IP_FIRST4),
            addresses(site.local_addresses, Format.IP_FIRST4),
        )

    def _common(self, events: Events) -> ByteRows:
        connections, systems = events.connections, events.connections["system"].astype(np.int64)
        section = self._section("common")
        rows: ByteRows = self._owners[connections["application"]]
        site = self.context.site
        v6 = site.partner_is_v6[connections["partner"]]
        newest = self.context.newest[systems] & self.context.recipe.tls13
        side = np.where(site.calls_out[connections["application"]], 0x08, 0x10)
        columns = common_columns(connections, site)
        for name in ("in_bytes", "out_bytes", "in_segments", "out_segments"):
            so_far = columns[name] // np.where(events.event == STARTED, 20, 3).astype(np.uint64)
            columns[name] = np.where(events.ended, columns[name], so_far)
        columns |= {
            "event_type": events.event.astype(np.uint8),
            "connection_flags": (v6 * 0x80 + newest * side).astype(np.uint8),
            "security_protocols_flags": events.protection(site).astype(np.uint8),
        }
        arrays = {name: pa.array(values) for name, values in columns.items()}
        arrays["start_utc"] = utc(connections["start"].astype(np.int64))
        arrays["end_utc"] = utc(connections["end"].astype(np.int64), ~events.ended)
        write_fields(rows, section, arrays)
        partners, locals_ = self._addresses
        remote_ip, local_ip = section.field("SMF119SC_SARIP"), section.field("SMF119SC_SALIP")
        rows[:, remote_ip.offset : remote_ip.end] = partners[connections["partner"]]
        rows[:, local_ip.offset : local_ip.end] = locals_[site.local_rows(connections)]
        return rows

    # --- TLS -----------------------------------------------------------------------------------------------

    @property
    def _sizes(self) -> tuple[int, int, int]:
        """Numbers of applications, suites (the last one for a failed handshake) and client
        certificates.
        """
        site = self.context.site
        return len(site.applications), len(site.known_suites) + 1, CLIENT_CERTIFICATES + 1

    @cached_property
    def _named(self) -> Numbers:
        """For each profile, the number of its set of names, which depend on the certificates only."""
        apps, _, clients = self._sizes
        named = np.arange(apps)[:, None, None] * clients + np.arange(clients)
        return np.broadcast_to(named, self._sizes).ravel()

    def _profiles(self, connections: Connections) -> Numbers:
        no_suite = self._sizes[1] - 1
        suite = np.where(connections["handshake"] == FAILED, no_suite, connections["suite"])
        parts = (connections["application"], suite, connections["client_certificate"])
        profiles: Numbers = np.ravel_multi_index(tuple(part.astype(np.int64) for part in parts), self._sizes)
        return profiles

    @cached_property
    def _tls_profiles(self) -> ByteRows:
        """The TLS section of every combination of application, suite and client certificate."""
        section = self._section("tls")
        app, suite, client = (axis.ravel() for axis in np.indices(self._sizes))
        site = self.context.site
        owners, suites, certificates = site.applications, site.known_suites, site.certificates
        failed = suite == len(suites)
        servers = [None if f else certificates[a] for a, f in zip(app, failed, strict=True)]
        clients = [
            certificates[len(owners) + c - 1] if c and not f else None
            for c, f in zip(client, failed, strict=True)
        ]
        versions = np.array([*(s.version for s in suites), 0], np.uint16)[suite]
        algorithms = np.array([*(s.algorithms for s in suites), (0, 0, 0)], np.uint16)[suite]
        observed = np.array([a.provider == "Observation" for a in owners])[app]
        fips = np.array([a.fips_mode for a in owners], np.uint8)[app]
        columns = {
            "tls_version": pa.array(versions),
            "tls_source": pa.array(np.where(observed, 1, 2).astype(np.uint8)),
            "handshake_role": pa.array(np.where(failed, 0, site.roles[app]).astype(np.uint8)),
            "tls_provider": pick([a.provider for a in owners], app),
            "cipher": pick([*(s.code for s in suites), UNKNOWN_CIPHER], suite),
            "enc_alg": pa.array(algorithms[:, 0]),
            "msg_auth": pa.array(algorithms[:, 1]),
            "kex_alg": pa.array(algorithms[:, 2]),
            "fips_mode": pa.array(np.where(failed, 0, fips).astype(np.uint8)),
            **certificate_columns("server_cert", servers),
            **certificate_columns("client_cert", clients),
        }
        return encode_section(
            section, columns, len(app), self.context.length(section) + site.unpublished_tls_bytes
        )

    def _tls(self, connections: Connections, profiles: Numbers) -> ByteRows:
        section = self._section("tls")
        rows = self._tls_profiles[profiles]
        session = section.field("SMF119SC_TLS_Session_ID")
        rows[:, session.offset : session.end] = connections["session"]
        columns = {
            "handshake_type": pa.array(np.ascontiguousarray(connections["handshake"])),
            "session_id_length": pa.array(np.ascontiguousarray(connections["session_length"])),
        }
        write_fields(rows, section, columns)
        return rows

    def _names(self, named: int, *, block: bool) -> SectionRows:
        if (named, block) not in self._known_names:
            app, client = divmod(named, CLIENT_CERTIFICATES + 1)
            certificates = self.context.site.certificates
            partner = certificates[len(self.context.site.applications) + client - 1] if client else None
            names = names_section(self._section("dn"), certificates[app], partner, block=block)
            self._known_names[named, block] = names
        return self._known_names[named, block]

    @cached_property
    def _others(self) -> dict[int, list[SectionRows]]:
        """The sections of connections that SSH or IPsec protects."""
        certificates = self.context.site.certificates
        tunnel = {
            **one_row(self._section("ipsec"), IPSEC_TUNNEL),
            **certificate_columns("local_cert", [certificates[0]]),
            **certificate_columns("remote_cert", [certificates[-1]]),
        }
        ssh, rules = (
            one_row(self._section(key), values)
            for key, values in (("ssh", SSH_SESSION), ("ip_filter", IP_FILTER_RULES))
        )
        parts = {SSH: {"ssh": ssh}, IPSEC: {"ip_filter": rules, "ipsec": tunnel}}
        return {
            bit: [self._single(key, columns) for key, columns in part.items()] for bit, part in parts.items()
        }

    def _single(self, key: str, columns: dict[str, pa.Array]) -> SectionRows:
        section = self._section(key)
        length = self.context.length(section)
        return SectionRows(section, encode_section(section, columns, 1, length), length)


def _count(batch: SmfBatch, events: Events, site: Site) -> None:
    """Add the expected counts of these events."""
    expected, protection = batch.expected, events.protection(site)
    expected.tables["smf119_zert_detail"] += len(protection)
    expected.tables["smf119_zert_ssh"] += int((protection == SSH).sum())
    expected.tables["smf119_zert_ipsec"] += int((protection == IPSEC).sum())
    tls = events.connections[protection == TLS]
    failed = tls["handshake"] == FAILED
    good = tls[~failed]
    expected.tables["smf119_zert_dn"] += 2 * len(good) + 2 * int((good["client_certificate"] > 0).sum())
    for number, suite in enumerate(site.known_suites):
        count = int((good["suite"] == number).sum())
        expected.tls_versions[VERSION_NAMES[suite.version]] += count
        expected.ciphers[suite.code] += count
    full = int((good["handshake"] == FULL).sum())
    expected.handshakes.update(full=full, abbreviated=len(good) - full, failed=int(failed.sum()))
    expected.tls_versions["unknown"] += int(failed.sum())
    expected.ciphers[UNKNOWN_CIPHER] += int(failed.sum())
