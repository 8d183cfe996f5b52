"""Records whose type is in an extended header, as records of types above 255 have it."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.parsers.damaging import patched

from zscope.parsers import Code, inventory, read

if TYPE_CHECKING:
    from pathlib import Path

    from zscope.parsers import Issue

USED = 0x5E | 0x60
"""Flags of a record with subtypes and an extended header."""
DATE, SYSTEM = bytes.fromhex("0126061f"), "SYSA".encode("cp037")
IN_RECORD = "the record is counted under type 126"


def extended(
    record_type: int = 1154,
    subtype: int = 128,
    length: int = 32,
    flags: int = USED,
    body: bytes = b"\xc3" * 20,
) -> bytes:
    """Return a record with an extended header, by the offsets of the slides that describe it."""
    record = bytearray(56) + body
    struct.pack_into(">HHBBI", record, 0, len(record), 0, flags, 126, 4_320_000)
    struct.pack_into(">4s4s4sH", record, 10, DATE, SYSTEM, bytes(4), subtype)
    struct.pack_into(">HB", record, 24, length, 1)
    record[28:44] = bytes.fromhex("00dfb1c2a3d4e5f60708090a0b0c0d0e")
    struct.pack_into(">H", record, 52, record_type)
    return bytes(record)


def plain(record_type: int, subtype: int) -> bytes:
    """Return a record of an unknown kind without an extended header."""
    head = struct.pack(">HHBBI4s4s", 30, 0, 0x5E, record_type, 4_320_000, DATE, SYSTEM)
    return head + bytes(4) + struct.pack(">H", subtype) + bytes(6)


def counted(folder: Path, content: bytes) -> tuple[list[tuple[Any, ...]], list[Issue]]:
    path = folder / "dump.smf"
    path.write_bytes(content)
    result = inventory(path)
    rows = result.rows.select(["record_type", "record_subtype", "records"]).to_pylist()
    return [tuple(row.values()) for row in rows], list(result.issues)


@pytest.mark.parametrize("record_type", [128, 255, 256, 1151, 1154, 2047])
def test_the_type_of_the_extended_header_is_that_of_the_record(tmp_path: Path, record_type: int) -> None:
    dump = plain(200, 7) + extended(record_type) + extended(record_type, 65535) + plain(200, 7)
    expected = [(200, 7, 2), (record_type, 128, 1), (record_type, 65535, 1)]
    rows, issues = counted(tmp_path, dump)
    assert (sorted(rows), issues) == (sorted(expected), [])


@pytest.mark.parametrize("record_type", [0, 30, 119, 127, 2048, 65535])
def test_a_type_that_needs_or_can_have_no_extended_header_is_not_believed(
    tmp_path: Path, record_type: int
) -> None:
    rows, (issue,) = counted(tmp_path, extended() + extended(record_type))
    assert rows == [(126, 128, 1), (1154, 128, 1)]
    assert (issue.code, issue.record_no, issue.offset) == (Code.EXTENDED_HEADER, 2, 76 + 24)
    assert issue.text.startswith("the extended header has a type that is not from 128 to 2047")
    assert issue.text.endswith(IN_RECORD)


@pytest.mark.parametrize("length", [0, 31, 53, 65535])
def test_a_wrong_length_of_the_extended_header_is_an_issue(tmp_path: Path, length: int) -> None:
    rows, (issue,) = counted(tmp_path, extended(length=length))
    assert (rows, issue.code, issue.section) == ([(126, 128, 1)], Code.EXTENDED_HEADER, "extended_header")
    assert issue.text.startswith("the length of the extended header is less than that of its fields")


@pytest.mark.parametrize("length", [32, 33, 52])
def test_an_extended_header_that_has_grown_is_read(tmp_path: Path, length: int) -> None:
    assert counted(tmp_path, extended(length=length)) == ([(1154, 128, 1)], [])


@pytest.mark.parametrize(("length", "subtype"), [(18, None), (24, 128), (55, 128)])
def test_a_record_that_ends_before_its_extended_header_is_an_issue(
    tmp_path: Path, length: int, subtype: int | None
) -> None:
    short = patched(extended(), 0, length.to_bytes(2, "big"))[:length]
    rows, (issue,) = counted(tmp_path, extended() + short + extended())
    assert rows == [(126, subtype, 1), (1154, 128, 2)]
    assert (issue.record_no, issue.offset) == (2, 100)
    assert issue.text.startswith("the record ends before its extended header does")


def test_a_record_with_nothing_after_its_extended_header(tmp_path: Path) -> None:
    assert counted(tmp_path, extended(body=b"")) == ([(1154, 128, 1)], [])


@pytest.mark.parametrize("flags", [0x1E, 0x5E, 0x3E])
def test_the_flags_must_tell_of_the_extended_header(tmp_path: Path, flags: int) -> None:
    (row,), (issue,) = counted(tmp_path, extended(flags=flags))
    assert row == (126, 128 if flags & 0x40 else None, 1)
    assert issue.text.startswith("the flags of the record do not tell of an extended header")


def test_bytes_and_headers_are_selected_by_the_type_of_the_extended_header(tmp_path: Path) -> None:
    path = tmp_path / "dump.smf"
    path.write_bytes(plain(200, 7) + extended() + extended(subtype=1))
    result = read(path, "smf_raw[record_type,record_subtype,bytes],1154(128)")
    assert result["smf_raw"].to_pylist() == [
        {"record_type": 1154, "record_subtype": 128, "bytes": extended()}
    ]
    types = read(path, "smf_record")["smf_record"]["record_type"].to_pylist()
    assert types == [200, 1154, 1154]


def test_a_table_of_other_records_reports_an_unreadable_extended_header_once(tmp_path: Path) -> None:
    path = tmp_path / "dump.smf"
    path.write_bytes(extended(30))
    result = read(path, "smf119_tcp_init,smf30_interval")
    assert [issue.code for issue in result.issues] == [Code.EXTENDED_HEADER]


@given(st.binary(min_size=0, max_size=60))
def test_any_bytes_after_the_standard_header_are_one_record(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    record = patched(extended(), 0, (24 + len(content)).to_bytes(2, "big"))[:24] + content
    rows, issues = counted(tmp_path_factory.getbasetemp(), extended() + record + extended())
    assert sum(count for _, _, count in rows) == 3
    assert ((126, 128, 1) in rows) == bool(issues)
