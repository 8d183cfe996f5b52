"""What makes a header believable: the array test, the pattern, and the rule spelled out byte by byte."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.parsers.damaging import patched

from zscope.parsers.smf.header import (
    HEADER_LENGTH,
    believable,
    find_headers,
    has_subtype,
    header_at,
    read_headers,
    sliding,
    valid_dates,
)

DESCRIPTOR = bytes.fromhex("00120000")
FLAGS_AND_TYPE = bytes.fromhex("5e46")
NOON = (4_320_000).to_bytes(4, "big")
DATE = bytes.fromhex("0126060f")
SYSTEM = "SYS1".encode("cp037")
GOOD = DESCRIPTOR + FLAGS_AND_TYPE + NOON + DATE + SYSTEM

NAME_CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789$#@_-. \0"


def plainly_believable(header: bytes) -> bool:
    """The rule as the format sheet has it."""
    time, date, system = header[6:10], header[10:14].hex(), header[14:18].decode("cp037")
    if int.from_bytes(time, "big") >= 24 * 60 * 60 * 100:
        return False
    century, year, day, sign = date[:2], date[2:4], date[4:7], date[7]
    if century not in {"00", "01"} or sign not in "cf" or not (year + day).isdecimal():
        return False
    return 1 <= int(day) <= 366 and system[0] not in " \0" and all(c in NAME_CHARACTERS for c in system)


def both(header: bytes) -> bool:
    """The verdict of the code under test, which has to be the same both ways."""
    by_array = bool(believable(np.frombuffer(header, np.uint8), np.array([0]))[0])
    by_pattern = header_at(memoryview(header), 0, len(header))
    by_search = list(find_headers(memoryview(header), 0, 1, len(header))) == [0]
    assert by_array == by_pattern == by_search
    return by_array


def test_a_header_as_the_system_writes_it_is_believable() -> None:
    assert both(GOOD)


@pytest.mark.parametrize("at", range(4, HEADER_LENGTH))
def test_every_value_of_every_single_byte(at: int) -> None:
    for value in range(256):
        header = patched(GOOD, at, bytes([value]))
        assert both(header) == plainly_believable(header), header.hex(" ")


@pytest.mark.parametrize(
    ("at", "data", "expected"),
    [
        (6, "0083d5ff", True),
        (6, "0083d600", False),
        (6, "01000000", False),
        (10, "0000001f", True),
        (10, "0126366c", True),
        (10, "0126366f", True),
        (10, "0126367f", False),
        (10, "0126370f", False),
        (10, "0126000f", False),
        (10, "0126009f", True),
        (10, "0226060f", False),
        (10, "012a060f", False),
        (10, "01260a0f", False),
        (10, "0126060d", False),
        (14, "00000000", False),
        (14, "40404040", False),
        (14, "e2f14040", True),
        (14, "5b7b7c6d", True),
        (14, "e2f10000", True),
        (14, "53595331", False),
    ],
)
def test_edges_of_time_date_and_name(at: int, data: str, expected: bool) -> None:
    header = patched(GOOD, at, bytes.fromhex(data))
    assert both(header) is expected
    assert plainly_believable(header) is expected


def test_every_date_of_a_leap_year_and_no_other_day() -> None:
    rows = np.array([[1, 0x24, int(f"{day // 10:02}", 16), int(f"{day % 10}f", 16)] for day in range(1000)])
    expected = [1 <= day <= 366 for day in range(1000)]
    assert valid_dates(rows.astype(np.uint8)).tolist() == expected
    for row, good in zip(rows.tolist(), expected, strict=True):
        assert both(patched(GOOD, 10, bytes(row))) is good


@given(st.binary(min_size=12, max_size=12))
def test_any_bytes(raw: bytes) -> None:
    header = GOOD[:6] + raw
    assert both(header) == plainly_believable(header)


@given(st.lists(st.sampled_from([GOOD, GOOD[:17], b"\x40", b"\0", b"\0\0\x12", GOOD[5:], b"\xff" * 9])))
def test_searching_finds_all_headers_wherever_they_lie(parts: list[bytes]) -> None:
    data = b"".join(parts)
    expected = [
        at for at in range(len(data) - HEADER_LENGTH + 1) if plainly_believable(data[at : at + HEADER_LENGTH])
    ]
    view = memoryview(data)
    assert list(find_headers(view, 0, len(data), len(data))) == expected
    middle = len(data) // 2
    assert list(find_headers(view, middle, len(data), len(data))) == [at for at in expected if at >= middle]
    assert list(find_headers(view, 0, middle, len(data))) == [at for at in expected if at < middle]


@pytest.mark.parametrize("missing", [1, 4, 17])
def test_a_header_that_the_data_cut_off_is_not_believed(missing: int) -> None:
    """Neither when the buffer ends there, nor when the buffer goes on but the data do not."""
    end = len(GOOD) - missing
    cut = np.frombuffer(GOOD[:end], np.uint8)
    assert believable(cut, np.array([0, -1])).tolist() == [False, False]
    assert not header_at(memoryview(GOOD), 0, end)
    assert not list(find_headers(memoryview(GOOD), 0, end, end))


def test_fields_are_where_the_format_has_them() -> None:
    record = bytes.fromhex("0123 00 00 de 46 0041eb00 0126060f e2e8e2f1 d9d4c640 0102") + b"\xee" * 40
    data = np.frombuffer(b"\xff" * 3 + record, np.uint8)
    header = read_headers(data, np.array([3]))
    assert header["length"].tolist() == [0x123]
    assert header["segment"].tolist() == [0]
    assert header["flags"].tolist() == [0xDE]
    assert header["type"].tolist() == [70]
    assert header["time"].tolist() == [4_320_000]
    assert header["date"].tobytes() == DATE
    assert header["system"].tobytes().decode("cp037") == "SYS1"
    assert header["subsystem"].tobytes().decode("cp037") == "RMF "
    assert header["subtype"].tolist() == [0x102]


def test_a_subtype_needs_the_flag_and_the_room() -> None:
    data = np.frombuffer((b"\0\x18\0\0\x5e" + bytes(19) + b"\0\x18\0\0\x1e" + bytes(19)), np.uint8)
    headers = read_headers(data, np.array([0, 0, 24]))
    assert has_subtype(headers, np.array([24, 23, 24])).tolist() == [True, False, False]


def test_sliding_over_less_than_one_item_is_empty() -> None:
    assert len(sliding(np.zeros(3, np.uint8), 4)) == 0
