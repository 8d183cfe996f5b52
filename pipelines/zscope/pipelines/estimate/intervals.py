"""The intervals of a system on a regular grid, as rates per second.

Intervals shorter than the step of the grid are added up; a step that they do not cover is left out, and so a
gap stays a gap. Steps are counted on the clock of the system, because other work follows the working day. The
hour that a clock repeats in autumn is left out: its two halves cannot be told apart.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

Numbers = np.ndarray[Any, np.dtype[np.float64]]
Whole = np.ndarray[Any, np.dtype[np.int64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]

STEPS_S = (900, 1800, 3600)
"""Lengths of a step. The first one that most intervals fit into is used."""
DAY_S = 86_400
MOST_DAYS = 92
_FITTING = 0.9
"""Least share of the measured time in intervals that fit into the steps."""
_COVERED = 0.9
"""Least share of a step that its intervals cover."""
_WITH_ADDRESS_SPACES = 0.8
_TOLERANCE_S = 5
"""How far an interval can begin or end outside its step."""
_MONDAY_S = 4 * DAY_S
"""The first Monday of 1970."""


@dataclass(frozen=True)
class SystemIntervals:
    """The measured intervals of one system, in any order."""

    start_local: np.ndarray[Any, np.dtype[np.datetime64]]
    """When they began, by the clock of the system."""
    seconds: Numbers
    cpu_s: Numbers
    """CPU time of the system on general-purpose processors."""
    full: Numbers
    """Number of full handshakes."""
    resumed: Numbers
    tls_mb: Numbers
    """Megabytes of TLS connections."""
    tls_spaces_cpu_s: Numbers | None = None
    """CPU time of the address spaces that work for TLS connections, from SMF 30."""
    busy_share: Numbers | None = None
    """CPU time as a share of what the system may use: its processors, or its cap."""


@dataclass(frozen=True)
class Grid:
    """The steps of a system that have data, in order; rates per second."""

    step_s: int
    step: Whole
    """Number of the step since the first Monday of 1970, on the clock of the system."""
    cpu_us: Numbers
    full: Numbers
    resumed: Numbers
    mb: Numbers
    tls_spaces_us: Numbers | None
    busy_share: Numbers | None
    fitting_share: float
    """Share of the measured time in intervals that fit into the steps."""

    @property
    def steps_of_day(self) -> int:
        """Number of steps in 24 hours."""
        return DAY_S // self.step_s

    @property
    def days(self) -> int:
        """Number of calendar days that have data."""
        return len(np.unique(self.step // self.steps_of_day))

    @property
    def fits(self) -> bool:
        """Whether most of the time is in intervals that fit into the steps."""
        return self.fitting_share >= _FITTING


def on_grid(intervals: SystemIntervals) -> Grid:
    """Return the intervals on the finest grid that most of them fit into; at most the last 92 days.

    Intervals in which a value is missing are left out. If most intervals have the CPU time of address spaces,
    the others are left out; otherwise none is used.
    """
    amounts = (intervals.seconds, intervals.cpu_s, intervals.full, intervals.resumed, intervals.tls_mb)
    intervals = _selected(intervals, np.isfinite(np.stack(amounts)).all(axis=0) & (intervals.seconds > 0))
    intervals = _with_address_spaces(_last_days(intervals))
    grids = (_with_step(intervals, step_s) for step_s in STEPS_S)
    tried: list[Grid] = []
    for grid in grids:
        tried.append(grid)
        if grid.fits:
            return grid
    return max(tried, key=lambda grid: grid.fitting_share)


def _last_days(intervals: SystemIntervals) -> SystemIntervals:
    if not len(intervals.start_local):
        return intervals
    day = intervals.start_local.astype("datetime64[D]").astype(np.int64)
    return _selected(intervals, day > day.max() - MOST_DAYS)


def _with_address_spaces(intervals: SystemIntervals) -> SystemIntervals:
    if intervals.tls_spaces_cpu_s is None:
        return intervals
    known = np.isfinite(intervals.tls_spaces_cpu_s)
    if known.sum() < _WITH_ADDRESS_SPACES * len(known):
        return replace(intervals, tls_spaces_cpu_s=None)
    return _selected(intervals, known)


def _selected(intervals: SystemIntervals, rows: Flags) -> SystemIntervals:
    spaces, busy = intervals.tls_spaces_cpu_s, intervals.busy_share
    return replace(
        intervals,
        start_local=intervals.start_local[rows],
        seconds=intervals.seconds[rows],
        cpu_s=intervals.cpu_s[rows],
        full=intervals.full[rows],
        resumed=intervals.resumed[rows],
        tls_mb=intervals.tls_mb[rows],
        tls_spaces_cpu_s=None if spaces is None else spaces[rows],
        busy_share=None if busy is None else busy[rows],
    )


def _with_step(intervals: SystemIntervals, step_s: int) -> Grid:
    start = intervals.start_local.astype("datetime64[s]").astype(np.int64) - _MONDAY_S
    phase = _phase(start, intervals.seconds, step_s)
    step = (start - phase + _TOLERANCE_S) // step_s
    end = start + intervals.seconds
    fits = end <= (step + 1) * step_s + phase + _TOLERANCE_S
    measured = intervals.seconds.sum()
    share = float(intervals.seconds[fits].sum() / measured) if measured else 1.0
    kept = _selected(intervals, fits)
    number, of = np.unique(step[fits], return_inverse=True)
    seconds = np.bincount(of, kept.seconds, len(number))
    whole = (seconds >= _COVERED * step_s) & (seconds <= step_s + 2 * _TOLERANCE_S)

    def rate(amount: Numbers) -> Numbers:
        return np.asarray((np.bincount(of, amount, len(number)) / np.maximum(seconds, 1))[whole])

    spaces, busy = kept.tls_spaces_cpu_s, kept.busy_share
    return Grid(
        step_s,
        number[whole],
        1e6 * rate(kept.cpu_s),
        rate(kept.full),
        rate(kept.resumed),
        rate(kept.tls_mb),
        None if spaces is None else 1e6 * rate(spaces),
        None if busy is None else rate(busy * kept.seconds),
        share,
    )


def _phase(start: Whole, seconds: Numbers, step_s: int) -> int:
    """Return the seconds after the full hour at which steps begin: those at which most intervals begin."""
    if not len(start):
        return 0
    minute = (start + _TOLERANCE_S) // 60 * 60
    after, count = np.unique(
        minute % min(step_s, max(60, round(float(np.median(seconds))))), return_counts=True
    )
    return int(after[count.argmax()])
