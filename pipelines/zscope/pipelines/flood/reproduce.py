"""Which parameters lead to the published figures: closed forms begin, the simulation corrects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zscope.pipelines.flood.figures import Comparison, compare
from zscope.pipelines.flood.published import modelled, published_figures

if TYPE_CHECKING:
    from zscope.pipelines.flood.attempts import Attempt
    from zscope.pipelines.flood.parameters import Flood

NEAR_PCT = 0.5
"""So near a published figure, in percent of it, is near enough: most of them are "about"."""
MOST_ROUNDS = 6
_FARTHEST = 2.0
"""A single correction of an aim is at most this factor."""


@dataclass(frozen=True, slots=True, eq=False)
class Reproduction:
    """The parameters that come nearest, and what they lead to."""

    attempt: Attempt
    flood: Flood
    comparison: Comparison
    rounds: int

    def difference_pct(self, name: str) -> float | None:
        """How far a modelled figure is from the published one, in percent of that."""
        return _differences(self.comparison, (name,))[name]

    @property
    def missed(self) -> list[str]:
        """The figures that are not near."""
        return [name for name in self.attempt.figures if _far(self.comparison, (name,)) > NEAR_PCT]

    @property
    def reached(self) -> bool:
        """Whether all figures that were aimed at are near."""
        return _far(self.comparison, self.attempt.aims) <= NEAR_PCT


def reproduce(attempt: Attempt) -> Reproduction:
    """Look for the parameters of a test.

    The closed forms know no randomness and no time in service. So where the simulation comes out too high by
    a part, the next round aims lower by that part.
    """
    wanted = {name: published_figures()[name].value for name in attempt.aims}
    aims = dict(wanted)
    best: Reproduction | None = None
    for rounds in range(1, MOST_ROUNDS + 1):
        flood = attempt.solve(attempt.flood, aims)
        tried = Reproduction(attempt, flood, compare(flood), rounds)
        if best is None or _far(tried.comparison, attempt.aims) < _far(best.comparison, attempt.aims):
            best = tried
        if best.reached:
            break
        came = modelled(tried.comparison)
        aims = {name: aim * _correction(wanted[name], came[name]) for name, aim in aims.items()}
    assert best is not None, "there is a first round"
    return best


def _correction(wanted: float, came: float | None) -> float:
    if not came or came < 0:
        return _FARTHEST
    return min(max(wanted / came, 1 / _FARTHEST), _FARTHEST)


def _differences(comparison: Comparison, names: tuple[str, ...]) -> Mapping[str, float | None]:
    came = modelled(comparison)
    return {
        name: None if (value := came[name]) is None else 100 * (value / published_figures()[name].value - 1)
        for name in names
    }


def _far(comparison: Comparison, names: tuple[str, ...]) -> float:
    """The greatest difference in percent."""
    return max(
        float("inf") if away is None else abs(away) for away in _differences(comparison, names).values()
    )
