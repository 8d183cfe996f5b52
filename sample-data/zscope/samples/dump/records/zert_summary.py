"""zERT summary records (type 119 subtype 12): security sessions and their counters."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zscope.parsers.smf.record_writer import SectionRows, encode_section, write_fields
from zscope.samples.dump.arrays import Numbers, pick, pick_few
from zscope.samples.dump.assemble import RecordAssembler, SmfBatch
from zscope.samples.dump.records.rmf_machine import ConnectionCpuTime
from zscope.samples.dump.records.zert_sections import (
    IPSEC_TUNNEL,
    SSH_SESSION,
    certificate_columns,
    names_section,
    one_row,
)
from zscope.samples.dump.site import (
    APPLICATIONS,
    CLIENT_CERTIFICATES,
    FIRST_PARTNERS,
    PARTNERS,
    SERVER_WITH_CLIENT_AUTH,
    SUITES,
    TLS,
    Application,
)
from zscope.schemas import catalog

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zscope.parsers.smf.codecs.base import ByteRows
    from zscope.samples.dump.context import RecordContext
    from zscope.samples.dump.recipe import Recipe
    from zscope.schemas import Section


INTERVAL = 1
_LETTERS = {"tls": "T", "ssh": "S", "ipsec": "I", "": "N"}


def of_layout(key: str) -> Section:
    """Return a section of the summary record."""
    return catalog().records[119, 12].section(key)


def length_at(context: RecordContext, section: Section, *, newest: bool) -> int:
    """Return the length of a section at the level of a system."""
    lengths = dict(section.lengths or {})
    return context.length(section, lengths.get("3.2" if newest else "V2R3", section.known_length))


@dataclass(frozen=True)
class SecuritySessions:
    """The security sessions of all systems, and their properties that do not change between intervals."""

    context: RecordContext
    each: int
    """Number of sessions of each system."""
    _names: dict[int, SectionRows] = field(default_factory=dict)
    """Names sections by shape."""

    def __len__(self) -> int:
        return self.each * len(self.context.names)

    def application(self, session: int) -> Application:
        """Return the application of a session."""
        return self.context.site.applications[int(self.applications[session])]

    def name_count(self, session: int) -> int:
        """Return the number of distinguished names in the records of a session."""
        if self.application(session).protection != "tls":
            return 0
        return 4 if self.clients[session] else 2

    @cached_property
    def systems(self) -> Numbers:
        """For each session, its system."""
        return np.arange(len(self)) // max(1, self.each)

    @cached_property
    def applications(self) -> Numbers:
        """For each session, its application; every application occurs before one occurs twice."""
        return np.arange(len(self)) % max(1, self.each) % len(APPLICATIONS)

    @cached_property
    def newest(self) -> NDArray[np.bool_]:
        """For each session, whether its records are of level 3.2."""
        newest: NDArray[np.bool_] = self.context.newest[self.systems]
        return newest

    @cached_property
    def bits(self) -> Numbers:
        """For each session, the bits of the protocol that protects it."""
        return self.context.site.protection[self.applications].astype(np.int64)

    @cached_property
    def rates(self) -> NDArray[np.float64]:
        """For each session, the expected connections in an interval."""
        weights = np.array([app.weight for app in APPLICATIONS])[self.applications]
        rates: NDArray[np.float64] = weights * self.context.random(12_000).uniform(0.5, 3, len(self))
        return rates

    @cached_property
    def suites(self) -> Numbers:
        """For each session, its cipher suite."""
        rng, suites = self.context.random(12_001), np.zeros(len(self), np.int64)
        elliptic = np.array([app.elliptic for app in APPLICATIONS])[self.applications]
        for system, (rsa, ec) in enumerate(self.context.site.suites):
            for weights, which in ((rsa, False), (ec, True)):
                rows = np.flatnonzero((self.systems == system) & (elliptic == which))
                suites[rows] = rng.choice(len(SUITES), len(rows), p=weights)
        return suites

    @cached_property
    def clients(self) -> Numbers:
        """For each session, its client certificate; 0 for none."""
        certified = np.array([app.role == SERVER_WITH_CLIENT_AUTH for app in APPLICATIONS])[self.applications]
        return np.where(certified, 1 + np.arange(len(self)) % CLIENT_CERTIFICATES, 0)

    @cached_property
    def partners(self) -> Numbers:
        """For each session, its partner."""
        return FIRST_PARTNERS + self.context.random(12_002).integers(0, PARTNERS - FIRST_PARTNERS, len(self))

    @cached_property
    def local_rows(self) -> Numbers:
        """For each session, the index of its local address."""
        rows: Numbers = 2 * self.systems + self.context.site.partner_is_v6[self.partners]
        return rows

    @cached_property
    def shapes(self) -> Numbers:
        """For each session, its shape: records of the same shape have the same sections, names and level."""
        return (self.applications * (CLIENT_CERTIFICATES + 1) + self.clients) * 2 + self.newest

    # --- sections ------------------------------------------------------------------------------------------

    def protection(self, rows: Numbers) -> list[SectionRows]:
        """Encode the sections that describe the protection of sessions of one shape."""
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
            certificates = self.context.site.certificates
            values |= certificate_columns("local_cert", [certificates[0]])
            values |= certificate_columns("remote_cert", [certificates[-1]])
        length = length_at(self.context, section, newest=newest)
        return [SectionRows(section, encode_section(section, values, 1, length), length)]

    def _names_of(self, session: int) -> SectionRows:
        certificates, client = self.context.site.certificates, int(self.clients[session])
        partner = certificates[len(self.context.site.applications) + client - 1] if client else None
        server = certificates[self.applications[session]]
        return names_section(of_layout("dn"), server, partner, block=bool(self.newest[session]))

    @cached_property
    def common(self) -> dict[bool, ByteRows]:
        """The common sections without counters, at both levels."""
        section, count, site = of_layout("common"), len(self), self.context.site
        owners, v6 = site.applications, site.partner_is_v6[self.partners]
        outward, ports = site.calls_out[self.applications], site.ports[self.applications]
        partner_ip = pick_few(site.partner_addresses, self.partners).cast(pa.string())
        local_ip = pick(site.local_addresses, self.local_rows).cast(pa.string())
        values = self.context.random(12_003).integers(0, 256, (count, 20), np.uint8)
        letters = [_LETTERS[owners[a].protection] for a in self.applications.tolist()]
        ids = [f"{letter}-{row.tobytes().hex().upper()}" for letter, row in zip(letters, values, strict=True)]
        columns = {
            "summary_event_type": pa.array(np.full(count, INTERVAL, np.uint8)),
            "session_flags": pa.array((v6 * 0x80 + np.where(outward, 0x20, 0x40)).astype(np.uint8)),
            "security_protocols_flags": pa.array(self.bits.astype(np.uint8)),
            "job_name": pick([app.job for app in owners], self.applications),
            "user_id": pick([app.user for app in owners], self.applications),
            "ip_protocol": pa.array(np.full(count, 6, np.uint8)),
            "server_ip": pc.if_else(pa.array(outward), partner_ip, local_ip),
            "client_ip": pc.if_else(pa.array(outward), local_ip, partner_ip),
            "server_port_first": pa.array(ports),
            "server_port_last": pa.array(ports),
            "security_session_id": pa.array(ids),
        }
        return self._both_levels(section, columns)

    @cached_property
    def _tls(self) -> dict[bool, ByteRows]:
        site, count = self.context.site, len(self)
        certificates, suites, first_client = site.certificates, site.known_suites, len(site.applications)
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
            newest: encode_section(
                section, columns, len(self), length_at(self.context, section, newest=newest)
            )
            for newest in (False, True)
        }


TRIPLETS = 6
ENABLED = 2
FEWEST_SESSIONS, MOST_SESSIONS = 12, 2_000
FEWEST_INTERVALS = 4
ACTIVE = "active_conn_count"
FOUR_BYTES = ("conn_count", "partial_conn_count", "short_conn_count", "failed_handshake_count", ACTIVE)
EIGHT_BYTES = ("in_bytes", "out_bytes", "in_segments", "out_segments")


@dataclass(frozen=True, slots=True)
class SummaryPlan:
    """Distribution of summary records over the time span of a dump."""

    records: int
    sessions: int
    """Security sessions of each system."""
    first_us: int
    """Start of the first interval."""
    length_us: int
    """Length of an interval: that of RMF, several of them, or a part of one."""

    @staticmethod
    def of(records: int, recipe: Recipe) -> SummaryPlan:
        """Plan as many sessions as necessary, and longer intervals if there are few records."""
        systems, work = len(recipe.systems), ConnectionCpuTime(recipe)
        first, length, intervals = work.first_us, recipe.interval_us, work.count
        if not intervals:
            first, length, intervals = recipe.start_us, recipe.end_us - recipe.start_us, 1
        sessions = records // (systems * intervals)
        if sessions < FEWEST_SESSIONS:
            sessions = max(1, min(FEWEST_SESSIONS, records // (systems * FEWEST_INTERVALS)))
        sessions = min(sessions, MOST_SESSIONS)
        # One more record of each system reports that zERT aggregation was switched on.
        needed = max(1, -(-max(0, records - systems) // (systems * sessions)))
        length = length * (intervals // needed) if needed <= intervals else length // -(-needed // intervals)
        return SummaryPlan(records, sessions, first, length)


@dataclass
class ZertSummary:
    """Generates the records interval by interval and keeps the counters of every session."""

    context: RecordContext
    plan: SummaryPlan
    _done: int = 0
    """Number of intervals written."""
    _left: int = -1
    """Number of records still to write; -1 before the first."""
    _counters: dict[str, Numbers] = field(default_factory=dict)

    def until(self, time: int, *, last: bool) -> SmfBatch:
        """Generate all records of intervals that end before a time, or all remaining records."""
        batch = SmfBatch()
        if self._left < 0:
            self._left = self.plan.records
            self._counters = self._nothing()
            systems = range(min(self._left, len(self.context.names)))
            for system in systems:
                self._enabled(batch, system)
            self._left -= len(systems)
        while self._left > 0 and (last or self._end(self._done) < time):
            self._interval(batch)
        return batch

    @cached_property
    def _sessions(self) -> SecuritySessions:
        return SecuritySessions(self.context, self.plan.sessions)

    @cached_property
    def _assembler(self) -> RecordAssembler:
        return RecordAssembler(self.context, catalog().records[119, 12], TRIPLETS)

    @cached_property
    def _identification(self) -> ByteRows:
        return self.context.identification("STACK")

    def _end(self, interval: int) -> int:
        """Return the end of an interval."""
        return self.plan.first_us + self.plan.length_us * (interval + 1)

    def _nothing(self) -> dict[str, Numbers]:
        """Return counters of zero."""
        return {name: np.zeros(len(self._sessions), np.int64) for name in (*FOUR_BYTES, *EIGHT_BYTES)}

    def _enabled(self, batch: SmfBatch, system: int) -> None:
        """Add the first record of a system, which only reports that zERT aggregation is on."""
        section = of_layout("common")
        length = length_at(self.context, section, newest=bool(self.context.newest[system]))
        columns = one_row(section, {"summary_event_type": ENABLED})
        common = SectionRows(section, encode_section(section, columns, 1, length), length)
        self._put(batch, np.array([system]), [common], self.context.recipe.start_us)

    def _interval(self, batch: SmfBatch) -> None:
        """Add the records of all sessions for one interval, or the remaining number of records."""
        before = self._counters
        self._advance()
        rows = np.arange(min(self._left, len(self._sessions)))
        common = {newest: self._common(before, newest=newest) for newest in (False, True)}
        self._write(batch, common, rows)
        self._done += 1
        self._left -= len(rows)

    def _write(self, batch: SmfBatch, common: dict[bool, ByteRows], rows: Numbers) -> None:
        """Add the records of some sessions, from the common sections of all sessions at both levels."""
        sessions = self._sessions
        for shape in np.unique(sessions.shapes[rows]):
            alike = rows[sessions.shapes[rows] == shape]
            rows_of_level = common[bool(sessions.newest[alike[0]])][alike]
            section = SectionRows(of_layout("common"), rows_of_level, rows_of_level.shape[1])
            parts = [section, *sessions.protection(alike)]
            self._put(batch, sessions.systems[alike], parts, self._end(self._done))
            first = int(alike[0])
            tables, protection = batch.expected.tables, sessions.application(first).protection
            tables["smf119_zert_summary_dn"] += len(alike) * sessions.name_count(first)
            for other in ("ssh", "ipsec"):
                tables[f"smf119_zert_summary_{other}"] += len(alike) * (protection == other)

    def _put(self, batch: SmfBatch, systems: Numbers, parts: list[SectionRows], time: int) -> None:
        """Add records of the same shape."""
        written = np.full(len(systems), time, np.int64)
        ident = self._identification[systems]
        named = SectionRows(of_layout("identification"), ident, ident.shape[1])
        heads = self.context.headers(119, 12, systems, written, "TCP")
        self._assembler.add_alike(
            batch, np.zeros(len(systems)), heads, lambda _: [named, *parts], systems, written
        )
        batch.expected.tables["smf119_zert_summary"] += len(systems)

    def _advance(self) -> None:
        """Advance the counters by one interval."""
        sessions, before = self._sessions, self._counters
        rng = self.context.random(12, self._done)
        new = rng.poisson(sessions.rates)
        size = np.array([app.kilobytes for app in APPLICATIONS])[sessions.applications] * 1_000
        total = (new * size * rng.uniform(0.7, 1.4, len(new))).astype(np.int64)
        failed = np.where(sessions.newest & (sessions.bits == TLS), rng.binomial(new, 0.01), 0)
        step = {
            "conn_count": new,
            "partial_conn_count": rng.binomial(new, 0.02),
            "short_conn_count": rng.binomial(new - failed, 0.75) + failed,
            "failed_handshake_count": failed,
            "in_bytes": total // 5,
            "out_bytes": total - total // 5,
            "in_segments": new * 4 + total // 7_000,
            "out_segments": new * 4 + total // 1_750,
        }
        self._counters = {name: before[name] + added for name, added in step.items()}
        self._counters[ACTIVE] = self._counters["conn_count"] % 7

    def _common(self, before: dict[str, Numbers], *, newest: bool) -> ByteRows:
        """Return the common sections of all sessions with the counters of the last interval."""
        rows = self._sessions.common[newest].copy()
        columns: dict[str, pa.Array] = {"interval_us": pa.array([self.plan.length_us], pa.uint64())}
        for moment, counters in (("init", before), ("end", self._counters)):
            for names, size in ((FOUR_BYTES, np.uint32), (EIGHT_BYTES, np.uint64)):
                columns |= {f"{moment}_{name}": pa.array(counters[name].astype(size)) for name in names}
        write_fields(rows, of_layout("common"), columns)
        return rows
