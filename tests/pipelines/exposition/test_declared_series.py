"""The table `[series]` of a declaration: rows, status, and the last day."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.pipelines.exposition import otlp_reader
from tests.pipelines.exposition.openmetrics_reader import read
from tests.pipelines.exposition.small_metrics import lines, metric, nothing, text

from zscope.pipelines.exposition import exported_metrics, series_query
from zscope.pipelines.metrics import MetricSelection, declared
from zscope.schemas.errors import DeclarationError

if TYPE_CHECKING:
    from pathlib import Path

    from zscope.pipelines.metrics import Metric

PRICE = ["system | VARCHAR", "shared_by | VARCHAR", "status | VARCHAR", 'cpu_s | DOUBLE | unit = "s"']
HOURS = [
    "hour_utc | TIMESTAMP WITH TIME ZONE | dimension = true",
    "system | VARCHAR | dimension = true",
    "port | BIGINT | dimension = true",
    'calls | BIGINT | combine = "sum"',
    'share_pct | DOUBLE | unit = "%" | from = "100.0 * calls / 10"',
]


def price(folder: Path) -> Metric:
    head = 'grain = ["system", "shared_by"]\n[series]\nrows = "shared_by = \'system\'"\nstatus = "status"'
    rows = [
        "('SYSA', 'system', 'estimate', 5.5)",
        "('SYSA', 'network', 'ok', 1)",
        "('SYSB', 'system', 'not enough data', NULL)",
        "('SYSC', 'system', NULL, 2)",
    ]
    return metric(folder, head, PRICE, rows)


def hours(folder: Path, *rows: str) -> Metric:
    head = 'grain = ["system", "port"]\nclock = "hour_utc"\n[series]\nnewest = "day"'
    return metric(folder, head, HOURS, rows)


def labelled(**labels: str) -> frozenset[tuple[str, str]]:
    return frozenset(labels.items())


def test_a_refused_value_has_no_sample_but_a_status(tmp_path: Path) -> None:
    families = read(text(price(tmp_path), nothing(tmp_path), newest=True)[0])
    values = {
        dict(labels)["system"]: value
        for labels, [(_, value)] in families["zscope_small_cpu_seconds"].samples.items()
    }
    assert values == {"SYSA": "5.5", "SYSC": "2.0"}
    states = {
        tuple(sorted(dict(labels).items())): value
        for labels, [(_, value)] in families["zscope_small_status"].samples.items()
    }
    assert states == {
        (("shared_by", "system"), ("status", "estimate"), ("system", "SYSA")): "1",
        (("shared_by", "system"), ("status", "not enough data"), ("system", "SYSB")): "1",
    }


def test_the_status_is_an_attribute_in_otlp(tmp_path: Path) -> None:
    points = otlp_reader.read(lines(price(tmp_path), nothing(tmp_path)))
    states = {
        p.attributes["zscope.system"]: p.attributes["zscope.status"]
        for p in points
        if p.metric["name"].endswith(".status")
    }
    assert states == {"SYSA": "estimate", "SYSB": "not enough data"}


def test_a_condition_of_the_user_replaces_that_of_the_declaration(tmp_path: Path) -> None:
    query = series_query(price(tmp_path), selection=MetricSelection(where="shared_by = 'network'"))
    assert "shared_by = 'network'" in query.statement
    assert "shared_by = 'system'" not in query.statement


def test_samples_without_time_combine_the_last_24_hours(tmp_path: Path) -> None:
    """The hour that began 24 hours before the newest one is not among them."""
    small = hours(
        tmp_path,
        "('2026-03-08T09:00:00Z', 'SYSA', 443, 1)",
        "('2026-03-08T10:00:00Z', 'SYSA', 443, 2)",
        "('2026-03-09T09:00:00Z', 'SYSA', 443, 4)",
        "('2026-03-08T20:00:00Z', 'SYSA', 23, 8)",
        "('2026-03-01T20:00:00Z', 'SYSB', 23, 16)",
        "(NULL, 'SYSB', 23, 32)",
    )
    data, [summary] = text(small, nothing(tmp_path), newest=True)
    families = read(data)
    calls = {labels: value for labels, [(_, value)] in families["zscope_small_calls"].samples.items()}
    assert calls == {
        labelled(system="SYSA", port="443"): "6",
        labelled(system="SYSA", port="23"): "8",
        labelled(system="SYSB", port="23"): "16",
    }
    shares = families["zscope_small_share_ratio"].samples
    assert shares[labelled(system="SYSA", port="443")] == [(None, "0.6")]
    ends = families["zscope_small_newest_timestamp_seconds"].samples
    assert {dict(labels)["system"]: float(value) for labels, [(_, value)] in ends.items()} == {
        "SYSA": 1773050400.0,
        "SYSB": 1772398800.0,
    }
    assert "In the 24 hours to the newest interval." in families["zscope_small_calls"].metadata["HELP"]
    assert summary.without_time == 1


def test_formats_with_times_have_every_hour(tmp_path: Path) -> None:
    small = hours(
        tmp_path, "('2026-03-08T10:00:00Z', 'SYSA', 443, 2)", "('2026-03-08T11:00:00Z', 'SYSA', 443, 4)"
    )
    samples = read(text(small, nothing(tmp_path))[0])["zscope_small_calls"].samples
    assert [value for _, value in samples[labelled(system="SYSA", port="443")]] == ["2", "4"]


def test_the_last_day_ends_in_the_selected_period(tmp_path: Path) -> None:
    small = hours(
        tmp_path, "('2026-03-08T10:00:00Z', 'SYSA', 443, 2)", "('2026-03-10T11:00:00Z', 'SYSA', 443, 4)"
    )
    from datetime import UTC, datetime

    query = series_query(small, selection=MetricSelection(end=datetime(2026, 3, 9, tzinfo=UTC)), newest=True)
    with nothing(tmp_path)() as session:
        result = session.run(query.statement)
        assert result is not None
        [row] = [row for batch in result.batches for row in batch.to_pylist()]
    assert row["calls"] == 2


@pytest.mark.parametrize(
    ("series", "problem"),
    [
        ('status = "why"', "series: no column why"),
        ('labels = ["a"]', r"series.labels: is not a valid key; valid: rows, status, newest"),
        ('newest = "hour"', "series.newest: expected \"day\", got 'hour'"),
        ('newest = "day"', "series: newest needs a clock"),
    ],
)
def test_an_invalid_declaration_is_refused(series: str, problem: str, tmp_path: Path) -> None:
    with pytest.raises(DeclarationError, match=problem):
        metric(tmp_path, f'grain = ["system"]\n[series]\n{series}', PRICE, ["('SYSA', 'x', 'ok', 1)"])


def test_no_default_export_has_labels_without_bounds() -> None:
    unbounded = {
        "client_network",
        "serial",
        "issuer_dn",
        "subject_dn",
        "remote_ip",
        "connection_id",
        "certificate",
    }
    for name in exported_metrics():
        query = series_query(declared()[name], newest=True)
        used = {label.name for label in query.labels}
        if name == "tls_price":
            assert "shared_by IN ('system', 'job', 'port', 'rule')" in query.statement
            used.discard("client_network")
        assert not used & unbounded, name


UNBOUNDED = frozenset(
    {
        "job_id", "asid", "client_ip", "client_port", "local_ip", "remote_ip", "remote_port", "connection_id",
        "connection_name", "task_number", "session_id", "serial", "record_no", "load_id",
    }
)  # fmt: skip
"""Columns with a new value for each restart, client or connection."""


def test_no_metric_that_is_exported_by_default_begins_a_series_with_each_restart_or_client() -> None:
    columns = {name for exported in exported_metrics() for name in declared()[exported].grain}
    assert columns >= {"job_id", "asid", "client_ip", "connection_name"}, "the metrics have them"
    for name in exported_metrics():
        for newest in (False, True):
            labels = {label.name for label in series_query(declared()[name], newest=newest).labels}
            assert labels.isdisjoint(UNBOUNDED), name


def test_a_label_with_many_values_is_there_if_it_is_asked_for_by_name() -> None:
    query = series_query(declared()["address_space_cpu"], ["system", "job_name", "asid"])
    assert {"system", "job_name", "asid"} <= {label.name for label in query.labels}


def test_rows_without_such_a_label_are_combined(tmp_path: Path) -> None:
    head = 'grain = ["system", "port"]\nclock = "hour_utc"\n[series]\nwithout = ["port"]'
    rows = [
        "(TIMESTAMPTZ '2026-03-02 10:00:00+00', 'SYSA', 1, 2, NULL)",
        "(TIMESTAMPTZ '2026-03-02 10:00:00+00', 'SYSA', 2, 3, NULL)",
    ]
    columns = [column for column in HOURS if "share_pct" not in column]
    small = metric(tmp_path, head, columns, [row.replace(", NULL)", ")") for row in rows])
    families = read(text(small, nothing(tmp_path), newest=True)[0])
    values = {labels: value for labels, [(_, value)] in families["zscope_small_calls"].samples.items()}
    assert values == {labelled(system="SYSA"): "5"}
