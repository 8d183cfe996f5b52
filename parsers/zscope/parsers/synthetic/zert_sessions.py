"""The security sessions of zERT summary records: what stays the same from interval to interval."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zscope.parsers.smf.write import SectionRows, encode_section
from zscope.parsers.synthetic.batch import Numbers, Scene, pick, pick_few
from zscope.parsers.synthetic.cast import (
    APPLICATIONS,
    CLIENT_CERTIFICATES,
    FIRST_PARTNERS,
    PARTNERS,
    SERVER_WITH_CLIENT_AUTH,
    SUITES,
    Application,
)
from zscope.parsers.synthetic.zert_sections import (
    IPSEC_TUNNEL,
    SSH_SESSION,
    certificate_columns,
    names_section,
    one_row,
)
from zscope.schemas import catalog

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zscope.parsers.smf.codecs.raw import ByteRows
    from zscope.schemas import Section

INTERVAL = 1
_LETTERS = {"tls": "T", "ssh": "S", "ipsec": "I", "": "N"}


def of_layout(key: str) -> Section:
    """A section of the summary record."""
    return catalog().records[119, 12].section(key)


def length_at(scene: Scene, section: Section, *, newest: bool) -> int:
    """How long a system of a level writes this section."""
    lengths = dict(section.lengths or {})
    return scene.length(section, lengths.get("3.2" if newest else "V2R3", section.known_length))


@dataclass(frozen=True)
class SecuritySessions:
    """The sessions of all systems, each system with the same number of them."""

    scene: Scene
    each: int
    """How many each system has."""
    _names: dict[int, SectionRows] = field(default_factory=dict)
    """By shape."""

    def __len__(self) -> int:
        return self.each * len(self.scene.names)

    def application(self, session: int) -> Application:
        """Whose session it is."""
        return self.scene.cast.applications[int(self.applications[session])]

    def name_count(self, session: int) -> int:
        """How many distinguished names its records hold."""
        if self.application(session).protection != "tls":
            return 0
        return 4 if self.clients[session] else 2

    @cached_property
    def systems(self) -> Numbers:
        """Which system each session belongs to."""
        return np.arange(len(self)) // max(1, self.each)

    @cached_property
    def applications(self) -> Numbers:
        """Every application is there before one comes twice."""
        return np.arange(len(self)) % max(1, self.each) % len(APPLICATIONS)

    @cached_property
    def newest(self) -> NDArray[np.bool_]:
        """Which sessions have records of level 3.2."""
        newest: NDArray[np.bool_] = self.scene.newest[self.systems]
        return newest

    @cached_property
    def bits(self) -> Numbers:
        """What protects each session."""
        return self.scene.cast.protection[self.applications].astype(np.int64)

    @cached_property
    def rates(self) -> NDArray[np.float64]:
        """Connections to expect in an interval."""
        weights = np.array([app.weight for app in APPLICATIONS])[self.applications]
        rates: NDArray[np.float64] = weights * self.scene.random(12_000).uniform(0.5, 3, len(self))
        return rates

    @cached_property
    def suites(self) -> Numbers:
        """The cipher suite of each session."""
        rng, suites = self.scene.random(12_001), np.zeros(len(self), np.int64)
        elliptic = np.array([app.elliptic for app in APPLICATIONS])[self.applications]
        for system, (rsa, ec) in enumerate(self.scene.cast.suites):
            for weights, which in ((rsa, False), (ec, True)):
                rows = np.flatnonzero((self.systems == system) & (elliptic == which))
                suites[rows] = rng.choice(len(SUITES), len(rows), p=weights)
        return suites

    @cached_property
    def clients(self) -> Numbers:
        """Which client certificate each session has; 0 for none."""
        asked = np.array([app.role == SERVER_WITH_CLIENT_AUTH for app in APPLICATIONS])[self.applications]
        return np.where(asked, 1 + np.arange(len(self)) % CLIENT_CERTIFICATES, 0)

    @cached_property
    def partners(self) -> Numbers:
        """The partner of each session."""
        return FIRST_PARTNERS + self.scene.random(12_002).integers(0, PARTNERS - FIRST_PARTNERS, len(self))

    @cached_property
    def local_rows(self) -> Numbers:
        """Which of the local addresses each session has."""
        rows: Numbers = 2 * self.systems + self.scene.cast.partner_is_v6[self.partners]
        return rows

    @cached_property
    def shapes(self) -> Numbers:
        """Records of one shape have the same sections, names and level."""
        return (self.applications * (CLIENT_CERTIFICATES + 1) + self.clients) * 2 + self.newest

    # --- sections ------------------------------------------------------------------------------------------

    def protection(self, rows: Numbers) -> list[SectionRows]:
        """The sections that say how sessions of one shape are protected."""
        first = int(rows[0])
        kind, newest = self.application(first).protection, bool(self.newest[first])
        if not kind:
            return []
        section = of_layout(kind)
        if kind == "tls":
            tls = self._tls[newest][rows]
            shape = int(self.shapes[first])
            if shape not in self._names:
                self._names[shape] = self._names_of(first)
            return [SectionRows(section, tls, tls.shape[1]), self._names[shape]]
        values = one_row(section, SSH_SESSION if kind == "ssh" else IPSEC_TUNNEL)
        if kind == "ipsec":
            certificates = self.scene.cast.certificates
            values |= certificate_columns("local_cert", [certificates[0]])
            values |= certificate_columns("remote_cert", [certificates[-1]])
        length = length_at(self.scene, section, newest=newest)
        return [SectionRows(section, encode_section(section, values, 1, length), length)]

    def _names_of(self, session: int) -> SectionRows:
        certificates, client = self.scene.cast.certificates, int(self.clients[session])
        partner = certificates[len(self.scene.cast.applications) + client - 1] if client else None
        server = certificates[self.applications[session]]
        return names_section(of_layout("dn"), server, partner, block=bool(self.newest[session]))

    @cached_property
    def common(self) -> dict[bool, ByteRows]:
        """The common sections without counters, at both levels."""
        section, count, cast = of_layout("common"), len(self), self.scene.cast
        owners, v6 = cast.applications, cast.partner_is_v6[self.partners]
        outward, ports = cast.calls_out[self.applications], cast.ports[self.applications]
        theirs = pick_few(cast.partner_addresses, self.partners).cast(pa.string())
        ours = pick(cast.local_addresses, self.local_rows).cast(pa.string())
        values = self.scene.random(12_003).integers(0, 256, (count, 20), np.uint8)
        letters = [_LETTERS[owners[a].protection] for a in self.applications.tolist()]
        ids = [f"{letter}-{row.tobytes().hex().upper()}" for letter, row in zip(letters, values, strict=True)]
        columns = {
            "summary_event_type": pa.array(np.full(count, INTERVAL, np.uint8)),
            "session_flags": pa.array((v6 * 0x80 + np.where(outward, 0x20, 0x40)).astype(np.uint8)),
            "security_protocols_flags": pa.array(self.bits.astype(np.uint8)),
            "job_name": pick([app.job for app in owners], self.applications),
            "user_id": pick([app.user for app in owners], self.applications),
            "ip_protocol": pa.array(np.full(count, 6, np.uint8)),
            "server_ip": pc.if_else(pa.array(outward), theirs, ours),
            "client_ip": pc.if_else(pa.array(outward), ours, theirs),
            "server_port_first": pa.array(ports),
            "server_port_last": pa.array(ports),
            "security_session_id": pa.array(ids),
        }
        return self._both_levels(section, columns)

    @cached_property
    def _tls(self) -> dict[bool, ByteRows]:
        cast, count = self.scene.cast, len(self)
        certificates, suites, first_client = cast.certificates, cast.known_suites, len(cast.applications)
        servers = [certificates[app] for app in self.applications.tolist()]
        clients = [certificates[first_client + c - 1] if c else None for c in self.clients.tolist()]
        algorithms = np.array([suite.algorithms for suite in suites], np.uint16)[self.suites]
        columns = {
            "tls_source": pa.array(np.full(count, 2, np.uint8)),
            "tls_version": pa.array(np.array([s.version for s in suites], np.uint16)[self.suites]),
            "cipher": pick([suite.code for suite in suites], self.suites),
            "enc_alg": pa.array(algorithms[:, 0]),
            "msg_auth": pa.array(algorithms[:, 1]),
            "kex_alg": pa.array(algorithms[:, 2]),
            **certificate_columns("server_cert", list(servers)),
            **certificate_columns("client_cert", clients),
        }
        return self._both_levels(of_layout("tls"), columns)

    def _both_levels(self, section: Section, columns: dict[str, pa.Array]) -> dict[bool, ByteRows]:
        return {
            newest: encode_section(section, columns, len(self), length_at(self.scene, section, newest=newest))
            for newest in (False, True)
        }
