"""The intervals of a system on a regular grid, as rates per second.

Intervals shorter than the step of the grid are added up. A step that they do not cover is left out, so gaps
are never filled. Intervals whose handshakes are not known show how much time is left out: means over a period
give each hour of a working day or weekend the weight that it has in the period. Steps are those of the local
time of the system, because other work follows the working day. The hour that is repeated when daylight saving
time ends is left out, because its intervals overlap in local time.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

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
_LEAST_KNOWN = 0.8
"""Least share of the intervals that have a column that not all have, for it to be used."""
_TOGETHER = (
    ("tls_spaces_cpu_s", "stack_cpu_s"),
    ("plain_connections", "plain_mb"),
    ("datagrams",),
)
"""Columns that not all intervals have, by their source."""
JOB_COLUMNS = ("full_handshakes", "resumed_handshakes", "tls_mb", "plain_connections", "plain_mb", "cpu_s")
"""What is known of a job in an interval: its connections, and the CPU time of its address spaces (SMF 30)."""
FEWEST_WITH = 6
"""A count is a column of a regression if at least so many steps have it."""
LEAST_SHARE_OF_JOB = 0.05
"""Share of the handshakes of the system from which a job has columns of its own."""
_TOLERANCE_S = 30
"""How far an interval may begin or end outside its step."""
_LOG_OFFSET = 0.001
"""Added to rates before their logarithm, as a share of their mean."""
_MINUTE_S = 60
_MONDAY_S = 4 * DAY_S
"""The first Monday of 1970."""
_HOUR_S, _HOURS_OF_DAY, _WORKDAYS = 3600, 24, 5


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
    stack_cpu_s: Numbers | None = None
    """CPU time of the address spaces of the TCP/IP stacks, which run no application."""
    plain_connections: Numbers | None = None
    """Connections without TLS."""
    plain_mb: Numbers | None = None
    """Megabytes of connections without TLS."""
    datagrams: Numbers | None = None
    """Datagrams of the stacks that belong to no connection."""
    busy_share: Numbers | None = None
    """CPU time as a share of the capacity of the system."""
    jobs: Numbers | None = None
    """`JOB_COLUMNS` of each job, with the shape intervals x jobs x columns; no number if not recorded."""
    kinds_known: bool = True
    """If not, `full_handshakes` has the handshakes of both kinds, and `resumed_handshakes` is zero."""


@dataclass(frozen=True)
class Grid:
    """The steps of a system that have data, in order; rates per second."""

    step_s: int
    step: Whole
    """Number of the step since the first Monday of 1970, in local time of the system."""
    phase_s: int
    """How many seconds after midnight the first step of a day begins."""
    cpu_us: Numbers
    full: Numbers
    resumed: Numbers
    mb: Numbers
    tls_spaces_us: Numbers | None
    stack_us: Numbers | None
    plain: Numbers | None
    """Connections without TLS."""
    plain_mb: Numbers | None
    datagrams: Numbers | None
    busy_share: Numbers | None
    jobs: Numbers | None
    """`JOB_COLUMNS` of each job: steps x jobs x columns."""
    fitting_share: float
    """Share of the measured time in intervals that fit into the steps."""
    kinds_known: bool
    """Whether full and resumed handshakes are counted apart."""
    covered_share: float
    """Share of the time of the period that the steps cover."""
    weight: Numbers
    """Time of the period for which a step stands, in steps: more than 1 if the same hour has no complete data
    on other days."""

    @property
    def tls(self) -> Numbers:
        """Full handshakes, resumed ones and megabytes as columns."""
        return np.stack([self.full, self.resumed, self.mb], axis=1)

    def mean(self, rates: Numbers) -> Numbers:
        """Return the mean of rates over the period."""
        return np.asarray(np.average(rates, axis=0, weights=self.weight))

    @property
    def shares_of_jobs(self) -> Numbers:
        """The shares of the jobs in the handshakes."""
        if self.jobs is None:
            return np.zeros(0)
        handshakes = self.mean(self.jobs[:, :, 0] + self.jobs[:, :, 1])
        return np.asarray(handshakes / self.mean(self.full + self.resumed))

    @property
    def steps_of_day(self) -> int:
        """Number of steps in 24 hours."""
        return DAY_S // self.step_s

    @property
    def days(self) -> int:
        """Number of calendar days that have data."""
        return len(np.unique(self.step // self.steps_of_day))

    @property
    def neighbours(self) -> tuple[Whole, Whole]:
        """The index of the step before and of the step after; at a gap, that of the step itself."""
        index = np.arange(len(self.step))
        follows = np.diff(self.step) == 1
        before, after = index.copy(), index.copy()
        before[1:][follows] -= 1
        after[:-1][follows] += 1
        return before, after

    @property
    def fits(self) -> bool:
        """Whether most of the time is in intervals that fit into the steps."""
        return self.fitting_share >= _LEAST_FITTING


Rows = TypeVar("Rows", SystemIntervals, Grid)


def on_grid(intervals: SystemIntervals) -> Grid:
    """Return the intervals on the finest grid that most of them fit into; at most the last 92 days.

    Intervals in which a value is missing are left out. If most intervals have the CPU time of address spaces,
    the others are left out; otherwise none is used. The same is true of connections without TLS and of
    datagrams.
    """
    period = _last_days(selected(intervals, intervals.seconds > 0))
    counts = (period.full_handshakes, period.resumed_handshakes, period.tls_mb)
    known = np.asarray(np.isfinite(np.stack((period.cpu_s, *counts))).all(axis=0))
    intervals = selected(period, known)
    for names in _TOGETHER:
        intervals = _with_columns(intervals, names)
    tried: list[Grid] = []
    for step_s in STEPS_S:
        grid = _with_step(intervals, period, step_s)
        if grid.fits:
            return grid
        tried.append(grid)
    return max(tried, key=lambda grid: grid.fitting_share)


def _last_days(intervals: SystemIntervals) -> SystemIntervals:
    if not len(intervals.start_local):
        return intervals
    day = intervals.start_local.astype("datetime64[D]").astype(np.int64)
    return selected(intervals, day > day.max() - MOST_DAYS)


def _with_columns(intervals: SystemIntervals, names: tuple[str, ...]) -> SystemIntervals:
    """Return the intervals that have these columns, or all of them without the columns."""
    columns = [getattr(intervals, name) for name in names]
    present = [column for column in columns if column is not None]
    if not present:
        return intervals
    known = np.isfinite(np.stack(present)).all(axis=0)
    if known.sum() < _LEAST_KNOWN * len(known):
        nothing: dict[str, Any] = dict.fromkeys(names)
        return replace(intervals, **nothing)
    return selected(intervals, known)


def selected(intervals: Rows, rows: Flags | Whole) -> Rows:
    """Return some of the intervals or steps, in the order of `rows`."""
    columns = {each.name: getattr(intervals, each.name) for each in fields(intervals)}
    chosen: dict[str, Any] = {
        name: column[rows] for name, column in columns.items() if isinstance(column, np.ndarray)
    }
    return replace(intervals, **chosen)


def logarithm(rates: Numbers) -> Numbers:
    """Return the logarithm of rates, of which some can be zero."""
    return np.asarray(np.log(rates + _LOG_OFFSET * max(float(rates.mean()), 1e-300)))


def _with_step(intervals: SystemIntervals, period: SystemIntervals, step_s: int) -> Grid:
    start = _since_monday(intervals)
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

    def optional(amount: Numbers | None, factor: float = 1.0) -> Numbers | None:
        return None if amount is None else factor * rate(amount)

    busy = kept.busy_share
    period_s = float(period.seconds.sum())
    return Grid(
        step_s,
        number[whole],
        phase,
        1e6 * rate(kept.cpu_s),
        rate(kept.full_handshakes),
        rate(kept.resumed_handshakes),
        rate(kept.tls_mb),
        optional(kept.tls_spaces_cpu_s, 1e6),
        optional(kept.stack_cpu_s, 1e6),
        optional(kept.plain_connections),
        optional(kept.plain_mb),
        optional(kept.datagrams),
        None if busy is None else rate(busy * kept.seconds),
        None if kept.jobs is None else np.apply_along_axis(rate, 0, kept.jobs),
        share,
        intervals.kinds_known,
        min(1.0, step_s * int(whole.sum()) / period_s) if period_s else 1.0,
        _weights(number[whole] * step_s, step_s, period),
    )


def _weights(start: Whole, step_s: int, period: SystemIntervals) -> Numbers:
    """Return the time for which each step stands: that of its hour of working days or weekends, divided among
    the steps that have it.
    """
    of_period = np.bincount(_hour_kind(_since_monday(period)), period.seconds, 2 * _HOURS_OF_DAY)
    of_step = _hour_kind(start)
    covered = np.bincount(of_step, minlength=2 * _HOURS_OF_DAY) * step_s
    return np.asarray(of_period[of_step] / covered[of_step])


def _since_monday(intervals: SystemIntervals) -> Whole:
    """Return the starts as seconds since the first Monday of 1970."""
    return np.asarray(intervals.start_local.astype("datetime64[s]").astype(np.int64) - _MONDAY_S)


def _hour_kind(start: Whole) -> Whole:
    """Return a number for the hour of the day, other ones for weekends."""
    is_weekend = start // DAY_S % 7 >= _WORKDAYS
    return np.asarray(start % DAY_S // _HOUR_S + _HOURS_OF_DAY * is_weekend)


def _phase(start: Whole, seconds: Numbers, step_s: int) -> int:
    """Return the seconds after the full hour at which steps begin: the median of those at which intervals of
    the most frequent minute begin.
    """
    if not len(start):
        return 0
    length = min(step_s, max(_MINUTE_S, round(float(np.median(seconds)))))
    minutes, count = np.unique((start + _TOLERANCE_S) // _MINUTE_S * _MINUTE_S % length, return_counts=True)
    minute = int(minutes[count.argmax()])
    after = (start - minute + length // 2) % length - length // 2
    return minute + round(float(np.median(after[np.abs(after) <= _MINUTE_S])))
