"""The policies and messages of a world agree with its connections and displays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from zscope.parsers import Severity, read

FOLDER = Path(__file__).resolve().parents[2] / "sample-data" / "world"
TABLES = ("tls_rule", "tls_action", "tls_message", "netstat_ttls", "smf119_zert_detail")


@pytest.fixture(scope="module")
def tables() -> dict[str, list[dict[str, object]]]:
    result = read(FOLDER, TABLES)
    assert [str(issue) for issue in result.issues if issue.severity > Severity.NOTE] == []
    return {name: result[name].to_pylist() for name in TABLES}


def test_both_forms_of_a_policy_are_there(tables: dict[str, list[dict[str, object]]]) -> None:
    forms = {(row["system"], row["policy_form"]) for row in tables["tls_rule"]}
    assert forms == {("CLI1", "pasearch"), ("CLI2", "file"), ("SRV1", "pasearch"), ("SRV2", "file")}


def test_the_displays_name_rules_and_actions_of_the_policy(
    tables: dict[str, list[dict[str, object]]],
) -> None:
    columns = ("ttls_rule", "ttls_group_action", "ttls_environment_action")
    shown = {(row["system"], *(row[name] for name in columns)) for row in tables["netstat_ttls"]}
    columns = ("rule_name", "group_action", "environment_action")
    defined = {(row["system"], *(row[name] for name in columns)) for row in tables["tls_rule"]}
    assert shown
    assert shown <= defined


def test_every_action_of_a_rule_is_defined(tables: dict[str, list[dict[str, object]]]) -> None:
    defined = {(row["system"], row["action_scope"], row["action_name"]) for row in tables["tls_action"]}
    used = {
        (row["system"], scope, row[f"{scope}_action"])
        for row in tables["tls_rule"]
        for scope in ("group", "environment")
        if row[f"{scope}_action"]
    }
    assert used == defined


def test_each_failed_handshake_has_its_message(tables: dict[str, list[dict[str, object]]]) -> None:
    columns = ("system", "connection_id", "local_ip", "local_port", "remote_ip", "remote_port", "job_name")
    failed = {
        tuple(row[name] for name in columns)
        for row in tables["smf119_zert_detail"]
        if row["handshake_type"] == 3
    }
    told = {tuple(row[name] for name in columns) for row in tables["tls_message"]}
    assert failed == told
    assert len(failed) > 5
    # Some are in SYSLOG as well, with the same code.
    assert len(tables["tls_message"]) > len(told)
    codes = {(row["system"], row["connection_id"], row["return_code"]) for row in tables["tls_message"]}
    assert len(codes) == len(told)


def test_all_files_are_labelled_as_synthetic() -> None:
    for path in [*FOLDER.glob("policy/*"), *FOLDER.glob("logs/*")]:
        assert "SYNTHETIC DATA" in path.read_text(encoding="utf-8")[:200], path
    assert json.loads((FOLDER / "manifest.json").read_text(encoding="ascii"))["synthetic"] is True
