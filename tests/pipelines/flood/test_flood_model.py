"""The model of a flood: limits of parameters, closed forms, properties of every flood, published figures."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zscope.pipelines import flood_model as module
from zscope.pipelines.flood_model import (
    FIGURES,
    NS,
    NUMBERS,
    Arrivals,
    Curve,
    Flood,
    FloodError,
    Mode,
    Network,
    Order,
    Simulation,
    beside_published,
    change_pct,
    curve_table,
    figure_table,
    flood_figures,
    published_figures,
    published_tests,
    reproduction,
)
from zscope.schemas.published import published_tables

PLAIN: dict[str, Any] = {
    "sessions": 100, "burst_s": 0.0, "arrivals": Arrivals.EVEN, "connections": 0, "daemons": 1, "workers": 1,
    "processors": 1, "flows": 0, "network_ms": 0.0, "cpu_ms": 2.0,
}  # fmt: skip
"""One thread, one processor, no network: the simplest flood."""
BOTH = pytest.mark.parametrize("mode", Mode)


def plain(**changes: Any) -> Flood:  # noqa: ANN401 - parameters
    """Return the simplest flood with some parameters changed."""
    return Flood(**{**PLAIN, **changes})


def simulated(mode: Mode = Mode.BLOCKING, **changes: Any) -> Simulation:  # noqa: ANN401 - parameters
    """Simulate the simplest flood with some parameters changed."""
    return Simulation(plain(**changes), mode)


def _figures(flood: Flood, mode: Mode) -> dict[str, Any]:
    return flood_figures(Simulation(flood, mode))


def _waits_s(flood: Flood) -> float:
    return flood.flows * flood.network_ms / 1000


def test_every_number_has_bounds_and_a_meaning() -> None:
    of_words = {"arrivals", "network", "order", "ecb_in_queue"}
    assert {number.name for number in NUMBERS} == {field.name for field in fields(Flood)} - of_words
    for number in NUMBERS:
        assert number.low <= getattr(Flood(), number.name) <= number.high
        assert number.meaning


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sessions": 0}, r"sessions: 0 is not between 1 and 200000 sessions"),
        ({"sessions": 200_001}, "sessions"),
        ({"sessions": 2.0}, r"sessions: 2.0 is not a whole number"),
        ({"sessions": True}, "not a whole number"),
        ({"burst_s": -1.0}, r"burst_s: -1 is not between 0 and 3600 s"),
        ({"burst_s": "1"}, r"burst_s: '1' is not a number"),
        ({"cpu_ms": 0.0}, "cpu_ms: 0 is not between"),
        ({"cpu_ms": float("nan")}, "cpu_ms: nan is not between"),
        ({"network_ms": float("inf")}, "network_ms: inf is not between"),
        ({"share": 0.0}, "share"),
        ({"share": 1.1}, "share: 1.1 is not between 0.01 and 1$"),
        ({"sessions": 200_000, "flows": 20}, r"200,000 sessions of 20 flows .* may be 1,000,000 at most"),
        ({"background_per_s": 10_000.0, "background_ms": 1.0}, "may be 900 here"),
    ],
)
def test_invalid_parameters_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(FloodError, match=message):
        plain(**changes)


@pytest.mark.parametrize(
    ("workers", "share", "starters"),
    [(4, 0.5, 2), (5, 0.5, 2), (1, 0.5, 1), (1, 0.01, 1), (100, 0.29, 29), (4, 1.0, 4), (3, 0.34, 1)],
)
def test_the_number_of_starting_threads_is_limited_but_at_least_one(
    workers: int, share: float, starters: int
) -> None:
    assert plain(daemons=3, workers=workers, share=share).starters == starters


def test_choices_have_the_documented_names() -> None:
    assert [*Arrivals, *Network, *Order] == ["even", "poisson", "constant", "exponential", "begun", "arrival"]
    assert [*Mode] == ["blocking", "non-blocking"]


def test_a_count_is_valid_until_it_changes() -> None:
    curve = Curve([1.0, 2.0, 2.0, 5.0], [4, 9, 2, 0])
    assert curve.counts.tolist() == [4, 2, 0]
    assert (curve.peak, curve.peak_at_s) == (4, 1)
    assert curve.integral(5) == 4 + 6
    assert curve.integral(3) == 4 + 2
    assert curve.time_at_least(3, 9) == 1
    assert curve.time_at_least(1, 9) == 4
    nothing = Curve([], [])
    assert (nothing.peak, nothing.peak_at_s, nothing.integral(3), nothing.time_at_least(1, 3)) == (0, 0, 0, 0)


@BOTH
@pytest.mark.parametrize("flows", [0, 3])
def test_one_thread_without_network_starts_sessions_one_after_the_other(mode: Mode, flows: int) -> None:
    simulation = simulated(mode, flows=flows)
    assert simulation.elapsed_s == 100 * 0.002
    assert sorted(simulation.waited.tolist()) == [k * 2_000_000 / 1e9 for k in range(100)]
    assert flood_figures(simulation)["thread_busy_pct"] == pytest.approx(100, rel=1e-12)


@BOTH
def test_with_enough_of_everything_all_start_at_the_same_time(mode: Mode) -> None:
    enough = simulated(mode, workers=200, processors=200, share=0.5, flows=4, network_ms=10.0, client_ms=7.0)
    assert set(enough.ended.tolist()) == {0.007 + 4 * 0.010 + 0.002}
    assert not enough.waited.any()
    assert flood_figures(enough)["throughput_per_s"] is None


@pytest.mark.deep
@pytest.mark.parametrize(("workers", "processors"), [(2, 1), (8, 4), (8, 8), (64, 4)])
def test_a_long_queue_is_processed_at_the_rate_of_the_bottleneck(workers: int, processors: int) -> None:
    flood = plain(sessions=4000, workers=workers, processors=processors, flows=2, network_ms=3.0)
    starters = workers // 2
    assert flood.rate_per_s(Mode.BLOCKING) == pytest.approx(min(starters / 0.008, processors / 0.002))
    assert flood.rate_per_s(Mode.NON_BLOCKING) == pytest.approx(min(starters, processors) / 0.002)
    for mode in Mode:
        simulation = Simulation(flood, mode)
        value = flood_figures(simulation)["throughput_per_s"]
        assert value == pytest.approx(flood.rate_per_s(mode), rel=0.01)
        assert simulation.elapsed_s >= flood.sessions / flood.rate_per_s(mode) - 1e-9


def test_a_limit_of_connections_is_a_bottleneck() -> None:
    flood = plain(sessions=2000, connections=3, workers=20, processors=20, flows=2, network_ms=3.0)
    assert flood.rate_per_s(Mode.NON_BLOCKING) == pytest.approx(3 / 0.008)
    assert Simulation(flood, Mode.NON_BLOCKING).elapsed_s == pytest.approx(2000 / (3 / 0.008), rel=0.01)


def test_where_threads_and_processors_are_short_the_rate_is_an_upper_bound() -> None:
    flood = plain(sessions=4000, workers=40, processors=4, flows=2, network_ms=3.0)
    value = _figures(flood, Mode.BLOCKING)["throughput_per_s"]
    assert 0.9 < value / flood.rate_per_s(Mode.BLOCKING) <= 1


@pytest.mark.deep
def test_waits_for_one_server_with_random_arrivals_follow_pollaczek_khinchine() -> None:
    # 50,000 arrivals at 0.7 of what one thread can do; the mean of so many spreads by less than 3 %.
    simulation = simulated(sessions=50_000, burst_s=50_000 * 0.002 / 0.7, arrivals=Arrivals.POISSON, seed=4)
    assert simulation.waited.mean() == pytest.approx(0.7 * 0.002 / (2 * (1 - 0.7)), rel=0.05)


def test_a_steady_burst_agrees_with_the_fluid_model() -> None:
    # 1250 arrive and 500 start in a second: 3000 are there after 4 s, and the last starts after 10 s.
    figures = _figures(plain(sessions=5000, burst_s=4.0), Mode.BLOCKING)
    assert figures["peak_ecbs"] == pytest.approx(3000, abs=2)
    assert figures["peak_at_s"] == pytest.approx(4, abs=0.01)
    # 300 are there at 300/750 s and again 300/500 s before the end.
    assert figures["duration_s"] == pytest.approx(10 - 0.4 - 0.6, abs=0.02)
    assert figures["ecb_seconds"] == pytest.approx(3000 * 10 / 2, rel=0.001)
    assert _figures(plain(connections=30), Mode.BLOCKING)["peak_ecbs"] == 30


def test_throughput_excludes_start_and_end() -> None:
    figures = _figures(plain(sessions=1000), Mode.BLOCKING)
    assert figures["throughput_per_s"] == pytest.approx(500, rel=1e-9)
    assert figures["mean_wait_ms"] == pytest.approx(999 / 2 * 2)
    assert figures["p95_wait_ms"] == pytest.approx(949 * 2)


def test_a_thread_waiting_for_the_network_holds_its_ecb_only_before_pj48040() -> None:
    before, after = (
        simulated(mode, sessions=1, flows=2, network_ms=5.0, client_ms=3.0, cpu_ms=3.0) for mode in Mode
    )
    assert before.elapsed_s == after.elapsed_s == 0.016
    assert before.ecbs.integral(1) == pytest.approx(0.016)
    assert after.ecbs.integral(1) == pytest.approx(0.003)
    assert before.threads.integral(1) == pytest.approx(0.013)
    assert after.threads.integral(1) == pytest.approx(0.003)
    moments = np.array([0.0035, 0.006, 0.0095, 0.012, 0.0155])
    assert before.ecbs.at(moments).tolist() == [1, 1, 1, 1, 1]
    assert after.ecbs.at(moments).tolist() == [1, 0, 1, 0, 1]


FLOODS = st.builds(
    Flood,
    sessions=st.integers(1, 120),
    burst_s=st.sampled_from([0.0, 0.05, 1.0]),
    arrivals=st.sampled_from(Arrivals),
    connections=st.sampled_from([0, 1, 7, 500]),
    client_ms=st.sampled_from([0.0, 3.0]),
    daemons=st.integers(1, 3),
    workers=st.integers(1, 6),
    share=st.sampled_from([0.01, 0.5, 1.0]),
    processors=st.integers(1, 4),
    flows=st.integers(0, 3),
    network_ms=st.sampled_from([0.0, 0.4, 9.0]),
    network=st.sampled_from(Network),
    cpu_ms=st.sampled_from([0.1, 1.0, 3.3]),
    ecb_in_queue=st.booleans(),
    order=st.sampled_from(Order),
    background_per_s=st.sampled_from([0.0, 200.0]),
    background_ms=st.just(0.5),
    seed=st.integers(0, 9),
)


@given(FLOODS, st.sampled_from(Mode))
def test_all_sessions_start_and_no_limit_is_exceeded(flood: Flood, mode: Mode) -> None:
    simulation = Simulation(flood, mode)
    assert len(simulation.ended) == flood.sessions
    assert (simulation.ended > simulation.arrived).all()
    assert (simulation.waited >= 0).all()
    assert simulation.completed.peak == flood.sessions
    assert simulation.threads.peak <= flood.daemons * flood.workers
    assert simulation.starters.peak <= flood.daemons * flood.starters
    assert flood.starters <= max(1, flood.workers * flood.share + 1e-9)
    assert simulation.ecbs.peak <= min(flood.sessions, flood.connections or flood.sessions)
    assert simulation.waiting.peak <= flood.sessions
    for curve in (simulation.ecbs, simulation.threads, simulation.starters, simulation.waiting):
        assert (curve.counts >= 0).all()
        assert (np.diff(curve.times) > 0).all()
    for curve in (simulation.ecbs, simulation.starters, simulation.waiting):
        assert not curve.counts.size or curve.counts[-1] == 0


@given(FLOODS, st.sampled_from(Mode))
def test_littles_law(flood: Flood, mode: Mode) -> None:
    simulation = Simulation(flood, mode)
    elapsed = simulation.elapsed_s
    # Mean number waiting is rate times mean wait, and so for everything that sessions are in.
    assert simulation.waiting.integral(elapsed) / elapsed == pytest.approx(
        flood.sessions / elapsed * simulation.waited.mean(), rel=1e-9, abs=1e-9
    )
    there = simulation.ended - simulation.arrived
    if mode is Mode.BLOCKING and not flood.connections:
        assert simulation.ecbs.integral(elapsed) == pytest.approx(there.sum())
    if flood.network is Network.CONSTANT:
        alone = flood.client_ms / 1000 + _waits_s(flood) + flood.cpu_s
        assert there == pytest.approx(alone + simulation.waited, abs=1e-7)


@settings(max_examples=15)
@given(FLOODS)
def test_pj48040_frees_threads_during_the_waits_for_the_network(flood: Flood) -> None:
    flood = replace(flood, processors=32, background_per_s=0.0)
    before, after = (Simulation(flood, mode) for mode in Mode)
    work = flood.sessions * flood.cpu_s
    waits = sum(map(sum, before.waits)) / NS
    assert before.starters.integral(before.elapsed_s) == pytest.approx(work + waits)
    assert after.starters.integral(after.elapsed_s) == pytest.approx(work)
    assert after.threads.integral(after.elapsed_s) == pytest.approx(work)


STEADY = st.builds(
    plain,
    sessions=st.integers(50, 150),
    workers=st.sampled_from([2, 4, 8]),
    processors=st.just(8),
    flows=st.integers(1, 3),
    network_ms=st.sampled_from([0.5, 4.0]),
    cpu_ms=st.sampled_from([0.5, 2.0]),
)


@settings(max_examples=15)
@given(STEADY)
def test_more_work_takes_longer_and_more_threads_do_not(flood: Flood) -> None:
    for mode in Mode:
        usual = Simulation(flood, mode).elapsed_s
        assert Simulation(replace(flood, cpu_ms=2 * flood.cpu_ms), mode).elapsed_s > usual
        assert Simulation(replace(flood, sessions=2 * flood.sessions), mode).elapsed_s > usual
        assert Simulation(replace(flood, workers=2 * flood.workers), mode).elapsed_s <= usual
    slower = replace(flood, network_ms=2 * flood.network_ms)
    before, after = (Simulation(slower, mode).elapsed_s for mode in Mode)
    assert before > Simulation(flood, Mode.BLOCKING).elapsed_s
    assert after <= before


RANDOM = Flood(sessions=500, burst_s=0.1, network=Network.EXPONENTIAL, background_per_s=500.0, seed=3)


def _all(simulation: Simulation) -> list[list[float]]:
    curves = (simulation.ecbs, simulation.threads, simulation.starters, simulation.waiting)
    return [
        simulation.arrived.tolist(),
        simulation.ended.tolist(),
        simulation.waited.tolist(),
        *(part.tolist() for curve in curves for part in (curve.times, curve.counts)),
    ]


@BOTH
def test_the_same_seed_gives_the_same_flood_and_another_seed_another(mode: Mode) -> None:
    first, again, other = (Simulation(flood, mode) for flood in (RANDOM, RANDOM, replace(RANDOM, seed=4)))
    assert _all(first) == _all(again)
    assert first.arrived.tolist() != other.arrived.tolist()
    assert first.ended.tolist() != other.ended.tolist()


def test_a_random_flood_always_has_these_figures() -> None:
    """The draws, and the order of processes that continue at the same time, stay as they are."""
    before, after = (_figures(RANDOM, mode) for mode in Mode)
    assert (before["elapsed_s"], after["elapsed_s"]) == (1.25846105, 0.140349967)
    assert before["ecb_seconds"] == pytest.approx(292.368323387, rel=1e-12)
    assert after["ecb_seconds"] == pytest.approx(6.199988224, rel=1e-12)
    assert before["mean_wait_ms"] == pytest.approx(579.709567422, rel=1e-12)
    assert after["mean_wait_ms"] == pytest.approx(11.899976448, rel=1e-12)


def test_without_randomness_the_seed_has_no_effect() -> None:
    flood = replace(RANDOM, arrivals=Arrivals.EVEN, network=Network.CONSTANT, background_per_s=0)
    first, other = (Simulation(replace(flood, seed=seed), Mode.NON_BLOCKING) for seed in (1, 2))
    assert _all(first) == _all(other)


def test_both_modes_have_the_same_arrivals() -> None:
    before, after = (Simulation(RANDOM, mode) for mode in Mode)
    assert before.arrived.tolist() == after.arrived.tolist()


def test_data_transfers_get_threads_while_sessions_start() -> None:
    # Half of four threads are held for a second by each handshake; the other half is for transfers.
    simulation = simulated(sessions=8, workers=4, processors=4, flows=1, network_ms=1000.0, cpu_ms=1.0,
                           background_per_s=100.0, background_ms=1.0)  # fmt: skip
    assert simulation.starters.peak == 2
    assert simulation.threads.peak > 2
    assert simulation.transfers == pytest.approx(100 * simulation.elapsed_s, rel=0.2)


def test_data_transfers_delay_sessions() -> None:
    flood = plain(sessions=500, workers=8, processors=2, cpu_ms=1.0)
    alone = _figures(flood, Mode.NON_BLOCKING)
    busy = _figures(replace(flood, background_per_s=1000.0, background_ms=1.0), Mode.NON_BLOCKING)
    assert busy["elapsed_s"] > 1.3 * alone["elapsed_s"]
    assert busy["processor_busy_pct"] == pytest.approx(100, abs=2)


def test_handshakes_that_have_begun_come_first_by_default() -> None:
    flood = plain(sessions=50, flows=1, network_ms=0.1, cpu_ms=2.0)
    begun, arrival = (Simulation(replace(flood, order=order), Mode.NON_BLOCKING) for order in Order)
    assert begun.elapsed_s == pytest.approx(arrival.elapsed_s)
    # In the order of arrival all begin before one ends.
    assert begun.ended.min() < 0.01
    assert arrival.ended.min() > 0.05


def test_ecbs_of_sessions_that_wait_for_a_thread_are_optional() -> None:
    flood = plain(sessions=40, flows=1, network_ms=1.0)
    counted, not_counted = (
        Simulation(replace(flood, ecb_in_queue=choice), Mode.NON_BLOCKING) for choice in (True, False)
    )
    assert counted.ecbs.peak == 40
    assert not_counted.ecbs.peak == 1
    assert counted.ended.tolist() == not_counted.ended.tolist()


@pytest.mark.parametrize(
    "changes",
    [
        {"sessions": 100_000, "cpu_ms": 1000.0, "processors": 8, "workers": 8},
        {"sessions": 2, "burst_s": 3600.0},
    ],
)
def test_too_many_data_transfers_are_refused_before_the_simulation(changes: dict[str, Any]) -> None:
    with pytest.raises(FloodError, match=r"more than 500,000 data transfers .* lower background_per_s"):
        simulated(background_per_s=1000.0, **changes)


def test_too_many_data_transfers_end_the_simulation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_TRANSFERS", 150)
    flood = plain(
        sessions=100, processors=1, workers=2, cpu_ms=1.0, background_per_s=1400.0, background_ms=0.5
    )
    with pytest.raises(FloodError, match="data transfers"):
        Simulation(flood, Mode.BLOCKING)


def test_curves_of_both_modes_have_the_same_times() -> None:
    flood = plain(sessions=200, burst_s=0.1, workers=4, processors=4, flows=2, network_ms=3.0)
    simulations = [Simulation(flood, mode) for mode in Mode]
    rows = curve_table(simulations, 10).to_pylist()
    assert len(rows) == 22
    before, after = ([row for row in rows if row["mode"] == mode] for mode in Mode)
    assert [row["since_start_s"] for row in before] == [row["since_start_s"] for row in after]
    for part in (before, after):
        assert part[-1]["sessions_started"] == 200
        assert part[-1]["ecbs_in_use"] == 0
        started = [row["sessions_started"] for row in part]
        assert started == sorted(started)
    assert before[-1]["since_start_s"] == simulations[0].elapsed_s
    assert {row["basis"] for row in rows} == {"model"}


def test_there_is_a_row_for_each_figure() -> None:
    rows = {row["figure"]: row for row in figure_table(simulated(mode) for mode in Mode).to_pylist()}
    assert list(rows) == list(FIGURES)
    # One thread without network: PJ48040 changes nothing.
    assert rows["elapsed_s"]["blocking"] == rows["elapsed_s"]["non_blocking"] == 0.2
    assert rows["elapsed_s"]["change_pct"] == 0
    assert {row["basis"] for row in rows.values()} == {"model"}


@pytest.mark.parametrize(
    ("before", "after", "change"), [(2, 3, 50), (2, 1, -50), (0, 1, None), (None, 1, None), (1, None, None)]
)
def test_a_change_is_relative_to_the_value_before(
    before: float | None, after: float | None, change: float | None
) -> None:
    assert change_pct(before, after) == change


ROWS = reproduction().to_pylist()
THROUGHPUT, ECB, BOTH_TESTS = published_tests()
EVERY_TEST = pytest.mark.parametrize(
    "test",
    [
        THROUGHPUT,
        pytest.param(ECB, marks=pytest.mark.deep),  # simulates 8000 sessions 50 times
        pytest.param(BOTH_TESTS, marks=pytest.mark.deep),
    ],
)


def _rows(test: str, part: str) -> list[dict[str, Any]]:
    return [row for row in ROWS if (row["test"], row["part"]) == (test, part)]


def _beside_published(flood: Flood) -> dict[str, Any]:
    return beside_published(Simulation(flood, mode) for mode in Mode)


@pytest.mark.parametrize("test", [THROUGHPUT, ECB, BOTH_TESTS])
def test_stored_parameters_give_the_stored_figures(test: str) -> None:
    values = _beside_published(published_tests()[test])
    for row in _rows(test, "figure"):
        figure = published_figures()[row["name"]]
        assert row["value"] == pytest.approx(values[row["name"]], rel=1e-9)
        assert (row["published"], row["unit"]) == (figure["value"], figure["unit"])
        assert row["difference"] == pytest.approx(row["value"] - row["published"])
        assert row["difference_pct"] == pytest.approx(100 * row["difference"] / row["published"])
        assert row["text"].startswith(f"{figure['id']}: {figure['as_printed']}")
        # Published figures are approximate.
        if not row["text"].endswith("not an aim of the search"):
            assert abs(row["difference_pct"]) <= 0.5


def test_published_tests_do_not_have_all_figures_in_common() -> None:
    missed = {
        test: [row["name"] for row in _rows(test, "figure") if abs(row["difference_pct"]) > 0.5]
        for test in published_tests()
    }
    assert missed[THROUGHPUT] == []
    assert missed[ECB] == ["throughput_gain"]
    assert missed[BOTH_TESTS] == ["throughput_gain", "duration_with"]
    flood = published_tests()[THROUGHPUT]
    assert _waits_s(flood) / flood.cpu_s == pytest.approx(0.46, abs=0.002)


@EVERY_TEST
def test_stored_effects_of_parameters_are_those_of_the_model(test: str) -> None:
    flood = published_tests()[test]
    if test == THROUGHPUT:  # the gain of a long queue is that of a short one
        flood = replace(flood, sessions=1000)
    unchanged = _beside_published(flood)
    figures: dict[tuple[str, str], dict[str, Any]] = {}
    for row in _rows(test, "sensitivity"):
        change = (row["parameter"], row["set_to"])
        if change not in figures:
            figures[change] = _beside_published(replace(flood, **{change[0]: _changed(flood, *change)}))
        after, before = figures[change][row["name"]], unchanged[row["name"]]
        assert row["value"] == pytest.approx(after, rel=1e-9)
        assert row["unchanged"] == pytest.approx(before, rel=1e-9)
        assert row["change"] == pytest.approx(after - before, abs=1e-9)
        assert row["change_pct"] == pytest.approx(100 * row["change"] / before)
    expected = 5 if test == THROUGHPUT else 6
    assert len({name for name, _ in figures}) >= expected


def _changed(flood: Flood, name: str, shown: str) -> Any:  # noqa: ANN401 - a parameter
    """Return the value of a parameter that is stored as text, with six digits of a number."""
    value = getattr(flood, name)
    if isinstance(value, bool):
        return shown == "yes"
    if isinstance(value, int):
        return int(shown)
    if isinstance(value, float):
        return min((0.8 * value, 1.2 * value), key=lambda changed: abs(changed - float(shown)))
    return type(value)(shown)


def test_parameters_marked_published_are_in_the_published_results() -> None:
    rows = {row["id"]: row for row in published_tables()["reference_result"].to_pylist()}
    published = {
        (row["test"], row["name"]): row["value"]
        for row in ROWS
        if row["part"] == "parameter" and row["basis"] == "published"
    }
    assert {"daemons=1", "worker_threads=4", "cpus=4 dedicated I-streams"} <= set(
        rows["ztpf-sharedssl-throughput"]["environment"]
    )
    assert rows["ztpf-sharedssl-thread-cap"]["high"] == 50
    assert rows["ztpf-inetd-peak-ecbs"]["condition_tags"] == ["sessions=8000"]
    assert published == {
        (THROUGHPUT, "daemons"): 1, (THROUGHPUT, "workers"): 4, (THROUGHPUT, "processors"): 4,
        (THROUGHPUT, "share"): 0.5, (ECB, "sessions"): 8000, (ECB, "share"): 0.5,
        (BOTH_TESTS, "sessions"): 8000, (BOTH_TESTS, "share"): 0.5,
    }  # fmt: skip
