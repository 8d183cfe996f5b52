"""TN3270E session records (type 119 subtypes 20 and 21)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from zscope.parsers.smf.record_writer import SectionRows, encode_section
from zscope.parsers.text.coding import code_page
from zscope.samples.dump.arrays import Numbers, local, pick, pick_few, same
from zscope.samples.dump.assemble import RecordAssembler, SmfBatch
from zscope.samples.dump.records.tcp import HOST_APPLICATIONS, LU_NAMES, TELNET_PORT
from zscope.samples.dump.site import FIRST_PARTNERS, PARTNERS
from zscope.schemas import catalog

if TYPE_CHECKING:
    from zscope.parsers.smf.codecs.base import ByteRows
    from zscope.samples.dump.context import RecordContext

INIT_TRIPLETS, TERM_TRIPLETS = 2, 5
MEAN_SESSION_US = 1_200_000_000
HOST_NAME = "term.example.com"


@dataclass(frozen=True, slots=True)
class _TelnetSessions:
    systems: Numbers
    partners: Numbers
    ports: Numbers
    draws: Numbers


@dataclass(frozen=True)
class TelnetRecords:
    """Generates the records of SNA sessions of the Telnet server."""

    context: RecordContext

    def make(self, rng: np.random.Generator, started: Numbers, ended: Numbers) -> SmfBatch:
        """Generate records of sessions that start and that end at these times; as far as possible the same
        sessions.
        """
        batch = SmfBatch()
        count = max(len(started), len(ended))
        sessions = _TelnetSessions(
            rng.integers(0, len(self.context.names), count),
            rng.integers(FIRST_PARTNERS, PARTNERS, count),
            rng.integers(1024, 65_000, count),
            rng.integers(0, 1_000, count),
        )
        lasted = 1_000_000 + rng.exponential(MEAN_SESSION_US, count).astype(np.int64)
        both = min(len(started), len(ended))
        first, last = np.sort(started), np.sort(ended)
        begins = last - lasted[: len(last)]
        begins[:both] = np.minimum(first[:both], last[:both])
        if len(first):
            self._started(batch, sessions, first)
        if len(last):
            self._ended(batch, sessions, begins, last)
        return batch

    def _started(self, batch: SmfBatch, sessions: _TelnetSessions, times: Numbers) -> None:
        assembler = RecordAssembler(self.context, catalog().records[119, 20], INIT_TRIPLETS)
        systems = sessions.systems[: len(times)]
        section = assembler.layout.section("session")
        columns = self._columns(sessions, times)
        rows = encode_section(section, columns, len(times), self.context.length(section))
        ident = self._identification[systems]

        def sections(chosen: Numbers) -> list[SectionRows]:
            return [
                SectionRows(assembler.layout.section("identification"), ident[chosen], ident.shape[1]),
                SectionRows(section, rows[chosen], rows.shape[1]),
            ]

        heads = self.context.headers(119, 20, systems, times, "TCP")
        assembler.add_alike(batch, np.zeros(len(times)), heads, sections, systems, times)
        batch.expected.tables["smf119_tn3270_init"] += len(times)

    def _ended(self, batch: SmfBatch, sessions: _TelnetSessions, begins: Numbers, ends: Numbers) -> None:
        assembler = RecordAssembler(self.context, catalog().records[119, 21], TERM_TRIPLETS)
        count = len(ends)
        systems, draws = sessions.systems[:count], sessions.draws[:count]
        section = assembler.layout.section("session")
        columns = self._columns(sessions, begins) | {
            "short_host_name": same("TERM", count),
            "in_bytes": pa.array((draws * 97 + 500).astype(np.uint64)),
            "out_bytes": pa.array((draws * 1_913 + 9_000).astype(np.uint64)),
            "end_local": local(self.context.local_us(systems, ends)),
            "duration_ms": pa.array(((ends - begins) // 1_000).astype(np.uint64)),
            "session_type": pa.array(np.full(count, 2, np.uint8)),
            "lu_selection": pa.array((draws % 5 == 0).astype(np.uint8)),
            "ssl_status": pa.array(np.where(draws % 10 == 0, 0, 1).astype(np.uint8)),
            "telnet_option_flags": pa.array(np.full(count, 0xF4, np.uint8)),
            "tn3270e_option_flags": pa.array(np.full(count, 0xE000, np.uint16)),
            "termination_reason": pick(["CLNTDISC", "LOGOFF", "TIMEOUT"], draws % 3),
            "logmode": same("SNX32702", count),
            "telnet_device_type": pick(["IBM-3278-2-E", "IBM-3279-4-E"], draws % 2),
        }
        rows = encode_section(section, columns, count, self.context.length(section))
        ident = self._identification[systems]
        host = self._host_name
        named = draws % 4 == 0

        def sections(chosen: Numbers) -> list[SectionRows]:
            parts = [
                SectionRows(assembler.layout.section("identification"), ident[chosen], ident.shape[1]),
                SectionRows(section, rows[chosen], rows.shape[1]),
            ]
            return [*parts, host] if named[chosen[0]] else parts

        heads = self.context.headers(119, 21, systems, ends, "TCP")
        assembler.add_alike(batch, named, heads, sections, systems, ends)
        batch.expected.tables["smf119_tn3270_term"] += count

    @cached_property
    def _identification(self) -> ByteRows:
        return self.context.identification("TN3270S", "TN3270", "TCPIP")

    @cached_property
    def _host_name(self) -> SectionRows:
        section = catalog().records[119, 21].section("host_name")
        row = np.frombuffer(code_page().encode(HOST_NAME), np.uint8)[None]
        return SectionRows(section, row, row.shape[1])

    def _columns(self, sessions: _TelnetSessions, starts: Numbers) -> dict[str, pa.Array]:
        count = len(starts)
        systems, partners = sessions.systems[:count], sessions.partners[:count]
        v6 = self.context.site.partner_is_v6[partners]
        return {
            "lu_name": pick(LU_NAMES, partners % len(LU_NAMES)),
            "host_application": pick(HOST_APPLICATIONS, partners % len(HOST_APPLICATIONS)),
            "logical_device": pa.array((partners % 999 + 1).astype(np.uint32)),
            "remote_ip": pick_few(self.context.site.partner_addresses, partners),
            "local_ip": pick(self.context.site.local_addresses, 2 * systems + v6),
            "remote_port": pa.array(sessions.ports[:count].astype(np.uint16)),
            "local_port": pa.array(np.full(count, TELNET_PORT, np.uint16)),
            "start_local": local(self.context.local_us(systems, starts)),
        }
