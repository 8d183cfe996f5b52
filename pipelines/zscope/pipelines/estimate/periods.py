"""What changed between two periods in the price of TLS: the costs, the number of handshakes, the mix.

Both periods are fitted alone, and their costs compared at the mean rates of both. Other work that follows the
handshakes in the same way in both periods cancels (Oaxaca 1973, Blinder 1973). With the CPU time of the
address spaces that work for TLS, the interval is widened as that of the levels: by the change that handshakes
seem to have in the other address spaces.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from zscope.pipelines.estimate.costs import FULL, MB, RESUMED
from zscope.pipelines.estimate.intervals import DAY_S
from zscope.pipelines.estimate.regression import student
from zscope.pipelines.estimate.statuses import Trusted, reason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.pipelines.estimate.costs import FittedSystem, SystemEstimate
    from zscope.pipelines.estimate.intervals import Numbers
    from zscope.pipelines.estimate.regression import Regression
    from zscope.pipelines.estimate.statuses import Reason

_UPPER, _POWER = 0.975, 0.80


@dataclass(frozen=True)
class TlsChange:
    """How far something changed from one period to another."""

    item: str
    unit: str
    trusted: Trusted
    value: float
    low: float
    high: float
    smallest_visible: float
    """A change of this size would have been seen 80 times in 100."""


def compare_periods(before: SystemEstimate, after: SystemEstimate) -> tuple[TlsChange, ...]:
    """Return what changed; nothing if a period has no estimate, or only one has address spaces."""
    old, new = before.fitted, after.fitted
    refused = "refused" in (before.trusted.status, after.trusted.status)
    if refused or old is None or new is None or (old.control is None) != (new.control is None):
        return ()
    return tuple(_changes(before, after, old, new))


@dataclass(frozen=True)
class PriceSplit:
    """How much of the change of the price is due to what, in CPU seconds a day."""

    costs: float
    """Handshakes and bytes cost more or less."""
    number: float
    """There are more or fewer handshakes."""
    mix: float
    """A handshake is another one on average: resumed or not, with more or fewer bytes."""


def split_price(before: FittedSystem, after: FittedSystem) -> PriceSplit:
    """Split the change of the price, which is the sum of the parts."""
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


def _changes(
    before: SystemEstimate, after: SystemEstimate, old: FittedSystem, new: FittedSystem
) -> Iterator[TlsChange]:
    doubts = tuple(dict.fromkeys((*before.trusted.reasons, *after.trusted.reasons)))
    mean_rates = (old.rates + new.rates) / 2
    handshakes = mean_rates * [1, 1, 0]
    separate = not old.unknown and not new.unknown
    if separate and old.difference and new.difference:
        reasons = (*doubts, reason("equal_load"))
        yield _change("full less resumed", "us", old.difference, new.difference, np.ones(1), reasons)
    kinds = {"full handshake": np.eye(3)[FULL], "resumed handshake": np.eye(3)[RESUMED]}
    weights = kinds if separate else {}
    weights |= {"mean handshake": handshakes / handshakes.sum(), "megabyte": np.eye(3)[MB]}
    for item, of in weights.items():
        yield _change_of_levels(item, "us", (old, new), of, doubts)
    yield _change_of_levels("TLS", "s/day", (old, new), mean_rates * DAY_S / 1e6, doubts)


def _change(
    item: str, unit: str, old: Regression, new: Regression, weights: Numbers, reasons: tuple[Reason, ...]
) -> TlsChange:
    """Return the change of a sum of coefficients (Welch and Satterthwaite)."""
    errors = [old.error(weights) ** 2, new.error(weights) ** 2]
    total = max(sum(errors), 1e-300)
    freedom = total**2 / max(errors[0] ** 2 / old.freedom + errors[1] ** 2 / new.freedom, 1e-300)
    value = float(weights @ (new.coefficients - old.coefficients))
    half = student(_UPPER, freedom) * float(np.sqrt(total))
    visible = half + student(_POWER, freedom) * float(np.sqrt(total))
    return TlsChange(item, unit, Trusted(reasons), value, value - half, value + half, visible)


def _change_of_levels(
    item: str,
    unit: str,
    fits: tuple[FittedSystem, FittedSystem],
    weights: Numbers,
    doubts: tuple[Reason, ...],
) -> TlsChange:
    """Return the change of a sum of costs, with its conditions, or widened by that of the control."""
    old, new = fits
    change = _change(item, unit, old.levels, new.levels, weights, (*doubts, reason("same_ties")))
    if old.control is None or new.control is None:
        return change
    control = _change(item, unit, old.control, new.control, weights, ())
    spill = (old.spill + new.spill) / 2
    quiet = control.low <= 0 <= control.high
    return replace(
        change,
        trusted=Trusted((*doubts, reason("quiet_control" if quiet else "other_ties"))),
        value=change.value if quiet else change.value - spill * control.value,
        low=change.low - spill * max(0.0, control.high),
        high=change.high - spill * min(0.0, control.low),
        smallest_visible=change.smallest_visible + spill * (control.high - control.low) / 2,
    )
