"""NETSTAT CONN: its forms, round trips, and damage."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.parsers.text.netstat.damage import damaged
from tests.parsers.text.netstat.displays import read_display

from zscope.parsers.issues import Code, Issue
from zscope.parsers.text.captured_report import Origin, ReportSource
from zscope.parsers.text.netstat.conn import conn_lines
from zscope.parsers.text.netstat.reply import Command
from zscope.parsers.text.netstat.sockets import state_name

if TYPE_CHECKING:
    from collections.abc import Iterable

TOLD = (
    *("job_name", "connection_id", "local_ip", "local_port", "remote_ip", "remote_port"),
    *("state", "state_name", "application_data"),
)
PLACE = {"file", "line_no", "source", "system", "system_from", "taken_local", "taken_time", "time_from"}

SHORT = """\
MVS TCP/IP NETSTAT CS V2R4       TCPIP Name: TCPTST          23:59:58
User Id  Conn     Local Socket           Foreign Socket         State
-------  ----     ------------           --------------         -----
WEBSRV01 00E0F1A2 172.16.254.1..443      255.255.255.255..65535 Establsh
Q        0000000B 0.0.0.0..22            0.0.0.0..0             Listen
NAMED    000004D2 172.16.254.1..53       *..*                   UDP
BATCH7   00003039 172.16.254.1..1414     203.0.113.200..1024    Unheard
"""
LONG = """\
MVS TCP/IP NETSTAT CS 3.2       TCPIP Name: TCPTST          00:00:01
User Id  Conn     State
-------  ----     -----
WEBSRV01 00E0F1A2 Establsh
  Local Socket:   ::ffff:172.16.254.1..443
  Foreign Socket: 2001:DB8:0:0:0:0:0:7..55001
  Application Data:  WEB  A       B
Q        0000000B Listen
  Local Socket:   ::..21
  Foreign Socket: ::..0
NAMED    000004D2 UDP
  Local Socket:   172.16.254.1..53
  Foreign Socket: *..*
"""
WEB = ("WEBSRV01", 0xE0F1A2, "172.16.254.1", 443)


def read(
    text: str | Iterable[str], source: ReportSource = ReportSource.TERMINAL
) -> tuple[list[dict[str, Any]], list[Issue], list[str]]:
    reading = read_display(["netstat_conn"], text, Origin(source))
    return reading.rows, reading.issues, reading.names


def values_of(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in TOLD)


def test_the_short_form() -> None:
    rows, issues, result = read(SHORT)
    assert result == ["NETSTAT CONN"]
    assert issues == []
    assert [values_of(row) for row in rows] == [
        (*WEB, "255.255.255.255", 65535, "Establsh", "ESTABLISHED", None),
        ("Q", 11, "0.0.0.0", 22, "0.0.0.0", 0, "Listen", "LISTEN", None),
        ("NAMED", 1234, "172.16.254.1", 53, None, None, "UDP", "UDP", None),
        ("BATCH7", 12345, "172.16.254.1", 1414, "203.0.113.200", 1024, "Unheard", None, None),
    ]
    assert [row["line_no"] for row in rows] == [4, 5, 6, 7]
    assert {(row["stack"], row["release"], row["taken_time"]) for row in rows} == {
        ("TCPTST", "V2R4", "23:59:58")
    }


def test_the_long_form() -> None:
    rows, issues, _ = read(LONG)
    assert issues == []
    assert [values_of(row) for row in rows] == [
        (*WEB, "2001:db8::7", 55001, "Establsh", "ESTABLISHED", "WEB  A       B"),
        ("Q", 11, "::", 21, "::", 0, "Listen", "LISTEN", None),
        ("NAMED", 1234, "172.16.254.1", 53, None, None, "UDP", "UDP", None),
    ]
    assert [row["line_no"] for row in rows] == [4, 8, 11]
    assert {row["release"] for row in rows} == {"3.2"}


def test_the_long_form_of_the_console() -> None:
    rows, issues, _ = read(
        """\
EZD0101I NETSTAT CS V2R5 TCPTST 044
USER ID  CONN     STATE
WEBSRV01 00E0F1A2 ESTBLSH
  LOCAL SOCKET:   ::FFFF:172.16.254.1..443
  FOREIGN SOCKET: ::FFFF:203.0.113.9..55001
Q        0000000B LISTEN
  LOCAL SOCKET:   ::..21
  FOREIGN SOCKET: ::..0
2 OF 2 RECORDS DISPLAYED
END OF THE REPORT
""",
        ReportSource.CONSOLE,
    )
    assert issues == []
    assert [values_of(row) for row in rows] == [
        (*WEB, "203.0.113.9", 55001, "ESTBLSH", "ESTABLISHED", None),
        ("Q", 11, "::", 21, "::", 0, "LISTEN", "LISTEN", None),
    ]
    assert {row["taken_time"] for row in rows} == {None}


def test_the_short_form_of_the_console() -> None:
    rows, issues, _ = read(
        """\
EZD0101I NETSTAT CS V2R5 TCPTST
USER ID  CONN     LOCAL SOCKET           FOREIGN SOCKET         STATE
WEBSRV01 00E0F1A2 172.16.254.1..443      203.0.113.9..55001     ESTBLSH
1 OF 1 RECORDS DISPLAYED
END OF THE REPORT
""",
        ReportSource.CONSOLE,
    )
    assert issues == []
    assert [values_of(row) for row in rows] == [(*WEB, "203.0.113.9", 55001, "ESTBLSH", "ESTABLISHED", None)]


def test_rows_after_a_message_id_lose_the_end_of_the_state() -> None:
    rows, issues, _ = read(line[:70] for line in SHORT.splitlines())
    assert issues == []
    assert [(row["state"], row["state_name"]) for row in rows] == [
        ("Establ", "ESTABLISHED"),
        ("Listen", "LISTEN"),
        ("UDP", "UDP"),
        ("Unhear", None),
    ]


def test_a_report_needs_no_heading() -> None:
    rows, issues, result = read(SHORT.splitlines()[1:])
    assert (len(rows), issues, result) == (4, [], ["NETSTAT CONN"])
    assert {(row["stack"], row["release"], row["taken_time"]) for row in rows} == {(None, None, None)}


def test_a_report_without_connections_is_a_report() -> None:
    assert read(SHORT.splitlines()[:3]) == ([], [], ["NETSTAT CONN"])


@pytest.mark.parametrize(
    ("printed", "name"),
    [
        *(("Establsh", "ESTABLISHED"), ("ESTBLSH", "ESTABLISHED"), ("Listen", "LISTEN")),
        *(("TimeWait", "TIME_WAIT"), ("TIMEWT", "TIME_WAIT"), ("ClosWait", "CLOSE_WAIT")),
        *(("CLOSWT", "CLOSE_WAIT"), ("CLOSE-WAIT", "CLOSE_WAIT"), ("Closing", "CLOSING")),
        *(("Closed", "CLOSED"), ("FinWait1", "FIN_WAIT_1"), ("FINWT2", "FIN_WAIT_2")),
        *(("LastAck", "LAST_ACK"), ("SynSent", "SYN_SENT"), ("SYNRCV", "SYN_RECEIVED")),
        *(("FinWai", None), ("Clos", None), ("Est", None)),
    ],
)
def test_states_have_full_names(printed: str, name: str | None) -> None:
    assert state_name(printed) == name


@pytest.mark.parametrize(
    "damaged",
    [
        pytest.param("EBSRV01 00E0F1A2 172.16.254.1..443      203.0.113.9..65535     Establsh", id="shifted"),
        pytest.param(
            "WEBSRV01 00E0F1A 172.16.254.1..443      203.0.113.9..65535     Establsh", id="short id"
        ),
        pytest.param(
            "WEBSRV01 00E0F1A2 172.16.254.1.443       203.0.113.9..65535     Establsh", id="one dot"
        ),
        pytest.param("WEBSRV01 00E0F1A2 172.16.254.1..443      203.0.113.9..65535", id="no state"),
        pytest.param("WEBSRV01 00E0F1A2 172.16.254.1..443      203.0.113.9..65 535    Establsh", id="split"),
        pytest.param("WEBSRV01 00E0F1A2 172.16.254.1..443", id="cut"),
    ],
)
def test_a_row_of_another_shape_is_skipped(damaged: str) -> None:
    rows, issues, _ = read([*SHORT.splitlines()[:3], damaged, SHORT.splitlines()[4]])
    assert [row["line_no"] for row in rows] == [5]
    assert [(issue.code, issue.line_no) for issue in issues] == [(Code.UNKNOWN_LINE, 4)]


def test_an_impossible_value_is_null() -> None:
    rows, issues, _ = read(SHORT.replace("..65535", "..65536").replace("203.0.113.200", "203.0.113.256"))
    assert (rows[0]["remote_ip"], rows[0]["remote_port"]) == ("255.255.255.255", None)
    assert (rows[3]["remote_ip"], rows[3]["remote_port"]) == (None, 1024)
    assert [(issue.code, issue.line_no) for issue in issues] == [(Code.BAD_VALUE, 4), (Code.BAD_VALUE, 7)]


def test_squeezed_blanks_do_no_harm() -> None:
    rows, issues, _ = read(re.sub(" +", " ", SHORT))
    assert issues == []
    assert [values_of(row) for row in rows] == [values_of(row) for row in read(SHORT)[0]]


def test_sockets_after_a_damaged_first_line_are_ignored() -> None:
    lines = LONG.splitlines()
    rows, issues, _ = read([*lines[:7], "Q        0000000B", *lines[8:]])
    assert [row["job_name"] for row in rows] == ["WEBSRV01", "NAMED"]
    assert [(issue.code, issue.line_no) for issue in issues] == [(Code.UNKNOWN_LINE, no) for no in (8, 9, 10)]


def test_a_second_socket_of_a_connection_is_ignored() -> None:
    lines = LONG.splitlines()
    rows, issues, _ = read([*lines[:7], *lines[8:]])
    assert rows[0]["local_port"] == 443
    assert [(issue.code, issue.line_no) for issue in issues] == [(Code.UNKNOWN_LINE, no) for no in (8, 9)]


def test_a_connection_without_sockets_is_reported() -> None:
    rows, issues, _ = read(LONG.splitlines()[:5])
    assert [(row["local_port"], row["remote_port"]) for row in rows] == [(443, None)]
    assert [(issue.code, issue.line_no) for issue in issues] == [(Code.REPORT_CUT, 4)]


def test_a_label_without_a_column_is_in_extra() -> None:
    rows, issues, _ = read(
        LONG.replace("  Application Data:  WEB", "  Policy: Yes\n  Appl Stuff: x\n  Application Data: WEB")
    )
    assert issues == []
    assert rows[0]["extra"] == '{"Policy": "Yes", "Appl Stuff": "x"}'


def test_the_byteinfo_report_is_not_read() -> None:
    rows, issues, result = read(
        "MVS TCP/IP NETSTAT CS V2R5       TCPIP Name: TCPTST          10:00:00\n"
        "User Id  Conn     BytesOut   BytesIn    L Port Foreign Socket\n"
    )
    assert (rows, result, [issue.code for issue in issues]) == ([], [], [Code.OTHER_REPORT])


NAMES = st.from_regex(r"[A-Z@#$][A-Z0-9@#$]{0,7}", fullmatch=True)
PORTS = st.integers(0, 0xFFFF)
STATES = st.sampled_from(["Establsh", "Listen", "TimeWait", "ClosWait", "FinWait1", "LastAck", "Closed"])
IPV4 = st.ip_addresses(v=4).map(str)
IPV6 = st.ip_addresses(v=6).map(str).filter(lambda address: not address.startswith("::ffff:"))


def row_of(address: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, Any]]:
    partner = st.tuples(address, PORTS) | st.just((None, None))
    return st.builds(
        lambda name, number, here, there, state, text: {
            "job_name": name,
            "connection_id": number,
            "local_ip": here[0],
            "local_port": here[1],
            "remote_ip": there[0],
            "remote_port": there[1],
            "state": state,
            "application_data": text,
        },
        NAMES,
        st.integers(0, 0xFFFFFFFF),
        st.tuples(address, PORTS),
        partner,
        STATES,
        st.none() | st.from_regex(r"[A-Z0-9]{1,8}( {1,4}[A-Z0-9]{1,8}){0,3}", fullmatch=True),
    )


SHORT_ROWS = st.lists(row_of(IPV4), max_size=6)
LONG_ROWS = st.lists(row_of(IPV4 | IPV6), max_size=6)
COMMANDS = st.builds(
    Command,
    console=st.booleans(),
    release=st.sampled_from(["V1R10", "V2R5", "3.1", "3.2"]),
    stack=NAMES,
    clock=st.times().map(lambda clock: clock.replace(microsecond=0)),
    connector=st.none() | st.integers(0, 999),
)


def check_round_trip(rows: list[dict[str, Any]], command: Command, lines: list[str]) -> None:
    read_back, issues, result = read(
        lines, ReportSource.CONSOLE if command.console else ReportSource.TERMINAL
    )
    assert (issues, result) == ([], ["NETSTAT CONN"])
    expected = [{**row, "state": row["state"].upper() if command.console else row["state"]} for row in rows]
    assert [{name: row[name] for name in TOLD if name != "state_name"} for row in read_back] == expected
    for row in read_back:
        assert (row["stack"], row["release"]) == (command.stack, command.release)
        assert row["state_name"] is not None
        assert row["taken_time"] == (None if command.console else str(command.clock))


@given(SHORT_ROWS, COMMANDS)
def test_the_written_short_form_is_read(rows: list[dict[str, Any]], command: Command) -> None:
    check_round_trip(rows, command, conn_lines(rows, command))


@given(LONG_ROWS, COMMANDS, st.booleans())
def test_the_written_long_form_is_read(rows: list[dict[str, Any]], command: Command, mapped: bool) -> None:
    lines = conn_lines(rows, command, long=True, mapped=mapped)
    unspecified = {"0.0.0.0": "::"} if mapped else {}
    for row in rows:
        row["local_ip"] = unspecified.get(row["local_ip"], row["local_ip"])
        row["remote_ip"] = unspecified.get(row["remote_ip"], row["remote_ip"])
    check_round_trip(rows, command, lines)


@given(LONG_ROWS, st.booleans(), st.data())
def test_damage_gives_no_wrong_values(rows: list[dict[str, Any]], long: bool, data: st.DataObject) -> None:
    if not long:
        rows = [row for row in rows if ":" not in f"{row['local_ip']}{row['remote_ip']}"]
    lines = conn_lines(rows, long=long)
    lines = data.draw(damaged(lines, [line.upper() for line in lines]))
    read_back, issues, _ = read(lines)
    assert all(issue.line_no for issue in issues)
    written = [{**row, "state": row["state"].upper()} for row in rows]
    for row in read_back:
        values = {name: row[name] for name in TOLD if name != "state_name" and row[name] is not None}
        values["state"] = values["state"].upper()
        matches = any(
            values.items() <= {**w, "state": w["state"][: len(values["state"])]}.items() for w in written
        )
        assert matches or issues, values


@given(st.lists(st.text(max_size=90), max_size=12))
def test_any_text_is_read_without_an_exception(noise: list[str]) -> None:
    for beginning in (SHORT.splitlines()[:3], LONG.splitlines()[:5]):
        read([*beginning, *noise])
