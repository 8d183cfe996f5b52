"""The benchmark over the small world: what it says, and that every number follows from the rows behind it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from zscope.pipelines.metrics import declared, needed, view_sql
from zscope.pipelines.store import open_reader

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import duckdb


@pytest.fixture(scope="module")
def world(world_store: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """The world with everything that rests on runs made once, as zscope benchmark does."""
    with open_reader(world_store) as connection:
        for name in needed("benchmark_arithmetic"):
            if name in declared() and "run_interval" in needed(name):
                connection.execute(f"CREATE TEMP TABLE {name} AS {view_sql(declared()[name])}")
        yield connection


def test_each_kind_of_verdict_occurs(world: duckdb.DuckDBPyConnection) -> None:
    verdicts = Counter(row[0] for row in world.execute("SELECT verdict FROM benchmark").fetchall())
    assert sum(verdicts.values()) == 126
    assert set(verdicts) == {"agrees", "differs", "direction only", "not comparable", "no data"}


def test_measurements_are_marked_as_synthetic(world: duckdb.DuckDBPyConnection) -> None:
    measured = world.execute(
        "SELECT measured, synthetic FROM benchmark WHERE measured IS NOT NULL"
    ).fetchall()
    assert len(measured) > 40
    assert all(text.endswith(" synthetic") and synthetic for text, synthetic in measured)


def test_every_number_follows_from_its_rows(world: duckdb.DuckDBPyConnection) -> None:
    checked = world.execute(
        "SELECT a.id, a.role, a.value, b.value, a.low, b.low, a.high, b.high FROM benchmark_arithmetic AS a "
        "INNER JOIN benchmark_arithmetic AS b ON a.id = b.id AND a.role = b.role "
        "WHERE a.part = 'change' AND b.part = 'check'"
    ).fetchall()
    assert len({row[0] for row in checked}) > 40
    for result, role, *pairs in checked:
        for mine, there in zip(pairs[::2], pairs[1::2], strict=True):
            if there is not None:
                assert mine == pytest.approx(there, rel=1e-9), (result, role)


def test_every_measured_row_has_its_check(world: duckdb.DuckDBPyConnection) -> None:
    unchecked = world.execute(
        "SELECT id FROM benchmark WHERE measured_value IS NOT NULL AND (id, measured_side) NOT IN "
        "(SELECT (id, role) FROM benchmark_arithmetic WHERE part = 'check')"
    ).fetchall()
    assert unchecked == []
