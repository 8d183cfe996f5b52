"""State what handshakes, megabytes and TLS cost: the range, the value if there is one, and a status.

The costs are those of a system, or of a job: both have regressions, from which each cost is a weighted sum.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from zscope.pipelines.estimate.intervals import DAY_S
from zscope.pipelines.estimate.statuses import Reason, Status, reason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.pipelines.estimate.attribution import Attribution, Value
    from zscope.pipelines.estimate.clocks import ClockDifference
    from zscope.pipelines.estimate.intervals import Grid, Numbers
    from zscope.pipelines.estimate.regression import Estimate

_BELOW_ZERO = 0.995
"""Quantile that shows a cost below zero. With 0.975, costs of nearly zero would be refused too often."""
_PEAK_S = 4 * 3600
_NARROW = 0.1
"""Half of the width of a range, as a share of its middle, up to which its middle is an estimate."""
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
class FittedCosts:
    """What the regressions of a system or of a job say about costs."""

    grid: Grid
    """The steps, with the counts of the system or job, moved to the clock of the CPU time."""
    attribution: Attribution
    """What the CPU time says about the costs of TLS."""
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

    @property
    def below_zero(self) -> Reason | None:
        """Why nothing can be stated: a cost is below zero."""
        ends = self.attribution.ends
        low, high = ends(self.rates)
        if high < low or any(ends(kind, _BELOW_ZERO)[1] < 0 for kind in (*np.eye(3), self.rates)):
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


def prices(fitted: FittedCosts, conditions: tuple[Reason, ...]) -> Iterator[TlsCost]:
    """Yield the CPU time of TLS per day, and its share of the CPU time, in all and in the busiest four
    hours.
    """
    grid = fitted.grid
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
                yield refused_cost(part, unit, refused)
            elif part in _OF_ONE_KIND and fitted.only_mean:
                yield refused_cost(part, unit, fitted.only_mean)
            else:
                yield level(fitted, part, unit, weights * contained, conditions)


def refused_cost(item: str, unit: str, why: Reason | None) -> TlsCost:
    """Return a cost that is not known."""
    return TlsCost(item, unit, Status((why,) if why else ()))


def level(
    fitted: FittedCosts, item: str, unit: str, weights: Numbers, conditions: tuple[Reason, ...]
) -> TlsCost:
    """Return a weighted sum of costs with its status."""
    low, high = fitted.attribution.ends(weights)
    if high < low:
        return refused_cost(item, unit, reason("below_zero"))
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


def at_equal_load(difference: Estimate, conditions: tuple[Reason, ...]) -> TlsCost:
    """Return what a full handshake costs more than a resumed one, from the CPU time of the LPAR.

    It costs at least nothing more, and at most the difference, which contains the work for new clients.
    """
    item, unit = "full less resumed", "us"
    low, high = 0.0, difference.high
    if high <= low:
        return refused_cost(item, unit, reason("below_zero"))
    bounds = _bounds(low, high, unit)
    if difference.value < low:
        return TlsCost(
            item, unit, Status((reason("none_at_equal_load", bounds=bounds), *conditions)), None, low, high
        )
    found = reason("equal_load", bounds=bounds, value=_with_unit(difference.value, unit))
    status = Status((found, *conditions))
    return TlsCost(item, unit, status, difference.value, low, high, difference.low, difference.high)


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


def _with_unit(value: float, unit: str) -> str:
    """Return a value with three digits.

    >>> _with_unit(19276.6, "s/day")
    '19,277 s/day'
    """
    digits = 0 if abs(value) >= 100 or not value else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f} {unit}"
