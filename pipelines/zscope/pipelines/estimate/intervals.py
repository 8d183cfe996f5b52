"""The intervals of a system on a regular grid, as rates per second.

Intervals shorter than the step of the grid are added up. A step that they do not cover is left out, so gaps
are never filled. Steps are those of the local time of the system, because other work follows the working day.
The hour that is repeated when daylight saving time ends is left out, because its intervals overlap in local
time.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

Numbers = np.ndarray[Any, np.dtype[np.float64]]
Whole = np.ndarray[Any, np.dtype[np.int64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]

STEPS_S = (900, 1800, 3600)
"""Lengths of a step. The first one into which most intervals fit is used."""
DAY_S = 86_400
MOST_DAYS = 92
_LEAST_FITTING = 0.9
"""Least share of the measured time in intervals that fit into the steps."""
_LEAST_COVERED = 0.9
"""Least share of a step that its intervals cover."""
_LEAST_WITH_ADDRESS_SPACES = 0.8
"""Least share of the intervals with the CPU time of address spaces for it to be used."""
_TOLERANCE_S = 5
"""How far an interval may begin or end outside its step."""
_MONDAY_S = 4 * DAY_S
"""The first Monday of 1970."""


@dataclass(frozen=True)
class SystemIntervals:
    """The measured intervals of one system, in any order."""

    start_local: np.ndarray[Any, np.dtype[np.datetime64]]
    """Start, in local time of the system."""
    seconds: Numbers
    cpu_s: Numbers
    """CPU time of the system on general-purpose processors."""
    full_handshakes: Numbers
    resumed_handshakes: Numbers
    tls_mb: Numbers
    """Megabytes of TLS connections."""
    tls_spaces_cpu_s: Numbers | None = None
    """CPU time of the address spaces with TLS: TCP/IP stacks and jobs with TLS connections, from SMF 30."""
    busy_share: Numbers | None = None
    """CPU time as a share of the capacity of the system."""
    kinds_known: bool = True
    """If not, `full_handshakes` has the handshakes of both kinds, and `resumed_handshakes` is zero."""


@dataclass(frozen=True)
class Grid:
    """The steps of a system that have data, in order; rates per second."""

    step_s: int
    step: Whole
    """Number of the step since the first Monday of 1970, in local time of the system."""
    cpu_us: Numbers
    full: Numbers
    resumed: Numbers
    mb: Numbers
    tls_spaces_us: Numbers | None
    busy_share: Numbers | None
    fitting_share: float
    """Share of the measured time in intervals that fit into the steps."""
    kinds_known: bool
    """Whether full and resumed handshakes are counted apart."""

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
        return self.fitting_share >= _LEAST_FITTING


def on_grid(intervals: SystemIntervals) -> Grid:
    """Return the intervals on the finest grid that most of them fit into; at most the last 92 days.

    Intervals in which a value is missing are left out. If most intervals have the CPU time of address spaces,
    the others are left out; otherwise none is used.
    """
    counts = (intervals.full_handshakes, intervals.resumed_handshakes, intervals.tls_mb)
    values = np.stack((intervals.seconds, intervals.cpu_s, *counts))
    intervals = selected(intervals, np.isfinite(values).all(axis=0) & (intervals.seconds > 0))
    intervals = _with_address_spaces(_last_days(intervals))
    tried: list[Grid] = []
    for step_s in STEPS_S:
        grid = _with_step(intervals, step_s)
        if grid.fits:
            return grid
        tried.append(grid)
    return max(tried, key=lambda grid: grid.fitting_share)


def _last_days(intervals: SystemIntervals) -> SystemIntervals:
    if not len(intervals.start_local):
        return intervals
    day = intervals.start_local.astype("datetime64[D]").astype(np.int64)
    return selected(intervals, day > day.max() - MOST_DAYS)


def _with_address_spaces(intervals: SystemIntervals) -> SystemIntervals:
    if intervals.tls_spaces_cpu_s is None:
        return intervals
    known = np.isfinite(intervals.tls_spaces_cpu_s)
    if known.sum() < _LEAST_WITH_ADDRESS_SPACES * len(known):
        return replace(intervals, tls_spaces_cpu_s=None)
    return selected(intervals, known)


def selected(intervals: SystemIntervals, rows: Flags | Whole) -> SystemIntervals:
    """Return some of the intervals, in the order of `rows`."""
    columns = {each.name: getattr(intervals, each.name) for each in fields(intervals)}
    chosen: dict[str, Any] = {
        name: column[rows] for name, column in columns.items() if isinstance(column, np.ndarray)
    }
    return replace(intervals, **chosen)


def _with_step(intervals: SystemIntervals, step_s: int) -> Grid:
    start = intervals.start_local.astype("datetime64[s]").astype(np.int64) - _MONDAY_S
    phase = _phase(start, intervals.seconds, step_s)
    step = (start - phase + _TOLERANCE_S) // step_s
    end = start + intervals.seconds
    fits = end <= (step + 1) * step_s + phase + _TOLERANCE_S
    measured = intervals.seconds.sum()
    share = float(intervals.seconds[fits].sum() / measured) if measured else 1.0
    kept = selected(intervals, fits)
    number, of = np.unique(step[fits], return_inverse=True)
    seconds = np.bincount(of, kept.seconds, len(number))
    whole = (seconds >= _LEAST_COVERED * step_s) & (seconds <= step_s + 2 * _TOLERANCE_S)

    def rate(amount: Numbers) -> Numbers:
        return np.asarray((np.bincount(of, amount, len(number)) / np.maximum(seconds, 1))[whole])

    spaces, busy = kept.tls_spaces_cpu_s, kept.busy_share
    return Grid(
        step_s,
        number[whole],
        1e6 * rate(kept.cpu_s),
        rate(kept.full_handshakes),
        rate(kept.resumed_handshakes),
        rate(kept.tls_mb),
        None if spaces is None else 1e6 * rate(spaces),
        None if busy is None else rate(busy * kept.seconds),
        share,
        intervals.kinds_known,
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
