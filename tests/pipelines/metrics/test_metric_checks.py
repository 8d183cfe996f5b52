"""The checks as data: complete, well formed, and right in the single situations of each practice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.pipelines.metric_world import database

from zscope.pipelines.metrics import declared
from zscope.pipelines.metrics.metric_checks import (
    FindingRule,
    FindingsFile,
    PracticesFile,
    filled,
    finding_rules,
    practice_rules,
)
from zscope.schemas.declared import TomlFile
from zscope.schemas.errors import DeclarationError
from zscope.schemas.published import published_tables

Given = Mapping[str, Sequence[Mapping[str, Any]]]
PRACTICES = published_tables()["best_practice"]["id"].to_pylist()
NEVER_SEEN = {"qdiostg", "msg-waitall", "zhpf", "mq-sslrkeyc", "ztpf-pj48040", "rscs-tlslabel"}
"""What nothing in a store can show."""


def checked(practice: str, given: Given) -> list[tuple[str | None, str, str]]:
    """System, status and evidence of each row of one practice; what a row rests on is seen to be there."""
    with database("best_practice_check", given) as connection:
        found = connection.execute(
            "SELECT system, status, evidence, evidence_query, capture FROM best_practice_check "
            "WHERE practice = ?",
            [practice],
        ).fetchall()
        for _, status, evidence, query, capture in found:
            assert (capture is None) == (status != "unknown")
            assert (query is None) == (evidence == "nothing seen")
            assert query is None or connection.execute(query).fetchall()
    return [row[:3] for row in found]


def test_each_practice_has_exactly_one_rule_and_each_rule_a_practice() -> None:
    assert sorted(rule.id for rule in practice_rules()) == sorted(PRACTICES)


def test_only_settings_that_nothing_shows_have_no_evidence() -> None:
    assert {rule.id for rule in practice_rules() if not rule.seen} == NEVER_SEEN


def test_ids_of_findings_are_unique() -> None:
    ids = [rule.id for rule in finding_rules()]
    assert len(set(ids)) == len(ids)
    assert not set(ids) & set(PRACTICES), "zscope check --explain could not tell them apart"


@pytest.mark.parametrize("name", ["finding_count", "finding", "best_practice_check"])
def test_all_parts_of_a_statement_are_filled_in(name: str) -> None:
    assert "{{" not in declared()[name].sql


@pytest.mark.parametrize("rule", finding_rules(), ids=lambda rule: rule.id)
def test_condition_of_a_finding_can_be_run(rule: FindingRule) -> None:
    view = "connection_posture" if rule.of == "connection" else "certificate_seen"
    with database(view, {}) as connection:
        assert connection.execute(f"SELECT * FROM {view} WHERE {rule.condition}").fetchall() == []


FINDING = {
    "id": "f1", "of": "connection", "severity": "low", "condition": "true", "what": "W", "remedy": "R",
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"severity": "bad"}, 'severity: expected "high", "medium", "low" or "info", got \'bad\''),
        ({"of": "job"}, 'of: expected "connection" or "certificate", got \'job\''),
        ({"colour": "red"}, "colour: is not a valid key; valid: id, of, severity"),
    ],
)
def test_an_invalid_finding_is_refused_with_its_id(change: dict[str, str], problem: str) -> None:
    lines = ["[[finding]]", *(f"{key} = '{value}'" for key, value in {**FINDING, **change}.items())]
    with pytest.raises(DeclarationError, match=rf"line \d: finding\[f1\]\.{problem}"):
        TomlFile.parse("\n".join(lines), "finding.checks.toml").typed(FindingsFile)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("seen = 'SELECT 1'", "judged: is missing; a rule with seen needs it"),
        ("judged = 'SELECT 1'", "seen: is missing; a rule with judged needs it"),
    ],
)
def test_half_a_rule_of_a_practice_is_refused_with_its_id(given: str, problem: str) -> None:
    text = f"[[rule]]\nid = 'p1'\ncapture = 'x'\n{given}"
    with pytest.raises(DeclarationError, match=rf"line 1: rule\[p1\]\.{problem}"):
        TomlFile.parse(text, "best_practice_check.checks.toml").typed(PracticesFile)


def test_sql_without_checks_is_unchanged() -> None:
    assert filled("tls_posture", "SELECT '{{counts}}'") == "SELECT '{{counts}}'"


OSD = {"system": "SYSA", "interface": "OSA1", "interface_type": "IPAQENET", "chpid_type": "OSD"}
OSH = {"system": "SYSA", "interface": "NETX1", "interface_type": "EQENET", "chpid_type": "OSH"}
HIPERSOCKETS = {"system": "SYSA", "interface": "IQD1", "interface_type": "IPAQIDIO", "chpid_type": "IQD"}
EARLIER, LATER = datetime(2026, 3, 1, 8), datetime(2026, 3, 2, 8)  # noqa: DTZ001 - local times


def links(*rows: Mapping[str, Any]) -> Given:
    return {"netstat_devlink": rows}


def settings(setting: str, *values: str, label: str = "Label") -> Given:
    row = {"system": "SYSA", "section": "IP", "label": label, "setting": setting}
    return {"netstat_config": [{**row, "value": value, "stack": f"TCP{n}"} for n, value in enumerate(values)]}


@pytest.mark.parametrize("practice", ["inbperf-dynamic", "workloadq"])
@pytest.mark.parametrize("osh", [OSH, {**OSH, "chpid_type": None}, {**OSH, "interface_type": "EQENET6"}])
def test_network_express_is_never_flagged_for_a_line_it_does_not_have(
    practice: str, osh: Mapping[str, Any]
) -> None:
    assert checked(practice, links(osh)) == [("SYSA", "pass", "NETX1 (OSH) does so by itself")]


@pytest.mark.parametrize(
    ("practice", "rows", "status"),
    [
        ("inbperf-dynamic", [{**OSD, "inbound_performance": "Dynamic"}], "pass"),
        ("inbperf-dynamic", [{**OSD, "inbound_performance": "Balanced"}], "fail"),
        ("inbperf-dynamic", [OSD], "unknown"),
        ("inbperf-dynamic", [OSH, {**OSD, "inbound_performance": "MinCPU"}], "fail"),
        ("inbperf-dynamic", [OSH, OSD], "unknown"),
        ("workloadq", [{**OSD, "workload_queueing": "Yes"}], "pass"),
        ("workloadq", [{**OSD, "workload_queueing": "No"}], "fail"),
        ("workloadq", [{**OSD, "inbound_performance": "Dynamic"}], "unknown"),
        ("segmentationoffload", [{**OSD, "segmentation_offload": True}], "pass"),
        ("segmentationoffload", [{**OSH, "segmentation_offload": False}], "fail"),
        ("readstorage", [{**OSD, "checksum_offload": True, "read_storage": "GLOBAL (4096K)"}], "unknown"),
        ("readstorage", [{**OSD, "checksum_offload": False}], "fail"),
        ("readstorage", [{**OSD, "read_storage": "MIN (1024K)"}], "fail"),
    ],
)
def test_interfaces_are_judged_by_what_they_show(
    practice: str, rows: list[Mapping[str, Any]], status: str
) -> None:
    [(system, found, _)] = checked(practice, links(*rows))
    assert (system, found) == ("SYSA", status)


@pytest.mark.parametrize("practice", ["inbperf-dynamic", "workloadq", "segmentationoffload"])
def test_interfaces_that_are_no_osa_do_not_count(practice: str) -> None:
    row = {**HIPERSOCKETS, "segmentation_offload": False}
    assert checked(practice, links(row)) == [(None, "unknown", "nothing seen")]


def test_newest_display_of_an_interface_counts() -> None:
    old = {**OSD, "inbound_performance": "Balanced", "taken_local": EARLIER}
    new = {**OSD, "inbound_performance": "Dynamic", "taken_local": LATER}
    assert checked("inbperf-dynamic", links(new, old)) == [("SYSA", "pass", "OSA1 InbPerf Dynamic")]


@pytest.mark.parametrize(
    ("practice", "setting"),
    [
        ("autodelayack", "auto_delay_acks"),
        ("qdioaccelerator", "qdio_accelerator"),
        ("segmentationoffload", "segmentation_offload"),
    ],
)
@pytest.mark.parametrize(
    ("values", "status"), [(["Yes"], "pass"), (["YES", "No"], "fail"), (["Yes", "?"], "unknown")]
)
def test_parameters_are_judged_over_all_stacks_of_a_system(
    practice: str, setting: str, values: list[str], status: str
) -> None:
    assert [row[1] for row in checked(practice, settings(setting, *values))] == [status]


def test_parameter_that_the_report_does_not_show_is_not_off() -> None:
    assert checked("autodelayack", settings("delay_acks", "Yes")) == [(None, "unknown", "nothing seen")]


def handshakes(full: int, resumed: int, role: int = 2) -> Given:
    row = {"system": "SYSA", "event_type": 4, "handshake_role": role}
    rows = [{**row, "handshake_type": 1}] * full + [{**row, "handshake_type": 2}] * resumed
    return {"smf119_zert_detail": rows}


def cache(stored: int, hits: int, name: str = "ticket", taken: datetime = LATER) -> dict[str, Any]:
    return {
        "system": "SYSA", "cache": name, "add_requested": stored, "retrieval_successful": hits,
        "taken_local": taken,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("given", "status"),
    [
        (handshakes(27, 3), "pass"),  # 3 of 30 are 10 %
        (handshakes(28, 2), "fail"),
        (handshakes(27, 2), "unknown"),  # too few to say no
        ({"gsk_cache_stats": [cache(9, 1, "session-id")]}, "pass"),
        ({"gsk_cache_stats": [cache(9, 0)]}, "unknown"),  # servers may resume without this cache
        ({"gsk_cache_stats": [cache(0, 0)]}, "unknown"),
        ({"gsk_cache_stats": [cache(9, 0), cache(9, 9, taken=EARLIER)]}, "unknown"),
    ],
)
def test_resumption_is_judged_by_share(given: Given, status: str) -> None:
    assert [row[:2] for row in checked("session-resumption", given)] == [("SYSA", status)]


def test_resumption_by_clients_is_no_evidence_for_servers() -> None:
    assert checked("session-resumption", handshakes(0, 50, role=1)) == [(None, "unknown", "nothing seen")]


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({"gsk_cache_stats": [cache(5, 2)]}, "pass"),
        ({"gsk_cache_stats": [cache(0, 0)]}, "unknown"),
        ({"netstat_ttls": [{"system": "SYSA", "sysplex_ticket_cache": True}]}, "pass"),
        ({"netstat_ttls": [{"system": "SYSA", "sysplex_ticket_cache": False}]}, "fail"),
    ],
)
def test_sysplex_tickets_are_judged_by_use_and_policy(given: Given, status: str) -> None:
    assert [row[:2] for row in checked("sysplex-tickets", given)] == [("SYSA", status)]


def test_cipher_suites_of_every_source_are_evidence_of_dhe() -> None:
    term = {
        "system": "SYSA",
        "ttls_status": 3,
        "tls_version": 770,
        "cipher_2": "33",
    }  # 0033 is DHE RSA AES-128
    assert checked("ecdhe", {"smf119_tcp_term": [term, {**term, "cipher_2": "4X"}]}) == [
        ("SYSA", "fail", "SMF 119-2: 1 DHE, 0 ECDHE, 0 TLSv1.3, 0 other")
    ]
    tls13 = {"system": "SYSA", "event_type": 4, "security_protocols_flags": 128, "cipher": "1301"}
    assert [row[1] for row in checked("ecdhe", {"smf119_zert_detail": [tls13]})] == ["unknown"]
    shown = {"system": "SYSB", "cipher": "C02F"}
    assert [row[:2] for row in checked("ecdhe", {"netstat_ttls": [shown]})] == [("SYSB", "pass")]


@pytest.mark.parametrize(("bits", "status"), [(1024, "fail"), (2048, "pass"), (4096, "pass")])
def test_rsa_keys_of_servers_need_2048_bits(bits: int, status: str) -> None:
    row = {"system": "SYSA", "event_type": 4, "handshake_role": 2, "server_cert_key_type": 2}
    given = {"smf119_zert_detail": [{**row, "server_cert_key_length_bits": bits}]}
    assert checked("rsa-keys", given) == [("SYSA", status, f"keys of servers: RSA {bits} (1 connections)")]


@pytest.mark.parametrize(
    ("tables", "status"),
    [
        (["smf70_crypto_cca", "smf70_crypto_accel"], "pass"),
        (["smf70_crypto_cca"], "fail"),
        (["smf70_crypto_accel"], "fail"),
    ],
)
def test_crypto_cards_have_to_be_of_both_kinds(tables: list[str], status: str) -> None:
    given = {table: [{"system": "SYSA", "card_index": n}] for n, table in enumerate(tables)}
    assert [row[:2] for row in checked("crypto-mix", given)] == [("SYSA", status)]


def test_records_without_any_card_are_not_the_same_as_no_records() -> None:
    loaded = {"load_kind": [{"system": "SYSA", "record_type": 70, "record_subtype": 2, "records": 4}]}
    assert checked("crypto-mix", loaded) == [("SYSA", "fail", "SMF 70-2: 0 CCA coprocessors, 0 accelerators")]


def test_the_number_of_records_is_reported_and_not_judged() -> None:
    row = {"system": "SYSA", "record_type": 115, "record_subtype": 231, "records": 7}
    [(system, status, evidence)] = checked("mq-tasks", {"load_kind": [row]})
    assert (system, status, evidence[:2]) == ("SYSA", "unknown", "7 ")


def audit(hour: int, handshakes: int | None, objects: int | None, *, compared: bool = True) -> dict[str, Any]:
    """Return an hour of `icsf_audit` in which all records of objects are compared, or none."""
    compared &= objects is not None
    return {
        "system": "SYSA", "hour_utc": datetime(2026, 3, 2, hour, tzinfo=UTC), "handshakes": handshakes,
        "icsf_records": None if objects is None else objects + 1, "object_records": objects, "use_records": 0,
        "compared_handshakes": (handshakes or 0) * compared, "compared_records": (objects or 0) * compared,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("hours", "status", "told"),
    [
        (
            [audit(1, 1000, 1020)],
            "fail",
            "1,020 SMF 82-42 records for 1,000 handshakes in 1 hour: 1.02 per handshake",
        ),
        (
            [audit(1, 500, 510), audit(2, 500, 510)],
            "fail",
            "in 2 hours: 1.02 per handshake; keys of sessions are audited",
        ),
        (
            [audit(1, 1000, 1020), audit(2, 9000, 0)],
            "fail",
            "0.102 per handshake; keys of sessions are audited in 1 of",
        ),
        ([audit(1, 1000, 1020)], "fail", "published: CPU per transaction of a server +1149 %"),
        (
            [audit(1, 1000, 0)],
            "pass",
            "0 SMF 82-42 records for 1,000 handshakes in 1 hour: 0.0 per handshake; below 0.01",
        ),
        (
            [audit(1, 1000, 499)],
            "unknown",
            "0.499 per handshake; between 0.01 and 0.5: token objects, or an audit for a",
        ),
        ([audit(1, 29, 29)], "unknown", "29 handshakes in 1 hour: 1.0 per handshake; 30 are needed"),
        (
            [audit(1, 15, 15), audit(2, 15, 15)],
            "fail",
            "30 handshakes in 2 hours: 1.0 per handshake; keys of sessions",
        ),
        ([audit(1, 1000, None)], "unknown", "1,000 handshakes, but no SMF 82 record is loaded"),
        ([audit(1, None, 3)], "unknown", "4 SMF 82 records, 3 of subtype 42, but zERT recorded no handshake"),
        (
            [audit(1, 1000, 3, compared=False)],
            "unknown",
            "4 SMF 82 records and 1,000 handshakes, but not in the same",
        ),
    ],
)
def test_records_of_icsf_for_each_handshake_show_whether_it_audits_sessions(
    hours: list[dict[str, Any]], status: str, told: str
) -> None:
    [(system, found, evidence)] = checked("icsf-audit", {"icsf_audit": hours})
    assert (system, found) == ("SYSA", status)
    assert told in evidence
    assert ("+1149 %" in evidence) == (status == "fail")


@pytest.mark.parametrize(
    ("release", "told"), [("3.2", "on unless switched off"), ("V2R5", "has to switch it on")]
)
def test_the_release_determines_the_default_of_heappools64_but_not_its_state(release: str, told: str) -> None:
    [(_, status, evidence)] = checked("heappools64", links({**OSD, "release": release}))
    assert status == "unknown"
    assert told in evidence


def run_row(*tags: str, hour: int = 1, name: str = "r1", synthetic: bool = False) -> dict[str, Any]:
    return {
        "name": name, "system": "SYSA", "role": "server", "from_utc": datetime(2026, 3, 9, hour, tzinfo=UTC),
        "to_utc": datetime(2026, 3, 9, hour, 30, tzinfo=UTC), "tags": list(tags), "synthetic": synthetic,
    }  # fmt: skip


def test_tag_of_the_last_run_is_shown_and_not_judged() -> None:
    runs = [run_row("heappools64=on"), run_row("heappools64=off", hour=2, name="r2", synthetic=True)]
    [(system, status, evidence)] = checked("heappools64", {"run": runs})
    assert (system, status) == ("SYSA", "unknown")
    assert evidence == "run r2 (synthetic) has tag heappools64=off"


def test_what_is_observed_is_judged_beside_what_a_run_states() -> None:
    given = {**settings("auto_delay_acks", "No"), "run": [run_row("autodelayack=on")]}
    [(_, status, evidence)] = checked("autodelayack", given)
    assert status == "fail"
    assert "run r1 has tag autodelayack=on" in evidence
