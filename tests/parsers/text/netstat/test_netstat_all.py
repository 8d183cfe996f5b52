"""NETSTAT ALL: the published short form, other forms, and damage."""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.parsers.text.netstat.damage import damaged
from tests.parsers.text.netstat.displays import read_display
from tests.parsers.text.reading import codes

from zscope.parsers.issues import Code, Issue
from zscope.parsers.text.captured_report import Origin, ReportSource
from zscope.parsers.text.netstat.all import all_lines
from zscope.parsers.text.netstat.reply import Command
from zscope.schemas.reports import PrintedField, PrintedFormat, report_table

if TYPE_CHECKING:
    from collections.abc import Iterable

HEADING = "MVS TCP/IP NETSTAT CS V2R4       TCPIP Name: TCPTST          18:30:00\n"
SHORT = """\
Client Name: WEBSRV01                 Client Id: 00E0F1A2
Local Socket: 172.16.254.1..443       Foreign Socket: 203.0.113.9..55001
  BytesIn:            0000000517        BytesOut:           4294967295
  SegmentsIn:         0000000009        SegmentsOut:        0000000012
  StartDate:          12/31/2024        StartTime:          23:59:59
  Last Touched:       18:29:58          State:              Establsh
  RcvNxt:             0000000001        SndNxt:             0000000002
  ClientRcvNxt:       0000000003        ClientSndNxt:       0000000004
  InitRcvSeqNum:      0000000005        InitSndSeqNum:      0000000006
  CongestionWindow:   0000014600        SlowStartThreshold: 0000032768
  IncomingWindowNum:  0000000007        OutgoingWindowNum:  0000000008
  SndWl1:             0000000010        SndWl2:             0000000011
  SndWnd:             0000064240        MaxSndWnd:          0000065160
  SndUna:             0000000013        rtt_seq:            0000000014
  MaximumSegmentSize: 0000001460        DSField:            28
  Round-trip information:
    Smooth trip time: 48.125            SmoothTripVariance: 7.500
  ReXmt:              0000000021        ReXmtCount:         0000000002
  DupACKs:            0000000033        RcvWnd:             0000262144
  SockOpt:            8A                TcpTimer:           01
  TcpSig:             05                TcpSel:             C0
"""
LOWER = """\
  TcpDet:             F0                TcpPol:             00
  TTLSPolicy:         Yes
    TTLSRule:         WebServer~2
    TTLSGrpAction:    gAct2~Web
    TTLSEnvAction:    eAct2~Web
    TTLSConnAction:   cAct2~Web
  ReceiveBufferSize:  0000131072        SendBufferSize:     0000262144
  SendStalled:        No
  Ancillary Input Queue: N/A
  Application Data:  WEB  A       B
SMC INFORMATION:
  SMCRCURRCONNS:    0000000017      SMCRTOTALCONNS:    0000000901
  UseSMC:           Yes             Source:            AutoSMC
  AutoSMC%:         042
"""
EXPECTED = {
    "job_name": "WEBSRV01",
    "connection_id": 0xE0F1A2,
    "local_ip": "172.16.254.1",
    "local_port": 443,
    "remote_ip": "203.0.113.9",
    "remote_port": 55001,
    "in_bytes": 517,
    "out_bytes": 4294967295,
    "in_segments": 9,
    "out_segments": 12,
    "started_local": datetime.fromisoformat("2024-12-31T23:59:59"),
    "last_touched": "18:29:58",
    "state": "Establsh",
    "state_name": "ESTABLISHED",
    "receive_next_seq": 1,
    "send_next_seq": 2,
    "client_receive_next_seq": 3,
    "client_send_next_seq": 4,
    "initial_receive_seq": 5,
    "initial_send_seq": 6,
    "congestion_window_bytes": 14600,
    "slow_start_threshold_bytes": 32768,
    "incoming_window_seq": 7,
    "outgoing_window_seq": 8,
    "window_update_seq": 10,
    "window_update_ack_seq": 11,
    "send_window_bytes": 64240,
    "max_send_window_bytes": 65160,
    "unacknowledged_seq": 13,
    "round_trip_seq": 14,
    "mss_bytes": 1460,
    "ds_field": "28",
    "smooth_trip_ms": 48.125,
    "smooth_trip_variance_ms": 7.5,
    "retransmits": 21,
    "current_retransmits": 2,
    "duplicate_ack_count": 33,
    "receive_window_bytes": 262144,
    "socket_options": "8a",
    "tcp_timer": "01",
    "tcp_signal": "05",
    "tcp_select": "c0",
}
HEX_COLUMNS = {field.column for field in report_table("netstat_all").columns if field.format == "hex"}
EXPECTED_LOWER = {
    "tcp_detail": "f0",
    "tcp_poll": "00",
    "ttls_policy": "Yes",
    "ttls_rule": "WebServer~2",
    "ttls_group_action": "gAct2~Web",
    "ttls_environment_action": "eAct2~Web",
    "ttls_connection_action": "cAct2~Web",
    "receive_buffer_bytes": 131072,
    "send_buffer_bytes": 262144,
    "send_stalled": False,
    "application_data": "WEB  A       B",
    "smcr_current_connections": 17,
    "smcr_total_connections": 901,
    "use_smc": True,
    "smc_source": "AutoSMC",
    "auto_smc_pct": 42.0,
}
TABLE = report_table("netstat_all")
COLUMNS = [printed.column for printed in TABLE.columns]


def read(
    text: str | Iterable[str], source: ReportSource = ReportSource.TERMINAL
) -> tuple[list[dict[str, Any]], list[Issue]]:
    reading = read_display(["netstat_all"], text, Origin(source))
    return reading.rows, reading.issues


def set_values(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in COLUMNS if row[name] is not None}


def test_the_short_form() -> None:
    rows, issues = read(HEADING + SHORT)
    assert issues == []
    assert [set_values(row) for row in rows] == [EXPECTED]
    assert (rows[0]["line_no"], rows[0]["stack"], rows[0]["taken_time"]) == (2, "TCPTST", "18:30:00")
    assert rows[0]["extra"] is None


def test_the_lower_part_is_read_by_label() -> None:
    rows, issues = read(HEADING + SHORT + LOWER)
    assert issues == []
    assert [set_values(row) for row in rows] == [EXPECTED | EXPECTED_LOWER]
    assert json.loads(rows[0]["extra"]) == {"Ancillary Input Queue": "N/A"}


def test_the_console_form() -> None:
    text = f"EZD0101I NETSTAT CS V2R4 TCPTST 044\n{SHORT}".upper()
    rows, issues = read(f"{text}1 OF 1 RECORDS DISPLAYED\nEND OF THE REPORT\n", ReportSource.CONSOLE)
    assert issues == []
    assert [set_values(row) for row in rows] == [EXPECTED | {"state": "ESTABLSH"}]


def test_the_long_form_and_its_wide_counters() -> None:
    rows, issues = read(
        HEADING
        + "Client Name: WEBSRV01                 Client Id: 00E0F1A2\n"
        + "  Local Socket:   ::ffff:172.16.254.1..443\n"
        + "  Foreign Socket: 2001:db8::9..55001\n"
        + "  BytesIn:            00000000012884901888\n"
        + "  BytesOut:           18446744073709551615\n"
        + "  SegmentsIn:         7\n"
        + "  Round-trip information:\n"
        + "    Smooth trip time: 48                SmoothTripVariance: 7.500\n"
    )
    assert issues == []
    assert [set_values(row) for row in rows] == [
        {
            "job_name": "WEBSRV01",
            "connection_id": 0xE0F1A2,
            "local_ip": "172.16.254.1",
            "local_port": 443,
            "remote_ip": "2001:db8::9",
            "remote_port": 55001,
            "in_bytes": 3 << 32,
            "out_bytes": (1 << 64) - 1,
            "in_segments": 7,
            "smooth_trip_ms": 48.0,
            "smooth_trip_variance_ms": 7.5,
        }
    ]


def test_connections_without_a_partner_and_with_unknown_labels() -> None:
    rows, issues = read(
        HEADING
        + "Client Name: NAMED                    Client Id: 000004D2\n"
        + "Local Socket: 0.0.0.0..53             Foreign Socket: *..*\n"
        + "  BytesIn:            0000000100        BytesOut:           0000000200\n"
        + "  DgramIn:            0000000003        DgramOut:           0000000004\n"
        + "  Last Touched:       18:00:00          State:              UDP\n"
        + SHORT
    )
    assert issues == []
    assert [row["line_no"] for row in rows] == [2, 7]
    assert set_values(rows[0]) == {
        "job_name": "NAMED",
        "connection_id": 1234,
        "local_ip": "0.0.0.0",
        "local_port": 53,
        "in_bytes": 100,
        "out_bytes": 200,
        "last_touched": "18:00:00",
        "state": "UDP",
        "state_name": "UDP",
    }
    assert json.loads(rows[0]["extra"]) == {"DgramIn": "0000000003", "DgramOut": "0000000004"}
    assert set_values(rows[1]) == EXPECTED


def test_squeezed_blanks_do_no_harm() -> None:
    rows, issues = read(HEADING + re.sub(" +", " ", SHORT))
    assert issues == []
    assert [set_values(row) for row in rows] == [EXPECTED]


def test_a_wrapped_value_belongs_to_the_label_before_it() -> None:
    lines = SHORT.splitlines()
    narrow = [piece.rstrip() for line in lines[2:] for piece in (line[:60], line[60:]) if piece]
    rows, issues = read([HEADING.strip(), *lines[:2], *narrow])
    assert issues == []
    assert [set_values(row) for row in rows] == [EXPECTED]


def test_a_cut_number_is_null() -> None:
    rows, issues = read((HEADING + SHORT).replace("4294967295", "429496729").replace("48.125", "48.12"))
    assert (rows[0]["out_bytes"], rows[0]["smooth_trip_ms"]) == (None, None)
    assert codes(issues) == [(Code.BAD_VALUE, 4), (Code.BAD_VALUE, 18)]
    assert {issue.field for issue in issues} == {"BytesOut", "Smooth trip time"}
    assert json.loads(rows[0]["extra"]) == {"BytesOut": "429496729", "Smooth trip time": "48.12"}


@pytest.mark.parametrize(
    ("printed", "damaged", "columns", "line"),
    [
        ("00E0F1A2", "00E0F1A", ["connection_id"], 2),
        ("172.16.254.1..443", "172.16.254.1.443", ["local_ip", "local_port"], 3),
        ("203.0.113.9..", "203.0.113.999..", ["remote_ip"], 3),
        ("18:29:58", "18:29:5", ["last_touched"], 7),
        ("TcpSel:             C0", "TcpSel:             C", ["tcp_select"], 22),
        ("0000001460", "9999999999", ["mss_bytes"], 16),
    ],
)
def test_an_impossible_value_is_null(printed: str, damaged: str, columns: list[str], line: int) -> None:
    rows, issues = read((HEADING + SHORT).replace(printed, damaged))
    assert set_values(rows[0]) == {name: value for name, value in EXPECTED.items() if name not in columns}
    assert codes(issues) == [(Code.BAD_VALUE, line)]


@pytest.mark.parametrize("damaged", ["23:59:5", "24:59:59"])
def test_a_start_without_a_whole_time_is_null(damaged: str) -> None:
    rows, issues = read((HEADING + SHORT).replace("23:59:59", damaged))
    assert rows[0]["started_local"] is None
    assert set(codes(issues)) == {(Code.BAD_VALUE, 6)}


def test_the_first_of_two_values_is_used() -> None:
    rows, issues = read(HEADING + SHORT + "  BytesIn:            0000000999\n")
    assert rows[0]["in_bytes"] == 517
    assert codes(issues) == [(Code.BAD_VALUE, 23)]


def test_a_connection_without_its_first_line_is_not_mixed_with_the_one_before() -> None:
    second = SHORT.replace("443", "444").splitlines()[1:]
    rows, issues = read([HEADING.strip(), *SHORT.splitlines(), *second])
    assert [(row["job_name"], row["local_port"]) for row in rows] == [("WEBSRV01", 443), (None, 444)]
    assert codes(issues) == [(Code.REPORT_UNREADABLE, 23)]


def test_lines_that_have_no_label_are_reported() -> None:
    lines = (HEADING + SHORT).splitlines()
    rows, issues = read([lines[0], "*** more ***", *lines[1:5], "", "some words", *lines[5:]])
    assert [set_values(row) for row in rows] == [EXPECTED]
    assert codes(issues) == [(Code.UNKNOWN_LINE, 2), (Code.UNKNOWN_LINE, 8)]


NAMES = st.from_regex(r"[A-Z@#$][A-Z0-9@#$]{0,7}", fullmatch=True)
IPV4 = st.ip_addresses(v=4).map(str)
IPV6 = st.ip_addresses(v=6).map(str).filter(lambda address: not address.startswith("::ffff:"))
TEXTS = {
    "last_touched": st.times().map(lambda clock: f"{clock:%H:%M:%S}"),
    "state": st.sampled_from(["Establsh", "Listen", "TimeWait", "ClosWait", "FinWait2", "UDP"]),
    "started_local": st.datetimes(
        datetime.fromisoformat("1970-01-01"), datetime.fromisoformat("2099-01-01")
    ).map(lambda when: when.replace(microsecond=0)),
    "smc_source": st.sampled_from(["AutoSMC", "Profile"]),
    "auto_smc_pct": st.integers(0, 100).map(float),
    "application_data": st.from_regex(r"[A-Z0-9]{1,8}( {1,4}[A-Z0-9]{1,8}){0,3}", fullmatch=True),
}


def values_of(printed: PrintedField) -> st.SearchStrategy[Any]:
    if printed.column in TEXTS:
        return TEXTS[printed.column]
    match printed.format:
        case PrintedFormat.COUNT:
            return st.integers(0, (1 << 32) - 1)
        case PrintedFormat.NUMBER:
            return st.integers(0, 10_000_000).map(lambda thousandths: thousandths / 1000)
        case PrintedFormat.HEX:
            return st.binary(min_size=1, max_size=1).map(lambda byte: byte.hex())
        case PrintedFormat.YES_NO:
            return st.booleans()
        case _:
            return st.from_regex(r"[A-Za-z][A-Za-z0-9~_]{0,20}", fullmatch=True)


HEAD = {"job_name", "connection_id", "local_ip", "local_port", "remote_ip", "remote_port"}
BODY = {p.column: values_of(p) for p in TABLE.columns if p.column not in HEAD | {"state_name"}}


def rows_of(address: st.SearchStrategy[str]) -> st.SearchStrategy[list[dict[str, Any]]]:
    head = {
        "job_name": NAMES,
        "connection_id": st.integers(0, 0xFFFFFFFF),
        "local_ip": address,
        "local_port": st.integers(0, 0xFFFF),
        "remote_ip": address,
        "remote_port": st.integers(0, 0xFFFF),
    }
    row = st.fixed_dictionaries(head, optional={name: BODY[name] for name in BODY})
    return st.lists(row, max_size=3)


def as_printed(row: dict[str, Any], *, console: bool) -> dict[str, Any]:
    if not console:
        return row
    return {
        name: value.upper() if isinstance(value, str) and name not in HEX_COLUMNS else value
        for name, value in row.items()
    } | {name: row[name] for name in ("local_ip", "remote_ip")}


@given(rows_of(IPV4) | rows_of(IPV6), st.booleans(), st.booleans())
def test_written_reports_are_read(rows: list[dict[str, Any]], console: bool, long: bool) -> None:
    long = long or any(":" in row["local_ip"] for row in rows)
    if rows and long:
        rows[0]["in_bytes"] = 1 << 63
    command = Command(console=console, stack="TCPTST", connector=7)
    lines = all_lines(rows, command, long=long)
    read_back, issues = read(lines, ReportSource.CONSOLE if console else ReportSource.TERMINAL)
    if not rows:
        assert read_back == []
        return
    assert issues == []
    for row in read_back:
        assert (row["state_name"] is None) == (row["state"] is None)
        row["state_name"] = None
    assert [set_values(row) for row in read_back] == [as_printed(row, console=console) for row in rows]


@given(rows_of(IPV4), st.booleans(), st.data())
def test_damage_gives_no_wrong_values(rows: list[dict[str, Any]], long: bool, data: st.DataObject) -> None:
    lines = all_lines(rows, long=long)
    squeezed = [line if "Application" in line else re.sub(" +", " ", line) for line in lines]
    lines = data.draw(damaged(lines, squeezed))
    read_back, issues = read(lines)
    assert all(issue.line_no for issue in issues)
    for row in read_back:
        row["state_name"] = None
        assert issues or any(set_values(row).items() <= written.items() for written in rows)


@given(st.lists(st.text(max_size=90), max_size=12))
def test_any_text_is_read_without_an_exception(noise: list[str]) -> None:
    lines = (HEADING + SHORT).splitlines()
    rows, _ = read([*lines, *noise])
    assert set_values(rows[0]).items() >= EXPECTED.items()
