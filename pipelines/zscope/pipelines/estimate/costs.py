"""Estimate what full and resumed handshakes and megabytes cost on a system, and what TLS costs in all.

Each cost is a range, which `attribution` derives from the CPU time of the address spaces (SMF 30), or of the
LPAR alone: what moves with TLS contains the work that the servers do for a connection. There is a value only
on a condition that is named, or if the range itself is narrow.

Apart from that there is the difference at equal load: CPU time on full handshakes and a smooth function of
the number of all handshakes. It compares intervals with the same number of handshakes and a different mix,
so other work that follows the load has no effect (Robinson 1988). Work that servers do for new clients, such
as a logon, has.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from zscope.pipelines.estimate.attribution import FULL, MB, RESUMED, attribute
from zscope.pipelines.estimate.clocks import compare_clocks
from zscope.pipelines.estimate.intervals import DAY_S, on_grid
from zscope.pipelines.estimate.regression import Estimate, Prewhitening, is_collinear, regress
from zscope.pipelines.estimate.statuses import Reason, Status, reason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.pipelines.estimate.attribution import Attribution, Value
    from zscope.pipelines.estimate.clocks import ClockDifference
    from zscope.pipelines.estimate.intervals import Grid, Numbers, SystemIntervals
    from zscope.pipelines.estimate.regression import Regression

FEWEST_STEPS = 88
"""22 hours: in a day of records, the first and the last intervals are often incomplete."""
_STEPS_OF_COEFFICIENT = 3
"""Least number of steps for each coefficient of the regression, time effects included."""
_LIMIT_SHARE, _MOST_AT_LIMIT_PCT = 0.95, 1.0
_FEWEST_WITH = 6
"""A kind of handshake is estimated if at least so many steps have one."""
_WEEK_DAYS = 7
_DAYS_FOR_NEIGHBOURS = 60
"""From here on, the bias by handshakes that are counted one interval early or late would be larger than the
standard error."""
_MOST_OUTLIERS_PCT, _MOST_AUTOCORRELATION = 10.0, 0.3
_BELOW_ZERO = 0.995
"""Quantile that shows a cost below zero. With 0.975, costs of nearly zero would be refused too often."""
_PEAK_S = 4 * 3600
_NARROW = 0.1
"""Half of the width of a range, as a share of its middle, up to which its middle is an estimate."""
_LOG_OFFSET = 0.001
"""Added to rates before their logarithm, as a share of their mean."""
_ROUNDING = 1e-9
LEAST_COVERED, _MOSTLY_COVERED = 0.5, 0.9
"""Share of the time that the data must cover for a price, and for one without a condition. Below a half, a
price would say more about time without data than about time with data."""
PARTS = {
    "full handshakes": (1, 0, 0),
    "resumed handshakes": (0, 1, 0),
    "handshakes": (1, 1, 0),
    "bulk data": (0, 0, 1),
    "TLS": (1, 1, 1),
}
"""The parts of the price, with the costs that each of them contains: full, resumed, megabyte."""
ITEMS = (
    ("full handshake", "us"),
    ("resumed handshake", "us"),
    ("full less resumed", "us"),
    ("mean handshake", "us"),
    ("megabyte", "us"),
    *((part, unit) for unit in ("s/day", "% of LPAR", "% of peak") for part in PARTS),
)
"""The costs and parts of the price, with their units."""
_OF_ONE_KIND = ("full handshakes", "resumed handshakes")


@dataclass(frozen=True)
class TlsCost:
    """A cost or a price, with its range or interval and its status."""

    item: str
    unit: str
    status: Status
    value: float | None = None
    low: float | None = None
    high: float | None = None
    conditional_low: float | None = None
    """The 95 % interval of the value if the condition of its status is true; the range does not need it."""
    conditional_high: float | None = None

    @property
    def other_work_most_pct(self) -> float | None:
        """Share of the upper end that can be work of applications at most."""
        if self.low is None or not self.high:
            return None
        return 100 * (1 - self.low / self.high)


@dataclass(frozen=True)
class FittedSystem:
    """The regressions of one system. Coefficients are in the order full, resumed, megabyte."""

    attribution: Attribution
    """What the CPU time says about the costs of TLS."""
    levels: Regression
    """CPU time on full handshakes, resumed handshakes and megabytes."""
    difference: Regression | None
    """CPU time on full handshakes at equal load: its coefficient is full less resumed."""
    rates: Numbers
    """Mean full handshakes, resumed handshakes and megabytes per second."""
    only_mean: Reason | None
    """Why full and resumed handshakes cannot be estimated separately."""
    clocks: ClockDifference

    def value(self, weights: Numbers) -> Value | None:
        """Return a weighted sum of costs with its conditions; none from moved counts, which are not exact."""
        return None if self.clocks.differ else self.attribution.value(weights)

    @property
    def mean_handshake(self) -> Numbers:
        """The weights of a handshake of the mean mix."""
        handshakes = self.rates * [1, 1, 0]
        return np.asarray(handshakes / handshakes.sum())

    def full_less_resumed(self) -> Estimate | None:
        """Return the difference at equal load."""
        return None if self.difference is None else self.difference.estimate(np.ones(1))


@dataclass(frozen=True)
class PerDay:
    """What a system does in 24 hours, on average over the intervals that are used."""

    handshakes: float
    full_handshakes: float | None
    """None if full and resumed handshakes are not counted apart."""
    resumed_handshakes: float | None
    megabytes: float
    cpu_s: float


@dataclass(frozen=True)
class SystemEstimate:
    """What TLS costs on a system."""

    status: Status
    """The status of the data: refused if nothing is estimated."""
    costs: tuple[TlsCost, ...]
    step_s: int
    steps: int
    days: int
    covered_share: float
    """Share of the time of the period that the steps cover."""
    per_day: PerDay | None
    """None if no interval can be used."""
    fitted: FittedSystem | None = None

    def cost(self, item: str, unit: str = "us") -> TlsCost:
        """Return a cost, or with its unit a part of the price."""
        return next(cost for cost in self.costs if (cost.item, cost.unit) == (item, unit))


def estimate_costs(intervals: SystemIntervals) -> SystemEstimate:
    """Estimate what TLS costs on a system, from at most the last 92 days."""
    grid = on_grid(intervals)
    per_day = _per_day(grid)
    fitted = None
    reasons: tuple[Reason, ...]
    refused = _refusal_of_data(grid)
    if refused is None:
        prewhitening = Prewhitening(grid.step, grid.steps_of_day, _logarithm(grid.full + grid.resumed))
        refused = _refusal_of_gaps(grid, prewhitening)
        if refused is None:
            clocks = compare_clocks(grid, prewhitening)
            grid = clocks.moved(grid)
            fitted = _fitted(grid, prewhitening, clocks)
            refused = clocks.refusal or _refusal_of_fit(fitted)
    if refused or fitted is None:
        reasons = (refused,) if refused else ()
        costs = tuple(TlsCost(item, unit, Status(reasons)) for item, unit in ITEMS)
    else:
        reasons = _conditions(grid, fitted)
        costs = (*_costs(fitted, reasons), *_prices(grid, fitted, reasons))
    return SystemEstimate(
        Status(reasons),
        costs,
        grid.step_s,
        len(grid.step),
        grid.days,
        grid.covered_share,
        per_day,
        fitted,
    )


def _per_day(grid: Grid) -> PerDay | None:
    if not len(grid.step):
        return None
    full, resumed, megabytes, cpu_us = (
        float(grid.mean(rates)) * DAY_S for rates in (grid.full, grid.resumed, grid.mb, grid.cpu_us)
    )
    if not grid.kinds_known:
        return PerDay(full + resumed, None, None, megabytes, cpu_us / 1e6)
    return PerDay(full + resumed, full, resumed, megabytes, cpu_us / 1e6)


def _refusal_of_data(grid: Grid) -> Reason | None:
    """Return why nothing can be estimated from these data."""
    refused = None
    busy = np.zeros(1) if grid.busy_share is None else grid.busy_share
    if not grid.fits:
        refused = reason("odd_lengths", share_pct=100 * (1 - grid.fitting_share))
    elif len(grid.step) < FEWEST_STEPS:
        refused = not_covered(grid.covered_share) or _too_few(grid, len(grid.step), FEWEST_STEPS)
    elif np.count_nonzero(grid.full + grid.resumed) < _FEWEST_WITH:
        refused = reason("no_handshake")
    elif np.ptp(grid.cpu_us) <= _ROUNDING * abs(grid.cpu_us.mean()):
        refused = reason("constant_cpu")
    elif (limit_pct := 100 * float((busy >= _LIMIT_SHARE).mean())) > _MOST_AT_LIMIT_PCT:
        refused = reason("at_limit", limit_pct=limit_pct)
    return refused


def _refusal_of_gaps(grid: Grid, prewhitening: Prewhitening) -> Reason | None:
    """Return whether gaps leave too few steps whose lags are known."""
    needed = _STEPS_OF_COEFFICIENT * (prewhitening.all_effects.count + 3)
    return _too_few(grid, len(prewhitening.rows), needed) if len(prewhitening.rows) < needed else None


def _refusal_of_fit(fitted: FittedSystem | None) -> Reason | None:
    """Return whether the estimates contradict the assumptions."""
    if fitted is None:
        return reason("handshakes_follow_bytes")
    ends = fitted.attribution.ends
    kinds = [*np.eye(3), fitted.rates]
    if any(ends(kind, _BELOW_ZERO)[1] < 0 for kind in kinds) or ends(fitted.rates)[1] < ends(fitted.rates)[0]:
        return reason("below_zero")
    return None


def not_covered(covered_share: float) -> Reason | None:
    """Return whether the data cover too little of the time to state what TLS costs in all of it."""
    if covered_share >= LEAST_COVERED:
        return None
    return reason("not_covered", covered_pct=100 * covered_share, needed_pct=100 * LEAST_COVERED)


def _conditions_of_coverage(grid: Grid) -> tuple[Reason, ...]:
    """Return the condition that applies to prices if the data do not cover all of the time."""
    if grid.covered_share >= _MOSTLY_COVERED:
        return ()
    return (reason("partly_covered", missing_pct=100 * (1 - grid.covered_share)),)


def _too_few(grid: Grid, intervals: int, needed: int) -> Reason:
    return reason("few_intervals", intervals=intervals, minutes=grid.step_s // 60, needed=needed)


def _fitted(grid: Grid, prewhitening: Prewhitening, clocks: ClockDifference) -> FittedSystem | None:
    """Return the regressions; None if even handshakes and megabytes are collinear."""
    columns = np.stack([grid.full, grid.resumed, grid.mb], axis=1)
    present = np.count_nonzero(columns, axis=0) >= _FEWEST_WITH
    basis = np.eye(3)[:, present]
    only_mean = None if present[FULL] and present[RESUMED] else reason("one_kind")
    if not grid.kinds_known:
        only_mean = reason("kinds_not_counted")
    elif is_collinear(prewhitening, columns @ basis):
        only_mean = reason("same_mix")
    if only_mean and only_mean.code != "one_kind":
        # Both kinds of handshakes get the same cost.
        basis = np.array([[1.0, 0], [1, 0], [0, 1]])[:, [True, bool(present[MB])]]
        if is_collinear(prewhitening, columns @ basis):
            return None
    spaces = grid.tls_spaces_us
    target = grid.cpu_us if spaces is None else spaces
    levels = regress(prewhitening, columns @ basis, target).of(basis)
    rates = grid.mean(columns)
    difference = None
    if only_mean is None:
        at_equal_load, of_full = _columns_at_equal_load(grid, with_mb=bool(present[MB]))
        if is_collinear(prewhitening, at_equal_load):
            only_mean = reason("same_mix")
        else:
            difference = regress(prewhitening, at_equal_load, target).of(of_full[None, :])
    attribution = attribute(grid, prewhitening, basis, kinds_apart=only_mean is None)
    fitted = FittedSystem(attribution, levels, difference, rates, only_mean, clocks)
    separate = fitted.full_less_resumed()
    # An error larger than a whole handshake says nothing about its kinds.
    if separate and separate.high - separate.value > levels.estimate(fitted.mean_handshake).high:
        return replace(fitted, only_mean=reason("same_mix"))
    return fitted


def _columns_at_equal_load(grid: Grid, *, with_mb: bool) -> tuple[Numbers, Numbers]:
    """Return the columns of the regression at equal load, and which of them are full handshakes.

    The others are smooth functions of the load, and the load itself, because what handshakes and megabytes
    cost is proportional to it. If there are many days, the full handshakes of the step before and of the step
    after are columns as well, because some handshakes are counted one step early or late.
    """
    handshakes = grid.full + grid.resumed
    load = _standardized(_logarithm(handshakes))
    full, others = [grid.full], [load, load**2, load**3, _standardized(handshakes)]
    if grid.days >= _DAYS_FOR_NEIGHBOURS:
        before, after = grid.neighbours
        full += [grid.full[before], grid.full[after]]
        others += [load[before], load[after]]
    if with_mb:
        others += [_standardized(_logarithm(grid.mb)), _standardized(grid.mb)]
    return np.stack([*full, *others], axis=1), np.repeat([1.0, 0.0], [len(full), len(others)])


def _conditions(grid: Grid, fitted: FittedSystem) -> tuple[Reason, ...]:
    """Return the conditions that apply to all estimates of a system."""
    conditions = [] if fitted.clocks.condition is None else [fitted.clocks.condition]
    if grid.days < _WEEK_DAYS:
        conditions.append(reason("short", days=grid.days))
    if fitted.levels.outlier_pct > _MOST_OUTLIERS_PCT:
        conditions.append(reason("outliers", outlier_pct=fitted.levels.outlier_pct))
    autocorrelation = fitted.levels.residual_autocorrelation
    if abs(autocorrelation) > _MOST_AUTOCORRELATION:
        conditions.append(reason("residual_autocorrelated", autocorrelation=autocorrelation))
    return tuple(conditions)


def _costs(fitted: FittedSystem, conditions: tuple[Reason, ...]) -> Iterator[TlsCost]:
    """Yield what a handshake of each kind and a megabyte cost."""
    full, resumed, mb = np.eye(3)
    mean = fitted.mean_handshake
    difference = fitted.full_less_resumed()
    if fitted.only_mean or difference is None:
        for item in ("full handshake", "resumed handshake", "full less resumed"):
            yield _refused(item, "us", fitted.only_mean)
    else:
        yield _level(fitted, "full handshake", "us", full, conditions)
        yield _level(fitted, "resumed handshake", "us", resumed, conditions)
        if fitted.attribution.charged_to is None and not fitted.clocks.differ:
            yield _at_equal_load(difference, conditions)
        else:
            yield _level(fitted, "full less resumed", "us", full - resumed, conditions)
    yield _level(fitted, "mean handshake", "us", mean, conditions)
    if fitted.rates[MB] > 0:
        yield _level(fitted, "megabyte", "us", mb, conditions)
    else:
        yield _refused("megabyte", "us", reason("no_megabyte"))


def _prices(grid: Grid, fitted: FittedSystem, conditions: tuple[Reason, ...]) -> Iterator[TlsCost]:
    """Yield the CPU time of TLS per day, and its share of the CPU time, in all and in the busiest four
    hours.
    """
    refused = not_covered(grid.covered_share)
    conditions = (*conditions, *_conditions_of_coverage(grid))
    units = {"s/day": fitted.rates * DAY_S / 1e6, "% of LPAR": fitted.rates * 100 / grid.mean(grid.cpu_us)}
    peak = _peak(grid)
    if peak is not None:
        rates = np.array([grid.full[peak].mean(), grid.resumed[peak].mean(), grid.mb[peak].mean()])
        units["% of peak"] = rates * 100 / grid.cpu_us[peak].mean()
    for unit, weights in units.items():
        for part, contained in PARTS.items():
            if refused:
                yield _refused(part, unit, refused)
            elif part in _OF_ONE_KIND and fitted.only_mean:
                yield _refused(part, unit, fitted.only_mean)
            else:
                yield _level(fitted, part, unit, weights * contained, conditions)


def _refused(item: str, unit: str, why: Reason | None) -> TlsCost:
    return TlsCost(item, unit, Status((why,) if why else ()))


def _level(
    fitted: FittedSystem, item: str, unit: str, weights: Numbers, conditions: tuple[Reason, ...]
) -> TlsCost:
    """Return a weighted sum of costs with its status."""
    low, high = fitted.attribution.ends(weights)
    if high < low:
        return _refused(item, unit, reason("below_zero"))
    bounds = _bounds(low, high, unit)
    found = fitted.value(weights)
    if high - low <= _NARROW * (high + low) and not fitted.clocks.differ:
        cost = TlsCost(item, unit, Status(conditions), (low + high) / 2, low, high)
        narrow = reason("narrow_range", most_pct=cost.other_work_most_pct or 0.0)
        return replace(cost, status=Status((narrow, *conditions)))
    if found is None or not low <= found.sum.value <= high:
        code = "range_of_lpar" if fitted.attribution.charged_to is None else "range_of_spaces"
        return TlsCost(item, unit, Status((reason(code, bounds=bounds), *conditions)), None, low, high)
    status = Status((_with_value(found, bounds, unit), *conditions))
    return TlsCost(item, unit, status, found.sum.value, low, high, found.sum.low(), found.sum.high())


def _at_equal_load(difference: Estimate, conditions: tuple[Reason, ...]) -> TlsCost:
    """Return what a full handshake costs more than a resumed one, from the CPU time of the LPAR.

    It costs at least nothing more, and at most the difference, which contains the work for new clients.
    """
    low, high = 0.0, max(0.0, difference.high)
    value = _with_unit(difference.value, "us")
    status = Status((reason("equal_load", bounds=_bounds(low, high, "us"), value=value), *conditions))
    return TlsCost(
        "full less resumed", "us", status, difference.value, low, high, difference.low, difference.high
    )


def _with_value(found: Value, bounds: str, unit: str) -> Reason:
    """Return the sentence with the value and what has to be true for it."""
    conditions = " and ".join(reason(code).sentence for code in found.conditions)
    return reason("value", bounds=bounds, value=_with_unit(found.sum.value, unit), conditions=conditions)


def _bounds(low: float, high: float, unit: str) -> str:
    at_most = f"at most {_with_unit(high, unit)}"
    return f"at least {_with_unit(low, unit)} and {at_most}" if low > 0 else at_most


def _peak(grid: Grid) -> slice | None:
    """Return the four hours without a gap that have the most CPU time."""
    width = _PEAK_S // grid.step_s
    starts = np.flatnonzero(grid.step[width - 1 :] - grid.step[: len(grid.step) - width + 1] == width - 1)
    if not len(starts):
        return None
    total = np.concatenate([[0.0], np.cumsum(grid.cpu_us)])
    first = int(starts[np.argmax(total[starts + width] - total[starts])])
    return slice(first, first + width)


def _logarithm(rates: Numbers) -> Numbers:
    return np.asarray(np.log(rates + _LOG_OFFSET * max(float(rates.mean()), 1e-300)))


def _standardized(values: Numbers) -> Numbers:
    return np.asarray((values - values.mean()) / max(float(values.std()), 1e-300))


def _with_unit(value: float, unit: str) -> str:
    """Return a value with three digits.

    >>> _with_unit(19276.6, "s/day")
    '19,277 s/day'
    """
    digits = 0 if abs(value) >= 100 or not value else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f} {unit}"
