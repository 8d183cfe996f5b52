"""Records framed in every way come back from the reader as they were."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.parsers.smf.framed_records import delivered, record

from zscope.parsers.issues import Code
from zscope.parsers.smf.framing import Framing, detect
from zscope.parsers.smf.record_writer import (
    as_blocks,
    as_exclusive,
    as_segments,
    as_stream,
    block,
    segment,
    split,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


sizes = st.lists(
    st.one_of(st.integers(18, 120), st.integers(100, 3_000), st.integers(32_700, 32_756)),
    min_size=1,
    max_size=15,
)


def numbered(of_sizes: Iterable[int]) -> list[bytes]:
    return [record(number, size) for number, size in enumerate(of_sizes)]


def read_back(pieces: Iterable[bytes], framing: Framing) -> tuple[list[bytes], list[bool], list[Code]]:
    """Records without their descriptors, whether they came in segments, and the codes of issues."""
    got = delivered(b"".join(pieces), framing)
    return content(got.records), got.spanned, [issue.code for issue in got.issues]


def content(records: Iterable[bytes]) -> list[bytes]:
    return [whole[4:] for whole in records]


@given(sizes)
def test_streams(of_sizes: list[int]) -> None:
    records = numbered(of_sizes)
    data = b"".join(as_stream(records))
    assert data == b"".join(records)
    assert detect(data, whole=True) is Framing.RDW
    assert read_back([data], Framing.RDW) == (content(records), [False] * len(records), [])


@given(sizes)
def test_exclusive_lengths(of_sizes: list[int]) -> None:
    records = numbered(of_sizes)
    framed = list(as_exclusive(records))
    assert [struct.unpack(">H", piece[:2])[0] + 4 for piece in framed] == of_sizes
    assert detect(b"".join(framed), whole=True) is Framing.RDW_EXCLUSIVE
    codes = [Code.EXCLUSIVE_LENGTHS]
    assert read_back(framed, Framing.RDW_EXCLUSIVE) == (content(records), [False] * len(records), codes)


@given(sizes, st.one_of(st.integers(5, 60), st.integers(60, 32_756)))
def test_segments(of_sizes: list[int], longest: int) -> None:
    of_sizes = [size for size in of_sizes if size < longest * 200]
    records = numbered(of_sizes)
    framed = list(as_segments(records, longest))
    assert all(len(piece) <= longest for piece in framed)
    if longest >= 18 and records:
        assert detect(b"".join(framed), whole=True) is Framing.RDW
    spanned = [size > longest for size in of_sizes]
    assert read_back(framed, Framing.RDW) == (content(records), spanned, [])


@given(sizes, st.integers(0, 3_000))
def test_blocks_of_whole_records(of_sizes: list[int], more: int) -> None:
    size = min(32_760, max(of_sizes) + 4 + more)
    records = numbered(of_sizes)
    framed = list(as_blocks(records, size))
    assert all(len(piece) <= size for piece in framed)
    assert detect(b"".join(framed), whole=True) is Framing.BLOCKS
    assert read_back(framed, Framing.BLOCKS) == (content(records), [False] * len(records), [])


@given(sizes, st.one_of(st.integers(26, 200), st.integers(200, 32_760)))
def test_blocks_with_spanned_records(of_sizes: list[int], size: int) -> None:
    of_sizes = [length for length in of_sizes if length < size * 200] or [18]
    records = numbered(of_sizes)
    framed = list(as_blocks(records, size, spanned=True))
    assert all(len(piece) <= size for piece in framed)
    assert detect(b"".join(framed), whole=True) is Framing.BLOCKS
    got, spanned, codes = read_back(framed, Framing.BLOCKS)
    assert (got, codes) == (content(records), [])
    assert spanned == list(in_segments(framed))


def in_segments(blocks: list[bytes]) -> Iterator[bool]:
    """For each record whether it is in segments, from the segment codes."""
    for whole in blocks:
        at = 4
        while at < len(whole):
            length, code = struct.unpack_from(">HB", whole, at)
            if code in {0, 1}:
                yield code == 1
            at += length
        assert at == len(whole)


@given(sizes, st.integers(32_761, 200_000))
def test_extended_blocks(of_sizes: list[int], size: int) -> None:
    records = numbered(of_sizes)
    framed = list(as_blocks(records, size, extended=True))
    assert all(len(piece) <= size for piece in framed)
    assert detect(b"".join(framed), whole=True) is Framing.BLOCKS
    assert read_back(framed, Framing.BLOCKS) == (content(records), [False] * len(records), [])


@given(sizes)
def test_the_extended_form_may_describe_short_blocks_too(of_sizes: list[int]) -> None:
    records = numbered(of_sizes)
    framed = [struct.pack(">I", 1 << 31 | len(r) + 4) + r for r in records]
    assert detect(b"".join(framed), whole=True) is Framing.BLOCKS
    assert read_back(framed, Framing.BLOCKS) == (content(records), [False] * len(records), [])


def test_the_bytes_of_a_segment_and_a_block() -> None:
    assert segment(b"abc", 3) == bytes.fromhex("00070300616263")
    assert block([b"ab", b"cde"]) == bytes.fromhex("00090000") + b"abcde"
    assert block([bytes(40_000)], extended=True)[:4] == bytes.fromhex("80009c44")


def test_a_record_is_cut_into_first_middle_and_last() -> None:
    whole = bytes.fromhex("00140000") + b"0123456789abcdef"
    assert split(whole, 20) == [whole]
    assert split(whole, 10) == [
        bytes.fromhex("000a0100") + b"012345",
        bytes.fromhex("000a0300") + b"6789ab",
        bytes.fromhex("00080200") + b"cdef",
    ]
    assert split(whole, 19) == [
        bytes.fromhex("00130100") + b"0123456789abcde",
        bytes.fromhex("00050200") + b"f",
    ]


def test_segments_without_room_for_data_are_refused() -> None:
    with pytest.raises(ValueError, match="segments of 4 bytes have no room for data"):
        split(record(1, 20), 4)


def test_a_block_too_long_for_its_length_word_is_refused() -> None:
    assert len(block([bytes(32_756)])) == 32_760
    with pytest.raises(ValueError, match="a block of 32,761 bytes needs the extended form"):
        block([bytes(32_757)])
