"""Properties of every flood, with any parameters."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.pipelines.flood.conftest import plain

from zscope.pipelines.flood import simulate as module
from zscope.pipelines.flood.figures import FloodFigures
from zscope.pipelines.flood.parameters import Arrivals, Flood, FloodError, Mode, Network, Order
from zscope.pipelines.flood.simulate import NS, draw, simulate

if TYPE_CHECKING:
    from zscope.pipelines.flood.trace import Trace

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
    trace = simulate(flood, mode)
    assert len(trace.ended) == flood.sessions
    assert (trace.ended > trace.arrived).all()
    assert (trace.waited >= 0).all()
    assert trace.completed.peak == flood.sessions
    assert trace.threads.peak <= flood.threads
    assert trace.starters.peak <= flood.starters
    assert flood.starters_of_daemon <= max(1, flood.workers * flood.share + 1e-9)
    assert trace.ecbs.peak <= min(flood.sessions, flood.connections or flood.sessions)
    assert trace.waiting.peak <= flood.sessions
    for curve in (trace.ecbs, trace.threads, trace.starters, trace.waiting):
        assert (curve.counts >= 0).all()
        assert (np.diff(curve.times) > 0).all()
    for curve in (trace.ecbs, trace.starters, trace.waiting):
        assert not curve.counts.size or curve.counts[-1] == 0


@given(FLOODS, st.sampled_from(Mode))
def test_littles_law(flood: Flood, mode: Mode) -> None:
    trace = simulate(flood, mode)
    elapsed = trace.elapsed_s
    # Mean number waiting is rate times mean wait, and so for everything that sessions are in.
    assert trace.waiting.integral(elapsed) / elapsed == pytest.approx(
        flood.sessions / elapsed * trace.waited.mean(), rel=1e-9, abs=1e-9
    )
    there = trace.ended - trace.arrived
    if mode is Mode.BLOCKING and not flood.connections:
        assert trace.ecbs.integral(elapsed) == pytest.approx(there.sum())
    if flood.network is Network.CONSTANT:
        alone = flood.client_ms / 1000 + flood.waits_s + flood.cpu_s
        assert there == pytest.approx(alone + trace.waited, abs=1e-7)


@settings(max_examples=15)
@given(FLOODS)
def test_pj48040_frees_threads_during_the_waits_for_the_network(flood: Flood) -> None:
    flood = replace(flood, processors=32, background_per_s=0.0)
    before, after = (simulate(flood, mode) for mode in Mode)
    work = flood.sessions * flood.cpu_s
    waits = sum(map(sum, draw(flood).waits)) / NS
    assert before.starters.integral(before.elapsed_s) == pytest.approx(work + waits)
    assert after.starters.integral(after.elapsed_s) == pytest.approx(work)
    assert after.threads.integral(after.elapsed_s) == pytest.approx(work)


def _figures(flood: Flood, mode: Mode) -> FloodFigures:
    return FloodFigures.of(simulate(flood, mode))


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
        usual = _figures(flood, mode)
        assert _figures(replace(flood, cpu_ms=2 * flood.cpu_ms), mode).elapsed_s > usual.elapsed_s
        assert _figures(replace(flood, sessions=2 * flood.sessions), mode).elapsed_s > usual.elapsed_s
        assert _figures(replace(flood, workers=2 * flood.workers), mode).elapsed_s <= usual.elapsed_s
    slower = replace(flood, network_ms=2 * flood.network_ms)
    assert _figures(slower, Mode.BLOCKING).elapsed_s > _figures(flood, Mode.BLOCKING).elapsed_s
    assert _figures(slower, Mode.NON_BLOCKING).elapsed_s <= _figures(slower, Mode.BLOCKING).elapsed_s


RANDOM = Flood(sessions=500, burst_s=0.1, network=Network.EXPONENTIAL, background_per_s=500.0, seed=3)


@pytest.mark.parametrize("mode", Mode)
def test_the_same_seed_gives_the_same_flood_and_another_seed_another(mode: Mode) -> None:
    first, again, other = (simulate(flood, mode) for flood in (RANDOM, RANDOM, replace(RANDOM, seed=4)))
    assert _all(first) == _all(again)
    assert first.arrived.tolist() != other.arrived.tolist()
    assert first.ended.tolist() != other.ended.tolist()


def _all(trace: Trace) -> list[list[float]]:
    curves = (trace.ecbs, trace.threads, trace.waiting)
    return [
        trace.arrived.tolist(),
        trace.ended.tolist(),
        trace.waited.tolist(),
        *(part.tolist() for curve in curves for part in (curve.times, curve.counts)),
    ]


def test_without_randomness_the_seed_has_no_effect() -> None:
    flood = replace(RANDOM, arrivals=Arrivals.EVEN, network=Network.CONSTANT, background_per_s=0)
    first, other = (simulate(replace(flood, seed=seed), Mode.NON_BLOCKING) for seed in (1, 2))
    assert _all(first) == _all(other)


def test_both_modes_have_the_same_arrivals() -> None:
    before, after = (simulate(RANDOM, mode) for mode in Mode)
    assert before.arrived.tolist() == after.arrived.tolist()


def test_data_transfers_get_threads_while_sessions_start() -> None:
    # Half of four threads are held for a second by each handshake; the other half is for transfers.
    flood = plain(sessions=8, workers=4, processors=4, flows=1, network_ms=1000.0, cpu_ms=1.0,
                  background_per_s=100.0, background_ms=1.0)  # fmt: skip
    trace = simulate(flood, Mode.BLOCKING)
    assert trace.starters.peak == 2
    assert trace.threads.peak > 2
    assert trace.transfers == pytest.approx(100 * trace.elapsed_s, rel=0.2)


def test_data_transfers_delay_sessions() -> None:
    flood = plain(sessions=500, workers=8, processors=2, cpu_ms=1.0)
    alone = _figures(flood, Mode.NON_BLOCKING)
    busy = _figures(replace(flood, background_per_s=1000.0, background_ms=1.0), Mode.NON_BLOCKING)
    assert busy.elapsed_s > 1.3 * alone.elapsed_s
    assert busy.processor_busy_pct == pytest.approx(100, abs=2)


def test_handshakes_that_have_begun_come_first_by_default() -> None:
    flood = plain(sessions=50, flows=1, network_ms=0.1, cpu_ms=2.0)
    begun, arrival = (simulate(replace(flood, order=order), Mode.NON_BLOCKING) for order in Order)
    assert begun.elapsed_s == pytest.approx(arrival.elapsed_s)
    # In the order of arrival all begin before one ends.
    assert begun.ended.min() < 0.01
    assert arrival.ended.min() > 0.05


def test_ecbs_of_sessions_that_wait_for_a_thread_are_optional() -> None:
    flood = plain(sessions=40, flows=1, network_ms=1.0)
    counted, not_counted = (
        simulate(replace(flood, ecb_in_queue=choice), Mode.NON_BLOCKING) for choice in (True, False)
    )
    assert counted.ecbs.peak == 40
    assert not_counted.ecbs.peak == 1
    assert counted.ended.tolist() == not_counted.ended.tolist()


def test_too_many_data_transfers_are_refused_before_the_simulation() -> None:
    flood = plain(sessions=100_000, cpu_ms=1000.0, processors=8, workers=8, background_per_s=1000.0)
    with pytest.raises(FloodError, match=r"more than 500,000 data transfers .* lower background_per_s"):
        simulate(flood, Mode.BLOCKING)


def test_too_many_data_transfers_end_the_simulation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_TRANSFERS", 150)
    flood = plain(
        sessions=100, processors=1, workers=2, cpu_ms=1.0, background_per_s=1400.0, background_ms=0.5
    )
    with pytest.raises(FloodError, match="data transfers"):
        simulate(flood, Mode.BLOCKING)
