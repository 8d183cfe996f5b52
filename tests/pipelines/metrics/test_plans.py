"""No view compares each row of one table with each row of another without need."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from zscope.pipelines.metrics import declared, metric, needed
from zscope.pipelines.metrics.narrowing import prepared

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb

FEW_ROWS = {"ztpf_flood"}
"""Views in which both sides have a few rows."""


def operators(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan["children"]:
        yield from operators(child)


@pytest.mark.deep
@pytest.mark.parametrize("name", [name for name in declared() if FEW_ROWS.isdisjoint(needed(name))])
def test_outer_joins_are_hash_joins(name: str, world_metrics: duckdb.DuckDBPyConnection) -> None:
    """A condition on one table alone in the ON of an outer join makes DuckDB compare all rows with all."""
    for sql in prepared(metric(name)):
        world_metrics.execute(sql)
    [[_, text]] = world_metrics.execute(f"EXPLAIN (FORMAT json) SELECT * FROM {name}").fetchall()
    found = [
        each["extra_info"]["Condition"]
        for plan in json.loads(text)
        for each in operators(plan)
        if each["name"].strip() == "BLOCKWISE_NL_JOIN" and each["extra_info"]["Join Type"] != "INNER"
    ]
    assert found == []
