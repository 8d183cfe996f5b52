"""Compare the TLS CPU cost in two periods: what a connection costs, how many are resumed, how many there are.

One regression of both periods estimates what a connection costs after the change less what it cost before,
at the mean load of both: this is the verdict of the change. The part of it that resumption explains is the
change of the share of full handshakes times what a full one costs more than a resumed one, the rest is
costs. Work that servers do for a connection cancels out if it stays as it was. In the address spaces of
the TCP/IP stacks there is none, so their CPU time is used if handshakes are charged to them.

The number of connections has no test: its part is the difference of the numbers times the range of what a
connection costs. The change in all is the sum of the three, which also moves as the users do.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from zscope.pipelines.estimate.address_spaces import FULL, MB, RESUMED
from zscope.pipelines.estimate.clocks import moved
from zscope.pipelines.estimate.costs import estimate_costs
from zscope.pipelines.estimate.intervals import DAY_S, SystemIntervals, logarithm, on_grid
from zscope.pipelines.estimate.regression import Prewhitening, WeightedSum, is_collinear, regress
from zscope.pipelines.estimate.stated_costs import not_covered
from zscope.pipelines.estimate.statuses import Status, reason
from zscope.pipelines.estimate.student_distribution import student

if TYPE_CHECKING:
    from zscope.pipelines.estimate.costs import FittedSystem
    from zscope.pipelines.estimate.intervals import Flags, Grid, Numbers

Item = Literal["TLS", "per connection", "costs", "resumption", "number"]
MeasuredIn = Literal["stack", "address spaces with TLS", "LPAR"]

_UPPER, _POWER = 0.975, 0.80
_SAFETY = 1.25
"""Factor of standard errors: those of simulated pairs without a change were up to 1.2 times as large."""
_WEEK = np.timedelta64(7, "D")
_MONDAY = np.datetime64("1970-01-05T00:00:00")
"""The day from which steps are counted."""
_S_PER_DAY = DAY_S / 1e6
"""CPU seconds a day for each microsecond per second."""
_REASONS: dict[MeasuredIn, str] = {
    "stack": "change_in_stack",
    "address spaces with TLS": "change_in_spaces",
    "LPAR": "change_in_lpar",
}


@dataclass(frozen=True)
class TlsChange:
    """The change of the price in all, or a part of it, in CPU seconds a day."""

    item: Item
    value: float | None
    """None if only the range is known."""
    low: float
    high: float
    smallest_visible: float | None = None
    """The change that would be seen 80 times in 100; None for the number, which is not tested."""

    @property
    def verdict(self) -> Literal["less", "more", "not distinguishable"]:
        """Whether the interval excludes zero."""
        return "less" if self.high < 0 else "more" if self.low > 0 else "not distinguishable"


@dataclass(frozen=True)
class PeriodComparison:
    """The change from one period to another."""

    status: Status
    covered_share: float
    """Share of the time that the data cover, of the period with the smaller one."""
    changes: tuple[TlsChange, ...] = ()
    """The change in all and its parts; costs and resumption only if they can be told apart."""
    before: float | None = None
    """The price before, in CPU seconds a day; None if only its range is known."""
    after: float | None = None
    """The price after: that before and the change in all."""
    measured_in: MeasuredIn | None = None

    def change(self, item: Item) -> TlsChange | None:
        """Return the change in all, or a part of it."""
        return next((each for each in self.changes if each.item == item), None)


def compare_periods(before: SystemIntervals, after: SystemIntervals) -> PeriodComparison:
    """Compare two periods of a system; they need not follow each other."""
    old, new = estimate_costs(before), estimate_costs(after)
    covered_share = min(old.covered_share, new.covered_share)
    reasons = tuple(dict.fromkeys((*old.status.reasons, *new.status.reasons)))
    if old.fitted is None or new.fitted is None or Status(reasons).kind == "not enough data":
        return PeriodComparison(Status(reasons), covered_share)
    if refused := not_covered(covered_share):
        return PeriodComparison(Status((refused,)), covered_share)
    counts = Counts.of(old.fitted, new.fitted)
    difference = _Difference(before, after, old.fitted, new.fitted, counts)
    if not difference.exists:
        return PeriodComparison(Status((reason("handshakes_follow_bytes"),)), covered_share)
    per_connection = difference.per_connection()
    number, price = _number(old.fitted, new.fitted, counts)
    in_all = TlsChange(
        "TLS",
        None if number.value is None else per_connection.value + number.value,
        per_connection.low() + number.low,
        per_connection.high() + number.high,
        _smallest_visible(per_connection),
    )
    reasons = (*reasons, reason(_REASONS[difference.measured_in]))
    parts = difference.parts(per_connection)
    if not parts:
        why = old.fitted.only_mean or new.fitted.only_mean or reason("same_mix")
        reasons = (*reasons, reason("parts_not_apart", because=why.sentence))
    return PeriodComparison(
        Status(reasons),
        covered_share,
        (in_all, _tested("per connection", per_connection), *parts, number),
        None if price is None or in_all.value is None else price - in_all.value / 2,
        None if price is None or in_all.value is None else price + in_all.value / 2,
        difference.measured_in,
    )


@dataclass(frozen=True)
class Counts:
    """How many connections and megabytes two periods have, per second; the period before comes first."""

    connections: Numbers
    megabytes: Numbers
    full_shares: Numbers
    """Shares of the full handshakes."""

    @classmethod
    def of(cls, old: FittedSystem, new: FittedSystem) -> Counts:
        """Return the counts of two periods."""
        rates = np.stack([old.rates, new.rates])
        connections = rates[:, FULL] + rates[:, RESUMED]
        return cls(connections, rates[:, MB], rates[:, FULL] / connections)


def _number(old: FittedSystem, new: FittedSystem, counts: Counts) -> tuple[TlsChange, float | None]:
    """Return the part of the number of connections and bytes, and the mean price of both periods.

    Both have a value if the costs have one, on the conditions of the price.
    """
    full_share = float(counts.full_shares.mean())
    low = high = 0.0
    value: float | None = 0.0
    price: float | None = 0.0
    for cost, amounts in (
        (np.array([full_share, 1 - full_share, 0.0]), counts.connections),
        (np.array([0.0, 0.0, 1.0]), counts.megabytes),
    ):
        if not amounts.any():
            continue
        more, mean = (float(amount) * _S_PER_DAY for amount in (amounts[1] - amounts[0], amounts.mean()))
        ends = [fitted.attribution.ends(cost) for fitted in (old, new)]
        products = [more * min(least for least, _ in ends), more * max(most for _, most in ends)]
        low, high = low + min(products), high + max(products)
        values = [fitted.value(cost) for fitted in (old, new)]
        known = [each.sum.value for each in values if each is not None]
        if len(known) < len(values) or value is None or price is None:
            value = price = None
        else:
            value, price = value + more * float(np.mean(known)), price + mean * float(np.mean(known))
    return TlsChange("number", value, low, high), price


class _Difference:
    """The regression of both periods, in which what comes after the change has coefficients of its own."""

    def __init__(
        self,
        before: SystemIntervals,
        after: SystemIntervals,
        old: FittedSystem,
        new: FittedSystem,
        counts: Counts,
    ) -> None:
        grid, is_after = _joined(before, after)
        self.measured_in, self._cpu_us = _source(grid, old, new)
        weights = [fitted.clocks.weights_for(self.measured_in) for fitted in (old, new)]
        grid = moved(grid, np.where(is_after[:, None], weights[1], weights[0]))
        self._counts = counts
        self._full = grid.full
        self._kinds_apart = old.only_mean is None and new.only_mean is None
        handshakes = grid.full + grid.resumed
        # Other work has a daily curve whose height differs by day. A stack has no such work.
        profile = np.zeros(len(handshakes)) if self.measured_in == "stack" else logarithm(handshakes)
        self._prewhitening = Prewhitening(grid.step, grid.steps_of_day, profile)
        self._columns = {"connection after": is_after * handshakes, "connection": handshakes}
        if grid.mb.any():
            self._columns |= {"megabyte after": is_after * grid.mb, "megabyte": grid.mb}
        for name, control in (("plain", grid.plain), ("plain_mb", grid.plain_mb), ("other", grid.datagrams)):
            if control is not None and not self._is_collinear({**self._columns, name: control}):
                self._columns[name] = control

    @property
    def exists(self) -> bool:
        """Whether connections and megabytes of both periods have coefficients of their own."""
        return not self._is_collinear(self._columns)

    def per_connection(self) -> WeightedSum:
        """Return the change at the mean load of both periods: that of costs and of resumption."""
        connections, megabytes = float(self._counts.connections.mean()), float(self._counts.megabytes.mean())
        return self._sum(self._columns, {"connection after": connections, "megabyte after": megabytes})

    def parts(self, per_connection: WeightedSum) -> tuple[TlsChange, ...]:
        """Return its two parts, if full and resumed handshakes have costs of their own."""
        columns = {"full": self._full, **self._columns}
        if not self._kinds_apart or self._is_collinear(columns):
            return ()
        more_full = float(np.diff(self._counts.full_shares)[0] * self._counts.connections.mean())
        resumption = self._sum(columns, {"full": more_full})
        costs = per_connection + self._sum(columns, {"full": -more_full})
        return _tested("costs", costs), _tested("resumption", resumption)

    def _sum(self, columns: dict[str, Numbers], weights: dict[str, float]) -> WeightedSum:
        """Return a weighted sum of coefficients, in CPU seconds a day."""
        regression = regress(self._prewhitening, _stacked(columns), self._cpu_us)
        found = regression.sum(np.array([weights.get(name, 0.0) for name in columns]) * _S_PER_DAY)
        return replace(found, deviations=_SAFETY * found.deviations)

    def _is_collinear(self, columns: dict[str, Numbers]) -> bool:
        return is_collinear(self._prewhitening, _stacked(columns))


def _stacked(columns: dict[str, Numbers]) -> Numbers:
    return np.stack(list(columns.values()), axis=1)


def _source(grid: Grid, old: FittedSystem, new: FittedSystem) -> tuple[MeasuredIn, Numbers]:
    """Return the CPU time that contains the change and the least other work."""
    if grid.stack_us is None or grid.tls_spaces_us is None:
        return "LPAR", grid.cpu_us
    charged_to = {old.attribution.charged_to, new.attribution.charged_to}
    if "stack" in charged_to and "caller" not in charged_to:
        return "stack", grid.stack_us
    return "address spaces with TLS", grid.tls_spaces_us


def _tested(item: Item, change: WeightedSum) -> TlsChange:
    return TlsChange(item, change.value, change.low(), change.high(), _smallest_visible(change))


def _smallest_visible(change: WeightedSum) -> float:
    quantiles = student(_UPPER, change.freedom) + student(_POWER, change.freedom)
    return float(quantiles * change.error)


def _joined(before: SystemIntervals, after: SystemIntervals) -> tuple[Grid, Flags]:
    """Return the intervals of both periods on one grid, and which of its steps are after the change.

    Periods that are far apart are brought together by whole weeks: their days have levels of their own.
    """
    apart = after.start_local.min() - before.start_local.max()
    moved = replace(before, start_local=before.start_local + apart // _WEEK * _WEEK)
    columns: dict[str, Any] = {}
    for name in (each.name for each in fields(SystemIntervals) if each.name != "kinds_known"):
        old, new = getattr(moved, name), getattr(after, name)
        if old is not None or new is not None:
            columns[name] = np.concatenate([_or_unknown(old, before), _or_unknown(new, after)])
    grid = on_grid(SystemIntervals(**columns, kinds_known=before.kinds_known and after.kinds_known))
    first_s = (after.start_local.min() - _MONDAY) / np.timedelta64(1, "s")
    return grid, np.asarray(grid.step * grid.step_s + grid.phase_s > first_s - grid.step_s / 2)


def _or_unknown(column: Numbers | None, intervals: SystemIntervals) -> Numbers:
    return np.full(len(intervals.seconds), np.nan) if column is None else column
