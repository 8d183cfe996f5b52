"""Measure how often the result of an experiment contains the truth: `make bench-experiment`.

Days of an experiment with known costs are simulated (`zscope.samples.experiment_truth`), and their costs are
measured as those of a store would be. The table is that of `docs/benchmarks.md`.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter, defaultdict
from dataclasses import dataclass, field

# Threads of the linear algebra would only wait for each other in regressions of this size.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from zscope.pipelines.estimate.experiment_costs import ExperimentCosts, ExperimentIntervals, measure_costs
from zscope.samples.experiment_truth import (
    UNLIKE,
    WORLDS,
    ExperimentWorld,
    SimulatedExperiment,
    simulated_experiment,
)

DAYS = 100
LEAST_PCT = 95.0
ITEMS = ("full", "resumed", "megabyte", "price")


@dataclass
class Tally:
    """What the results of a world say about the truth."""

    held: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    half_pct: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    statuses: Counter[str] = field(default_factory=Counter)
    wrong_estimates: int = 0

    def add(self, day: SimulatedExperiment, costs: ExperimentCosts) -> None:
        """Count a day."""
        ends = {
            "full": (costs.full.total.low, costs.full.total.high, day.full_us),
            "resumed": (costs.resumed.total.low, costs.resumed.total.high, day.resumed_us),
            "megabyte": (costs.megabyte.total.low, costs.megabyte.total.high, day.mb_us),
            "price": (costs.price.low, costs.price.high or float("inf"), day.tls_s_per_day),
        }
        for item, (low, high, truth) in ends.items():
            self.held[item].append(low <= truth <= high)
            self.half_pct[item].append(50 * (high - low) / truth)
        self.statuses[costs.price.status] += 1
        self.wrong_estimates += costs.price.status == "estimate" and not self.held["price"][-1]

    def cells(self) -> list[str]:
        """Return the cells of a row of the table."""
        held = [
            f"{100 * np.mean(self.held[item]):.0f}, ±{np.median(self.half_pct[item]):.1f} %" for item in ITEMS
        ]
        statuses = ", ".join(f"{status} {count}" for status, count in sorted(self.statuses.items()))
        return [*held, statuses, str(self.wrong_estimates)]

    def is_good(self) -> bool:
        """Whether each interval holds as often as promised."""
        return all(100 * np.mean(self.held[item]) >= LEAST_PCT for item in ITEMS)


def tally(world: ExperimentWorld, days: int) -> Tally:
    """Return what the results of some days say."""
    result = Tally()
    for seed in range(days):
        day = simulated_experiment(world, 1000 + seed)
        costs = measure_costs(ExperimentIntervals(**day.columns))
        if isinstance(costs, str):
            result.statuses["not enough data"] += 1
        else:
            result.add(day, costs)
    return result


def main() -> int:
    """Print the table; the exit code is 1 if an interval holds less often than promised."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=int, default=DAYS, help="simulated days of each world")
    days = parser.parse_args().days
    print("| simulated days | full handshake | resumed | megabyte | price | statuses | wrong estimates |")
    print("|---|---|---|---|---|---|---|")
    bad = []
    for name, world in (WORLDS | {"test handshakes 20 % cheaper": UNLIKE}).items():
        result = tally(world, days)
        print(f"| {' | '.join([name, *result.cells()])} |", flush=True)
        bad += [] if result.is_good() else [name]
    if bad:
        print(f"below {LEAST_PCT:.0f} of 100: {', '.join(bad)}")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
