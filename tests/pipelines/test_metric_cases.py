"""Every metric against rows computed by hand: the cases next to this file."""

from __future__ import annotations

import json
import math
import tomllib
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.pipelines.metric_world import NULL, catalogue, database

from zscope.pipelines.metrics import declared, metric, settable, statement
from zscope.pipelines.metrics.narrowing import prepared

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb

CASES = Path(__file__).parent / "cases"
TOLERANCE = 1e-9
SUBJECTS = {
    "empty", "one-source-missing", "zero-transactions", "counter-wrap", "reset", "midnight",
    "daylight-saving", "same-job-name", "unknown-code", "gap", "duplicate",
}  # fmt: skip
KEYS = {"name", "covers", "parameters", "by", "given", "expect", "tolerance"}


@cache
def case_files() -> dict[str, dict[str, Any]]:
    return {
        file.stem: tomllib.loads(file.read_text(encoding="utf-8")) for file in sorted(CASES.glob("*.toml"))
    }


SLOW = {
    "address_space_cpu", "benchmark", "benchmark_arithmetic", "cipher_distribution", "cpu_per_transaction",
    "period_comparison", "protocol_distribution", "rule_use", "tls_hour", "tls_price",
}  # fmt: skip
"""Metrics over many others, whose statements DuckDB takes half a second to plan."""
AT_ONCE = 2
"""So many cases of each metric run in `make test`, and one of each slow metric; the others are deep tests."""


def cases() -> Iterator[Any]:
    for name, content in case_files().items():
        for number, case in enumerate(content["case"]):
            defaults = content.get("defaults", {})
            marks = [pytest.mark.deep] if number >= (1 if name in SLOW else AT_ONCE) else []
            yield pytest.param(name, case, defaults, id=f"{name}: {case['name']}", marks=marks)


@pytest.mark.parametrize(("name", "case", "defaults"), list(cases()))
def test_metric_returns_the_rows_computed_by_hand(
    name: str, case: dict[str, Any], defaults: dict[str, dict[str, Any]]
) -> None:
    assert not set(case) - KEYS, "a key that means nothing"
    found = metric(name)
    with database(name, case.get("given", {}), defaults) as connection:
        for variable, value in case.get("parameters", {}).items():
            assert variable in settable(name)
            connection.execute(f"SET VARIABLE {variable} = ?", [value])
        for text in prepared(found, made=case.get("given", {})):
            connection.execute(text)
        # Views that others share are in no order, which would cost them time.
        order = f" ORDER BY {', '.join(found.grain) or 'ALL'}" if found.kind == "step" else ""
        connection.execute(statement(found, case["by"]) if "by" in case else f"SELECT * FROM {name}{order}")
        names = [column[0] for column in connection.description or ()]
        rows = [dict(zip(names, row, strict=True)) for row in connection.fetchall()]
    expected = case.get("expect", [])
    assert len(rows) == len(expected), rows
    for number, (row, wanted) in enumerate(zip(rows, expected, strict=True)):
        assert set(wanted) <= set(row), f"{name} has no column {set(wanted) - set(row)}"
        differing = {
            key: (row[key], value)
            for key, value in wanted.items()
            if not same(row[key], value, case.get("tolerance", TOLERANCE))
        }
        assert not differing, f"row {number}: (found, expected) {differing} in {row}"


def same(found: object, wanted: object, tolerance: float) -> bool:
    if wanted == NULL:
        return found is None
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    if isinstance(found, float) and isinstance(wanted, (int, float)):
        return math.isclose(found, wanted, rel_tol=tolerance, abs_tol=tolerance)
    if isinstance(found, datetime) and isinstance(wanted, datetime):
        # A local time is never the same as a moment.
        return (found.tzinfo is None) == (wanted.tzinfo is None) and found == wanted
    return found == wanted


@pytest.mark.parametrize("name", list(declared()))
def test_metric_has_a_case_for_no_rows_at_all(name: str) -> None:
    assert name in case_files(), f"tests/pipelines/cases/{name}.toml is missing"
    assert any("empty" in case.get("covers", ()) for case in case_files()[name]["case"])


def test_cases_cover_every_subject() -> None:
    covered = {
        subject
        for content in case_files().values()
        for case in content["case"]
        for subject in case.get("covers", ())
    }
    assert covered == SUBJECTS


def test_every_case_file_is_about_a_metric() -> None:
    assert set(case_files()) <= set(declared())


@pytest.mark.parametrize("name", list(declared()))
def test_view_has_the_columns_and_types_that_are_declared(name: str) -> None:
    with database(name, {}) as connection:
        found = connection.execute(f"DESCRIBE {name}").fetchall()
    assert [row[:2] for row in found] == [(c.name, c.type) for c in metric(name).view_columns]


@pytest.mark.parametrize("name", list(declared()))
def test_inputs_are_the_tables_that_the_statement_reads(name: str) -> None:
    inputs = metric(name).inputs
    assert len(set(inputs)) == len(inputs)
    assert tables_read(metric(name).sql) == set(inputs)


def tables_read(sql: str) -> set[str]:
    """The tables that a statement names, without its own WITH clauses."""
    row = catalogue().execute("SELECT json_serialize_sql(?)", [sql]).fetchone()
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
