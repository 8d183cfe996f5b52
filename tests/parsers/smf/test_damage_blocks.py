"""Damage in files of blocks: wrong length words of blocks, and damage inside and between them."""

from __future__ import annotations

import struct

import pytest
from tests.parsers.damaging import patched
from tests.parsers.smf.framed_records import GARBAGE, block, delivered, record, skipped

from zscope.parsers.issues import Code, Issue
from zscope.parsers.smf.framing import Framing, detect

WRONG_BLOCK = "the length word of a block is wrong; its records were read"
NO_BLOCK = "no block begins where the previous one ends"
NO_LENGTH = "there is no length word where a record should begin"
PAST_BLOCK = "a record extends past the end of its block"
OTHERS_INSIDE = "the length word of a record, {:,}, is wrong: others begin inside it"


RECORDS = [record(number, 40 + number * 37) for number in range(20)]
BLOCKS = [RECORDS[0:4], RECORDS[4:8], RECORDS[8:13], RECORDS[13:14], RECORDS[14:20]]
DATA = b"".join(block(*records) for records in BLOCKS)
STARTS = [sum(4 + sum(map(len, records)) for records in BLOCKS[:number]) for number in range(6)]
"""Where each block begins, and where the last one ends."""
AT = [
    STARTS[number] + 4 + sum(map(len, records[:index]))
    for number, records in enumerate(BLOCKS)
    for index in range(len(records))
]


def wrong_block(begin: int) -> Issue:
    return Issue(Code.DAMAGED_RANGE, WRONG_BLOCK, "a.smf", None, begin, begin + 4)


def read(data: bytes) -> tuple[list[bytes], list[int], list[Issue]]:
    got = delivered(data, Framing.BLOCKS)
    return got.records, got.offsets, got.issues


def without(*numbers: int) -> list[bytes]:
    return [whole for number, whole in enumerate(RECORDS) if number not in numbers]


def test_nothing_is_wrong_with_the_data_to_be_damaged() -> None:
    assert detect(DATA, whole=True) is Framing.BLOCKS
    assert read(DATA) == (RECORDS, AT, [])


@pytest.mark.parametrize("number", range(1, 5))
@pytest.mark.parametrize("word", ["00000000", "00070000", "7fff0000", "ffffffff", "40404040", "00100100"])
def test_a_length_word_of_a_block_that_cannot_be_one(number: int, word: str) -> None:
    records, offsets, issues = read(patched(DATA, STARTS[number], bytes.fromhex(word)))
    assert (records, offsets) == (RECORDS, AT)
    assert issues == [wrong_block(STARTS[number])]


@pytest.mark.parametrize("word", ["00000000", "00070000", "ffffffff", "40404040"])
def test_the_first_length_word_of_all_cannot_be_one(word: str) -> None:
    data = bytes.fromhex(word) + DATA[4:]
    assert detect(data, whole=True) is Framing.BLOCKS
    assert read(data) == (RECORDS, AT, [wrong_block(0)])


@pytest.mark.parametrize("number", range(5))
@pytest.mark.parametrize("change", [-30, -1, 1, 2, 30])
def test_a_length_word_of_a_block_that_is_a_little_wrong(number: int, change: int) -> None:
    length = STARTS[number + 1] - STARTS[number] + change
    data = patched(DATA, STARTS[number], struct.pack(">H", length))
    records, offsets, issues = read(data)
    assert (records, offsets) == (RECORDS, AT)
    if number == 4 and change > 0:
        text = f"the file ends inside a block: {change} byte{'s' * (change > 1)} missing; "
        text += "transfer the file again"
        end = len(DATA)
        assert issues == [Issue(Code.TRUNCATED, text, "a.smf", None, end, end + change)]
    else:
        assert issues == [wrong_block(STARTS[number])]


@pytest.mark.parametrize("number", [0, 1, 2, 4])
def test_a_length_word_that_ends_the_block_between_two_records(number: int) -> None:
    length = 4 + len(BLOCKS[number][0])
    records, offsets, issues = read(patched(DATA, STARTS[number], struct.pack(">H", length)))
    assert (records, offsets) == (RECORDS, AT)
    assert issues == [wrong_block(STARTS[number])]


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("length", [0x7FF8, 0x8004_0000])
def test_a_length_word_that_covers_all_blocks_after(number: int, length: int) -> None:
    word = struct.pack(">I", length) if length > 0xFFFF else struct.pack(">HH", length, 0)
    records, offsets, issues = read(patched(DATA, STARTS[number], word))
    assert (records, offsets) == (RECORDS, AT)
    assert issues == [wrong_block(STARTS[number])]


@pytest.mark.parametrize("number", range(5))
def test_a_length_word_that_is_missing(number: int) -> None:
    data = DATA[: STARTS[number]] + DATA[STARTS[number] + 4 :]
    records, offsets, issues = read(data)
    assert records == RECORDS
    assert offsets == [at - 4 * (at > STARTS[number]) for at in AT]
    expected = wrong_block(STARTS[number - 1] if number else 0)
    assert issues == [expected]


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("garbage", [b"\x41", GARBAGE, GARBAGE * 500])
def test_garbage_between_blocks(number: int, garbage: bytes) -> None:
    records, _, issues = read(DATA[: STARTS[number]] + garbage + DATA[STARTS[number] :])
    assert records == RECORDS
    begin, size = STARTS[number], len(garbage)
    if number < 5:
        assert issues == [skipped(begin, begin + size, NO_BLOCK)]
    else:
        code = Code.TRUNCATED if size == 1 else Code.DAMAGED_RANGE
        assert [(i.code, i.offset, i.end) for i in issues] == [(code, begin, begin + size)]


INSIDE = [number for number, at in enumerate(AT) if at - 4 not in STARTS]


@pytest.mark.parametrize("number", INSIDE)
@pytest.mark.parametrize("garbage", [b"\x41", GARBAGE])
def test_garbage_between_the_records_of_a_block(number: int, garbage: bytes) -> None:
    records, _, issues = read(DATA[: AT[number]] + garbage + DATA[AT[number] :])
    assert records == RECORDS
    assert issues == [skipped(AT[number], AT[number] + len(garbage), NO_LENGTH)]


def following(number: int) -> int:
    """Where the record after this one begins, or the block after."""
    end = AT[number] + len(RECORDS[number])
    assert end in AT or end in STARTS
    return end


@pytest.mark.parametrize("number", INSIDE[:-1])
def test_a_length_of_zero_inside_a_block(number: int) -> None:
    records, _, issues = read(patched(DATA, AT[number], b"\0\0"))
    assert records == without(number)
    assert issues == [skipped(AT[number], following(number), "a length word of 0 is too small for a record")]


@pytest.mark.parametrize("number", [0, 1, 4, 5, 8, 9, 10])
def test_a_length_too_large_inside_a_block(number: int) -> None:
    length = len(RECORDS[number]) + 21
    records, _, issues = read(patched(DATA, AT[number], struct.pack(">H", length)))
    assert records == without(number)
    assert issues == [skipped(AT[number], AT[number + 1], OTHERS_INSIDE.format(length))]


@pytest.mark.parametrize("number", [0, 3, 5, 7, 8, 12, 13])
@pytest.mark.parametrize("length", [2_500, 9_000, 0xFFFF])
def test_a_length_that_leads_out_of_the_block(number: int, length: int) -> None:
    records, _, issues = read(patched(DATA, AT[number], struct.pack(">H", length)))
    assert records == without(number)
    assert issues == [skipped(AT[number], following(number), PAST_BLOCK)]


@pytest.mark.parametrize("number", range(20))
def test_a_damaged_header(number: int) -> None:
    """Also that of the only record of a block, which leads to the next one all the same."""
    data = patched(DATA, AT[number] + 8, b"\xff" * 8)
    records, offsets, issues = read(data)
    changed = data[AT[number] : AT[number] + len(RECORDS[number])]
    assert records == [*RECORDS[:number], changed, *RECORDS[number + 1 :]]
    assert (offsets, issues) == (AT, [])


@pytest.mark.parametrize("number", range(1, 20))
@pytest.mark.parametrize("missing", [1, 8])
def test_bytes_missing_from_a_record(number: int, missing: int) -> None:
    inside = AT[number] + 30
    data = DATA[:inside] + DATA[inside + missing :]
    records, _, issues = read(data)
    if number == 19:
        size = len(RECORDS[19])
        text = f"the file ends inside a record: {size} bytes expected, {size - missing} present; "
        text += "transfer the file again"
        assert issues == [Issue(Code.TRUNCATED, text, "a.smf", None, AT[19], len(data))]
    else:
        reason = OTHERS_INSIDE.format(len(RECORDS[number]))
        assert issues == [skipped(AT[number], following(number) - missing, reason)]
    assert records == without(number)


@pytest.mark.parametrize("number", range(20))
def test_bytes_added_to_a_record(number: int) -> None:
    inside = AT[number] + 30
    data = DATA[:inside] + GARBAGE + DATA[inside:]
    records, _, issues = read(data)
    assert records == [*RECORDS[:number], data[AT[number] : following(number)], *RECORDS[number + 1 :]]
    end = following(number)
    assert [(i.code, i.offset, i.end) for i in issues] == [(Code.DAMAGED_RANGE, end, end + len(GARBAGE))]


def test_damage_across_several_blocks() -> None:
    begin, end = AT[6] + 40, STARTS[3] - 10
    data = DATA[:begin] + b"\xa7" * (end - begin) + DATA[end:]
    records, _, issues = read(data)
    assert records == [*RECORDS[:6], data[AT[6] : AT[7]], *RECORDS[13:]]
    assert issues == [skipped(AT[7], STARTS[3], NO_LENGTH)]


@pytest.mark.parametrize("number", range(20))
@pytest.mark.parametrize("present", [0, 1, 3, 4, 17, 18, 39])
def test_the_file_ends_inside_a_block(number: int, present: int) -> None:
    data = DATA[: AT[number] + present]
    records, _, issues = read(data)
    assert records == RECORDS[:number]
    ended = max(start for start in STARTS if start <= AT[number])
    end = STARTS[STARTS.index(ended) + 1]
    begin = AT[number] - 4 if AT[number] - 4 == ended and present < 18 else AT[number]
    if present == 0 and begin == AT[number]:
        assert [(i.code, i.offset, i.end) for i in issues] == [(Code.TRUNCATED, len(data), end)]
        missing = f"{end - len(data):,} bytes missing"
        assert issues[0].text == f"the file ends inside a block: {missing}; transfer the file again"
    else:
        assert [(i.code, i.offset, i.end) for i in issues] == [(Code.TRUNCATED, begin, len(data))]


@pytest.mark.parametrize("zeros", [1, 20, 3_000])
def test_zeros_in_a_block_that_is_not_full_are_no_padding(zeros: int) -> None:
    records, _, issues = read(DATA[: AT[3]] + bytes(zeros))
    assert records == RECORDS[:3]
    code = Code.TRUNCATED if zeros == 1 else Code.DAMAGED_RANGE
    assert [(i.code, i.offset, i.end) for i in issues] == [(code, AT[3], AT[3] + zeros)]


@pytest.mark.parametrize("present", [0, 1, 2, 3])
def test_the_file_ends_at_the_length_word_of_a_block(present: int) -> None:
    records, _, issues = read(DATA[: STARTS[4] + present])
    assert records == RECORDS[:14]
    expected = [(Code.TRUNCATED, STARTS[4], STARTS[4] + present)] if present else []
    assert [(i.code, i.offset, i.end) for i in issues] == expected


def test_extended_blocks_with_damage_inside() -> None:
    records = [record(number, 9_000 + number) for number in range(40)]
    data = block(*records[:20], extended=True) + block(*records[20:], extended=True)
    start, after = 4 + sum(map(len, records[:7])), 4 + sum(map(len, records[:8]))
    damaged = data[: start + 5_000] + b"\xa7" * 10_000 + data[start + 15_000 :]
    got, _, issues = read(damaged)
    assert got == [*records[:7], damaged[start:after], *records[9:]]
    assert issues == [skipped(after, after + len(records[8]), NO_LENGTH)]


@pytest.mark.parametrize("length", [8, 400_000, 0x7FFFFFFF])
def test_a_wrong_length_word_of_an_extended_block(length: int) -> None:
    """The length word of a block never determines how much is read or stored."""
    records = [record(number, 9_000 + number) for number in range(40)]
    first, second = block(*records[:20], extended=True), block(*records[20:], extended=True)
    got, _, issues = read(first + struct.pack(">I", 1 << 31 | length) + second[4:])
    assert got == records
    if length == 400_000:
        assert [i.code for i in issues] == [Code.TRUNCATED]
        assert (issues[0].offset, issues[0].end) == (len(first + second), len(first) + 400_000)
    else:
        assert issues == [wrong_block(len(first))]


def test_a_null_segment_before_other_records_is_damage() -> None:
    null = b"\0\4\x80\0"
    data = block(RECORDS[0], null, RECORDS[1], RECORDS[2]) + block(RECORDS[3])
    records, _, issues = read(data)
    assert records == RECORDS[:4]
    reason = "other data follow a null segment in its block"
    assert issues == [skipped(4 + len(RECORDS[0]), 8 + len(RECORDS[0]), reason)]
