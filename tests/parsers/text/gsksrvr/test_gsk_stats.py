"""Cache statistics: golden displays, harmless changes, checks between the numbers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.parsers.text.gsksrvr.cache_statistics import (
    COUNTERS,
    SESSION_ROW,
    SESSIONS,
    TABLE,
    TICKET_ROW,
    TICKETS,
    moment,
    values,
)
from tests.parsers.text.gsksrvr.displays import read_display, read_displays
from tests.parsers.text.reading import Row, codes

from zscope.parsers.issues import Code, Issue
from zscope.parsers.text.captured_report import KnownFrom, Origin, ReportSource
from zscope.parsers.text.gsksrvr.statistics import stats_lines
from zscope.schemas.reports import report_table

if TYPE_CHECKING:
    from collections.abc import Callable


def _read(lines: list[str]) -> tuple[list[Row], list[Issue], list[str]]:
    return read_display(TABLE, lines)


def test_ticket_cache() -> None:
    rows, issues, result = _read(TICKETS.splitlines())
    assert [values(row) for row in rows] == [TICKET_ROW]
    assert (rows[0]["line_no"], rows[0]["time_from"], rows[0]["taken_time"]) == (1, "report", "18:00:05")
    assert issues == []
    assert result == ["GSKSRVR TICKETCACHE statistics"]


def test_session_id_cache() -> None:
    rows, issues, result = _read(SESSIONS.splitlines())
    assert [values(row) for row in rows] == [SESSION_ROW]
    assert issues == []
    assert result == ["GSKSRVR SIDCACHE statistics"]


def test_the_examples_have_every_column() -> None:
    assert set(TICKET_ROW) == {column.column for column in report_table(TABLE).columns} | {
        "taken_local",
        "extra",
    }


def test_written_displays_equal_printed_ones() -> None:
    printed = (TICKETS + SESSIONS).splitlines()
    assert [line.rstrip() for line in stats_lines([TICKET_ROW, SESSION_ROW])] == printed


def test_the_heading_has_precedence_over_the_prefix() -> None:
    prefix = moment("2026-07-02 07:00:00")
    origin = Origin(
        ReportSource.SYSLOG, "SYSC", KnownFrom.PREFIX, prefix.date(), prefix.time(), KnownFrom.PREFIX
    )
    lines = TICKETS.splitlines()
    timeless = [line for line in lines if "Current time" not in line]
    reading = read_displays([TABLE], [(lines, origin), (timeless, origin)])
    assert [(row["taken_local"], row["time_from"]) for row in reading.rows] == [
        (moment("2026-07-01 18:00:05"), "report"),
        (prefix, "prefix"),
    ]
    assert [result.when_local for result in reading.reports] == [row["taken_local"] for row in reading.rows]


@pytest.mark.parametrize(
    "change",
    [
        str.upper,
        lambda text: "\n".join(line for line in text.splitlines() if line),
        lambda text: text.replace("\n", "\n \n"),
        lambda text: text.replace("\n\n", "\n \n"),
        lambda text: text.replace("cache\n statistics", "cache statistics 419"),
        lambda text: text.replace("GSK01079I", "GSK01080I"),
        lambda text: text.replace("GSK01079I Session ticket cache\n", "GSK01079I Session ticket cache 5\n"),
        lambda text: text.replace("\n statistics\n", "\n"),
        lambda text: text.replace("Update statistics                          Count\n", ""),
        lambda text: text.replace("-----------------                          -----\n", ""),
        lambda text: text.replace("Update statistics                          Count", "Update statistics"),
        lambda text: text.replace("Failed", " Failed").replace("Cache", "   Cache"),
        lambda text: "\n".join(" ".join(line.split()) for line in text.splitlines()),
    ],
    ids=[
        "upper-case",
        "no-blank-lines",
        "blank-lines-everywhere",
        "one-blank-lines",
        "heading-in-one-line",
        "other-message-id",
        "connector",
        "heading-cut",
        "block-from-dashes",
        "block-from-heading",
        "block-heading-cut",
        "lines-shifted",
        "blanks-collapsed",
    ],
)
def test_harmless_changes(change: Callable[[str], str]) -> None:
    rows, issues, _ = _read(change(TICKETS).splitlines())
    assert [values(row) for row in rows] == [TICKET_ROW]
    assert issues == []


def test_unknown_labels_go_to_extra() -> None:
    text = SESSIONS.replace("Current cache", "Cache token:         A7\nCurrent cache")
    text = text.replace(
        "Replaced entries:", "Compressed entries:                           12\nReplaced entries:"
    )
    text += "\nRemote statistics                          Count\n"
    text += (
        "-----------------                          -----\nRequested:                                     5\n"
    )
    rows, issues, _ = _read(text.splitlines())
    assert json.loads(rows[0]["extra"]) == {
        "Cache token": "A7",
        "Add statistics: Compressed entries": "12",
        "Remote statistics: Requested": "5",
    }
    assert values(rows[0]) | {"extra": None} == SESSION_ROW
    assert issues == []


def test_labels_of_tickets_are_not_used_for_session_ids() -> None:
    text = SESSIONS.replace("\n\nAdd", "\nCache num tickets:   16\n\nAdd")
    update = "Update statistics                          Count\n"
    update += "Requested:                                     5\n\n"
    text = text.replace("Retrieval statistics", update + "Retrieval statistics")
    rows, issues, _ = _read(text.splitlines())
    assert rows[0]["extra"] == '{"Cache num tickets": "16", "Update statistics: Requested": "5"}'
    assert values(rows[0]) | {"extra": None} == SESSION_ROW
    assert codes(issues) == [(Code.UNKNOWN_LINE, 12), (Code.UNKNOWN_LINE, 22)]


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("  11\nSuccess", "  12\nSuccess", [16]),
        ("   7001", "    700", [16, 19]),
        ("99.973%", "99.974%", [29]),
        ("93.432%", "93.431%", [38]),
        ("  10\nSuccess", "  11\nSuccess", [33]),
    ],
    ids=["add-sum", "add-sum-and-share", "update-share", "retrieval-share", "retrieval-sum"],
)
def test_contradicting_numbers_are_read_with_an_issue(old: str, new: str, lines: list[int]) -> None:
    rows, issues, _ = _read(TICKETS.replace(old, new).splitlines())
    assert codes(issues) == [(Code.ARITHMETIC, line) for line in lines]
    assert None not in {rows[0][name] for name in COUNTERS}


def test_reset_time_without_a_reset_is_the_start() -> None:
    text = SESSIONS.replace(
        "Reset time:          2026/06/14 05:30:00", "Reset time:          2026/06/14 05:30:01"
    )
    rows, issues, _ = _read(text.splitlines())
    assert rows[0]["reset_local"] == moment("2026-06-14 05:30:01")
    assert codes(issues) == [(Code.ARITHMETIC, 6)]


@pytest.mark.parametrize("shown", ["0.000%", "100.000%", "N/A", "---", "no data"])
def test_percentage_of_zero_requests_is_null(shown: str) -> None:
    text = SESSIONS
    for number in ("900", "600", "200", "100"):
        text = text.replace(f"  {number}\n", "    0\n")
    text = text.replace("               66.667%", f"{shown:>22}")
    rows, issues, _ = _read(text.splitlines())
    assert rows[0]["retrieval_requested"] == 0
    assert rows[0]["retrieval_success_pct"] is None
    assert issues == []


@pytest.mark.parametrize(
    ("old", "new", "column"),
    [
        ("18:00:05 CEST", "18:00:5", "taken_local"),
        ("2026/06/14 05:30:00 CEST", "2026/06/14 05:30:0", "started_local"),
        ("2026/06/14 05:30:00 CEST", "2026/06/34 05:30:00 CEST", "started_local"),
        ("103M", "103", "cache_size_mb"),
        ("103M", "103G", "cache_size_mb"),
        ("17\n", "seventeen\n", "reset_count"),
        ("17\n", "1\n7\n", "reset_count"),
        ("   7001\n", "   700\n", "add_requested"),
        ("  7001", " 7001", "add_requested"),
        (" 7001", "  7001", "add_requested"),
        ("99.973%", "99.97%", "update_success_pct"),
    ],
)
def test_doubtful_value_is_null_with_an_issue(old: str, new: str, column: str) -> None:
    rows, issues, _ = _read(TICKETS.replace(old, new).splitlines())
    assert rows[0][column] is None
    assert [issue.code for issue in issues] == [Code.BAD_VALUE]
    assert issues[0].line_no is not None
    assert {name: rows[0][name] for name in COUNTERS if name != column} == {
        name: TICKET_ROW[name] for name in COUNTERS if name != column
    }
