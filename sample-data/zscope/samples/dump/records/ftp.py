"""FTP records: transfers of the client (type 119 subtype 3) and the server (70), and failed logins (72)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from zscope.parsers.smf.record_writer import SectionBytes, encode_section
from zscope.parsers.text.coding import code_page
from zscope.samples.dump.arrays import Choice, Numbers, local, pick, pick_few, same
from zscope.samples.dump.assemble import RecordAssembler, SmfBatch, once, optional
from zscope.samples.dump.site import FIRST_PARTNERS, PARTNERS
from zscope.schemas import catalog

if TYPE_CHECKING:
    from zscope.parsers.smf.codecs.base import ByteRows
    from zscope.samples.dump.context import RecordContext
    from zscope.schemas import Section

CLIENT, SERVER, FAILURE = 3, 70, 72
TRIPLETS = {CLIENT: 7, SERVER: 7, FAILURE: 3}
FTP_PORT, DATA_PORT = 21, 20
_OPERATIONS = (("STOR", 5), ("RETR", 4), ("APPE", 1), ("RNTO", 3), ("DELE", 2))
_OPERATION_WEIGHTS = (0.42, 0.46, 0.06, 0.03, 0.03)
RENAMED = 3
_SUITES = (("35", "TLS_RSA_AES256_SHA"), ("2F", "TLS_RSA_AES128_SHA"), ("0A", "TLS_RSA_3DES_SHA"))
"""The security section has room for two characters only at the level whose layout is published."""
_USERS = ("BATCH1", "FTPUSER", "PARTNER1", "PARTNER2", "WEBSRV")
_BYTES_A_SECOND = 12_000_000


@dataclass(frozen=True)
class FtpRecords:
    """Generates FTP records."""

    context: RecordContext

    def transfers(self, rng: np.random.Generator, subtype: int, ended: Numbers) -> SmfBatch:
        """Generate records of transfers that end at these times."""
        batch, count = SmfBatch(), len(ended)
        if not count:
            return batch
        assembler = RecordAssembler(self.context, catalog().records[119, subtype], TRIPLETS[subtype])
        systems = rng.integers(0, len(self.context.names), count)
        operation = rng.choice(len(_OPERATIONS), count, p=_OPERATION_WEIGHTS)
        moves = operation < RENAMED
        size = np.where(moves, np.exp(rng.normal(13, 2.2, count)), 0).astype(np.int64)
        lasted = 30_000 + size * 1_000_000 // _BYTES_A_SECOND
        starts = ended - lasted
        secured = rng.random(count) < 0.7
        control_id = rng.integers(0x20000, 0x7FFFFFFF, count)
        numbers: dict[str, Choice] = {
            "duration_ms": (lasted // 10_000 * 10).astype(np.uint64),
            "transfer_bytes": size.astype(np.uint64),
            "control_connection_id": control_id.astype(np.uint32),
            "data_connection_id": np.where(moves, control_id + 1, 0).astype(np.uint32),
            "ftp_operation": np.array([code for _, code in _OPERATIONS], np.uint8)[operation],
        }
        columns = self._addresses(rng, systems, numbers["data_connection_id"], server=subtype == SERVER) | {
            "ftp_command": pick([command for command, _ in _OPERATIONS], operation),
            "file_type": pick(["SEQ", "JES"], (rng.random(count) < 0.08).astype(np.int64)),
            "user_id": pick(_USERS, rng.integers(0, len(_USERS), count)),
            "remote_user_id": pick(_USERS, rng.integers(0, len(_USERS), count)),
            "data_format": pick(["I", "A"], rng.integers(0, 2, count)),
            "transfer_mode": same("S", count),
            "file_structure": same("F", count),
            "data_set_type": pick(["S", "P", "H"], rng.integers(0, 3, count)),
            "start_local": local(self.context.local_us(systems, starts)),
            "end_local": local(self.context.local_us(systems, ended)),
            "last_reply": same("250", count),
            "short_host_name": same("FTPHOST", count),
            "float_transfer_bytes": pa.array(size.astype(np.float64)),
            "ftp_session_id": pick_few([f"FTPD1{number:05}" for number in range(1_000)], control_id % 1_000),
            **{name: pa.array(values) for name, values in numbers.items()},
        }
        names = [f"SYNTH.DAILY.R{number:03}.DATA" for number in rng.integers(0, 400, count).tolist()]
        renamed: list[str | None] = [
            f"{name}.OLD" if code == RENAMED else None
            for name, code in zip(names, operation.tolist(), strict=True)
        ]
        variable: dict[str, list[str | None]] = {"file_name": list(names), "new_name": renamed}
        if subtype == CLIENT:
            variable = {"file_name": list(names), "user_name": ["partner.user"] * count}
        else:
            variable["host_name"] = ["ftp.example.com"] * count
        parts = [
            once(assembler.layout.section("identification"), self._identification(subtype)[systems]),
            once(
                assembler.layout.section("transfer"),
                self._rows(assembler.layout.section("transfer"), columns, count),
            ),
            *(optional(assembler.layout.section(key), _encoded(items)) for key, items in variable.items()),
            self._security(rng, assembler.layout.section("security"), secured, subtype),
        ]
        self._finish(batch, assembler, parts, systems, ended)
        batch.expected.tables[assembler.layout.tables[0].name] += count
        return batch

    def failures(self, rng: np.random.Generator, written: Numbers) -> SmfBatch:
        """Generate records of failed logins at these times."""
        batch, count = SmfBatch(), len(written)
        if not count:
            return batch
        assembler = RecordAssembler(self.context, catalog().records[119, FAILURE], TRIPLETS[FAILURE])
        systems = rng.integers(0, len(self.context.names), count)
        partners = rng.integers(FIRST_PARTNERS, PARTNERS, count)
        v6 = self.context.site.partner_is_v6[partners]
        columns = {
            "remote_ip": pick_few(self.context.site.partner_addresses, partners),
            "local_ip": pick(self.context.site.local_addresses, 2 * systems + v6),
            "remote_port": pa.array(rng.integers(1024, 65_000, count).astype(np.uint16)),
            "local_port": pa.array(np.full(count, FTP_PORT, np.uint16)),
            "attempted_user_id": pick(["ROOT", "ADMIN", "FTPUSER", "TEST"], rng.integers(0, 4, count)),
            "login_failure_reason": pa.array(rng.integers(1, 7, count).astype(np.uint8)),
            "control_connection_id": pa.array(rng.integers(0x20000, 0x7FFFFFFF, count).astype(np.uint32)),
            "ftp_session_id": same("FTPD100000", count),
        }
        parts = [
            once(assembler.layout.section("identification"), self._identification(FAILURE)[systems]),
            once(
                assembler.layout.section("failure"),
                self._rows(assembler.layout.section("failure"), columns, count),
            ),
            self._security(rng, assembler.layout.section("security"), rng.random(count) < 0.3, FAILURE),
        ]
        self._finish(batch, assembler, parts, systems, written)
        batch.expected.tables["smf119_ftp_failure"] += count
        return batch

    def _addresses(
        self, rng: np.random.Generator, systems: Numbers, data_ids: Choice, *, server: bool
    ) -> dict[str, pa.Array]:
        """Return the addresses and ports of the control and the data connection."""
        count = len(systems)
        partners = rng.integers(FIRST_PARTNERS, PARTNERS, count)
        v6 = self.context.site.partner_is_v6[partners]
        remote = pick_few(self.context.site.partner_addresses, partners)
        here = pick(self.context.site.local_addresses, 2 * systems + v6)
        far, near = rng.integers(1024, 65_000, (2, count))
        data = data_ids > 0
        ports = {
            "data_remote_port": np.where(data, far if server else DATA_PORT, 0),
            "data_local_port": np.where(data, DATA_PORT if server else near, 0),
            "control_remote_port": far if server else np.full(count, FTP_PORT),
            "control_local_port": np.full(count, FTP_PORT) if server else near,
        }
        ends = {f"{kind}_remote_ip": remote for kind in ("data", "control")}
        ends |= {f"{kind}_local_ip": here for kind in ("data", "control")}
        return ends | {name: pa.array(values.astype(np.uint16)) for name, values in ports.items()}

    def _security(
        self, rng: np.random.Generator, section: Section, secured: Choice, subtype: int
    ) -> SectionBytes:
        count = len(secured)
        suite = np.where(secured, rng.choice(len(_SUITES), count, p=(0.6, 0.33, 0.07)), len(_SUITES))
        chosen = secured.astype(np.int64)
        login = ["U"] if subtype == CLIENT else ["P", "C"]
        columns = {
            "protection_mechanism": pick(["N", "A"], chosen),
            "control_protection_level": pick(["N", "P"], chosen),
            "data_protection_level": pick(["N", "P"], chosen),
            "login_method": pick(login, rng.integers(0, len(login), count)),
            "tls_version_text": pick(["", "TLSV1"], chosen),
            "cipher_spec": pick([*(name for _, name in _SUITES), ""], suite),
            "protection_buffer_bytes": pa.array(np.where(secured, 32_768, 0).astype(np.uint32)),
            "cipher_2": pick([*(code for code, _ in _SUITES), ""], suite),
        }
        return once(section, self._rows(section, columns, count))

    def _rows(self, section: Section, columns: dict[str, pa.Array], count: int) -> ByteRows:
        known = {field.column for field in section.fields}
        there = {name: column for name, column in columns.items() if name in known}
        return encode_section(section, there, count, self.context.length(section))

    def _finish(
        self,
        batch: SmfBatch,
        assembler: RecordAssembler,
        parts: list[SectionBytes],
        systems: Numbers,
        written: Numbers,
    ) -> None:
        columns = {
            "system": pick(self.context.names, systems),
            "written_local": local(self.context.local_us(systems, written)),
            "subsystem": same("TCP", len(systems)),
        }
        assembler.add_varied(batch, columns, parts, systems, written)

    def _identification(self, subtype: int) -> ByteRows:
        return self._identifications[subtype == CLIENT]

    @cached_property
    def _identifications(self) -> dict[bool, ByteRows]:
        return {
            True: self.context.identification("FTPC", "BATCH1", "BATCH1"),
            False: self.context.identification("FTPS", "FTPD1", "FTPD"),
        }


def _encoded(items: list[str | None]) -> list[bytes | None]:
    return [None if item is None else code_page().encode(item) for item in items]
