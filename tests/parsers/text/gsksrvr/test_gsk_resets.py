"""Cache statistics shown several times: which counters were reset in between."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from zscope.parsers.issues import Code, Issue, Issues
from zscope.parsers.text.gsksrvr.grammar import Gsksrvr
from zscope.parsers.text.gsksrvr.stats_write import stats_lines
from zscope.parsers.text.out import Sheet
from zscope.parsers.text.report import Line, Origin, Report, Source
from zscope.schemas.printed import report_table

TABLE = "gsk_cache_stats"
Row = dict[str, Any]
moment = datetime.fromisoformat
NAMES = ["taken_local", *(column.column for column in report_table(TABLE).columns), "extra"]
COUNTERS = [name for name in NAMES if name.startswith(("add_", "update_", "retrieval_"))]


def _row(cache: str, **values: object) -> Row:
    """A display whose numbers agree."""
    row: Row = dict.fromkeys(NAMES) | {
        "cache": cache,
        "taken_local": moment("2026-07-01 18:00:05"),
        "time_zone": "CEST",
        "started_local": moment("2026-06-14 05:30:00"),
        "reset_local": moment("2026-07-01 00:00:01"),
        "reset_count": 17,
        "cache_size_mb": 103,
        "maximum_size_mb": 512,
        "timeout_min": 30,
        "add_requested": 7001,
        "add_successful": 6990,
        "add_failed_full": 11,
        "add_success_pct": 99.843,
        "add_replaced": 250,
        "retrieval_requested": 44000,
        "retrieval_successful": 41110,
        "retrieval_expired": 2000,
        "retrieval_not_found": 880,
        "retrieval_not_authorized": 10,
        "retrieval_success_pct": 93.432,
    }
    return row | values


TICKET_ROW = _row(
    "ticket",
    tickets_per_session=32,
    update_requested=41110,
    update_successful=41099,
    update_expired=6,
    update_not_found=4,
    update_not_authorized=1,
    update_success_pct=99.973,
)
SESSION_ROW = _row("session-id")


def _read(*reports: list[str], systems: str = "") -> tuple[list[Row], list[Issue]]:
    """Each report in its turn; `systems` has a letter for the system of each, all are from one if empty."""
    issues = Issues()
    sheet = Sheet({TABLE: None}, issues, "gsk.txt")
    grammar = Gsksrvr(sheet)
    number = 1
    for index, lines in enumerate(reports):
        numbered = [Line(no, text.rstrip()) for no, text in enumerate(lines, number)]
        number += len(lines)
        origin = Origin(Source.CONSOLE, systems[index] if systems else None)
        grammar.read(Report("gsksrvr", numbered, origin))
    grammar.finish()
    rows = [row for _, batch in sheet.rest() for row in batch.to_pylist()]
    return rows, list(issues)


def _codes(issues: list[Issue]) -> list[tuple[Code, int | None]]:
    return [(issue.code, issue.line_no) for issue in issues]


def _later(row: Row, minutes: int, **changed: object) -> Row:
    return row | {"taken_local": row["taken_local"] + timedelta(minutes=minutes)} | changed


def _more(row: Row, requests: int) -> Row:
    """The same counters after some more look-ups, all of them successful."""
    successful, requested = row["retrieval_successful"] + requests, row["retrieval_requested"] + requests
    share = round(100 * successful / requested, 3)
    return {
        "retrieval_requested": requested,
        "retrieval_successful": successful,
        "retrieval_success_pct": share,
    }


ZERO = {name: 0 for name in COUNTERS if not name.endswith("_pct")} | {
    name: None for name in COUNTERS if name.endswith("_pct")
}
MIDNIGHT = moment("2026-07-02 00:00:00")


def test_displays_without_a_reset_between_them() -> None:
    rows, issues = _read(stats_lines([TICKET_ROW, _later(TICKET_ROW, 15, **_more(TICKET_ROW, 77))]))
    assert [row["reset_since_previous"] for row in rows] == [None, False]
    assert issues == []


@pytest.mark.parametrize(
    "marks",
    [
        {"reset_local": MIDNIGHT, "reset_count": 18},
        {"reset_local": MIDNIGHT, "started_local": MIDNIGHT, "reset_count": 0},
    ],
    ids=["reset", "restart"],
)
def test_reset_is_noted(marks: Row) -> None:
    rows, issues = _read(stats_lines([TICKET_ROW, _later(TICKET_ROW, 600, **ZERO, **marks)]))
    assert [row["reset_since_previous"] for row in rows] == [None, True]
    assert _codes(issues) == [(Code.COUNTERS_RESET, 39)]
    assert "line 1" in issues[0].text
    assert "Reset time from 2026-07-01 00:00:01 to 2026-07-02 00:00:00" in issues[0].text


def test_counters_that_fall_without_a_reset() -> None:
    rows, issues = _read(stats_lines([TICKET_ROW, _later(TICKET_ROW, 15, add_replaced=249)]))
    assert [row["reset_since_previous"] for row in rows] == [None, True]
    assert _codes(issues) == [(Code.COUNTERS_RESET, 39), (Code.ARITHMETIC, 39)]
    assert all("add_replaced from 250 to 249" in issue.text for issue in issues)


def test_order_of_time_not_of_lines_decides() -> None:
    reset = _later(TICKET_ROW, 600, **ZERO, reset_local=MIDNIGHT, reset_count=18)
    rows, issues = _read(stats_lines([reset, TICKET_ROW]))
    assert [row["reset_since_previous"] for row in rows] == [True, None]
    assert _codes(issues) == [(Code.COUNTERS_RESET, 1)]


def test_order_of_lines_decides_where_the_clock_was_put_back() -> None:
    winter = _later(TICKET_ROW, -30, time_zone="CET", **_more(TICKET_ROW, 5))
    rows, issues = _read(stats_lines([TICKET_ROW, winter]))
    assert [row["reset_since_previous"] for row in rows] == [None, False]
    assert issues == []


def test_systems_and_caches_are_compared_each_on_its_own() -> None:
    other = _later(TICKET_ROW, 1, started_local=MIDNIGHT, **ZERO)
    displays = [stats_lines([row]) for row in (TICKET_ROW, other, SESSION_ROW, _later(TICKET_ROW, 2))]
    rows, issues = _read(*displays, systems="ABAA")
    assert [row["reset_since_previous"] for row in rows] == [None, None, None, False]
    assert issues == []


def test_display_that_lacks_the_marks_is_not_compared() -> None:
    lines = [line for line in stats_lines([_later(TICKET_ROW, 5)]) if "Reset time" not in line]
    rows, issues = _read(stats_lines([TICKET_ROW]), lines)
    assert [row["reset_since_previous"] for row in rows] == [None, None]
    assert [issue.code for issue in issues] == [Code.REPORT_CUT]
