"""Faults of texts of the sample data that are issues of their own, with place and remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest
from tests.parsers.text.faults.displays_of_all_kinds import CAPTURES
from tests.parsers.text.faults.loss_oracle import read_text
from tests.parsers.text.faults.silent_losses import SAMPLE_DATA, content_of

from zscope.parsers import Code

if TYPE_CHECKING:
    from pathlib import Path

PASEARCH, POLICY = "world/policy/pasearch.CLI1.txt", "world/policy/policy.CLI2.conf"
NETSTAT, TSO = "reports/netstat.SYSA.2026-03-02.txt", "reports/netstat.SYSB.2026-03-02.txt"
SYSLOG = "reports/syslog.txt"
FTPD_USES = (
    "DR                                        403 00000090  FTPD                  4                  1404\n"
)
TCPIP_USES = (
    "ER                                        403 00000090  TCPIP                 3                  1404\n"
)
RMF = "reports/rmf-cpu.SYSB.txt"
MESSAGES = "world/logs/syslog-tls.txt"
NETSTAT_CAPTURE, PASEARCH_CAPTURE, RMF_CAPTURE = "netstat", "attls", "rmf"
"""Captures of displays of all kinds."""


class Reported(NamedTuple):
    """A change of a text, and the issue about it."""

    name: str
    before: str
    after: str
    code: Code
    text: str
    """A part of the text of the issue."""


CASES = (
    Reported(PASEARCH, "   Local Address:\n", "", Code.BAD_VALUE, "follows neither Local Address nor"),
    Reported(PASEARCH, "   Action Sequence:     1\n", "", Code.COUNT_DIFFERS, "but 1 lines Action Sequence"),
    Reported(
        PASEARCH,
        "  TTLS Action:                  eAct1~WEBGATE1\n",
        "",
        Code.REPORT_UNREADABLE,
        "a second Version in the action 'gAct2~Clients'",
    ),
    Reported(
        PASEARCH,
        "  TTLS Action:                  gAct2~Clients\n",
        "  TTLS Action:                  gAct2~Cliemts\n",
        Code.BAD_VALUE,
        "'gAct2~Cliemts' is none of those that its rule names: 'gAct2~Clients', 'eAct1~WEBGATE1'",
    ),
    Reported(
        PASEARCH,
        "    TTLSCipherParms:\n",
        "",
        Code.BAD_VALUE,
        "'v3CipherSuites' is in TTLSKeyringParms and belongs into TTLSCipherParms",
    ),
    Reported(
        PASEARCH,
        "    TTLSKeyringParms:\n",
        "",
        Code.BAD_VALUE,
        "'Keyring' is in the action itself and belongs into TTLSKeyringParms",
    ),
    Reported(MESSAGES, "EZD1287I", "EZD1287E", Code.BAD_VALUE, "differs from EZD1287I in its last letter"),
    Reported(POLICY, "    Port 443\n", "", Code.BAD_VALUE, "RemotePortRange contains nothing"),
    Reported(
        POLICY,
        "  PortRange\n  {\n    Port 5001\n  }\n",
        "  Port 5001\n",
        Code.UNKNOWN_COLUMN,
        "'Port' is no part",
    ),
    Reported(
        POLICY,
        "  V3CipherSuites4Char C02F\n",
        "  V3CipherSuites4Char C02F\n" * 2,
        Code.BAD_VALUE,
        "'C02F' is twice in the list V3CipherSuites4Char",
    ),
    Reported(
        POLICY,
        "  TTLSKeyringParmsRef eAct1~WEBGATE1~TTLSKeyringParms\n",
        "",
        Code.UNUSED_STATEMENT,
        "nothing refers to TTLSKeyringParms 'eAct1~WEBGATE1~TTLSKeyringParms'",
    ),
    Reported(NETSTAT, "Establsh", "Esxablsh", Code.BAD_VALUE, "nearly the same as ESTABLSH"),
    Reported(NETSTAT, "SoMaxConn", "JoMaxConn", Code.UNKNOWN_COLUMN, "nearly the same as SoMaxConn"),
    Reported(NETSTAT, "0.250", "0.S50", Code.BAD_VALUE, "a number with a wrong character"),
    Reported(NETSTAT, "FinWait2Time:      600", "FinWait2Time:      60M", Code.BAD_VALUE, "'60M' seems"),
    Reported(TSO, "EZZ2550I Local Socket", "EZZ25M0I Local Socket", Code.UNKNOWN_LINE, "damaged message id"),
    Reported(NETSTAT, "00131072", "0o131072", Code.BAD_VALUE, "a number with a wrong character"),
    Reported(
        NETSTAT,
        "TCP Configuration Table:\nDefaultRcvBufSize:  00131072  DefaultSndBufSize: 00131072\n",
        "DefaultRcvBufSize:  00131072  DefaultSndBufSize: 00131072\nTCP Configuration Table:\n",
        Code.REPORT_UNREADABLE,
        "DefaultRcvBufSize is printed before the heading of its table",
    ),
    Reported(
        NETSTAT,
        "  FIPS140:      Off\nTTLSRule: TN3270_Server~1\n",
        "TTLSRule: TN3270_Server~1\n  FIPS140:      Off\n",
        Code.BAD_VALUE,
        "FIPS140 is printed after TTLSRule, and missing before it",
    ),
    Reported(
        TSO, "EZZ2550I   ReXmt:", "EZN2550I   ReXmt:", Code.UNKNOWN_LINE, "'EZN2550I' seems to be the damaged"
    ),
    Reported(
        TSO, "eAct1~MQPRDCHI\nREADY", "eAct1~MQPRDCHIREADY", Code.UNKNOWN_LINE, "ends with the prompt READY"
    ),
    Reported(
        NETSTAT_CAPTURE,
        "YES\n1 OF 1 RECORDS DISPLAYED\n",
        "YES1 OF 1 RECORDS DISPLAYED\n",
        Code.REPORT_CUT,
        "the line ends with the number of records",
    ),
    Reported(
        NETSTAT_CAPTURE,
        "  Env: env~Web2  EnvConns: 2\nTTLSGrpAction: grp~Old   Group ID: 000000AC\n",
        "TTLSGrpAction: grp~Old   Group ID: 000000AC\n  Env: env~Web2  EnvConns: 2\n",
        Code.COUNT_DIFFERS,
        "the group has 41 connections, but its environments have 39",
    ),
    Reported(
        NETSTAT_CAPTURE,
        "IPV4 LAN GROUP SUMMARY\nLANGROUP: 00003\n",
        "LANGROUP: 00003\nIPV4 LAN GROUP SUMMARY\n",
        Code.UNKNOWN_LINE,
        "TSTOSH7           NOT ACTIVE",
    ),
    Reported(
        NETSTAT_CAPTURE,
        "0001 one\n                          0002 two",
        "0001 one                          0002 two",
        Code.BAD_VALUE,
        "two texts that are far apart",
    ),
    Reported(
        PASEARCH_CAPTURE,
        "    ToAddr:             10.20.30.255\n",
        "",
        Code.BAD_VALUE,
        "FromAddr '10.20.30.0' has no end of its range",
    ),
    Reported(
        PASEARCH_CAPTURE,
        "     TTLSGskHttpCdpParms:\n",
        "",
        Code.BAD_VALUE,
        "'HttpCdpEnable' is in TTLSGskAdvancedParms and belongs into TTLSGskHttpCdpParms",
    ),
    Reported(RMF_CAPTURE, " CP    6 ", " BP    6 ", Code.UNKNOWN_COLUMN, "differs in one character from CP"),
    Reported(
        RMF,
        "MVS BUSY   PARKED ",
        "MVS BUSY   PARKEN ",
        Code.UNKNOWN_COLUMN,
        "'PARKEN' is unknown, and missing at its place are PARKED, PROD, UTIL",
    ),
    Reported(
        SYSLOG,
        FTPD_USES + TCPIP_USES,
        TCPIP_USES + FTPD_USES,
        Code.UNKNOWN_LINE,
        "follows the last line of its reply",
    ),
    Reported(
        SYSLOG, "Number of resets", "Number if resets", Code.UNKNOWN_COLUMN, "nearly the same as Number of"
    ),
)


def _issues(name: str, text: str, folder: Path) -> list[tuple[Code, str]]:
    reading = read_text(folder / (SAMPLE_DATA / name).name, text)
    return [(issue.code, issue.text) for issue in reading.issues]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.text)
def test_a_fault_is_reported(case: Reported, tmp_path: Path) -> None:
    text = CAPTURES.get(case.name) or content_of(SAMPLE_DATA / case.name)
    assert case.before in text
    usual = _issues(case.name, text, tmp_path)
    issues = _issues(case.name, text.replace(case.before, case.after, 1), tmp_path)
    assert [
        issue for issue in issues if issue not in usual and issue[0] is case.code and case.text in issue[1]
    ], issues


@pytest.mark.parametrize(
    ("name", "begin", "words"),
    [
        (TSO, "DCHI\nREADY\n", "'DCHI'"),
        (SYSLOG, "PIP                 4                  1404\n", "'PIP"),
        ("world/logs/syslogd.SRV2.2026-03-15.log", "e\n", "'e'"),
    ],
)
def test_a_first_line_that_may_be_the_rest_of_one_is_a_note(
    name: str, begin: str, words: str, tmp_path: Path
) -> None:
    text = content_of(SAMPLE_DATA / name).partition("\n")[2]
    issues = _issues(name, begin + text, tmp_path)
    assert [code for code, problem in issues if f"begins with {words}" in problem] == [Code.HEADING_MISSING]


@pytest.mark.parametrize("last", ["MV", "N 4040000 SRV1", "IBMUSER:/u/ibmuser: >", "READY"])
def test_a_last_line_outside_of_reports_without_a_line_end_is_a_note_unless_it_is_a_prompt(
    last: str, tmp_path: Path
) -> None:
    text = content_of(SAMPLE_DATA / NETSTAT) + "READY\n" + last
    codes = [code for code, _ in _issues(NETSTAT, text, tmp_path)]
    assert codes == ([] if last.endswith((">", "READY")) else [Code.LINE_END_MISSING])


@pytest.mark.parametrize("digits", [6, 8])
def test_sequence_numbers_at_the_front_of_policy_lines_are_no_part_of_them(
    digits: int, tmp_path: Path
) -> None:
    text = content_of(SAMPLE_DATA / POLICY)
    clean = read_text(tmp_path / "policy.SYSA.conf", text)
    for blank in ("", " "):
        numbered = "".join(
            f"{number * 10:0{digits}}{blank}{line}\n" for number, line in enumerate(text.splitlines(), 1)
        )
        assert read_text(tmp_path / "policy.SYSA.conf", numbered) == clean


def test_a_line_with_a_damaged_message_id_is_read(tmp_path: Path) -> None:
    text = content_of(SAMPLE_DATA / TSO)
    clean = read_text(tmp_path / "netstat.SYSB.txt", text)
    damaged = text.replace("EZZ2550I Local Socket", "EZZ25M0I Local Socket")
    assert read_text(tmp_path / "netstat.SYSB.txt", damaged).rows == clean.rows
