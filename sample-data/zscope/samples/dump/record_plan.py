"""How many records of each kind a dump contains, and at which times."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from zscope.samples.dump.damage import DAMAGES
from zscope.samples.dump.dump_scenario import SCENARIO
from zscope.samples.dump.recipe import Recipe, RecipeError, RecordKind
from zscope.samples.dump.records.rmf_machine import ConnectionCpuTime
from zscope.samples.dump.records.zert_summary import SummaryPlan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zscope.samples.dump.arrays import Numbers

RMF = (RecordKind.RMF_CPU, RecordKind.RMF_CRYPTO)
AT_INTERVALS = (*RMF, RecordKind.ZERT_SUMMARY)
HOURLY = np.array(SCENARIO.hourly, float)
"""Relative load of the hours of a day."""
_HOUR_US = 3_600_000_000


def shared_out(total: int, shares: dict[RecordKind, float]) -> dict[RecordKind, int]:
    """Divide a number by shares into whole numbers that add up to it (largest remainder method)."""
    whole = sum(shares.values())
    exact = {kind: total * share / whole for kind, share in shares.items()}
    counts = {kind: int(value) for kind, value in exact.items()}
    by_rest = sorted(shares, key=lambda kind: (counts[kind] - exact[kind], kind))
    for kind in by_rest[: total - sum(counts.values())]:
        counts[kind] += 1
    return counts


@dataclass(frozen=True)
class RecordPlan:
    """The number of records of each kind in one dump."""

    recipe: Recipe

    def check(self) -> None:
        """Raise RecipeError for a plan that is impossible, before the first byte is written."""
        flows = any(self.counts.get(kind) for kind in self.any_time_kinds)
        if self.recipe.size_bytes is not None and not flows:
            raise RecipeError("a dump of a given size needs a kind that does not come at intervals")

    @cached_property
    def counts(self) -> dict[RecordKind, int]:
        """Records of each kind, without those added as damaged specimens."""
        recipe = self.recipe
        specimens = sum(DAMAGES[kind].specimens for kind in recipe.damage)
        shares = {RecordKind(kind): share for kind, share in recipe.mix.items() if share > 0}
        counts = shared_out(recipe.total_records - specimens, shares)
        most = ConnectionCpuTime(recipe).count * len(recipe.systems)
        beyond = 0
        for kind in RMF:
            beyond += max(0, counts.get(kind, 0) - most)
            counts[kind] = min(counts.get(kind, 0), most)
        others = {kind: share for kind, share in shares.items() if kind not in RMF}
        if beyond and not others:
            raise RecipeError(
                f"the time span has room for {most} RMF records of a kind only, {beyond} fewer "
                "than requested: lengthen the time span, shorten the interval or add other kinds"
            )
        for kind, more in shared_out(beyond, others).items() if beyond else ():
            counts[kind] += more
        return counts

    @property
    def any_time_kinds(self) -> tuple[RecordKind, ...]:
        """Kinds of records that can be written at any time."""
        return tuple(kind for kind in RecordKind if kind not in AT_INTERVALS)

    @property
    def summary(self) -> SummaryPlan:
        """Distribution of the zERT summary records over intervals."""
        return SummaryPlan.of(self.counts.get(RecordKind.ZERT_SUMMARY, 0), self.recipe)

    def rmf_intervals(self, kind: RecordKind) -> list[tuple[int, int]]:
        """Return the intervals with records of an RMF kind, evenly distributed, and the number of systems in
        each.
        """
        count, systems = self.counts.get(kind, 0), len(self.recipe.systems)
        used, available = -(-count // systems), ConnectionCpuTime(self.recipe).count
        return [(at * available // used, min(systems, count - at * systems)) for at in range(used)]


@dataclass(frozen=True)
class DumpClock:
    """Maps the completed part of a dump to a time; nights have fewer records than days."""

    recipe: Recipe

    @cached_property
    def _edges(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        start, end = self.recipe.start_us, self.recipe.end_us
        first = start // _HOUR_US
        hours = np.arange(first, -(-end // _HOUR_US) + 1)
        times = np.clip(hours * _HOUR_US, start, end).astype(float)
        busy = HOURLY[hours[:-1] % 24] * np.diff(times)
        done = np.concatenate([[0.0], np.cumsum(busy)])
        return done / done[-1], times - start

    def at(self, done: float) -> int:
        """Return the time at which this part of the dump is complete."""
        return self.recipe.start_us + int(np.interp(done, *self._edges))

    def between(self, rng: np.random.Generator, begin: float, end: float, count: int) -> Numbers:
        """Return random times, unsorted, between two completed parts of the dump."""
        part = rng.uniform(begin, end, count)
        return self.recipe.start_us + np.interp(part, *self._edges).astype(np.int64)
