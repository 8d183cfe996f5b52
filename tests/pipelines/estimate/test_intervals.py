"""Intervals of any length on a regular grid."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.pipelines.estimate.measured import changed, replicates

from zscope.pipelines.estimate.intervals import MOST_DAYS, SystemIntervals, on_grid, selected
from zscope.samples.simulated_series import MONDAY


def evenly(count: int, seconds: int, *, late_s: int = 0) -> SystemIntervals:
    """Intervals of equal length, each with one handshake a second."""
    length = np.full(count, float(seconds))
    start = MONDAY + (late_s + np.arange(count) * seconds).astype("timedelta64[s]")
    return SystemIntervals(start, length, length / 2, length.copy(), 2 * length, 3 * length)


@pytest.mark.parametrize(
    ("seconds", "step_s"), [(60, 900), (300, 900), (900, 900), (600, 1800), (1800, 1800), (1200, 3600)]
)
def test_intervals_are_added_up_to_the_finest_step(seconds: int, step_s: int) -> None:
    grid = on_grid(evenly(86_400 // seconds, seconds))
    assert grid.step_s == step_s
    assert len(grid.step) == 86_400 // step_s
    assert np.diff(grid.step).tolist() == [1] * (len(grid.step) - 1)
    assert np.allclose(grid.cpu_us, 500_000)
    assert np.allclose([grid.full, grid.resumed, grid.mb], [[1], [2], [3]])
    assert grid.fits


@pytest.mark.parametrize("seconds", [2700, 7200])
def test_other_lengths_do_not_fit(seconds: int) -> None:
    assert not on_grid(evenly(24, seconds)).fits


@pytest.mark.parametrize("seconds", [300, 900])
def test_steps_begin_where_intervals_begin(seconds: int) -> None:
    grid = on_grid(evenly(86_400 // seconds, seconds, late_s=420))
    assert grid.step_s == 900
    assert grid.fitting_share > 0.99


def test_seconds_of_difference_do_not_matter() -> None:
    even = evenly(96, 900)
    uneven = replace(even, start_local=even.start_local + np.resize([-2, 1, 2], 96).astype("timedelta64[s]"))
    assert on_grid(uneven).step.tolist() == on_grid(even).step.tolist()


@pytest.mark.parametrize("late_s", [[30], [29, 31, 30], [0, 10, 30], [-1, 0, -2], [7, 25, 16]])
def test_half_a_minute_late_does_not_matter(late_s: list[int]) -> None:
    even = evenly(96, 900)
    late = replace(even, start_local=even.start_local + np.resize(late_s, 96).astype("timedelta64[s]"))
    grid = on_grid(late)
    assert (grid.step_s, grid.fits, grid.covered_share) == (900, True, 1.0)
    assert grid.step.tolist() == on_grid(even).step.tolist()
    assert grid.phase_s == np.median(late_s)


def test_order_does_not_matter() -> None:
    intervals = next(replicates(changed("AR 0.8", days=2), 1, tls_share=0.1))
    shuffled = selected(intervals, np.random.default_rng(1).permutation(192))
    assert on_grid(shuffled).cpu_us.tolist() == on_grid(intervals).cpu_us.tolist()
    assert on_grid(shuffled).step.tolist() == on_grid(intervals).step.tolist()


def test_gaps_stay_gaps() -> None:
    rows = np.r_[0:40, 50:96]
    grid = on_grid(selected(evenly(96, 900), rows))
    assert (grid.step - on_grid(evenly(96, 900)).step[0]).tolist() == rows.tolist()


def test_a_step_that_is_not_covered_is_left_out() -> None:
    grid = on_grid(selected(evenly(288, 300), np.r_[0:31, 32:288]))
    assert len(grid.step) == 95


def test_the_repeated_hour_is_left_out() -> None:
    hours = evenly(96, 900)
    again = replace(hours, start_local=np.r_[hours.start_local[:12], hours.start_local[8:92]])
    grid = on_grid(again)
    assert (grid.step - grid.step[0]).tolist() == [*range(8), *range(12, 92)]


def test_at_most_the_last_days() -> None:
    grid = on_grid(evenly((MOST_DAYS + 5) * 24, 3600))
    assert grid.days == MOST_DAYS


def test_missing_values_are_left_out() -> None:
    intervals = evenly(96, 900)
    intervals.cpu_s[[3, 7]] = np.nan
    assert len(on_grid(intervals).step) == 94


@pytest.mark.parametrize(("missing", "steps", "used"), [(10, 86, True), (60, 96, False)])
def test_missing_address_spaces(missing: int, steps: int, *, used: bool) -> None:
    intervals = evenly(96, 900)
    spaces = np.full(96, 9.0)
    spaces[:missing] = np.nan
    grid = on_grid(replace(intervals, tls_spaces_cpu_s=spaces))
    assert len(grid.step) == steps
    assert (grid.tls_spaces_us is not None) == used
