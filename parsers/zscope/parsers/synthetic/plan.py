"""How many records of each kind a dump gets, and when: shares become counts, fractions become times."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from zscope.parsers.synthetic.damage import DAMAGES
from zscope.parsers.synthetic.recipe import Kind, Recipe, RecipeError
from zscope.parsers.synthetic.rmf_machine import Workload
from zscope.parsers.synthetic.zert_summary import SummaryPlan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zscope.parsers.synthetic.batch import Numbers

RMF = (Kind.RMF_CPU, Kind.RMF_CRYPTO)
AT_INTERVALS = (*RMF, Kind.ZERT_SUMMARY)
_HOURLY = np.array([3, 2, 2, 2, 3, 4, 6, 9, 12, 14, 14, 13, 11, 13, 14, 13, 11, 9, 7, 6, 5, 5, 4, 4], float)
"""How busy the hours of a day are, in UTC."""
_HOUR_US = 3_600_000_000


def shared_out(total: int, shares: dict[Kind, float]) -> dict[Kind, int]:
    """A number in parts of these shares that add up to it (largest remainders)."""
    whole = sum(shares.values())
    exact = {kind: total * share / whole for kind, share in shares.items()}
    counts = {kind: int(value) for kind, value in exact.items()}
    by_rest = sorted(shares, key=lambda kind: (counts[kind] - exact[kind], kind))
    for kind in by_rest[: total - sum(counts.values())]:
        counts[kind] += 1
    return counts


@dataclass(frozen=True)
class Plan:
    """Counts of one dump."""

    recipe: Recipe

    def check(self) -> None:
        """Tell what cannot be planned before the first byte is written."""
        flows = any(self.counts.get(kind) for kind in self.flowing)
        if self.recipe.size_bytes is not None and not flows:
            raise RecipeError("a dump of a given size needs a kind that does not come at intervals")

    @cached_property
    def counts(self) -> dict[Kind, int]:
        """Records of each kind, damage specimens not among them."""
        recipe = self.recipe
        specimens = sum(DAMAGES[kind].specimens for kind in recipe.damage)
        shares = {Kind(kind): share for kind, share in recipe.mix.items() if share > 0}
        counts = shared_out(recipe.total_records - specimens, shares)
        most = Workload(recipe).count * len(recipe.systems)
        beyond = 0
        for kind in RMF:
            beyond += max(0, counts.get(kind, 0) - most)
            counts[kind] = min(counts.get(kind, 0), most)
        others = {kind: share for kind, share in shares.items() if kind not in RMF}
        if beyond and not others:
            raise RecipeError(
                f"the span holds {most} RMF records of a kind only, {beyond} fewer than asked for in all: "
                "lengthen the span, shorten the interval or mix in other kinds"
            )
        for kind, more in shared_out(beyond, others).items() if beyond else ():
            counts[kind] += more
        return counts

    @property
    def flowing(self) -> tuple[Kind, ...]:
        """The kinds that come at any time."""
        return tuple(kind for kind in Kind if kind not in AT_INTERVALS)

    @property
    def summary(self) -> SummaryPlan:
        """How the zERT summary records are spread."""
        return SummaryPlan.of(self.counts.get(Kind.ZERT_SUMMARY, 0), self.recipe)

    def rmf_intervals(self, kind: Kind) -> list[tuple[int, int]]:
        """Intervals with records of an RMF kind, evenly spread, and how many systems write one in each."""
        count, systems = self.counts.get(kind, 0), len(self.recipe.systems)
        used, there = -(-count // systems), Workload(self.recipe).count
        return [(at * there // used, min(systems, count - at * systems)) for at in range(used)]


@dataclass(frozen=True)
class Clock:
    """Turns how much of a dump is done into how late it is: the night is quieter than the day."""

    recipe: Recipe

    @cached_property
    def _edges(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        start, end = self.recipe.start_us, self.recipe.end_us
        first = start // _HOUR_US
        hours = np.arange(first, -(-end // _HOUR_US) + 1)
        times = np.clip(hours * _HOUR_US, start, end).astype(float)
        busy = _HOURLY[hours[:-1] % 24] * np.diff(times)
        done = np.concatenate([[0.0], np.cumsum(busy)])
        return done / done[-1], times - start

    def at(self, done: float) -> int:
        """The time at which this part of the dump is done."""
        return self.recipe.start_us + int(np.interp(done, *self._edges))

    def between(self, rng: np.random.Generator, begin: float, end: float, count: int) -> Numbers:
        """Times at random, in no order, while the dump gets from one part done to another."""
        part = rng.uniform(begin, end, count)
        times: Numbers = self.recipe.start_us + np.interp(part, *self._edges).astype(np.int64)
        return times
