"""Reports of pasearch: rules with their conditions, actions with their parameters, variants and damage."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from tests.parsers.text.attls.examples import PASEARCH

from zscope.parsers import Tables, inventory, read
from zscope.parsers.issues import Code
from zscope.parsers.text.attls.pasearch_write import pasearch_lines

TABLES = ("tls_rule", "tls_action")
LOADED = datetime(2026, 3, 3, 9, 41, 7)  # noqa: DTZ001 - local time


def policy(text: str, folder: Path, name: str = "SYSA.pasearch.txt") -> Tables:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read(path, TABLES)


def _rules(result: Tables) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = result["tls_rule"].to_pylist()
    return rows


def values(result: Tables, parameter: str) -> list[tuple[Any, ...]]:
    return [
        tuple(row[name] for name in ("action_name", "section", "member_no", "parameter_value", "setting"))
        for row in result["tls_action"].to_pylist()
        if row["parameter"] == parameter
    ]


def test_a_rule_has_its_conditions_and_the_names_of_its_actions(tmp_path: Path) -> None:
    result = policy(PASEARCH, tmp_path)
    assert list(result.issues) == []
    (rule,) = _rules(result)
    expected = {
        "line_no": 5, "system": "SYSA", "stack": "TCPPRD", "release": "3.1", "policy_form": "pasearch",
        "instance_id": 1772527267, "rule_name": "PAYIN_RULE", "status": "Active", "rule_priority": 400,
        "direction": "Inbound", "local_addresses": "10.20.30.0-10.20.30.255", "remote_addresses": None,
        "local_ports": "8443", "remote_ports": None, "job_name": "PAY*", "user_id": None,
        "time_condition": "Day of Week Mask 0111110; Local", "ranges_from": "summary",
        "group_action": "PAYIN_GRP", "environment_action": "PAYIN_ENV", "connection_action": None,
        "policy_created_local": LOADED, "policy_updated_local": LOADED, "taken_local": LOADED,
        "time_from": "report", "source": "terminal",
    }  # fmt: skip
    assert {name: rule[name] for name in expected} == expected


def test_parameters_have_their_section_their_place_in_a_list_and_whether_they_are_set(tmp_path: Path) -> None:
    result = policy(PASEARCH, tmp_path)
    env, advanced = "PAYIN_ENV", "TTLSEnvironmentAdvancedParms"
    assert values(result, "TTLSEnabled") == [("PAYIN_GRP", None, 0, "On", "set")]
    assert values(result, "TLSv1.2") == [(env, advanced, 0, "On", "set")]
    assert values(result, "TLSv1.3") == [(env, advanced, 0, "Off", "as default")]
    assert values(result, "ClientExtendedMasterSecret") == [(env, advanced, 0, "On", "as default")]
    assert values(result, "GSK_V3_SESSION_TIMEOUT") == [(env, "TTLSGskAdvancedParms", 0, "3600", "set")]
    assert values(result, "HttpCdpEnable") == [(env, "TTLSGskHttpCdpParms", 0, "Off", "unknown")]
    curves = values(result, "ClientECurves")
    assert [curve[2:4] for curve in curves][:2] == [(1, "0021 secp224r1"), (2, "0023 secp256r1")]
    assert {curve[4] for curve in curves} == {"as default"}
    codes = result["tls_action"].to_pylist()
    assert [row["code"] for row in codes if row["parameter"] == "v3CipherSuites"] == ["1301", "C02F"]


def test_with_tls_1_3_the_default_curves_have_another_member(tmp_path: Path) -> None:
    text = PASEARCH.replace("TLSv1.3:                   Off", "TLSv1.3:                   On")
    assert {each[4] for each in values(policy(text, tmp_path), "ClientECurves")} == {"set"}
    more = text.replace("      0019  secp192r1", "      0019  secp192r1\n      0029  X25519")
    assert {each[4] for each in values(policy(more, tmp_path), "ClientECurves")} == {"as default"}


def test_unknown_groups_keep_their_number(tmp_path: Path) -> None:
    text = PASEARCH.replace(
        "      0019  secp192r1", "      4588  X25519MLKEM768\n      11EC\n      9999  new"
    )
    result = policy(text, tmp_path)
    rows = [row for row in result["tls_action"].to_pylist() if row["parameter"] == "ClientECurves"]
    assert [row["code"] for row in rows][-3:] == ["4588", "11EC", "9999"]
    assert list(result.issues) == []


def test_a_word_for_a_list_is_on_the_line_of_its_label(tmp_path: Path) -> None:
    begin = PASEARCH.index("     ClientECurves:")
    end = PASEARCH.index("    TTLSGskAdvancedParms:")
    text = f"{PASEARCH[:begin]}     ClientECurves:             Any\n{PASEARCH[end:]}"
    result = policy(text, tmp_path)
    assert values(result, "ClientECurves") == [("PAYIN_ENV", "TTLSSignatureParms", 0, "Any", "set")]


def test_an_action_that_is_repeated_for_a_second_rule_has_its_rows_once(tmp_path: Path) -> None:
    body = PASEARCH[PASEARCH.index("policyRule:") :]
    second = body.replace("PAYIN_RULE", "PAYOUT")
    result = policy(f"{PASEARCH}\n{second}", tmp_path)
    assert [rule["rule_name"] for rule in _rules(result)] == ["PAYIN_RULE", "PAYOUT"]
    assert len(values(result, "Keyring")) == 1
    assert list(result.issues) == []
    other = policy(f"{PASEARCH}\n{second.replace('PAYRING', 'OTHER')}", tmp_path)
    assert [issue.code for issue in other.issues] == [Code.REPORT_REPEATED]
    assert [each[3] for each in values(other, "Keyring")] == ["PAYRING"]


def test_names_that_are_equal_when_folded_are_reported(tmp_path: Path) -> None:
    body = PASEARCH[PASEARCH.index("policyRule:") :].replace("PAYIN_RULE", "Payin_Rule")
    result = policy(f"{PASEARCH}\n{body}", tmp_path)
    assert [issue.code for issue in result.issues] == [Code.REPORT_REPEATED]
    assert len(_rules(result)) == 2


def test_several_ranges_are_used_instead_of_their_summary(tmp_path: Path) -> None:
    ranges = "\n".join(
        f"    FromAddr:           {low}\n    ToAddr:             {high}"
        for low, high in [("10.1.0.0", "10.9.0.255"), ("10.1.0.0", "10.1.0.255"), ("10.9.0.0", "10.9.0.255")]
    )
    first, last = PASEARCH.index("    FromAddr:           10."), PASEARCH.index("   Remote Address:")
    (rule,) = _rules(policy(f"{PASEARCH[:first]}{ranges}\n{PASEARCH[last:]}", tmp_path))
    assert rule["local_addresses"] == "10.1.0.0-10.1.0.255, 10.9.0.0-10.9.0.255"
    assert rule["ranges_from"] == "configured"


def test_a_prefix_is_a_range(tmp_path: Path) -> None:
    text = PASEARCH.replace("    ToAddr:             10.20.30.255", "    Prefix:             28")
    (rule,) = _rules(policy(text, tmp_path))
    assert rule["local_addresses"] == "10.20.30.0-10.20.30.15"


def test_a_port_in_the_place_of_an_address_is_reported(tmp_path: Path) -> None:
    low = PASEARCH.replace("10.20.30.0\n", "0.0.1.187\n").replace("10.20.30.255", "0.0.1.187")
    result = policy(low, tmp_path)
    assert [(issue.code, issue.field) for issue in result.issues] == [(Code.BAD_VALUE, "local_addresses")]
    assert "443" in next(iter(result.issues)).text


def test_several_stacks_are_several_reports(tmp_path: Path) -> None:
    result = policy(PASEARCH + PASEARCH.replace("TCPPRD", "TCPTEST"), tmp_path)
    assert [rule["stack"] for rule in _rules(result)] == ["TCPPRD", "TCPTEST"]
    assert [row["parameter"] for row in result["tls_action"].to_pylist()].count("Keyring") == 2
    rows = inventory(tmp_path / "SYSA.pasearch.txt").rows.to_pylist()
    assert [(row["kind"], row["report"], row["records"]) for row in rows] == [
        ("attls", "AT-TLS policy (pasearch)", 2)
    ]


def test_rules_of_other_types_are_skipped_with_a_note(tmp_path: Path) -> None:
    body = PASEARCH[PASEARCH.index("policyRule:") : PASEARCH.index("  TTLS Action:")]
    other = body.replace("Rule Type:            TTLS", "Rule Type:            QoS")
    result = policy(f"{PASEARCH}\n{other}", tmp_path)
    assert len(_rules(result)) == 1
    assert [issue.code for issue in result.issues] == [Code.OTHER_REPORT]


def test_actions_alone_and_rules_alone_are_read(tmp_path: Path) -> None:
    rule, action = PASEARCH.index("policyRule:"), PASEARCH.index("  TTLS Action:")
    result = policy(PASEARCH[:rule] + PASEARCH[action:], tmp_path)
    assert (len(_rules(result)), len(values(result, "Keyring"))) == (0, 1)
    result = policy(PASEARCH[:rule] + "policyRule:             A\npolicyRule:             B\n", tmp_path)
    assert [(row["rule_name"], row["direction"]) for row in _rules(result)] == [("A", None), ("B", None)]


def test_missing_data_of_a_server_are_null(tmp_path: Path) -> None:
    """Without its condition on the job, the rule would match more connections than it does."""
    text = PASEARCH.replace("PAY*  ", "<not available>").replace("UserId:", "UserId:            ")
    (rule,) = _rules(policy(text, tmp_path))
    assert (rule["job_name"], rule["direction"]) == (None, None)
    text = PASEARCH.replace("ForLoadDist:       False", "ForLoadDist:       <not available>")
    assert text != PASEARCH
    (rule,) = _rules(policy(text, tmp_path))
    assert rule["direction"] == "Inbound"


def test_a_rule_with_a_damaged_priority_or_direction_is_incomplete(tmp_path: Path) -> None:
    (rule,) = _rules(
        policy(PASEARCH.replace("  Priority:             400", "  Priority:             4x0"), tmp_path)
    )
    assert (rule["rule_priority"], rule["direction"]) == (None, None)
    result = policy(PASEARCH.replace("ServiceDirection:    Inbound", "ServiceDirection:    Inbond"), tmp_path)
    assert _rules(result)[0]["direction"] is None
    assert [(issue.code, issue.field, "Inbond" in issue.text) for issue in result.issues] == [
        (Code.BAD_VALUE, "direction", True)
    ]


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ("LocalPortTo:       8443", "LocalPortTo:       84430000", Code.BAD_VALUE),
        ("ToAddr:             10.20.30.255", "ToAddr:             10.20.30.2555", Code.BAD_VALUE),
        ("ToAddr:             10.20.30.255", "ToAddr:             10.20.29.255", Code.BAD_VALUE),
        ("No. Policy Action:    2", "No. Policy Action:    3", Code.COUNT_DIFFERS),
        ("Scope:                      Group", "Scope:                      Grop", Code.BAD_VALUE),
        ("   ServiceDirection: ", "   ServiceDirectioX: ", None),
        ("JobName:      ", "JobNames:      ", Code.UNKNOWN_COLUMN),
        ("Tue Mar  3 09:41:07 2026", "Tue Mar 33 09:41:07 2026", Code.BAD_VALUE),
        ("TCPPRD", "", Code.REPORT_CUT),
        ("    TTLSKeyringParms:", "    TTLSKeyringParms ", Code.UNKNOWN_LINE),
    ],
)
def test_damage_is_reported(tmp_path: Path, before: str, after: str, code: Code | None) -> None:
    assert before in PASEARCH
    result = policy(PASEARCH.replace(before, after, 1), tmp_path)
    codes = {issue.code for issue in result.issues}
    assert codes if code is None else code in codes


def test_a_rule_without_a_readable_condition_has_no_direction(tmp_path: Path) -> None:
    # Otherwise the rule would match connections that it does not govern.
    (rule,) = _rules(policy(PASEARCH.replace("8443  ", "84x3  ", 1), tmp_path))
    assert (rule["direction"], rule["local_ports"]) == (None, None)


def test_the_writer_and_the_reader_are_inverse(tmp_path: Path) -> None:
    result = policy(PASEARCH, tmp_path)
    rules, actions = _rules(result), result["tls_action"].to_pylist()
    text = "\n".join(pasearch_lines(rules, actions, stack="TCPPRD", taken=LOADED))
    again = policy(text, tmp_path)
    assert list(again.issues) == []
    places = {"line_no", "extra"}
    for one, other in zip(rules + actions, _rules(again) + again["tls_action"].to_pylist(), strict=True):
        skipped = places | {"time_condition"}
        assert {k: v for k, v in one.items() if k not in skipped} == {
            k: v for k, v in other.items() if k not in skipped
        }
