"""The fit of handshake costs against an independent solver, and against data whose costs are known."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from scipy.optimize import nnls
from tests.pipelines.metric_world import database

from zscope.pipelines.metrics import settable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Numbers = np.ndarray[Any, np.dtype[np.float64]]
START = datetime(2026, 3, 2, tzinfo=UTC)
SEEDS = 100
FEW_SEEDS = 30


@dataclass(frozen=True)
class Model:
    """What things cost, in microseconds, and how loud the noise is as a share of the mean CPU time."""

    full: float
    resumed: float
    mb: float
    constant: float
    noise: float

    @property
    def truth(self) -> dict[str, float]:
        """The columns of handshake_cost with these costs."""
        return {
            "full_us": self.full,
            "resumed_us": self.resumed,
            "difference_us": self.full - self.resumed,
            "mb_us": self.mb,
            "constant_us_per_s": self.constant,
        }


# RSA handshakes on a busy system, a system that does little else, and one where resumption saves almost all.
MODELS = {
    "busy": Model(2000, 300, 500, 50_000, 0.1),
    "quiet": Model(900, 600, 2500, 500, 0.2),
    "cheap": Model(5000, 40, 100, 5_000, 0.05),
}


@dataclass(frozen=True)
class Work:
    """The work of one system in its intervals."""

    seconds: Numbers
    full: Numbers
    resumed: Numbers
    mb: Numbers
    cpu_us: Numbers


def work(
    rng: np.random.Generator, model: Model, seconds: Numbers, *, noise_lasts: int = 1, rate: float = 20.0
) -> Work:
    """A day's curve of handshakes, a share of them resumed that changes, megabytes that go their own way.

    Noise has the variance of independent seconds; of as many intervals as it lasts, it is the same.
    """
    number = len(seconds)
    load = 1 + 0.6 * np.sin(np.arange(number) / number * 14) + rng.normal(0, 0.1, number)
    handshakes = rng.poisson(rate * seconds * np.clip(load, 0.1, None))
    full = rng.binomial(handshakes, rng.uniform(0.2, 0.8, number)).astype(float)
    resumed = handshakes - full
    mb = rng.lognormal(0, 0.5, number) * seconds * 5
    cpu = model.full * full + model.resumed * resumed + model.mb * mb + model.constant * seconds
    loud = model.noise * np.sum(cpu) / np.sum(seconds) * np.sqrt(np.mean(seconds))
    shared = np.repeat(rng.normal(0, 1, -(-number // noise_lasts)), noise_lasts)[:number]
    return Work(seconds, full, resumed, mb, cpu + shared * loud * np.sqrt(seconds))


def loaded(systems: Mapping[str, Work], view: str = "handshake_cost") -> duckdb.DuckDBPyConnection:
    """A database in which the intervals of these systems are there to be fitted."""
    connection = database(view, {"handshake_interval": []})
    for system, done in systems.items():
        ends = np.cumsum(done.seconds)
        rows = pa.table(
            {
                "system": [system] * len(ends),
                "interval_start_utc": moments(ends - done.seconds),
                "interval_end_utc": moments(ends),
                "interval_ms": (1000 * done.seconds).astype(int),
                "cpu_s": done.cpu_us / 1e6,
                "full_handshakes": done.full.astype(int),
                "resumed_handshakes": done.resumed.astype(int),
                "in_bytes": done.mb * 1e6,
                "out_bytes": np.zeros(len(ends)),
                **dict.fromkeys(
                    ("full_tls12", "full_tls13", "resumed_tls12", "resumed_tls13"), np.zeros(len(ends), int)
                ),
            }
        )
        connection.register("rows_to_copy", rows)
        connection.execute("INSERT INTO handshake_interval BY NAME SELECT * FROM rows_to_copy")
        connection.unregister("rows_to_copy")
    return connection


def moments(seconds: Iterable[float]) -> list[datetime]:
    return [START + timedelta(seconds=float(second)) for second in seconds]


def answers(connection: duckdb.DuckDBPyConnection, query: str) -> list[dict[str, Any]]:
    found = connection.execute(query)
    names = [column[0] for column in found.description or ()]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def within(rows: list[dict[str, Any]], model: Model) -> dict[str, int]:
    """How often each cost lies in its reported interval."""

    def end(column: str, which: str) -> str:
        name, unit = column.split("_us", 1)
        return f"{name}_{which}_us{unit}"

    return {
        column: sum(row[end(column, "low")] <= true <= row[end(column, "high")] for row in rows)
        for column, true in model.truth.items()
    }


def quarter_hours(number: int) -> Numbers:
    return np.full(number, 900.0)


def test_fit_is_the_non_negative_least_squares_solution() -> None:
    """Two hundred systems of which many have costs that would be negative, with intervals of two lengths."""
    rng = np.random.default_rng(11)
    systems = {}
    for number in range(200):
        lengths = rng.choice([60.0, 900.0], size=int(rng.integers(12, 40)))
        full, resumed, mb, constant = rng.normal([500, 300, 50, 500], [800, 500, 300, 5000])
        systems[f"S{number:03}"] = work(rng, Model(full, resumed, mb, constant, noise=0.3), lengths)
    with loaded(systems, "handshake_cost_fit") as connection:
        connection.execute("SET VARIABLE cost_replicates = 0; SET VARIABLE cost_min_variation_pct = 0")
        rows = answers(connection, "FROM handshake_cost_fit WHERE non_negative ORDER BY system")
    bounded = 0
    for row, done in zip(rows, systems.values(), strict=True):
        scale = np.sqrt(done.seconds)
        terms = np.column_stack([done.full, done.resumed, done.mb, done.seconds])
        expected, left = nnls(terms / scale[:, None], done.cpu_us / scale)
        found = [row[name] for name in ("full_us", "resumed_us", "mb_us", "constant_us_per_s")]
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-6)
        assert row["residual_us_per_s"] == pytest.approx(left / np.sqrt(np.sum(done.seconds)), rel=1e-6)
        bounded += int(np.any(expected == 0))
    assert 50 < bounded < 200, "costs at zero and costs above it are both there"


@pytest.mark.deep
@pytest.mark.parametrize("number", [12, 48])
@pytest.mark.parametrize("name", MODELS)
def test_the_true_costs_are_in_their_intervals_in_ninety_of_a_hundred_samples(name: str, number: int) -> None:
    true_costs_are_in_their_intervals(name, number, SEEDS)


@pytest.mark.parametrize(("name", "number"), [("busy", 12), ("quiet", 48)])
def test_the_true_costs_are_in_their_intervals(name: str, number: int) -> None:
    true_costs_are_in_their_intervals(name, number, FEW_SEEDS)


def true_costs_are_in_their_intervals(name: str, number: int, seeds: int) -> None:
    rng = np.random.default_rng(sum(name.encode()) + number)
    model = MODELS[name]
    systems = {f"S{seed:03}": work(rng, model, quarter_hours(number)) for seed in range(seeds)}
    with loaded(systems) as connection:
        rows = answers(connection, "FROM handshake_cost WHERE status = 'ok'")
    assert len(rows) >= seeds * 0.9
    found = within(rows, model)
    assert min(found.values()) >= 0.9 * len(rows), found


@pytest.mark.parametrize("seeds", [FEW_SEEDS, pytest.param(SEEDS, marks=pytest.mark.deep)])
def test_noise_that_lasts_an_hour_does_not_make_intervals_too_narrow(seeds: int) -> None:
    """A load that lasts as well, by the hour: quarter hours taken for independent would promise too much."""
    rng = np.random.default_rng(5)
    model = MODELS["quiet"]
    systems = {}
    for seed in range(seeds):
        hours = work(rng, model, np.full(60, 3600.0))
        quarters = [
            np.repeat(values, 4) / 4 for values in (hours.full, hours.resumed, hours.mb, hours.cpu_us)
        ]
        full, resumed = np.round(quarters[0]), np.round(quarters[1])
        systems[f"S{seed:03}"] = Work(quarter_hours(240), full, resumed, quarters[2], quarters[3])
    with loaded(systems) as connection:
        by_hour = answers(connection, "FROM handshake_cost WHERE status = 'ok'")
        connection.execute("SET VARIABLE cost_block_minutes = 0")
        by_quarter = answers(connection, "FROM handshake_cost WHERE status = 'ok'")
    assert {row["blocks"] for row in by_hour} == {60}
    assert {row["blocks"] for row in by_quarter} == {240}
    assert min(within(by_hour, model).values()) >= 0.9 * len(by_hour)
    assert min(within(by_quarter, model).values()) < 0.8 * len(by_quarter)


def test_minutes_and_quarter_hours_give_the_same_costs() -> None:
    """Without noise the costs are exact, whatever the lengths; the constant is that of a second."""
    rng = np.random.default_rng(3)
    model = Model(2000, 300, 500, 50_000, 0)
    systems = {
        "MINUTES": work(rng, model, np.full(40, 60.0)),
        "QUARTERS": work(rng, model, quarter_hours(40)),
        "BOTH": work(rng, model, rng.choice([60.0, 900.0], 40)),
    }
    with loaded(systems) as connection:
        rows = answers(connection, "FROM handshake_cost")
    assert [row["status"] for row in rows] == ["ok"] * 3
    for row in rows:
        assert {name: row[name] for name in model.truth} == pytest.approx(model.truth, rel=1e-6)


def test_full_and_resumed_handshakes_that_vary_together_are_refused() -> None:
    """The share that is resumed is always the same, but for a handshake more or less in a hundred."""
    rng = np.random.default_rng(8)
    model = MODELS["busy"]
    systems = {}
    for seed in range(20):
        free = work(rng, model, quarter_hours(96))
        resumed = np.round(free.full * 1.5 * rng.normal(1, 0.01, 96))
        cpu = free.cpu_us + model.resumed * (resumed - free.resumed)
        systems[f"S{seed:03}"] = Work(free.seconds, free.full, resumed, free.mb, cpu)
    with loaded(systems) as connection:
        rows = answers(connection, "FROM handshake_cost")
    assert {row["status"] for row in rows} == {"refused"}
    assert all("move together" in row["why"] and row["condition_number"] > 10 for row in rows)
    assert all(row[name] is None for row in rows for name in model.truth)


def test_condition_number_and_shares_are_those_of_the_correlation_matrix() -> None:
    rng = np.random.default_rng(21)
    done = work(rng, MODELS["busy"], quarter_hours(96))
    mixed = Work(
        done.seconds, done.full, done.resumed, done.mb + done.full / 50 + done.resumed / 90, done.cpu_us
    )
    with loaded({"S": mixed}) as connection:
        connection.execute("SET VARIABLE cost_max_condition = 1")
        (row,) = answers(connection, "FROM handshake_cost")
    matrix = np.corrcoef([mixed.full, mixed.resumed, mixed.mb])
    assert row["condition_number"] == pytest.approx(np.sqrt(np.linalg.cond(matrix)), rel=1e-9)
    follows = 100 * (1 - 1 / np.diag(np.linalg.inv(matrix)))
    said = [f"full handshakes {follows[0]:.1f} %", f"resumed handshakes {follows[1]:.1f} %"]
    assert all(text in row["why"] for text in [*said, f"megabytes {follows[2]:.1f} %"])


def test_replicates_spread_as_the_mean_of_independent_intervals_does() -> None:
    """Where only the constant is fitted it is a mean, and the standard error of a mean is known."""
    rng = np.random.default_rng(2)
    systems = {f"S{number:02}": work(rng, MODELS["quiet"], quarter_hours(200)) for number in range(30)}
    with loaded(systems, "handshake_cost_fit") as connection:
        connection.execute("SET VARIABLE cost_min_seen = 1000000; SET VARIABLE cost_block_minutes = 0")
        spread = answers(
            connection,
            "SELECT stddev(constant_us_per_s) AS found FROM handshake_cost_fit WHERE replicate > 0 "
            "GROUP BY system ORDER BY system",
        )
    ratios = [
        row["found"] / (np.std(done.cpu_us / 900) / np.sqrt(200))
        for row, done in zip(spread, systems.values(), strict=True)
    ]
    assert np.mean(ratios) == pytest.approx(1, abs=0.03)
    assert max(abs(ratio - 1) for ratio in ratios) < 0.2


def test_answer_depends_neither_on_the_order_of_rows_nor_on_threads_nor_on_the_time_zone() -> None:
    done = work(np.random.default_rng(4), MODELS["busy"], quarter_hours(96))
    query = "SELECT * EXCLUDE (period_from_utc, period_to_utc) FROM handshake_cost"
    with loaded({"S": done}) as connection:
        (first,) = answers(connection, query)
        connection.execute(
            "CREATE TABLE mixed AS FROM handshake_interval ORDER BY hash(cpu_s);"
            "DELETE FROM handshake_interval;"
            "INSERT INTO handshake_interval FROM mixed; SET threads = 1; SET TimeZone = 'America/New_York'"
        )
        (again,) = answers(connection, query)
        connection.execute("RESET threads")  # all connections of the catalogue share it
    texts = ("system", "status", "why")
    assert [first[name] for name in texts] == [again[name] for name in texts]
    numbers = first.keys() - set(texts)
    assert [again[name] for name in numbers] == pytest.approx([first[name] for name in numbers], rel=1e-9)


@pytest.mark.parametrize(
    ("variable", "value", "told"),
    [
        ("cost_period", "month", "cost_period is all, week or day, not month"),
        ("cost_terms", "full,bytes", "cost_terms are full, resumed and mb, not full,bytes"),
    ],
)
def test_invalid_parameters_are_refused(variable: str, value: str, told: str) -> None:
    done = work(np.random.default_rng(4), MODELS["busy"], quarter_hours(12))
    with loaded({"S": done}) as connection:
        connection.execute(f"SET VARIABLE {variable} = '{value}'")
        with pytest.raises(duckdb.InvalidInputException, match=told):
            connection.execute("FROM handshake_cost")


def test_parameters_set_to_their_defaults_change_nothing() -> None:
    done = work(np.random.default_rng(4), MODELS["busy"], quarter_hours(60))
    with loaded({"S": done}) as connection:
        before = answers(connection, "FROM handshake_cost")
        for _, setting in settable("handshake_cost").values():
            connection.execute(f"SET VARIABLE {setting.name} = CAST({setting.default} AS {setting.type})")
        after = answers(connection, "FROM handshake_cost")
    # But for the last digits: DuckDB adds up in another order each time.
    assert len(after) == len(before)
    for row, told in zip(after, before, strict=True):
        assert row == {
            name: pytest.approx(value, rel=1e-9) if isinstance(value, float) else value
            for name, value in told.items()
        }
