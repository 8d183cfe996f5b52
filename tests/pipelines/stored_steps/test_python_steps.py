"""Rows of a step that Python computes group by group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from msgspec.structs import replace

from zscope.pipelines.metrics import declared
from zscope.pipelines.store.python_steps import computed_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.pipelines.metrics import Metric

SCHEMA = pa.schema(
    [("system", pa.string()), ("port", pa.int64()), ("total", pa.float64()), ("data_digest", pa.string())]
)
computed: list[str] = []


def totals(rows: pa.Table) -> Iterator[dict[str, Any]]:
    """A row for each group, as a step would compute it."""
    computed.append(rows["system"][0].as_py())
    yield {"total": sum(rows["value"].to_pylist())}


@pytest.fixture(name="step")
def step_fixture() -> Metric:
    computed.clear()
    return replace(
        declared()["cost_estimate"], computed_by=f"{__name__}:totals", computed_for=("system", "port")
    )


def inputs(*rows: tuple[str | None, int, float]) -> pa.Table:
    names = ("system", "port", "value")
    types = (pa.string(), pa.int64(), pa.float64())
    columns = [pa.array([row[at] for row in rows], kind) for at, kind in enumerate(types)]
    return pa.table(dict(zip(names, columns, strict=True)))


def test_each_group_has_its_rows(step: Metric) -> None:
    rows = computed_rows(step, inputs(("B", 1, 1), ("A", 1, 2), ("A", 2, 3), ("A", 1, 4)), SCHEMA, None)
    found = [(row["system"], row["port"], row["total"]) for row in rows.to_pylist()]
    assert sorted(found) == [("A", 1, 6.0), ("A", 2, 3.0), ("B", 1, 1.0)]
    assert len(set(rows["data_digest"].to_pylist())) == 3


def test_only_groups_with_other_input_are_computed_again(step: Metric) -> None:
    first = computed_rows(step, inputs(("A", 1, 1), ("B", 1, 2)), SCHEMA, None)
    assert sorted(computed) == ["A", "B"]
    again = computed_rows(step, inputs(("A", 1, 1), ("B", 1, 3)), SCHEMA, first)
    assert sorted(computed) == ["A", "B", "B"]
    assert {row["system"]: row["total"] for row in again.to_pylist()} == {"A": 1.0, "B": 3.0}


def test_a_group_that_is_gone_has_no_rows(step: Metric) -> None:
    first = computed_rows(step, inputs(("A", 1, 1), ("B", 1, 2)), SCHEMA, None)
    assert computed_rows(step, inputs(("A", 1, 1)), SCHEMA, first)["system"].to_pylist() == ["A"]
    assert computed_rows(step, inputs(), SCHEMA, first).num_rows == 0


def test_the_layout_in_memory_does_not_matter(step: Metric) -> None:
    whole = inputs(("A", 1, 1), ("A", 1, 2))
    parts = pa.concat_tables([inputs(("A", 1, 1)), inputs(("A", 1, 2))])
    first = computed_rows(step, whole, SCHEMA, None)
    assert computed_rows(step, parts, SCHEMA, first).equals(first)
    assert computed == ["A"]
