"""Following length words, and the quick test of the records."""

from __future__ import annotations

import struct
from array import array
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zscope.parsers.smf.chain import FEW, descriptor, follow, named, suspects, timed, walk

if TYPE_CHECKING:
    from collections.abc import Sequence

DATE = bytes.fromhex("0126060f")
SYSTEM = "SYS1".encode("cp037")


def record(size: int, extra: int = 0, time: int = 0, date: bytes = DATE, system: bytes = SYSTEM) -> bytes:
    head = struct.pack(">HHBBI4s4s", size - extra, 0, 0x1E, 30, time, date, system)
    return head + b"\x77" * (size - len(head))


def plainly(data: bytes, position: int, stop: int, extra: int) -> tuple[list[int], int]:
    """The chain as anybody would follow it."""
    starts = []
    while position + 18 <= stop:
        length, rest = struct.unpack_from(">HH", data, position)
        if rest or length + extra < 18 or position + length + extra > stop:
            break
        starts.append(position)
        position += length + extra
    return starts, position


sizes = st.lists(st.sampled_from([18, 19, 24, 100, 700, 32_756, 65_531]), max_size=12)


@given(sizes, st.sampled_from([0, 4]), st.binary(max_size=20), st.integers(0, 40))
def test_the_chain_is_followed_to_the_first_place_that_is_no_record(
    of_sizes: list[int], extra: int, tail: bytes, cut: int
) -> None:
    data = b"".join(record(size, extra) for size in of_sizes) + tail
    stop = max(0, len(data) - cut)
    expected, reached = plainly(data, 0, stop, extra)
    for follower in ("walk", "follow"):
        starts: list[int] = []
        if follower == "walk":
            assert walk(memoryview(data), 0, stop, extra, starts) == reached
        else:
            assert follow(memoryview(data), 0, stop, stop, extra, starts) == reached
        assert starts == expected


@pytest.mark.parametrize("extra", [0, 4])
@pytest.mark.parametrize("sizes", [range(18, 918, 37), [18], [18, 19, 20, 21], [32_756, 18]])
@pytest.mark.parametrize("broken", [0.0, 0.66])
def test_the_chain_is_followed_through_megabytes(sizes: Sequence[int], extra: int, broken: float) -> None:
    """Enough for the way of following many stretches at once, to the end or to a break in the middle."""
    cycle = b"".join(record(size, extra) for size in sizes)
    data = cycle * (3_000_000 // len(cycle))
    at = int(broken * len(data)) // len(cycle) * len(cycle)
    if at:
        data = data[:at] + b"\0\4" + data[at + 2 :]
    expected, reached = plainly(data, 0, len(data), extra)
    assert reached == (at or len(data))
    starts = array("q")
    assert walk(memoryview(data), 0, len(data), extra, starts) == reached
    assert starts.tolist() == expected


def test_known_starts_are_unchanged() -> None:
    starts = [7]
    assert walk(memoryview(record(40)), 0, 40, 0, starts) == 40
    assert starts == [7, 0]


def test_a_descriptor_has_length_segment_code_and_zero() -> None:
    assert descriptor(memoryview(b"\xff\x12\x34\x03\x05"), 1) == (0x1234, 3, 5)


GOOD = record(30)
BAD_DATE = record(30, date=b"\xff" * 4)
BAD_SYSTEM = record(30, system=b"\1\2\3\4")
LATE = record(30, time=8_639_999)
NO_TIME = record(30, time=0xFFFFFFFF)


@pytest.mark.parametrize("count", [1, FEW - 1, FEW, 3 * FEW])
def test_suspect_records_are_detected_among_few_and_many(count: int) -> None:
    kinds = [(GOOD, LATE, BAD_DATE, BAD_SYSTEM)[number % 4] for number in range(count)]
    data = GOOD + b"".join(kinds)
    starts = list(range(0, len(data), 30))
    expected = [1 + number for number in range(count) if number % 4 >= 2]
    assert suspects(memoryview(data), starts, 1) == expected
    assert suspects(memoryview(data), starts, len(starts)) == []


@pytest.mark.parametrize(
    ("data", "looks_named", "looks_timed"),
    [
        (GOOD, True, True),
        (LATE, True, True),
        (BAD_DATE, False, False),
        (BAD_SYSTEM, False, True),
        (NO_TIME, True, False),
    ],
)
def test_the_two_quick_tests(data: bytes, looks_named: bool, looks_timed: bool) -> None:
    assert named(memoryview(data), 0) is looks_named
    assert timed(memoryview(data), 0) is looks_timed


@given(st.integers(0, 8_639_999))
def test_the_length_word_of_a_block_never_looks_like_a_record(time: int) -> None:
    """At the offset of the system name, the block has the date of its first record."""
    block = b"\x40\0\0\0" + record(0x3FFC, time=time)
    assert suspects(memoryview(block), [0], 0) == [0]
