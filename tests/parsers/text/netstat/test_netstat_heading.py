"""NETSTAT replies: headings, endings, dates, and recognition of the report."""

from __future__ import annotations

from datetime import date, time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.parsers.text.netstat.displays import read_display
from tests.parsers.text.reading import Reading, numbered

from zscope.parsers.issues import Code, Issue, Severity
from zscope.parsers.text.captured_report import KnownFrom, Origin, ReportSource
from zscope.parsers.text.netstat.conn import conn_lines
from zscope.parsers.text.netstat.netstat_grammar import HeadingForm, NetstatHeading, read_heading
from zscope.parsers.text.netstat.reply import Command

if TYPE_CHECKING:
    from collections.abc import Iterable

TABLES = (
    *("netstat_conn", "netstat_all", "netstat_ttls", "netstat_ttls_group"),
    *("netstat_config", "netstat_devlink"),
)
TERMINAL = "MVS TCP/IP NETSTAT CS V2R5       TCPIP Name: TCPTST          18:30:00"
CONSOLE = "EZD0101I NETSTAT CS V2R5 TCPTST 044"
END = "END OF THE REPORT"
ROWS: list[dict[str, Any]] = [
    {
        "job_name": f"WEB{number}",
        "connection_id": number,
        "local_ip": "172.16.254.1",
        "local_port": 443,
        "remote_ip": "203.0.113.9",
        "remote_port": 50000 + number,
        "state": "Establsh",
    }
    for number in range(2)
]


def read(
    lines: Iterable[str], origin: Origin | None = None, *, complete: bool = True
) -> tuple[Reading, list[Issue]]:
    reading = read_display(TABLES, lines, origin, complete=complete)
    return reading, reading.issues


def on_console(lines: Iterable[str], *, complete: bool = True) -> tuple[int, list[Issue]]:
    reading, issues = read(lines, Origin(ReportSource.CONSOLE), complete=complete)
    return len(reading.rows), issues


def heading_of(*texts: str) -> NetstatHeading | None:
    return read_heading(numbered(texts))


def test_headings_are_those_of_the_releases() -> None:
    assert Command(stack="TCPTST", clock=time(18, 30)).heading() == TERMINAL
    assert Command(console=True, stack="TCPTST", connector=44).heading() == CONSOLE


@pytest.mark.parametrize(
    ("text", "release", "stack", "clock"),
    [
        (TERMINAL, "V2R5", "TCPTST", "18:30:00"),
        (TERMINAL.upper(), "V2R5", "TCPTST", "18:30:00"),
        ("EZZ2350I " + TERMINAL, "V2R5", "TCPTST", "18:30:00"),
        (TERMINAL.replace("V2R5", "V1R10"), "V1R10", "TCPTST", "18:30:00"),
        ("MVS TCP/IP NETSTAT CS 3.1   TCPIP Name: T   18:30:00", "3.1", "T", "18:30:00"),
        (" ".join(TERMINAL.split()), "V2R5", "TCPTST", "18:30:00"),
        (CONSOLE, "V2R5", "TCPTST", None),
        ("EZD0101I NETSTAT CS 3.2 #TCP", "3.2", "#TCP", None),
        ("netstat cs 3.2 tcptst", "3.2", "tcptst", None),
    ],
)
def test_headings_are_read(text: str, release: str, stack: str, clock: str | None) -> None:
    result = heading_of(text, "User Id  Conn     State")
    assert result is not None
    assert (result.release, result.stack, result.clock, result.rest) == (release, stack, clock, "")
    assert result.whole
    assert result.line_count == 1


@pytest.mark.parametrize("width", [23, 30, 40, 50, 63])
def test_a_heading_can_be_wrapped(width: int) -> None:
    result = heading_of(TERMINAL[:width].rstrip(), TERMINAL[width:].strip())
    if " " in TERMINAL[width - 1 : width + 1]:
        assert result == NetstatHeading(HeadingForm.TERMINAL, "V2R5", "TCPTST", "18:30:00", line_count=2)
    else:
        assert result is not None
        assert not result.whole


@pytest.mark.parametrize("width", range(21, len(TERMINAL)))
def test_a_heading_that_is_cut_gives_no_half_names(width: int) -> None:
    result = heading_of(TERMINAL[:width].rstrip())
    assert result is not None
    assert not result.whole
    assert result.release in {None, "V2R5"}
    assert (result.stack, result.clock) == (None, None) or result.rest


def test_a_cut_heading_is_reported() -> None:
    lines = conn_lines(ROWS)
    reading, issues = read([lines[0][:50].rstrip(), *lines[1:]])
    assert len(reading.rows) == 2
    assert [(issue.code, issue.line_no, issue.column_no) for issue in issues] == [(Code.REPORT_CUT, 1, 51)]


def test_text_after_a_heading_is_reported() -> None:
    lines = conn_lines(ROWS)
    reading, issues = read([lines[0] + " and more", *lines[1:]])
    assert {(row["stack"], row["taken_time"]) for row in reading.rows} == {("TCPIP", "09:41:07")}
    assert [(issue.code, issue.line_no) for issue in issues] == [(Code.UNKNOWN_LINE, 1)]


def test_an_impossible_time_of_day_is_reported() -> None:
    lines = conn_lines(ROWS)
    reading, issues = read([lines[0].replace("09:41", "29:41"), *lines[1:]])
    assert {(row["stack"], row["taken_time"]) for row in reading.rows} == {("TCPIP", None)}
    assert [(issue.code, issue.line_no) for issue in issues] == [(Code.BAD_VALUE, 1)]


@pytest.mark.parametrize(
    ("origin", "time_from", "taken"),
    [
        (Origin(ReportSource.TERMINAL), "no-date", None),
        (
            Origin(ReportSource.TERMINAL, day=date(2025, 3, 14), time_from=KnownFrom.FILE_NAME),
            "file-name",
            "2025-03-14 09:41:07",
        ),
        (
            Origin(
                ReportSource.TERMINAL, day=date(2025, 3, 14), clock=time(1, 2, 3), time_from=KnownFrom.OPTION
            ),
            "option",
            "2025-03-14 09:41:07",
        ),
    ],
)
def test_the_heading_has_the_time_and_the_capture_the_day(
    origin: Origin, time_from: str, taken: str | None
) -> None:
    reading, issues = read(conn_lines(ROWS), origin)
    assert issues == []
    assert str(reading.reports[0].when_local) == str(taken)
    assert {(row["taken_time"], row["time_from"]) for row in reading.rows} == {("09:41:07", time_from)}


def test_the_log_gives_the_time_of_a_console_reply() -> None:
    origin = Origin(
        ReportSource.SYSLOG, "SYSA", KnownFrom.PREFIX, date(2025, 3, 14), time(1, 2, 3), KnownFrom.PREFIX
    )
    reading, issues = read(conn_lines(ROWS, Command(console=True)), origin)
    assert issues == []
    assert {(str(row["taken_local"]), row["time_from"]) for row in reading.rows} == {
        ("2025-03-14 01:02:03", "prefix")
    }


def test_a_limited_reply_reports_missing_records() -> None:
    count, issues = on_console(conn_lines(ROWS, Command(console=True), of=1200))
    assert count == 2
    assert [(issue.code, issue.line_no) for issue in issues] == [(Code.REPORT_CUT, 5)]
    assert "only 2 of 1,200 records" in issues[0].text


def test_a_reply_that_the_system_stopped() -> None:
    lines = conn_lines(ROWS, Command(console=True))[:-2]
    stopped = "REPORT TRUNCATED DUE TO GREATER THAN 65533 LINES OF OUTPUT"
    count, issues = on_console([*lines, stopped])
    assert count == 2
    assert [issue.code for issue in issues] == [Code.REPORT_CUT]
    assert "limit" in issues[0].text


@pytest.mark.parametrize("complete", [True, False])
def test_a_console_reply_without_its_end(complete: bool) -> None:
    count, issues = on_console(conn_lines(ROWS, Command(console=True))[:-2], complete=complete)
    assert count == 2
    assert [(issue.code, issue.line_no) for issue in issues] == [(Code.REPORT_CUT, 4)]


def test_missing_records_are_reported() -> None:
    lines = conn_lines(ROWS, Command(console=True))
    count, issues = on_console([*lines[:3], *lines[4:]])
    assert count == 1
    assert [(issue.code, issue.line_no) for issue in issues] == [(Code.COUNT_DIFFERS, 4)]


def test_lines_after_the_end_are_reported() -> None:
    count, issues = on_console([*conn_lines(ROWS, Command(console=True)), "", "IEE136I"])
    assert count == 2
    assert [(issue.code, issue.line_no) for issue in issues] == [(Code.UNKNOWN_LINE, 8)]


def test_zvm_is_refused() -> None:
    reading, issues = read(
        ["VM TCP/IP Netstat Level 720       TCP/IP Server Name: TCPIP", "", *conn_lines(ROWS)]
    )
    assert (reading.rows, reading.reports) == ([], [])
    assert [(issue.code, issue.severity) for issue in issues] == [(Code.ZVM_NETSTAT, Severity.REFUSED)]


@pytest.mark.parametrize(
    ("first", "name"),
    [
        ("Home address list:", "HOME"),
        ("IPv4 Destinations", "ROUTE"),
        ("Destination        Gateway         Flags    Refcnt     Interface", "ROUTE"),
        ("TCP Statistics", "STATS"),
        ("User Id  B Out      B In       L Port Foreign Socket", "BYTEINFO"),
        ("PORT# PROT USER     FLAGS    RANGE", "PORTLIST"),
    ],
)
def test_other_reports_are_named(first: str, name: str) -> None:
    reading, issues = read([TERMINAL, first, "more of it"])
    assert (reading.rows, reading.reports) == ([], [])
    assert [(issue.code, issue.line_no) for issue in issues] == [(Code.OTHER_REPORT, 2)]
    assert name in issues[0].text


def test_an_unknown_report_is_reported_with_the_known_ones() -> None:
    reading, issues = read([TERMINAL, "", "Nothing known", "at all"])
    assert (reading.rows, reading.reports) == ([], [])
    assert [(i.code, i.line_no, i.column_no) for i in issues] == [(Code.REPORT_UNREADABLE, 3, 1)]
    assert "'Nothing known'" in issues[0].text
    assert "CONN, ALL, TTLS CONN, TTLS GROUP, CONFIG, DEVLINKS" in issues[0].text


def test_a_heading_alone() -> None:
    assert [issue.code for issue in read([TERMINAL])[1]] == [Code.REPORT_UNREADABLE]
    assert [issue.code for issue in on_console([CONSOLE, END])[1]] == [Code.OTHER_REPORT]
    assert [issue.code for issue in on_console([CONSOLE])[1]] == [Code.REPORT_CUT, Code.REPORT_UNREADABLE]


@pytest.mark.parametrize(
    ("first", "name"),
    [
        ("User Id  Conn     State", "NETSTAT CONN"),
        ("CLIENT NAME: WEB1                     CLIENT ID: 00000001", "NETSTAT ALL"),
        ("ConnID: 00000001", "NETSTAT TTLS CONN"),
        ("TTLSGRPACTION                             GROUP ID           CONNS", "NETSTAT TTLS GROUP"),
        ("TCP Configuration Table:", "NETSTAT CONFIG"),
        ("IntfName: OSA1              IntfType: EQENET     IntfStatus: Ready", "NETSTAT DEVLINKS"),
    ],
)
def test_reports_are_recognised_by_their_first_line(first: str, name: str) -> None:
    for lines in ([TERMINAL, first], [TERMINAL, "", "noise", first], [first]):
        reading, _ = read(lines)
        assert [(result.name, result.line) for result in reading.reports] == [(name, 1)]


@given(
    st.lists(
        st.text(max_size=100) | st.sampled_from([TERMINAL, CONSOLE, END, "1 OF 2 RECORDS DISPLAYED"]),
        min_size=1,
    )
)
def test_any_text_is_read_without_an_exception(lines: list[str]) -> None:
    reading, issues = read(lines)
    assert reading.reports or issues
    assert all(issue.line_no for issue in issues)


@given(
    st.booleans(),
    st.sampled_from(["V1R10", "V2R1", "3.1"]),
    st.from_regex(r"[A-Z@#$][A-Z0-9@#$]{0,7}", fullmatch=True),
    st.times(),
    st.none() | st.integers(0, 999),
)
def test_headings_that_are_written_are_read(
    console: bool, release: str, stack: str, clock: time, connector: int | None
) -> None:
    result = heading_of(Command(console, release, stack, clock, connector).heading())
    form = HeadingForm.CONSOLE if console else HeadingForm.TERMINAL
    assert result == NetstatHeading(form, release, stack, None if console else f"{clock:%H:%M:%S}")
