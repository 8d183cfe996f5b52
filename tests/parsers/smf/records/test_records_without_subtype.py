"""Records of types that have no subtype: lost data (7) and SMF status (23)."""

from __future__ import annotations

import struct
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.dumps import sample_records

from zscope.parsers import Code, inventory, read
from zscope.parsers.smf.record_writer import (
    SectionBytes,
    encode_records,
    encode_section,
    encode_without_triplets,
)
from zscope.schemas import catalog
from zscope.schemas.arrow import LOCAL

if TYPE_CHECKING:
    from pathlib import Path

LOST, STATUS = catalog().records[7, None], catalog().records[23, None]
BEGIN, END = datetime(2026, 3, 2, 10, 14, 2), datetime(2026, 3, 2, 10, 14, 9, 120_000)  # noqa: DTZ001 - local
TOO_MANY, LOG_STREAM = 0x80, 0x40


def lost(count: int = 4711, flags: int = 0, tail: bytes = b"") -> bytes:
    """Return a type 7 record."""
    header = {
        "system": pa.array(["SYSA"]),
        "written_local": pa.array([END], LOCAL),
        "start_local": pa.array([BEGIN], LOCAL),
        "lost_records": pa.array([count], pa.uint16()),
        "loss_flags": pa.array([flags], pa.uint8()),
    }
    (record,) = encode_without_triplets(LOST, header, 1, tail)
    return record


def status(written: int) -> bytes:
    """Return a type 23 record with the statistics that have a layout, and 12 bytes more."""
    header = {"system": pa.array(["SYSA"]), "written_local": pa.array([END], LOCAL)}
    section = STATUS.section("statistics")
    columns = {"records_written": pa.array([written], pa.uint32())}
    (row,) = encode_section(section, columns, 1, 52)
    (record,) = encode_records(STATUS, header, [SectionBytes(section, [[row.tobytes()]])], 1)
    return record


def status_bytes(tail: bytes = b"", streams: tuple[tuple[str, int], ...] = ()) -> bytes:
    """Return a type 23 record written field by field from the published offsets, and not by the layout."""
    statistics = (
        struct.pack(">IIIIIIIIII", 11, 12, 0xEEEEEEEE, 9_876_543, 14, 15, 16, 17, 18, 0x80000001) + tail
    )
    entries = b"".join(
        struct.pack(">H", len(name)) + name.encode("cp037").ljust(26, b"\x40")
        + struct.pack(">IIIIII", 21, 22, most, 24, 25, 0xA0000000) + tail
        for name, most in streams
    )  # fmt: skip
    at = 56
    head = struct.pack(">HHBBI", 0, 0, 0x1E, 23, 3_684_912) + bytes.fromhex("0126061f")
    head += "SYSA".encode("cp037") + b"\0\0"
    head += struct.pack(">IHH", 0, 0, 0) * 2
    head += struct.pack(">IHH", at, len(statistics), 1)
    each = 52 + len(tail) if streams else 0
    head += struct.pack(">IHH", at + len(statistics) if streams else 0, each, len(streams)) + bytes(4)
    assert len(head) == at
    whole = head + statistics + entries
    return struct.pack(">H", len(whole)) + whole[2:]


def rows_of(folder: Path, content: bytes, table: str) -> tuple[list[dict[str, Any]], list[Code]]:
    path = folder / "dump.smf"
    path.write_bytes(content)
    result = read(path, table)
    (rows,) = result.values()
    return rows.to_pylist(), [issue.code for issue in result.issues]


def test_a_record_of_lost_data_has_count_kind_and_period(tmp_path: Path) -> None:
    tail = bytes.fromhex("c9c6c1e2d4c6")
    assert rows_of(tmp_path, lost(flags=LOG_STREAM, tail=tail) * 2, "smf7_lost") == (
        [
            {
                "record_no": number,
                "record_offset": offset,
                "system": "SYSA",
                "written_local": END,
                "lost_records": 4711,
                "start_local": BEGIN,
                "loss_flags": LOG_STREAM,
                "rest": tail,
            }
            for number, offset in ((1, 0), (2, 35))
        ],
        [],
    )


def test_the_period_is_where_the_manual_has_it() -> None:
    record = lost(0x1234)
    assert (record[4] & 0x40, record[5], len(record)) == (0, 7, 29)
    assert record[18:20].hex() == "1234"
    assert int.from_bytes(record[20:24], "big") == ((10 * 60 + 14) * 60 + 2) * 100
    assert record[24:28].hex() == "0126061f"


def test_a_number_that_is_too_large_for_its_field_is_not_zero(tmp_path: Path) -> None:
    rows, issues = rows_of(tmp_path, lost(0, TOO_MANY) + lost(0), "smf7_lost[lost_records,loss_flags]")
    assert rows == [{"lost_records": None, "loss_flags": TOO_MANY}, {"lost_records": 0, "loss_flags": 0}]
    assert issues == []


@pytest.mark.parametrize(
    ("length", "known"),
    [(18, set()), (20, set()), (24, set()), (28, {"start_local"})],
)
def test_a_short_record_has_the_fields_inside_it_and_an_issue(
    tmp_path: Path, length: int, known: set[str]
) -> None:
    record = length.to_bytes(2, "big") + lost()[2:length]
    ((row,), issues) = rows_of(tmp_path, record, "smf7_lost[lost_records,start_local,loss_flags]")
    # Without the last byte of the layout it is not known whether the number is valid.
    assert {name for name, value in row.items() if value is not None} == known
    assert issues == [Code.RECORD_TOO_SHORT]


def test_lost_data_with_dates_that_are_none(tmp_path: Path) -> None:
    record = bytearray(lost())
    record[24:28] = b"\xff" * 4
    ((row,), issues) = rows_of(tmp_path, bytes(record), "smf7_lost[lost_records,start_local]")
    assert row == {"lost_records": 4711, "start_local": None}
    assert issues == [Code.BAD_DATE]


@given(st.binary(min_size=15, max_size=60))
def test_any_bytes_after_the_system_are_rows_or_issues(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    folder = tmp_path_factory.getbasetemp()
    record = (18 + len(content)).to_bytes(2, "big") + lost()[2:18] + content
    assert len(rows_of(folder, lost() + record + lost(), "smf7_lost")[0]) == 3


def test_a_status_record_has_the_records_written(tmp_path: Path) -> None:
    columns = "system,records_written,statistics_flags"
    rows, issues = rows_of(tmp_path, status(9_876_543), f"smf23_status[{columns}]")
    assert rows == [{"system": "SYSA", "records_written": 9_876_543, "statistics_flags": 0}]
    assert issues == []


@pytest.mark.parametrize("length", [18, 20, 36, 43, 51])
def test_a_status_record_that_is_cut_short_has_an_issue(tmp_path: Path, length: int) -> None:
    record = length.to_bytes(2, "big") + status(1)[2:length]
    rows, issues = rows_of(tmp_path, status(2) + record + status(3), "smf23_status[records_written]")
    assert rows == [{"records_written": 2}, {"records_written": 3}]
    assert issues


def test_a_section_outside_of_a_status_record_has_an_issue(tmp_path: Path) -> None:
    record = bytearray(status(1))
    record[36:40] = (60_000).to_bytes(4, "big")
    assert rows_of(tmp_path, bytes(record), "smf23_status") == ([], [Code.SECTION_OUTSIDE])


def test_every_field_of_a_status_record_is_where_the_manual_has_it(tmp_path: Path) -> None:
    tail = bytes.fromhex("0102030405060708")
    [row], issues = rows_of(tmp_path, status_bytes(tail), "smf23_status")
    assert issues == []
    assert row == {
        "record_no": 1, "record_offset": 0, "system": "SYSA", "written_local": END, "buffers_written": 11,
        "most_buffers": 12, "records_written": 9_876_543, "buffer_unit_bytes": 14, "buffer_bytes": 15,
        "most_buffer_bytes": 16, "buffer_limit_bytes": 17, "buffer_warning_pct": 18,
        "statistics_flags": 0x80000001, "rest": tail,
    }  # fmt: skip


def test_each_log_stream_of_a_status_record_is_a_row(tmp_path: Path) -> None:
    record = status_bytes(b"\x99", (("IFASMF.PROD", 23), ("IFASMF.A234567890123456789", 1 << 31)))
    rows, issues = rows_of(tmp_path, status_bytes() + record, "smf23_log_stream")
    assert issues == []
    named = ("record_no", "section_no", "log_stream_name_length", "log_stream", "most_buffer_bytes")
    assert [tuple(row[name] for name in named) for row in rows] == [
        (2, 0, 11, "IFASMF.PROD", 23), (2, 1, 26, "IFASMF.A234567890123456789", 1 << 31),
    ]  # fmt: skip
    values = {"buffer_unit_bytes": 21, "buffer_bytes": 22, "buffer_limit_bytes": 24, "buffer_warning_pct": 25}
    assert {name: rows[0][name] for name in values} == values
    assert (rows[0]["log_stream_flags"], rows[0]["rest"]) == (0xA0000000, b"\x99")


@pytest.mark.parametrize("length", range(0, 40, 3))
def test_a_short_statistics_section_has_the_fields_inside_it(tmp_path: Path, length: int) -> None:
    record = bytearray(status_bytes())
    record[40:42] = length.to_bytes(2, "big")
    rows, _ = rows_of(tmp_path, bytes(record), "smf23_status")
    if length:
        assert rows[0]["records_written"] == (9_876_543 if length >= 16 else None)
        assert rows[0]["rest"] == b""
    else:
        assert rows == []


def test_a_number_of_log_streams_that_is_too_large_has_an_issue(tmp_path: Path) -> None:
    record = bytearray(status_bytes(streams=(("IFASMF.PROD", 23),)))
    record[50:52] = (2).to_bytes(2, "big")
    rows, issues = rows_of(tmp_path, bytes(record), "smf23_log_stream")
    assert ([row["log_stream"] for row in rows], issues) == (["IFASMF.PROD"], [Code.SECTION_COUNT])


def test_types_without_subtypes_are_counted_and_selected_by_their_number(tmp_path: Path) -> None:
    path = tmp_path / "dump.smf"
    path.write_bytes(lost() + status(5) + sample_records()[119, 2][0] + lost())
    counted = inventory(path).rows.select(["record_type", "record_subtype", "records"]).to_pylist()
    assert [tuple(row.values()) for row in counted] == [(7, None, 2), (23, None, 1), (119, 2, 1)]
    assert {name: len(rows) for name, rows in read(path, "7").items()} == {"smf7_lost": 2}
    both = {name: len(rows) for name, rows in read(path, "7,23").items()}
    assert both == {"smf7_lost": 2, "smf23_status": 1, "smf23_log_stream": 0}


def test_bytes_of_records_with_a_layout_are_no_raw_records(tmp_path: Path) -> None:
    rows, _ = rows_of(tmp_path, lost() + status(5), "smf_raw[record_type,part]")
    assert rows == []


def test_a_record_that_says_that_it_has_a_subtype_is_another_kind(tmp_path: Path) -> None:
    record = bytearray(lost())
    record[4] |= 0x40
    assert rows_of(tmp_path, bytes(record), "smf7_lost") == ([], [])
    ((row,), _) = rows_of(tmp_path, bytes(record), "smf_raw[record_type,part]")
    assert row == {"record_type": 7, "part": "record"}
