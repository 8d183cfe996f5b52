"""Type 30 records with bytes written by `struct` alone: every header, every length, every kind of record.

The offsets are those of the sheet of the record, written down here again: nothing of the layouts is used.
"""

from __future__ import annotations

import struct
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from zscope.parsers import Tables, read

if TYPE_CHECKING:
    from pathlib import Path

TRIPLETS = {
    "product": 24, "identification": 32, "io": 40, "completion": 48, "processor": 56, "accounting": 64,
    "storage": 72, "performance": 80, "operator": 88, "excp": 96, "appc": 112, "appc_total": 120, "unix": 128,
    "usage": 140, "restart": 152, "remote": 164, "instructions": 176, "zedc": 184, "crypto": 192, "nnpi": 204,
    "container": 220,
}  # fmt: skip
HEADERS = (192, 219, 228)
Sections = dict[str, tuple[bytes, int]]
TABLES = ("smf30_interval", "smf30_end", "smf30_crypto_counter")
START = 0xE251AD2A_00000000
"""A value of the TOD clock."""


def ebcdic(text: str, length: int) -> bytes:
    return text.encode("cp037").ljust(length, b"\x40")


def utc(tod: int) -> datetime:
    """The moment of a TOD value: 4096 units are a microsecond since 1900."""
    micros = (tod >> 12) - 2_208_988_800_000_000
    return datetime.fromtimestamp(micros // 1_000_000, UTC).replace(microsecond=micros % 1_000_000)


def local(year: int, month: int, day: int, hour: int) -> datetime:
    return datetime(year, month, day, hour, tzinfo=UTC).replace(tzinfo=None)


def product(flags: int = 0) -> bytes:
    return struct.pack(
        ">HBB2s8s8s8s8s", 2, 0, flags, ebcdic("05", 2), ebcdic("SMF", 8), ebcdic("SP7.2.4", 8),
        ebcdic("SYSA", 8), ebcdic("PLEX1", 8),
    )  # fmt: skip


def identification(
    job: str = "TCPIP", start: int = START, end: int = START + (900_000_000 << 12), length: int = 250
) -> bytes:
    section = bytearray(250)
    struct.pack_into(">8s8s8s", section, 0, *(ebcdic(text, 8) for text in (job, "EZBTCPIP", "TCPIP")))
    struct.pack_into(">8sHcB", section, 32, ebcdic("STC00042", 8), 1, b"\x40", 0)
    struct.pack_into(">I4s", section, 64, 8 * 360_000, bytes.fromhex("0126060f"))
    struct.pack_into(">8s8s", section, 100, ebcdic("SYS1", 8), ebcdic("STCUSER", 8))
    struct.pack_into(">8sQQI", section, 140, ebcdic("STC", 8), start, end, 0)
    struct.pack_into(">H", section, 184, 0x4A)
    return bytes(section[:length])


def processor(task: int = 1234, srb: int = 56, *, flags: int = 0, length: int = 188) -> bytes:
    section = bytearray(188)
    struct.pack_into(">HHIIII", section, 0, 0, flags, task, srb, 7, 8)
    struct.pack_into(">I4sIII", section, 36, 9 * 360_000, bytes.fromhex("0126061f"), 11, 12, 13)
    struct.pack_into(">IIIII", section, 56, 99, 0, 0, 21, 22)
    struct.pack_into(">I", section, 76, 23)
    struct.pack_into(">IIII", section, 116, 3000, 1000, 500, 40)
    struct.pack_into(">H8s", section, 176, 61, ebcdic("EZBTTMST", 8))
    return bytes(section[:length])


def performance() -> bytes:
    section = bytearray(216)
    struct.pack_into(">I", section, 24, 188)
    struct.pack_into(">8s8s8s8s", section, 36, *(ebcdic(t, 8) for t in ("STCWORK", "STCHI", "", "RTCPIP")))
    struct.pack_into(">HHHHH", section, 128, 10, 10, 10, 256, 384)
    struct.pack_into(">QQQQQQ", section, 144, 9_000_000_000, 8_000_000_000, 900_000, 70, 60, 50)
    return bytes(section)


def counters(*counts: tuple[int, int], length: int = 16) -> bytes:
    return b"".join(
        struct.pack(">H", n) + bytes(length - 10) + struct.pack(">Q", count) for n, count in counts
    )


def record(
    subtype: int, sections: dict[str, tuple[bytes, int]], *, header: int = 228, to_follow: int = 0
) -> bytes:
    """A record with its sections in this order, the triplets of its header, and counts in between."""
    head = bytearray(header)
    struct.pack_into(">HHBBI4s4s4sH", head, 0, 0, 0, 0x5E, 30, 10 * 360_000, bytes.fromhex("0126061f"),
                     ebcdic("SYSA", 4), ebcdic("STC", 4), subtype)  # fmt: skip
    for at in (108, 136, 148, 160, 172, 200, 212):
        if at + 4 <= header:
            struct.pack_into(">I", head, at, 0x7FFF)
    if header >= 219:
        struct.pack_into(">HB", head, 216, to_follow, 0x80 if to_follow else 0)
    body = b""
    for key, (data, number) in sections.items():
        struct.pack_into(">IHH", head, TRIPLETS[key], header + len(body), len(data) // number, number)
        body += data
    whole = bytes(head) + body
    return struct.pack(">H", len(whole)) + whole[2:]


def usual(**changes: tuple[bytes, int]) -> Sections:
    sections: Sections = {
        "product": (product(), 1),
        "identification": (identification(), 1),
        "processor": (processor(), 1),
        "performance": (performance(), 1),
    }
    return sections | changes


def decoded(tmp_path: Path, *records: bytes, tables: tuple[str, ...] = TABLES) -> Tables:
    file = tmp_path / "dump"
    file.write_bytes(b"".join(records))
    return read(file, tables)


def codes(tables: Tables) -> list[str]:
    return [issue.code.value for issue in tables.issues]


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("subtype", [2, 3, 6])
def test_an_interval(tmp_path: Path, subtype: int, header: int) -> None:
    tables = decoded(tmp_path, record(subtype, usual(), header=header))
    assert codes(tables) == []
    [row] = tables["smf30_interval"].to_pylist()
    expected = {
        "record_subtype": subtype, "work_type": "STC", "system": "SYSA", "system_name": "SYSA",
        "sysplex": "PLEX1", "job_name": "TCPIP", "program": "EZBTCPIP", "job_id": "STC00042",
        "step_number": 1,
        "user_id": "STCUSER", "asid": 0x4A, "interval_start_utc": utc(START), "job_class": "STC",
        "job_start_local": local(2026, 3, 1, 8), "interval_start_local": local(2026, 3, 2, 9),
        "task_ms": 12_340, "srb_ms": 560, "initiator_task_ms": 70, "initiator_srb_ms": 80,
        "io_interrupt_ms": 110, "region_control_ms": 120, "hiperspace_ms": 130, "icsf_instructions": 99,
        "preemptable_srb_ms": 210, "enclave_ms": 220, "dependent_enclave_ms": 230, "ziip_ms": 30_000,
        "ziip_enclave_ms": 10_000, "ziip_dependent_enclave_ms": 5_000, "ziip_on_cp_ms": 400,
        "highest_task_pct": 61, "highest_task_program": "EZBTTMST", "workload": "STCWORK",
        "service_class": "STCHI", "report_class": "RTCPIP", "resource_group": "", "cpu_adjustment": 188,
        "zaap_factor_256": 256, "ziip_factor_256": 384, "service_units": 9_000_000_000,
        "cpu_service_units": 8_000_000_000, "srb_service_units": 900_000, "enclave_service_units": 50,
        "records_later": 0 if header >= 219 else None, "continuation": 0 if header >= 219 else None,
        "completion_code": None,
    }  # fmt: skip
    assert {name: row[name] for name in expected} == expected
    assert row["interval_end_utc"] - row["interval_start_utc"] == utc(START + (900_000_000 << 12)) - utc(
        START
    )
    assert not tables["smf30_end"].num_rows


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("subtype", [4, 5])
def test_an_end(tmp_path: Path, subtype: int, header: int) -> None:
    completion = struct.pack(">HHI", 0x0C4, 0x0200, 17)
    identified = identification(start=0, end=0)
    sections = usual(completion=(completion, 1), identification=(identified, 1))
    tables = decoded(tmp_path, record(subtype, sections, header=header))
    assert codes(tables) == []
    [row] = tables["smf30_end"].to_pylist()
    assert (row["record_subtype"], row["job_name"], row["task_ms"]) == (subtype, "TCPIP", 12_340)
    assert (row["completion_code"], row["termination"], row["abend_reason"]) == (0x0C4, 0x0200, 17)
    assert (row["interval_start_utc"], row["interval_end_utc"]) == (None, None)
    assert not tables["smf30_interval"].num_rows


@pytest.mark.parametrize("header", HEADERS)
def test_short_sections_give_what_they_contain(tmp_path: Path, header: int) -> None:
    short = usual(identification=(identification(length=72), 1), processor=(processor(length=16), 1))
    del short["performance"]
    tables = decoded(tmp_path, record(2, short, header=header))
    assert codes(tables) == []
    [row] = tables["smf30_interval"].to_pylist()
    assert (row["job_name"], row["job_start_local"]) == ("TCPIP", local(2026, 3, 1, 8))
    assert (row["task_ms"], row["srb_ms"], row["initiator_task_ms"]) == (12_340, 560, 70)
    nothing = (
        "initiator_srb_ms",
        "interval_start_utc",
        "asid",
        "user_id",
        "ziip_ms",
        "io_interrupt_ms",
        "service_class",
    )
    assert [row[name] for name in nothing] == [None] * len(nothing)


def test_an_even_shorter_section_is_an_issue(tmp_path: Path) -> None:
    tables = decoded(tmp_path, record(2, usual(processor=(processor(length=10), 1))))
    assert codes(tables) == ["section-shorter"]
    [row] = tables["smf30_interval"].to_pylist()
    assert (row["task_ms"], row["srb_ms"]) == (12_340, None)


def test_a_continuation_gives_no_row_and_no_issue(tmp_path: Path) -> None:
    first = record(2, usual(), to_follow=1)
    excp = {"product": (product(), 1), "identification": (identification(), 1), "excp": (bytes(60), 2)}
    tables = decoded(tmp_path, first, record(2, excp), record(4, excp, header=192))
    assert codes(tables) == []
    rows = tables["smf30_interval"].to_pylist()
    assert [(row["records_later"], row["continuation"]) for row in rows] == [(1, 0x80)]
    assert not tables["smf30_end"].num_rows


def test_crypto_counters_are_rows_also_from_a_continuation(tmp_path: Path) -> None:
    identified = {"product": (product(0x40), 1), "identification": (identification(), 1)}
    first = record(2, usual(crypto=(counters((31, 5), (32, 1 << 40)), 2)), header=219)
    second = record(2, identified | {"crypto": (counters((77, 9), length=24), 1)})
    tables = decoded(tmp_path, first, second)
    assert codes(tables) == []
    rows = tables["smf30_crypto_counter"].to_pylist()
    names = ("record_no", "section_no", "job_name", "counter_number", "instruction_count")
    assert [tuple(row[name] for name in names) for row in rows] == [
        (1, 0, "TCPIP", 31, 5), (1, 1, "TCPIP", 32, 1 << 40), (2, 0, "TCPIP", 77, 9),
    ]  # fmt: skip
    assert tables["smf30_interval"].num_rows == 1


def test_a_counter_too_short_for_its_count_has_none(tmp_path: Path) -> None:
    tables = decoded(tmp_path, record(2, usual(crypto=(struct.pack(">HI", 5, 6), 1))))
    [row] = tables["smf30_crypto_counter"].to_pylist()
    assert (row["counter_number"], row["instruction_count"]) == (5, None)


def test_an_old_header_has_no_crypto_triplet(tmp_path: Path) -> None:
    """At 192 is the first section of this record: its bytes are no triplet and no count."""
    tables = decoded(tmp_path, record(2, usual(), header=192), tables=(*TABLES, "smf_raw"))
    assert codes(tables) == []
    assert not tables["smf30_crypto_counter"].num_rows
    assert not tables["smf_raw"].num_rows


@pytest.mark.parametrize(
    ("flags", "absent"),
    [
        (0x8000, set()),
        (0x7FFF, set()),
        (0xC000, {"task_ms"}),
        (0xA000, {"srb_ms"}),
        (0x8054, {"io_interrupt_ms", "region_control_ms", "enclave_ms"}),
    ],
)
def test_a_time_that_is_not_valid_is_null(tmp_path: Path, flags: int, absent: set[str]) -> None:
    tables = decoded(tmp_path, record(2, usual(processor=(processor(flags=flags), 1))))
    [row] = tables["smf30_interval"].to_pylist()
    times = {"task_ms", "srb_ms", "io_interrupt_ms", "region_control_ms", "enclave_ms", "ziip_ms"}
    assert {name for name in times if row[name] is None} == absent


@pytest.mark.parametrize(("flags", "expected"), [(0x8000, None), (0, 30_000)])
def test_flags_of_ziip_times_count_only_if_flags_are_in_use(
    tmp_path: Path, flags: int, expected: int | None
) -> None:
    section = bytearray(processor(flags=flags))
    section[85] = 0x80
    tables = decoded(tmp_path, record(2, usual(processor=(bytes(section), 1))))
    [row] = tables["smf30_interval"].to_pylist()
    assert row["ziip_ms"] == expected


def test_accounting_fields_are_one_block(tmp_path: Path) -> None:
    """The length in the triplet is that of both fields together."""
    text = b"\x04" + ebcdic("A123", 4) + b"\x02" + ebcdic("B7", 2)
    whole = bytearray(record(2, usual(accounting=(text, 1))))
    struct.pack_into(">H", whole, TRIPLETS["accounting"] + 6, 2)
    tables = decoded(tmp_path, bytes(whole), tables=(*TABLES, "smf_raw"))
    assert codes(tables) == []
    rows = [(row["part"], row["bytes"]) for row in tables["smf_raw"].to_pylist()]
    assert ("accounting", text) in rows


def test_a_record_without_sections_is_an_issue(tmp_path: Path) -> None:
    whole = record(2, {"product": (product(), 1)})
    tables = decoded(tmp_path, whole)
    assert codes(tables) == ["triplets-outside"]


def test_a_first_section_over_the_oldest_triplets_is_an_issue(tmp_path: Path) -> None:
    whole = bytearray(record(2, usual()))
    struct.pack_into(">I", whole, TRIPLETS["product"], 80)
    tables = decoded(tmp_path, bytes(whole))
    assert "triplets-outside" in codes(tables)


@pytest.mark.parametrize("length", [24, 31, 32, 100, 104, 191])
def test_a_record_that_ends_in_its_header_is_an_issue(tmp_path: Path, length: int) -> None:
    whole = record(2, usual())[:length]
    tables = decoded(tmp_path, struct.pack(">H", length) + whole[2:], record(2, usual()))
    assert tables["smf30_interval"].num_rows == 1
    assert codes(tables)
