"""No view compares each row of one table with each row of another without need."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from zscope.pipelines.metrics import declared, needed
from zscope.pipelines.metrics.metric_statements import view_sql

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb

FEW_ROWS = {"benchmark_pair", "ztpf_flood"}
"""Views in which both sides have a few rows."""


def has_many_rows(name: str) -> bool:
    """Tell whether no view with a few rows is in the plan of a view; one that is kept is planned alone."""
    kept = {few for few in FEW_ROWS if declared()[few].keep}
    return name not in FEW_ROWS and not set(needed(name)) & (FEW_ROWS - kept)


def operators(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan["children"]:
        yield from operators(child)


@pytest.mark.deep
@pytest.mark.parametrize("name", [name for name in declared() if has_many_rows(name)])
def test_outer_joins_are_hash_joins(name: str, world_metrics: duckdb.DuckDBPyConnection) -> None:
    """A condition on one table alone in the ON of an outer join makes DuckDB compare all rows with all."""
    # The steps are computed, so the text of each is planned alone, and that of what is kept as a table, too.
    query = view_sql(declared()[name])
    [[_, text]] = world_metrics.execute(f"EXPLAIN (FORMAT json) {query}").fetchall()
    found = [
        each["extra_info"]["Condition"]
        for plan in json.loads(text)
        for each in operators(plan)
        if each["name"].strip() == "BLOCKWISE_NL_JOIN" and each["extra_info"]["Join Type"] != "INNER"
    ]
    assert found == []
