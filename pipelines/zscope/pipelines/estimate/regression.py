"""The regression of CPU time on what is counted beside it, when noise lasts from interval to interval.

The columns are filtered with the autocorrelation of the noise (Cochrane and Orcutt 1949), single intervals
far off count less (Huber 1964), and the spread of the coefficients comes from fits without one day each
(jackknife), which needs no assumption on the noise within a day.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from zscope.pipelines.estimate.time_terms import TimeTerms

if TYPE_CHECKING:
    from zscope.pipelines.estimate.intervals import Flags, Numbers, Whole

_UPPER = 0.975
"""Quantile of the upper end of an interval of 95 %."""
_LONG_MEMORY, _SHORT_MEMORY = 4, 2
_LONG_DAYS = 3
"""From so many days on the noise has a long memory."""
_ROUNDS, _HUBER_ROUNDS = 3, 8
_SCALE = 1.4826
"""The standard deviation of normal noise over its median absolute deviation."""
_FAR, _VERY_FAR = 2.5, 4.0
_LEAST_BLOCKS = 12
_STATIONARY = 0.999
_QUARTERS_OF_DAY = 96
_NEARLY_ZERO = 1e-12
_ALIKE = 1e-7
"""Least share of the variation of a column that the other columns do not explain."""


def student(quantile: float, freedom: float) -> float:
    """Return a quantile of Student's distribution, by the series of Cornish and Fisher.

    >>> round(student(0.975, 11), 3)
    2.201
    """
    z = NormalDist().inv_cdf(quantile)
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    )


@dataclass(frozen=True)
class Estimate:
    """A value with its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Regression:
    """The coefficients of a regression, how sure they are, and what the noise was like."""

    coefficients: Numbers
    covariance: Numbers
    blocks: int
    """Number of days, or of equal parts, of which each was left out once."""
    rows: int
    terms: int
    """Number of coefficients, with those of the calendar."""
    memory: Numbers
    """Coefficients of the autoregression of the noise."""
    clipped_pct: float
    left_autocorrelation: float
    """What is left after the filter, from each interval to the next."""
    time_share: float
    """Share of the variance of the CPU time that the calendar explains."""
    explained_share: float
    """Share that the columns explain within the day."""
    effective_rows: float
    """Number of independent intervals that are worth as much."""
    plain_covariance: Numbers
    """As if the filtered noise were independent."""

    def error(self, weights: Numbers) -> float:
        """Return the standard error of a weighted sum of the coefficients."""
        return float(np.sqrt(np.maximum(weights @ self.covariance @ weights, 0.0)))

    def estimate(self, weights: Numbers, upper: float = _UPPER) -> Estimate:
        """Return a weighted sum of the coefficients with its interval: of 95 %, or with another quantile."""
        value, half = float(weights @ self.coefficients), student(upper, self.freedom) * self.error(weights)
        return Estimate(value, value - half, value + half)

    def of(self, basis: Numbers) -> Regression:
        """Return the regression of other coefficients, which follow from these by a matrix."""
        return replace(
            self,
            coefficients=basis @ self.coefficients,
            covariance=basis @ self.covariance @ basis.T,
            plain_covariance=basis @ self.plain_covariance @ basis.T,
        )

    @property
    def freedom(self) -> int:
        """Degrees of freedom of the spread."""
        return self.blocks - 1

    def correlation(self, weights: Numbers) -> float:
        """Return the partial correlation of the CPU time with a weighted sum of the columns."""
        variance = weights @ self.plain_covariance @ weights
        if variance <= 0:
            return 1.0
        ratio = float(weights @ self.coefficients / np.sqrt(variance))
        return float(ratio / np.sqrt(ratio**2 + max(self.rows - self.terms, 1)))


class Filter:
    """The steps that have their forerunners, and what the calendar explains of all steps and of these."""

    def __init__(self, step: Whole, steps_of_day: int, load: Numbers) -> None:
        self.step = step
        self.steps_of_day = steps_of_day
        long = step[-1] - step[0] >= _LONG_DAYS * steps_of_day and steps_of_day >= _QUARTERS_OF_DAY
        self.memory = _LONG_MEMORY if long else _SHORT_MEMORY
        rows = np.arange(self.memory, len(step))
        self.rows = rows[step[rows] - step[rows - self.memory] == self.memory]
        self._profile = load - TimeTerms(step, steps_of_day)(load)
        self.all_terms = TimeTerms(step, steps_of_day, self._profile)

    @cached_property
    def terms(self) -> TimeTerms:
        """The time terms of the steps with forerunners."""
        return TimeTerms(self.step[self.rows], self.steps_of_day, self._profile[self.rows])

    def filtered(self, columns: Numbers, memory: Numbers) -> Numbers:
        """Return columns less what their forerunners predict, and less what the calendar explains."""
        predicted = sum(memory[back] * columns[self.rows - back - 1] for back in range(self.memory))
        return self.terms(columns[self.rows] - predicted)

    def autoregression(self, noise: Numbers) -> Numbers:
        """Return how noise depends on the noise before it (Yule and Walker), from pairs without a gap."""
        step = self.step
        at = np.full(int(step[-1] - step[0]) + 1, np.nan)
        at[step - step[0]] = noise
        lags = range(self.memory + 1)
        products = np.array([np.nanmean(at[lag:] * at[: len(at) - lag]) for lag in lags])
        apart = np.abs(np.subtract.outer(np.arange(self.memory), np.arange(self.memory)))
        matrix = products[apart] + _ALIKE * products[0] * np.eye(self.memory)
        memory = np.linalg.solve(matrix, products[1:])
        total = abs(memory.sum())
        return np.asarray(memory if total < _STATIONARY else memory * _STATIONARY / total)

    @cached_property
    def block(self) -> Whole:
        """The first row of each block: a day, or one of twelve equal parts if there are fewer days."""
        day = self.step[self.rows] // self.steps_of_day
        if len(np.unique(day)) < _LEAST_BLOCKS:
            day = np.arange(len(day)) * _LEAST_BLOCKS // len(day)
        return np.flatnonzero(np.diff(day, prepend=-1))


def move_together(grid: Filter, columns: Numbers) -> bool:
    """Return whether one of the columns follows from the others and the calendar."""
    left = grid.all_terms(columns)
    size = np.sqrt((left**2).sum(axis=0))
    if (size <= _ALIKE * np.sqrt((columns**2).sum(axis=0))).any():
        return True
    left = left / size
    return bool(np.linalg.eigvalsh(left.T @ left)[0] < _ALIKE)


def regress(grid: Filter, columns: Numbers, cpu_us: Numbers) -> Regression:
    """Return the regression of CPU time on some columns, the calendar taken out of both."""
    left, target = grid.all_terms(columns), grid.all_terms(cpu_us)
    scale = left.std(axis=0)
    left = left / scale
    coefficients = np.linalg.lstsq(left, target, rcond=None)[0]
    memory = np.zeros(grid.memory)
    for _ in range(_ROUNDS):
        noise = target - left @ coefficients
        far = _VERY_FAR * _spread(noise)
        memory = grid.autoregression(np.clip(noise, -far, far))
        x, y = grid.filtered(left, memory), grid.filtered(target, memory)
        coefficients = np.linalg.lstsq(x, y, rcond=None)[0]
    unclipped, inverse = y, np.linalg.pinv(x)
    clipped: Flags = np.zeros(len(y), bool)
    for _ in range(_HUBER_ROUNDS):
        fitted = x @ coefficients
        rest = unclipped - fitted
        far = _FAR * _spread(rest)
        clipped = np.abs(rest) > far
        y = grid.terms(fitted + np.clip(rest, -far, far))
        coefficients = inverse @ y
    rest = y - x @ coefficients
    terms = grid.terms.count + columns.shape[1]
    free = max(len(y) - terms, 1)
    # Time terms and clipped values let the fits without a day differ less than they would.
    correction = len(y) / free / (1 - clipped.mean()) ** 2
    noise = target - left @ coefficients
    variation = max(float(((cpu_us - cpu_us.mean()) ** 2).sum()), 1e-300)
    effective = len(y) * (1 - memory.sum()) ** 2 * noise.var() / max(rest.var(), 1e-300)
    return Regression(
        coefficients / scale,
        _jackknife(x, y, grid.block) * correction / np.outer(scale, scale),
        len(grid.block),
        len(y),
        terms,
        memory,
        100 * float(clipped.mean()),
        float((rest[1:] * rest[:-1]).sum() / max((rest * rest).sum(), 1e-300)),
        1 - float((target**2).sum()) / variation,
        float(((left @ coefficients) ** 2).sum()) / variation,
        float(min(effective, len(y))),
        np.linalg.inv(x.T @ x) * (rest @ rest) / free / np.outer(scale, scale),
    )


def _spread(noise: Numbers) -> float:
    return _SCALE * float(np.median(np.abs(noise)))


def _jackknife(x: Numbers, y: Numbers, block: Whole) -> Numbers:
    """Return the covariance of the coefficients from the fits that leave out one block each."""
    squares = np.add.reduceat(x[:, :, None] * x[:, None, :], block)
    products = np.add.reduceat(x * y[:, None], block)
    left = squares.sum(axis=0) - squares
    # A column that only one block has becomes 0 without it.
    left = left + _NEARLY_ZERO * len(x) * np.eye(x.shape[1])
    without = np.linalg.solve(left, (products.sum(axis=0) - products)[..., None])[..., 0]
    off = without - without.mean(axis=0)
    return np.asarray((len(block) - 1) / len(block) * off.T @ off)
