"""The rows of the steps cost_estimate and cost_change."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from zscope.pipelines.estimate.costs import ITEMS
from zscope.pipelines.estimate.estimate_rows import change_rows, estimate_rows
from zscope.pipelines.estimate.intervals import JOB_COLUMNS
from zscope.pipelines.metrics import DIGEST_COLUMN, declared
from zscope.samples.cost_truth import FULL_US, WORLDS, cost_intervals
from zscope.samples.simulated_series import MONDAY

HALF = 672
"""Half of 14 days."""


def table(tls_share: float | None = None, *, cheaper_us: float = 0) -> pa.Table:
    """The intervals of 14 days; in the second week a full handshake is cheaper."""
    columns = cost_intervals(WORLDS["AR 0.8"], 1, seed=1).measured(0, tls_share)
    saved = np.where(np.arange(2 * HALF) < HALF, 0, cheaper_us * columns["full_handshakes"] / 1e6)
    columns["start_local"] = columns["start_local"].astype("datetime64[us]")
    columns["cpu_s"] = columns["cpu_s"] - saved
    if tls_share is None:
        columns |= dict.fromkeys(("tls_spaces_cpu_s", "stack_cpu_s"), pa.nulls(2 * HALF, pa.float64()))
    else:
        columns |= {name: columns[name] - saved for name in ("tls_spaces_cpu_s", "stack_cpu_s")}
    # The first week has SMF 72, and a second on zIIPs in each interval.
    first = np.arange(2 * HALF) < HALF
    columns["handshakes"] = columns["full_handshakes"] + columns["resumed_handshakes"]
    columns["handshake_source"] = ["zERT detail"] * (2 * HALF)
    columns["tls_spaces_ziip_s"] = pa.array(np.ones(2 * HALF))
    columns["tls_classes_cpu_s"] = pa.array(np.full(2 * HALF, 300.0), mask=~first)
    columns["jobs"] = pa.array(jobs_of(columns), JOBS)
    return pa.table({**columns, "is_after": np.arange(2 * HALF) >= HALF})


JOBS = pa.list_(pa.struct({"job_name": pa.string(), **dict.fromkeys(JOB_COLUMNS, pa.float64())}))


def jobs_of(columns: dict[str, Any]) -> list[list[dict[str, Any]] | None]:
    """WEB1 has all connections, but not in each interval; MQ1 has one handshake in all."""
    jobs: list[list[dict[str, Any]] | None] = []
    for number in range(2 * HALF):
        web = {name: columns[name][number] for name in ("full_handshakes", "resumed_handshakes", "tls_mb")}
        web |= {"job_name": "WEB1", "plain_connections": 0.0, "plain_mb": 0.0, "cpu_s": 1.0 + number % 7}
        jobs.append([web] if number % 50 else None)
    mq = dict.fromkeys(JOB_COLUMNS, 0.0) | {"job_name": "MQ1", "full_handshakes": 1.0, "cpu_s": None}
    jobs[100] = [mq]
    return jobs


def by_item(rows: list[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    return {(row["item"], row["unit"]): row for row in rows if not row.get("job_name")}


@pytest.mark.parametrize(("tls_share", "source"), [(None, "LPAR"), (0.1, "address spaces with TLS")])
def test_a_row_for_each_cost_with_its_data(tls_share: float | None, source: str) -> None:
    rows = list(estimate_rows(table(tls_share)))
    assert [(row["item"], row["unit"]) for row in rows if row["job_name"] is None] == list(ITEMS)
    full = by_item(rows)["full handshake", "us"]
    assert full["low"] < FULL_US < full["high"]
    assert (full["cpu_source"], full["interval_s"], full["intervals"], full["days"]) == (
        source,
        900,
        1344,
        14,
    )
    start: datetime = MONDAY.astype(datetime)
    assert full["first_local"] == start
    assert full["last_local"] == start + timedelta(days=14) - timedelta(minutes=15)
    assert full["tls_spaces_ziip_s_per_day"] == 96
    assert full["tls_classes_cpu_s_per_day"] == 300 * 96
    assert (full["tls_spaces_cpu_s_per_day"] is None) == (tls_share is None)
    assert 0 < full["full_handshakes_per_day"] < full["resumed_handshakes_per_day"]
    assert abs(full["residual_autocorrelation"]) < 0.1
    assert full["charged_to"] == (None if tls_share is None else "stack")
    assert full["other_work_most_pct"] == pytest.approx(100 * (1 - full["low"] / full["high"]))
    assert 0 < full["time_effects_pct"] + full["tls_pct"] < 100


def test_jobs_have_rows_of_their_own() -> None:
    """Each has its connections in 24 hours; what is known of the system alone is not repeated."""
    rows = [row for row in estimate_rows(table(0.1)) if row["job_name"]]
    web = [row for row in rows if row["job_name"] == "WEB1"]
    [mq] = [row for row in rows if row["job_name"] == "MQ1"]
    assert [(row["item"], row["unit"]) for row in web] == [item for item in ITEMS if item[1] != "us"]
    system = by_item(list(estimate_rows(table(0.1))))["TLS", "s/day"]
    assert 0.95 * system["handshakes_per_day"] < web[0]["handshakes_per_day"] < system["handshakes_per_day"]
    assert mq["handshakes_per_day"] == pytest.approx(1 / 14, rel=0.5)
    assert "the job has 0.0 % of the handshakes" in mq["why"]
    assert (mq["status"], mq["low"], mq["days"], mq["cpu_source"]) == (
        *("not enough data", None, 14),
        "address spaces with TLS",
    )
    assert not {"cpu_s_per_day", "tls_pct"} & {*mq}
    assert {row["job_name"] for row in estimate_rows(table())} == {None}


def test_intervals_of_summaries_have_handshakes_of_both_kinds() -> None:
    detail = table()
    missing = pa.nulls(2 * HALF, pa.float64())
    columns = dict(zip(detail.column_names, detail.columns, strict=True))
    columns |= {"full_handshakes": missing, "resumed_handshakes": missing}
    rows = by_item(list(estimate_rows(pa.table(columns))))
    known = by_item(list(estimate_rows(detail)))
    assert rows["full handshake", "us"]["status"] == "not enough data"
    assert "zERT summaries" in rows["full handshake", "us"]["why"]
    for row, expected in ((rows[item], known[item]) for item in (("mean handshake", "us"), ("TLS", "s/day"))):
        assert row["high"] == pytest.approx(expected["high"], rel=0.15)
        assert row["full_handshakes_per_day"] is None
        assert row["handshakes_per_day"] == pytest.approx(expected["handshakes_per_day"])


def test_rows_have_the_declared_columns() -> None:
    for step, rows in (
        ("cost_estimate", estimate_rows(table(0.1))),
        ("cost_change", change_rows(table(0.1))),
    ):
        metric = declared()[step]
        added = {*metric.computed_for, DIGEST_COLUMN}
        assert {name for row in rows for name in row} == {column.name for column in metric.columns} - added


def test_the_inputs_have_the_columns_of_the_intervals() -> None:
    declared_columns = {column.name for column in declared()["cost_interval"].columns}
    assert {*table().column_names} - {"is_after", "jobs"} <= declared_columns


def test_a_refused_estimate_has_the_reason_in_each_row() -> None:
    rows = list(estimate_rows(table().slice(0, 20)))
    assert {row["status"] for row in rows} == {"not enough data"}
    assert {row["why"] for row in rows} == {
        "20 intervals of 15 minutes can be used, 88 are needed; load more days"
    }
    assert "cpu_source" not in rows[0]


def test_a_change_is_found_and_split() -> None:
    rows = by_item(list(change_rows(table(0.1, cheaper_us=300))))
    assert {unit for _, unit in rows} == {"s/day"}
    parts = [rows[item, "s/day"]["value"] for item in ("costs", "resumption")]
    assert sum(parts) == pytest.approx(rows["per connection", "s/day"]["value"])
    costs = rows["costs", "s/day"]
    assert costs["high"] < 0
    assert rows["TLS", "s/day"]["smallest_visible"] == rows["per connection", "s/day"]["smallest_visible"]


def test_no_change_is_found_where_there_is_none() -> None:
    costs = by_item(list(change_rows(table(0.1))))["costs", "s/day"]
    assert costs["low"] < 0 < costs["high"]


def test_a_refused_change_has_the_reason() -> None:
    [row] = change_rows(table().slice(0, HALF + 20))
    assert row["status"] == "not enough data"
    assert "20 intervals of 15 minutes can be used" in row["why"]


def test_periods_with_different_sources_are_compared_by_the_lpar() -> None:
    both = pa.concat_tables([table().slice(0, HALF), table(0.1).slice(HALF)])
    assert {row["cpu_source"] for row in change_rows(both)} == {"LPAR"}
