"""The framing of a dump is detected from its content, also if the beginning is damaged."""

from __future__ import annotations

import struct
from itertools import pairwise

import pytest
from tests.parsers.smf.framed_records import block, record

from zscope.parsers.issues import Code, InputError
from zscope.parsers.smf.framing import HEAD_BYTES, Framing, detect

RDW, EXCLUSIVE, BLOCKS = Framing.RDW, Framing.RDW_EXCLUSIVE, Framing.BLOCKS


def segmented(whole: bytes, *cuts: int) -> bytes:
    """A record in segments that end at these places of its data."""
    data = whole[4:]
    bounds = [0, *cuts, len(data)]
    parts = [data[a:b] for a, b in pairwise(bounds)]
    codes = [1, *[3] * (len(parts) - 2), 2]
    return b"".join(
        struct.pack(">HBB", 4 + len(part), code, 0) + part for part, code in zip(parts, codes, strict=True)
    )


def exclusive(*records: bytes) -> bytes:
    return b"".join(struct.pack(">H", len(r) - 4) + r[2:] for r in records)


HEADER, TRAILER = record(0, 18, 2), record(99, 18, 3)
MANY = [HEADER, *(record(number, 40 + number * 13 % 300) for number in range(1, 40)), TRAILER]
SPANNED = segmented(record(1, 500), 200, 400)
NO_LENGTH = b"\0\4\0\0"
GARBAGE = b"\xa7" * 30
ZEROS = bytes(200)

GOOD_FILES = {
    "header and trailer only": (RDW, HEADER + TRAILER),
    "one record": (RDW, record(1)),
    "one record of 18 bytes": (RDW, HEADER),
    "many records": (RDW, b"".join(MANY)),
    "neither header nor trailer": (RDW, b"".join(MANY[1:-1])),
    "two dumps": (RDW, b"".join(MANY + MANY)),
    "a record longer than a data set allows": (RDW, record(1, 0xFFFF) + record(2)),
    "types of users and of extended headers": (RDW, b"".join(record(n, 30, 126 + n) for n in range(20))),
    "one record and zeros": (RDW, record(1) + ZEROS),
    "segments": (RDW, HEADER + SPANNED + TRAILER),
    "segments only": (RDW, SPANNED * 12),
    "descriptors twice, the inner one zero": (
        RDW,
        b"".join(struct.pack(">HH", len(r) + 4, 0) + b"\0\0\0\0" + r[4:] for r in MANY),
    ),
    "exclusive": (EXCLUSIVE, exclusive(*MANY)),
    "one exclusive record": (EXCLUSIVE, exclusive(record(1))),
    "two exclusive records": (EXCLUSIVE, exclusive(record(1), record(2))),
    "exclusive records of all lengths": (EXCLUSIVE, exclusive(*(record(n, 18 + n) for n in range(12)))),
    "one block": (BLOCKS, block(*MANY)),
    "one block of one record": (BLOCKS, block(record(1))),
    "blocks of one record": (BLOCKS, b"".join(block(r) for r in MANY)),
    "blocks of several records, the last one short": (
        BLOCKS,
        block(*MANY[:20]) + block(*MANY[20:30]) + block(TRAILER),
    ),
    "blocks with spanned records": (
        BLOCKS,
        block(HEADER, segmented(record(1, 500), 100)[:104])
        + block(segmented(record(1, 500), 100)[104:], record(2)),
    ),
    "extended blocks": (
        BLOCKS,
        block(*[record(n, 30_000) for n in range(5)], extended=True) + block(TRAILER, extended=True),
    ),
    "a block and zeros": (BLOCKS, block(*MANY) + ZEROS),
}


@pytest.mark.parametrize("name", GOOD_FILES)
def test_good_files(name: str) -> None:
    framing, data = GOOD_FILES[name]
    assert detect(data, whole=True) is framing


DAMAGED_FILES = {
    "a record cut off": (RDW, record(1)[:-1]),
    "a record cut off after its header": (RDW, record(1)[:18]),
    "two records, the second cut off": (RDW, record(1) + record(2)[:-5]),
    "one record and half a descriptor": (RDW, record(1) + b"\0\x3c"),
    "one record and a descriptor": (RDW, record(1) + b"\0\x3c\0\0"),
    "one good record and garbage": (RDW, record(1) + GARBAGE),
    "garbage at the start": (RDW, GARBAGE + b"".join(MANY)),
    "the first descriptor lost": (RDW, b"".join(MANY)[4:]),
    "a second dump after half a first one": (RDW, record(1)[:40] + b"".join(MANY)),
    "a bad length among few": (RDW, record(1) + NO_LENGTH + record(2)[4:] + record(3) + record(4)),
    "the first length wrong": (RDW, b"\0\x20" + b"".join(MANY)[2:]),
    "middle of a spanned record at the start": (RDW, SPANNED[204:] + b"".join(MANY)),
    "exclusive, garbage at the start": (EXCLUSIVE, GARBAGE + exclusive(*MANY)),
    "exclusive, garbage in the middle": (
        EXCLUSIVE,
        exclusive(*MANY[:3]) + GARBAGE + exclusive(*MANY[3:]),
    ),
    "blocks, garbage at the start": (BLOCKS, GARBAGE + block(*MANY[:20]) + block(*MANY[20:])),
    "blocks, the first length too small": (BLOCKS, block(*MANY[:20], length=200) + block(*MANY[20:])),
    "blocks, the first length too large": (BLOCKS, block(*MANY[:20], length=9_000) + block(*MANY[20:])),
    "blocks, the first length zero": (
        BLOCKS,
        bytes(4) + block(*MANY[:20])[4:] + block(*MANY[20:]) + block(TRAILER),
    ),
    "blocks, the first header damaged": (BLOCKS, block(record(1)[:8] + b"\xff" * 6 + record(1)[14:], *MANY)),
    "blocks, cut off": (BLOCKS, block(*MANY)[:-3]),
    "blocks that begin in a spanned record": (
        BLOCKS,
        block(SPANNED[204:], *MANY[:20]) + block(*MANY[20:30]) + block(*MANY[30:]),
    ),
}


@pytest.mark.parametrize("name", DAMAGED_FILES)
def test_damaged_files(name: str) -> None:
    framing, data = DAMAGED_FILES[name]
    assert detect(data, whole=True) is framing


@pytest.mark.parametrize("framing", list(Framing))
@pytest.mark.parametrize("cut", [200, 1_000, 3_000])
def test_the_head_of_a_longer_file(framing: Framing, cut: int) -> None:
    data = {RDW: b"".join(MANY), EXCLUSIVE: exclusive(*MANY), BLOCKS: block(*MANY)}[framing]
    assert len(data) > cut
    assert detect(data[:cut], whole=False) is framing


@pytest.mark.parametrize("framing", list(Framing))
def test_a_head_that_is_all_one_record(framing: Framing) -> None:
    long = record(1, 30_000)
    data = {RDW: long, EXCLUSIVE: exclusive(long), BLOCKS: block(long)}[framing]
    expected = BLOCKS if framing is BLOCKS else RDW
    assert detect(data[:500], whole=False) is expected


def test_an_extended_block_longer_than_the_head() -> None:
    data = block(*[record(n, 30_000) for n in range(50)], extended=True)
    assert len(data) > HEAD_BYTES
    assert detect(data[:HEAD_BYTES], whole=False) is BLOCKS


def test_a_block_that_reads_as_one_record_of_a_plausible_type_is_a_block() -> None:
    """X'7D220000' begins a block of 32,034 bytes here, though it could be the descriptor of a record."""
    inside = [record(n, 1_142, 118) for n in range(28)] + [record(28, 54, 118)]
    data = block(*inside)
    assert data[:8] == bytes.fromhex("7d22000004760000")
    assert detect(data, whole=True) is BLOCKS


def test_a_record_whose_first_bytes_could_be_those_of_a_block_is_a_record() -> None:
    first = record(1, 400)[:4] + bytes.fromhex("00500000") + record(1, 400)[8:]
    assert detect(first + record(2), whole=True) is RDW


@pytest.mark.parametrize("missing", [1, 2, 3])
def test_an_incomplete_exclusive_record_is_not_detected_as_exclusive(missing: int) -> None:
    assert detect(exclusive(record(1))[:-missing], whole=True) is RDW


def test_an_empty_file() -> None:
    with pytest.raises(InputError) as caught:
        detect(b"", whole=True, file="dump.smf")
    issue = caught.value.issue
    assert (issue.code, issue.file, issue.offset) == (Code.EMPTY, "dump.smf", 0)
    assert issue.text == "the file is empty: transfer it again"


@pytest.mark.parametrize(
    "data", [b"\0", b"\0\x12\0\0", HEADER[:17], bytes(5_000), b"\xff" * 5_000, GARBAGE, SPANNED[204:]]
)
def test_data_without_records_are_refused(data: bytes) -> None:
    with pytest.raises(InputError) as caught:
        detect(data, whole=True)
    assert caught.value.issue.code is Code.UNKNOWN_DATA
