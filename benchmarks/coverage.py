"""Measure how often the estimate of the TLS CPU cost contains the truth: `make bench-coverage`.

Worlds with known costs are simulated (`zscope.samples.cost_truth`), estimated as a store would be, and
compared with what the simulation put in. `--write-docs` also writes the tables into the page of the estimate.
"""

from __future__ import annotations

import argparse
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

# Each process has one core; threads of the linear algebra would only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import msgspec
import numpy as np
from estimate.kinds import kinds_table
from estimate.replicates import Row, Simulation, Summary, holds, plain
from figures import aligned, measured_here, verdict

from zscope.pipelines.estimate.costs import estimate_costs
from zscope.pipelines.estimate.estimate_document import COVERAGE_FILES
from zscope.pipelines.estimate.intervals import DAY_S, SystemIntervals
from zscope.pipelines.estimate.periods import compare_periods
from zscope.samples.cost_truth import (
    FULL_US,
    MB_US,
    RESUMED_US,
    WORLDS,
    CostIntervals,
    CostWorld,
    cost_intervals,
)
from zscope.samples.simulated_series import INTERVAL_S
from zscope.samples.space_truth import space_intervals
from zscope.samples.space_worlds import SPACE_WORLDS, SpaceWorld

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from zscope.pipelines.estimate.costs import SystemEstimate

LENGTHS = (1, 3, 14, 90)
USUAL_DAYS = 14
REPLICATES = 300
AT_ONCE = 25
"""Replicates that are simulated together."""
LEAST_PCT = 90.0
_SHORT_DAYS = 7
OPPOSITE = ("opposite, r -0.2", "opposite, r -0.5")
CALM = ("iid", "AR", "curve")
"""Worlds that are never to be refused at 14 days."""
SPACE_REPLICATES = 20
LEAST_OF_KIND_PCT = 90.0
CHANGE_REPLICATES = 100
CHANGE_WORLDS = ("usual", "all in the stack", "all in the caller", "usual, logon 10 ms")
CHANGES: dict[str, dict[str, float]] = {
    "none": {},
    "full + 20 %": {"full_us": 1.2 * FULL_US},
    "57 to 75 % resumed": {"mean_logit": 1.2},
    "load + 30 %": {"rate": 52.0},
}
CHANGES_OF_COST = ("full + 20 %", "57 to 75 % resumed")
CHANGE_SOURCES = {"SMF 30": True, "LPAR": False}
MOST_FALSE_ALARMS_PCT = 5.0
LEVELS = ("full handshake", "resumed handshake", "megabyte")
CHANGED = ("per connection", "costs", "resumption", "number", "TLS")
PARTS_HEADER = ("holds: per connection/costs/resumption/number/TLS", "")


def truths(world: CostIntervals, row: int) -> dict[tuple[str, str], float]:
    """Return the true costs and the true price."""
    full, resumed, mb = world.truth
    return {
        ("full handshake", "us"): full,
        ("resumed handshake", "us"): resumed,
        ("megabyte", "us"): mb,
        ("full less resumed", "us"): full - resumed,
        ("TLS", "s/day"): float(world.tls_us[row].mean()) * 86_400 / 1e6,
    }


def judged(result: SystemEstimate, truth: dict[tuple[str, str], float]) -> Row:
    """Return what the result says about the truth."""
    row: Row = {
        "refused": float(result.status.kind == "not enough data"),
        "no kinds": float(result.cost("full less resumed").status.kind == "not enough data"),
    }
    for (item, unit), value in truth.items():
        cost = result.cost(item, unit)
        row[f"{item} range"] = holds(cost.low, cost.high, value)
        if cost.low is not None and cost.high is not None:
            row[f"{item} width"] = 50 * (cost.high - cost.low) / value
    return row


def of_lpar(world: CostWorld, seed: int) -> list[Row]:
    """Judge the estimates from the CPU time of the LPAR."""
    intervals = cost_intervals(world, AT_ONCE, seed)
    return [
        judged(estimate_costs(SystemIntervals(**intervals.measured(at))), truths(intervals, at))
        for at in range(AT_ONCE)
    ]


def of_change(world: SpaceWorld, changes: dict[str, float], seed: int) -> list[Row]:
    """Judge the change between two periods of which the second one has other parameters."""
    later = msgspec.structs.replace(world, **changes)
    old, new = space_intervals(world, seed), space_intervals(later, seed + 1_000_000)
    full, resumed, megabytes = (
        np.array([float(np.mean(period.columns[name])) for period in (old, new)])
        for name in ("full_handshakes", "resumed_handshakes", "tls_mb")
    )
    connections = full + resumed
    day = DAY_S / INTERVAL_S / 1e6
    handshakes_s = np.array([sum(period.parts_s_per_day[:2]) for period in (old, new)]) / connections
    mean = connections.mean()
    shares = full / connections
    more = {
        "per connection": float(handshakes_s[1] - handshakes_s[0]) * mean,
        "resumption": (shares[1] - shares[0])
        * ((world.full_us + later.full_us) / 2 - RESUMED_US)
        * mean
        * day,
        "number": (connections[1] - connections[0]) * handshakes_s.mean()
        + (megabytes[1] - megabytes[0]) * MB_US * day,
        "TLS": new.tls_s_per_day - old.tls_s_per_day,
    }
    more["costs"] = more["per connection"] - more["resumption"]
    row: Row = {}
    for source, spaces in CHANGE_SOURCES.items():
        compared = compare_periods(*(SystemIntervals(**each.measured(spaces=spaces)) for each in (old, new)))
        for item, truth in more.items():
            if change := next((each for each in compared.changes if each.item == item), None):
                row[f"{source} {item}"] = holds(change.low, change.high, truth)
        if change := next((each for each in compared.changes if each.item == "per connection"), None):
            row[f"{source} seen"] = float(change.verdict != "not distinguishable")
            row[f"{source} visible"] = 100 * (change.smallest_visible or 0.0) / old.tls_s_per_day
        row[f"{source} conditional"] = float(compared.status.kind == "conditional")
    return [row]


def least(days: int, replicates: int) -> float:
    """Return how often a result has to contain the truth: less two standard errors if the data are short."""
    if days >= _SHORT_DAYS:
        return LEAST_PCT
    return LEAST_PCT - 200 * float(np.sqrt(0.9 * 0.1 / replicates))


def lpar_table(run: Simulation, names: Iterable[str], lengths: Iterable[int], replicates: int) -> str:
    """Return the table of the estimates from the CPU time of the LPAR."""
    header = (
        *("world", "days", "not enough data", "only mean"),
        *("difference", "+-", "range: full/resumed/MB", "+-", "TLS", ""),
    )
    rows: list[tuple[str, ...]] = [header]
    for days in lengths:
        for name in names:
            world = replace(WORLDS[name], days=days)
            of = run.summary(f"{name}, {days} days", partial(of_lpar, world), replicates // AT_ONCE)
            rows.append(
                (
                    name,
                    str(days),
                    plain(of.pct("refused")),
                    plain(of.pct("no kinds") - of.pct("refused")),
                    plain(of.pct("full less resumed range")),
                    plain(of.median("full less resumed width")),
                    of.percents(*(f"{item} range" for item in LEVELS)),
                    plain(of.median("full handshake width")),
                    plain(of.pct("TLS range")),
                    _lpar_verdict(name, days, of, least(days, replicates)),
                )
            )
    return aligned(rows)


def _lpar_verdict(name: str, days: int, of: Summary, least_pct: float) -> str:
    if name in OPPOSITE:
        return "known limit"
    if of.pct("refused") > 95:
        return "not enough data"
    unconditional = [f"{item} range" for item in (*LEVELS, "full less resumed", "TLS")]
    enough = all(not of.pct(name) < least_pct for name in unconditional)
    answered = days != USUAL_DAYS or not name.startswith(CALM) or of.pct("no kinds") <= 5
    return verdict(enough and answered)


def change_table(run: Simulation, replicates: int) -> str:
    """Return the table of the changes between two periods of 14 days."""
    rows: list[tuple[str, ...]] = [
        (
            "world",
            "change",
            "CPU time",
            "verdicts of a change",
            "smallest visible %",
            "conditional",
            *PARTS_HEADER,
        )
    ]
    for name in CHANGE_WORLDS:
        for what, changes in CHANGES.items():
            judge = partial(of_change, SPACE_WORLDS[name], changes)
            of = run.summary(f"{name}, {what}", judge, replicates)
            for source in CHANGE_SOURCES:
                held = [of.pct(f"{source} {item}") for item in CHANGED]
                few = what in CHANGES_OF_COST or of.pct(f"{source} seen") <= MOST_FALSE_ALARMS_PCT
                rows.append(
                    (
                        name,
                        what,
                        source,
                        plain(of.pct(f"{source} seen")),
                        plain(of.median(f"{source} visible")),
                        plain(of.pct(f"{source} conditional")),
                        "/".join(plain(share) for share in held),
                        verdict(few and min(held) >= LEAST_OF_KIND_PCT),
                    )
                )
    return aligned(rows)


def reports(arguments: argparse.Namespace) -> dict[str, str]:
    """Simulate, and return the chosen tables by name."""
    chosen = arguments.worlds.split(";") if arguments.worlds else list(WORLDS)
    lengths = [int(days) for days in arguments.days.split(",")]
    replicates = -(-arguments.replicates // AT_ONCE) * AT_ONCE
    tables: dict[str, tuple[str, Callable[[Simulation], str]]] = {
        "kinds": (
            f"Systems with applications, {arguments.space_replicates} replicates of each:",
            lambda run: kinds_table(run, SPACE_WORLDS, arguments.space_replicates),
        ),
        "lpar": (
            f"CPU time of the LPAR, {replicates} replicates of each:",
            lambda run: lpar_table(run, chosen, lengths, replicates),
        ),
        "changes": (
            f"Changes between two periods of 14 days, {arguments.change_replicates} pairs of each:",
            lambda run: change_table(run, arguments.change_replicates),
        ),
    }
    processes = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    written: dict[str, str] = {}
    with ProcessPoolExecutor(processes) as pool:
        for name in arguments.tables.split(","):
            title, table = tables[name]
            written[name] = f"{title}\n\n{table(Simulation(pool))}\n\n- {measured_here()}"
    print(file=sys.stderr)
    return written


def main() -> None:
    """Run the simulation."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--tables", default=",".join(COVERAGE_FILES), help="which of the tables; default: %(default)s"
    )
    parser.add_argument("--replicates", type=int, default=REPLICATES, help="of each world and length of lpar")
    parser.add_argument(
        "--worlds", default="", help="names of worlds of lpar, with ; between them; default: all"
    )
    parser.add_argument(
        "--days", default=",".join(map(str, LENGTHS)), help="lengths of lpar, with , between them"
    )
    parser.add_argument(
        "--space-replicates", type=int, default=SPACE_REPLICATES, help="of each world of kinds"
    )
    parser.add_argument(
        "--change-replicates", type=int, default=CHANGE_REPLICATES, help="pairs of periods of changes"
    )
    parser.add_argument(
        "--write-docs", action="store_true", help="write the chosen tables into the page of the estimate"
    )
    arguments = parser.parse_args()
    if arguments.worlds and not set(arguments.worlds.split(";")) <= set(WORLDS):
        parser.error(f"--worlds: these are the names: {'; '.join(WORLDS)}")
    if not set(arguments.tables.split(",")) <= set(COVERAGE_FILES):
        parser.error(f"--tables: these are the names: {', '.join(COVERAGE_FILES)}")
    written = reports(arguments)
    print("\n\n".join(written.values()))
    if arguments.write_docs:
        for name, text in written.items():
            COVERAGE_FILES[name].write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
