"""Linear regression of CPU time on counts per interval, with autocorrelated errors and outliers.

Time effects are removed first. The autocorrelation of the errors is removed by prewhitening
(Cochrane and Orcutt 1949), outliers are winsorized (Huber 1964), and the covariance of the coefficients comes
from a jackknife over days, which assumes nothing about the errors within a day.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from zscope.pipelines.estimate.student_distribution import student

if TYPE_CHECKING:
    from zscope.pipelines.estimate.intervals import Flags, Numbers, Whole

_UPPER = 0.975
"""Quantile of the upper end of a 95 % interval."""
_ORDER, _SHORT_ORDER = 4, 2
"""Orders of the autoregression; the second one for short or coarse series."""
_LONG_DAYS = 3
_STEPS_OF_COEFFICIENT = 3
"""Least number of steps for each coefficient of the regression, time effects included."""
_ROUNDS, _HUBER_ROUNDS = 3, 8
_SCALE = 1.4826
"""Ratio of the standard deviation to the median absolute deviation of normal errors."""
_OUTLIER, _EXTREME = 2.5, 4.0
"""Limits of residuals, in standard deviations."""
_LEAST_BLOCKS = 12
_STATIONARY = 0.999
_QUARTERS_OF_DAY = 96
_NEARLY_ZERO = 1e-12
_COLLINEAR = 1e-7
"""Least share of the variance of a column that the other columns do not explain."""
_HARMONICS, _MANY_HARMONICS = 12, 24
"""Number of harmonics of 24 hours: down to a period of two hours, or of one hour if there are many days."""
_MANY_DAYS = 28
"""From here on, what 12 harmonics leave of the daily curve would be larger than the standard error."""
_WEEK_DAYS = 7
_SHORT_DAYS = 1.5
_NO_VARIATION = 1e-9


@dataclass(frozen=True)
class Estimate:
    """A value with its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class WeightedSum:
    """A weighted sum of coefficients, of one regression or of several regressions of the same steps.

    Errors of address spaces are correlated, so an interval of a sum over spaces comes from the sum of their
    deviations, block by block.
    """

    value: float
    deviations: Numbers
    """How far the sum without each block is from the mean of these sums."""
    freedom: int

    def __add__(self, other: WeightedSum) -> WeightedSum:
        return WeightedSum(
            self.value + other.value,
            self.deviations + other.deviations,
            min(self.freedom, other.freedom),
        )

    @property
    def error(self) -> float:
        """The standard error."""
        return float(np.sqrt((self.deviations**2).sum()))

    def low(self, upper: float = _UPPER) -> float:
        """Return the lower end of an interval; `upper` is the quantile of its upper end."""
        return self.value - student(upper, self.freedom) * self.error

    def high(self, upper: float = _UPPER) -> float:
        """Return the upper end of an interval."""
        return self.value + student(upper, self.freedom) * self.error


@dataclass(frozen=True)
class Regression:
    """The coefficients of a regression with their deviations, and diagnostics."""

    coefficients: Numbers
    deviations: Numbers
    """Deviations of the coefficients in the jackknife, one row for each block."""
    freedom: int
    """Degrees of freedom of the deviations: blocks of the jackknife less coefficients. The blocks are days,
    or equal parts of the time if there are few days."""
    noise: float
    """Standard deviation of what the columns do not explain of the CPU time, without time effects."""
    outlier_pct: float
    """Share of the intervals whose residuals were winsorized."""
    residual_autocorrelation: float
    """Autocorrelation of the prewhitened residuals at lag 1."""
    time_share: float
    """Share of the variance of the CPU time that the time effects explain."""
    explained_share: float
    """Share of it that the columns explain."""

    def error(self, weights: Numbers) -> float:
        """Return the standard error of a linear combination of the coefficients."""
        return self.sum(weights).error

    def sum(self, weights: Numbers) -> WeightedSum:
        """Return a linear combination of the coefficients."""
        return WeightedSum(float(weights @ self.coefficients), self.deviations @ weights, self.freedom)

    def estimate(self, weights: Numbers, upper: float = _UPPER) -> Estimate:
        """Return a linear combination of the coefficients with its interval; `upper` is its upper
        quantile.
        """
        value, half = float(weights @ self.coefficients), student(upper, self.freedom) * self.error(weights)
        return Estimate(value, value - half, value + half)

    def of(self, basis: Numbers) -> Regression:
        """Return the regression of linear combinations of the coefficients."""
        return replace(
            self,
            coefficients=basis @ self.coefficients,
            deviations=self.deviations @ basis.T,
        )


def is_short(step: Whole, steps_of_day: int) -> bool:
    """Return whether the steps cover about one day: a daily curve cannot be estimated from it."""
    return bool(step[-1] - step[0] < _SHORT_DAYS * steps_of_day)


class TimeEffects:
    """Removes the level of each day and the daily curve from columns.

    The level of each calendar day includes weekdays, growth, and changes of the system from one day to the
    next. There is one daily curve, or one for workdays and one for weekends if there is a week of data. With
    `profile`, the daily curve of the load, its height on each day is removed as well: on a busy day other
    work has a higher curve too. From about one day, a cubic curve is removed instead.
    """

    def __init__(self, step: Whole, steps_of_day: int, profile: Numbers | None = None) -> None:
        day = step // steps_of_day
        self._profile: Numbers | None = None
        if is_short(step, steps_of_day):
            self._starts = np.zeros(1, np.int64)
            time = 2 * (step - step[0]) / max(int(step[-1] - step[0]), 1) - 1
            curves = np.stack([time, time**2, time**3], axis=1)
        else:
            self._starts = np.flatnonzero(np.diff(day, prepend=-1))
            number = _MANY_HARMONICS if len(self._starts) >= _MANY_DAYS else _HARMONICS
            curves = _harmonics(step, steps_of_day, number)
            weekend = day % _WEEK_DAYS >= 5
            if len(self._starts) >= _WEEK_DAYS and weekend.any() and not weekend.all():
                curves = np.concatenate([curves * weekend[:, None], curves * ~weekend[:, None]], axis=1)
        self._sizes = np.diff(self._starts, append=len(step))
        self.count = len(self._starts)
        """Number of parameters of the time effects."""
        if profile is not None and len(self._starts) > 1:
            self._profile = self._unit_length(self._without_days(profile))
            self.count *= 2
        curves = self._without_days(curves)
        values, vectors = np.linalg.eigh(curves.T @ curves)
        kept = values > _NO_VARIATION * values[-1]
        self._curves = curves @ (vectors[:, kept] / np.sqrt(values[kept]))
        self.count += int(kept.sum())

    def __call__(self, columns: Numbers) -> Numbers:
        """Return one or several columns without time effects."""
        residuals = self._without_days(columns)
        return np.asarray(residuals - self._curves @ (self._curves.T @ residuals))

    def _without_days(self, columns: Numbers) -> Numbers:
        """Return columns without the level of each day and without the height of the profile."""
        wide = columns.ndim > 1
        sizes = self._sizes[:, None] if wide else self._sizes
        residuals = columns - self._repeat(np.add.reduceat(columns, self._starts) / sizes)
        if self._profile is not None:
            profile = self._profile[:, None] if wide else self._profile
            heights = np.add.reduceat(residuals * profile, self._starts)
            residuals = residuals - profile * self._repeat(heights)
        return np.asarray(residuals)

    def _unit_length(self, profile: Numbers) -> Numbers:
        length = self._repeat(np.sqrt(np.add.reduceat(profile**2, self._starts)))
        return np.divide(profile, length, out=np.zeros_like(profile), where=length > _NO_VARIATION)

    def _repeat(self, of_days: Numbers) -> Numbers:
        """Return the value of each step from those of the days."""
        return np.repeat(of_days, self._sizes, axis=0)


def _harmonics(step: Whole, steps_of_day: int, number: int) -> Numbers:
    most = min(number, steps_of_day // 2 - 1)
    angle = 2 * np.pi * np.outer(np.arange(steps_of_day), np.arange(1, most + 1)) / steps_of_day
    waves = np.concatenate([np.cos(angle), np.sin(angle)], axis=1)
    return np.asarray(waves[step % steps_of_day])


class Prewhitening:
    """Removes time effects and autocorrelation from the columns of a regression."""

    def __init__(self, step: Whole, steps_of_day: int, load: Numbers) -> None:
        self.step = step
        self.steps_of_day = steps_of_day
        is_long = step[-1] - step[0] >= _LONG_DAYS * steps_of_day and steps_of_day >= _QUARTERS_OF_DAY
        self.order = _ORDER if is_long else _SHORT_ORDER
        rows = np.arange(self.order, len(step))
        self.rows = rows[step[rows] - step[rows - self.order] == self.order]
        """The intervals without a gap in the intervals before them that the autoregression reads."""
        self._profile = load - TimeEffects(step, steps_of_day)(load)
        self.all_effects = TimeEffects(step, steps_of_day, self._profile)

    @cached_property
    def effects(self) -> TimeEffects:
        """The time effects of `rows`."""
        return TimeEffects(self.step[self.rows], self.steps_of_day, self._profile[self.rows])

    def steps_needed(self, columns: int) -> int:
        """Return the least number of steps for a regression on so many columns."""
        return _STEPS_OF_COEFFICIENT * (self.all_effects.count + columns)

    def filtered(self, columns: Numbers, autoregression: Numbers) -> Numbers:
        """Return the prewhitened columns of `rows`, without time effects."""
        predicted = sum(autoregression[lag] * columns[self.rows - lag - 1] for lag in range(self.order))
        return self.effects(columns[self.rows] - predicted)

    def autoregression(self, residuals: Numbers) -> Numbers:
        """Return the coefficients of the autoregression of residuals (Yule-Walker); gaps are left out."""
        step = self.step
        at = np.full(int(step[-1] - step[0]) + 1, np.nan)
        at[step - step[0]] = residuals
        lags = range(self.order + 1)
        products = np.array([np.nanmean(at[lag:] * at[: len(at) - lag]) for lag in lags])
        if products[0] <= 0:
            return np.zeros(self.order)
        apart = np.abs(np.subtract.outer(np.arange(self.order), np.arange(self.order)))
        matrix = products[apart] + _COLLINEAR * products[0] * np.eye(self.order)
        coefficients = np.linalg.solve(matrix, products[1:])
        total = abs(coefficients.sum())
        return np.asarray(coefficients if total < _STATIONARY else coefficients * _STATIONARY / total)

    @cached_property
    def block(self) -> Whole:
        """The first row of each block of the jackknife."""
        day = self.step[self.rows] // self.steps_of_day
        if len(np.unique(day)) < _LEAST_BLOCKS:
            day = np.arange(len(day)) * _LEAST_BLOCKS // len(day)
        return np.flatnonzero(np.diff(day, prepend=-1))


def is_collinear(prewhitening: Prewhitening, columns: Numbers) -> bool:
    """Return whether the columns are collinear, apart from time effects."""
    residuals = prewhitening.all_effects(columns)
    size = np.sqrt((residuals**2).sum(axis=0))
    if (size <= _COLLINEAR * np.sqrt((columns**2).sum(axis=0))).any():
        return True
    residuals = residuals / size
    return bool(np.linalg.eigvalsh(residuals.T @ residuals)[0] < _COLLINEAR)


def regress(prewhitening: Prewhitening, columns: Numbers, cpu_us: Numbers) -> Regression:
    """Return the regression of CPU time on columns, without time effects."""
    predictors, target = prewhitening.all_effects(columns), prewhitening.all_effects(cpu_us)
    scale = predictors.std(axis=0)
    predictors = predictors / scale
    coefficients = np.linalg.lstsq(predictors, target, rcond=None)[0]
    for _ in range(_ROUNDS):
        residuals = target - predictors @ coefficients
        autoregression = prewhitening.autoregression(clipped(residuals, _EXTREME))
        x = prewhitening.filtered(predictors, autoregression)
        y = prewhitening.filtered(target, autoregression)
        coefficients = np.linalg.lstsq(x, y, rcond=None)[0]
    coefficients, y, is_outlier = _without_outliers(prewhitening, x, y, coefficients)
    residuals = y - x @ coefficients
    free = max(len(y) - prewhitening.effects.count - columns.shape[1], 1)
    # Time effects and winsorized values make the estimates of the jackknife differ too little.
    correction = len(y) / free / (1 - is_outlier.mean()) ** 2
    variation = max(float(((cpu_us - cpu_us.mean()) ** 2).sum()), 1e-300)
    return Regression(
        coefficients / scale,
        _jackknife(x, y, prewhitening.block) * np.sqrt(correction) / scale,
        max(len(prewhitening.block) - columns.shape[1], 1),
        _deviation(target - predictors @ coefficients),
        100 * float(is_outlier.mean()),
        float((residuals[1:] * residuals[:-1]).sum() / max((residuals * residuals).sum(), 1e-300)),
        1 - float((target**2).sum()) / variation,
        float(((predictors @ coefficients) ** 2).sum()) / variation,
    )


def _without_outliers(
    prewhitening: Prewhitening, x: Numbers, y: Numbers, coefficients: Numbers
) -> tuple[Numbers, Numbers, Flags]:
    """Return the coefficients with winsorized residuals, the winsorized values, and which values those
    are.
    """
    observed, inverse = y, np.linalg.pinv(x)
    is_outlier: Flags = np.zeros(len(y), bool)
    for _ in range(_HUBER_ROUNDS):
        fitted = x @ coefficients
        residuals = observed - fitted
        limit = _OUTLIER * _deviation(residuals)
        is_outlier = np.abs(residuals) > limit
        y = prewhitening.effects(fitted + np.clip(residuals, -limit, limit))
        coefficients = inverse @ y
    return coefficients, y, is_outlier


def clipped(residuals: Numbers, deviations: float) -> Numbers:
    """Return residuals of which none is larger than so many standard deviations."""
    limit = deviations * _deviation(residuals)
    return np.clip(residuals, -limit, limit)


def _deviation(residuals: Numbers) -> float:
    """Return the standard deviation, estimated from the median absolute deviation if that is not zero."""
    return _SCALE * float(np.median(np.abs(residuals))) or float(residuals.std())


def _jackknife(x: Numbers, y: Numbers, block: Whole) -> Numbers:
    """Return the deviations of the coefficients in regressions without one block each.

    The sum of their squares is the variance of a coefficient.
    """
    squares = np.add.reduceat(x[:, :, None] * x[:, None, :], block)
    products = np.add.reduceat(x * y[:, None], block)
    others = squares.sum(axis=0) - squares
    # A column that only one block has gets the coefficient 0 without it.
    others = others + _NEARLY_ZERO * len(x) * np.eye(x.shape[1])
    without = np.linalg.solve(others, (products.sum(axis=0) - products)[..., None])[..., 0]
    deviations = without - without.mean(axis=0)
    return np.asarray(np.sqrt((len(block) - 1) / len(block)) * deviations)
