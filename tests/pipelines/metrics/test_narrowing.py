"""Asking for a part reads less and answers the same."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from zscope.pipelines.metrics import Selection, metric, metric_names, needed, statement
from zscope.pipelines.metrics.narrowing import narrowed, prepared
from zscope.pipelines.store import open_reader

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

PERIOD = Selection(begin=datetime(2026, 3, 10, 9, tzinfo=UTC), end=datetime(2026, 3, 10, 15, tzinfo=UTC))
SYSTEM = Selection(systems=("SRV1",))
WITH_A_CLOCK = [name for name in metric_names() if metric(name).clock]
OF_SYSTEMS = [name for name in metric_names() if "system" in [c.name for c in metric(name).columns]]


def answer(connection: duckdb.DuckDBPyConnection, sql: str) -> list[list[object]]:
    """The rows, with fractions as far as they do not depend on the order in which they were added up."""
    rows = [[_rounded(value) for value in row] for row in connection.execute(sql).fetchall()]
    return sorted(rows, key=repr)


def _rounded(value: object) -> object:
    return float(f"{value:.9g}") if isinstance(value, float) else value


@pytest.mark.parametrize("name", WITH_A_CLOCK)
def test_a_period_gives_the_rows_that_the_whole_has_of_it(name: str, world_store: Path) -> None:
    same_answer(world_store, name, PERIOD)


@pytest.mark.parametrize("name", OF_SYSTEMS)
def test_a_system_gives_the_rows_that_the_whole_has_of_it(name: str, world_store: Path) -> None:
    same_answer(world_store, name, SYSTEM)


def same_answer(store: Path, name: str, selection: Selection) -> None:
    asked = statement(metric(name), selection=selection)
    with open_reader(store) as connection:
        whole = answer(connection, asked)
    with open_reader(store) as connection:
        for before in prepared(metric(name), selection):
            connection.execute(before)
        part = answer(connection, asked)
    assert part == whole


def test_nothing_is_narrowed_where_everything_is_asked_for() -> None:
    assert all(narrowed(metric(name), Selection()) == [] for name in metric_names())


@pytest.mark.parametrize("name", metric_names())
def test_prepared_a_metric_says_the_same(name: str, world_store: Path) -> None:
    same_answer(world_store, name, Selection())


def test_only_days_that_matter_are_read(world_store: Path) -> None:
    name = next(name for name in WITH_A_CLOCK if "smf119_zert_detail" in needed(name))
    with open_reader(world_store) as connection:
        for before in prepared(metric(name), PERIOD):
            connection.execute(before)
        days = connection.execute("SELECT DISTINCT day FROM smf119_zert_detail").fetchall()
    assert {f"{day:%m-%d}" for (day,) in days} <= {"03-09", "03-10", "03-11"}
