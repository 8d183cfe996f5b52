"""Judge replicates of simulated worlds in several processes, and summarize the judgements."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np

Row = dict[str, float]


def holds(low: float | None, high: float | None, truth: float) -> float:
    """Return 1 if the interval contains the truth, 0 if not, and nothing if there is none."""
    return float("nan") if low is None or high is None else float(low <= truth <= high)


@dataclass(frozen=True)
class Summary:
    """The judgements of all replicates."""

    rows: list[Row]

    def pct(self, name: str) -> float:
        """Return the share of replicates in percent; not a number if none has it."""
        values = self.values(name)
        return 100 * float(np.mean(values)) if values else float("nan")

    def median(self, name: str) -> float:
        """Return the median; not a number if none has it."""
        values = self.values(name)
        return float(np.median(values)) if values else float("nan")

    def percents(self, *names: str) -> str:
        """Return several shares as one cell."""
        return "/".join(plain(self.pct(name)) for name in names)

    def values(self, name: str) -> list[float]:
        """Return the judgements of the replicates that have one."""
        return [row[name] for row in self.rows if name in row and not np.isnan(row[name])]


def plain(number: float) -> str:
    """Return a number without digits, or a dash."""
    return "-" if np.isnan(number) else f"{number:.0f}"


Judge = Callable[[int], list[Row]]


class Simulation:
    """Runs judgements over seeds in processes."""

    def __init__(self, pool: ProcessPoolExecutor) -> None:
        self._pool = pool

    def summary(self, name: str, judge: Judge, seeds: int) -> Summary:
        """Return the judgements of a number of seeds, of which the first depends on the name."""
        first = zlib.crc32(name.encode()) % 1_000_000
        print(f"\r{name:70s}", end="", file=sys.stderr, flush=True)
        chunks = self._pool.map(judge, range(first, first + seeds))
        return Summary([row for chunk in chunks for row in chunk])
