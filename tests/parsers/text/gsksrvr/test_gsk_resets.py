"""Cache statistics shown several times: which counters were reset in between."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.parsers.text.gsksrvr.cache_statistics import COUNTERS, SESSION_ROW, TABLE, TICKET_ROW, moment
from tests.parsers.text.gsksrvr.displays import read_displays
from tests.parsers.text.reading import Row, codes

from zscope.parsers.issues import Code, Issue
from zscope.parsers.text.captured_report import Origin, ReportSource
from zscope.parsers.text.gsksrvr.statistics import stats_lines


def _read(*reports: list[str], systems: str = "") -> tuple[list[Row], list[Issue]]:
    """Each report in its turn; `systems` has a letter for the system of each, all are from one if empty."""
    origins = [Origin(ReportSource.CONSOLE, system) for system in systems or [None] * len(reports)]
    reading = read_displays([TABLE], zip(reports, origins, strict=True))
    return reading.rows, reading.issues


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
    assert codes(issues) == [(Code.COUNTERS_RESET, 39)]
    assert "line 1" in issues[0].text
    assert "Reset time from 2026-07-01 00:00:01 to 2026-07-02 00:00:00" in issues[0].text


def test_counters_that_fall_without_a_reset() -> None:
    rows, issues = _read(stats_lines([TICKET_ROW, _later(TICKET_ROW, 15, add_replaced=249)]))
    assert [row["reset_since_previous"] for row in rows] == [None, True]
    assert codes(issues) == [(Code.COUNTERS_RESET, 39), (Code.ARITHMETIC, 39)]
    assert all("add_replaced from 250 to 249" in issue.text for issue in issues)


def test_displays_are_compared_in_order_of_time() -> None:
    reset = _later(TICKET_ROW, 600, **ZERO, reset_local=MIDNIGHT, reset_count=18)
    rows, issues = _read(stats_lines([reset, TICKET_ROW]))
    assert [row["reset_since_previous"] for row in rows] == [True, None]
    assert codes(issues) == [(Code.COUNTERS_RESET, 1)]


def test_displays_are_in_order_of_lines_if_zones_differ() -> None:
    winter = _later(TICKET_ROW, -30, time_zone="CET", **_more(TICKET_ROW, 5))
    rows, issues = _read(stats_lines([TICKET_ROW, winter]))
    assert [row["reset_since_previous"] for row in rows] == [None, False]
    assert issues == []


def test_systems_and_caches_are_compared_separately() -> None:
    other = _later(TICKET_ROW, 1, started_local=MIDNIGHT, **ZERO)
    displays = [stats_lines([row]) for row in (TICKET_ROW, other, SESSION_ROW, _later(TICKET_ROW, 2))]
    rows, issues = _read(*displays, systems="ABAA")
    assert [row["reset_since_previous"] for row in rows] == [None, None, None, False]
    assert issues == []


def test_display_without_reset_labels_is_not_compared() -> None:
    lines = [line for line in stats_lines([_later(TICKET_ROW, 5)]) if "Reset time" not in line]
    rows, issues = _read(stats_lines([TICKET_ROW]), lines)
    assert [row["reset_since_previous"] for row in rows] == [None, None]
    assert [issue.code for issue in issues] == [Code.REPORT_CUT]
