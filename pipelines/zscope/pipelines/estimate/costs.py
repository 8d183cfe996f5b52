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

from zscope.pipelines.estimate.address_spaces import MB, separate_costs
from zscope.pipelines.estimate.attribution import attribute
from zscope.pipelines.estimate.clocks import compare_clocks
from zscope.pipelines.estimate.intervals import DAY_S, FEWEST_WITH, logarithm, on_grid
from zscope.pipelines.estimate.regression import Estimate, Prewhitening, is_collinear, regress
from zscope.pipelines.estimate.stated_costs import (
    PARTS,
    FittedCosts,
    TlsCost,
    at_equal_load,
    level,
    not_covered,
    prices,
    refused_cost,
)
from zscope.pipelines.estimate.statuses import Reason, Status, reason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.pipelines.estimate.clocks import ClockDifference
    from zscope.pipelines.estimate.intervals import Grid, Numbers, SystemIntervals
    from zscope.pipelines.estimate.regression import Regression

FEWEST_STEPS = 88
"""22 hours: in a day of records, the first and the last intervals are often incomplete."""
_LIMIT_SHARE, _MOST_AT_LIMIT_PCT = 0.95, 1.0
_WEEK_DAYS = 7
_DAYS_FOR_NEIGHBOURS = 60
"""From here on, the bias by handshakes that are counted one interval early or late would be larger than the
standard error."""
_MOST_OUTLIERS_PCT, _MOST_AUTOCORRELATION = 10.0, 0.3
_ROUNDING = 1e-9
ITEMS = (
    ("full handshake", "us"),
    ("resumed handshake", "us"),
    ("full less resumed", "us"),
    ("mean handshake", "us"),
    ("megabyte", "us"),
    *((part, unit) for unit in ("s/day", "% of LPAR", "% of peak") for part in PARTS),
)
"""The costs and parts of the price, with their units."""


@dataclass(frozen=True)
class FittedSystem(FittedCosts):
    """The regressions of one system. Coefficients are in the order full, resumed, megabyte."""

    prewhitening: Prewhitening
    levels: Regression
    """CPU time on full handshakes, resumed handshakes and megabytes."""
    difference: Regression | None
    """CPU time on full handshakes at equal load: its coefficient is full less resumed."""

    conditions: tuple[Reason, ...] = ()
    """The conditions that apply to all costs."""

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
        prewhitening = Prewhitening(grid.step, grid.steps_of_day, logarithm(grid.full + grid.resumed))
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
        fitted = replace(fitted, conditions=reasons)
        costs = (*_costs(fitted, reasons), *prices(fitted, reasons))
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
        refused = not_covered(grid.covered_share) or too_few(grid, len(grid.step), FEWEST_STEPS)
    elif np.count_nonzero(grid.full + grid.resumed) < FEWEST_WITH:
        refused = reason("no_handshake")
    elif np.ptp(grid.cpu_us) <= _ROUNDING * abs(grid.cpu_us.mean()):
        refused = reason("constant_cpu")
    elif (limit_pct := 100 * float((busy >= _LIMIT_SHARE).mean())) > _MOST_AT_LIMIT_PCT:
        refused = reason("at_limit", limit_pct=limit_pct)
    return refused


def _refusal_of_gaps(grid: Grid, prewhitening: Prewhitening) -> Reason | None:
    """Return whether gaps leave too few steps whose lags are known."""
    needed = prewhitening.steps_needed(3)
    return too_few(grid, len(prewhitening.rows), needed) if len(prewhitening.rows) < needed else None


def _refusal_of_fit(fitted: FittedSystem | None) -> Reason | None:
    """Return whether the estimates contradict the assumptions."""
    if fitted is None:
        return reason("handshakes_follow_bytes")
    return fitted.below_zero


def too_few(grid: Grid, intervals: int, needed: int) -> Reason:
    """Return that more steps are needed."""
    return reason("few_intervals", intervals=intervals, minutes=grid.step_s // 60, needed=needed)


def _fitted(grid: Grid, prewhitening: Prewhitening, clocks: ClockDifference) -> FittedSystem | None:
    """Return the regressions; None if even handshakes and megabytes are collinear."""
    columns = grid.tls
    basis, only_mean = separate_costs(prewhitening, columns, kinds_known=grid.kinds_known)
    if basis is None:
        return None
    spaces = grid.tls_spaces_us
    target = grid.cpu_us if spaces is None else spaces
    levels = regress(prewhitening, columns @ basis, target).of(basis)
    rates = grid.mean(columns)
    difference = None
    if only_mean is None:
        at_equal_load, of_full = _columns_at_equal_load(grid, with_mb=bool(basis[MB].any()))
        if is_collinear(prewhitening, at_equal_load):
            only_mean = reason("same_mix")
        else:
            difference = regress(prewhitening, at_equal_load, target).of(of_full[None, :])
    attribution = attribute(grid, prewhitening, basis, kinds_apart=only_mean is None)
    fitted = FittedSystem(grid, attribution, rates, only_mean, clocks, prewhitening, levels, difference)
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
    load = _standardized(logarithm(handshakes))
    full, others = [grid.full], [load, load**2, load**3, _standardized(handshakes)]
    if grid.days >= _DAYS_FOR_NEIGHBOURS:
        before, after = grid.neighbours
        full += [grid.full[before], grid.full[after]]
        others += [load[before], load[after]]
    if with_mb:
        others += [_standardized(logarithm(grid.mb)), _standardized(grid.mb)]
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
            yield refused_cost(item, "us", fitted.only_mean)
    else:
        yield level(fitted, "full handshake", "us", full, conditions)
        yield level(fitted, "resumed handshake", "us", resumed, conditions)
        if fitted.attribution.charged_to is None and not fitted.clocks.differ:
            yield at_equal_load(difference, conditions)
        else:
            yield level(fitted, "full less resumed", "us", full - resumed, conditions)
    yield level(fitted, "mean handshake", "us", mean, conditions)
    if fitted.rates[MB] > 0:
        yield level(fitted, "megabyte", "us", mb, conditions)
    else:
        yield refused_cost("megabyte", "us", reason("no_megabyte"))


def _standardized(values: Numbers) -> Numbers:
    return np.asarray((values - values.mean()) / max(float(values.std()), 1e-300))
