"""Type 72 records with bytes written by `struct` alone: periods, report classes, floating point."""

from __future__ import annotations

import struct
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from zscope.parsers import Tables, read

if TYPE_CHECKING:
    from pathlib import Path

TABLES = ("smf72_service_class_period", "smf72_work_manager_state")
TRIPLETS = ("product", "class", "served", "group", "period", "times", "work", "names")


def ebcdic(text: str, length: int) -> bytes:
    return text.encode("cp037").ljust(length, b"\x40")


def hexadecimal(sixteenths: int) -> bytes:
    """A whole number of sixteenths as hexadecimal floating point: digits after the point, power of 16."""
    if sixteenths == 0:
        return bytes(8)
    digits = f"{sixteenths:x}"
    power = 64 + len(digits) - 1
    return bytes([power]) + bytes.fromhex(digits.ljust(14, "0"))


def product() -> bytes:
    section = bytearray(104)
    struct.pack_into(">H8s", section, 0, 0x796F, ebcdic("RMF", 8))
    struct.pack_into(">4s4s4s", section, 10, *map(bytes.fromhex, ("0110000f", "0126061f", "1500000f")))
    struct.pack_into(">8s8s", section, 88, ebcdic("PLEX1", 8), ebcdic("SYSA", 8))
    return bytes(section)


def klass(name: str, *, report: bool, periods: int) -> bytes:
    section = bytearray(280)
    struct.pack_into(">BB", section, 0, 0x80 if report else 0, 0)
    struct.pack_into(">8s", section, 4, ebcdic("POLICY1", 8))
    struct.pack_into(">IIII", section, 52, 10_000, 0, 0, 10_000)
    struct.pack_into(">II", section, 68, 250, 3600)
    struct.pack_into(">8s", section, 80, ebcdic("STCWORK", 8))
    struct.pack_into(">8s", section, 120, ebcdic(name, 8))
    struct.pack_into(">H", section, 160, periods)
    struct.pack_into(">I", section, 172, 188)
    struct.pack_into(">II", section, 240, 256, 384)
    return bytes(section)


def period(number: int, cpu_service: int, *, ended: int = 0, length: int = 792) -> bytes:
    section = bytearray(792)
    struct.pack_into(">BBBBB", section, 6, 0, 0xE0, number, 0x80, 0x20)
    struct.pack_into(">I", section, 12, 40)
    struct.pack_into(">HH", section, 16, 90, 2)
    section[32:40] = hexadecimal(16 * cpu_service)
    section[56:64] = hexadecimal(16 * 1000)
    section[144:152] = hexadecimal(16 * 7)
    section[152:160] = hexadecimal(16 * 2_000_000)
    struct.pack_into(">I", section, 184, ended)
    struct.pack_into(">II", section, 232, 11, 12)
    struct.pack_into(">I", section, 344, 55)
    struct.pack_into(">III", section, 468, 5, 6, 7)
    section[544:552] = hexadecimal(8)
    section[720:728] = hexadecimal(16 * 123_456)
    return bytes(section[:length])


def record(sections: dict[str, tuple[bytes, int]], *, triplets: int = 8) -> bytes:
    header = 28 + 8 * triplets
    head = bytearray(header)
    struct.pack_into(
        ">HHBBI4s4s4sHH", head, 0, 0, 0, 0xDE, 72, 12 * 360_000, bytes.fromhex("0126061f"),
        ebcdic("SYSA", 4), ebcdic("RMF", 4), 3, triplets,
    )  # fmt: skip
    body = b""
    for key, (data, number) in sections.items():
        at = 28 + 8 * TRIPLETS.index(key)
        struct.pack_into(">IHH", head, at, header + len(body), len(data) // number, number)
        body += data
    return struct.pack(">H", header + len(body)) + bytes(head[2:]) + body


def decoded(tmp_path: Path, *records: bytes) -> Tables:
    file = tmp_path / "dump"
    file.write_bytes(b"".join(records))
    return read(file, TABLES)


def local(hour: int) -> datetime:
    return datetime(2026, 3, 2, hour, tzinfo=UTC).replace(tzinfo=None)


def test_each_period_is_a_row_and_a_report_class_is_marked(tmp_path: Path) -> None:
    service = record(
        {
            "product": (product(), 1),
            "class": (klass("STCHI", report=False, periods=2), 1),
            "period": (period(1, 5_000, ended=10) + period(2, 70_000_000_000), 2),
        }
    )
    report = record(
        {
            "product": (product(), 1),
            "class": (klass("RTCPIP", report=True, periods=1), 1),
            "period": (period(1, 0), 1),
        }
    )
    tables = decoded(tmp_path, service, report)
    assert [issue.code.value for issue in tables.issues] == []
    rows = tables["smf72_service_class_period"].to_pylist()
    names = ("record_no", "section_no", "class_name", "class_flags", "period", "cpu_service")
    assert [tuple(row[name] for name in names) for row in rows] == [
        (1, 0, "STCHI", 0, 1, 5_000.0),
        (1, 1, "STCHI", 0, 2, 70_000_000_000.0),
        (2, 0, "RTCPIP", 0x80, 1, 0.0),
    ]
    expected = {
        "system": "SYSA", "sysplex": "PLEX1", "interval_start_local": local(11), "interval_ms": 900_000,
        "service_policy": "POLICY1", "workload": "STCWORK", "cpu_coefficient_10000": 10_000,
        "srb_coefficient_10000": 10_000, "cpu_adjustment": 188, "zaap_speed_256": 256,
        "ziip_speed_256": 384, "periods": 2, "valid_data": 0xE0, "goal_unit": 0x80, "goal_type": 0x20,
        "goal_value": 40, "goal_pct": 90, "importance": 2, "srb_service": 1_000.0,
        "active_total_us": 7 * 1024.0, "region_control_us": 2_000_000.0, "ended_transactions": 10,
        "cpu_delay_samples": 11, "capping_delay_samples": 12, "using_samples": 55,
        "crypto_using_samples": 5, "crypto_delay_samples": 6, "crypto_queue_delay_samples": 7,
        "ziip_service": 0.5, "elapsed_total_us": 123_456.0, "resource_group": None,
    }  # fmt: skip
    assert {name: rows[0][name] for name in expected} == expected


def test_a_period_of_an_older_release_has_no_microseconds(tmp_path: Path) -> None:
    sections = {
        "product": (product(), 1),
        "class": (klass("STCHI", report=False, periods=1), 1),
        "period": (period(1, 1, length=720), 1),
    }
    tables = decoded(tmp_path, record(sections))
    [row] = tables["smf72_service_class_period"].to_pylist()
    assert (row["cpu_service"], row["elapsed_total_us"]) == (1.0, None)
    assert [issue.code.value for issue in tables.issues] == []


def test_waits_for_ssl_threads_are_rows_of_the_work_manager(tmp_path: Path) -> None:
    state = bytearray(172)
    struct.pack_into(">4sB", state, 0, ebcdic("CICS", 4), 0x40)
    struct.pack_into(">I", state, 76, 33)
    sections = {
        "product": (product(), 1),
        "class": (klass("CICSHI", report=False, periods=1), 1),
        "period": (period(1, 1), 1),
        "work": (bytes(state), 1),
    }
    tables = decoded(tmp_path, record(sections))
    [row] = tables["smf72_work_manager_state"].to_pylist()
    assert (row["class_name"], row["work_manager"], row["work_phase"]) == ("CICSHI", "CICS", 0x40)
    assert row["ssl_thread_wait_samples"] == 33


@pytest.mark.parametrize("triplets", [1, 4])
def test_a_record_without_a_triplet_of_periods_is_an_issue(tmp_path: Path, triplets: int) -> None:
    tables = decoded(tmp_path, record({"product": (product(), 1)}, triplets=triplets))
    assert [issue.code.value for issue in tables.issues] == ["triplets-outside"]
    assert not tables["smf72_service_class_period"].num_rows
