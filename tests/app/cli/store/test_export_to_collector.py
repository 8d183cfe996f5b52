"""OTLP over HTTP: what a collector decodes is what `zscope metrics` and `zscope check` print."""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest
from tests.app.conftest import deep
from tests.pipelines.exposition.collector_end_point import Received, attributes, collector

from zscope.pipelines.exposition.series import name_in, unit_of, without_unit
from zscope.pipelines.metrics import MetricColumn, metric

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from click.testing import Result
    from tests.app.conftest import Run

ROWS = {
    "cpu_interval": (),
    "certificate_expiry": (),
    "check_overview": (),
    "tls_price": ("--where", "shared_by IN ('system', 'job', 'port', 'rule')"),
    "tls_posture": ("--by", "hour_utc,system,server_port,job_name"),
}
"""The options with which `zscope metrics` prints the rows that are exported."""
FACTORS = {"%": 0.01, "us": 1e-6, "ms": 1e-3, "days": 86400.0, "MB": 1e6}
ATTRIBUTES = {"server_port": "server.port"}
"""Columns that the semantic conventions of OpenTelemetry name."""
Samples = dict[tuple[str, frozenset[tuple[str, object]]], list[float]]


@pytest.fixture(scope="module")
def store(demo: tuple[Path, Result]) -> Path:
    return demo[0]


def received_samples(received: Received) -> Samples:
    samples: Samples = {}
    for request in received.metrics:
        for resource in request.resource_metrics:
            for one in resource.scope_metrics[0].metrics:
                data = one.sum if one.WhichOneof("data") == "sum" else one.gauge
                for point in data.data_points:
                    value = point.as_int if point.WhichOneof("value") == "as_int" else point.as_double
                    key = (one.name, frozenset(attributes(list(point.attributes)).items()))
                    samples.setdefault(key, []).append(value)
    return samples


def printed_samples(run: Run, name: str, store: Path) -> Samples:
    """Return the rows of `zscope metrics` as samples."""
    result = run("metrics", name, *ROWS[name], "--store", store, "--format", "jsonl")
    columns = {column.name: column for column in metric(name).columns}
    labels = [
        c for c in columns.values() if c.name in metric(name).grain and not c.type.startswith("TIMESTAMP")
    ]
    samples: Samples = {}
    for line in result.stdout.splitlines():
        row = json.loads(line)
        own = frozenset(
            (ATTRIBUTES.get(c.name, f"zscope.{c.name}"), row[c.name])
            for c in labels
            if row[c.name] is not None
        )
        for column, value in numbers(row, columns):
            family = f"zscope.{name}.{plain_name(column)}"
            samples.setdefault((family, own), []).append(value)
        series = metric(name).series
        if series and series.status:
            state = own | {("zscope.status", row[series.status])}
            samples.setdefault((f"zscope.{name}.status", state), []).append(1)
    return samples


def plain_name(column: MetricColumn) -> str:
    """Return the name in OTLP: MSU per day would be left without a name."""
    unit = unit_of(column)
    return without_unit(name_in(unit, column.name), unit) or name_in(unit, column.name)


def numbers(row: dict[str, Any], columns: dict[str, MetricColumn]) -> Iterator[tuple[MetricColumn, float]]:
    """Yield the numbers of a row that are no labels and no times of it, in base units."""
    times = {"interval_start_utc", "interval_end_utc", "hour_utc"}
    for name, value in row.items():
        column = columns[name]
        is_label = (name in row and column.dimension) or (name == "server_port")
        if value is None or is_label or name in times or column.type in {"VARCHAR", "TIMESTAMP", "DATE"}:
            continue
        if column.type == "TIMESTAMP WITH TIME ZONE":
            yield column, datetime.fromisoformat(value).timestamp()
        else:
            yield column, value * FACTORS.get(column.unit, 1)


@pytest.mark.parametrize(
    "name", ["certificate_expiry", *deep("cpu_interval", "check_overview", "tls_price", "tls_posture")]
)
def test_a_collector_receives_the_values_of_zscope_metrics(name: str, run: Run, store: Path) -> None:
    with collector() as received:
        result = run("export", name, "-o", received.address, "--store", store)
    assert result.exit_code == 0, result.stderr
    found, printed = received_samples(received), printed_samples(run, name, store)
    assert found.keys() == printed.keys()
    for key, values in printed.items():
        assert sorted(found[key]) == pytest.approx(sorted(values)), key
    if name == "tls_price":
        refused = [
            dict(labels)
            for (family, labels) in found
            if family.endswith(".status") and ("zscope.status", "not enough data") in labels
        ]
        assert refused
        for labels in refused:
            del labels["zscope.status"]
            assert ("zscope.tls_price.cpu_per_day", frozenset(labels.items())) not in found


def test_resources_are_the_systems_as_the_records_name_them(run: Run, store: Path) -> None:
    with collector() as received:
        run("export", "certificate_expiry", "--system", "SRV1", "-o", received.address, "--store", store)
    resources = {
        tuple(sorted(attributes(list(resource.resource.attributes)).items()))
        for request in received.metrics
        for resource in request.resource_metrics
    }
    [names] = map(dict, resources)
    assert (names["zos.smf.id"], names["zos.sysplex.name"], names["mainframe.lpar.name"]) == (
        "SRV1", "SYNTHPLX", "SRV1",
    )  # fmt: skip


def test_a_collector_receives_the_rows_of_zscope_check_and_the_statements(run: Run, store: Path) -> None:
    with collector() as received:
        result = run("export", "--format", "otlp-logs", "-o", received.address, "--store", store)
    assert result.exit_code == 0, result.stderr
    records = [
        attributes(list(record.attributes)) | attributes(list(resource.resource.attributes))
        for request in received.logs
        for resource in request.resource_logs
        for record in resource.scope_logs[0].log_records
    ]
    printed = [
        json.loads(line) for line in run("check", "--store", store, "--format", "jsonl").stdout.splitlines()
    ]
    said = [
        json.loads(line)
        for line in run("metrics", "statement", "--store", store, "--format", "jsonl").stdout.splitlines()
    ]
    events = [
        record
        for request in received.logs
        for resource in request.resource_logs
        for record in resource.scope_logs[0].log_records
    ][len(printed) :]
    assert [event.body.string_value for event in events] == [row["sentence"] for row in said] != []
    assert {event.event_name for event in events} == {"zscope.statement"}
    for event, row in zip(records[len(printed) :], said, strict=True):
        assert event.get("host.name") == row["system"]
        for column in (
            "subject",
            "rank",
            "value",
            "low",
            "high",
            "first_day",
            "status",
            "evidence_condition",
        ):
            assert event.get(f"zscope.statement.{column}") == row[column]
    del records[len(printed) :]
    assert len(records) > 10
    for record, row in zip(records, printed, strict=True):
        assert record.get("host.name") == row["system"]
        assert record.get("server.port") == row["server_port"]
        for column in set(row) - {"system", "server_port"}:
            assert record.get(f"zscope.check.{column}") == row[column]
    assert max(Counter(record["zscope.check.key"] for record in records).values()) == 1


@pytest.mark.deep
@pytest.mark.parametrize("form", ["splunk", "ecs"])
def test_lines_of_json_have_all_rows_of_zscope_check(
    form: str, run: Run, store: Path, tmp_path: Path
) -> None:
    target = tmp_path / f"findings.{form}.json"
    result = run("export", "-o", target, "--system", "SRV1", "--store", store)
    assert result.exit_code == 0, result.stderr
    lines = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
    printed = run("check", "--system", "SRV1", "--store", store, "--format", "jsonl").stdout.splitlines()
    ids = [line["event"]["id"] if form == "splunk" else line["event.code"] for line in lines]
    assert ids == [json.loads(line)["id"] for line in printed]
    assert run("export", "-o", target, "--force", "--store", store).exit_code == 0


def test_values_that_are_not_accepted_are_a_warning(run: Run, store: Path) -> None:
    answer = '{"partialSuccess":{"rejectedDataPoints":"2","errorMessage":"too old"}}'
    with collector() as received:
        received.answers = [(200, answer, {})]
        result = run("export", "cpu_interval", "-q", "-o", received.address, "--store", store)
    assert result.exit_code == 4
    assert result.stderr == f"{received.address}: 2 values not accepted: too old\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["cpu_interval", "--format", "prometheus"], "choose one of otlp, otlp-logs with --format"),
        (["cpu_interval", "--format", "otlp-logs"], "TABLE cannot be used with otlp-logs, splunk, ecs"),
        (["--format", "otlp-logs", "--by", "system"], "--by cannot be used with otlp-logs"),
        (["--where", "true"], "--where needs the names of metrics"),
        (["--format", "otlp-logs", "--system", "NONE"], "NONE"),
    ],
)
def test_invalid_exports_to_a_collector_are_refused(
    arguments: list[str], message: str, run: Run, store: Path
) -> None:
    with collector() as received:
        result = run("export", *arguments, "-o", received.address, "--store", store)
    assert result.exit_code == 12
    assert message in result.stderr
    assert not received.headers


def test_the_condition_of_the_user_chooses_the_rows(run: Run, store: Path) -> None:
    where = "shared_by = 'client network' AND part = 'TLS'"
    result = run(
        "export", "tls_price", "--where", where, "--format", "prometheus", "-o", "-", "--store", store
    )
    assert result.exit_code == 0, result.stderr
    assert 'client_network="' in result.stdout
    assert 'shared_by="job"' not in result.stdout


@pytest.mark.parametrize("form", ["grafana", "alert-rules"])
def test_the_dashboard_and_the_rules_need_no_store(form: str, run: Run, tmp_path: Path) -> None:
    printed = run("export", "--format", form, "-o", "-", "--store", tmp_path / "none")
    assert printed.exit_code == 0
    target = tmp_path / "file"
    for force, code in (((), 0), ((), 12), (("--force",), 0)):
        assert (
            run("export", "--format", form, "-o", target, *force, "--store", tmp_path / "none").exit_code
            == code
        )
    assert target.read_text(encoding="utf-8") == printed.stdout
    target.write_text("a letter to someone")
    assert run("export", "--format", form, "-o", target, "--force", "--store", tmp_path).exit_code == 12
