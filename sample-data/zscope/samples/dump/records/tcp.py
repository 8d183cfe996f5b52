"""TCP connection start and end records (type 119 subtypes 1 and 2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from zscope.parsers.smf.record_writer import SectionRows, encode_section, write_fields
from zscope.samples.dump.arrays import Choice, Connections, Numbers, local, pick, utc
from zscope.samples.dump.assemble import RecordAssembler, SmfBatch
from zscope.samples.dump.connections import FULL, RESUMED, common_columns
from zscope.samples.dump.site import SUITES, addresses
from zscope.schemas import Format, Section, catalog

if TYPE_CHECKING:
    from zscope.parsers.smf.codecs.base import ByteRows
    from zscope.samples.dump.context import RecordContext
    from zscope.samples.dump.site import Site

TELNET_PORT, FTP_PORT = 992, 21
UNPROTECTED, PROTECTED = 1, 3
NO_POLICY, ENABLED = 2, 4
CLOSED_NORMALLY = 0x52
"""Not documented; most real records contain this code."""
INIT_TRIPLETS, TERM_TRIPLETS = 2, 5
TWO_DIGITS = 16
"""Length of an AT-TLS section that only has room for two-digit suites."""
ELSEWHERE = "4X"
"""Value of the two-digit field if the suite is in the four-digit field."""
_TTLS_TYPES = np.array([0, 1, 2, 5], np.uint8)
"""By role: client, server, server that requires a client certificate."""
LU_NAMES = tuple(f"TCPS{number:04}" for number in range(200))
HOST_APPLICATIONS = ("TSO", "CICSPRD1", "IMSPRD1", "NETVIEW")
VERSION_CODES = {0x0301: "T1", 0x0302: "11", 0x0303: "12", 0x0304: "13"}


def secured_by_attls(connections: Connections, site: Site) -> Choice:
    """Return which connections have an AT-TLS section.

    Without the four-digit field, whose offset is not published, connections with four-digit suites count as
    protected by the application itself.
    """
    handshake = connections["handshake"]
    protected = (handshake == FULL) | (handshake == RESUMED)
    has_field = [site.writes_long_ciphers or suite.code.startswith("00") for suite in site.known_suites]
    secured: Choice = protected & np.array(has_field)[connections["suite"]]
    return secured


@dataclass(frozen=True)
class TcpRecords:
    """Generates the records of connections that start and end."""

    context: RecordContext

    def opened(self, connections: Connections) -> SmfBatch:
        """Generate one record for each connection, at its start."""
        batch, assembler = SmfBatch(), RecordAssembler(self.context, catalog().records[119, 1], INIT_TRIPLETS)
        if not len(connections):
            return batch
        systems, starts = connections["system"], connections["start"].astype(np.int64)
        section = assembler.layout.section("tcp_init")
        given = {
            "owner_tcb": pa.array(0x8E0000 + connections["application"].astype(np.uint32) * 0x110),
            "start_local": local(self.context.local_us(systems, starts)),
            "start_utc": utc(starts),
        }
        rows = self._section(section, connections, given, "SMF119AP_TI")
        self._finish(batch, assembler, [(section, rows, None)], connections, starts)
        batch.expected.tables["smf119_tcp_init"] += len(connections)
        return batch

    def closed(self, connections: Connections) -> SmfBatch:
        """Generate one record for each connection, at its end."""
        batch, assembler = SmfBatch(), RecordAssembler(self.context, catalog().records[119, 2], TERM_TRIPLETS)
        if not len(connections):
            return batch
        systems = connections["system"]
        starts, ends = (connections[name].astype(np.int64) for name in ("start", "end"))
        site = self.context.site
        secured = secured_by_attls(connections, site)
        section = assembler.layout.section("tcp_term")
        given = {
            "ttls_status": pa.array(np.where(secured, PROTECTED, UNPROTECTED).astype(np.uint8)),
            "ttls_policy_status": pa.array(np.where(secured, ENABLED, NO_POLICY).astype(np.uint8)),
            "termination_code": pa.array(np.full(len(starts), CLOSED_NORMALLY, np.uint8)),
            "owner_tcb": pa.array(0x8E0000 + connections["application"].astype(np.uint32) * 0x110),
            "start_local": local(self.context.local_us(systems, starts)),
            "end_local": local(self.context.local_us(systems, ends)),
            "send_window_bytes": pa.array(np.full(len(starts), 65_535, np.uint32)),
            "max_send_window_bytes": pa.array(np.full(len(starts), 131_070, np.uint32)),
            "congestion_window_bytes": pa.array(np.full(len(starts), 29_200, np.uint32)),
            "send_segment_bytes": pa.array(np.full(len(starts), 1_460, np.uint32)),
            "round_trip_ms": pa.array((connections["partner"] % 60).astype(np.uint32)),
            "round_trip_variance_ms": pa.array((connections["partner"] % 7).astype(np.uint32)),
            "open_type": pa.array(site.calls_out[connections["application"]].astype(np.uint8)),
            "retransmit_count": pa.array((connections["partner_port"] % 64 == 0).astype(np.uint16)),
            "start_utc": utc(starts),
            "end_utc": utc(ends),
        }
        rows = self._section(section, connections, given, "SMF119AP_TT")
        ports = site.ports[connections["application"]]
        telnet, ftp = ports == TELNET_PORT, ports == FTP_PORT
        parts = [
            (section, rows, None),
            (assembler.layout.section("telnet"), self._telnet(connections), telnet),
            (assembler.layout.section("attls"), self._attls(connections), secured),
            (assembler.layout.section("application_data"), self._application_data(connections), telnet | ftp),
        ]
        self._finish(batch, assembler, parts, connections, ends)
        batch.expected.tables["smf119_tcp_term"] += len(connections)
        return batch

    def _finish(
        self,
        batch: SmfBatch,
        assembler: RecordAssembler,
        parts: list[tuple[Section, ByteRows, Choice | None]],
        connections: Connections,
        written: Numbers,
    ) -> None:
        """Assemble records; a section with a mask is only in the records of the mask."""
        systems = connections["system"]
        ident = self._identification[systems]
        everywhere = [(assembler.layout.section("identification"), ident, None), *parts]
        shapes = np.zeros(len(connections), np.int64)
        for _, _, mask in parts:
            shapes = shapes * 2 + (0 if mask is None else mask)

        def sections(rows: Numbers) -> list[SectionRows]:
            return [
                SectionRows(section, data[rows], data.shape[1])
                for section, data, mask in everywhere
                if mask is None or mask[rows[0]]
            ]

        heads = self.context.headers(119, assembler.layout.subtype, systems, written, "TCP")
        assembler.add_alike(batch, shapes, heads, sections, systems, written)

    @cached_property
    def _identification(self) -> ByteRows:
        return self.context.identification("TCP")

    @cached_property
    def _addresses(self) -> tuple[ByteRows, ByteRows]:
        site = self.context.site
        return (
            addresses(site.partner_addresses, Format.IP_MAPPED),
            addresses(site.local_addresses, Format.IP_MAPPED),
        )

    def _section(
        self, section: Section, connections: Connections, given: dict[str, pa.Array], prefix: str
    ) -> ByteRows:
        """Encode the columns that both subtypes have, and the given ones."""
        site = self.context.site
        own = {
            name: pa.array(np.ascontiguousarray(v)) for name, v in common_columns(connections, site).items()
        }
        jobs = {"job_name": pick([app.job for app in site.applications], connections["application"])}
        known = {field.column for field in section.fields}
        columns = {name: column for name, column in (own | jobs | given).items() if name in known}
        rows = encode_section(section, columns, len(connections), self.context.length(section))
        partners, locals_ = self._addresses
        remote_ip, local_ip = section.field(f"{prefix}RIP"), section.field(f"{prefix}LIP")
        rows[:, remote_ip.offset : remote_ip.end] = partners[connections["partner"]]
        rows[:, local_ip.offset : local_ip.end] = locals_[site.local_rows(connections)]
        return rows

    def _telnet(self, connections: Connections) -> ByteRows:
        section, count = catalog().records[119, 2].section("telnet"), len(connections)
        partner = connections["partner"].astype(np.int64)
        columns = {
            "lu_name": pick(LU_NAMES, partner % len(LU_NAMES)),
            "host_application": pick(HOST_APPLICATIONS, partner % len(HOST_APPLICATIONS)),
            "logmode": pick(["SNX32702"], np.zeros(count)),
            "telnet_status_flags": pa.array(np.full(count, 0x80000004, np.uint32)),
        }
        return encode_section(section, columns, count, self.context.length(section))

    @cached_property
    def _suites(self) -> ByteRows:
        """The AT-TLS section of each suite."""
        section, suites = catalog().records[119, 2].section("attls"), self.context.site.known_suites
        numbers, length = np.arange(len(suites)), self.context.length(section)
        columns = {
            "tls_version": pa.array([suite.version for suite in suites], pa.uint16()),
            "cipher_2": pick([suite.code[2:] for suite in suites], numbers),
        }
        if self.context.site.writes_long_ciphers:
            short = [suite.code[2:] if suite.code.startswith("00") else ELSEWHERE for suite in suites]
            columns["cipher_2"] = pick(short, numbers)
            columns["cipher_4"] = pick([suite.code for suite in suites], numbers)
            length = max(length, TWO_DIGITS + 4)
        return encode_section(section, columns, len(suites), length)

    def _attls(self, connections: Connections) -> ByteRows:
        rows: ByteRows = self._suites[connections["suite"]]
        kinds = _TTLS_TYPES[self.context.site.roles[connections["application"]]]
        write_fields(
            rows, catalog().records[119, 2].section("attls"), {"ttls_security_type": pa.array(kinds)}
        )
        return rows

    def _application_data(self, connections: Connections) -> ByteRows:
        """Encode the data that Telnet and FTP servers attach to their connections."""
        section, count = catalog().records[119, 2].section("application_data"), len(connections)
        site = self.context.site
        telnet = site.ports[connections["application"]] == TELNET_PORT
        suite = np.where(secured_by_attls(connections, site), connections["suite"].astype(np.int64), -1)
        partner = np.where(telnet, connections["partner"].astype(np.int64), -1)
        distinct, which = np.unique(np.stack([partner, suite], axis=1), axis=0, return_inverse=True)
        texts = [_attached(*pair) for pair in distinct.tolist()]
        columns = {"application_data": pick(texts, which.reshape(-1))}
        return encode_section(section, columns, count, self.context.length(section))


def _attached(partner: int, suite: int) -> str:
    """Return the application data of the Telnet server, or for partner -1 of the FTP server."""
    tls = ""
    if suite >= 0:
        version, code = VERSION_CODES[SUITES[suite].version], SUITES[suite].code
        tls = f"T{version}{code[2:]} {code}"
    if partner < 0:
        return f"EZAFTP0S C FTPUSER   {'P' + tls if tls else 'C'}"
    lu, application = LU_NAMES[partner % len(LU_NAMES)], HOST_APPLICATIONS[partner % len(HOST_APPLICATIONS)]
    return f"EZBTNSRV {lu} {application:<8} ET {tls or 'B'}"
