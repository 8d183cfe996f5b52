"""Cache statistics: round trips and damage."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.parsers.damaging import wrapped
from tests.parsers.text.gsksrvr.cache_statistics import (
    COUNTERS,
    SESSION_ROW,
    TABLE,
    TICKET_ROW,
    moment,
    values,
)
from tests.parsers.text.gsksrvr.displays import read_display
from tests.parsers.text.reading import Row, codes

from zscope.parsers.issues import Code, Issue
from zscope.parsers.text.gsksrvr.statistics import stats_lines


def _read(lines: list[str]) -> tuple[list[Row], list[Issue], list[str]]:
    return read_display(TABLE, lines)


TICKETS, SESSIONS = stats_lines([TICKET_ROW]), stats_lines([SESSION_ROW])
COMPACT = [line for line in TICKETS if line.strip()]
CUT, DISAGREE = Code.REPORT_CUT, Code.ARITHMETIC


@pytest.mark.parametrize(
    ("first", "last", "missing", "expected"),
    [
        # From a block heading on, up to the end or to the next heading.
        (18, 33, ("update_", "retrieval_"), {(CUT, 17)}),
        (26, 33, ("retrieval_",), {(CUT, 25)}),
        (11, 17, ("add_",), {(CUT, 26)}),
        # A block heading and its dashes, also with lines before and after them.
        (18, 19, ("update_",), {(CUT, 18), (CUT, 31)}),
        (14, 19, ("add_suc", "add_failed", "add_replaced", "update_"), {(CUT, 14), (CUT, 27)}),
        (14, 20, ("add_", "update_"), {(CUT, 15), (CUT, 26)}),
        # What is left of two blocks looks like one.
        (23, 30, ("update_", "retrieval_"), {(DISAGREE, 20), (DISAGREE, 25), (CUT, 25)}),
        (22, 29, ("update_", "retrieval_"), {(DISAGREE, 20), (DISAGREE, 25), (CUT, 25)}),
        (21, 28, ("update_", "retrieval_"), {(DISAGREE, 20), (DISAGREE, 25), (CUT, 25)}),
        # One line: what follows is certain only if no later block has such a label.
        (21, 21, ("update_suc", "update_exp", "update_not"), {(CUT, 21), (CUT, 32)}),
        (14, 14, ("add_successful",), {(CUT, 32)}),
        (32, 32, ("retrieval_not_authorized",), {(CUT, 32)}),
    ],
)
def test_lost_lines_never_mix_blocks(
    first: int, last: int, missing: tuple[str, ...], expected: set[tuple[Code, int]]
) -> None:
    rows, issues, _ = _read(COMPACT[: first - 1] + COMPACT[last:])
    assert len(rows) == 1
    assert set(codes(issues)) == expected
    for name in COUNTERS:
        assert rows[0][name] == (None if name.startswith(missing) else TICKET_ROW[name]), name


def test_missing_labels_are_named() -> None:
    lines = [line for line in SESSIONS if "Reset time" not in line]
    _, issues, _ = _read(lines[:-8])
    assert [issue.text for issue in issues] == [
        "the display is incomplete; missing: Reset time, Retrieval statistics"
    ]


def test_wrapped_display_has_no_counters() -> None:
    rows, issues, _ = _read(wrapped(TICKETS, 40))
    assert {rows[0][name] for name in COUNTERS} == {None}
    assert rows[0]["taken_local"] == TICKET_ROW["taken_local"]
    assert Code.REPORT_CUT in {issue.code for issue in issues}


def test_display_without_values_is_one_issue() -> None:
    for lines in (
        ["GSK01079I Session ticket cache", " statistics"],
        ["GSK01079I Session ticket cache statistics", "?"],
    ):
        rows, issues, result = _read(lines)
        assert rows == []
        assert [(issue.code, issue.column_no) for issue in issues] == [(Code.REPORT_UNREADABLE, 1)]
        assert result == ["GSKSRVR TICKETCACHE statistics"]


def test_second_display_without_its_heading_is_skipped() -> None:
    rows, issues, _ = _read(SESSIONS + TICKETS[3:])
    assert [values(row) for row in rows] == [SESSION_ROW]
    assert codes(issues) == [(Code.REPORT_UNREADABLE, 29)]


def test_two_displays_in_one_report() -> None:
    rows, issues, _ = _read(TICKETS + SESSIONS)
    assert [values(row) for row in rows] == [TICKET_ROW, SESSION_ROW]
    assert issues == []


def test_stray_lines_are_reported() -> None:
    lines = list(TICKETS)
    lines[15:15] = ["READY", "*** more ***"]
    rows, issues, _ = _read(lines)
    assert [values(row) for row in rows] == [TICKET_ROW]
    assert codes(issues) == [(Code.UNKNOWN_LINE, 16), (Code.UNKNOWN_LINE, 17)]


COUNT = st.integers(0, 10**12)
TIME = st.datetimes(moment("2023-09-01 00:00:00"), moment("2049-01-01 00:00:00")).map(
    lambda when: when.replace(microsecond=0)
)


@st.composite
def displays(draw: st.DrawFn) -> Row:
    cache = draw(st.sampled_from(["ticket", "session-id"]))
    row: Row = dict.fromkeys(TICKET_ROW) | {
        "cache": cache,
        "taken_local": draw(TIME),
        "time_zone": draw(st.sampled_from(["CET", "CEST", "EST", "UTC", "GMT+02"])),
        "started_local": draw(TIME),
        "reset_local": draw(TIME),
        "reset_count": draw(st.integers(1, 10**6)),
        "cache_size_mb": draw(st.integers(0, 512)),
        "maximum_size_mb": draw(st.integers(1, 512)),
        "timeout_min": draw(st.integers(1, 10_080)),
        "add_replaced": draw(COUNT),
    }
    blocks = {"add": ["failed_full"], "retrieval": ["expired", "not_found", "not_authorized"]}
    if cache == "ticket":
        row["tickets_per_session"] = draw(st.integers(1, 20).map(lambda number: 16 * number))
        blocks["update"] = blocks["retrieval"]
    for block, failed in blocks.items():
        parts = {f"{block}_{name}": draw(COUNT) for name in ["successful", *failed]}
        requested = sum(parts.values())
        share = 100 * parts[f"{block}_successful"] / requested if requested else None
        row |= parts | {
            f"{block}_requested": requested,
            f"{block}_success_pct": None if share is None else float(f"{share:.3f}"),
        }
    return row


@given(written=displays(), split=st.booleans(), reset=st.booleans())
def test_round_trip(written: Row, split: bool, reset: bool) -> None:
    rows, issues, _ = _read(stats_lines([written], split_heading=split, reset=reset))
    assert [values(row) for row in rows] == [written]
    assert issues == []


def _damaged(draw: st.DrawFn, lines: list[str]) -> list[str]:
    at = draw(st.integers(0, len(lines) - 1))
    line, column = lines[at], draw(st.integers(0, 47))
    before, after = lines[:at], lines[at + 1 :]
    return draw(
        st.sampled_from(
            [
                before + after[draw(st.integers(0, 12)) :],
                [*before, line[:column] + " " + line[column:], *after],
                [*before, line[:21], *after],
                wrapped(lines, 40),
                [text[: 22 + column % 20] for text in lines if not text[21:22].isdigit()],
                [*before, "SYS1:/u/ops> ls", "", line, *after],
                [" " + text for text in lines],
                lines + lines[at:],
            ]
        )
    )


@given(written=displays(), data=st.data())
def test_damage_is_never_wrong_data(written: Row, data: st.DataObject) -> None:
    damaged = data.draw(st.composite(_damaged)(stats_lines([written])))
    rows, issues, _ = _read(damaged)
    reported = any(issue.line_no for issue in issues)
    assert rows or reported
    for row in rows:
        lost = [name for name in TICKET_ROW if row[name] is None and written[name] is not None]
        assert not lost or reported, lost
        for name in TICKET_ROW:
            # Where the values of Update and the heading of Retrieval are lost, one whole block is left.
            mixed = name.startswith("update_") and row["retrieval_requested"] is None and reported
            if name not in {"extra", "reset_since_previous"} and not mixed:
                assert row[name] is None or row[name] == written[name], name
