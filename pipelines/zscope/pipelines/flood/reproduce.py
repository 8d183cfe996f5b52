"""Determine the parameters that reproduce the published figures, and how each parameter affects them.

Closed forms give the first values, the simulation corrects them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from zscope.pipelines.flood.closed_form import gain_pct
from zscope.pipelines.flood.figures import Comparison, compare, compared_traces
from zscope.pipelines.flood.parameters import NUMBERS, Arrivals, Mode, Network, Order
from zscope.pipelines.flood.published import (
    GAIN,
    HIGH_BEFORE,
    HIGH_WITH,
    PEAK_BEFORE,
    PEAK_WITH,
    modelled_figures,
    published_figures,
)
from zscope.pipelines.flood.simulate import simulate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from zscope.pipelines.flood.parameters import Flood
    from zscope.pipelines.flood.published import PublishedTest


NEAR_PCT = 0.5
"""Maximum difference in percent of a published figure, as most of them are approximate."""
MOST_ROUNDS = 6
_FARTHEST = 2.0
"""Maximum factor of a single correction."""


@dataclass(frozen=True, slots=True, eq=False)
class Reproduction:
    """The parameters with the smallest differences, and their results."""

    test: PublishedTest
    flood: Flood
    comparison: Comparison
    rounds: int

    def difference_pct(self, name: str) -> float | None:
        """Return the difference of a modelled figure from the published one, in percent."""
        return _differences(self.comparison, (name,))[name]

    @property
    def missed(self) -> list[str]:
        """Figures that are not reproduced."""
        return [name for name in self.test.figures if _far(self.comparison, (name,)) > NEAR_PCT]

    @property
    def reached(self) -> bool:
        """Whether all figures that were aimed at are reproduced."""
        return _far(self.comparison, self.test.aims) <= NEAR_PCT


def reproduce(test: PublishedTest) -> Reproduction:
    """Determine the parameters of a test.

    The closed forms ignore randomness and time in service. If the simulated value is too high by some factor,
    the next round aims lower by this factor.
    """
    wanted = {name: published_figures()[name].value for name in test.aims}
    aims = dict(wanted)
    best: Reproduction | None = None
    for rounds in range(1, MOST_ROUNDS + 1):
        flood = test.solve(test.flood, aims)
        tried = Reproduction(test, flood, compare(flood), rounds)
        if best is None or _far(tried.comparison, test.aims) < _far(best.comparison, test.aims):
            best = tried
        if best.reached:
            break
        values = modelled_figures(tried.comparison)
        aims = {name: aim * _correction(wanted[name], values[name]) for name, aim in aims.items()}
    assert best is not None, "at least one round"
    return best


def _correction(wanted: float, values: float | None) -> float:
    if not values or values < 0:
        return _FARTHEST
    return min(max(wanted / values, 1 / _FARTHEST), _FARTHEST)


def _differences(comparison: Comparison, names: tuple[str, ...]) -> Mapping[str, float | None]:
    values = modelled_figures(comparison)
    return {
        name: None if (value := values[name]) is None else 100 * (value / published_figures()[name].value - 1)
        for name in names
    }


def _far(comparison: Comparison, names: tuple[str, ...]) -> float:
    """Return the largest difference in percent."""
    return max(
        float("inf") if away is None else abs(away) for away in _differences(comparison, names).values()
    )


def remarks(result: Reproduction) -> Iterator[str]:
    """Yield sentences about the parameters, what they reproduce and what they do not."""
    flood = result.flood
    waits = flood.flows * flood.network_ms
    yield result.test.description
    if result.missed:
        yield f"Not reproduced by these parameters: {', '.join(result.missed)}."
    yield (
        f"A handshake waits {waits:.3g} ms for the network for {flood.cpu_ms:.3g} ms of processor time, "
        f"{100 * waits / flood.cpu_ms:.3g} %. The gain is the time for which a thread "
        f"is held during the waits: the gain of a long queue is {gain_pct(flood):.3g} %."
    )
    if HIGH_BEFORE in result.test.figures:
        yield from _about_the_gain(result)
        yield from _about_ecbs(result)
    else:
        yield from _about_the_ratio(result)


def _about_the_ratio(result: Reproduction) -> Iterator[str]:
    flood = result.flood
    many = replace(flood, workers=4 * flood.processors)
    yield (
        "Only this ratio follows from the published gain: no rates are published, so cpu_ms can be any "
        "number, and so can the number of flows if their total length is the same."
    )
    none, long = (replace(flood, network_ms=factor * flood.network_ms) for factor in (0, 10))
    yield (
        f"Without waits, limited by processor work alone, the gain is {gain_pct(none):.3g} %; with waits ten "
        f"times as long it is {gain_pct(long):.3g} %. With {many.workers} worker threads, of which "
        f"{many.starters} may start sessions, all I-streams are busy even before PJ48040, and it is "
        f"{gain_pct(many):.3g} %."
    )
    tried = result.test.tried_sessions
    if tried != flood.sessions:
        yield (
            f"The sensitivity was computed with {tried:,} requests instead of {flood.sessions:,}: the "
            "gain of a long queue hardly depends on its length."
        )


def _about_the_gain(result: Reproduction) -> Iterator[str]:
    gain = modelled_figures(result.comparison)[GAIN]
    published = {name: figure.value for name, figure in published_figures().items()}
    if gain is None:
        return
    if HIGH_WITH in result.missed:
        yield (
            f"The gain is {gain:.3g} % here and {published[GAIN]:g} % in the other test: the peaks of "
            f"{published[PEAK_BEFORE]:g} and {published[PEAK_WITH]:g} ECBs "
            "are consistent with a gain of this size."
        )
        return
    yield (
        f"The gain is {gain:.3g} % here and {published[GAIN]:g} % in the other test. A flood that is over in "
        f"{published[HIGH_WITH]:g} s instead of {published[HIGH_BEFORE]:g} s starts sessions about "
        f"{published[HIGH_BEFORE] / published[HIGH_WITH]:g} times as fast. If both are correct, "
        "the tests were not comparable: here the waits are much longer, or the work is much less."
    )


def _about_ecbs(result: Reproduction) -> Iterator[str]:
    flood, high = result.flood, modelled_figures(result.comparison)[HIGH_WITH]
    published = {name: figure.value for name, figure in published_figures().items()}
    if HIGH_WITH in result.missed:
        yield (
            f"With PJ48040 ECBs are high for {high:.3g} s and not for {published[HIGH_WITH]:g} s. A gain of "
            f"{published[GAIN]:g} % makes {published[HIGH_BEFORE] / (1 + published[GAIN] / 100):.3g} s "
            f"of {published[HIGH_BEFORE]:g} s, and requests arrive for {flood.burst_s:.3g} s here. Requests "
            "that arrive evenly or at random cannot lead to both; a burst with a short spike might, which "
            "this model does not have."
        )
    if flood.connections:
        yield (
            f"A peak of {flood.connections:,} among {flood.sessions:,} requests requires a limit of "
            "connections that are open at a time, such as that of the program that sends the requests. None "
            "is published. Without it, either nearly all requests have an ECB before PJ48040, or they arrive "
            "so slowly that the flood cannot be short with it."
        )
    yield (
        "The document does not define which use of ECBs counts as high: here it is "
        f"{100 * flood.threshold:g} % of the peak."
    )
    yield (
        "The peak with PJ48040 is the small difference between arrivals and starts, so it is sensitive to "
        "small changes: see the effect of arrivals, cpu_ms and burst_s."
    )


CHANGE = 0.2
"""Relative change of a number, up and down."""
_BACKGROUND = ("background_per_s", "background_ms")
_OTHERWISE: Mapping[str, Any] = {
    "arrivals": Arrivals.POISSON,
    "network": Network.EXPONENTIAL,
    "order": Order.ARRIVAL,
    "ecb_in_queue": False,
}
"""Other values of the parameters that are not numbers."""
_WITHOUT_EFFECT: Mapping[Mode, frozenset[str]] = {
    Mode.BLOCKING: frozenset({"threshold", "order", "ecb_in_queue"}),
    Mode.NON_BLOCKING: frozenset({"threshold"}),
}
"""Parameters without effect on the simulation of a mode, which need not be repeated."""


@dataclass(frozen=True, slots=True)
class ChangedParameter:
    """The published figures with one parameter changed."""

    parameter: str
    value: str
    """New value of the parameter."""
    figures: Mapping[str, float | None]


def sensitivity(flood: Flood) -> tuple[Mapping[str, float | None], list[ChangedParameter]]:
    """Return the figures of a flood, and those with one parameter changed at a time."""
    unchanged = compare(flood)
    changed = [
        ChangedParameter(
            name, _shown(value), modelled_figures(_changed(unchanged, replace(flood, **{name: value}), name))
        )
        for name, value in _neighbours(flood)
    ]
    return modelled_figures(unchanged), changed


def _changed(unchanged: Comparison, flood: Flood, name: str) -> Comparison:
    return compared_traces(
        {
            mode: replace(trace, flood=flood) if name in _WITHOUT_EFFECT[mode] else simulate(flood, mode)
            for mode, trace in unchanged.traces.items()
        }
    )


def _neighbours(flood: Flood) -> Iterator[tuple[str, Any]]:
    for number in NUMBERS:
        value = getattr(flood, number.name)
        # A share of zero is zero.
        if number.name == "seed" or not value or (number.name in _BACKGROUND and not flood.background_per_s):
            continue
        for factor in (1 - CHANGE, 1 + CHANGE):
            other = _whole(value, factor) if isinstance(value, int) else value * factor
            if number.low <= other <= number.high:
                yield number.name, other
    for name, other in _OTHERWISE.items():
        if getattr(flood, name) != other:
            yield name, other


def _whole(value: int, factor: float) -> int:
    """Return the nearest whole number that differs."""
    other = round(value * factor)
    return other if other != value else value + (1 if factor > 1 else -1)


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value) if isinstance(value, (int, StrEnum)) else f"{value:.6g}"
