"""Cache status: golden displays, round trips and damage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.parsers.damaging import wrapped
from tests.parsers.text.gsksrvr.displays import read_displays

from zscope.parsers.issues import Code, Issue
from zscope.parsers.text.captured_report import KnownFrom, Origin, ReportSource
from zscope.parsers.text.gsksrvr.status import status_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.parsers.text.reading import Row

TABLE = "gsk_cache_status"
COLUMNS = ("cache", "row_kind", "user_id", "entry_count", "used_mb", "maximum_mb", "max_entry_bytes")

TICKETS = """\
GSK01078I Session ticket cache
 status
User              Count              Max size
*DSPACE*         97/512                   N/A
PAYWEB           604112                  2948
IHSUSR1              73                   988
"""
SESSIONS = """\
GSK01032I Session cache status
User              Count              Max size
*DSPACE*           6/20                   N/A
TN3270            10554                  1301
"""
BEFORE_31 = """\
GSK01032I Session cache status
User              Count
*DSPACE*           6/20
TN3270            10554
"""


def _read(lines: list[str], *, complete: bool = True) -> tuple[list[Row], list[Issue], list[str]]:
    origin = Origin(ReportSource.CONSOLE, "SYSB", KnownFrom.ROUTE)
    reading = read_displays([TABLE], [(lines, origin)], complete=complete)
    return reading.rows, reading.issues, reading.names


def _values(rows: list[Row]) -> list[tuple[Any, ...]]:
    return [tuple(row[column] for column in COLUMNS) for row in rows]


TICKET_ROWS = [
    ("ticket", "data-space", None, None, 97, 512, None),
    ("ticket", "user", "PAYWEB", 604112, None, None, 2948),
    ("ticket", "user", "IHSUSR1", 73, None, None, 988),
]


def test_ticket_cache_of_31() -> None:
    rows, issues, result = _read(TICKETS.splitlines())
    assert _values(rows) == TICKET_ROWS
    assert [row["line_no"] for row in rows] == [4, 5, 6]
    assert {(row["system"], row["system_from"], row["source"]) for row in rows} == {
        ("SYSB", "route", "console")
    }
    assert issues == []
    assert result == ["GSKSRVR TICKETCACHE status"]


def test_session_id_cache_of_31() -> None:
    rows, issues, result = _read(SESSIONS.splitlines())
    assert _values(rows) == [
        ("session-id", "data-space", None, None, 6, 20, None),
        ("session-id", "user", "TN3270", 10554, None, None, 1301),
    ]
    assert issues == []
    assert result == ["GSKSRVR SIDCACHE status"]


def test_form_before_31_has_no_sizes() -> None:
    rows, issues, _ = _read(BEFORE_31.splitlines())
    assert _values(rows) == [
        ("session-id", "data-space", None, None, 6, 20, None),
        ("session-id", "user", "TN3270", 10554, None, None, None),
    ]
    assert issues == []


@pytest.mark.parametrize(
    "heading",
    [
        ["GSK01078I Session ticket cache status"],
        ["GSK01078I Session ticket cache 418", " status"],
        ["GSK01078I Session ticket cache", "", " status"],
        ["GSK01078I SESSION TICKET CACHE STATUS 0418"],
        ["GSK01078I Session ticket", "cache status"],
        ["GSK01078I Session tic", " status"],
        ["GSK01078I Session ticket cache"],
        ["GSK01099I Session ticket cache status"],
    ],
)
def test_heading_in_all_its_forms(heading: list[str]) -> None:
    rows, issues, result = _read(heading + TICKETS.splitlines()[2:])
    assert _values(rows) == TICKET_ROWS
    assert issues == []
    assert result == ["GSKSRVR TICKETCACHE status"]


@pytest.mark.parametrize(
    "change",
    [
        str.upper,
        lambda text: text.replace("\n", "\n \n"),
        lambda text: text.replace("PAYWEB", " PAYWEB"),
        lambda text: text.replace("User              Count              Max size\n", ""),
        lambda text: "\n".join(" ".join(line.split()) for line in text.splitlines()),
    ],
    ids=["upper-case", "blank-lines", "shifted-row", "no-column-names", "blanks-collapsed"],
)
def test_harmless_changes(change: Callable[[str], str]) -> None:
    rows, issues, _ = _read(change(TICKETS).splitlines())
    assert _values(rows) == TICKET_ROWS
    assert issues == []


def test_unknown_column_goes_to_extra() -> None:
    lines = ["GSK01032I Session cache status", "User              Count              Max size     Expired"]
    lines += [
        "*DSPACE*           6/20                   N/A         N/A",
        "WEB1 " + f"{'5':>18}{'70':>22}{'3':>12}",
    ]
    rows, issues, _ = _read(lines)
    assert [row["extra"] for row in rows] == [None, '{"Expired": "3"}']
    assert [(issue.code, issue.line_no) for issue in issues] == [(Code.UNKNOWN_COLUMN, 2)]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("604112                  2948", "604112                  294", (604112, None)),
        ("604112                  2948", " 604112                 2948", (None, 2948)),
        ("604112                  2948", "604112                   2948", (604112, None)),
        ("604112                  2948", "604112", (604112, None)),
        ("604112                  2948", "6O4112                  2948", (None, 2948)),
    ],
    ids=["cut", "count-shifted", "size-shifted", "size-lost", "letter"],
)
def test_doubtful_value_is_null_with_an_issue(old: str, new: str, expected: tuple[Any, Any]) -> None:
    rows, issues, _ = _read(TICKETS.replace(old, new).splitlines())
    user = rows[1]
    assert (user["user_id"], user["entry_count"], user["max_entry_bytes"]) == ("PAYWEB", *expected)
    assert [(issue.code, issue.line_no, issue.table) for issue in issues] == [(Code.BAD_VALUE, 5, TABLE)]


def test_impossible_data_space() -> None:
    rows, issues, _ = _read(TICKETS.replace("97/512", "97-512").splitlines())
    assert (rows[0]["used_mb"], rows[0]["maximum_mb"]) == (None, None)
    assert [(issue.code, issue.line_no, issue.field) for issue in issues] == [(Code.BAD_VALUE, 4, "Count")]


def test_lost_data_space_is_reported() -> None:
    rows, issues, _ = _read([line for line in TICKETS.splitlines() if "*DSPACE*" not in line])
    assert _values(rows) == TICKET_ROWS[1:]
    assert [(issue.code, issue.line_no) for issue in issues] == [(Code.REPORT_CUT, 1)]


@pytest.mark.parametrize("first", [2, 3], ids=["from-column-names", "from-data-space"])
def test_second_display_without_its_heading_is_skipped(first: int) -> None:
    lines = SESSIONS.splitlines() + TICKETS.splitlines()[first:]
    rows, issues, _ = _read(lines)
    assert {row["cache"] for row in rows} == {"session-id"}
    assert len(rows) == 2
    assert [(issue.code, issue.line_no) for issue in issues] == [(Code.REPORT_UNREADABLE, 5)]


def test_repeated_user_belongs_to_another_display() -> None:
    rows, issues, _ = _read([*SESSIONS.splitlines(), "TN3270               80                   900"])
    assert len(rows) == 2
    assert [(issue.code, issue.line_no) for issue in issues] == [(Code.REPORT_UNREADABLE, 5)]


def test_two_displays_in_one_report() -> None:
    rows, issues, result = _read(SESSIONS.splitlines() + TICKETS.splitlines())
    assert [row["cache"] for row in rows] == ["session-id"] * 2 + ["ticket"] * 3
    assert issues == []
    assert result == ["GSKSRVR SIDCACHE status", "GSKSRVR TICKETCACHE status"]


def test_display_without_rows_is_one_issue() -> None:
    rows, issues, result = _read(["GSK01032I Session cache status", "cache is not there"])
    assert rows == []
    assert [(issue.code, issue.line_no, issue.column_no) for issue in issues] == [
        (Code.REPORT_UNREADABLE, 2, 1)
    ]
    assert "*DSPACE*" in issues[0].text
    assert result == ["GSKSRVR SIDCACHE status"]


def test_reply_without_its_end_is_reported() -> None:
    rows, issues, _ = _read(TICKETS.splitlines(), complete=False)
    assert _values(rows) == TICKET_ROWS
    assert [(issue.code, issue.line_no) for issue in issues] == [(Code.REPORT_CUT, 6)]


def test_stray_lines_are_reported() -> None:
    lines = TICKETS.splitlines()
    lines[5:5] = ["READY", "IEE600I REPLY TO 03 IS;SUSPENDED"]
    rows, issues, _ = _read(lines)
    assert _values(rows) == TICKET_ROWS
    assert [(issue.code, issue.line_no) for issue in issues] == [(Code.UNKNOWN_LINE, n) for n in (6, 7)]


SIZE_MB = st.integers(0, 512)
USER = st.from_regex(r"[A-Z@#$][A-Z0-9@#$]{0,7}", fullmatch=True)
COUNT = st.integers(0, 10**9)


@st.composite
def displays(draw: st.DrawFn, *, sizes: bool) -> list[Row]:
    cache = draw(st.sampled_from(["ticket", "session-id"]))
    whole = {"row_kind": "data-space", "used_mb": draw(SIZE_MB), "maximum_mb": draw(SIZE_MB)}
    users: list[Row] = [
        {
            "row_kind": "user",
            "user_id": user,
            "entry_count": draw(COUNT),
            "max_entry_bytes": draw(COUNT) if sizes else None,
        }
        for user in draw(st.lists(USER, unique=True, max_size=6))
    ]
    return [dict.fromkeys(COLUMNS) | row | {"cache": cache} for row in [whole, *users]]


@pytest.mark.parametrize("split", [True, False])
@pytest.mark.parametrize("sizes", [True, False])
@given(data=st.data())
def test_round_trip(data: st.DataObject, sizes: bool, split: bool) -> None:
    written = data.draw(displays(sizes=sizes))
    rows, issues, _ = _read(status_lines(written, sizes=sizes, split_heading=split))
    assert [{column: row[column] for column in COLUMNS} for row in rows] == written
    assert issues == []


@given(written=displays(sizes=True), data=st.data())
def test_damage_is_never_wrong_data(written: list[Row], data: st.DataObject) -> None:
    lines = status_lines(written)
    at = data.draw(st.integers(0, len(lines) - 1))
    column = data.draw(st.integers(0, 46))
    line = lines[at]
    damaged = data.draw(
        st.sampled_from(
            [
                lines[:at] + lines[at + 1 :],
                [*lines[:at], line[:column], *lines[at + 1 :]],
                [*lines[:at], line[:column] + " " + line[column:], *lines[at + 1 :]],
                [*lines[:at], line[:column] + line[column + 1 :], *lines[at + 1 :]],
                wrapped(lines, column + 6),
                [text.upper() for text in lines],
                [*lines[:at], "SYS1:/u/ops> ls", "", *lines[at:]],
                lines + lines[at:],
            ]
        )
    )
    rows, issues, _ = _read(damaged)
    known = {row["user_id"]: row for row in written}
    for row in rows:
        expected = known[row["user_id"]]
        for name in COLUMNS:
            assert row[name] is None or row[name] == expected[name], name
        lost = any(row[name] is None and expected[name] is not None for name in COLUMNS)
        assert not lost or any(issue.line_no for issue in issues)
    assert len(rows) >= len(written) or issues or sum(map(bool, damaged)) < len(lines)
