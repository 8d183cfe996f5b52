"""Rows of NETSTAT CONN that are read in stretches are the rows that are read one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from zscope.parsers import read
from zscope.parsers.text.input_lines import InputLines

if TYPE_CHECKING:
    from pathlib import Path

HEADING = [
    "MVS TCP/IP NETSTAT CS V2R5       TCPIP Name: TCPIP           09:41:07",
    "User Id  Conn     Local Socket           Foreign Socket         State",
    "-------  ----     ------------           --------------         -----",
]


def _row(number: int, remote: str = "192.0.2.7..1024", state: str = "Establsh") -> str:
    return f"JOB{number % 7:05} {0x1A0 + number:08X} {'10.1.2.3..8443':<22} {remote:<22} {state}"


def _rows_and_issues(path: Path) -> tuple[list[dict[str, object]], list[str]]:
    result = read(path, "netstat_conn")
    return result["netstat_conn"].to_pylist(), [str(issue) for issue in result.issues]


PLAIN = [_row(number) for number in range(40)]
CASES = {
    "all plain": PLAIN,
    "listeners and UDP": [*PLAIN[:3], _row(3, "0.0.0.0..0", "Listen"), _row(4, "*..*", "UDP"), *PLAIN[5:9]],
    "an address that is none": [*PLAIN[:5], _row(5, "192.0.2.299..1024"), *PLAIN[6:]],
    "an address with zeros": [*PLAIN[:5], _row(5, "192.000.002.007..1024"), *PLAIN[6:]],
    "a port that is none": [*PLAIN[:5], _row(5, "192.0.2.7..65536"), *PLAIN[6:]],
    "a row without its first character": [*PLAIN[:5], PLAIN[5][1:], *PLAIN[6:]],
    "application data of one row": [*PLAIN[:9], "  Application Data:  EZAFTP0D", *PLAIN[9:]],
    "application data of the last row": [*PLAIN, "  Application Data:  EZAFTP0D"],
    "IPv6 among IPv4": [*PLAIN[:9], _row(9, "2001:db8::1..443"), *PLAIN[10:]],
    "an unknown state": [*PLAIN[:9], _row(9, state="Waiting"), *PLAIN[10:]],
    "a prompt and another display": [*PLAIN[:9], "READY", "NETSTAT CONN", *HEADING, *PLAIN[9:]],
    "a second heading": [*PLAIN[:9], *HEADING[1:], *PLAIN[9:]],
    "a line of another program": [*PLAIN[:9], "IEF403I PAYROLL - STARTED", *PLAIN[9:]],
    "a message of AT-TLS": [
        *PLAIN[:9],
        "EZD1287I TTLS Error RC: 406 Initial Handshake LOCAL: 10.1.2.3..8443 REMOTE: 192.0.2.7..1024",
        *PLAIN[9:],
    ],
    "a cut row": [*PLAIN[:9], PLAIN[9][:40], *PLAIN[10:]],
    "blanks after rows": [f"{line:<90}" for line in PLAIN],
}
LONG_HEADING = [HEADING[0], "User Id  Conn     State", "-------  ----     -----"]


def _entry(number: int, remote: str = "::ffff:192.0.2.7..1024", state: str = "Establsh") -> list[str]:
    return [
        f"JOB{number % 7:05} {0x1A0 + number:08X} {state}",
        "  Local Socket:   2001:db8:0::3..8443",
        f"  Foreign Socket: {remote}",
    ]


def _long(*changed: list[str]) -> list[str]:
    """Return entries of which those after the ninth are replaced."""
    plain = [_entry(number) for number in range(40)]
    return [line for entry in (*plain[:9], *changed, *plain[9 + len(changed) :]) for line in entry]


LONG_CASES = {
    "long": _long(),
    "listeners and UDP, long": _long(_entry(9, "::..0", "Listen"), _entry(10, "*..*", "UDP")),
    "an address that is none, long": _long(_entry(9, "::ffff:192.0.2.299..1024")),
    "an address of nine parts, long": _long(_entry(9, "1:2:3:4:5:6:7:8:9..1024")),
    "a port that is none, long": _long(_entry(9, "::ffff:192.0.2.7..65536")),
    "an unknown state, long": _long(_entry(9, state="Waiting")),
    "application data, long": _long([*_entry(9), "  Application Data:  EZAFTP0D"]),
    "an entry without its second socket": _long(_entry(9)[:2]),
    "sockets exchanged": _long([_entry(9)[0], *_entry(9)[:0:-1]]),
    "a socket twice": _long([*_entry(9), _entry(9)[2]]),
    "an entry without its first line": _long(_entry(9)[1:]),
    "a row of the other form": _long([_row(9)]),
    "a prompt inside an entry": _long([*_entry(9)[:2], "READY", _entry(9)[2]]),
    "a second heading, long": _long([*LONG_HEADING[1:], *_entry(9)]),
}
FORMS = {name: [*HEADING, *lines] for name, lines in CASES.items()} | {
    name: [*LONG_HEADING, *lines] for name, lines in LONG_CASES.items()
}


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("indent", ["", "  "])
def test_rows_in_stretches_are_those_of_single_lines(
    name: str, indent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "conn.txt"
    path.write_text("".join(f"{indent}{line}\n" for line in FORMS[name]), encoding="utf-8")
    in_stretches = _rows_and_issues(path)
    monkeypatch.setattr(InputLines, "take_rows", lambda self, form: None)  # noqa: ARG005
    one_by_one = _rows_and_issues(path)
    assert in_stretches == one_by_one
    assert len(in_stretches[0]) >= 9


def test_rows_of_another_report_are_reported_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "config.txt"
    lines = [HEADING[0], "TCP Configuration Table:", "DefaultRcvBufSize:  00065536", *PLAIN]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    issues = [issue.line_no for issue in read(path, "netstat_config").issues]
    assert set(range(4, 4 + len(PLAIN))) <= set(issues)


def test_a_report_of_many_rows_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "conn.txt"
    lines = [*HEADING, *(_row(number) for number in range(210_000))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    result = read(path, "netstat_conn[connection_id,line_no]")
    assert result["netstat_conn"]["line_no"].to_pylist() == list(range(4, 210_004))
    assert [str(issue.code) for issue in result.issues] == ["no-date"]
