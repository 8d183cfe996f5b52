"""Compare the price of TLS in two periods: costs, number of handshakes, and mix.

Each period has its own regression; their costs are compared at the mean rates of both (Oaxaca 1973, Blinder
1973). Other work cancels out if it is correlated with the handshakes in the same way in both periods. With
the CPU time of the address spaces with TLS, the interval is widened like that of the levels: by the change of
the same coefficients in the other address spaces.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from zscope.pipelines.estimate.attribution import FULL, MB, RESUMED
from zscope.pipelines.estimate.costs import not_covered
from zscope.pipelines.estimate.intervals import DAY_S
from zscope.pipelines.estimate.statuses import Status, reason
from zscope.pipelines.estimate.student_distribution import student

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.pipelines.estimate.costs import FittedSystem, SystemEstimate
    from zscope.pipelines.estimate.intervals import Numbers
    from zscope.pipelines.estimate.regression import Regression
    from zscope.pipelines.estimate.statuses import Reason

_UPPER, _POWER = 0.975, 0.80


@dataclass(frozen=True)
class TlsChange:
    """The change of a cost or of the price from one period to another."""

    item: str
    unit: str
    status: Status
    value: float
    low: float
    high: float
    smallest_visible: float
    """The change that would be seen 80 times in 100."""


@dataclass(frozen=True)
class PeriodComparison:
    """The changes from one period to another."""

    status: Status
    """Refused if the periods cannot be compared."""
    changes: tuple[TlsChange, ...] = ()
    split: PriceSplit | None = None


def compare_periods(before: SystemEstimate, after: SystemEstimate) -> PeriodComparison:
    """Compare the estimates of two periods."""
    old, new = before.fitted, after.fitted
    reasons = tuple(dict.fromkeys((*before.status.reasons, *after.status.reasons)))
    if old is None or new is None or "not enough data" in (before.status.kind, after.status.kind):
        return PeriodComparison(Status(reasons))
    if (old.control is None) != (new.control is None):
        return PeriodComparison(Status((reason("other_source"),)))
    if refused := not_covered(min(before.covered_share, after.covered_share)):
        return PeriodComparison(Status((refused,)))
    return PeriodComparison(Status(reasons), tuple(_changes(old, new, reasons)), split_price(old, new))


@dataclass(frozen=True)
class PriceSplit:
    """The parts of the change of the price, in CPU seconds per day."""

    costs: float
    """Because handshakes and megabytes cost more or less."""
    number: float
    """Because there are more or fewer handshakes."""
    mix: float
    """Because another share of the handshakes is resumed, or a handshake has more or fewer megabytes."""


def split_price(before: FittedSystem, after: FittedSystem) -> PriceSplit:
    """Return the parts of the change of the price, which add up to it."""
    day = DAY_S / 1e6
    costs = (before.levels.coefficients + after.levels.coefficients) / 2
    numbers = [float(fitted.rates[FULL] + fitted.rates[RESUMED]) for fitted in (before, after)]
    of_one = [before.rates / numbers[0], after.rates / numbers[1]]
    return PriceSplit(
        day
        * float((before.rates + after.rates) / 2 @ (after.levels.coefficients - before.levels.coefficients)),
        day * (numbers[1] - numbers[0]) * float(costs @ (of_one[0] + of_one[1]) / 2),
        day * (numbers[0] + numbers[1]) / 2 * float(costs @ (of_one[1] - of_one[0])),
    )


def _changes(old: FittedSystem, new: FittedSystem, conditions: tuple[Reason, ...]) -> Iterator[TlsChange]:
    mean_rates = (old.rates + new.rates) / 2
    handshakes = mean_rates * [1, 1, 0]
    separate = not old.only_mean and not new.only_mean
    if separate and old.difference and new.difference:
        reasons = (*conditions, reason("same_new_clients"))
        yield _change("full less resumed", "us", old.difference, new.difference, np.ones(1), reasons)
    kinds = {"full handshake": np.eye(3)[FULL], "resumed handshake": np.eye(3)[RESUMED]}
    weights = kinds if separate else {}
    weights |= {"mean handshake": handshakes / handshakes.sum(), "megabyte": np.eye(3)[MB]}
    for item, of in weights.items():
        yield _change_of_levels(item, "us", (old, new), of, conditions)
    yield _change_of_levels("TLS", "s/day", (old, new), mean_rates * DAY_S / 1e6, conditions)


def _change(
    item: str, unit: str, old: Regression, new: Regression, weights: Numbers, reasons: tuple[Reason, ...]
) -> TlsChange:
    """Return the change of a weighted sum of coefficients (Welch 1947)."""
    errors = [old.error(weights) ** 2, new.error(weights) ** 2]
    total = max(sum(errors), 1e-300)
    freedom = total**2 / max(errors[0] ** 2 / old.freedom + errors[1] ** 2 / new.freedom, 1e-300)
    value = float(weights @ (new.coefficients - old.coefficients))
    half = student(_UPPER, freedom) * float(np.sqrt(total))
    visible = half + student(_POWER, freedom) * float(np.sqrt(total))
    return TlsChange(item, unit, Status(reasons), value, value - half, value + half, visible)


def _change_of_levels(
    item: str,
    unit: str,
    fits: tuple[FittedSystem, FittedSystem],
    weights: Numbers,
    conditions: tuple[Reason, ...],
) -> TlsChange:
    """Return the change of a weighted sum of costs, widened by that of the control if there is one."""
    old, new = fits
    change = _change(item, unit, old.levels, new.levels, weights, (*conditions, reason("same_correlation")))
    if old.control is None or new.control is None:
        return change
    control = _change(item, unit, old.control, new.control, weights, ())
    unexplained_ratio = (old.unexplained_ratio + new.unexplained_ratio) / 2
    is_zero = control.low <= 0 <= control.high
    return replace(
        change,
        status=Status((*conditions, reason("control_unchanged" if is_zero else "control_changed"))),
        value=change.value if is_zero else change.value - unexplained_ratio * control.value,
        low=change.low - unexplained_ratio * max(0.0, control.high),
        high=change.high - unexplained_ratio * min(0.0, control.low),
        smallest_visible=change.smallest_visible + unexplained_ratio * (control.high - control.low) / 2,
    )
