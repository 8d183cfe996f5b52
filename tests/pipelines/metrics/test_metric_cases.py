"""Every metric against rows computed by hand: the cases in `tests/pipelines/cases`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.pipelines.metrics.metric_cases import MetricCase, case_files, difference
from tests.pipelines.metrics.metric_steps import step_tables

from zscope.pipelines.metrics import declared, metric, view_sql

if TYPE_CHECKING:
    import duckdb

SUBJECTS = {
    "empty", "one-source-missing", "zero-transactions", "counter-wrap", "reset", "midnight",
    "daylight-saving", "same-job-name", "unknown-code", "gap", "duplicate",
}  # fmt: skip


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=f"{name}: {case.name}") for name, cases in case_files().items() for case in cases],
)
def test_metric_returns_the_rows_computed_by_hand(case: MetricCase) -> None:
    rows = step_tables().rows(case.metric, case.given, case.parameters, case.by)
    assert not difference(case, rows)


@pytest.mark.parametrize("name", list(declared()))
def test_metric_has_a_case_for_no_rows_at_all(name: str) -> None:
    assert name in case_files(), f"tests/pipelines/cases/{name}.toml is missing"
    assert any("empty" in case.covers for case in case_files()[name])


def test_cases_cover_every_subject() -> None:
    covered = {subject for cases in case_files().values() for case in cases for subject in case.covers}
    assert covered == SUBJECTS


@pytest.mark.parametrize("name", list(declared()))
def test_view_has_the_columns_and_types_that_are_declared(name: str) -> None:
    found = step_tables().connection.execute(f"DESCRIBE {view_sql(metric(name))}").fetchall()
    assert [row[:2] for row in found] == [(c.name, c.type) for c in metric(name).view_columns]


@pytest.mark.parametrize("name", list(declared()))
def test_inputs_are_the_tables_that_the_statement_reads(name: str) -> None:
    inputs = metric(name).inputs
    assert len(set(inputs)) == len(inputs)
    assert tables_read(metric(name).sql) == set(inputs)


def tables_read(sql: str) -> set[str]:
    """The tables that a statement names, without its own WITH clauses."""
    row = step_tables().connection.execute("SELECT json_serialize_sql(?)", [sql]).fetchone()
    assert row is not None
    tables: set[str] = set()
    clauses: set[str] = set()
    nodes = [json.loads(row[0])]
    while nodes:
        node = nodes.pop()
        if isinstance(node, dict):
            if node.get("type") == "BASE_TABLE":
                tables.add(node["table_name"])
            clauses.update(clause["key"] for clause in node.get("cte_map", {}).get("map", ()))
            nodes.extend(node.values())
        elif isinstance(node, list):
            nodes.extend(node)
    return tables - clauses


@pytest.mark.parametrize("name", list(declared()))
def test_grain_identifies_the_rows_of_the_world(name: str, world_metrics: duckdb.DuckDBPyConnection) -> None:
    """Without a grain rows have to be alike in some place: else there would be one to declare."""
    grain = metric(name).grain
    alike = f"SELECT {', '.join(grain) or '*'}, count(*) FROM {name} GROUP BY ALL HAVING count(*) > 1"
    found = world_metrics.execute(alike).fetchall()
    assert bool(found) == (not grain), found[:3]
