"""Tables on a terminal: which columns are visible, wrapped texts, records, and the line below."""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow as pa
import pytest

from zscope.app.cli.output import Rows
from zscope.app.cli.output.terminal import FIRST_ROWS, Screen, notes, screen

WIDE = pa.table(
    {
        "first": ["a" * 10, "b" * 10],
        "second": [1, 2],
        "third": ["some words " * 3, "others " * 4],
        "fourth": ["d" * 5, "e" * 5],
    }
)


def shown(table: pa.Table, width: int, *essential: str, all_rows: bool = False) -> Screen:
    result = screen(Rows.of(table, essential), width=width, raw=False, all_rows=all_rows)
    assert max(map(len, result.lines)) <= max(width, 20)
    return result


def test_everything_is_shown_if_it_fits() -> None:
    table = pa.table({"same": ["x", "x"], "empty": pa.nulls(2, pa.string()), "n": [1, 2]})
    assert shown(table, 80).lines == ["same  empty  n", "----  -----  -", "x            1", "x            2"]


def test_essential_columns_come_first_and_others_are_named() -> None:
    result = shown(WIDE, 20, "fourth", "second")
    assert result.lines[0].split() == ["fourth", "second"]
    assert result.hidden == ["first", "third"]
    assert notes([result]) == [
        "2 more columns",
        "(first, third):",
        "--all-columns shows",
        "all, -o FILE writes",
        "all",
    ]


def test_columns_that_are_alike_or_empty_are_stated_below() -> None:
    table = pa.table(
        {"system": ["SYS1"] * 2, "note": pa.nulls(2, pa.string()), "n": [1, 2], "text": ["x" * 18, "y" * 18]}
    )
    result = shown(table, 25, "system", "n", "text", "note")
    assert result.lines[0].split() == ["n", "text"]
    assert " ".join(result.lines[5:]) == "(all rows: system SYS1; no values: note)"
    others = shown(table, 25, "n", "text")
    assert others.lines == result.lines[:4]
    assert others.hidden == ["system", "note"]


def test_a_figure_of_the_answer_stays_even_if_it_is_alike() -> None:
    table = pa.table({"failed": [0, 0], "name": ["a" * 30, "b" * 30], "other": ["c" * 30, "d" * 30]})
    assert "failed" in shown(table, 40, "failed", "name").lines[0]


def test_long_texts_are_wrapped() -> None:
    result = shown(WIDE, 60, "first", "third")
    assert result.lines[2].startswith("a" * 10)
    assert "some words some words some words" in result.lines[2]
    narrow = shown(WIDE, 32, "first", "third")
    assert [line.split() for line in narrow.lines[2:4]] == [
        ["a" * 10, *["some", "words"] * 1, "some"],
        ["words", "some", "words"],
    ]


def test_headings_have_two_lines_at_most() -> None:
    table = pa.table({"cpu_us_per_transaction": [1.5], "ended_transactions": [2], "low_hit_pct": [3.25]})
    assert shown(table, 80, *table.column_names).lines == [
        "           CPU         ended    low",
        "µs/transaction  transactions  hit %",
        "--------------  ------------  -----",
        "           1.5             2    3.2",
    ]
    assert shown(table, 44).lines[:2] == [
        "cpu_us_per_        ended_     low_",
        "transaction  transactions  hit_pct",
    ], "data keep the names of their columns"


def test_rows_become_records_if_the_answer_does_not_fit() -> None:
    table = pa.table({"a": ["x" * 30, "y" * 30], "b": ["z" * 30, None], "c": [1, 2]})
    lines = shown(table, 40, "a", "b", "c").lines
    assert lines[0] == "-- 1 ".ljust(40, "-")
    assert lines[1:4] == ["a  " + "x" * 30, "b  " + "z" * 30, "c  1"]
    assert lines[5:] == ["a  " + "y" * 30, "c  2"], "a column without a value in the row is left out"


def test_the_last_columns_are_left_out_before_rows_become_records() -> None:
    table = pa.table({"a": ["x" * 12], "b": ["y" * 12], "c": ["z" * 12]})
    result = shown(table, 30, "a", "b", "c")
    assert result.lines[0].split() == ["a", "b"]
    assert result.hidden == ["c"]


RANGES = pa.table(
    {
        "system": ["S1", "S2", "S3"],
        "cpu_s": [364.7, None, None],
        "low_cpu_s": [228.1, 0.0, None],
        "high_cpu_s": [431.4, 511.9, None],
        "share_pct": [12.34, 0.01, None],
        "why": ["if nothing changes; load SMF 30", "load SMF 30; for S2 only", None],
    }
)


def test_an_answer_has_units_ranges_and_notes() -> None:
    rows = Rows.of(RANGES, ("system", "cpu_s", "low_cpu_s", "high_cpu_s", "share_pct"), ("why",))
    assert screen(rows, width=80, raw=False, all_rows=False).lines == [
        "        CPU               share",
        "system    s        range      %  why",
        "------  ---  -----------  -----  ---",
        "S1      365   228 to 431   12.3  1",
        "  if nothing changes",
        "S2        -  at most 512  < 0.1  1",
        "  for S2 only",
        "S3        -            -      -",
        "",
        "(1) load SMF 30",
    ]


def test_the_heading_of_a_range_names_its_figure_unless_that_is_next_to_it() -> None:
    rows = Rows.of(RANGES.drop_columns(["cpu_s"]), ("system", "low_cpu_s", "high_cpu_s"))
    lines = screen(rows, width=22, raw=False, all_rows=False).lines
    assert lines[0] == "system  CPU range s"


def test_all_columns_have_their_names_and_digits() -> None:
    rows = Rows.of(RANGES, ("system",), ("why",))
    wide = screen(rows, width=120, raw=False, all_rows=False, all_columns=True).lines
    assert wide[0].split() == RANGES.column_names
    narrow = screen(rows, width=40, raw=False, all_rows=False, all_columns=True).lines
    assert narrow[1:4] == ["system      S1", "cpu_s       364.7", "low_cpu_s   228.1"]
    raw = screen(rows, width=120, raw=True, all_rows=False).lines
    assert raw[0].split() == RANGES.column_names


@pytest.mark.parametrize("width", [20, 40, 80, 120])
def test_notes_are_whole_at_every_width(width: int) -> None:
    rows = Rows.of(RANGES, ("system", "cpu_s"), ("why",))
    words = " ".join(screen(rows, width=width, raw=False, all_rows=False).lines).split()
    for note in ("(1) load SMF 30", "if nothing changes", "for S2 only"):
        assert " ".join(note.split()) in " ".join(words)


def test_units_come_from_the_declaration_if_the_name_has_none() -> None:
    rows = Rows(
        RANGES.schema, RANGES.to_batches(), ("system", "cpu_s"), units={"cpu_s": "h", "share_pct": "h"}
    )
    assert "h" not in " ".join(screen(rows, width=80, raw=False, all_rows=False).lines[:2]).split()
    pauses = pa.table({"system": ["S1"], "pause": [3]})
    rows = Rows(pauses.schema, pauses.to_batches(), ("system", "pause"), units={"pause": "min"})
    assert [line.split() for line in screen(rows, width=80, raw=False, all_rows=False).lines[:2]] == [
        ["pause"],
        ["system", "min"],
    ]


@pytest.mark.parametrize("width", [1, 5, 11, 30])
def test_a_very_narrow_screen_shows_something(width: int) -> None:
    assert len(screen(Rows.of(WIDE), width=width, raw=False, all_rows=False).lines) > 2


def test_the_first_rows_are_shown_unless_all_are_wanted() -> None:
    table = pa.table({"n": range(FIRST_ROWS + 1)})
    first = shown(table, 80)
    assert (len(first.lines), first.more_rows) == (FIRST_ROWS + 2, True)
    assert notes([first]) == ["first 200 rows; --all-rows shows all, -o FILE writes all"]
    every = shown(table, 80, all_rows=True)
    assert (len(every.lines), every.more_rows) == (FIRST_ROWS + 3, False)


def test_no_rows_have_a_heading() -> None:
    assert shown(WIDE.slice(0, 0), 80).lines[0].split() == WIDE.column_names


def test_times_have_no_zeros_that_all_share() -> None:
    hours = [datetime(2026, 3, 2, hour, tzinfo=UTC) for hour in (9, 10)]
    days = [datetime(2026, 3, day, tzinfo=UTC) for day in (2, 3)]
    times = pa.timestamp("us", "UTC")
    table = pa.table({"hour": pa.array(hours, times), "day": pa.array(days, times)})
    assert shown(table, 80).lines[2].split() == ["2026-03-02T09:00Z", "2026-03-02"]
