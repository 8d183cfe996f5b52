"""What full and resumed handshakes and megabytes cost on a system, and what TLS costs in all.

Two regressions say different things. The regression of the levels is that of CPU time on full handshakes,
resumed handshakes and megabytes. It charges them with all that moves with them within the day, so its upper
end is a bound as long as other work does not fall when handshakes rise. The regression at equal load compares
intervals with the same number of handshakes and another mix. Whatever follows the load is taken out, so the
difference between a full and a resumed handshake is an estimate, and a lower bound of a full one (Robinson
1988, Manski 1990).

With the CPU time of the address spaces that work for TLS (SMF 30), the levels are estimates as well. The
other address spaces are the control: what handshakes seem to cost there is other work that follows them, and
the interval is widened by the same in proportion to the CPU time that TLS does not explain (Lipsitch 2010).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from zscope.pipelines.estimate.intervals import DAY_S, on_grid
from zscope.pipelines.estimate.regression import Estimate, Filter, move_together, regress
from zscope.pipelines.estimate.statuses import Reason, Trusted, reason
from zscope.pipelines.estimate.time_terms import is_short

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.pipelines.estimate.intervals import Grid, Numbers, SystemIntervals, Whole
    from zscope.pipelines.estimate.regression import Regression

FEWEST_STEPS = 88
"""22 hours: of a day of records, the first and the last intervals are often not covered."""
_ROWS_OF_TERM = 3
_LIMIT_SHARE, _MOST_AT_LIMIT_PCT = 0.95, 1.0
_FEWEST_WITH = 6
"""A kind of handshakes counts if at least so many intervals have it."""
_A_WEEK = 7
_NEIGHBOUR_DAYS = 60
"""From so many days on, handshakes that are counted early or late matter more than a wider interval."""
_MOST_CLIPPED_PCT, _MOST_LEFT = 10.0, 0.3
_SURELY = 0.995
"""Quantile for a cost below zero. With 0.975, a cost of nearly zero would be refused too often."""
_PEAK_S = 4 * 3600
_NEARLY_NOTHING = 0.001
_ROUNDING = 1e-9
FULL, RESUMED, MB = range(3)
PARTS = {
    "full handshakes": (1, 0, 0),
    "resumed handshakes": (0, 1, 0),
    "handshakes": (1, 1, 0),
    "bulk data": (0, 0, 1),
    "TLS": (1, 1, 1),
}
"""The parts of the price, and which of the costs each one counts."""
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
    """One cost or price, with its range or interval and its status."""

    item: str
    unit: str
    trusted: Trusted
    value: float | None = None
    low: float | None = None
    high: float | None = None
    conditional_low: float | None = None
    """Interval of the value if the condition holds that a range does not need."""
    conditional_high: float | None = None


@dataclass(frozen=True)
class FittedSystem:
    """The regressions of one system. Weights of costs are in the order full, resumed, megabyte."""

    levels: Regression
    """CPU time on full handshakes, resumed handshakes and megabytes."""
    difference: Regression | None
    """CPU time on full handshakes at equal load: its coefficient is full less resumed."""
    control: Regression | None
    """CPU time of the address spaces without TLS, as `levels`."""
    spill: float
    """CPU time in address spaces with TLS that TLS does not explain, over that of the others."""
    rates: Numbers
    """Mean full handshakes, resumed handshakes and megabytes in a second."""
    unknown: Reason | None
    """Why full and resumed handshakes have no cost of their own."""
    short: bool
    """Whether there is about one day, too few for the daily curve of other work."""
    without_calendar_us: float
    """What a handshake seems to cost if the calendar is not taken out."""

    @property
    def mean_handshake(self) -> Numbers:
        """The weights of a handshake of the average mix."""
        handshakes = self.rates * [1, 1, 0]
        return np.asarray(handshakes / handshakes.sum())

    @property
    def control_is_quiet(self) -> bool:
        """Whether handshakes cost nothing that can be seen in the address spaces without TLS."""
        if self.control is None:
            return False
        seeming = self.control.estimate(self.mean_handshake)
        return seeming.low <= 0 <= seeming.high

    def full_less_resumed(self) -> Estimate | None:
        """Return the difference at equal load."""
        return None if self.difference is None else self.difference.estimate(np.ones(1))

    def range_of(self, weights: Numbers) -> Estimate:
        """Return a sum of costs with the range, or with the widened interval, that needs no condition."""
        plain = self.levels.estimate(weights)
        if self.control is None:
            difference = self.full_less_resumed()
            least = max(0.0, difference.low) * weights[FULL] if difference else 0.0
            return Estimate(plain.value, least, max(0.0, plain.high))
        seeming = self.control.estimate(weights)
        return Estimate(
            plain.value if self.control_is_quiet else plain.value - self.spill * seeming.value,
            max(0.0, plain.low - self.spill * max(0.0, seeming.high)),
            plain.high - self.spill * min(0.0, seeming.low),
        )


@dataclass(frozen=True)
class SystemEstimate:
    """What TLS costs on a system, and how far that can be trusted."""

    trusted: Trusted
    """The status of the whole: refused if nothing can be said."""
    costs: tuple[TlsCost, ...]
    step_s: int
    steps: int
    days: int
    fitted: FittedSystem | None = None

    def cost(self, item: str, unit: str = "us") -> TlsCost:
        """Return a cost, or with its unit a part of the price."""
        return next(cost for cost in self.costs if (cost.item, cost.unit) == (item, unit))


def estimate_costs(intervals: SystemIntervals) -> SystemEstimate:
    """Return what TLS costs on a system: at most the last 92 days."""
    grid = on_grid(intervals)
    fitted = None
    reasons: tuple[Reason, ...]
    refused = _refusal_of_data(grid)
    if refused is None:
        filter_ = Filter(grid.step, grid.steps_of_day, _logarithm(grid.full + grid.resumed))
        refused = _refusal_of_rows(grid, filter_)
        if refused is None:
            fitted = _fitted(grid, filter_)
            refused = _refusal_of_fit(fitted)
    if refused or fitted is None:
        reasons = (refused,) if refused else ()
        costs = tuple(TlsCost(item, unit, Trusted(reasons)) for item, unit in ITEMS)
    else:
        reasons = _doubts(grid, fitted)
        costs = (*_costs(fitted, reasons), *_prices(grid, fitted, reasons))
    return SystemEstimate(Trusted(reasons), costs, grid.step_s, len(grid.step), grid.days, fitted)


def _refusal_of_data(grid: Grid) -> Reason | None:
    """Return why the data allow no estimate, by what they are, not by what would come out."""
    refused = None
    busy = np.zeros(1) if grid.busy_share is None else grid.busy_share
    if not grid.fits:
        refused = reason("odd_lengths", share_pct=100 * (1 - grid.fitting_share))
    elif len(grid.step) < FEWEST_STEPS:
        refused = _too_few(grid, len(grid.step), FEWEST_STEPS)
    elif np.count_nonzero(grid.full + grid.resumed) < _FEWEST_WITH:
        refused = reason("no_handshake")
    elif np.ptp(grid.cpu_us) <= _ROUNDING * abs(grid.cpu_us.mean()):
        refused = reason("constant_cpu")
    elif (limit_pct := 100 * float((busy >= _LIMIT_SHARE).mean())) > _MOST_AT_LIMIT_PCT:
        refused = reason("at_limit", limit_pct=limit_pct)
    return refused


def _refusal_of_rows(grid: Grid, filter_: Filter) -> Reason | None:
    """Return whether too few intervals follow on others without a gap."""
    needed = _ROWS_OF_TERM * (filter_.all_terms.count + 3)
    return _too_few(grid, len(filter_.rows), needed) if len(filter_.rows) < needed else None


def _refusal_of_fit(fitted: FittedSystem | None) -> Reason | None:
    """Return why the regressions contradict what they assume."""
    if fitted is None:
        return reason("moves_with_bytes")
    ranges = [fitted.range_of(cost) for cost in np.eye(3)]
    below_zero = any(fitted.levels.estimate(cost, _SURELY).high < 0 for cost in np.eye(3))
    if below_zero or any(whole.high < whole.low for whole in ranges):
        return reason("below_zero")
    return None


def _too_few(grid: Grid, intervals: int, needed: int) -> Reason:
    return reason("few_intervals", intervals=intervals, minutes=grid.step_s // 60, needed=needed)


def _fitted(grid: Grid, filter_: Filter) -> FittedSystem | None:
    """Return the regressions; nothing if not even handshakes and megabytes can be told apart."""
    columns = np.stack([grid.full, grid.resumed, grid.mb], axis=1)
    present = np.count_nonzero(columns, axis=0) >= _FEWEST_WITH
    basis = np.eye(3)[:, present]
    unknown = None if present[FULL] and present[RESUMED] else reason("one_kind")
    if move_together(filter_, columns @ basis):
        # One cost for handshakes of both kinds.
        unknown = reason("same_mix")
        basis = np.array([[1.0, 0], [1, 0], [0, 1]])[:, [True, bool(present[MB])]]
        if move_together(filter_, columns @ basis):
            return None
    spaces = grid.tls_spaces_us
    target = grid.cpu_us if spaces is None else spaces
    levels = regress(filter_, columns @ basis, target).of(basis)
    rates = columns.mean(axis=0)
    control, spill = None, 0.0
    if spaces is not None:
        others = grid.cpu_us - spaces
        control = regress(filter_, columns @ basis, others).of(basis)
        spill = max(0.0, float(spaces.mean() - rates @ levels.coefficients)) / max(float(others.mean()), 1e-9)
    difference = None
    if unknown is None:
        at_equal_load, of_full = _columns_at_equal_load(grid, with_mb=bool(present[MB]))
        if move_together(filter_, at_equal_load):
            unknown = reason("same_mix")
        else:
            difference = regress(filter_, at_equal_load, target).of(of_full[None, :])
    short = is_short(grid.step, grid.steps_of_day)
    fitted = FittedSystem(levels, difference, control, spill, rates, unknown, short, 0.0)
    apart = fitted.full_less_resumed()
    if apart and apart.high - apart.value > levels.estimate(fitted.mean_handshake).high:
        fitted = replace(fitted, unknown=reason("same_mix"))
    plain = np.linalg.lstsq(np.column_stack([columns @ basis, np.ones(len(columns))]), target, rcond=None)[0]
    return replace(fitted, without_calendar_us=float(fitted.mean_handshake @ basis @ plain[:-1]))


def _columns_at_equal_load(grid: Grid, *, with_mb: bool) -> tuple[Numbers, Numbers]:
    """Return the full handshakes beside smooth functions of the load, and which columns are full handshakes.

    At equal load, the number of full handshakes is the mix. If there are many days, the neighbours of an
    interval count as well, as some handshakes can be counted one interval early or late.
    """
    load = _standardized(_logarithm(grid.full + grid.resumed))
    full, others = [grid.full], [load, load**2, load**3]
    if grid.days >= _NEIGHBOUR_DAYS:
        before, after = _neighbours(grid)
        full += [grid.full[before], grid.full[after]]
        others += [load[before], load[after]]
    if with_mb:
        others.append(_standardized(_logarithm(grid.mb)))
    return np.stack([*full, *others], axis=1), np.repeat([1.0, 0.0], [len(full), len(others)])


def _neighbours(grid: Grid) -> tuple[Whole, Whole]:
    """Return the places of the step before and of the one after; at a gap that of the step itself."""
    place = np.arange(len(grid.step))
    follows = np.diff(grid.step) == 1
    before, after = place.copy(), place.copy()
    before[1:][follows] -= 1
    after[:-1][follows] += 1
    return before, after


def _doubts(grid: Grid, fitted: FittedSystem) -> tuple[Reason, ...]:
    """Return the conditions of all estimates of a system."""
    doubts = []
    if grid.days < _A_WEEK:
        doubts.append(reason("short", days=grid.days))
    if fitted.levels.clipped_pct > _MOST_CLIPPED_PCT:
        doubts.append(reason("outliers", clipped_pct=fitted.levels.clipped_pct))
    if abs(fitted.levels.left_autocorrelation) > _MOST_LEFT:
        doubts.append(reason("lasting_noise", left=fitted.levels.left_autocorrelation))
    return tuple(doubts)


def _costs(fitted: FittedSystem, doubts: tuple[Reason, ...]) -> Iterator[TlsCost]:
    """Yield what a handshake of each kind and a megabyte cost."""
    full, resumed, mb = np.eye(3)
    mean = fitted.mean_handshake
    difference = fitted.full_less_resumed()
    if fitted.unknown or difference is None:
        for item in ("full handshake", "resumed handshake", "full less resumed"):
            yield _refused(item, "us", fitted.unknown)
    else:
        yield _level(fitted, "full handshake", "us", full, doubts)
        yield _level(fitted, "resumed handshake", "us", resumed, doubts)
        trusted = Trusted((*doubts, reason("equal_load")))
        yield TlsCost("full less resumed", "us", trusted, difference.value, difference.low, difference.high)
    yield _level(fitted, "mean handshake", "us", mean, doubts)
    if fitted.rates[MB] > 0:
        yield _level(fitted, "megabyte", "us", mb, doubts)
    else:
        yield _refused("megabyte", "us", reason("no_megabyte"))


def _prices(grid: Grid, fitted: FittedSystem, doubts: tuple[Reason, ...]) -> Iterator[TlsCost]:
    """Yield what TLS costs in a day, and its share of the CPU time in all and in the busiest four hours."""
    units = {"s/day": fitted.rates * DAY_S / 1e6, "% of LPAR": fitted.rates * 100 / grid.cpu_us.mean()}
    peak = _peak(grid)
    if peak is not None:
        rates = np.array([grid.full[peak].mean(), grid.resumed[peak].mean(), grid.mb[peak].mean()])
        units["% of peak"] = rates * 100 / grid.cpu_us[peak].mean()
    for unit, weights in units.items():
        for part, counted in PARTS.items():
            if part in _OF_ONE_KIND and fitted.unknown:
                yield _refused(part, unit, fitted.unknown)
            else:
                yield _level(fitted, part, unit, weights * counted, doubts)


def _refused(item: str, unit: str, why: Reason | None) -> TlsCost:
    return TlsCost(item, unit, Trusted((why,) if why else ()))


def _level(
    fitted: FittedSystem, item: str, unit: str, weights: Numbers, doubts: tuple[Reason, ...]
) -> TlsCost:
    plain, whole = fitted.levels.estimate(weights), fitted.range_of(weights)
    if fitted.control is not None:
        ground = reason("tls_spaces" if fitted.control_is_quiet else "tls_spaces_widened")
        return TlsCost(item, unit, Trusted((*doubts, ground)), whole.value, whole.low, whole.high)
    low, value, high = (_with_unit(number, unit) for number in (whole.low, whole.value, whole.high))
    if fitted.short:
        trusted = Trusted((*doubts, reason("lpar_cpu_of_a_day", low=low, high=high)))
        return TlsCost(item, unit, trusted, None, whole.low, whole.high)
    trusted = Trusted((*doubts, reason("lpar_cpu", low=low, value=value, high=high)))
    return TlsCost(item, unit, trusted, whole.value, whole.low, whole.high, plain.low, plain.high)


def _peak(grid: Grid) -> slice | None:
    """Return the four hours with the most CPU time, among those without a gap."""
    width = _PEAK_S // grid.step_s
    starts = np.flatnonzero(grid.step[width - 1 :] - grid.step[: len(grid.step) - width + 1] == width - 1)
    if not len(starts):
        return None
    total = np.concatenate([[0.0], np.cumsum(grid.cpu_us)])
    first = int(starts[np.argmax(total[starts + width] - total[starts])])
    return slice(first, first + width)


def _logarithm(rates: Numbers) -> Numbers:
    return np.asarray(np.log(rates + _NEARLY_NOTHING * max(float(rates.mean()), 1e-300)))


def _standardized(values: Numbers) -> Numbers:
    return np.asarray((values - values.mean()) / max(float(values.std()), 1e-300))


def _with_unit(value: float, unit: str) -> str:
    """Return a value with three digits.

    >>> _with_unit(19276.6, "s/day")
    '19,277 s/day'
    """
    digits = 0 if abs(value) >= 100 or not value else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f} {unit}"
