"""Records in segments whose segments are missing, doubled, out of order or damaged."""

from __future__ import annotations

import struct

import pytest
from tests.parsers.smf.framed_records import GARBAGE, block, delivered, record, skipped

from zscope.parsers.issues import Code, Issue
from zscope.parsers.smf.framing import Framing, detect

FIRST, LAST, MIDDLE = 1, 2, 3
ORDER, TRUNCATED, DAMAGED = Code.SEGMENT_ORDER, Code.TRUNCATED, Code.DAMAGED_RANGE
CAME = "{} came before the last segment of a record; its segments were dropped"
ORPHANS = "segments came without the first one of their record and were dropped"
NO_END = (
    "the file ends before the last segment of a record; its segments were dropped; transfer the file again"
)


def segment(code: int, data: bytes) -> bytes:
    return struct.pack(">HBB", 4 + len(data), code, 0) + data


A, B, WHOLE = record(1, 90), record(2, 110), record(3, 1_000)
ONE, TWO, THREE = (
    segment(FIRST, WHOLE[4:304]),
    segment(MIDDLE, WHOLE[304:604]),
    segment(LAST, WHOLE[604:]),
)
OTHER = segment(FIRST, record(4, 500)[4:104]), segment(LAST, record(4, 500)[104:])
BEGIN = len(A)
"""Where the segments begin: all files here start with one complete record, and most end with another."""


def read(data: bytes, framing: Framing = Framing.RDW) -> tuple[list[bytes], list[bool], list[Issue]]:
    got = delivered(data, framing)
    return got.records, got.spanned, got.issues


def issue_at(code: Code, text: str, begin: int, end: int) -> Issue:
    return Issue(code, text, "a.smf", None, begin, end)


def test_nothing_is_wrong_with_the_segments_to_be_damaged() -> None:
    data = A + ONE + TWO + THREE + B
    assert detect(data, whole=True) is Framing.RDW
    assert read(data) == ([A, WHOLE, B], [False, True, False], [])


@pytest.mark.parametrize("segments", [[ONE], [ONE, TWO]], ids=["one", "two"])
def test_a_last_segment_that_is_missing(segments: list[bytes]) -> None:
    seen = b"".join(segments)
    end = BEGIN + len(seen)
    complete, first = CAME.format("a complete record"), CAME.format("another first segment")
    assert read(A + seen + B) == ([A, B], [False, False], [issue_at(ORDER, complete, BEGIN, end)])
    records, spanned, issues = read(A + seen + b"".join(OTHER) + B)
    assert (records, spanned) == ([A, record(4, 500), B], [False, True, False])
    assert issues == [issue_at(ORDER, first, BEGIN, end)]


@pytest.mark.parametrize("segments", [[TWO], [THREE], [TWO, TWO], [TWO, THREE]])
def test_a_first_segment_that_is_missing(segments: list[bytes]) -> None:
    """The record is reported once, for any number of segments."""
    seen = b"".join(segments)
    issue = issue_at(ORDER, ORPHANS, BEGIN, BEGIN + len(seen))
    assert read(A + seen + B) == ([A, B], [False, False], [issue])


@pytest.mark.parametrize("seen", [TWO, THREE, TWO + THREE])
def test_a_file_that_begins_in_the_middle_of_a_record(seen: bytes) -> None:
    data = seen + A + B
    assert detect(data, whole=True) is Framing.RDW
    assert read(data) == ([A, B], [False, False], [issue_at(ORDER, ORPHANS, 0, len(seen))])


def test_last_segments_of_two_records_without_first_ones_are_reported_twice() -> None:
    middle = BEGIN + len(THREE)
    issues = [
        issue_at(ORDER, ORPHANS, BEGIN, middle),
        issue_at(ORDER, ORPHANS, middle, middle + len(TWO + THREE)),
    ]
    assert read(A + THREE + TWO + THREE + B) == ([A, B], [False, False], issues)


def test_two_first_segments_in_a_row() -> None:
    issue = issue_at(ORDER, CAME.format("another first segment"), BEGIN, BEGIN + len(ONE))
    assert read(A + ONE + ONE + TWO + THREE + B) == ([A, WHOLE, B], [False, True, False], [issue])


def test_a_second_last_segment() -> None:
    begin = BEGIN + len(ONE + TWO + THREE)
    issue = issue_at(ORDER, ORPHANS, begin, begin + len(THREE))
    assert read(A + ONE + TWO + THREE + THREE + B) == ([A, WHOLE, B], [False, True, False], [issue])


@pytest.mark.parametrize("segments", [[ONE], [ONE, TWO]], ids=["one", "two"])
def test_the_file_ends_before_the_last_segment(segments: list[bytes]) -> None:
    data = A + b"".join(segments)
    assert read(data) == ([A], [False], [issue_at(TRUNCATED, NO_END, BEGIN, len(data))])


@pytest.mark.parametrize("cut", [1, 50, 296, 297, 299])
@pytest.mark.parametrize("segments", [[ONE, TWO], [ONE, TWO, THREE]], ids=["middle", "last"])
def test_the_file_ends_inside_a_later_segment(segments: list[bytes], cut: int) -> None:
    data = (A + b"".join(segments))[:-cut]
    assert read(data) == ([A], [False], [issue_at(TRUNCATED, NO_END, BEGIN, len(data))])


@pytest.mark.parametrize("there", [4, 10, 30, 300])
def test_the_file_ends_inside_a_first_segment(there: int) -> None:
    text = f"the file ends inside a record: 304 bytes expected, {there} present; transfer the file again"
    assert read(A + ONE[:there]) == ([A], [False], [issue_at(TRUNCATED, text, BEGIN, BEGIN + there)])


def test_a_first_segment_cut_off_after_an_unfinished_record() -> None:
    end = BEGIN + len(ONE)
    text = "the file ends inside a record: 104 bytes expected, 50 present; transfer the file again"
    issues = [
        issue_at(ORDER, CAME.format("another record"), BEGIN, end),
        issue_at(TRUNCATED, text, end, end + 50),
    ]
    assert read(A + ONE + OTHER[0][:50]) == ([A], [False], issues)


@pytest.mark.parametrize("garbage", [GARBAGE, GARBAGE * 300], ids=len)
def test_garbage_between_segments_costs_the_record(garbage: bytes) -> None:
    """Nothing shows where the next segment begins, so the search goes on to the next header."""
    data = A + ONE + garbage + TWO + THREE + B + b"".join(OTHER)
    records, spanned, issues = read(data)
    assert (records, spanned) == ([A, B, record(4, 500)], [False, False, True])
    broken, after = BEGIN + len(ONE), data.index(B)
    assert issues == [
        issue_at(ORDER, CAME.format("damaged data"), BEGIN, broken),
        skipped(broken, after, "there is no length word where a record should begin"),
    ]


@pytest.mark.parametrize("which", [0, 1, 2])
@pytest.mark.parametrize("change", [-7, 9])
def test_a_wrong_length_of_a_segment_costs_the_record(which: int, change: int) -> None:
    parts = [ONE, TWO, THREE]
    (length,) = struct.unpack_from(">H", parts[which])
    parts[which] = struct.pack(">H", length + change) + parts[which][2:]
    records, _, issues = read(A + b"".join(parts) + B + A)
    end = BEGIN + len(ONE + TWO + THREE)
    if which == 2 and change < 0:
        # It ends too early, and what was left over is skipped.
        shorter = struct.pack(">H", 1_000 + change) + WHOLE[2:change]
        assert records == [A, shorter, B, A]
        assert [(i.code, i.offset, i.end) for i in issues] == [(DAMAGED, end + change, end)]
        return
    assert records == [A, B, A]
    assert {issue.code for issue in issues} <= {ORDER, DAMAGED}
    assert (min(i.offset or 0 for i in issues), max(i.end or 0 for i in issues)) == (BEGIN, end)


def test_a_segment_that_claims_the_records_after_it_does_not_get_them() -> None:
    greedy = struct.pack(">H", 20_000) + THREE[2:]
    tail = [record(number, 300) for number in range(100)]
    records, _, issues = read(A + ONE + TWO + greedy + b"".join(tail))
    assert records == [A, *tail]
    end = BEGIN + len(ONE + TWO + THREE)
    reason = "the length word of a record, 20,000, is wrong: others begin inside it"
    assert issues == [
        issue_at(ORDER, CAME.format("damaged data"), BEGIN, BEGIN + len(ONE + TWO)),
        skipped(BEGIN + len(ONE + TWO), end, reason),
    ]


@pytest.mark.parametrize("code", [LAST, MIDDLE])
def test_what_only_looks_like_a_segment_does_not_hide_the_records_after(code: int) -> None:
    """Garbage that reads as a segment of 6,004 bytes, up to a place where a record begins."""
    tail = [record(number, 300) for number in range(40)]
    false = struct.pack(">HBB", 6_004 + 8, code, 0) + b"\xee" * 8
    records, _, issues = read(A + false + b"".join(tail))
    assert records == [A, *tail]
    reason = "the length word of a record, 6,012, is wrong: others begin inside it"
    assert issues == [skipped(BEGIN, BEGIN + 12, reason)]


@pytest.mark.parametrize("at", [8, 10, 14])
def test_a_damaged_header_in_a_first_segment_is_delivered(at: int) -> None:
    changed = ONE[:at] + b"\xff\xff" + ONE[at + 2 :]
    records, _, issues = read(A + changed + TWO + THREE + B)
    assert records == [A, WHOLE[:at] + b"\xff\xff" + WHOLE[at + 2 :], B]
    assert issues == []


def test_the_longest_record_and_one_byte_more() -> None:
    longest = record(5, 0xFFFF)
    parts = [longest[4:][at : at + 30_000] for at in range(0, 0xFFFF, 30_000)]
    good = segment(FIRST, parts[0]) + segment(MIDDLE, parts[1]) + segment(LAST, parts[2])
    assert read(A + good + B) == ([A, longest, B], [False, True, False], [])
    long = segment(FIRST, parts[0]) + segment(MIDDLE, parts[1]) + segment(LAST, parts[2] + b"\xee")
    text = "the segments have more than the 65,535 bytes of the longest record and were dropped"
    issue = issue_at(Code.RECORD_TOO_LONG, text, BEGIN, BEGIN + len(long))
    assert read(A + long + B) == ([A, B], [False, False], [issue])


@pytest.mark.parametrize("ending", ["last", "another", "none"])
def test_segments_without_end_are_reported_once_and_not_stored(ending: str) -> None:
    middle = segment(MIDDLE, b"\xee" * 5_000)
    endless = ONE + middle * 1_000
    data = A + endless + {"last": THREE + B, "another": B, "none": b""}[ending]
    end = BEGIN + len(endless) + (len(THREE) if ending == "last" else 0)
    text = "the segments have more than the 65,535 bytes of the longest record and were dropped"
    records, _, issues = read(data)
    assert records == ([A] if ending == "none" else [A, B])
    assert issues == [issue_at(Code.RECORD_TOO_LONG, text, BEGIN, end)]


@pytest.mark.parametrize("size", [2, 5, 13])
def test_segments_too_short_for_a_record(size: int) -> None:
    """A record is at least a header without its descriptor: 14 bytes."""
    short = segment(FIRST, b"\x1e" * (size - 1)) + segment(LAST, b"\x1e")
    text = "the segments have less than the 18 bytes of the shortest record and were dropped"
    issue = issue_at(Code.RECORD_TOO_SHORT, text, BEGIN, BEGIN + len(short))
    assert read(A + short + B) == ([A, B], [False, False], [issue])


def test_the_shortest_record_in_the_shortest_segments() -> None:
    shortest = record(6, 18)
    pieces = [shortest[4 + at : 5 + at] for at in range(14)]
    codes = [FIRST, *[MIDDLE] * 12, LAST]
    data = b"".join(segment(code, piece) for code, piece in zip(codes, pieces, strict=True))
    assert read(A + data + B) == ([A, shortest, B], [False, True, False], [])


def test_spanned_records_across_blocks() -> None:
    data = block(A, ONE) + block(TWO) + block(THREE, B)
    assert detect(data, whole=True) is Framing.BLOCKS
    assert read(data, Framing.BLOCKS) == ([A, WHOLE, B], [False, True, False], [])


def test_a_block_that_is_missing_costs_only_the_record_in_it() -> None:
    """Its first segment comes without the rest."""
    records, _, issues = read(block(A, ONE) + block(B, OTHER[0]) + block(OTHER[1], A), Framing.BLOCKS)
    assert records == [A, B, record(4, 500), A]
    begin = 4 + BEGIN
    assert issues == [issue_at(ORDER, CAME.format("a complete record"), begin, begin + len(ONE))]


@pytest.mark.parametrize("length", [0, 7, 200, 404, 0xFFFF])
@pytest.mark.parametrize("number", [1, 2])
def test_a_wrong_length_of_a_block_does_not_cost_the_spanned_record(length: int, number: int) -> None:
    blocks = [block(A, ONE), block(TWO), block(THREE, B), block(A)]
    begin = sum(map(len, blocks[:number]))
    blocks[number] = struct.pack(">H", length) + blocks[number][2:]
    wrong = "the length word of a block is wrong; its records were read"
    issue = issue_at(DAMAGED, wrong, begin, begin + 4)
    assert read(b"".join(blocks), Framing.BLOCKS) == ([A, WHOLE, B, A], [False, True, False, False], [issue])


def test_a_block_damaged_between_the_segments_of_a_record() -> None:
    second = block(TWO, THREE, B)
    data = block(A, ONE) + b"\xa7" * len(second) + block(*OTHER, A)
    records, _, issues = read(data, Framing.BLOCKS)
    assert records == [A, record(4, 500), A]
    begin, broken = 4 + BEGIN, len(block(A, ONE))
    assert issues == [
        issue_at(ORDER, CAME.format("damaged data"), begin, broken),
        skipped(broken, broken + len(second), "no block begins where the previous one ends"),
    ]
