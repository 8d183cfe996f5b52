"""Intervals of run results hold what they promise, against simulation and against scipy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from tests.marking import deep_except
from tests.pipelines.metric_world import database

from zscope.pipelines.metrics import macros_sql

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb

PAIRS = 100
COST = {"a": 100.0, "b": 108.0}
"""True microseconds per transaction of the two runs of a pair."""
TRUE_CHANGE_PCT = 8.0
NOISE = 0.03
"""Standard deviation of the CPU time of an interval, relative."""


def simulated(intervals: int, pairs: int = PAIRS, seed: int = 5) -> pa.Table:
    """Pairs of runs with known costs; the number of transactions varies as well."""
    random = np.random.default_rng(seed)
    size = pairs * 2 * intervals
    transactions = random.normal(1e6, 5e4, size)
    run_no = np.arange(size) // intervals
    cost = np.where(run_no % 2 == 0, COST["a"], COST["b"])
    start_s = 1_773_000_000 + 10 * (np.arange(size) % intervals)
    return pa.table(
        {
            "name": [f"{number // 2:03}{'ab'[number % 2]}" for number in run_no.tolist()],
            "system": ["SYSA"] * size,
            "role": ["client"] * size,
            "interval_start_utc": pa.array(start_s * 1_000_000, pa.timestamp("us", "UTC")),
            "interval_ms": pa.array([10_000] * size, pa.int64()),
            "cpu_s": transactions * cost / 1e6 * random.normal(1, NOISE, size),
            "transactions": transactions,
            "counted_by": ["connections ended"] * size,
            "trimmed": [False] * size,
        }
    )


def asked(intervals: pa.Table) -> duckdb.DuckDBPyConnection:
    """The metrics of runs over intervals that are given."""
    connection = database("run_comparison", {"run_interval": []})
    connection.register("rows_to_copy", intervals)
    connection.execute("INSERT INTO run_interval BY NAME SELECT * FROM rows_to_copy")
    connection.execute(
        "INSERT INTO run BY NAME SELECT DISTINCT name, system, role, 'CRR40(64B/8kB)' AS workload, "
        "'CRR' AS workload_kind, []::VARCHAR[] AS tags, true AS synthetic FROM run_interval"
    )
    return connection


@pytest.fixture(scope="module", params=deep_except([10], [5, 10]))
def world(request: pytest.FixtureRequest) -> Iterator[tuple[int, duckdb.DuckDBPyConnection]]:
    """Pairs of runs of some number of intervals, compared once for all."""
    with asked(simulated(request.param)) as connection:
        connection.execute(
            "CREATE TABLE compared AS SELECT * FROM run_comparison WHERE measure = 'cpu_per_tran'"
        )
        yield request.param, connection


def of_pairs(
    connection: duckdb.DuckDBPyConnection, one: str, other: str, step: int
) -> list[tuple[float, float]]:
    """Low and high of the change from a run of each pair to a run of the pair some steps on."""
    rows: list[tuple[float, float]] = connection.execute(
        "SELECT low_pct, high_pct FROM compared WHERE baseline[4] = ? AND candidate[4] = ? "
        "AND candidate[1:3]::INTEGER - baseline[1:3]::INTEGER = ?",
        [one, other, step],
    ).fetchall()
    return rows


@pytest.mark.deep
def test_the_interval_has_the_true_change_in_it_as_often_as_it_says(
    world: tuple[int, duckdb.DuckDBPyConnection],
) -> None:
    """95 % of 100, with room for chance: 90 to 99 %."""
    found = of_pairs(world[1], "a", "b", 0)
    assert len(found) == PAIRS
    share = sum(low <= TRUE_CHANGE_PCT <= high for low, high in found) / PAIRS
    assert 0.90 <= share <= 0.99


def test_runs_that_do_not_differ_are_seldom_told_apart(world: tuple[int, duckdb.DuckDBPyConnection]) -> None:
    found = of_pairs(world[1], "a", "a", 1)
    assert len(found) == PAIRS - 1
    assert sum(not low <= 0 <= high for low, high in found) / len(found) <= 0.10


def test_the_interval_is_about_as_wide_as_the_one_of_the_textbook_and_not_narrower(
    world: tuple[int, duckdb.DuckDBPyConnection],
) -> None:
    """Of the cost by interval, which knows nothing of sums: an independent way to nearly the same."""
    from scipy import stats

    _, connection = world
    widths = [high - low for low, high in of_pairs(connection, "a", "b", 0)]
    expected = []
    by_run = connection.execute(
        "SELECT name, list(1e6 * cpu_s / transactions) FROM run_interval GROUP BY name ORDER BY name"
    ).fetchall()
    for (_, one), (_, other) in zip(by_run[::2], by_run[1::2], strict=True):
        logs = [np.log(one), np.log(other)]
        test = stats.ttest_ind(logs[1], logs[0], equal_var=False).confidence_interval(0.95)
        expected.append(100 * (np.exp(test.high) - np.exp(test.low)))
    # With five intervals each it is a fifth wider: two quantiles of 4 degrees of freedom, not one of 8.
    assert 0.95 <= np.mean(widths) / np.mean(expected) <= 1.25


@pytest.mark.deep
def test_a_result_is_as_wide_as_drawings_and_the_quantile_make_it() -> None:
    """The same arithmetic in numpy, with the quantile of scipy and drawings of its own."""
    from scipy import stats

    intervals = simulated(12, pairs=1)
    with asked(intervals) as connection:
        found = connection.execute(
            "SELECT value, low, high FROM run_result WHERE name = '000a' AND measure = 'cpu_per_tran'"
        ).fetchone()
    assert found is not None
    cpu, count = (intervals[name].to_numpy()[:12] for name in ("cpu_s", "transactions"))
    drawn = np.random.default_rng(1).integers(0, 12, (20_000, 12))
    deviation = np.log(cpu[drawn].sum(1) / count[drawn].sum(1)).std(ddof=1) * np.sqrt(12 / 11)
    half = deviation * stats.t.ppf(0.975, 11)
    value = 1e6 * cpu.sum() / count.sum()
    assert found[0] == pytest.approx(value, rel=1e-12)
    # 500 drawings tell a deviation to some three percent.
    assert np.log(found[2] / found[1]) / 2 == pytest.approx(half, rel=0.12)


@pytest.mark.parametrize("df", [2, 3, 5, 11, 100])
def test_the_expansion_of_the_quantile_is_close_to_scipy(df: int) -> None:
    """What run_result.sql takes in place of a function that SQL has not."""
    from scipy import stats

    coefficients = (1.959964, 2.372271, 2.822499, 2.555850, 1.589534)
    expansion = sum(coefficient / df**power for power, coefficient in enumerate(coefficients))
    assert expansion == pytest.approx(stats.t.ppf(0.975, df), rel=0.01 if df == 2 else 0.002)
    assert all(f"{coefficient:.6f}" in macros_sql() for coefficient in coefficients)


@pytest.mark.deep
def test_the_same_data_give_the_same_interval_in_any_order_and_with_any_number_of_threads() -> None:
    question = "SELECT * FROM run_result ORDER BY ALL"
    intervals = simulated(6, pairs=3)
    with asked(intervals) as connection:
        connection.execute("SET threads = 1")
        one = connection.execute(question).fetchall()
    backwards = intervals.take(pa.array(range(intervals.num_rows - 1, -1, -1)))
    with asked(backwards) as connection:
        connection.execute("SET threads = 4")
        other = connection.execute(question).fetchall()
    assert len(one) == len(other) == 5 * 6
    for row, again in zip(one, other, strict=True):
        # Sums of floats depend on their order in the last bits.
        assert row == tuple(
            pytest.approx(value, rel=1e-9) if isinstance(value, float) else value for value in again
        )


def test_a_run_has_five_hundred_drawings_of_as_many_intervals_as_count() -> None:
    with asked(simulated(4, pairs=1)) as connection:
        found = connection.execute(
            "SELECT count(*), count(DISTINCT replicate), min(replicate), max(replicate), "
            "count(DISTINCT round(cpu_us_per_tran, 9)) FROM run_replicate WHERE name = '000a'"
        ).fetchone()
    # Four intervals can be drawn in 35 ways that differ.
    assert found is not None
    assert found[:4] == (501, 501, 0, 500)
    assert 25 <= found[4] <= 35
