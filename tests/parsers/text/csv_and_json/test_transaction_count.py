"""Transaction counts: CSV as users write it, refused values, and round trips."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.parsers.damaging import interrupted

from zscope.parsers import ReadOptions, Tables, inventory, read
from zscope.parsers.issues import Code, Severity
from zscope.parsers.text import report_splitter as segment
from zscope.parsers.text.capture_writer import as_bytes
from zscope.parsers.text.csv_and_json.forms import LONGEST_HEADING, forms_for
from zscope.parsers.text.csv_and_json.table_reader import supplied_lines

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

TABLE = "transaction_count"
Row = dict[str, Any]
HEAD = "system,start,end,transactions,workload"
GOOD = "SYSA,2026-03-02T10:00:00+01:00,2026-03-02T10:15:00+01:00,1000,RR60(4kB)"
NINE = datetime(2026, 3, 2, 9, tzinfo=UTC)
QUARTER = timedelta(minutes=15)


def read_lines(folder: Path, lines: Iterable[str], system: str | None = None) -> Tables:
    path = folder / "counts.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read(path, (TABLE,), options=ReadOptions(system=system))


def rows(result: Tables) -> list[Row]:
    return [dict(row) for row in result[TABLE].to_pylist()]


def issues_of(result: Tables) -> list[tuple[Code, int | None, str]]:
    return [(issue.code, issue.line_no, issue.field) for issue in result.issues]


def test_a_count_has_its_period_in_utc(tmp_path: Path) -> None:
    result = read_lines(tmp_path, [HEAD, GOOD])
    assert issues_of(result) == []
    (row,) = rows(result)
    assert row == {
        "file": str(tmp_path / "counts.csv"),
        "line_no": 2,
        "object_no": None,
        "source": "csv",
        "system": "SYSA",
        "system_from": "report",
        "start_utc": NINE,
        "end_utc": NINE + QUARTER,
        "transactions": 1000,
        "response_us": None,
        "workload": "RR60(4kB)",
        "extra": None,
    }


def test_a_count_can_have_a_mean_response_time(tmp_path: Path) -> None:
    result = read_lines(tmp_path, [f"{HEAD},response_us", f"{GOOD},740.5", f"{GOOD},"])
    assert issues_of(result) == []
    assert [row["response_us"] for row in rows(result)] == [740.5, None]


def test_columns_are_recognised_by_name(tmp_path: Path) -> None:
    lines = [
        "",
        "# counted by the driver",
        'Note , TRANSACTIONS,"End",Start,system',
        '"first, of two",7,2026-03-02T09:15:00Z,2026-03-02T09:00:00Z,SYSB',
        "   # in between",
        "",
        ",8,2026-03-02 04:30:00-05:00,2026-03-02T09:15Z,SYSB",
    ]
    result = read_lines(tmp_path, lines)
    assert issues_of(result) == []
    one, other = rows(result)
    assert (one["line_no"], one["transactions"], one["workload"]) == (4, 7, None)
    assert one["extra"] == '{"note": "first, of two"}'
    assert (other["start_utc"], other["end_utc"]) == (NINE + QUARTER, NINE + 2 * QUARTER)
    assert other["extra"] is None


@pytest.mark.parametrize(
    ("line", "field", "message"),
    [
        ("SYSA,2026-03-02T10:00:00,2026-03-02T10:15:00Z,1,", "start", "has no offset from UTC: write it as"),
        ("SYSA,2026-03-02T10:00:00Z,2026-03-02,1,", "end", "has no offset from UTC"),
        ("SYSA,03/02/2026 10:00,2026-03-02T10:15:00Z,1,", "start", "is not a time with an offset from UTC"),
        ("SYSA,,2026-03-02T10:15:00Z,1,", "start", "'' is not a time with an offset from UTC"),
        ("SYSA,0001-01-01T00:00:00+14:00,2026-03-02T10:15:00Z,1,", "start", "is not a time with an offset"),
        ("SYSA,2026-03-02T10:15:00Z,2026-03-02T10:15:00Z,1,", "end", "is not after the start"),
        ("SYSA,2026-03-02T10:00:00Z,2026-03-02T10:15:00Z,-1,", "transactions", "'-1' is not a whole number"),
        ("SYSA,2026-03-02T10:00:00Z,2026-03-02T10:15:00Z,1e6,", "transactions", "is not a whole number"),
        ("SYSA,2026-03-02T10:00:00Z,2026-03-02T10:15:00Z,,", "transactions", "'' is not a whole number"),
        (
            f"SYSA,2026-03-02T10:00:00Z,2026-03-02T10:15:00Z,{10**20},",
            "transactions",
            "is not a whole number",
        ),
        (
            ",2026-03-02T10:00:00Z,2026-03-02T10:15:00Z,1,",
            "system",
            "the system is not named, neither here nor by an option",
        ),
    ],
)
def test_a_wrong_value_skips_only_its_line(tmp_path: Path, line: str, field: str, message: str) -> None:
    result = read_lines(tmp_path, [HEAD, line, GOOD])
    assert [row["line_no"] for row in rows(result)] == [3]
    (issue,) = result.issues
    assert (issue.code, issue.line_no, issue.field, issue.table) == (Code.BAD_VALUE, 2, field, TABLE)
    assert message in issue.text
    assert issue.text.endswith("the line is skipped")


def test_every_problem_of_a_line_is_reported(tmp_path: Path) -> None:
    result = read_lines(tmp_path, [HEAD, ",10:00,10:15,many,"])
    assert [field for _, _, field in issues_of(result)] == ["start", "end", "transactions", "system"]
    assert rows(result) == []


@pytest.mark.parametrize("line", ["SYSA,2026-03-02T10:00:00Z", GOOD + ",1", '"SYSA,2026-03-02T10:00:00Z,1,2'])
def test_a_line_with_other_columns_is_skipped(tmp_path: Path, line: str) -> None:
    result = read_lines(tmp_path, [HEAD, line, GOOD])
    assert issues_of(result) == [(Code.UNKNOWN_LINE, 2, "")]
    assert len(rows(result)) == 1


def test_the_option_names_the_system_of_lines_without_one(tmp_path: Path) -> None:
    result = read_lines(tmp_path, [HEAD, "," + GOOD.partition(",")[2], GOOD], system="SYSQ")
    assert [(row["system"], row["system_from"]) for row in rows(result)] == [
        ("SYSQ", "option"),
        ("SYSA", "report"),
    ]


def test_repeated_and_empty_columns_are_reported(tmp_path: Path) -> None:
    result = read_lines(tmp_path, [HEAD + ",start", GOOD])
    assert issues_of(result) == [(Code.REPORT_UNREADABLE, 1, "")]
    assert "the column start occurs twice" in next(iter(result.issues)).text
    assert issues_of(read_lines(tmp_path, [HEAD])) == [(Code.REPORT_CUT, 1, "")]


def test_two_lists_in_one_file_have_separate_columns(tmp_path: Path) -> None:
    other = "transactions,system,end,start"
    result = read_lines(
        tmp_path, [HEAD, GOOD, other, "5,SYSB,2026-03-02T10:15:00Z,2026-03-02T10:00:00Z", HEAD, GOOD]
    )
    assert issues_of(result) == []
    assert [(row["line_no"], row["system"]) for row in rows(result)] == [
        (2, "SYSA"),
        (4, "SYSB"),
        (6, "SYSA"),
    ]


def test_a_list_over_the_limit_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment, "MOST_LINES", 100)
    result = read_lines(tmp_path, [HEAD, *([GOOD] * 110)])
    assert len(rows(result)) == 100
    (issue,) = result.issues
    assert (issue.code, issue.line_no) == (Code.REPORT_CUT, 101)
    assert "put the rest into another file" in issue.text


@pytest.mark.parametrize("coding", ["utf-8-sig", "utf-16", "cp1252"])
def test_numbers_of_spreadsheets(tmp_path: Path, coding: str) -> None:
    path = tmp_path / "counts.csv"
    path.write_bytes(as_bytes([HEAD + ",Geschäft", GOOD + ",ja"], coding, "\r\n"))
    assert [row["transactions"] for row in read(path, (TABLE,))[TABLE].to_pylist()] == [1000]


def test_the_inventory_shows_systems_with_the_times_of_their_counts_in_utc(tmp_path: Path) -> None:
    path = tmp_path / "counts.csv"
    earlier = GOOD.replace("T10:", "T08:")
    path.write_text(f"{HEAD}\n{GOOD}\n{GOOD.replace('SYSA', 'SYSB')}\n{earlier}\n")
    result = inventory(path).rows.to_pylist()
    assert [(row["kind"], row["system"], row["report"], row["source"]) for row in result] == [
        ("transaction", "SYSA", "TRANSACTION COUNTS", "csv"),
        ("transaction", "SYSB", "TRANSACTION COUNTS", "csv"),
    ]
    assert [(row["first_utc"], row["last_utc"]) for row in result] == [
        (NINE - 8 * QUARTER, NINE + QUARTER), (NINE, NINE + QUARTER)
    ]  # fmt: skip
    assert {row["first_local"] for row in result} == {None}


@pytest.mark.parametrize(
    ("line", "is_one"),
    [
        (HEAD, True),
        (" workload , End,START,Transactions,System", True),
        ("system,start,end", False),
        ("system,start,end,transactionsx", False),
        ("system;start;end;transactions", True),
        ("system|start|end|transactions", False),
        (HEAD + "," + "x" * LONGEST_HEADING, False),
    ],
)
def test_lines_with_column_names(line: str, is_one: bool) -> None:
    heading = forms_for().heading(line)
    assert (heading is not None and heading.form.table.name == TABLE) == is_one


COUNTS = st.fixed_dictionaries(
    {
        "system": st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@#$", min_size=1, max_size=8),
        "start_utc": st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
        "span": st.timedeltas(timedelta(microseconds=1), timedelta(days=40)),
        "transactions": st.integers(0, 10**19 - 1),
        "workload": st.none() | st.text("abcXYZ019 (),/\"'#;", min_size=1, max_size=20).map(str.strip),
    }
)


@given(st.lists(COUNTS, min_size=1, max_size=5), st.integers(-14 * 4, 14 * 4))
def test_written_displays_are_read(
    tmp_path_factory: pytest.TempPathFactory, counts: list[Row], quarters: int
) -> None:
    written = [count | {"end_utc": count["start_utc"] + count["span"]} for count in counts]
    lines = supplied_lines(TABLE, written, quarters * QUARTER)
    result = read_lines(tmp_path_factory.mktemp("counts"), lines)
    # A system whose name begins with # makes its line a comment.
    expected = [row for row in written if not row["system"].startswith("#")]
    names = ("system", "start_utc", "end_utc", "transactions")
    assert [[row[name] for name in names] for row in rows(result)] == [
        [row[name] for name in names] for row in expected
    ]
    assert [row["workload"] for row in rows(result)] == [row["workload"] or None for row in expected]


@given(st.integers(), st.lists(st.text(max_size=30), min_size=1, max_size=5))
def test_noise_between_lines_is_reported_and_affects_no_count(
    tmp_path_factory: pytest.TempPathFactory, seed: int, noise: list[str]
) -> None:
    spoken = [" ".join(f"?{word}".split()) for word in noise]
    lines = interrupted(random.Random(seed), [GOOD] * 20, spoken, share=0.3)
    result = read_lines(tmp_path_factory.mktemp("counts"), [HEAD, *lines])
    assert len(rows(result)) == 20
    assert len([issue for issue in result.issues if issue.severity is Severity.WARNING]) == len(lines) - 20
