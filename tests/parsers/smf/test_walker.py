"""Windows of records from good dumps of every kind: bytes, places, numbers, and notes on what is unusual."""

from __future__ import annotations

import io
import struct

import numpy as np
import pytest
from tests.parsers.smf.framed_records import Delivered, block, delivered, record

from zscope.parsers.issues import Code, Issue, Issues, Severity
from zscope.parsers.smf.framing import Framing
from zscope.parsers.smf.walker import SLACK, SMALLEST_WINDOW, FrameReader

RDW, EXCLUSIVE, BLOCKS = Framing.RDW, Framing.RDW_EXCLUSIVE, Framing.BLOCKS


HEADER, TRAILER = record(0, 18, 2), record(99, 18, 3)


class Trickle:
    """A stream that returns a few bytes at a time, as a pipe or a packed file does."""

    def __init__(self, data: bytes, most: int) -> None:
        self._file, self._most = io.BytesIO(data), most

    def readinto(self, buffer: memoryview, /) -> int:
        return self._file.readinto(buffer[: self._most])


def read(
    data: bytes, framing: Framing = RDW, window: int = SMALLEST_WINDOW, most: int | None = None
) -> Delivered:
    return delivered(data if most is None else Trickle(data, most), framing, window)


def places(records: list[bytes], first: int = 0) -> list[int]:
    return [first + sum(map(len, records[:number])) for number in range(len(records))]


MANY = [HEADER, *(record(n, 40 + n * 977 % 30_000) for n in range(1, 80)), TRAILER]


def test_records_come_whole_in_order_and_with_their_places() -> None:
    got = read(b"".join(MANY))
    assert got.records == MANY
    assert got.offsets == places(MANY)
    assert got.spanned == [False] * len(MANY)
    assert got.issues == []
    assert got.windows > 3


@pytest.mark.parametrize("window", [1, SMALLEST_WINDOW + 12_345, 1 << 20, 1 << 24])
@pytest.mark.parametrize("most", [None, 1_000, 70_001])
def test_neither_the_size_of_windows_nor_that_of_reads_matters(window: int, most: int | None) -> None:
    got = read(b"".join(MANY), window=window, most=most)
    assert (got.records, got.offsets, got.issues) == (MANY, places(MANY), [])


@pytest.mark.parametrize("cut", range(SMALLEST_WINDOW - 40, SMALLEST_WINDOW + 40))
def test_a_record_may_begin_anywhere_at_the_end_of_a_window(cut: int) -> None:
    records = [record(1, 40_000)] * 6
    records += [record(2, cut - 240_000), record(3, 18), record(4, 24), record(5, 0xFFFF), record(6)]
    got = read(b"".join(records))
    assert (got.records, got.issues, got.windows) == (records, [], 2)


def test_bytes_after_the_data_of_a_window_are_zero() -> None:
    """Decoders gather fields without asking where the data end."""
    data = b"".join(MANY)
    for window in FrameReader(io.BytesIO(data), RDW, Issues(), window=SMALLEST_WINDOW):
        assert len(window.data) <= SMALLEST_WINDOW + 3 * SLACK
        assert not window.data[-SLACK:].any()
        assert int((window.starts + window.lengths).max()) <= len(window.data) - SLACK


def test_an_empty_stream_has_no_windows_and_no_issues() -> None:
    assert read(b"") == Delivered()


def test_records_of_any_type_are_delivered() -> None:
    records = [record(n, 30, kind) for n, kind in enumerate(range(256)) if kind not in {2, 3}]
    assert read(b"".join(records)).records == records


def test_header_and_trailer_alone() -> None:
    got = read(HEADER + TRAILER)
    assert (got.records, got.issues) == ([HEADER, TRAILER], [])


def test_dumps_one_after_the_other() -> None:
    got = read(b"".join(MANY * 3))
    assert (got.records, got.issues) == (MANY * 3, [])


NO_TRAILER = (
    "the dump that begins here has no trailer (record type 3): the file may have been truncated; "
    "compare its size with that of the data set, or transfer it again"
)


@pytest.mark.parametrize("before", [[], [record(7)], MANY], ids=["none", "a record", "a dump"])
@pytest.mark.parametrize("after", [[], [record(8)], MANY[1:-1]], ids=["none", "a record", "many"])
def test_a_dump_without_trailer_is_noted(before: list[bytes], after: list[bytes]) -> None:
    records = [*before, HEADER, *after]
    got = read(b"".join(records))
    assert got.records == records
    offset = sum(map(len, before))
    assert got.issues == [Issue(Code.TRAILER_MISSING, NO_TRAILER, "a.smf", len(before) + 1, offset)]
    assert got.issues[0].severity is Severity.NOTE


@pytest.mark.parametrize(
    "records",
    [
        [record(1), TRAILER],
        [HEADER, record(1), HEADER, TRAILER],
        [HEADER, TRAILER, record(1)],
        [HEADER, TRAILER, record(1, 200, 2), record(2)],
        [record(1, 200, 2, 0x5E), record(2)],
    ],
    ids=["no header", "one trailer for two", "records after", "a signature after", "only a signature"],
)
def test_other_unusual_ends_are_not_noted(records: list[bytes]) -> None:
    assert read(b"".join(records)).issues == []


def test_a_trailer_in_segments_is_one() -> None:
    segments = b"\0\x0a\1\0" + TRAILER[4:10] + b"\0\x0c\2\0" + TRAILER[10:]
    assert read(HEADER + record(1) + segments).issues == []


@pytest.mark.parametrize("count", [1, 3, 4, 17, 18, 26, 5_000, 3 * SMALLEST_WINDOW])
@pytest.mark.parametrize("framing", list(Framing))
def test_zeros_after_the_last_record_are_padding(count: int, framing: Framing) -> None:
    records = [HEADER, record(1), TRAILER]
    data = framed(records, framing)
    got = read(data + bytes(count), framing)
    assert [r[4:] for r in got.records] == [r[4:] for r in records]
    issue = next(issue for issue in got.issues if issue.code is not Code.EXCLUSIVE_LENGTHS)
    size = "1 byte" if count == 1 else f"{count:,} bytes"
    text = f"{size} of zeros at the end of the file ignored"
    assert issue == Issue(Code.ZERO_PADDING, text, "a.smf", None, len(data), len(data) + count)
    assert issue.severity is Severity.NOTE


def framed(records: list[bytes], framing: Framing) -> bytes:
    if framing is BLOCKS:
        return block(*records)
    extra = framing.extra
    return b"".join(struct.pack(">H", len(r) - extra) + r[2:] for r in records)


def test_exclusive_lengths_are_read_and_reported_once() -> None:
    got = read(framed(MANY, EXCLUSIVE), EXCLUSIVE)
    assert [r[4:] for r in got.records] == [r[4:] for r in MANY]
    assert got.offsets == places(MANY)
    text = "the length words do not include their own four bytes; they were read accordingly"
    assert got.issues == [Issue(Code.EXCLUSIVE_LENGTHS, text, "a.smf", None, 0)]
    assert got.issues[0].severity is Severity.NOTE


@pytest.mark.parametrize("inner", ["zero", "right"])
@pytest.mark.parametrize("framing", list(Framing))
def test_records_that_have_their_descriptor_twice(inner: str, framing: Framing) -> None:
    """The inner one cannot be relied on; the record delivered has a right one."""
    plain = [HEADER, *(record(n, 40 + n * 13) for n in range(1, 60)), TRAILER]
    twice = []
    for number, whole in enumerate(plain):
        doubled = struct.pack(">HH", len(whole) + 4, 0) + (
            whole if inner == "right" else bytes(4) + whole[4:]
        )
        twice.append(doubled if number % 3 else whole)
    got = read(framed(twice, framing), framing)
    stated = [struct.pack(">H", len(r) - framing.extra) + r[2:] for r in plain]
    assert got.records == stated
    first = 4 if framing is BLOCKS else 0
    assert got.offsets == [
        place + (4 if number % 3 else 0) for number, place in enumerate(places(twice, first))
    ]
    assert [i for i in got.issues if i.code is not Code.EXCLUSIVE_LENGTHS] == []


def test_a_record_that_has_its_descriptor_twice_may_be_in_segments() -> None:
    whole = record(1, 300)
    inside = bytes(4) + whole[4:]
    data = b"\0\x64\1\0" + inside[:96] + b"\0\x64\3\0" + inside[96:192] + b"\0\x70\2\0" + inside[192:]
    got = read(HEADER + data + TRAILER)
    assert got.records == [HEADER, whole, TRAILER]
    assert (got.spanned, got.offsets) == ([False, True, False], [0, 18, 18 + len(data)])
    assert got.issues == []


def test_a_record_assembled_from_segments_has_a_plain_descriptor() -> None:
    whole = record(1, 1_000)
    first, middle, last = whole[4:404], whole[404:804], whole[804:]
    data = b"\1\x94\1\0" + first + b"\1\x94\3\0" + middle + struct.pack(">HBB", 4 + len(last), 2, 0) + last
    got = read(record(5) + data + record(6))
    assert got.records == [record(5), whole, record(6)]
    assert got.offsets == [0, 60, 60 + len(data)]
    assert got.spanned == [False, True, False]
    assert got.issues == []


def test_segments_may_lie_in_different_windows() -> None:
    whole = record(1, 60_000)
    segments = [whole[4 + at : 4 + at + 5_000] for at in range(0, 59_996, 5_000)]
    codes = [1, *[3] * (len(segments) - 2), 2]
    spanned = b"".join(
        struct.pack(">HBB", 4 + len(s), c, 0) + s for s, c in zip(segments, codes, strict=True)
    )
    records = [record(n, 30_000 + n) for n in range(8)]
    got = read(b"".join(records) + spanned + b"".join(records))
    assert got.records == [*records, whole, *records]
    assert got.issues == []


def test_null_segments_end_a_block() -> None:
    """Such a block contains nothing after it, whatever its length word is."""
    null = b"\0\4\x80\0"
    first = struct.pack(">HH", 4 + 60 + 40, 0) + record(1) + null + b"\xee" * 36
    second = struct.pack(">HH", 4 + 60 + 4, 0) + record(2) + null
    only = struct.pack(">HH", 8, 0) + null
    third = struct.pack(">HH", 4 + 60, 0) + record(3)
    got = read(first + second + only + third, BLOCKS)
    assert got.records == [record(1), record(2), record(3)]
    assert got.offsets == [4, 108, 184]
    assert got.issues == []


def test_windows_keep_their_records_when_the_next_one_is_read() -> None:
    """Other threads decode a window while the reader goes on."""
    data = b"".join(MANY)
    windows = list(FrameReader(io.BytesIO(data), RDW, Issues(), window=SMALLEST_WINDOW))
    joined = b"".join(
        w.data[s : s + n].tobytes()
        for w in windows
        for s, n in zip(w.starts.tolist(), w.lengths.tolist(), strict=True)
    )
    assert joined == data
    assert all(w.starts.dtype == np.int64 and w.lengths.dtype == np.int64 for w in windows)
