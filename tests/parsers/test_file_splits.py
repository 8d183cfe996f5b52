"""Spans of a dump, read apart, have the records and issues of the whole, wherever it is damaged."""

from __future__ import annotations

import io
import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.parsers.smf.test_mutations import mutated
from tests.parsers.smf.test_windows import DATE, FRAMED, damage, record, records

from zscope.parsers.issues import Code, InputError, Issue, Issues
from zscope.parsers.planning import GOOD_BEFORE, spans
from zscope.parsers.smf.framing import Framing, detect
from zscope.parsers.smf.record_writer import as_blocks
from zscope.parsers.smf.walker import SMALLEST_WINDOW, WHOLE, FrameReader, Span

Read = tuple[list[tuple[int, int, bytes, bool]], list[Issue]]


def read(data: bytes, framing: Framing, span: Span = WHOLE) -> Read:
    issues = Issues(each_kind=1 << 30)
    found: list[tuple[int, int, bytes, bool]] = []
    stream = io.BytesIO(data)
    stream.seek(span.begin)
    for window in FrameReader(stream, framing, issues, "a.smf", SMALLEST_WINDOW, span):
        places = zip(window.starts.tolist(), window.lengths.tolist(), strict=True)
        whole = [window.data[start : start + length].tobytes() for start, length in places]
        numbers = range(window.first_record, window.first_record + len(whole))
        found += zip(numbers, window.offsets.tolist(), whole, window.spanned.tolist(), strict=True)
    return found, list(issues)


def cut(data: bytes, framing: Framing, size: int) -> list[Span]:
    windows = FrameReader(io.BytesIO(data), framing, Issues(), window=SMALLEST_WINDOW)
    return list(spans(windows, framing, size))


def together(data: bytes, framing: Framing, size: int) -> tuple[Read, list[Span]]:
    """Read the spans; every issue is reported by one of them."""
    cuts = cut(data, framing, size)
    found, issues = [], Issues(each_kind=1 << 30)
    for span in cuts:
        part, of_part = read(data, framing, span)
        found += part
        for issue in of_part:
            before = len(issues)
            issues.add(issue)
            assert len(issues) > before, f"{issue} is reported twice"
    return (found, list(issues)), cuts


@pytest.mark.parametrize("name", FRAMED)
def test_an_undamaged_dump(name: str) -> None:
    framing, frame = FRAMED[name]
    data = frame(records(random.Random(name)))
    parts, cuts = together(data, framing, 200_000)
    assert parts == read(data, framing)
    # Among short segments, there is hardly a place to cut.
    assert "short" in name or len(cuts) > 2 or name == "spanned blocks"


@pytest.mark.parametrize("name", FRAMED)
@given(seed=st.integers(0, 1 << 32))
@settings(max_examples=10)  # each reads a dump of a megabyte dozens of times
def test_a_damaged_dump(name: str, seed: int) -> None:
    framing, frame = FRAMED[name]
    rng = random.Random(f"{name} {seed}")
    data = damage(frame(records(rng)), rng)
    assert together(data, framing, rng.choice([1, 50_000, 400_000]))[0] == read(data, framing)


@given(seed=st.integers(0, 1 << 32))
def test_a_small_dump_with_damage_cut_wherever_possible(seed: int) -> None:
    data = mutated(seed)
    try:
        framing = detect(data, whole=True)
    except InputError:
        return
    assert together(data, framing, 1)[0] == read(data, framing)


SHORT = [record(random.Random(number), 40 + number % 7) for number in range(60)]
AT = [sum(map(len, SHORT[:number])) for number in range(61)]
DOUBTFUL = [bytes(18), SHORT[0][:14] + bytes.fromhex("01020304"), SHORT[0][:10] + bytes(8)]
"""Headers that are damaged in different ways."""


@given(st.lists(st.tuples(st.integers(0, 59), st.sampled_from(range(5))), max_size=8), st.integers(1, 900))
def test_damage_just_before_and_after_a_cut(changes: list[tuple[int, int]], size: int) -> None:
    """Damaged headers, records without a length, records in which others begin, and gaps."""
    whole = list(SHORT)
    for number, kind in changes:
        content = SHORT[number]
        length = content[:2]
        whole[number] = (
            length + b"\0\0" + DOUBTFUL[kind][4:18] + content[18:] if kind < 3 and kind else
            b"\0\3" + content[2:] if kind == 0 else
            content + bytes(number) if kind == 3 else
            (len(content) + len(SHORT[(number + 1) % 60])).to_bytes(2, "big") + content[2:]
        )  # fmt: skip
    data = b"".join(whole)
    assert together(data, Framing.RDW, size)[0] == read(data, Framing.RDW)


def test_a_record_with_a_doubtful_header_is_read_alike_wherever_a_step_of_the_walk_ends() -> None:
    """Its time and date are good, its system is not, and another record begins in the record before it."""
    odd = SHORT[1][:14] + bytes.fromhex("01020304") + SHORT[1][18:]
    inner = record(random.Random(1), 30)
    outer = (18 + 30 + 4).to_bytes(2, "big") + SHORT[2][2:18] + inner + bytes.fromhex("00280000")
    for before in range(40):
        data = b"".join([*SHORT[:before], outer, odd, *SHORT[before:]])
        assert together(data, Framing.RDW, 1)[0] == read(data, Framing.RDW)
        assert [issue.code for issue in read(data, Framing.RDW)[1]] == [
            issue.code for issue in read(b"".join([outer, odd, *SHORT]), Framing.RDW)[1]
        ]


def test_cuts_are_at_the_first_possible_places_after_a_size() -> None:
    cuts = cut(b"".join(SHORT), Framing.RDW, 500)
    begins = [span.begin for span in cuts]
    assert set(begins) <= set(AT)
    assert all(500 <= after - before < 550 for before, after in pairwise(begins))
    assert [span.first_record for span in cuts] == [AT.index(begin) + 1 for begin in begins]
    assert [span.end for span in cuts] == [*begins[1:], None]


def test_a_cut_has_good_records_before_it() -> None:
    bad = SHORT[20][:4] + bytes(14) + SHORT[20][18:]
    begins = [span.begin for span in cut(b"".join([*SHORT[:20], bad, *SHORT[21:]]), Framing.RDW, 1)]
    assert [AT.index(begin) for begin in begins[1:]] == [
        *range(GOOD_BEFORE, 20),
        *range(20 + GOOD_BEFORE + 1, 60),
    ]


def test_spans_begin_inside_blocks_and_with_blocks() -> None:
    data = b"".join(as_blocks(SHORT, 500))
    cuts = cut(data, Framing.BLOCKS, 1)
    assert {span.block is None for span in cuts} == {True, False}
    assert together(data, Framing.BLOCKS, 1)[0] == read(data, Framing.BLOCKS)


@given(st.lists(st.tuples(st.integers(0, 5_000), st.integers(0, 255)), max_size=4), st.booleans())
def test_blocks_with_wrong_bytes(changes: list[tuple[int, int]], spanned: bool) -> None:
    data = bytearray(b"".join(as_blocks(SHORT, 500, spanned=spanned)))
    for place, byte in changes:
        data[place % len(data)] = byte
    assert together(bytes(data), Framing.BLOCKS, 1)[0] == read(bytes(data), Framing.BLOCKS)


@given(st.integers(0, 6), st.integers(-60, 60))
def test_a_block_with_a_wrong_length(number: int, change: int) -> None:
    pieces = list(as_blocks(SHORT, 400))
    pieces[number] = (len(pieces[number]) + change).to_bytes(2, "big") + pieces[number][2:]
    data = b"".join(pieces)
    assert together(data, Framing.BLOCKS, 1)[0] == read(data, Framing.BLOCKS)


def dump_mark(kind: int) -> bytes:
    return b"\0\x12\0\0\x1e" + bytes([kind]) + bytes(4) + DATE + "SYS1".encode("cp037")


def test_a_dump_that_is_open_at_a_cut_is_reported_once_with_its_place() -> None:
    data = b"".join([*SHORT[:5], dump_mark(2), *SHORT[5:]])
    (_, issues), cuts = together(data, Framing.RDW, 300)
    assert [(issue.code, issue.record_no, issue.offset) for issue in issues] == [
        (Code.TRAILER_MISSING, 6, AT[5])
    ]
    assert len(cuts) > 3
    assert cuts[-1].open_dump == (6, AT[5])


def test_a_dump_that_is_closed_in_a_later_span_is_no_issue() -> None:
    data = b"".join([dump_mark(2), *SHORT, dump_mark(3)])
    (_, issues), cuts = together(data, Framing.RDW, 300)
    assert issues == []
    assert len(cuts) > 3


def test_a_truncated_dump_is_reported_by_the_last_span_only() -> None:
    data = b"".join(SHORT)[:-10]
    parts = [read(data, Framing.RDW, span) for span in cut(data, Framing.RDW, 300)]
    reports = [[issue.code for issue in issues] for _, issues in parts]
    assert reports == [*([[]] * (len(reports) - 1)), [Code.TRUNCATED]]
