"""Policy files of AT-TLS: statements, references, defaults, damage."""

from __future__ import annotations

from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

import pytest
from tests.parsers.text.attls.examples import POLICY
from tests.parsers.text.attls.test_pasearch import policy, values

from zscope.parsers.issues import Code, Severity
from zscope.parsers.text.attls.policy_file_write import policy_file_lines

if TYPE_CHECKING:
    from zscope.parsers import Tables

NAME = "SYSA.policy.txt"


def _read(text: str, folder: Path) -> Tables:
    return policy(text, folder, NAME)


def _rule(text: str, folder: Path) -> dict[str, Any]:
    (rule,) = _read(text, folder)["tls_rule"].to_pylist()
    return rule  # type: ignore[no-any-return] # as pyarrow declares it


def test_a_rule_has_its_conditions_and_actions(tmp_path: Path) -> None:
    rule = _rule(POLICY, tmp_path)
    expected = {
        "line_no": 2, "policy_form": "file", "rule_name": "PAYIN_RULE", "rule_priority": 400,
        "direction": "Inbound", "local_addresses": "10.20.30.0-10.20.30.255", "local_ports": "8443",
        "remote_addresses": None, "remote_ports": None, "job_name": "PAY*", "group_action": "PAYIN_GRP",
        "environment_action": "PAYIN_ENV", "connection_action": None, "ranges_from": "configured",
        "taken_local": None, "stack": None, "source": "text",
    }  # fmt: skip
    assert {name: rule[name] for name in expected} == expected
    assert list(_read(POLICY, tmp_path).issues) == []


def test_parameters_are_set_or_have_the_documented_default(tmp_path: Path) -> None:
    result = _read(POLICY, tmp_path)
    advanced = "TTLSEnvironmentAdvancedParms"
    assert values(result, "Trace") == [("PAYIN_GRP", None, 0, "7", "set")]
    assert values(result, "TLSv1.2") == [("PAYIN_ENV", advanced, 0, "On", "set")]
    assert values(result, "TLSv1.1") == [("PAYIN_ENV", advanced, 0, "On", "default")]
    assert values(result, "GSK_SESSION_TICKET_SERVER_TIMEOUT")[0][3:] == ("300", "default")
    ciphers = values(result, "V3CipherSuites4Char")
    assert [each[2:] for each in ciphers] == [(1, "1301", "set"), (2, "C02F", "set"), (3, "C030", "set")]
    assert [each[3] for each in values(result, "ClientECurves")] == [
        "0021", "0023", "0024", "0025", "0019", "0029",
    ]  # fmt: skip


def test_defaults_depend_on_other_parameters(tmp_path: Path) -> None:
    shared = POLICY.replace(
        "  TTLSCipherParmsRef CIPH\n",
        "  TTLSCipherParmsRef CIPH\n"
        "  TTLSGskAdvancedParms\n  {\n    GSK_SYSPLEX_SESSION_TICKET_CACHE On\n  }\n"
        "  TTLSSignatureParms\n  {\n    ClientECurves 0021\n    ClientECurves secp384r1\n  }\n",
    )
    result = _read(shared, tmp_path)
    assert values(result, "GSK_SESSION_TICKET_SERVER_TIMEOUT")[0][3:] == ("600", "default")
    # The first of the curves that TLS 1.3 allows.
    assert [each[3] for each in values(result, "ClientKeyShareGroups")] == ["0024"]
    rows = [row["code"] for row in result["tls_action"].to_pylist() if row["parameter"] == "ClientECurves"]
    assert rows == ["0021", "0024"]


def test_keywords_in_any_case_and_braces_on_the_line_of_the_statement(tmp_path: Path) -> None:
    text = POLICY.replace("TTLSRule PAYIN_RULE\n{", "ttlsrule PAYIN_RULE {").replace("Direction", "DIRECTION")
    assert _rule(text, tmp_path)["direction"] == "Inbound"


def test_references_are_resolved_wherever_they_are_defined(tmp_path: Path) -> None:
    rule = (
        "TTLSRule A\n{\nLocalAddrRef one\nRemoteAddrGroupRef many\nRemotePortGroupRef ports\n"
        "Direction Outbound\n"
        "TTLSGroupActionRef g\n}\nTTLSGroupAction g\n{\nTTLSEnabled Off\n}\n"
        "IpAddrSet net\n{\nPrefix 192.0.2.0/24\n}\nIpAddr one\n{\nAddr 10.0.0.1\n}\n"
        "IpAddrGroup many\n{\nIpAddr\n{\nAddr 10.0.0.9\n}\nIpAddrSetRef net\n}\n"
        "PortGroup ports\n{\nPortRange\n{\nPort 443\n}\nPortRange\n{\nPort 1024-2047\n}\n}\n"
    )
    row = _rule(rule, tmp_path)
    assert (row["local_addresses"], row["remote_ports"]) == ("10.0.0.1", "443, 1024-2047")
    assert set(row["remote_addresses"].split(", ")) == {"10.0.0.9", "192.0.2.0-192.0.2.255"}
    assert list(_read(rule, tmp_path).issues) == []


def test_an_action_in_the_braces_of_a_rule_is_named_after_it(tmp_path: Path) -> None:
    text = POLICY.replace(
        "  TTLSGroupActionRef PAYIN_GRP", "  TTLSGroupAction\n  {\n    TTLSEnabled Off\n  }"
    )
    result = _read(text, tmp_path)
    (rule,) = result["tls_rule"].to_pylist()
    assert rule["group_action"] == "PAYIN_RULE (inline)"
    assert ("PAYIN_RULE (inline)", None, 0, "Off", "set") in values(result, "TTLSEnabled")


def test_a_missing_brace_costs_no_statement_after_it(tmp_path: Path) -> None:
    result = _read("TTLSRule BROKEN\n{\n  Direction Inbound\n" + POLICY, tmp_path)
    known = _read(POLICY, tmp_path)
    assert [issue.code for issue in result.issues] == [Code.REPORT_CUT]
    assert {row["rule_name"] for row in result["tls_rule"].to_pylist()} == {
        "BROKEN",
        *(row["rule_name"] for row in known["tls_rule"].to_pylist()),
    }
    assert set(known["tls_action"]["action_name"].to_pylist()) <= set(
        result["tls_action"]["action_name"].to_pylist()
    )


def test_statements_without_a_reference_have_rows(tmp_path: Path) -> None:
    result = _read(POLICY + "TTLSKeyringParms OLD\n{\nKeyring OLDRING\n}\n", tmp_path)
    rows = [row for row in result["tls_action"].to_pylist() if row["action_scope"] == "unused"]
    assert [(row["action_name"], row["section"], row["parameter_value"]) for row in rows] == [
        ("OLD", "TTLSKeyringParms", "OLDRING")
    ]
    (issue,) = result.issues
    assert (issue.code, issue.line_no, issue.severity) == (Code.UNUSED_STATEMENT, 42, Severity.NOTE)
    assert "nothing refers to TTLSKeyringParms 'OLD'" in issue.text


def test_the_time_of_a_rule_is_a_condition(tmp_path: Path) -> None:
    time = "IpTimeCondition office\n{\nDayOfWeekMask 0111110\nTimeOfDayRange 08:00-17:00\n}\n"
    text = POLICY.replace("  Priority 400", "  Priority 400\n  IpTimeConditionRef office") + time
    assert _rule(text, tmp_path)["time_condition"] == "DayOfWeekMask 0111110; TimeOfDayRange 08:00-17:00"


def test_of_two_definitions_the_later_one_is_used(tmp_path: Path) -> None:
    result = _read(POLICY + "TTLSGroupAction PAYIN_GRP\n{\nTTLSEnabled Off\n}\n", tmp_path)
    assert [issue.code for issue in result.issues] == [Code.REPORT_REPEATED]
    assert [each[3] for each in values(result, "TTLSEnabled")] == ["Off"]


def test_sequence_numbers_and_comments_are_no_part_of_values(tmp_path: Path) -> None:
    text = "\n".join(f"{line:<72}{number:08}" for number, line in enumerate(POLICY.splitlines(), 1))
    result = _read(text + "\n", tmp_path)
    assert list(result.issues) == []
    assert values(result, "TTLSEnabled") == [("PAYIN_GRP", None, 0, "On", "set")]


@pytest.mark.parametrize(
    ("before", "after", "code", "line"),
    [
        ("  TTLSGroupActionRef PAYIN_GRP", "  TTLSGroupActionRef NONE", Code.BAD_VALUE, 15),
        ("    Port 8443", "    Port 84430", Code.BAD_VALUE, 10),
        ("    Prefix 10.20.30.0/24", "    Prefix 10.20.30.0/64", Code.BAD_VALUE, 6),
        ("  Jobname PAY*", "  Jobnames PAY*", Code.UNKNOWN_COLUMN, 12),
        ("TTLSCipherParms CIPH", "TTLSCipherParmX CIPH", Code.UNKNOWN_LINE, 37),
        ("    TLSv1.3 On\n  }\n}\n", "    TLSv1.3 On\n  }\n", Code.REPORT_CUT, 23),
        ("  Priority 400", "  Priority 4oo", Code.BAD_VALUE, 14),
        ("TTLSGroupAction PAYIN_GRP\n{", "TTLSGroupAction PAYIN_GRP\n", Code.UNKNOWN_LINE, None),
    ],
)
def test_damage_is_reported_with_its_line(
    tmp_path: Path, before: str, after: str, code: Code, line: int | None
) -> None:
    assert before in POLICY
    issues = list(_read(POLICY.replace(before, after, 1), tmp_path).issues)
    assert any(issue.code is code and line in {issue.line_no, None} for issue in issues), issues


def test_references_in_a_circle_end(tmp_path: Path) -> None:
    text = (
        "TTLSRule A\n{\nLocalAddrGroupRef g\nDirection Both\n}\nIpAddrGroup g\n{\nIpAddrGroupRef g\n}\n"
        "TTLSEnvironmentAction e\n{\nTTLSGskAdvancedParmsRef p\n}\n"
        "TTLSGskAdvancedParms p\n{\nTTLSGskAdvancedParmsRef p\nGSK_V3_SIDCACHE_SIZE 20\n}\n"
    )
    result = _read(text, tmp_path)
    assert Code.BAD_VALUE in {issue.code for issue in result.issues}
    assert result["tls_rule"]["direction"].to_pylist() == [None]


def test_groups_that_refer_to_each_other_in_many_ways_are_read_once(tmp_path: Path) -> None:
    """Eight references in each of ten levels: 8 to the power of 10 ways lead to the one address."""
    levels, references = 10, 8
    lines = [
        "TTLSRule A",
        "{",
        "RemoteAddrGroupRef level0",
        "RemotePortGroupRef ports0",
        "Direction Both",
        "}",
    ]
    for level in range(levels):
        last = level == levels - 1
        address, port = (
            ("IpAddrRef one", "PortRangeRef https")
            if last
            else (f"IpAddrGroupRef level{level + 1}", f"PortGroupRef ports{level + 1}")
        )
        lines += [f"IpAddrGroup level{level}", "{", *[address] * references, "}"]
        lines += [f"PortGroup ports{level}", "{", *[port] * references, "}"]
    lines += ["IpAddr one", "{", "Addr 192.0.2.1", "}", "PortRange https", "{", "Port 443", "}"]
    result = _read("\n".join(lines) + "\n", tmp_path)
    (rule,) = result["tls_rule"].to_pylist()
    assert (rule["remote_addresses"], rule["remote_ports"]) == ("192.0.2.1", "443")
    assert list(result.issues) == []


def test_parameters_that_refer_to_each_other_in_many_ways_are_read_once(tmp_path: Path) -> None:
    levels, references = 10, 8
    lines = ["TTLSEnvironmentAction e", "{", "TTLSGskAdvancedParmsRef level0", "}"]
    for level in range(levels):
        inside = [f"TTLSGskAdvancedParmsRef level{level + 1}"] * references
        lines += [f"TTLSGskAdvancedParms level{level}", "{", *inside, "}"]
    lines += [f"TTLSGskAdvancedParms level{levels}", "{", "GSK_V3_SIDCACHE_SIZE 20", "}"]
    result = _read("\n".join(lines) + "\n", tmp_path)
    assert [each[3:] for each in values(result, "GSK_V3_SIDCACHE_SIZE")] == [("20", "set")]


@pytest.mark.parametrize("kind", ["IpAddrGroup", "PortGroup"])
def test_a_group_that_refers_to_itself_is_reported(tmp_path: Path, kind: str) -> None:
    """At the group where the circle closes, and only there; other groups are read."""
    parameter = {"IpAddrGroup": "RemoteAddrGroupRef", "PortGroup": "RemotePortGroupRef"}[kind]
    text = f"TTLSRule A\n{{\n{parameter} first\nDirection Both\n}}\n"
    text += f"{kind} first\n{{\n{kind}Ref second\n{kind}Ref other\n}}\n"
    text += f"{kind} second\n{{\n{kind}Ref first\n}}\n{kind} other\n{{\n}}\n"
    result = _read(text, tmp_path)
    circle = [issue for issue in result.issues if "refers to itself" in issue.text]
    assert [(issue.code, issue.line_no, issue.text) for issue in circle] == [
        (Code.BAD_VALUE, 6, f"{kind} first refers to itself")
    ]
    assert result["tls_rule"]["direction"].to_pylist() == [None]


@pytest.mark.deep
def test_many_repeated_keywords_are_one_list(tmp_path: Path) -> None:
    """Each is found by its key: with a comparison with all before it, four times as many take 16 times."""

    def seconds(count: int) -> float:
        lines = ["TTLSEnvironmentAction e", "{"]
        lines += [f"Unknown{number:040} 1\nTrustedPeer p{number}" for number in range(count)]
        begin = process_time()
        result = _read("\n".join([*lines, "}", ""]), tmp_path)
        taken = process_time() - begin
        assert [each[2:4] for each in values(result, "TrustedPeer")] == [
            (number, f"p{number - 1}") for number in range(1, count + 1)
        ]
        return taken

    assert seconds(12_000) < 12 * seconds(3_000)


def test_a_file_without_its_first_statement_is_reported(tmp_path: Path) -> None:
    result = _read(POLICY.replace("TTLSRule", "TTLSRXule"), tmp_path)
    assert Code.UNKNOWN_LINE in {issue.code for issue in result.issues}


@pytest.mark.parametrize("inline", [False, True])
def test_the_writer_and_the_reader_are_inverse(tmp_path: Path, inline: bool) -> None:
    result = _read(POLICY, tmp_path)
    rules, actions = result["tls_rule"].to_pylist(), result["tls_action"].to_pylist()
    text = "\n".join(policy_file_lines(rules, actions, title=["synthetic"], inline=inline))
    again = _read(text + "\n", tmp_path)
    assert list(again.issues) == []
    key = ("action_scope", "action_name", "section", "parameter", "member_no", "parameter_value", "setting")

    def rows(found: list[dict[str, Any]]) -> set[tuple[Any, ...]]:
        return {tuple(row[name] for name in key) for row in found}

    assert rows(again["tls_action"].to_pylist()) == rows(actions)
    (before,), (after,) = rules, again["tls_rule"].to_pylist()
    assert {k: v for k, v in before.items() if k != "line_no"} == {
        k: v for k, v in after.items() if k != "line_no"
    }
