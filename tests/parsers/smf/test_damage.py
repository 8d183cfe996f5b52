"""Damage in a stream of records: the records that are still read, and the issues about the rest."""

from __future__ import annotations

import io
import struct
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.parsers.damaging import patched
from tests.parsers.smf.framed_records import GARBAGE, delivered, record, skipped

from zscope.parsers.issues import Code, InputError, Issue, Issues, Severity
from zscope.parsers.smf.framing import Framing
from zscope.parsers.smf.walker import FrameReader

DAMAGED, TRUNCATED, PADDING = Code.DAMAGED_RANGE, Code.TRUNCATED, Code.ZERO_PADDING
ENDS_INSIDE = "the file ends inside a record: {}; transfer the file again"
NO_HEADER = "no SMF header follows a length word"
NO_LENGTH = "there is no length word where a record should begin"
OTHERS_INSIDE = "the length word of a record, {:,}, is wrong: others begin inside it"
TOO_FEW = "a length word of {} is too small for a record"


RECORDS = [record(number, 40 + number * 37) for number in range(12)]
DATA = b"".join(RECORDS)
AT = [sum(map(len, RECORDS[:number])) for number in range(13)]
"""Where each record begins, and where the last one ends."""


def truncated(begin: int, end: int, detail: str) -> Issue:
    return Issue(TRUNCATED, ENDS_INSIDE.format(detail), "a.smf", None, begin, end)


def read(data: bytes, framing: Framing = Framing.RDW) -> tuple[list[bytes], list[int], list[Issue]]:
    got = delivered(data, framing)
    return (
        got.records,
        got.offsets,
        [issue for issue in got.issues if issue.code is not Code.EXCLUSIVE_LENGTHS],
    )


def without(*numbers: int) -> list[bytes]:
    return [whole for number, whole in enumerate(RECORDS) if number not in numbers]


def test_nothing_is_wrong_with_the_data_to_be_damaged() -> None:
    assert read(DATA) == (RECORDS, AT[:-1], [])


@pytest.mark.parametrize("number", range(12))
@pytest.mark.parametrize("garbage", [b"\x41", b"\xff\xff", b"\0\1", GARBAGE, GARBAGE * 500, b"\0\x40\0\0"])
def test_garbage_between_records_is_skipped(number: int, garbage: bytes) -> None:
    records, offsets, issues = read(DATA[: AT[number]] + garbage + DATA[AT[number] :])
    assert records == RECORDS
    assert offsets == AT[:number] + [at + len(garbage) for at in AT[number:-1]]
    reason = NO_HEADER if garbage == b"\0\x40\0\0" else NO_LENGTH
    assert issues == [skipped(AT[number], AT[number] + len(garbage), reason)]


@pytest.mark.parametrize("count", [1, 4, 18, 5_000])
def test_zeros_between_records_are_damage_and_no_padding(count: int) -> None:
    records, _, issues = read(DATA[: AT[5]] + bytes(count) + DATA[AT[5] :])
    assert records == RECORDS
    assert [(issue.code, issue.offset, issue.end) for issue in issues] == [(DAMAGED, AT[5], AT[5] + count)]
    assert issues[0].severity is Severity.WARNING


@pytest.mark.parametrize("number", range(12))
@pytest.mark.parametrize("length", [0, 1, 3, 4, 5, 17])
def test_a_length_too_small_for_a_record(number: int, length: int) -> None:
    """LL of 0 in the middle must not be waited at for ever."""
    records, _, issues = read(patched(DATA, AT[number], struct.pack(">H", length)))
    assert records == without(number)
    assert issues == [skipped(AT[number], AT[number + 1], TOO_FEW.format(length), number == 11)]


@pytest.mark.parametrize("number", range(11))
@pytest.mark.parametrize("more", [1, 10, 39])
def test_a_length_a_little_too_large(number: int, more: int) -> None:
    """The next record begins inside what this one claims."""
    length = len(RECORDS[number]) + more
    records, _, issues = read(patched(DATA, AT[number], struct.pack(">H", length)))
    assert records == without(number)
    assert issues == [skipped(AT[number], AT[number + 1], OTHERS_INSIDE.format(length))]


@pytest.mark.parametrize("number", range(10))
@pytest.mark.parametrize("length", [0x3001, 0xFFFF])
def test_a_length_far_too_large(number: int, length: int) -> None:
    """So large that the file ends before it."""
    records, _, issues = read(patched(DATA, AT[number], struct.pack(">H", length)))
    assert records == without(number)
    assert issues == [skipped(AT[number], AT[number + 1], OTHERS_INSIDE.format(length))]


@pytest.mark.parametrize("number", range(1, 11))
@pytest.mark.parametrize("less", [1, 10, 20])
def test_a_length_a_little_too_small(number: int, less: int) -> None:
    """The length of the record is plausible, so it is used; the remaining bytes are skipped."""
    length = len(RECORDS[number]) - less
    data = patched(DATA, AT[number], struct.pack(">H", length))
    records, offsets, issues = read(data)
    assert records == [*RECORDS[:number], data[AT[number] :][:length], *RECORDS[number + 1 :]]
    assert offsets == AT[:-1]
    assert issues == [skipped(AT[number + 1] - less, AT[number + 1], NO_LENGTH)]


@pytest.mark.parametrize("number", range(12))
@pytest.mark.parametrize("segment", [b"\xff\xff", b"\0\1", b"\x10\0", b"\4\0", b"\x80\0"])
def test_a_descriptor_whose_last_two_bytes_are_damaged(number: int, segment: bytes) -> None:
    records, _, issues = read(patched(DATA, AT[number] + 2, segment))
    assert records == without(number)
    assert issues == [skipped(AT[number], AT[number + 1], NO_LENGTH, number == 11)]


@pytest.mark.parametrize("number", range(12))
@pytest.mark.parametrize("at", [6, 10, 13, 14])
def test_a_damaged_header_between_good_neighbours_is_delivered(number: int, at: int) -> None:
    """Decoding reports the damage; the length leads to the next record, so its end is known."""
    data = patched(DATA, AT[number] + at, b"\xff")
    records, offsets, issues = read(data)
    assert records == [*RECORDS[:number], data[AT[number] : AT[number + 1]], *RECORDS[number + 1 :]]
    assert (offsets, issues) == (AT[:-1], [])


@pytest.mark.parametrize("count", [2, 3])
def test_up_to_three_damaged_headers_in_a_row_are_delivered(count: int) -> None:
    data = DATA
    for number in range(4, 4 + count):
        data = data[: AT[number] + 8] + b"\xff" * 8 + data[AT[number] + 16 :]
    records, _, issues = read(data)
    assert records == [data[a:b] for a, b in pairwise(AT)]
    assert issues == []


def test_four_damaged_headers_in_a_row_are_a_gap() -> None:
    data = DATA
    for number in range(4, 8):
        data = data[: AT[number] + 8] + b"\xff" * 8 + data[AT[number] + 16 :]
    records, _, issues = read(data)
    assert records == without(4, 5, 6, 7)
    assert issues == [skipped(AT[4], AT[8], NO_HEADER)]


@pytest.mark.parametrize("missing", [1, 2, 4, 30])
@pytest.mark.parametrize("number", range(1, 11))
def test_bytes_missing_from_a_record(number: int, missing: int) -> None:
    """The next record is nearer than the length indicates."""
    inside = AT[number] + 40
    data = DATA[:inside] + DATA[inside + missing :]
    records, offsets, issues = read(data)
    assert records == without(number)
    assert offsets == AT[:number] + [at - missing for at in AT[number + 1 : -1]]
    reason = OTHERS_INSIDE.format(len(RECORDS[number]))
    assert issues == [skipped(AT[number], AT[number + 1] - missing, reason)]


@pytest.mark.parametrize("more", [b"x", GARBAGE])
@pytest.mark.parametrize("number", range(1, 11))
def test_bytes_added_to_a_record(number: int, more: bytes) -> None:
    inside = AT[number] + 40
    data = DATA[:inside] + more + DATA[inside:]
    records, offsets, issues = read(data)
    assert records == [*RECORDS[:number], data[AT[number] : AT[number + 1]], *RECORDS[number + 1 :]]
    assert offsets == AT[: number + 1] + [at + len(more) for at in AT[number + 1 : -1]]
    assert issues == [skipped(AT[number + 1], AT[number + 1] + len(more), NO_LENGTH)]


def test_only_the_records_that_were_overwritten_are_lost() -> None:
    begin, end = AT[3] + 30, AT[7] + 5
    data = DATA[:begin] + b"\xa7" * (end - begin) + DATA[end:]
    records, _, issues = read(data)
    # The third keeps its length, so it is delivered with what is in it now.
    assert records == [*RECORDS[:3], data[AT[3] : AT[4]], *RECORDS[8:]]
    assert issues == [skipped(AT[4], AT[8], NO_LENGTH)]


def test_a_lone_record_between_two_damages_is_read() -> None:
    data = DATA[: AT[4]] + GARBAGE + RECORDS[4] + GARBAGE + DATA[AT[5] :]
    records, _, issues = read(data)
    assert records == RECORDS
    size = len(GARBAGE)
    assert issues == [
        skipped(AT[4], AT[4] + size, NO_LENGTH),
        skipped(AT[5] + size, AT[5] + 2 * size, NO_LENGTH),
    ]


def test_a_record_that_contains_another_one_is_not_dropped() -> None:
    """Its length leads to a good place, whatever it contains."""
    outer = RECORDS[8][:100] + RECORDS[0] + RECORDS[1] + RECORDS[8][100 + len(RECORDS[0] + RECORDS[1]) :]
    data = DATA[: AT[8]] + outer + DATA[AT[9] :]
    assert read(data) == ([*RECORDS[:8], outer, *RECORDS[9:]], AT[:-1], [])


@pytest.mark.parametrize("present", range(1, len(RECORDS[11])))
def test_the_file_ends_inside_its_last_record(present: int) -> None:
    data = DATA[: AT[11] + present]
    records, _, issues = read(data)
    assert records == RECORDS[:11]
    bytes_are = "1 byte is" if present == 1 else f"{present} bytes are"
    few = f"{bytes_are} left, too few for a record"
    detail = few if present < 4 else f"{len(RECORDS[11]):,} bytes expected, {present:,} present"
    assert issues == [truncated(AT[11], AT[11] + present, detail)]


@pytest.mark.parametrize("number", range(12))
def test_the_file_ends_between_two_records(number: int) -> None:
    """Without a header record the missing records cannot be detected."""
    assert read(DATA[: AT[number]]) == (RECORDS[:number], AT[:number], [])


def test_garbage_at_the_end() -> None:
    records, _, issues = read(DATA + GARBAGE)
    assert records == RECORDS
    assert issues == [skipped(AT[12], AT[12] + len(GARBAGE), NO_LENGTH, at_end=True)]


def test_a_few_bytes_of_garbage_at_the_end_look_like_a_record_cut_off() -> None:
    records, _, issues = read(DATA + b"\r\n\x1a")
    assert records == RECORDS
    assert issues == [truncated(AT[12], AT[12] + 3, "3 bytes are left, too few for a record")]


def test_damage_before_zeros_at_the_end_is_no_padding() -> None:
    records, _, issues = read(DATA + bytes(100) + b"\1" + bytes(100))
    assert records == RECORDS
    assert issues == [skipped(AT[12], AT[12] + 201, TOO_FEW.format(0), at_end=True)]


@pytest.mark.parametrize("data", [bytes(5_000), b"\xff" * 5_000, GARBAGE * 200, b"\0\0\0\x12" * 900])
def test_a_file_without_any_record(data: bytes) -> None:
    records, _, issues = read(data)
    assert records == []
    code = PADDING if not any(data) else DAMAGED
    assert [(issue.code, issue.offset, issue.end) for issue in issues] == [(code, 0, len(data))]


def test_a_strict_reader_stops_at_the_first_damage() -> None:
    reader = FrameReader(io.BytesIO(DATA + GARBAGE), Framing.RDW, Issues(strict=True))
    with pytest.raises(InputError, match="29 bytes at the end of the file skipped"):
        list(reader)


@pytest.mark.parametrize("number", range(12))
@pytest.mark.parametrize("garbage", [b"\x41\x42", GARBAGE])
def test_garbage_between_records_with_exclusive_lengths(number: int, garbage: bytes) -> None:
    exclusive = [struct.pack(">H", len(whole) - 4) + whole[2:] for whole in RECORDS]
    data = b"".join([*exclusive[:number], garbage, *exclusive[number:]])
    records, _, issues = read(data, Framing.RDW_EXCLUSIVE)
    assert records == exclusive
    assert issues == [skipped(AT[number], AT[number] + len(garbage), NO_LENGTH)]


@given(st.data())
def test_records_that_were_not_touched_are_read(data: st.DataObject) -> None:
    """Up to three runs of bytes are overwritten with anything; the rest has to come out as it was.

    But for one case: a length that happens to lead to the end of a later record takes those between along.
    """
    damaged = bytearray(DATA)
    touched: set[int] = set()
    for _ in range(data.draw(st.integers(1, 3))):
        begin = data.draw(st.integers(0, len(DATA) - 1))
        new = data.draw(st.binary(min_size=1, max_size=300))[: len(DATA) - begin]
        damaged[begin : begin + len(new)] = new
        touched |= {n for n in range(12) if AT[n] < begin + len(new) and begin < AT[n + 1]}
    for number in list(touched):
        (length,) = struct.unpack_from(">H", damaged, AT[number])
        touched |= {n for n in range(number, 12) if AT[number] + length in AT[n + 1 :]}
    records, offsets, issues = read(bytes(damaged))
    for number in set(range(12)) - touched:
        assert RECORDS[number] in records
    assert offsets == sorted(offsets)
    gaps = [(issue.offset or 0, issue.end or 0) for issue in issues]
    lengths = sum(map(len, records))
    assert lengths + sum(end - begin for begin, end in gaps) == len(DATA), "every byte is read or reported"
