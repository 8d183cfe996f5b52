"""NETSTAT CONFIG: labels, values and settings, as printed, as written, and damaged."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st
from tests.parsers.text.netstat.displays import read_display

from zscope.parsers.issues import Code, Issue
from zscope.parsers.text.netstat.config import LABELS, config_lines, is_cut, place_of
from zscope.parsers.text.netstat.reply import Command

if TYPE_CHECKING:
    from tests.parsers.text.reading import Row

TABLE = "netstat_config"


def _read(lines: list[str]) -> tuple[list[Row], list[Issue]]:
    """The rows without what all tables have in common."""
    reading = read_display([TABLE], lines)
    names = ("section", "label", "setting", "value", "value_number")
    return [{name: row[name] for name in names} for row in reading.rows], reading.issues


TCP = "TCP Configuration Table"
REPORT = """\
MVS TCP/IP NETSTAT CS V2R5       TCPIP Name: TCPTEST         10:05:12
TCP Configuration Table:
DefaultRcvBufSize:  00262144  DefaultSndBufSize: 00065536
DefltMaxRcvBufSize: 00524288  SoMaxConn:         0000001024
MaxReTransmitTime:  120.000   MinReTransmitTime: 0.500
RestrictLowPort:    Yes       SendGarbage:       No
TTLS:               Yes       EphemeralPorts:    2048-65000
SelectiveACK:       No        TimeWaitInterval:  45
DefltMaxSndBufSize: 00262144  AutoDelayAcks:     Yes
Brand new option:   (unknown)
UDP Configuration Table:
DefaultRcvBufSize:  00065535  DefaultSndBufSize: 00065535
IP Configuration Table:
Forwarding: No        SegmentationOffload: Yes
QDIOAccelerator:  Yes   Format:   Long
Global Configuration Information:
SMCGLOBAL:
  AutoCache:  Yes  AutoSMC:  No
Autolog Configuration Information:
ProcName  JobName
--------  -------
FTPD      FTPD1
"""


def _row(label: str | None, value: str | None, setting: str | None = None, section: str = TCP) -> Row:
    digits = (value or "").replace(".", "", 1)
    number = float(value) if label and value and digits.isdigit() else None
    return {"section": section, "label": label, "setting": setting, "value": value, "value_number": number}


UDP, IP = "UDP Configuration Table", "IP Configuration Table"
GLOBAL, AUTOLOG = "Global Configuration Information", "Autolog Configuration Information"
EXPECTED = [
    _row("DefaultRcvBufSize", "00262144", "default_receive_buffer_bytes"),
    _row("DefaultSndBufSize", "00065536", "default_send_buffer_bytes"),
    _row("DefltMaxRcvBufSize", "00524288", "max_receive_buffer_bytes"),
    _row("SoMaxConn", "0000001024", "listen_backlog_limit"),
    _row("MaxReTransmitTime", "120.000"),
    _row("MinReTransmitTime", "0.500"),
    _row("RestrictLowPort", "Yes", "restrict_low_ports"),
    _row("SendGarbage", "No"),
    _row("TTLS", "Yes", "ttls"),
    _row("EphemeralPorts", "2048-65000", "ephemeral_ports"),
    _row("SelectiveACK", "No", "selective_ack"),
    _row("TimeWaitInterval", "45"),
    _row("DefltMaxSndBufSize", "00262144", "max_send_buffer_bytes"),
    _row("AutoDelayAcks", "Yes", "auto_delay_acks"),
    _row("Brand new option", "(unknown)"),
    _row("DefaultRcvBufSize", "00065535", section=UDP),
    _row("DefaultSndBufSize", "00065535", section=UDP),
    _row("Forwarding", "No", section=IP),
    _row("SegmentationOffload", "Yes", "segmentation_offload", IP),
    _row("QDIOAccelerator", "Yes", "qdio_accelerator", IP),
    _row("Format", "Long", "format", IP),
    _row("SMCGLOBAL", None, section=GLOBAL),
    _row("AutoCache", "Yes", "smc_auto_cache", GLOBAL),
    _row("AutoSMC", "No", "auto_smc", GLOBAL),
    _row(None, "ProcName  JobName", section=AUTOLOG),
    _row(None, "FTPD      FTPD1", section=AUTOLOG),
]


def test_terminal_report() -> None:
    assert _read(REPORT.splitlines()) == (EXPECTED, [])


def test_numbers_lose_their_leading_zeros() -> None:
    assert [row["value_number"] for row in _read(REPORT.splitlines())[0][:6]] == [
        262144,
        65536,
        524288,
        1024,
        120,
        0.5,
    ]


def test_console_reply_in_upper_case() -> None:
    lines = ["EZD0101I NETSTAT CS V2R5 TCPTEST 019", *REPORT.upper().splitlines()[1:], "END OF THE REPORT"]
    rows, issues = _read(lines)
    capitals = [
        {k: v.upper() if k != "setting" and isinstance(v, str) else v for k, v in row.items()}
        for row in EXPECTED
    ]
    assert (rows, issues) == (capitals, [])


def test_squeezed_blanks() -> None:
    squeezed = [" ".join(line.split()) for line in REPORT.splitlines()[:8]]
    assert _read(squeezed) == (EXPECTED[:12], [])


def test_value_in_the_line_below_its_label() -> None:
    lines = REPORT.replace("SoMaxConn:         0000001024", "SoMaxConn:\n0000001024").splitlines()
    assert _read(lines) == (EXPECTED, [])


def test_heading_of_a_table_that_is_missing_is_reported() -> None:
    rows, issues = _read([line for line in REPORT.splitlines() if not line.startswith("UDP")])
    assert [row for row in rows if row["setting"] == "default_receive_buffer_bytes"] == EXPECTED[:1]
    assert {(issue.code, issue.line_no) for issue in issues} == {(Code.REPORT_UNREADABLE, 11)}


def test_value_with_more_text_is_no_setting() -> None:
    rows, (issue,) = _read(REPORT.replace("TTLS:               Yes       Eph", "TTLS: Yes Eph2").splitlines())
    assert _row("TTLS", "Yes Eph2emeralPorts:    2048-65000") in rows
    assert (issue.code, issue.line_no, issue.field) == (Code.BAD_VALUE, 7, "TTLS")


def test_line_without_label_in_a_table_of_labels_is_read_with_an_issue() -> None:
    lines = REPORT.splitlines()
    rows, (issue,) = _read([*lines[:4], "who is there", *lines[4:]])
    assert rows[4] == _row(None, "who is there")
    assert (issue.code, issue.line_no) == (Code.UNKNOWN_LINE, 5)


_VALUE = st.from_regex(
    r"[0-9]{1,10}|[0-9]{1,3}\.[0-9]{3}|Yes|No|[0-9]{4}-[0-9]{5}|[A-Z][a-z]{2,9} [A-Z]{3}", fullmatch=True
)
_TCP = st.fixed_dictionaries({}, optional=dict.fromkeys((*LABELS, "Nagle", "AutoDelayAcks"), _VALUE))
_OTHER = st.dictionaries(
    st.from_regex(r"[A-Z][A-Za-z0-9]{2,20}( [a-z]{3,6})?", fullmatch=True), _VALUE | st.none()
)


def _expected(section: str, values: dict[str, str | None]) -> list[Row]:
    names = {row["label"]: row["setting"] for row in EXPECTED if row["section"] == TCP} | {
        "DelayAck": "delay_acks"
    }
    names |= {"TcpTimeStamp": "tcp_timestamps"}
    return [
        _row(label, value, names.get(label) if section == TCP else None, section)
        for label, value in values.items()
    ]


@given(_TCP, _OTHER, st.integers(1, 2), st.booleans())
def test_written_report_reads_back(
    tcp: dict[str, str | None], other: dict[str, str | None], pairs: int, console: bool
) -> None:
    whole = {"DefaultRcvBufSize": "00131072"} | {k: v for k, v in tcp.items() if not is_cut(k, v or "")}
    rows = _expected(TCP, {label: whole[label] for label in sorted(whole, key=place_of)})
    rows += _expected("Data Trace Parameters", other)
    lines = config_lines(rows, Command(console=console), pairs=pairs)
    if console:
        rows = [
            {k: v.upper() if k != "setting" and isinstance(v, str) else v for k, v in row.items()}
            for row in rows
        ]
    assert _read(lines) == (rows, [])


def _honest(lines: list[str]) -> None:
    """Everything that was read was written, unless an issue was reported."""
    rows, issues = _read(lines)
    assert all(issue.line_no is not None for issue in issues)
    written = {(str(row["setting"]).upper(), str(row["value"]).upper()) for row in EXPECTED}
    if not issues:
        assert {(str(r["setting"]).upper(), str(r["value"]).upper()) for r in rows if r["setting"]} <= written


@given(st.integers(0, 2**32), st.integers(40, 80))
def test_damaged_reports(seed: int, width: int) -> None:
    chosen, lines = random.Random(seed), REPORT.splitlines()
    _honest([line for line in lines if chosen.random() < 0.9])
    _honest([line[1:] if chosen.random() < 0.1 else " " * chosen.randint(0, 1) + line for line in lines])
    _honest([line[at : at + width] for line in lines for at in range(0, len(line), width)])
    _honest(REPORT.upper().splitlines())
    noise = ["", "IBMUSER:/u/ibmuser: >", "READY", "$ netstat -f"]
    _honest([out for line in lines for out in (chosen.choice(noise), line)])


@given(st.lists(st.text(max_size=100), max_size=30))
def test_any_text_is_read_without_an_exception(lines: list[str]) -> None:
    rows, _ = _read(["TCP Configuration Table:", "TTLS: Yes", *lines])
    assert rows[0] == _row("TTLS", "Yes", "ttls")


def test_a_cut_number_is_not_used() -> None:
    lines = ["TCP Configuration Table:", "DefaultRcvBufSize:  00131072  DefaultSndBufSize: 001310"]
    rows, issues = _read(lines)
    assert [(row["setting"], row["value"], row["value_number"]) for row in rows] == [
        ("default_receive_buffer_bytes", "00131072", 131_072.0),
        (None, "001310", None),
    ]
    assert [issue.code for issue in issues] == [Code.BAD_VALUE]


def test_a_first_label_far_down_belongs_to_another_table() -> None:
    lines = ["TCP Configuration Table:", "TTLS:  Yes", "DefaultRcvBufSize:  00065535"]
    rows, issues = _read(lines)
    assert [row["setting"] for row in rows] == ["ttls", None]
    assert [issue.code for issue in issues] == [Code.REPORT_UNREADABLE]


def test_a_lost_line_end_loses_no_setting() -> None:
    lines = REPORT.splitlines()
    expected, _ = _read(lines)
    for at in range(2, 6):
        joined = [*lines[:at], lines[at] + lines[at + 1], *lines[at + 2 :]]
        rows, issues = _read(joined)
        assert rows == expected or issues
    assert _read([*lines[:2], lines[2] + lines[3], *lines[4:]])[0] == expected
