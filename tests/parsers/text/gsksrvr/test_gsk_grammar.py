"""Replies of GSKSRVR as a whole: headings, other messages, and damaged input."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.parsers.text.gsksrvr.displays import read_displays
from tests.parsers.text.reading import numbered

from zscope.parsers.issues import Code, Issue
from zscope.parsers.text.captured_report import Origin, ReportSource
from zscope.parsers.text.gsksrvr.gsk_heading import Cache, Display, heading_lines, read_heading

TABLES = ("gsk_cache_status", "gsk_cache_stats", "gsk_crypto")


def _read(lines: list[str], tables: tuple[str, ...] = TABLES) -> tuple[int, list[Issue], list[str]]:
    """Number of rows, issues, names of the reports."""
    reading = read_displays(tables, [(lines, Origin(ReportSource.CONSOLE))])
    return len(reading.rows), reading.issues, reading.names


@pytest.mark.parametrize("split", [True, False])
@pytest.mark.parametrize("display", [Display.STATUS, Display.STATISTICS])
@pytest.mark.parametrize("cache", list(Cache))
def test_written_headings_are_read(cache: Cache, display: Display, split: bool) -> None:
    lines = heading_lines(cache, display, split=split)
    heading = read_heading(numbered([*lines, "body"]))
    assert heading is not None
    assert (heading.cache, heading.display) == (cache, display)
    assert [line.text for line in heading.body] == ["body"]


@pytest.mark.parametrize(
    ("cache", "text"),
    [
        (Cache.TICKET, ["GSK01078I Session ticket cache", " status"]),
        (Cache.SESSION_ID, ["GSK01032I Session cache status"]),
    ],
)
def test_only_long_headings_are_split(cache: Cache, text: list[str]) -> None:
    assert heading_lines(cache, Display.STATUS) == text


def test_other_messages_are_notes() -> None:
    lines = [
        "GSK01057I SSL server starting in FIPS mode",
        "GSK01034E Unable to send cross-system message: Error 13, Reason 8.",
        "GSK01034E UNABLE TO SEND CROSS-SYSTEM MESSAGE: ERROR 99, REASON 0.",
        "GSK01500A",
        "GSK01501I Systems",
        "SYSA  ACTIVE",
        "",
        "SYSB  ACTIVE",
    ]
    rows, issues, result = _read(lines)
    assert rows == 0
    assert result == []
    assert [(issue.code, issue.line_no) for issue in issues] == [(Code.OTHER_REPORT, n) for n in range(1, 6)]
    texts = [issue.text.split(": ", 1)[1] for issue in issues]
    assert texts[0] == "GSK01057I SSL server starting in FIPS mode"
    assert texts[1].endswith("Error 13, Reason 8. (the target did not answer)")
    assert texts[2].endswith("REASON 0.")
    assert texts[3] == "GSK01500A"
    assert texts[4] == "GSK01501I Systems, and 2 further lines"


def test_issues_are_reported_without_selected_tables() -> None:
    lines = ["GSK01032I Session cache status", "User  Count", "*DSPACE*  ?"]
    rows, issues, result = _read(lines, ())
    assert rows == 0
    assert [issue.code for issue in issues] == [Code.BAD_VALUE]
    assert result == ["GSKSRVR SIDCACHE status"]


def test_incomplete_heading() -> None:
    rows, issues, result = _read(["GSK01900I Session ticket cache", "User              Count"])
    assert (rows, result) == (0, [])
    assert [(issue.code, issue.line_no, issue.column_no) for issue in issues] == [
        (Code.REPORT_UNREADABLE, 1, 31)
    ]


def test_report_without_a_message_id() -> None:
    rows, issues, result = _read(["Session cache status", "User              Count"])
    assert (rows, result) == (0, [])
    assert [(issue.code, issue.line_no, issue.column_no) for issue in issues] == [
        (Code.REPORT_UNREADABLE, 1, 1)
    ]


PIECES = st.sampled_from(
    [
        "GSK01079I Session ticket cache",
        "GSK01081I Session cache statistics",
        "GSK01032I Session cache status",
        "GSK01009I Cryptographic status",
        " statistics",
        " status",
        "User              Count              Max size",
        "*DSPACE*           6/20                   N/A",
        "WEB                   5                   700",
        "Algorithm          Hardware    Software",
        "AES                     256         256",
        "Current time:        2026/07/01 18:00:05 CEST",
        "Number of resets:    0",
        "Cache num tickets:   16",
        "Add statistics                             Count",
        "-----------------                          -----",
        "Requested:                                  7001",
        "Success percentage:                      99.843%",
        "Replaced entries:                              0",
        "12",
        "",
        "-----",
        "::",
        ": 5",
        "User",
        "*DSPACE*",
    ]
)


@given(lines=st.lists(PIECES | st.text(max_size=60), min_size=1, max_size=25))
def test_lines_in_any_order_raise_nothing(lines: list[str]) -> None:
    rows, issues, result = _read(["GSK01081I Session cache statistics", *lines])
    assert result[0] == "GSKSRVR SIDCACHE statistics"
    assert rows or issues
    assert all(issue.line_no is not None for issue in issues)


@pytest.mark.deep
@pytest.mark.parametrize(
    "piece",
    [
        "A",
        "A ",
        "-",
        "- ",
        "1",
        ": ",
        "a:",
        "User Count ",
        "statistics ",
        "\N{NO-BREAK SPACE}",
        "Hardware ",
        "(",
    ],
)
@pytest.mark.parametrize(
    "heading",
    [
        "GSK01079I Session ticket cache statistics",
        "GSK01032I Session cache status",
        "GSK01009I Cryptographic status",
        "GSK01034E Error ",
    ],
)
def test_time_grows_no_faster_than_the_length_of_a_line(heading: str, piece: str) -> None:
    begin = process_time()
    _read([heading, piece * 100_000, heading + piece * 50_000])
    assert process_time() - begin < 10  # a quadratic reader takes minutes
