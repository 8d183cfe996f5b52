"""Detect an offset between the clocks of the counts and of the CPU time, and correct the counts for it.

Handshakes and bytes come from SMF 119, CPU time from SMF 70 or SMF 30. If their clocks differ, an interval
has some of the handshakes of its neighbour, and the regression finds costs that are too small. The same is
true if intervals of SMF 30 begin between those of SMF 70 and are apportioned by time.

So the counts of an interval, of the one before it and of the one after it are columns of a regression. A
difference of clocks means that all counts have the same weights in the three: those of counts that are moved
by some minutes. Of all differences, the one with the smallest residuals is chosen if it is clear: by the
likelihood ratio to no difference, by the gain of most days, and in relation to what free weights explain,
because what other work does after a connection needs weights of its own for each count.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from zscope.pipelines.estimate.intervals import FEWEST_WITH
from zscope.pipelines.estimate.regression import clipped
from zscope.pipelines.estimate.statuses import Reason, reason
from zscope.pipelines.quantities import counted

if TYPE_CHECKING:
    from zscope.pipelines.estimate.intervals import Grid, Numbers, Whole
    from zscope.pipelines.estimate.regression import Prewhitening

MOST_MINUTES = 14
"""The largest difference that is tried. With intervals of 15 minutes, a larger one looks the same as one that
is smaller or larger by an interval."""
_APART = np.array([0, 1, 2, 4, 7]) / 15
"""How far intervals of SMF 30 begin from those of SMF 70, as shares of a step; one half is the most."""
_PERSISTENCE = 0.8
"""Autocorrelation of rates from step to step."""
_STEADY = (0.5, 1.0)
"""Shares by which the second difference is smaller where rates change steadily within the steps."""
_UNMOVED = (0.0, 1.0, 0.0)
_COUNTS = ("full", "resumed", "mb", "plain", "plain_mb", "datagrams")
_LEAST_LIKELIHOOD_RATIO = 25.0
"""Twice the logarithm of the likelihood ratio. Without a difference, it is up to 8 in the stacks and in LPARs
with other work, and up to 30 in servers whose work varies, there by a few days."""
_LEAST_OF_DAYS = 2.0
"""Mean gain of a day, in standard errors."""
_LEAST_OF_FREE = 0.5
"""Gain, as a share of that of free weights of the neighbours."""
_CONTRADICTS = 10.0
"""Loss of likelihood in another address space that contradicts a difference."""
_EXTREME, _OUTLIER = 4.0, 2.5
_NEARLY_ZERO = 1e-9


@dataclass(frozen=True)
class ClockDifference:
    """The offset between the clock of the counts and that of the CPU time."""

    source: Literal["SMF 30", "SMF 70"]
    """The records of the CPU time."""
    minutes: int = 0
    """How far the clock of the counts is ahead."""
    weights: tuple[float, float, float] = _UNMOVED
    """What the counts of the step before, of the step and of the step after weigh in the moved count."""

    @property
    def differ(self) -> bool:
        """Whether counts are moved."""
        return self.weights != _UNMOVED

    @property
    def condition(self) -> Reason | None:
        """The condition that applies to estimates from moved counts; None if they are not moved."""
        if self.minutes:
            return reason("clocks_differ", source=self.source, minutes=counted(abs(self.minutes), "minute"))
        return reason("intervals_apart") if self.differ else None

    @property
    def refusal(self) -> Reason | None:
        """The reason for which no estimate is made; None if the offset can be corrected."""
        if abs(self.minutes) < MOST_MINUTES:
            return None
        return reason("clocks_apart", source=self.source, minutes=MOST_MINUTES)

    def weights_for(self, cpu: str) -> tuple[float, float, float]:
        """Return the weights for the CPU time of address spaces or of the LPAR; those of other records say
        nothing about it.
        """
        return self.weights if (cpu == "LPAR") == (self.source == "SMF 70") else _UNMOVED

    def moved(self, grid: Grid) -> Grid:
        """Return the grid with its counts corrected for the offset."""
        return moved(grid, np.array(self.weights)) if self.differ else grid


def moved(grid: Grid, weights: Numbers) -> Grid:
    """Return the steps with moved counts; `weights` has one row, or one for each step."""
    before, after = grid.neighbours

    def between(count: Numbers) -> Numbers:
        of_before, own, of_after = weights.T.reshape(3, -1, *[1] * (count.ndim - 1))
        return np.asarray(np.maximum(of_before * count[before] + own * count + of_after * count[after], 0))

    columns: dict[str, Any] = {}
    for name in _COUNTS:
        if (count := getattr(grid, name)) is not None:
            columns[name] = between(count)
    if grid.jobs is not None:
        counts, cpu = np.split(grid.jobs, [-1], axis=2)
        columns["jobs"] = np.concatenate([between(counts), cpu], axis=2)
    return replace(grid, **columns)


def compare_clocks(grid: Grid, prewhitening: Prewhitening) -> ClockDifference:
    """Return the difference of the clocks, if it is clear; otherwise none."""
    steps = _Steps(grid, prewhitening)
    if grid.stack_us is None or grid.tls_spaces_us is None:
        source: Literal["SMF 30", "SMF 70"] = "SMF 70"
        targets = [grid.cpu_us]
    else:
        source = "SMF 30"
        targets = [grid.stack_us, grid.tls_spaces_us - grid.stack_us]
    minutes, weights = _differences(grid.step_s // 60, with_apart=source == "SMF 30")
    spaces = [_Space(steps, target, weights) for target in targets]
    clear = [space for space in spaces if space.is_clear]
    if not clear:
        return ClockDifference(source)
    # The counts explain more of the CPU time where handshakes are charged.
    best = max(clear, key=lambda space: space.explained)
    if any(space.contradicts(best.chosen) for space in spaces):
        return ClockDifference(source)
    of_before, own, of_after = weights[best.chosen].tolist()
    return ClockDifference(source, int(minutes[best.difference]), (of_before, own, of_after))


@lru_cache(maxsize=8)
def _differences(step_minutes: int, *, with_apart: bool) -> tuple[Whole, Numbers]:
    """Return the minutes that are tried, and for each kind of rates the weights of counts that are moved so.

    The first difference is none. A moved count is predicted from those of three steps with the least error
    (kriging, Matheron 1963): for rates that are independent from minute to minute, so that counts are split
    by time, and for persistent ones, of which the last two kinds change steadily within a step. With
    `with_apart`, CPU time can be that of intervals that begin later, apportioned to the steps.
    """
    shares = _APART if with_apart else _APART[:1]
    minutes = np.tile(np.arange(-MOST_MINUTES, MOST_MINUTES + 1), len(shares))
    apart = np.repeat(shares, 2 * MOST_MINUTES + 1)
    late = minutes + np.rint(apart * step_minutes).astype(np.int64)
    # Five steps of minutes, of which the second, the third and the fourth have counts.
    minute = np.arange(5 * step_minutes)

    def covers(begin: Whole) -> Numbers:
        first = 2 * step_minutes + begin[:, None]
        return np.asarray((minute >= first) & (minute < first + step_minutes), float)

    steps = covers(np.array([-step_minutes, 0, step_minutes]))
    wanted = (1 - apart)[:, None] * covers(late) + apart[:, None] * covers(late - step_minutes)
    persistence = _PERSISTENCE ** (np.abs(np.subtract.outer(minute, minute)) / step_minutes)
    persistent = _predicted(steps, wanted, persistence)
    moved_alone = _predicted(steps, covers(minutes), persistence)
    curvature = np.outer(moved_alone[:, 0] + moved_alone[:, 2], [0.5, -1, 0.5])
    of_kinds = [
        _predicted(steps, wanted, np.eye(len(minute))),
        *(persistent - share * curvature for share in (0, *_STEADY)),
    ]
    order = np.argsort(np.abs(minutes) + apart, kind="stable")
    return minutes[order], np.stack(of_kinds)[:, order]


def _predicted(steps: Numbers, wanted: Numbers, covariance: Numbers) -> Numbers:
    """Return the weights of the steps in the best predictions of wanted sums, which add up to one."""
    squares = np.ones((4, 4))
    squares[:3, :3], squares[3, 3] = steps @ covariance @ steps.T, 0.0
    products = np.ones((4, len(wanted)))
    products[:3] = steps @ covariance @ wanted.T
    return np.asarray(np.linalg.solve(squares, products)[:3].T)


class _Steps:
    """The counts of the steps before, of the steps and of the steps after as columns."""

    def __init__(self, grid: Grid, prewhitening: Prewhitening) -> None:
        self.prewhitening = prewhitening
        counts = [getattr(grid, name) for name in _COUNTS]
        known = [each for each in counts if each is not None and np.count_nonzero(each) >= FEWEST_WITH]
        columns = np.stack([each / max(each.std(), 1e-300) for each in known], axis=1)
        before, after = grid.neighbours
        self.number = columns.shape[1]
        self.columns = prewhitening.all_effects(np.hstack([columns[before], columns, columns[after]]))


class _Space:
    """The fit of the CPU time of address spaces, or of the LPAR, for each candidate offset."""

    def __init__(self, steps: _Steps, cpu_us: Numbers, weights: Numbers) -> None:
        prewhitening, number = steps.prewhitening, steps.number
        target = prewhitening.all_effects(cpu_us)
        residuals = target - steps.columns @ _solved(
            steps.columns.T @ steps.columns, steps.columns.T @ target
        )
        autoregression = prewhitening.autoregression(clipped(residuals, _EXTREME))
        x = prewhitening.filtered(steps.columns, autoregression)
        y = prewhitening.filtered(target, autoregression)
        fitted = x @ _solved(x.T @ x, x.T @ y)
        y = fitted + clipped(y - fitted, _OUTLIER)
        squares, products, most = x.T @ x, x.T @ y, max(float(y @ y), 1e-300)

        def likelihood(products: Numbers, coefficients: Numbers) -> Numbers:
            left = most - (products * coefficients).sum(axis=-1)
            return np.asarray(-len(y) * np.log(np.maximum(left / most, _NEARLY_ZERO)))

        # One regression for each difference, in which each count has the same weights in the three steps.
        of_pairs = squares.reshape(3, number, 3, number).swapaxes(1, 2).reshape(9, -1)
        pairs = (weights[..., :, None] * weights[..., None, :]).reshape(*weights.shape[:2], 9)
        own_squares = (pairs @ of_pairs).reshape(*weights.shape[:2], number, number)
        own_products = weights @ products.reshape(3, number)
        coefficients = _solved(own_squares, own_products)
        self._likelihood = likelihood(own_products, coefficients)
        """Likelihood ratio of each difference to no counts at all, by kind of rates."""
        kind, at = np.unravel_index(self._likelihood.argmax(), self._likelihood.shape)
        self.chosen = int(kind), int(at)
        """The kind of rates and the difference with the smallest residuals."""
        self.difference = int(self._likelihood[:-1].max(axis=0).argmax())
        """The offset to report. Interpolation for steady rates overestimates it, so that kind is left out."""
        self.explained = float(self._likelihood[self.chosen])
        gain = self.explained - self._likelihood[0, 0]
        of_free = likelihood(products, _solved(squares, products)) - self._likelihood[0, 0]
        squared = [
            (y - x @ np.outer(weights[of], coefficients[of]).ravel()) ** 2 for of in ((0, 0), self.chosen)
        ]
        by_day = np.add.reduceat(squared[0] - squared[1], prewhitening.block)
        error = by_day.std(ddof=1) / np.sqrt(len(by_day))
        self.is_clear = bool(
            self.difference
            and gain > max(_LEAST_LIKELIHOOD_RATIO, _LEAST_OF_FREE * of_free)
            and by_day.mean() > _LEAST_OF_DAYS * error
        )

    def contradicts(self, chosen: tuple[int, int]) -> bool:
        """Return whether a difference makes the residuals clearly larger."""
        return bool(self._likelihood[chosen] < self._likelihood[0, 0] - _CONTRADICTS)


def _solved(squares: Numbers, products: Numbers) -> Numbers:
    """Return the coefficients of one regression, or of several; columns may be collinear."""
    size = squares.shape[-1]
    ridge = _NEARLY_ZERO * np.trace(squares, axis1=-2, axis2=-1) + 1e-300
    solved = np.linalg.solve(squares + ridge[..., None, None] * np.eye(size), products[..., None])
    return np.asarray(solved[..., 0])
