"""NETSTAT TTLS CONN: published displays, written reports, and damaged ones."""

from __future__ import annotations

import json
import random
from datetime import time
from ipaddress import IPv6Address
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.parsers.damaging import interrupted, wrapped
from tests.parsers.text.netstat.displays import read_values

from zscope.parsers.issues import Code, Issue
from zscope.parsers.text.netstat.reply import Command
from zscope.parsers.text.netstat.ttls import LISTS, ttls_block, ttls_lines
from zscope.schemas.reports import report_table

if TYPE_CHECKING:
    from tests.parsers.text.reading import Row

TABLE = "netstat_ttls"
COLUMNS = [printed.column for printed in report_table(TABLE).columns]


def _read(lines: list[str]) -> tuple[list[Row], list[Issue]]:
    return read_values(TABLE, lines)


PUBLISHED = """\
ConnID: 000000C6
JobName:      APF7
LocalSocket:  10.67.170.128..5001
RemoteSocket: 10.67.170.126..1065
SecLevel:     TLS Version 1.3
Cipher:       1302 TLS_AES_256_GCM_SHA384
KeyShare:     0023 secp256r1
SessionID:    00000035 0943AA7E 04290000 00000000
              00000000 00000000 65AA9742 00000009
SignaturePairs: 0804 TLS_SIGALG_SHA256_WITH_RSASSA_PSS
"""
PUBLISHED_ROW = {
    "connection_id": 0xC6,
    "job_name": "APF7",
    "local_ip": "10.67.170.128",
    "local_port": 5001,
    "remote_ip": "10.67.170.126",
    "remote_port": 1065,
    "security_level": "TLS Version 1.3",
    "tls_version": 0x0304,
    "cipher": "1302",
    "cipher_name": "TLS_AES_256_GCM_SHA384",
    "key_share": "0023",
    "key_share_name": "secp256r1",
    "session_id": "000000350943aa7e0429000000000000000000000000000065aa974200000009",
    "signature_pairs": "0804 TLS_SIGALG_SHA256_WITH_RSASSA_PSS",
}

DETAIL = """\
MVS TCP/IP NETSTAT CS 3.1   TCPIP Name: TCPTEST    10:20:30
ConnID: 00001F0A
  JobName:      WEBSRV3
  LocalSocket:  2001:db8:5::7..8443
  RemoteSocket: ::ffff:198.51.100.4..40022
  SecLevel:     TLS Version 1.2
  Cipher:       C030 TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384
  KeyShare:     N/A
  CertUserID:   N/A
  MapType:      Primary
  FIPS140:      Off
  SessionID:    N/A
TTLSRule: Web~In
  JobName:              WEBSRV*
  Direction:            Inbound
  TTLSGrpAction: grp~Web
    GroupID:              0000000B
    FIPS140:              Off
  TTLSEnvAction: env~Web
    EnvironmentUserInstance: 6
    HandshakeRole:        Server
    Keyring:              WEBRING
    ClientECurves:        0024 secp384r1
                          0025 secp521r1
    ClientKeyShareGroups: 0024 secp384r1
    ServerKeyShareGroups: 0023 secp256r1
                          0029 x25519

                          0030 x448
    SignaturePairs:       0401 TLS_SIGALG_SHA256_WITH_RSA
                          0804 TLS_SIGALG_SHA256_WITH_RSASSA_
    GSK_V3_SESSION_TIMEOUT:     3600
    GSK_V3_SIDCACHE_SIZE:       512
    GSK_SYSPLEX_SIDCACHE:       Off
    GSK_SYSPLEX_SESSION_TICKET_CACHE:      On
    GSK_SESSION_TICKET_CLIENT_ENABLE:      On
    GSK_SESSION_TICKET_CLIENT_MAXSIZE:     4096
    GSK_SESSION_TICKET_CLIENT_MAXCACHED:   3
  TTLSConnAction: conn~Web
    HandshakeRole:        ServerWithClientAuth
    OtherList:            0001 one
                          0002 two
"""
DETAIL_ROW = {
    "connection_id": 0x1F0A,
    "job_name": "WEBSRV3",
    "local_ip": "2001:db8:5::7",
    "local_port": 8443,
    "remote_ip": "198.51.100.4",
    "remote_port": 40022,
    "security_level": "TLS Version 1.2",
    "tls_version": 0x0303,
    "cipher": "C030",
    "cipher_name": "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "map_type": "Primary",
    "fips_140": "Off",
    "ttls_rule": "Web~In",
    "ttls_group_action": "grp~Web",
    "ttls_environment_action": "env~Web",
    "ttls_connection_action": "conn~Web",
    "ttls_handshake_role": "ServerWithClientAuth",
    "client_ecurves": "0024 secp384r1, 0025 secp521r1",
    "client_key_share_groups": "0024 secp384r1",
    "server_key_share_groups": "0023 secp256r1, 0029 x25519, 0030 x448",
    "signature_pairs": "0401 TLS_SIGALG_SHA256_WITH_RSA, 0804 TLS_SIGALG_SHA256_WITH_RSASSA_",
    "session_timeout_s": 3600,
    "session_cache_size": 512,
    "sysplex_session_cache": False,
    "sysplex_ticket_cache": True,
    "client_tickets": True,
    "client_ticket_max_bytes": 4096,
    "client_tickets_kept": 3,
    "extra": {
        "TTLSRule.JobName": "WEBSRV*",
        "TTLSRule.Direction": "Inbound",
        "TTLSGrpAction.GroupID": "0000000B",
        "TTLSGrpAction.FIPS140": "Off",
        "TTLSEnvAction.EnvironmentUserInstance": "6",
        "TTLSEnvAction.Keyring": "WEBRING",
        "TTLSEnvAction.HandshakeRole": "Server",
        "TTLSConnAction.OtherList": "0001 one, 0002 two",
    },
}


def test_published_display_without_heading_and_indentation() -> None:
    assert _read(PUBLISHED.splitlines()) == ([PUBLISHED_ROW], [])


def test_published_display_with_indentation() -> None:
    first, *others = PUBLISHED.splitlines()
    assert _read([first, *("  " + line for line in others)]) == ([PUBLISHED_ROW], [])


def test_published_display_with_the_other_labels_that_occur() -> None:
    more = """\
CertUserID:   USER7
MapType:      Secondary
FIPS140:      Level2
ClientKeyShareGroups: 0023 secp256r1
                      0029 x25519
ServerKeyShareGroups: 0030 x448
0024 secp384r1
SignaturePairs:       0804 TLS_SIGALG_SHA256_WITH_RSASSA_PSS
                      0403 TLS_SIGALG_SHA256_WITH_ECDSA
"""
    lines = [line for line in PUBLISHED.splitlines() if "SignaturePairs" not in line] + more.splitlines()
    expected = PUBLISHED_ROW | {
        "cert_user": "USER7",
        "map_type": "Secondary",
        "fips_140": "Level2",
        "client_key_share_groups": "0023 secp256r1, 0029 x25519",
        "server_key_share_groups": "0030 x448, 0024 secp384r1",
        "signature_pairs": "0804 TLS_SIGALG_SHA256_WITH_RSASSA_PSS, 0403 TLS_SIGALG_SHA256_WITH_ECDSA",
    }
    assert _read(lines) == ([expected], [])


def test_several_connections_in_one_capture() -> None:
    second = PUBLISHED.replace("000000C6", "000000D7").replace("APF7", "APF8")
    rows, issues = _read((PUBLISHED + "\n" + second).splitlines())
    assert rows == [PUBLISHED_ROW, PUBLISHED_ROW | {"connection_id": 0xD7, "job_name": "APF8"}]
    assert issues == []


def test_detail() -> None:
    assert _read(DETAIL.splitlines()) == ([DETAIL_ROW], [])


def test_detail_in_upper_case_with_the_ending_of_the_console() -> None:
    lines = ["EZD0101I NETSTAT CS 3.1 TCPTEST 051", *DETAIL.upper().splitlines()[1:]]
    rows, issues = _read([*lines, "1 OF 1 RECORDS DISPLAYED", "END OF THE REPORT"])
    expected = {key: value.upper() if isinstance(value, str) else value for key, value in DETAIL_ROW.items()}
    expected |= {"local_ip": "2001:db8:5::7", "extra": rows[0]["extra"]}
    assert (rows, issues) == ([expected], [])
    assert rows[0]["extra"]["TTLSEnvAction.KEYRING"] == "WEBRING"


def test_old_cipher_of_two_digits_and_cipher_without_name() -> None:
    old = PUBLISHED.replace("1302 TLS_AES_256_GCM_SHA384", "35 TLS_RSA_WITH_AES_256_CBC_SHA").replace(
        "1.3", "1"
    )
    (row,), issues = _read(old.splitlines())
    assert (row["cipher_2"], row["tls_version"], "cipher" in row, issues) == ("35", 0x0301, False, [])
    bare = PUBLISHED.replace("1302 TLS_AES_256_GCM_SHA384", "1302")
    assert _read(bare.splitlines()) == ([{k: v for k, v in PUBLISHED_ROW.items() if k != "cipher_name"}], [])


def test_value_in_the_line_below_its_label() -> None:
    moved = DETAIL.replace("_MAXSIZE:     4096", "_MAXSIZE:\n  4096")
    assert _read(moved.splitlines()) == ([DETAIL_ROW], [])


def test_list_and_session_id_below_their_labels() -> None:
    moved = PUBLISHED.replace("SessionID:    ", "SessionID:\n  ").replace("Pairs: 0804", "Pairs:\n  0804")
    assert _read(moved.splitlines()) == ([PUBLISHED_ROW], [])
    moved = DETAIL.replace("OtherList:            0001", "OtherList:\n      0001")
    assert _read(moved.splitlines()) == ([DETAIL_ROW], [])


def test_words_below_a_list_that_only_look_like_a_member() -> None:
    lines = PUBLISHED.splitlines()
    assert _read([*lines, "be careful"])[0] == [PUBLISHED_ROW]
    assert [issue.code for issue in _read([*lines, "be careful"])[1]] == [Code.UNKNOWN_LINE]


def test_word_in_place_of_a_list() -> None:
    (row,), issues = _read(PUBLISHED.replace("0804 TLS_SIGALG_SHA256_WITH_RSASSA_PSS", "Any").splitlines())
    assert (row["signature_pairs"], issues) == ("Any", [])


@pytest.mark.parametrize(
    ("before", "after", "lost", "label"),
    [
        ("000000C6", "0000C6", {"connection_id"}, "ConnID"),
        ("10.67.170.128..5001", "10.67.170.12", {"local_ip", "local_port"}, "LocalSocket"),
        ("..1065", "..106500", {"remote_port"}, "LocalSocket"),
        ("TLS Version 1.3", "TLS Version 1.", {"tls_version"}, "SecLevel"),
        ("TLS Version 1.3", "TLS Version 1", {"tls_version"}, "SecLevel"),
        ("1302 TLS", "130 TLS", {"cipher", "cipher_name"}, "Cipher"),
        ("0023 sec", "23 sec", {"key_share", "key_share_name"}, "KeyShare"),
        (" 65AA9742 00000009", "", {"session_id"}, "SessionID"),
        (" 00000009", " 000009", {"session_id"}, "SessionID"),
        ("     APF7", "APF7 MapType: X", {"job_name"}, "JobName"),
        ("APF7", "APF7   MapType X", {"job_name"}, "JobName"),
    ],
)
def test_damaged_value_is_null_with_an_issue(before: str, after: str, lost: set[str], label: str) -> None:
    (row,), (issue,) = _read(PUBLISHED.replace(before, after).splitlines())
    assert PUBLISHED_ROW.keys() - row.keys() == lost
    assert issue.code is Code.BAD_VALUE
    assert issue.field in {label, "RemoteSocket"}
    assert issue.line_no is not None


def test_missing_first_line_of_a_connection_is_reported() -> None:
    lines = [*PUBLISHED.splitlines(), *PUBLISHED.replace("APF7", "APF9").splitlines()[1:]]
    rows, issues = _read(lines)
    assert [row.get("connection_id") for row in rows] == [0xC6, None]
    assert Code.REPORT_UNREADABLE in {issue.code for issue in issues}
    assert rows[0].get("job_name") is None, "two names are there, and which one is its own is not known"


def test_parameter_twice_in_one_action_is_null() -> None:
    lines = [line for line in DETAIL.splitlines() if "TTLSConnAction" not in line]
    (row,), issues = _read(lines)
    assert "ttls_handshake_role" not in row
    assert {issue.code for issue in issues} == {Code.BAD_VALUE}


def test_line_between_the_members_of_a_list_ends_it() -> None:
    lines = DETAIL.splitlines()
    at = next(no for no, line in enumerate(lines) if "0025" in line)
    (row,), issues = _read([*lines[:at], "ICH70001I LAST ACCESS AT", *lines[at:]])
    assert row["client_ecurves"] == "0024 secp384r1"
    assert [issue.line_no for issue in issues] == [at + 1, at + 2]


_NAME = st.from_regex(r"[A-Za-z][A-Za-z0-9~_-]{0,31}", fullmatch=True)
_JOB = st.from_regex(r"[A-Z@#$][A-Z0-9@#$]{0,7}", fullmatch=True)
_ADDRESS = st.ip_addresses().filter(lambda a: not (isinstance(a, IPv6Address) and a.ipv4_mapped)).map(str)
_CURVES = ["0019 secp192r1", "0023 secp256r1", "0024 secp384r1", "0029 x25519", "0030 x448"]
_PAIRS = ["0401 TLS_SIGALG_SHA256_WITH_RSA", "0804 TLS_SIGALG_SHA256_WITH_RSASSA_PSS", "0806 RSASSA"]
_MEMBERS = {"signature_pairs": _PAIRS, "v3_cipher_suites": ["1301 TLS_AES_128_GCM_SHA256", "C02F X_Y"]}
_PROTOCOL = st.sampled_from(
    [
        {"security_level": "TLS Version 1.3", "tls_version": 0x0304, "cipher": "1301", "cipher_name": "A_B"},
        {"security_level": "TLS Version 1.2", "tls_version": 0x0303, "cipher": "C02F", "cipher_name": "C_D"},
        {"security_level": "TLS Version 1.0", "tls_version": 0x0301, "cipher_2": "2F", "cipher_name": "E_F"},
        {"security_level": "SSL Version 3", "tls_version": 0x0300, "cipher": "000A"},
        {},
    ]
)
_EXTRA_LABELS = st.sampled_from(
    ["Trace", "TTLSRule.Direction", "TTLSGrpAction.TTLSEnabled", "TTLSEnvAction.Keyring"]
)
_WORDS = st.from_regex(r"[A-Za-z0-9/*.=(-]{1,12}( [A-Za-z0-9/*.=(-]{1,12}){0,2}", fullmatch=True)


@pytest.mark.parametrize(
    ("before", "after", "field"),
    [
        ("  TTLSGrpAction: grp~Web\n", "", "GroupID"),
        (
            "                          0025 secp521r1\n",
            "                          0804 TLS_SIGALG_X\n",
            "ClientECurves",
        ),
        (
            "                          0804 TLS_SIGALG",
            "                          0030 x448\n    X: 0804 TLS",
            "Signat",
        ),
    ],
)
def test_lines_of_another_action_or_list_are_reported(before: str, after: str, field: str) -> None:
    assert DETAIL.count(before) == 1
    _, issues = _read(DETAIL.replace(before, after).splitlines())
    assert next(issue.field for issue in issues if issue.code is Code.BAD_VALUE).startswith(field)


def _lists() -> st.SearchStrategy[Row]:
    some = {
        column: st.lists(
            st.sampled_from(_MEMBERS.get(column, _CURVES)), min_size=1, max_size=4, unique=True
        ).map(", ".join)
        for column in sorted(LISTS)
    }
    return st.fixed_dictionaries({}, optional=some)


def _rows(*, detail: bool) -> st.SearchStrategy[Row]:
    plain = st.fixed_dictionaries(
        {
            "connection_id": st.integers(0, 0xFFFFFFFF),
            "job_name": _JOB,
            "local_ip": _ADDRESS,
            "local_port": st.integers(0, 65535),
            "remote_ip": _ADDRESS,
            "remote_port": st.integers(0, 65535),
            "ttls_rule": _NAME,
            "ttls_group_action": _NAME,
            "ttls_environment_action": _NAME,
            "extra": st.dictionaries(_EXTRA_LABELS, _WORDS, max_size=3),
        },
        optional={
            "ttls_connection_action": _NAME,
            "cert_user": _JOB,
            "map_type": st.sampled_from(["Primary", "Secondary"]),
            "fips_140": st.sampled_from(["Off", "On", "Level1"]),
            "session_id": st.binary(min_size=32, max_size=32).map(lambda value: value.hex()),
            "session_reuse_requested": st.booleans(),
        },
    )
    share = st.sampled_from([{}, {"key_share": "0023", "key_share_name": "secp256r1"}])
    parts = [plain, _PROTOCOL, share]
    if detail:
        numbers = {
            name: st.integers(0, 2**40)
            for name in (
                "session_timeout_s",
                "session_cache_size",
                "client_ticket_max_bytes",
                "client_tickets_kept",
            )
        }
        switches = {
            n: st.booleans() for n in ("sysplex_session_cache", "sysplex_ticket_cache", "client_tickets")
        }
        roles = {"ttls_handshake_role": st.sampled_from(["Client", "Server"])}
        parts += [_lists(), st.fixed_dictionaries({}, optional={**numbers, **switches, **roles})]
    return st.tuples(*parts).map(_together)


def _together(parts: tuple[Row, ...]) -> Row:
    row = {key: value for part in parts for key, value in part.items()}
    if not row["extra"]:
        del row["extra"]
    return row


def _as_table(row: Row) -> Row:
    return row | ({"extra": json.dumps(row["extra"])} if "extra" in row else {})


def _capitals(row: Row) -> Row:
    """As the console shows it; addresses are spelled as always, and actions have their own names."""
    capital = {key: value.upper() if isinstance(value, str) else value for key, value in row.items()}
    capital |= {key: row[key] for key in ("local_ip", "remote_ip", "session_id") if key in row}
    if "extra" in row:
        capital["extra"] = {_capital_label(label): text.upper() for label, text in row["extra"].items()}
    return capital


def _capital_label(label: str) -> str:
    action, dot, rest = label.rpartition(".")
    return action + dot + rest.upper()


@given(st.lists(_rows(detail=False), min_size=1, max_size=3), st.sampled_from(["V2R4", "3.1"]))
def test_written_report_reads_back(rows: list[Row], release: str) -> None:
    lines = ttls_lines(map(_as_table, rows), Command(release=release, clock=time(1, 2, 3)))
    assert _read(lines) == (rows, [])


@given(st.lists(_rows(detail=True), min_size=1, max_size=3))
def test_written_detail_reads_back(rows: list[Row]) -> None:
    assert _read(ttls_lines(map(_as_table, rows), detail=True)) == (rows, [])


@given(_rows(detail=True))
def test_written_console_reply_reads_back(row: Row) -> None:
    lines = ttls_lines([_as_table(row)], Command(console=True, connector=12), detail=True)
    assert _read(lines) == ([_capitals(row)], [])


@given(_rows(detail=True))
def test_written_block_reads_back_without_heading_and_indentation(row: Row) -> None:
    lines = [line.strip() for line in ttls_block(_as_table(row), detail=True)]
    assert _read(lines) == ([row], [])


def _honest(written: list[Row], result: tuple[list[Row], list[Issue]], *, capitals: bool = False) -> None:
    """Everything that was read was written, unless an issue was reported."""
    rows, issues = result
    assert all(issue.line_no is not None for issue in issues)
    if not issues:
        for row in rows:
            for column in row.keys() - {"extra"}:
                values = {str(one.get(column)) for one in written}
                text = str(row[column])
                if column in LISTS:
                    members = {member for value in values for member in value.split(", ")}
                    assert {part.upper() for part in text.split(", ")} <= {m.upper() for m in members}
                else:
                    assert text in values or (capitals and text in {value.upper() for value in values})


_WRITTEN = [PUBLISHED_ROW, DETAIL_ROW]
_CAPTURE = [*PUBLISHED.splitlines(), *DETAIL.splitlines()[1:]]


@given(st.integers(0, 2**32), st.integers(1, 6))
def test_lost_lines(seed: int, count: int) -> None:
    chosen = random.Random(seed)
    # The rest of a list or rule without its first line is not distinguishable from the lines before it.
    lost = set(
        chosen.sample(
            [n for n, t in enumerate(_CAPTURE) if not t.strip().startswith(("ServerKey", "TTLSRule"))], count
        )
    )
    result = _read([line for no, line in enumerate(_CAPTURE) if no not in lost])
    everything = "; ".join(str(row.get(column)) for row in _WRITTEN for column in LISTS)
    members: Row = {column: everything.replace("; ", ", ") for column in LISTS}
    _honest([*_WRITTEN, {**members, "ttls_handshake_role": "Server"}], result)


@given(st.integers(0, 2**32))
def test_shifted_columns(seed: int) -> None:
    chosen = random.Random(seed)
    lines = [" " + line if chosen.random() < 0.3 else line for line in _CAPTURE]
    assert _read(lines)[0] == _WRITTEN
    shifted = [line[1:] if chosen.random() < 0.1 else line for line in _CAPTURE]
    _honest(_WRITTEN, _read(shifted))


@given(st.integers(20, 80))
def test_wrapped_lines(width: int) -> None:
    _honest(_WRITTEN, _read(wrapped(_CAPTURE, width)))


@given(st.integers(0, 2**32))
def test_prompts_and_blank_lines_in_between(seed: int) -> None:
    chosen = random.Random(seed)
    noise = ["", "   ", "$ netstat -x", "IBMUSER:/u/ibmuser: >", "***", "READY"]
    _honest(_WRITTEN, _read(interrupted(chosen, _CAPTURE, noise)))


def test_upper_case() -> None:
    _honest(_WRITTEN, _read([line.upper() for line in _CAPTURE]), capitals=True)


@given(st.lists(st.text(max_size=100), max_size=30))
def test_any_text_is_read_without_an_exception(lines: list[str]) -> None:
    rows, issues = _read(["ConnID: 0000000A", *lines])
    assert rows[0]["connection_id"] == 0xA
    assert all(issue.line_no for issue in issues)
