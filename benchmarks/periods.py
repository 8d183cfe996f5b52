"""Measure how often a comparison of two periods sees a change where there is none, and where there is one:
`make bench-periods`.

Pairs of periods are simulated and compared as `zscope compare-periods` does. `--write-docs` writes the
table into `docs/benchmarks.md`.
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

# Each process has one core; threads of the linear algebra would only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import msgspec
from estimate.period_pairs import (
    DAY_HEIGHT_SD,
    LOGIT_OF_40_PCT,
    LOGIT_OF_70_PCT,
    WEEK_DAYS,
    judged,
    simulated_pair,
)
from estimate.replicates import Summary, plain
from figures import aligned, machine, verdict, write_between

from zscope.samples.space_worlds import SPACE_WORLDS

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"
BEGIN, END = "<!-- periods: begin -->", "<!-- periods: end -->"
WORLD = "usual"
UNCHANGED, CHANGED = 60, 20
MOST_FALSE_ALARMS = 3


@dataclass(frozen=True)
class KindOfPair:
    """Pairs that are simulated and judged alike."""

    name: str
    pairs: int
    days: int
    is_changed: bool = False
    height_sd: float = DAY_HEIGHT_SD
    has_target: bool = True

    def judge(self, seed: int) -> dict[str, float]:
        """Simulate a pair and judge the comparison."""
        world = SPACE_WORLDS[WORLD]
        later = None
        if self.is_changed:
            world, later = msgspec.structs.replace(world, mean_logit=LOGIT_OF_40_PCT), LOGIT_OF_70_PCT
        return judged(simulated_pair(world, later, seed, self.height_sd), self.days)

    def reached(self, of: Summary) -> bool:
        """Whether the comparisons say what they have to."""
        if self.is_changed:
            return all(min(of.values(name)) == 1 for name in ("more resumed", "saving in range"))
        return sum(of.values("any change")) <= MOST_FALSE_ALARMS * len(of.rows) / UNCHANGED


KINDS = (
    KindOfPair("no change, weeks", UNCHANGED, WEEK_DAYS),
    KindOfPair("no change, days of equal height", UNCHANGED, 1, height_sd=0),
    KindOfPair("no change, days", UNCHANGED, 1, has_target=False),
    KindOfPair("40 to 70 % resumed, weeks", CHANGED, WEEK_DAYS, is_changed=True),
    KindOfPair("40 to 70 % resumed, days", CHANGED, 1, is_changed=True),
)


def table(processes: int) -> str:
    """Return the table of all kinds of pairs."""
    rows: list[tuple[str, ...]] = [
        ("pairs", "number", "any change seen", "more resumed seen", "saving in range", "+-", "")
    ]
    with ProcessPoolExecutor(processes) as pool:
        for kind in KINDS:
            of = Summary(list(pool.map(kind.judge, range(1, kind.pairs + 1))))
            rows.append(
                (
                    kind.name,
                    str(kind.pairs),
                    plain(sum(of.values("any change"))),
                    plain(sum(of.values("more resumed"))),
                    plain(sum(of.values("saving in range"))) if kind.is_changed else "-",
                    f"{of.median('saving width') / 2:.0f} %" if kind.is_changed else "-",
                    verdict(kind.reached(of)) if kind.has_target else "no target",
                )
            )
    return aligned(rows)


def main() -> None:
    """Simulate, and print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=1, help="default: %(default)s")
    parser.add_argument("--write-docs", action="store_true", help=f"write the table into {DOCUMENT.name}")
    arguments = parser.parse_args()
    report = table(arguments.processes)
    print(f"{report}\n\n{machine()}")
    if arguments.write_docs:
        write_between(DOCUMENT, BEGIN, END, report)


if __name__ == "__main__":
    main()
