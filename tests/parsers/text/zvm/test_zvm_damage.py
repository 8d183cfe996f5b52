"""Damaged and hostile listings: valid rows are read, doubtful ones refused, and all of it is reported."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

import pytest
from tests.parsers.damaging import cut, garbled, lost, on_some, shifted, shuffled
from tests.parsers.text.zvm.listings import (
    CHANNEL,
    CPU,
    GROUPS,
    HEADINGS,
    SCREEN,
    TOP,
    USER,
    USERS,
    Row,
    extra,
    read_listing,
)

from zscope.parsers.issues import Code, Severity
from zscope.parsers.text import report_splitter
from zscope.parsers.text.zvm import zvm_reader as grammar

if TYPE_CHECKING:
    from pathlib import Path

FRONT = [*TOP, *GROUPS, HEADINGS]
"""Nine lines."""


@pytest.mark.parametrize(
    ("headings", "row", "line", "column", "message"),
    [
        (
            "Userid    %CPU  TCPU  VCPU",
            "RSCS     44.9  269.9   2 01  .",
            9,
            26,
            "2 and 01 are both under VCPU",
        ),
        ("Userid    %CPU TCPU O  VCPU", "RSCS", 8, 17, "72.4 ends equally near to TCPU and O"),
        ("Userid    %CPU  TCPU TCPU  VCPU", "RSCS", 7, 22, "the heading TCPU occurs more than once"),
        ("Userid    %CPU  VCPU", "RSCS", 7, 1, "the column headings are not Userid ... TCPU"),
        ("Userid    %CPU  TCPU" + "  X" * 400, "RSCS", 7, 1, "is too long"),
    ],
)
def test_ambiguous_columns_refuse_the_report(
    tmp_path: Path, headings: str, row: str, line: int, column: int, message: str
) -> None:
    lines = [*TOP, headings, "SSL00001  12.0  72.4  66.1", row, *CHANNEL]
    result = read_listing(tmp_path, lines)
    issue = result.issues[0]
    assert (issue.code, issue.severity) == (Code.REPORT_UNREADABLE, Severity.WARNING)
    assert (issue.line_no, issue.column_no) == (line, column)
    assert message in issue.text
    assert issue.text.endswith("; the report is skipped")
    assert (len(result.issues), len(result.users), len(result.channels)) == (1, 0, 2)


def test_an_ambiguous_page_costs_no_rows_of_other_pages(tmp_path: Path) -> None:
    headings = "Userid    %CPU  TCPU TCPU  VCPU"
    result = read_listing(tmp_path, [*USER, *TOP, headings, "RSCS     44.9  269.9  1.0  2.0", *CHANNEL])
    assert [issue.text for issue in result.issues] == [
        "the heading TCPU occurs more than once; the page is skipped"
    ]
    assert result.users == read_listing(tmp_path, USER).users
    assert len(result.channels) == 2


def test_columns_that_no_group_distinguishes_refuse_the_report(tmp_path: Path) -> None:
    lines = [line.replace("Own Partition ", "-- -- -- -----") for line in CHANNEL]
    result = read_listing(tmp_path, lines)
    assert [issue.field for issue in result.issues] == ["UNITS", "WRITE", "READ"]
    assert {row["own_work_units_pct"] for row in result.channels} == {None}
    lines = [line.replace("-Own Partition -", "Total for System") for line in CHANNEL]
    assert read_listing(tmp_path, [*lines, *USER]).problems == [(Code.REPORT_UNREADABLE, 10, 39)]


REST = "  5.00   1.2    .1   .0    .0     .0  .0     10     10      0   ..."
LEFT_OUT: dict[str, tuple[str, Code, int | None]] = {
    "a word": ("WHATEVER happened here", Code.UNKNOWN_LINE, None),
    "a message": ("HCPGIR450W CP entered; disabled wait PSW 00020000 80000000", Code.UNKNOWN_LINE, None),
    "a name only": ("MAINT", Code.UNKNOWN_LINE, None),
    "a name too long": ("MAINT1234  1.00  6.00", Code.UNKNOWN_LINE, None),
    "a very long line": ("MAINT     1.00  6.00" + " 1" * 2_000, Code.UNKNOWN_LINE, None),
    "control characters": ("MAINT\x02\x01  1.00  6.00", Code.UNKNOWN_LINE, None),
    "all moved": ("    MAINT     1.00  6.00  5.00   1.2   1.0", Code.REPORT_UNREADABLE, 5),
    "figures moved": ("MAINT        1.00  6.00" + REST, Code.REPORT_UNREADABLE, 14),
    "a figure under no word": ("MAINT    .9     6.00" + REST, Code.REPORT_UNREADABLE, 10),
    "dots for CPU time": ("MAINT     ...   ..." + REST, Code.BAD_VALUE, None),
    "no number for CPU time": ("MAINT     ...  6,00" + REST, Code.BAD_VALUE, 16),
    "cut in CPU time": ("MAINT     1.00  6.", Code.REPORT_CUT, 18),
    "cut before CPU time": ("MAINT     1.00", Code.REPORT_CUT, 14),
    "cut in the first figure": ("MAINT     1.", Code.REPORT_CUT, 12),
}  # fmt: skip


@pytest.mark.parametrize(("line", "code", "column"), LEFT_OUT.values(), ids=LEFT_OUT.keys())
def test_a_line_that_does_not_fit_is_left_out_alone(
    tmp_path: Path, line: str, code: Code, column: int | None
) -> None:
    result = read_listing(tmp_path, [*FRONT, *USERS[:2], line, *USERS[2:]])
    assert result.cpu() == CPU
    assert (code, 12, column) in result.problems
    assert {no for _, no, _ in result.problems} == {12}


def _one(tmp_path: Path, line: str) -> tuple[Row, list[tuple[Code, int | None, int | None]]]:
    result = read_listing(tmp_path, [*FRONT, line])
    (row,) = result.users
    return row, result.problems


@pytest.mark.parametrize(
    ("line", "values", "problems"),
    [
        ("RSCS     44.98 269.9", (44.98, 269.9, None, None), (Code.REPORT_CUT, 10, 20)),
        ("RSCS     44.98 269.9 201", (44.98, 269.9, None, None), (Code.REPORT_CUT, 10, 24)),
        ("RSCS     44.98 269.9 201.4   1.3", (44.98, 269.9, 201.4, 1.3), (Code.REPORT_CUT, 10, 32)),
        (
            "RSCS     ??.98 269.9 201.4   1.3  61.2 33.0   2.1     .0  .3     10     10    118  11.8",
            (None, 269.9, 201.4, 1.3),
            (Code.BAD_VALUE, 10, 10),
        ),
    ],
)
def test_missing_values_are_null_and_reported(
    tmp_path: Path, line: str, values: tuple[float | None, ...], problems: tuple[Code, int, int]
) -> None:
    row, issues = _one(tmp_path, line)
    assert tuple(row[name] for name in ("cpu_pct", "tcpu_s", "vcpu_s", "tv_ratio")) == values
    assert issues == [problems]


def test_a_row_that_ends_after_the_columns_of_the_table_is_complete(tmp_path: Path) -> None:
    row, issues = _one(tmp_path, "RSCS     44.98 269.9 201.4   1.3  61.2 33.0")
    assert (issues, row["virtual_io_per_s"], extra(row)) == ([], 61.2, {"Virtual IO/s DASD": "33.0"})
    row, issues = _one(tmp_path, "RSCS     44.98 269.9 201.4   1.3  61.2 33.")
    assert (issues, row["extra"]) == ([(Code.REPORT_CUT, 10, 42)], None), "half a figure is none"


def test_text_under_no_heading_goes_into_extra(tmp_path: Path) -> None:
    rows = [f"{row:<90}{word}" for row, word in zip(USERS, ("", "17", "yes", "17"), strict=True)]
    result = read_listing(tmp_path, [*FRONT, *rows])
    assert result.cpu() == CPU
    assert result.problems == [(Code.UNKNOWN_COLUMN, 11, 91)]
    assert [extra(row).get("column 91") for row in result.users] == [None, "17", "yes", "17"]


@pytest.mark.parametrize(
    ("old", "new", "field", "message"),
    [
        ("44.98", "94.98", "%CPU", "%CPU of RSCS is 94.98, which is not TCPU in percent of 600 s"),
        ("201.4", "101.4", "T/V Ratio", "T/V Ratio of RSCS is 1.3, which is not TCPU over VCPU"),
    ],
)
def test_figures_of_users_that_contradict_each_other(
    tmp_path: Path, old: str, new: str, field: str, message: str
) -> None:
    result = read_listing(tmp_path, [line.replace(old, new) for line in USER])
    (issue,) = result.issues
    assert (issue.code, issue.line_no, issue.field, issue.text) == (Code.ARITHMETIC, 13, field, message)
    assert len(result.users) == 4


def test_a_contradiction_in_most_rows_is_reported_once(tmp_path: Path) -> None:
    """As in a release where %CPU is of all engines together."""
    rows = [f"USER000{no} {no}1.00 {no}9.00   ...   ..." for no in range(1, 9)]
    result = read_listing(tmp_path, [*TOP, *GROUPS, HEADINGS[:32], *rows])
    (issue,) = result.issues
    assert (issue.code, issue.line_no) == (Code.ARITHMETIC, 10)
    assert "the same in 8 of 8 rows" in issue.text


def test_a_part_is_not_more_than_the_whole(tmp_path: Path) -> None:
    lines = [line.replace("8      8      5      4", "8      8     50      4") for line in CHANNEL]
    result = read_listing(tmp_path, lines)
    assert result.problems == [(Code.ARITHMETIC, 12, None)]
    assert "Own Partition Work Units of 54 is 50, which is more than" in result.issues[0].text


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("54  No       11      9      8      8      5      4      4    12.9M   12.8M", Code.REPORT_REPEATED),
        ("5G  No       11      9      8      8      5      4      4    12.9M   12.8M", Code.UNKNOWN_LINE),
        ("55  No       11      9      8      8      5      4      4    12.9M     ...", Code.BAD_VALUE),
        ("55  No       11      9      8      8      5      4      4    12.9M   12.8T", Code.BAD_VALUE),
        ("55  No       11      9      8      8      5      4      4    12.9M", Code.REPORT_CUT),
        (" User Data:", Code.UNKNOWN_LINE),
    ],
)
def test_a_path_that_does_not_fit_is_left_out(tmp_path: Path, line: str, code: Code) -> None:
    result = read_listing(tmp_path, [*CHANNEL, line])
    assert [row["chpid"] for row in result.channels] == ["32", "54"]
    assert {(issue.code, issue.line_no) for issue in result.issues} == {(code, 13)}


def test_a_path_in_lower_case_without_a_sharing_column(tmp_path: Path) -> None:
    line = "a4  ...      11      9      8      8      5      4      4    12.9M   12.8M"
    result = read_listing(tmp_path, [*CHANNEL[:10], line, line.replace("a4  ...", "a5  May")])
    assert [(row["chpid"], row["shared"]) for row in result.channels] == [("A4", None), ("A5", None)]
    assert [(issue.code, issue.line_no, issue.field) for issue in result.issues] == [
        (Code.BAD_VALUE, 12, "Shrd")
    ]


@pytest.mark.parametrize("lines", range(1, len(USER)))
def test_a_file_that_ends_early(tmp_path: Path, lines: int) -> None:
    result = read_listing(tmp_path, USER[:lines])
    assert result.cpu() == dict(list(CPU.items())[: max(0, lines - 11)])
    assert (Severity.WARNING in {issue.severity for issue in result.issues}) == (lines < 12)


def test_rows_without_column_headings(tmp_path: Path) -> None:
    result = read_listing(tmp_path, [*TOP, *USERS])
    assert (result.problems, result.users) == ([(Code.REPORT_UNREADABLE, 7, 1)], [])


@pytest.mark.parametrize("stray", ["READY", "IEF403I PAYROLL - STARTED - TIME=09.41.09"])
def test_an_interruption_removes_no_rows(tmp_path: Path, stray: str) -> None:
    listing = read_listing(tmp_path, [*USER[:-1], stray, USER[-1]])
    assert listing.cpu() == CPU
    assert [line for _, line, _ in listing.problems] == ([len(USER)] if stray == "READY" else [])
    assert read_listing(tmp_path, [*USER, stray, "other text"]).problems == []


def test_the_heading_of_another_page_without_its_first_line_ends_a_report(tmp_path: Path) -> None:
    listing = read_listing(tmp_path, [*SCREEN, *USER[1:]])
    assert (Code.REPORT_UNREADABLE, len(SCREEN) + 2, 1) in listing.problems


@pytest.mark.parametrize(
    ("page", "at", "line", "field"),
    [
        (USER, len(TOP), "", "TOTAL"),
        (USER, len(TOP), GROUPS[0].replace("Virtual", "Vfrtual"), "TOTAL"),
        (CHANNEL, 7, "", "UNITS"),
        (CHANNEL, 9, CHANNEL[9].replace("  Read  Write/s", "  Jead  Write/s"), "Jead"),
    ],
)
def test_damaged_titles_of_columns_are_reported(
    tmp_path: Path, page: list[str], at: int, line: str, field: str
) -> None:
    assert page[at] != line
    issues = read_listing(tmp_path, [*page[:at], line, *page[at + 1 :]]).issues
    assert [issue for issue in issues if issue.code is Code.UNKNOWN_COLUMN and issue.field == field]


def test_a_row_that_was_joined_to_sums_is_reported(tmp_path: Path) -> None:
    at = next(at for at, line in enumerate(SCREEN) if ">System<" in line)
    joined = read_listing(tmp_path, [*SCREEN[:at], SCREEN[at] + SCREEN[at + 1], *SCREEN[at + 2 :]])
    assert (Code.UNKNOWN_LINE, at + 1, 1) in joined.problems


def test_doubled_column_headings_keep_their_titles(tmp_path: Path) -> None:
    at = USER.index(HEADINGS)
    doubled = read_listing(tmp_path, [*USER[:at], HEADINGS, *USER[at:]])
    assert doubled.problems == [(Code.REPORT_REPEATED, at + 2, 1)]
    assert extra(doubled.users[0]) == extra(read_listing(tmp_path, USER).users[0])


def test_an_unreadable_heading_ends_a_report(tmp_path: Path) -> None:
    result = read_listing(tmp_path, [*USER, "1FCX1", "1FCX113  Ru", *FRONT[1:], *USERS])
    assert result.cpu() == CPU
    assert (Code.REPORT_UNREADABLE, 17, 1) in result.problems
    assert {no for _, no, _ in result.problems} == {16, 17}


@pytest.mark.parametrize(("printed", "rows"), [("-.012", 3), ("-.009", 4)])
def test_a_figure_below_zero_is_invalid(tmp_path: Path, printed: str, rows: int) -> None:
    wide = [line.replace(f" {printed[1:]}", printed) for line in USER]
    result = read_listing(tmp_path, wide)
    assert len(result.users) == rows
    assert any("'" + printed + "' is below 0" in issue.text for issue in result.issues)
    assert all(user["vcpu_s"] is None or user["vcpu_s"] >= 0 for user in result.users)


def test_a_page_is_read_up_to_a_maximum_length(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_splitter, "LINES_TOGETHER", len(USER) - 2)
    result = read_listing(tmp_path, USER)
    assert [user["userid"] for user in result.users] == ["OPERATOR", "RSCS", "SSL00001"]
    assert [code for code, _, _ in result.problems] == [Code.REPORT_CUT, Code.UNKNOWN_LINE]


def test_a_user_with_the_name_of_a_report(tmp_path: Path) -> None:
    result = read_listing(tmp_path, [line.replace("OPERATOR", "FCX112  ") for line in USER])
    assert (result.problems, result.users[0]["userid"]) == ([], "FCX112")


def test_a_page_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grammar, "MOST_LINES", 3 * 4)
    head = [*TOP, *GROUPS, HEADINGS[:20]]
    result = read_listing(tmp_path, [line for no in range(5) for line in (*head, f"USER000{no}   .00  .012")])
    assert len(result.users) == 5
    assert [code for code, _, _ in result.problems] == [Code.REPORT_REPEATED]
    assert "rows may repeat" in result.issues[0].text


SPOILERS = {
    "some cut": on_some(0.2, cut),
    "some lost": on_some(0.2, lost),
    "some moved": on_some(0.3, shifted(0, 3)),
    "shuffled": shuffled,
    "some garbled": on_some(0.2, garbled(2)),
}


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("spoiler", SPOILERS)
def test_a_spoiled_listing_gives_data_or_issues(tmp_path: Path, spoiler: str, seed: int) -> None:
    lines = SPOILERS[spoiler]([*USER, *CHANNEL, *SCREEN], random.Random(seed))
    result = read_listing(tmp_path, lines)
    wrong = [row for row in result.users if CPU.get(row["userid"]) != row["tcpu_s"]]
    problems = [issue for issue in result.tables.issues if issue.severity > Severity.NOTE]
    assert problems or not wrong
    assert all(issue.line_no is None or 0 < issue.line_no <= len(lines) for issue in problems)
    assert len(result.users) == 7 or problems or len(lines) < len(USER) + len(CHANNEL) + len(SCREEN)


@pytest.mark.deep
@pytest.mark.parametrize(
    "lines",
    [
        [*FRONT, *(USERS * 2_000)],
        [*TOP, "Userid  TCPU " + "A " * 490, *(["RSCS 1.0 " + "1 " * 490] * 1_000)],
        [*TOP, *(["<" * 900, "<" + "-" * 900] * 2), HEADINGS, *USERS] * 300,
        [TOP[0]] * 10_000,
        [f"1FCX112  Run 2026/03/02 14:{no // 60 % 60:02}:{no % 60:02}  USER" for no in range(10_000)],
        [f"1FCX112  Run {' ' * 60_000}"] * 20,
        [SCREEN[0] + " Interval" * 5_000] * 20,
        [*TOP, *([HEADINGS] * 5_000)],
    ],
    ids=range(8),
)
def test_no_content_takes_long(tmp_path: Path, lines: list[str]) -> None:
    begin = time.process_time()
    read_listing(tmp_path, lines)
    assert time.process_time() - begin < 10


def test_a_row_above_the_title_of_users_is_reported(tmp_path: Path) -> None:
    at = USER.index("User Data:")
    lines = [*USER[:at], USER[at + 1], USER[at], *USER[at + 2 :]]
    result = read_listing(tmp_path, lines)
    assert "OPERATOR" not in result.cpu()
    assert result.problems == [(Code.UNKNOWN_LINE, at + 1, 1)]


@pytest.mark.parametrize(("lines", "row"), [(USER, USERS[0]), (CHANNEL, CHANNEL[-2])])
def test_a_row_that_was_joined_to_the_headings_is_reported(
    lines: list[str], row: str, tmp_path: Path
) -> None:
    at = max(index for index, line in enumerate(lines) if line.startswith(("Userid", "ID  ")))
    joined = [*lines[:at], lines[at] + row, *(line for line in lines[at + 1 :] if line != row)]
    codes = [(code, line) for code, line, _ in read_listing(tmp_path, joined).problems]
    assert (Code.UNKNOWN_LINE, at + 1) in codes


@pytest.mark.parametrize(
    ("lines", "heading", "wrong"),
    [(USER, "VCPU", "VCPX"), (USER, "%CPU", "%CPO"), (CHANNEL, "Shrd", "Shrw"), (CHANNEL, "Cycle", "Cycl")],
)
def test_a_misspelt_heading_is_named_beside_the_missing_one(
    lines: list[str], heading: str, wrong: str, tmp_path: Path
) -> None:
    result = read_listing(tmp_path, [line.replace(heading, wrong) for line in lines])
    at = next(number for number, line in enumerate(lines, 1) if heading in line)
    assert [(code, line) for code, line, _ in result.problems] == [(Code.UNKNOWN_COLUMN, at)]


def test_a_row_between_the_lines_of_the_heading_is_reported(tmp_path: Path) -> None:
    result = read_listing(tmp_path, [CHANNEL[0], USERS[0], *CHANNEL[1:]])
    assert [(code, line) for code, line, _ in result.problems] == [(Code.UNKNOWN_LINE, 2)]
    assert [row["chpid"] for row in result.channels] == ["32", "54"]


@pytest.mark.parametrize(
    ("lines", "line"), [(["title", *USERS], 2), (USERS[1:], 1), (CHANNEL[-3:], 1), (CHANNEL[-1:], 1)]
)
def test_rows_without_any_heading_are_reported(lines: list[str], line: int, tmp_path: Path) -> None:
    issues = read_listing(tmp_path, lines).issues
    assert [(issue.code, issue.line_no) for issue in issues] == [(Code.UNKNOWN_LINE, line)]
