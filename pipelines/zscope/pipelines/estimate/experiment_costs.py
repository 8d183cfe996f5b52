"""What TLS alone costs, from test connections in random quarter hours.

The CPU time of the TCP/IP stack and of the listener is regressed on what the test connections did, with the
real traffic and the time of day as controls. The differences between arms with and without TLS are the cost
of TLS: the set-up of a connection, its sockets and the work of the listener are in both. The jackknife leaves
out one draw of the arms at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from zscope.pipelines.estimate.regression import (
    Estimate,
    Prewhitening,
    Regression,
    is_collinear,
    regress,
)
from zscope.pipelines.estimate.student_distribution import student

if TYPE_CHECKING:
    from zscope.pipelines.estimate.intervals import Flags, Numbers, Whole

ARMS = 6
LEAST_BLOCKS = 8
"""Fewest intervals of each arm."""
WIDER = 1.1
"""Factor of the standard errors: of few blocks the jackknife finds too little. Measured by simulation."""
NARROW = 0.1
"""Greatest half width of the price, as a share of its middle, of an estimate."""
TESTED_PCT = 95.0
"""Least share of the real full handshakes whose kind was tested."""
_DAY_S = 86_400
_MICROSECONDS = 1e6
_LEAST_REAL, _LEAST_REAL_MB = 2.0, 0.01
"""Fewest real connections and megabytes an interval, on average, of a column."""
_LEAST_FREEDOM = 3
_IN_STACK, _COMPARABLE = 0.4, 0.15
"""Least share of the cost that is in the stack, and greatest half width, to compare test and real traffic."""
_SET_UP = 1 / 3
"""By how much the set-up of a connection with TLS can differ from that of one without."""
_HOURS, _WORKDAYS, _WEEK = 24, 5, 7


@dataclass(frozen=True)
class ExperimentIntervals:
    """The intervals of a system around an experiment: CPU time and counts of each interval, in order."""

    start_us: Whole
    """Start, in microseconds since 1970."""
    seconds: Numbers
    arm: Whole
    """Number of the arm, -1 outside the experiment."""
    stack_cpu_s: Numbers
    listener_cpu_s: Numbers
    test_plain: Numbers
    test_full: Numbers
    test_resumed: Numbers
    test_tls_mb: Numbers
    test_plain_mb: Numbers
    real_full: Numbers
    real_resumed: Numbers
    real_tls_mb: Numbers
    real_plain: Numbers
    real_plain_mb: Numbers

    def rate(self, name: str) -> Numbers:
        """Return a column as a rate per second."""
        return np.asarray(getattr(self, name) / self.seconds)

    def only(self, rows: Flags) -> ExperimentIntervals:
        """Return some of the intervals."""
        return ExperimentIntervals(**{field.name: getattr(self, field.name)[rows] for field in fields(self)})


TEST: tuple[str, ...] = ("test_plain", "test_full", "test_resumed", "test_tls_mb", "test_plain_mb")
REAL = ("real_full", "real_resumed", "real_tls_mb", "real_plain", "real_plain_mb")


@dataclass(frozen=True)
class SharesTested:
    """The shares of the real handshakes that are of the kind which the experiment tested, in per cent."""

    full_pct: float = 100.0
    resumed_pct: float = 100.0


ALL_TESTED = SharesTested()


@dataclass(frozen=True)
class MeasuredCost:
    """The cost of something in microseconds, and where it is charged."""

    total: Estimate
    in_stack: Estimate
    in_listener: Estimate


@dataclass(frozen=True)
class MeasuredPrice:
    """The CPU time of TLS in a day, in seconds."""

    status: str
    why: str
    value: float | None
    low: float
    high: float | None


@dataclass(frozen=True)
class ExperimentCosts:
    """What an experiment says."""

    full: MeasuredCost
    resumed: MeasuredCost
    megabyte: MeasuredCost
    price: MeasuredPrice
    tested_handshakes: Estimate
    """CPU seconds a day of the real handshakes of the kind that was tested."""
    bulk: Estimate
    """CPU seconds a day of all real bytes with TLS."""
    blocks: int
    """Intervals of the arm that has fewest."""
    full_per_day: float
    resumed_per_day: float
    megabytes_per_day: float


class _DrawnBlocks(Prewhitening):
    """Prewhitening whose jackknife leaves out one draw of the arms at a time."""

    def __init__(self, step: Whole, steps_of_day: int, load: Numbers, first_test: int) -> None:
        super().__init__(step, steps_of_day, load)
        self._first_test = first_test

    @cached_property
    def block(self) -> Whole:
        """The first row of each block."""
        draw = (self.step[self.rows] - self._first_test) // ARMS
        return np.flatnonzero(np.diff(draw, prepend=draw[0] - 1))


@dataclass(frozen=True)
class _Traffic:
    """The real traffic of a day, in millions, so that microseconds become seconds."""

    full: float
    resumed: float
    mb: float

    def tested(self, shares: SharesTested) -> _Traffic:
        """Return the traffic of the kind that was tested."""
        return _Traffic(self.full * shares.full_pct / 100, self.resumed * shares.resumed_pct / 100, self.mb)


@dataclass(frozen=True)
class _Fits:
    """The regressions of the CPU time on the same columns."""

    names: tuple[str, ...]
    total: Regression
    stack: Regression
    listener: Regression

    def weights(self, **by_name: float) -> Numbers:
        """Return weights of the coefficients."""
        return np.array([by_name.get(name, 0.0) for name in self.names])

    def handshakes(self, traffic: _Traffic) -> Numbers:
        """Return the weights of the handshakes of the test that are as many as the real ones."""
        both = traffic.full + traffic.resumed
        return self.weights(test_full=traffic.full, test_resumed=traffic.resumed, test_plain=-both)

    def real_handshakes(self, traffic: _Traffic) -> Numbers:
        """Return the weights of the real handshakes, less the set-up of connections."""
        both = traffic.full + traffic.resumed
        return self.weights(real_full=traffic.full, real_resumed=traffic.resumed, real_plain=-both)

    def bulk(self, traffic: _Traffic) -> Numbers:
        """Return the weights of bytes of the test that are as many as the real ones."""
        return self.weights(test_tls_mb=traffic.mb, test_plain_mb=-traffic.mb)

    def cost(self, **by_name: float) -> MeasuredCost:
        """Return a cost from the weights of its columns."""
        weights = self.weights(**by_name)
        return MeasuredCost(*(fit.estimate(weights) for fit in (self.total, self.stack, self.listener)))


def measure_costs(intervals: ExperimentIntervals, tested: SharesTested = ALL_TESTED) -> ExperimentCosts | str:
    """Return the costs that an experiment measured, or why there are none."""
    blocks = min(int((intervals.arm == arm).sum()) for arm in range(ARMS))
    if blocks < LEAST_BLOCKS:
        return f"{blocks} intervals of an arm can be used, {LEAST_BLOCKS} are needed"
    fits = _fitted(intervals, blocks)
    if fits is None:
        return "the counts of the arms do not differ: compare the log with the schedule"
    full_per_s, resumed_per_s, mb_per_s = (
        _mean(intervals, name) for name in ("real_full", "real_resumed", "real_tls_mb")
    )
    traffic = _Traffic(*(rate * _DAY_S / _MICROSECONDS for rate in (full_per_s, resumed_per_s, mb_per_s)))
    return ExperimentCosts(
        fits.cost(test_full=1, test_plain=-1),
        fits.cost(test_resumed=1, test_plain=-1),
        fits.cost(test_tls_mb=1, test_plain_mb=-1),
        _price(fits, traffic, tested),
        fits.total.estimate(fits.handshakes(traffic.tested(tested))),
        fits.total.estimate(fits.bulk(traffic)),
        blocks,
        full_per_s * _DAY_S,
        resumed_per_s * _DAY_S,
        mb_per_s * _DAY_S,
    )


def _fitted(intervals: ExperimentIntervals, blocks: int) -> _Fits | None:
    """Return the regressions, or None if their columns cannot be told apart."""
    length_s = float(np.median(intervals.seconds))
    step = np.rint(intervals.start_us / _MICROSECONDS / length_s).astype(np.int64)
    load = intervals.rate("real_full") + intervals.rate("real_resumed")
    first_test = int(step[intervals.arm >= 0][0])
    prewhitening = _DrawnBlocks(step, round(_DAY_S / length_s), load, first_test)
    names = TEST
    if _collinear(prewhitening, intervals, names):
        return None
    for name in REAL:
        # Bytes in the same proportion to handshakes in all intervals, as in a benchmark, add nothing.
        if getattr(intervals, name).mean() >= _least(name) and not _collinear(
            prewhitening, intervals, (*names, name)
        ):
            names = (*names, name)
    columns = _columns(intervals, names)
    stack, listener = (_MICROSECONDS * intervals.rate(name) for name in ("stack_cpu_s", "listener_cpu_s"))
    freedom = max(blocks - ARMS, _LEAST_FREEDOM)
    return _Fits(
        names,
        *(
            _cautious(regress(prewhitening, columns, cpu_us), freedom)
            for cpu_us in (stack + listener, stack, listener)
        ),
    )


def _columns(intervals: ExperimentIntervals, names: Sequence[str]) -> Numbers:
    return np.stack([intervals.rate(name) for name in names], axis=1)


def _collinear(prewhitening: Prewhitening, intervals: ExperimentIntervals, names: Sequence[str]) -> bool:
    return is_collinear(prewhitening, _columns(intervals, names))


def _least(name: str) -> float:
    return _LEAST_REAL_MB if name.endswith("_mb") else _LEAST_REAL


def _cautious(fit: Regression, freedom: int) -> Regression:
    return replace(fit, deviations=fit.deviations * WIDER, freedom=freedom)


def _mean(intervals: ExperimentIntervals, name: str) -> float:
    """Return the mean rate of a week, in which each hour of workdays and of weekends has its share."""
    hour = intervals.start_us // 3_600_000_000
    day = (hour // _HOURS + 3) % _WEEK  # 1970 began on a Thursday
    cell = hour % _HOURS + _HOURS * (day >= _WORKDAYS)
    rate, total, weight = intervals.rate(name), 0.0, 0.0
    for each in np.unique(cell):
        share = float(_WEEK - _WORKDAYS if each >= _HOURS else _WORKDAYS)
        total += share * float(rate[cell == each].mean())
        weight += share
    return total / weight


def _price(fits: _Fits, traffic: _Traffic, tested: SharesTested) -> MeasuredPrice:
    if tested.full_pct < TESTED_PCT:
        why = f"{tested.full_pct:.0f} % of the real full handshakes are of the tested kind: test the others"
        share = fits.total.estimate(fits.handshakes(traffic.tested(tested)))
        return MeasuredPrice("range", why, None, max(0.0, share.low), None)
    price = fits.total.estimate(fits.handshakes(traffic) + fits.bulk(traffic))
    stretch, agrees = _compared(fits, traffic)
    low, high = max(0.0, price.low - max(0.0, -stretch)), price.high + max(0.0, stretch)
    if agrees is False:
        return MeasuredPrice("differs", _differing(fits, traffic), price.value, low, high)
    if is_wide(low, high):
        return MeasuredPrice("range", "the interval is wide: test on more days", price.value, low, high)
    if agrees is None:
        why = (
            "if real handshakes cost what those of the test cost; the stack shows too little to compare them"
        )
        return MeasuredPrice("conditional", why, price.value, low, high)
    return MeasuredPrice(
        "estimate", "test and real handshakes cost the same in the stack", price.value, low, high
    )


def is_wide(low: float, high: float) -> bool:
    """Return whether the interval of a price is too wide for an estimate."""
    return high - low > NARROW * (high + low)


def _compared(fits: _Fits, traffic: _Traffic) -> tuple[float, bool | None]:
    """Return how far real handshakes stretch the interval, up or down, and whether they agree with the test.

    They can be compared in the stack only, which does no work of an application.
    """
    if not {"real_full", "real_resumed", "real_plain"} <= set(fits.names):
        return 0.0, None
    test, real, stack = fits.handshakes(traffic), fits.real_handshakes(traffic), fits.stack
    of_test = float(test @ stack.coefficients)
    difference, error = float((real - test) @ stack.coefficients), stack.error(real - test)
    gap = student(0.975, stack.freedom) * error
    if of_test < _IN_STACK * float(test @ fits.total.coefficients) or gap > _COMPARABLE * of_test:
        return 0.0, None
    connections = fits.weights(real_plain=traffic.full + traffic.resumed)
    set_up = _SET_UP * abs(float(connections @ stack.coefficients))
    agrees = abs(difference) <= gap + set_up
    stretch = max(0.0, abs(difference) - error) if agrees else abs(difference) + gap
    return float(np.sign(difference)) * stretch, agrees


def _differing(fits: _Fits, traffic: _Traffic) -> str:
    handshakes = traffic.full + traffic.resumed
    test, real = (
        float(weights @ fits.stack.coefficients) / handshakes
        for weights in (fits.handshakes(traffic), fits.real_handshakes(traffic))
    )
    return (
        f"a test handshake costs {test:,.0f} us in the stack, a real one {real:,.0f}: compare cipher suite, "
        "key, certificates and client authentication"
    )
