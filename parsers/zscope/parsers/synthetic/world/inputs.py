"""What people would write beside the data of a world: the list of runs, counted transactions, a note."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from zscope.parsers.synthetic.reports.files import LABEL
from zscope.parsers.synthetic.world.plan import RUN_CLIENT, RUN_SERVER
from zscope.parsers.synthetic.world.recipe import (
    CLIENTS,
    DAY_US,
    INTERVALS_A_DAY,
    MINUTE_US,
    NAMES,
    ZONE,
    moment,
)
from zscope.parsers.synthetic.world.traffic import INTERVAL_US

if TYPE_CHECKING:
    from zscope.parsers.synthetic.world.links import Links
    from zscope.parsers.synthetic.world.plan import PlannedRun
    from zscope.parsers.synthetic.world.recipe import WorldRecipe

RUNS, TRANSACTIONS, README = "runs.toml", "transactions.csv", "README.txt"
SUPPLIED = "RR60(4kB)"
"""Runs with this workload come with counts of their transactions."""
_SIDES = {"client": RUN_CLIENT, "server": RUN_SERVER}


def runs_toml(runs: Iterable[PlannedRun]) -> str:
    """Both sides of every run, in the form that the store keeps."""
    parts = [f"# {LABEL.lower()}\n"]
    for run in runs:
        for role, system in _SIDES.items():
            lines = [
                "[[run]]",
                f'name = "{run.name}"',
                f'system = "{NAMES[system]}"',
                f'role = "{role}"',
                f"from = {moment(run.begin_us):%Y-%m-%dT%H:%M:%SZ}",
                f"to = {moment(run.end_us):%Y-%m-%dT%H:%M:%SZ}",
                f'workload = "{run.workload}"',
                "synthetic = true",
                "[run.tags]",
                *(f'{key} = "{value}"' for key, value in sorted(run.tags.items())),
            ]
            parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


class Transactions:
    """Counts what servers would count themselves: a transaction for each connection that ends."""

    def __init__(self, recipe: WorldRecipe) -> None:
        self._recipe = recipe
        self._counts = np.zeros((len(NAMES), recipe.days * INTERVALS_A_DAY), np.int64)

    def add(self, links: Links) -> None:
        """Count connections of the background."""
        place = (links["end"] - self._recipe.start_us) // INTERVAL_US
        for system in range(CLIENTS, len(NAMES)):
            mine = place[links["server"] == system]
            self._counts[system] += np.bincount(mine, minlength=self._counts.shape[1])

    def csv(self, runs: Iterable[PlannedRun], links: Links) -> str:
        """By server and RMF interval, and by minute of some runs, for both sides."""
        return "\n".join(["system,start,end,transactions,workload", *self._rows(runs, links)]) + "\n"

    def _rows(self, runs: Iterable[PlannedRun], links: Links) -> Iterator[str]:
        for system in range(CLIENTS, len(NAMES)):
            for number, count in enumerate(self._counts[system].tolist()):
                begin = self._recipe.start_us + number * INTERVAL_US
                yield _row(system, begin, begin + INTERVAL_US, count, "")
        for run in runs:
            if run.workload != SUPPLIED:
                continue
            minutes = run.begin_us + np.arange(run.minutes + 1) * MINUTE_US
            done = [requests_until(links[links["run"] == run.number], at) for at in minutes.tolist()]
            for system in _SIDES.values():
                for minute, count in enumerate(np.diff(done).tolist()):
                    yield _row(system, int(minutes[minute]), int(minutes[minute + 1]), count, run.workload)


def requests_until(links: Links, at_us: int) -> int:
    """How many requests of lasting connections were done by a time."""
    part = np.clip((at_us - links["start"]) / (links["end"] - links["start"]), 0.0, 1.0)
    return int((links["requests"] * part).astype(np.int64).sum())


def _row(system: int, begin: int, end: int, count: int, workload: str) -> str:
    times = ",".join(f"{moment(at):%Y-%m-%dT%H:%M:%SZ}" for at in (begin, end))
    return f"{NAMES[system]},{times},{count},{workload}"


def readme(recipe: WorldRecipe) -> str:
    """What the folder is and how to load it."""
    end = moment(recipe.start_us + recipe.days * DAY_US)
    return f"""{LABEL}

Two clients, CLI1 and CLI2, call services of two servers, SRV1 and SRV2, through a distributor. Background
traffic from {recipe.start:%Y-%m-%d} to {end:%Y-%m-%d} UTC with an RMF interval of 15 minutes; then nights of
benchmark runs between CLI1 and SRV1 with an interval of a minute. The CPU time follows the cost model in
manifest.json, which also holds everything that a reader should find. Agreement of such runs with published
figures shows that the arithmetic is right, and nothing about the figures.

All clocks are an hour ahead of UTC. To load the folder into a store and name the runs in it:

  zscope ingest FOLDER --timezone {ZONE}
  cp FOLDER/{RUNS} STORE/

smf/              SMF dumps: types 70-1, 119-1, 119-2, 119-11, 119-12; both ends of every connection
rmf/              RMF reports about some hours, partly of intervals without SMF records
displays/         NETSTAT sessions, one for each system and day; a SYSLOG with displays of GSKSRVR and NETSTAT
{RUNS}         the benchmark runs
{TRANSACTIONS}  transactions that the servers counted
manifest.json     how the world was made, and the known answers

AT-TLS sections of type 119-2 name suites of four digits at the place where that field is presumed: nobody
published it. zERT records of level 3.2 are as long as those before, because what was appended is not
published either.
"""
