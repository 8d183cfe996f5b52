"""The simulation agrees with closed forms where these are exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.pipelines.flood.conftest import plain, simulated

from zscope.pipelines.flood.closed_form import (
    fluid_duration_s,
    fluid_peak,
    gain_pct,
    least_elapsed_s,
    mean_wait_md1_s,
    rate_per_s,
)
from zscope.pipelines.flood.figures import FloodFigures, compare
from zscope.pipelines.flood.parameters import Arrivals, Mode

BOTH = pytest.mark.parametrize("mode", Mode)


@BOTH
@pytest.mark.parametrize("flows", [0, 3])
def test_one_thread_without_network_starts_sessions_one_after_the_other(mode: Mode, flows: int) -> None:
    trace = simulated(mode, flows=flows)
    assert trace.elapsed_s == 100 * 0.002
    assert sorted(trace.waited.tolist()) == [k * 2_000_000 / 1e9 for k in range(100)]
    assert FloodFigures.of(trace).thread_busy_pct == pytest.approx(100, rel=1e-12)


@BOTH
def test_with_enough_of_everything_all_start_at_the_same_time(mode: Mode) -> None:
    trace = simulated(mode, workers=200, processors=200, share=0.5, flows=4, network_ms=10.0, client_ms=7.0)
    assert set(trace.ended.tolist()) == {0.007 + 4 * 0.010 + 0.002}
    assert not trace.waited.any()
    assert FloodFigures.of(trace).throughput_per_s is None


@pytest.mark.deep
@pytest.mark.parametrize(("workers", "processors"), [(2, 1), (8, 4), (8, 8), (64, 4)])
def test_a_long_queue_is_processed_at_the_rate_of_the_bottleneck(workers: int, processors: int) -> None:
    flood = plain(sessions=4000, workers=workers, processors=processors, flows=2, network_ms=3.0)
    comparison = compare(flood)
    starters = workers // 2
    before = min(starters / (0.002 + 0.006), processors / 0.002)
    assert rate_per_s(flood, Mode.BLOCKING) == pytest.approx(before)
    assert rate_per_s(flood, Mode.NON_BLOCKING) == pytest.approx(min(starters, processors) / 0.002)
    for mode in Mode:
        value = comparison.value("throughput_per_s", mode)
        assert value == pytest.approx(rate_per_s(flood, mode), rel=0.01)
        assert comparison.traces[mode].elapsed_s >= least_elapsed_s(flood, mode) - 1e-9
    assert comparison.change_pct("throughput_per_s") == pytest.approx(gain_pct(flood), abs=2)


def test_a_limit_of_connections_is_a_bottleneck() -> None:
    flood = plain(sessions=2000, connections=3, workers=20, processors=20, flows=2, network_ms=3.0)
    assert rate_per_s(flood, Mode.NON_BLOCKING) == pytest.approx(3 / 0.008)
    trace = simulated(Mode.NON_BLOCKING, sessions=2000, connections=3, workers=20, processors=20, flows=2,
                   network_ms=3.0)  # fmt: skip
    assert trace.elapsed_s == pytest.approx(2000 / (3 / 0.008), rel=0.01)


@pytest.mark.deep
def test_waits_for_one_server_with_random_arrivals_follow_pollaczek_khinchine() -> None:
    # 50,000 arrivals at 0.7 of what one thread can do; the mean of so many spreads by less than 3 %.
    trace = simulated(sessions=50_000, burst_s=50_000 * 0.002 / 0.7, arrivals=Arrivals.POISSON, seed=4)
    assert trace.waited.mean() == pytest.approx(mean_wait_md1_s(350, 0.002), rel=0.05)


def test_a_steady_burst_agrees_with_the_fluid_model() -> None:
    flood = plain(sessions=5000, burst_s=4.0)  # 1250 arrive and 500 start in a second
    figures = FloodFigures.of(simulated(sessions=5000, burst_s=4.0))
    assert fluid_peak(flood, Mode.BLOCKING) == 3000
    assert figures.peak_ecbs == pytest.approx(3000, abs=2)
    assert figures.peak_at_s == pytest.approx(4, abs=0.01)
    # 300 are there at 300/750 s and again 300/500 s before the end, at 10 s.
    assert fluid_duration_s(flood, Mode.BLOCKING) == pytest.approx(10 - 0.4 - 0.6)
    assert figures.duration_s == pytest.approx(9.0, abs=0.02)
    assert figures.ecb_seconds == pytest.approx(3000 * 10 / 2, rel=0.001)


def test_simultaneous_arrivals_and_a_limit_agree_with_the_fluid_model() -> None:
    assert fluid_peak(plain(), Mode.BLOCKING) == 100
    assert fluid_duration_s(plain(), Mode.BLOCKING) == pytest.approx(90 * 0.002)
    assert fluid_peak(plain(connections=30), Mode.BLOCKING) == 30
    assert FloodFigures.of(simulated(connections=30)).peak_ecbs == 30
    assert fluid_peak(plain(burst_s=10.0), Mode.BLOCKING) == 0
    assert fluid_duration_s(plain(burst_s=10.0), Mode.BLOCKING) == 0


def test_throughput_excludes_start_and_end() -> None:
    figures = FloodFigures.of(simulated(sessions=1000))
    assert figures.throughput_per_s == pytest.approx(500, rel=1e-9)
    assert figures.mean_wait_ms == pytest.approx(999 / 2 * 2)
    assert figures.p95_wait_ms == pytest.approx(949 * 2)


def test_a_thread_waiting_for_the_network_holds_its_ecb_only_before_pj48040() -> None:
    trace = {
        mode: simulated(mode, sessions=1, flows=2, network_ms=5.0, client_ms=3.0, cpu_ms=3.0) for mode in Mode
    }
    before, after = trace[Mode.BLOCKING], trace[Mode.NON_BLOCKING]
    assert before.elapsed_s == after.elapsed_s == 0.016
    assert before.ecbs.integral(1) == pytest.approx(0.016)
    assert after.ecbs.integral(1) == pytest.approx(0.003)
    assert before.threads.integral(1) == pytest.approx(0.013)
    assert after.threads.integral(1) == pytest.approx(0.003)
    moments = np.array([0.0035, 0.006, 0.0095, 0.012, 0.0155])
    assert before.ecbs.at(moments).tolist() == [1, 1, 1, 1, 1]
    assert after.ecbs.at(moments).tolist() == [1, 0, 1, 0, 1]


def test_where_threads_and_processors_are_short_the_rate_is_an_upper_bound() -> None:
    changes: dict[str, Any] = {
        "sessions": 4000,
        "workers": 40,
        "processors": 4,
        "flows": 2,
        "network_ms": 3.0,
    }
    value = FloodFigures.of(simulated(**changes)).throughput_per_s
    assert value is not None
    assert 0.9 < value / rate_per_s(plain(**changes), Mode.BLOCKING) <= 1
