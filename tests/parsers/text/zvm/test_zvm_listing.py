"""FCX112 and FCX215 as listings: every column, and differences between releases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.parsers.text.zvm.listings import (
    BEGIN,
    CHANNEL,
    CPU,
    EXPECTED,
    GROUPS,
    HEADINGS,
    TOP,
    TRAFFIC,
    USER,
    USERS,
    extra,
    figures,
    read_listing,
    traffic,
)

from zscope.parsers import inventory
from zscope.parsers.issues import Code, Severity

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_every_column_of_a_listing_of_users(tmp_path: Path) -> None:
    result = read_listing(tmp_path, USER, run="2A-encrypted", system="VMA")
    assert result.problems == []
    assert figures(result.users) == EXPECTED
    rscs = result.users[1]
    assert extra(rscs) == {
        "Virtual IO/s DASD": "33.0",
        "Virtual IO/s Avoid": "2.1",
        "Virtual IO/s Diag98": ".0",
        "Virtual IO/s UR": ".3",
        "User Time Logged": "10",
        "User Time Active": "10",
        "Spool Pages": "118",
        "Spool SPg/M": "11.8",
    }
    of_all = (
        "file",
        "source",
        "system",
        "system_from",
        "run",
        "time_from",
        "interval_start_local",
        "period_s",
    )
    problems = (
        str(tmp_path / "listing.txt"),
        "text",
        "VMA",
        "option",
        "2A-encrypted",
        "report",
        BEGIN,
        600.0,
    )
    assert {tuple(row[name] for name in of_all) for row in result.users} == {problems}
    assert [row["line_no"] for row in result.users] == [12, 13, 14, 15]


def test_every_column_of_a_listing_of_paths(tmp_path: Path) -> None:
    result = read_listing(tmp_path, CHANNEL)
    assert result.problems == []
    assert traffic(result.channels) == TRAFFIC
    assert [(row["shared"], row["line_no"], row["extra"]) for row in result.channels] == [
        (True, 11, None),
        (True, 12, None),
    ]
    assert {(row["interval_start_local"], row["period_s"]) for row in result.channels} == {(BEGIN, 600.0)}


def test_shared_paths_are_a_note_for_each_report(tmp_path: Path) -> None:
    later = [line.replace("13:", "15:") for line in CHANNEL]
    alone = [line.replace("Yes", "No ").replace("13:", "16:") for line in CHANNEL]
    tables = read_listing(tmp_path, [*CHANNEL, *later, *alone]).tables
    notes = [(issue.severity, issue.code, issue.line_no) for issue in tables.issues]
    assert notes == [(Severity.NOTE, Code.SHARED_PATH, 1), (Severity.NOTE, Code.SHARED_PATH, 13)]
    assert "paths 32, 54 are shared" in next(iter(tables.issues)).text
    assert [row["shared"] for row in tables["zvm_channel"].to_pylist()] == [
        True,
        True,
        True,
        True,
        False,
        False,
    ]


def _moved(lines: list[str], order: tuple[tuple[int, int], ...]) -> list[str]:
    """Return the lines with their columns, each from one character to before another, in another order."""
    return ["".join(line.ljust(100)[begin:end] for begin, end in order).rstrip() for line in lines]


def _with_column(lines: list[str], at: int, words: list[str]) -> list[str]:
    """Return the lines with one more column that ends before the character `at`."""
    return [
        f"{line.ljust(at)[:at]}{word:>8}{line[at:]}".rstrip() for line, word in zip(lines, words, strict=True)
    ]


TABLE = [*GROUPS, HEADINGS, *USERS]
VARIATIONS: dict[str, Callable[[list[str]], list[str]]] = {
    "in another order": lambda lines: _moved(lines, ((0, 9), (32, 60), (60, 100), (9, 32))),
    "with a column more": lambda lines: _with_column(
        lines, 32, ["<-New->", "", "Pg/s", ".1", "...", "1234", "12.3K"]
    ),
    "without the last columns": lambda lines: [line[:60].rstrip() for line in lines],
    "without groups": lambda lines: ["", "", *lines[2:]],
    "all further right": lambda lines: [f"    {line}" for line in lines],
    "ruled below": lambda lines: [*lines[:3], "_" * 90, *lines[3:]],
    "names in small letters": lambda lines: [line.lower() for line in lines[:3]] + lines[3:],
    "figures one column off": lambda lines: [*lines[:3], *(f"{line[:9]} {line[9:]}" for line in lines[3:])],
}


@pytest.mark.parametrize("change", VARIATIONS.values(), ids=VARIATIONS.keys())
def test_columns_are_identified_by_their_words(
    tmp_path: Path, change: Callable[[list[str]], list[str]]
) -> None:
    result = read_listing(tmp_path, [*TOP, *change(TABLE)])
    assert result.problems == []
    assert figures(result.users) == EXPECTED


def test_a_column_without_its_word_is_null(tmp_path: Path) -> None:
    lines = [line.replace(" VCPU", "     ").replace("Ratio", "     ") for line in USER]
    lines = [f"{line[:20]}{'':12}{line[32:]}" if at > 8 else line for at, line in enumerate(lines)]
    result = read_listing(tmp_path, lines)
    assert result.problems == []
    assert {(row["vcpu_s"], row["tv_ratio"]) for row in result.users} == {(None, None)}
    assert result.cpu() == CPU


def test_groups_decide_what_total_is(tmp_path: Path) -> None:
    """Without the group of virtual I/O the only Total is that of the spool."""
    lines = [
        *TOP,
        "         <-CPU Load-> <-- Spool -->",
        "Userid    %CPU  TCPU   Total  Rate",
        "RSCS     44.98 269.9     118  11.8",
    ]
    result = read_listing(tmp_path, lines)
    (row,) = result.users
    assert (result.problems, row["virtual_io_per_s"]) == ([], None)
    assert extra(row) == {"Spool Total": "118", "Spool Rate": "11.8"}
    lines[6] = ""
    (row,) = read_listing(tmp_path, lines).users
    assert row["virtual_io_per_s"] == 118


def test_groups_decide_which_units_are_whose(tmp_path: Path) -> None:
    """The own partition first, then the whole machine."""
    order = ((0, 10), (38, 59), (10, 38), (59, 100))
    lines = [*CHANNEL[:6], *(line for line in _moved(CHANNEL[6:], order))]
    lines[6] = "Channel"
    result = read_listing(tmp_path, lines)
    assert result.problems == []
    assert traffic(result.channels) == TRAFFIC


def test_without_groups_the_order_decides(tmp_path: Path) -> None:
    result = read_listing(tmp_path, [*CHANNEL[:6], *CHANNEL[9:]])
    assert (result.problems, traffic(result.channels)) == ([], TRAFFIC)


def test_groups_that_say_nothing_decide_nothing(tmp_path: Path) -> None:
    result = read_listing(tmp_path, [*CHANNEL[:7], *CHANNEL[9:]])
    assert [issue.field for issue in result.issues] == ["UNITS", "WRITE", "READ"]
    row = result.channels[1]
    assert (row["work_units_pct"], row["own_work_units_pct"], row["write_bytes_per_s"]) == (
        None,
        None,
        12.9e6,
    )
    assert extra(row) == {
        "FICON Channel Utilization % Units": "9",
        "FICON Channel Utilization % Write": "8",
        "FICON Channel Utilization % Read": "8",
        "FICON Channel Utilization % Units 2": "5",
        "FICON Channel Utilization % Write 2": "4",
        "FICON Channel Utilization % Read 2": "4",
    }


@pytest.mark.parametrize(
    ("printed", "value"),
    [
        ("269.9", 269.9),
        (" .012", 0.012),
        ("    0", 0.0),
        ("   7.", 7.0),
        (" 1.2K", 1_200.0),
        (" 3.4m", 3_400_000.0),
        ("   2G", 2e9),
    ],
)
def test_numbers_as_they_may_be_printed(tmp_path: Path, printed: str, value: float) -> None:
    rows = [f"RSCS       ... {printed}   ...   ...  ....  ---"]
    result = read_listing(tmp_path, [*TOP, *GROUPS, HEADINGS[:43], *rows])
    (row,) = result.users
    assert result.problems == []
    assert row["tcpu_s"] == value
    assert {row[name] for name in ("cpu_pct", "vcpu_s", "tv_ratio", "virtual_io_per_s", "extra")} == {None}


def test_other_lines_than_users_are_skipped(tmp_path: Path) -> None:
    lines = [
        *TOP, *GROUPS, HEADINGS,
        ">>Mean>>  8.27 49.64 38.11   1.3  11.0  4.1    .6     .2  .0     10     10      2    .1",
        "User Class Data:",
        "CMSUSERS  1.00  6.00  5.00   1.2  11.0  4.1    .6     .2  .0     10     10      2    .1",
        "User Data:",
        *USERS,
    ]  # fmt: skip
    result = read_listing(tmp_path, lines)
    assert (result.problems, result.cpu()) == ([], CPU)
    del lines[10]
    assert read_listing(tmp_path, lines).cpu() == CPU, "classes without a title stand before the users"


def test_a_title_of_users_on_a_later_page_counts(tmp_path: Path) -> None:
    head = [*TOP, *GROUPS, HEADINGS]
    row = "CMSUSERS  1.00  6.00  5.00   1.2  11.0  4.1    .6     .2  .0     10     10      2    .1"
    result = read_listing(tmp_path, [*head, row, *head, "User Data:", *USERS[:2], *head, *USERS[2:]])
    assert (result.problems, result.cpu()) == ([], CPU)


@pytest.mark.parametrize(
    "again", [[*TOP, *GROUPS, HEADINGS], TOP, TOP[:5]], ids=["all", "heading", "unruled"]
)
def test_a_report_continues_over_several_pages(tmp_path: Path, again: list[str]) -> None:
    result = read_listing(tmp_path, [*USER[:-2], "", *again, *USERS[2:]])
    assert (result.problems, result.cpu()) == ([], CPU)
    (group,) = inventory(tmp_path / "listing.txt").rows.to_pylist()
    assert (group["report"], group["records"], group["first_local"]) == ("ZVM FCX112 USER", 1, BEGIN)
