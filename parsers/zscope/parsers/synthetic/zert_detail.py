"""zERT connection detail records (subtype 11): events of connections, and what protects them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from zscope.parsers.smf.write import SectionRows, encode_section, write_fields
from zscope.parsers.synthetic.batch import Batch, Numbers, RecordMaker, Scene, pick, utc
from zscope.parsers.synthetic.cast import CLIENT_CERTIFICATES, IPSEC, SSH, TLS, addresses
from zscope.parsers.synthetic.connections import FAILED, FULL, Connections, columns_of
from zscope.parsers.synthetic.events import STARTED, Events
from zscope.parsers.synthetic.zert_sections import (
    IP_FILTER_RULES,
    IPSEC_TUNNEL,
    SSH_SESSION,
    UNKNOWN_CIPHER,
    VERSION_NAMES,
    certificate_columns,
    names_section,
    one_row,
)
from zscope.schemas import Format, catalog

if TYPE_CHECKING:
    from zscope.parsers.smf.codecs.raw import ByteRows
    from zscope.parsers.synthetic.cast import Cast
    from zscope.schemas import Section

TRIPLETS, LEVEL_3_2_TRIPLETS = 7, 8


@dataclass(frozen=True)
class ZertDetail:
    """Makes zERT connection detail records."""

    scene: Scene
    _known_names: dict[tuple[int, bool], SectionRows] = field(default_factory=dict)

    def make(self, events: Events) -> Batch:
        """One record for each event."""
        batch = Batch()
        if not len(events.event):
            return batch
        connections, systems = events.connections, events.connections["system"]
        heads = self.scene.headers(119, 11, systems, events.written, "TCP")
        ident, common = self._identification[systems], self._common(events)
        protection, profiles = events.protection(self.scene.cast), self._profiles(connections)
        tls = self._tls(connections, profiles)
        failed = connections["handshake"] == FAILED
        newest = self.scene.newest[systems] & self.scene.recipe.tls13
        named = np.where((protection == TLS) & ~failed, self._named[profiles], -1)

        def sections(rows: Numbers) -> list[SectionRows]:
            first = rows[0]
            parts = [
                SectionRows(self._section("identification"), ident[rows], ident.shape[1]),
                SectionRows(self._section("common"), common[rows], common.shape[1]),
            ]
            if protection[first] == TLS:
                length = tls.shape[1] - (0 if newest[first] else self.scene.cast.unpublished_tls_bytes)
                parts.append(SectionRows(self._section("tls"), tls[rows, :length], length))
            if named[first] >= 0:
                parts.append(self._names(int(named[first]), block=bool(newest[first])))
            return parts + self._others.get(int(protection[first]), [])

        def triplets(rows: Numbers) -> int:
            return LEVEL_3_2_TRIPLETS if newest[rows[0]] else TRIPLETS

        shapes = (named * 256 + protection) * 2 + newest
        self._maker.alike(batch, shapes, heads, sections, systems, events.written, triplets)
        _count(batch, events, self.scene.cast)
        return batch

    @cached_property
    def _maker(self) -> RecordMaker:
        return RecordMaker(self.scene, catalog().records[119, 11], TRIPLETS)

    @cached_property
    def _identification(self) -> ByteRows:
        return self.scene.identification("STACK")

    def _section(self, key: str) -> Section:
        return self._maker.layout.section(key)

    # --- the common section --------------------------------------------------------------------------------

    @cached_property
    def _owners(self) -> ByteRows:
        """What does not change from connection to connection: the common section of each application."""
        section, owners = self._section("common"), self.scene.cast.applications
        everyone, count = np.arange(len(owners)), len(owners)
        secured = self.scene.cast.protection == IPSEC
        columns = {
            "ip_security_flags": pa.array(np.where(secured, 0xA0, 0).astype(np.uint8)),
            "ip_protocol": pa.array(np.full(count, 6, np.uint8)),
            "job_name": pick([app.job for app in owners], everyone),
            "job_id": pick([f"STC{7_000 + number:05}" for number in everyone], everyone),
            "user_id": pick([app.user for app in owners], everyone),
        }
        return encode_section(section, columns, count, self.scene.length(section))

    @cached_property
    def _addresses(self) -> tuple[ByteRows, ByteRows]:
        cast = self.scene.cast
        return (
            addresses(cast.partner_addresses, Format.IP_FIRST4),
            addresses(cast.local_addresses, Format.IP_FIRST4),
        )

    def _common(self, events: Events) -> ByteRows:
        connections, systems = events.connections, events.connections["system"].astype(np.int64)
        section = self._section("common")
        rows: ByteRows = self._owners[connections["application"]]
        cast = self.scene.cast
        v6 = cast.partner_is_v6[connections["partner"]]
        newest = self.scene.newest[systems] & self.scene.recipe.tls13
        side = np.where(cast.calls_out[connections["application"]], 0x08, 0x10)
        columns = columns_of(connections, cast)
        for name in ("in_bytes", "out_bytes", "in_segments", "out_segments"):
            so_far = columns[name] // np.where(events.event == STARTED, 20, 3).astype(np.uint64)
            columns[name] = np.where(events.ended, columns[name], so_far)
        columns |= {
            "event_type": events.event.astype(np.uint8),
            "connection_flags": (v6 * 0x80 + newest * side).astype(np.uint8),
            "security_protocols_flags": events.protection(cast).astype(np.uint8),
        }
        arrays = {name: pa.array(values) for name, values in columns.items()}
        arrays["start_utc"] = utc(connections["start"].astype(np.int64))
        arrays["end_utc"] = utc(connections["end"].astype(np.int64), ~events.ended)
        write_fields(rows, section, arrays)
        partners, ours = self._addresses
        remote, here = section.field("SMF119SC_SARIP"), section.field("SMF119SC_SALIP")
        rows[:, remote.offset : remote.end] = partners[connections["partner"]]
        rows[:, here.offset : here.end] = ours[cast.local_rows(connections)]
        return rows

    # --- TLS -----------------------------------------------------------------------------------------------

    @property
    def _sizes(self) -> tuple[int, int, int]:
        """How many applications, suites (the last one stands for a failed handshake), client certificates."""
        cast = self.scene.cast
        return len(cast.applications), len(cast.known_suites) + 1, CLIENT_CERTIFICATES + 1

    @cached_property
    def _named(self) -> Numbers:
        """Which set of names goes with each profile: they depend on the certificates only."""
        apps, _, clients = self._sizes
        named = np.arange(apps)[:, None, None] * clients + np.arange(clients)
        return np.broadcast_to(named, self._sizes).ravel()

    def _profiles(self, connections: Connections) -> Numbers:
        nothing = self._sizes[1] - 1
        suite = np.where(connections["handshake"] == FAILED, nothing, connections["suite"])
        parts = (connections["application"], suite, connections["client_certificate"])
        profiles: Numbers = np.ravel_multi_index(tuple(part.astype(np.int64) for part in parts), self._sizes)
        return profiles

    @cached_property
    def _tls_profiles(self) -> ByteRows:
        """The TLS section of every combination of application, suite and client certificate."""
        section = self._section("tls")
        app, suite, client = (axis.ravel() for axis in np.indices(self._sizes))
        cast = self.scene.cast
        owners, suites, certificates = cast.applications, cast.known_suites, cast.certificates
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
            "handshake_role": pa.array(np.where(failed, 0, cast.roles[app]).astype(np.uint8)),
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
            section, columns, len(app), self.scene.length(section) + cast.unpublished_tls_bytes
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
            certificates = self.scene.cast.certificates
            partner = certificates[len(self.scene.cast.applications) + client - 1] if client else None
            names = names_section(self._section("dn"), certificates[app], partner, block=block)
            self._known_names[named, block] = names
        return self._known_names[named, block]

    @cached_property
    def _others(self) -> dict[int, list[SectionRows]]:
        """The sections of connections that something else than TLS protects."""
        certificates = self.scene.cast.certificates
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
        length = self.scene.length(section)
        return SectionRows(section, encode_section(section, columns, 1, length), length)


def _count(batch: Batch, events: Events, cast: Cast) -> None:
    """The known answers of these events."""
    tally, protection = batch.tally, events.protection(cast)
    tally.tables["smf119_zert_detail"] += len(protection)
    tally.tables["smf119_zert_ssh"] += int((protection == SSH).sum())
    tally.tables["smf119_zert_ipsec"] += int((protection == IPSEC).sum())
    tls = events.connections[protection == TLS]
    failed = tls["handshake"] == FAILED
    good = tls[~failed]
    tally.tables["smf119_zert_dn"] += 2 * len(good) + 2 * int((good["client_certificate"] > 0).sum())
    for number, suite in enumerate(cast.known_suites):
        count = int((good["suite"] == number).sum())
        tally.tls_versions[VERSION_NAMES[suite.version]] += count
        tally.ciphers[suite.code] += count
    full = int((good["handshake"] == FULL).sum())
    tally.handshakes.update(full=full, abbreviated=len(good) - full, failed=int(failed.sum()))
    tally.tls_versions["unknown"] += int(failed.sum())
    tally.ciphers[UNKNOWN_CIPHER] += int(failed.sum())
