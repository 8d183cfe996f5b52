"""What each parameter does to the published figures: one at a time changed, all others kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from zscope.pipelines.flood.figures import compare, compared_traces
from zscope.pipelines.flood.parameters import NUMBERS, Arrivals, Mode, Network, Order
from zscope.pipelines.flood.published import modelled
from zscope.pipelines.flood.simulate import simulate

if TYPE_CHECKING:
    from zscope.pipelines.flood.figures import Comparison
    from zscope.pipelines.flood.parameters import Flood

CHANGE = 0.2
"""By which part a number is changed, up and down."""
_BACKGROUND = ("background_per_s", "background_ms")
_OTHERWISE: Mapping[str, Any] = {
    "arrivals": Arrivals.POISSON,
    "network": Network.EXPONENTIAL,
    "order": Order.ARRIVAL,
    "ecb_in_queue": False,
}
"""What is no number, and the other choice than the usual one."""
_NOT_PLAYED: Mapping[Mode, frozenset[str]] = {
    Mode.BLOCKING: frozenset({"threshold", "order", "ecb_in_queue"}),
    Mode.NON_BLOCKING: frozenset({"threshold"}),
}
"""Parameters that change nothing of what happens in a mode: it need not be played through again."""


@dataclass(frozen=True, slots=True)
class Changed:
    """One parameter changed, and the published figures as they come out then."""

    parameter: str
    value: str
    """What it is set to."""
    figures: Mapping[str, float | None]


def sensitivity(flood: Flood) -> tuple[Mapping[str, float | None], list[Changed]]:
    """The figures of a flood, and those of its neighbours."""
    unchanged = compare(flood)
    changed = [
        Changed(name, _shown(value), modelled(_changed(unchanged, replace(flood, **{name: value}), name)))
        for name, value in _neighbours(flood)
    ]
    return modelled(unchanged), changed


def _changed(unchanged: Comparison, flood: Flood, name: str) -> Comparison:
    return compared_traces(
        {
            mode: replace(trace, flood=flood) if name in _NOT_PLAYED[mode] else simulate(flood, mode)
            for mode, trace in unchanged.traces.items()
        }
    )


def _neighbours(flood: Flood) -> Iterator[tuple[str, Any]]:
    for number in NUMBERS:
        value = getattr(flood, number.name)
        # A part of nothing is nothing.
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
    """The nearest whole number that differs."""
    other = round(value * factor)
    return other if other != value else value + (1 if factor > 1 else -1)


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value) if isinstance(value, (int, StrEnum)) else f"{value:.6g}"
