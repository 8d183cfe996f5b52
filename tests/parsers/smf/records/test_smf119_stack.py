"""Type 119 records of subtypes 5, 6 and 7 with bytes written by `struct` alone."""

from __future__ import annotations

import struct
from ipaddress import IPv4Address
from typing import TYPE_CHECKING

import pytest

from zscope.parsers import Tables, read

if TYPE_CHECKING:
    from pathlib import Path

TABLES = (
    "smf119_stack_statistics", "smf119_interface_statistics", "smf119_interface_address",
    "smf119_port_statistics",
)  # fmt: skip
QUARTER = 900_000_000
"""A quarter of an hour in microseconds."""


def ebcdic(text: str, length: int) -> bytes:
    return text.encode("cp037").ljust(length, b"\x40")


def mapped(address: str) -> bytes:
    return bytes(10) + b"\xff\xff" + IPv4Address(address).packed


def identification(component: str = "STACK", reason: int = 0x80) -> bytes:
    section = bytearray(64)
    names = ("SYSA", "PLEX1", "TCPIP", "040200", component, "TCPIP", "TCPUSER")
    struct.pack_into(">" + "8s" * 7, section, 0, *(ebcdic(name, 8) for name in names))
    section[60:62] = bytes((reason, 3))
    return bytes(section)


def record(subtype: int, *sections: tuple[bytes, int]) -> bytes:
    """A record with one triplet for each section; one without entries has a triplet of zeros."""
    begin = 28 + 8 * len(sections)
    triplets, body = b"", b""
    for data, number in sections:
        place = (begin + len(body), len(data) // number, number) if number else (0, 0, 0)
        triplets += struct.pack(">IHH", *place)
        body += data
    head = struct.pack(
        ">HBBI4s4s4sHHH", 0, 0x5E, 119, 12 * 360_000, bytes.fromhex("0126061f"), ebcdic("SYSA", 4),
        ebcdic("TCP", 4), subtype, len(sections), 0,
    )  # fmt: skip
    return struct.pack(">H", begin + len(body)) + head + triplets + body


def tcp(length: int = 180) -> bytes:
    section = bytearray(length)
    struct.pack_into(">Q", section, 0, QUARTER << 12)
    struct.pack_into(">IIIIIIII", section, 24, 11, 22, 3, 4, 55, 600, 700, 8)
    struct.pack_into(">III", section, 60, 9, 30, 2)
    struct.pack_into(">I", section, 176, 1)
    return bytes(section)


def decoded(tmp_path: Path, *records: bytes) -> Tables:
    file = tmp_path / "dump"
    file.write_bytes(b"".join(records))
    return read(file, TABLES)


def codes(tables: Tables) -> list[str]:
    return [issue.code.value for issue in tables.issues]


def test_a_stack(tmp_path: Path) -> None:
    ip = struct.pack(">QI", QUARTER << 12, 999).ljust(116, b"\0")
    udp = struct.pack(">QQIIQ", QUARTER << 12, 5, 6, 7, 1 << 33)
    ip6 = struct.pack(">QI", QUARTER << 12, 77).ljust(80, b"\0")
    nothing = (b"", 0)
    whole = record(5, (identification(), 1), (ip, 1), (tcp(), 1), (udp, 1), nothing, (ip6, 1), nothing)
    tables = decoded(tmp_path, whole)
    assert codes(tables) == []
    [row] = tables["smf119_stack_statistics"].to_pylist()
    expected = {
        "system": "SYSA", "stack": "TCPIP", "component": "STACK", "record_reason": 0x80, "record_set_id": 3,
        "interval_us": QUARTER, "opened_connections": 11, "accepted_connections": 22, "failed_opens": 3,
        "reset_connections": 4, "open_connections": 55, "received_segments": 600, "sent_segments": 700,
        "retransmitted_segments": 8, "sent_resets": 9, "closed_connections": 30, "discarded_attempts": 2,
        "dropped_by_retransmit": 1, "ip_received": 999, "udp_received": 5, "udp_no_port": 6,
        "udp_sent": 1 << 33, "ip6_received": 77, "icmp_received": None, "icmp6_received": None,
    }  # fmt: skip
    assert {name: row[name] for name in expected} == expected


def test_a_longer_section_of_a_newer_release_is_read(tmp_path: Path) -> None:
    tables = decoded(tmp_path, record(5, (identification(), 1), (bytes(116), 1), (tcp(220), 1)))
    assert codes(tables) == ["section-longer"]
    [row] = tables["smf119_stack_statistics"].to_pylist()
    assert (row["accepted_connections"], row["udp_received"]) == (22, None)


@pytest.mark.parametrize("length", [224, 240])
def test_interfaces_and_their_further_addresses(tmp_path: Path, length: int) -> None:
    entries = []
    for number, speed in enumerate((1_000_000_000, 0xFFFFFFFF)):
        entry = bytearray(240)
        struct.pack_into(">Q", entry, 0, QUARTER << 12)
        entry[8:24] = mapped(f"10.1.0.{number}")
        struct.pack_into(">16s16s18s", entry, 24, *(ebcdic(t, n) for t, n in (
            (f"OSA{number}", 16), ("DEV", 16), ("IPAQENET", 18))))  # fmt: skip
        struct.pack_into(">III", entry, 76, 8992, speed, 10_000)
        struct.pack_into(">QQ", entry, 88, 1 << 40, 12)
        struct.pack_into(">QQ", entry, 132, 1 << 41, 34)
        struct.pack_into(">III", entry, 164, 5, 6, 7)
        entry[224:240] = ebcdic("PNET1", 16)
        entries.append(bytes(entry[:length]))
    further = ebcdic("OSA1", 16) + mapped("10.1.0.99")
    whole = record(6, (identification("IP", 0xC0), 1), (b"".join(entries), 2), (further, 1))
    tables = decoded(tmp_path, whole)
    assert codes(tables) == []
    rows = tables["smf119_interface_statistics"].to_pylist()
    assert [row["interface_name"] for row in rows] == ["OSA0", "OSA1"]
    assert [row["speed_bits_per_second"] for row in rows] == [1_000_000_000, None]
    expected = {
        "home_ip": "10.1.0.0", "interface_type": "IPAQENET", "largest_packet_bytes": 8992,
        "in_bytes": 1 << 40, "in_unicast_packets": 12, "out_bytes": 1 << 41, "out_unicast_packets": 34,
        "out_discards": 5, "out_errors": 6, "output_queue": 7, "record_reason": 0xC0,
        "physical_network": "PNET1" if length == 240 else None,
    }  # fmt: skip
    assert {name: rows[0][name] for name in expected} == expected
    [address] = tables["smf119_interface_address"].to_pylist()
    assert (address["interface_name"], address["home_ip"]) == ("OSA1", "10.1.0.99")


def test_ports(tmp_path: Path) -> None:
    start = struct.pack(">Q8s16sH", QUARTER << 12, ebcdic("WEBSRV", 8), bytes(16), 443) + bytes(2)
    one = start + struct.pack(">IIIIII", 100, 1, 2, 3, 44, 5)
    other = struct.pack(">Q8s16sH", QUARTER << 12, ebcdic("NAMED", 8), mapped("10.1.0.1"), 53) + bytes(2)
    other += struct.pack(">QQQQ", 7, 8, 1 << 34, 9)
    tables = decoded(tmp_path, record(7, (identification(), 1), (one + one, 2), (other, 1)))
    assert codes(tables) == []
    rows = tables["smf119_port_statistics"].to_pylist()
    names = ("port_kind", "section_no", "reserved_for", "local_port", "accepted_connections", "in_bytes")
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("TCP", 0, "WEBSRV", 443, 100, None),
        ("TCP", 1, "WEBSRV", 443, 100, None),
        ("UDP", 0, "NAMED", 53, None, 1 << 34),
    ]
    assert (rows[0]["busy_rejections"], rows[0]["flood_rejections"]) == (2, 3)
    assert (rows[0]["most_connections"], rows[0]["open_connections"]) == (44, 5)
    assert rows[2]["bind_ip"] == "10.1.0.1"
