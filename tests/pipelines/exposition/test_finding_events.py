"""The rows of `zscope check` as events: nothing is lost, and each format has the form of its reader."""

from __future__ import annotations

import io
import json
from dataclasses import asdict, replace
from datetime import UTC, datetime

from google.protobuf.json_format import Parse
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from tests.pipelines.exposition.collector_end_point import attributes

from zscope.pipelines.exposition import Resources
from zscope.pipelines.exposition.finding_events import CheckRow, write_ecs, write_otlp_logs, write_splunk
from zscope.pipelines.exposition.otlp_lines import LINE_BYTES

NOW = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)
FINDING = CheckRow(
    "unprotected", "finding", "high", "found", "Traffic without protection", "SYSA", 23, "TN3270",
    "CN=a,O=\"b\"", 3, 33.5, "zERT summary", 97.5, "3 connections, 33.5 %", "Protect it.", "SELECT 1",
)  # fmt: skip
SETTING = CheckRow(
    "ack", "practice", "info", "unknown", "Delayed acknowledgement", None, None, None, None, None, None, None,
    None, None, "NETSTAT CONFIG", None,
)  # fmt: skip
RESOURCES = Resources("9.9", {"SYSA": {"zos.smf.id": "SYSA", "zos.sysplex.name": "PLEX1"}})


def test_findings_are_log_records_with_all_columns() -> None:
    out = io.BytesIO()
    assert write_otlp_logs(out, [FINDING, SETTING], RESOURCES, NOW) == 2
    request = Parse(out.getvalue(), ExportLogsServiceRequest())
    first, second = request.resource_logs
    assert attributes(list(first.resource.attributes)) == {
        "service.name": "zscope", "service.version": "9.9", "host.name": "SYSA", "zos.smf.id": "SYSA",
        "zos.sysplex.name": "PLEX1",
    }  # fmt: skip
    assert set(attributes(list(second.resource.attributes))) == {"service.name", "service.version"}
    [record] = first.scope_logs[0].log_records
    assert (record.time_unix_nano, record.severity_number, record.severity_text) == (
        int(NOW.timestamp()) * 10**9, 17, "ERROR",
    )  # fmt: skip
    assert record.event_name == "zscope.check.finding"
    assert record.body.string_value == (
        "SYSA, port 23, job TN3270: Traffic without protection: found (3 connections, 33.5 %)"
    )
    values = attributes(list(record.attributes))
    expected = {f"zscope.check.{name}": value for name, value in asdict(FINDING).items()}
    port = expected.pop("zscope.check.server_port")
    del expected["zscope.check.system"]
    assert values == {**expected, "server.port": port, "zscope.check.key": FINDING.key}
    [other] = second.scope_logs[0].log_records
    assert (other.severity_number, other.body.string_value) == (
        9, "all systems: Delayed acknowledgement: unknown (no evidence)",
    )  # fmt: skip
    assert "zscope.check.connections" not in attributes(list(other.attributes))


def test_lines_of_logs_are_shorter_than_the_limit_of_the_collector() -> None:
    out = io.BytesIO()
    results = [replace(FINDING, what="x" * 2000, server_port=port) for port in range(500)]
    write_otlp_logs(out, results, RESOURCES, NOW)
    lines = out.getvalue().splitlines()
    assert len(lines) > 2
    assert max(map(len, lines)) < LINE_BYTES + 10_000
    requests = [Parse(line, ExportLogsServiceRequest()) for line in lines]
    assert sum(len(request.resource_logs) for request in requests) == 500


def test_events_for_splunk_have_the_form_of_its_collector() -> None:
    out = io.BytesIO()
    assert write_splunk(out, [FINDING, SETTING], NOW) == 2
    first, second = (json.loads(line) for line in out.getvalue().splitlines())
    assert set(first) == {"time", "host", "source", "sourcetype", "event"}
    assert (first["time"], first["host"], first["sourcetype"]) == (1773144000, "SYSA", "zscope:check")
    assert first["event"] == {**asdict(FINDING), "message": FINDING.message, "key": FINDING.key}
    assert "host" not in second
    assert set(second["event"]) == {"message", "key", "id", "kind", "severity", "result", "what", "remedy"}


def test_documents_for_elastic_have_the_names_of_its_schema() -> None:
    out = io.BytesIO()
    assert write_ecs(out, [FINDING, SETTING], "9.9", NOW) == 2
    first, second = (json.loads(line) for line in out.getvalue().splitlines())
    assert first["@timestamp"] == "2026-03-10T12:00:00Z"
    assert {first[name] for name in ("event.code", "rule.id")} == {"unprotected"}
    assert (first["host.name"], first["server.port"], first["process.name"]) == ("SYSA", 23, "TN3270")
    assert (first["event.kind"], first["event.category"], first["event.outcome"]) == (
        "state",
        ["network"],
        "failure",
    )
    assert (second["event.category"], second["event.outcome"]) == (["configuration"], "unknown")
    for name in (
        "kind",
        "severity",
        "result",
        "certificate",
        "connections",
        "share_pct",
        "evidence",
        "remedy",
    ):
        assert first[f"zscope.check.{name}"] == asdict(FINDING)[name]
    assert "host.name" not in second


def test_the_key_is_that_of_the_check_and_its_place() -> None:
    assert FINDING.key == replace(FINDING, connections=9, evidence="more", severity="low").key
    others = [
        replace(FINDING, id="other"), replace(FINDING, system="SYSB"), replace(FINDING, server_port=24),
        replace(FINDING, job_name=None), replace(FINDING, certificate=None), SETTING,
    ]  # fmt: skip
    assert len({FINDING.key, *(other.key for other in others)}) == 7
