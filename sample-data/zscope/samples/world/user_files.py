"""Files of users in a world beside its data: the list of benchmark runs, transaction counts, a README."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zscope.samples.reports.files import LABEL
from zscope.samples.world.benchmark_runs import RUN_SYSTEMS
from zscope.samples.world.traffic import INTERVAL_US
from zscope.samples.world.workload import WORKLOAD_SYSTEM
from zscope.samples.world.world_recipe import (
    CLIENTS,
    DAY_US,
    INTERVALS_A_DAY,
    MINUTE_US,
    NAMES,
    WORLD_SYSTEMS,
    ZONE,
    moment,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from zscope.samples.world.benchmark_runs import PlannedRun
    from zscope.samples.world.world_connections import WorldConnections
    from zscope.samples.world.world_recipe import WorldRecipe

RUNS, TRANSACTIONS, README = "runs.toml", "transactions.csv", "README.txt"
SUPPLIED = "RR60(4kB)"
"""Runs with this workload, and those that open a connection for each transaction, have counts."""


def runs_toml(runs: Iterable[PlannedRun]) -> str:
    """Return both sides of every run in the format of runs.toml."""
    parts = [f"# {LABEL.lower()}\n"]
    for run in runs:
        for role, system in RUN_SYSTEMS.items():
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
    """Counts the transactions of the servers: one for each connection that ends."""

    def __init__(self, recipe: WorldRecipe) -> None:
        self._recipe = recipe
        self._counts = np.zeros((len(NAMES), recipe.days * INTERVALS_A_DAY), np.int64)

    def add(self, connections: WorldConnections) -> None:
        """Count connections of the background traffic."""
        place = (connections.end - self._recipe.start_us) // INTERVAL_US
        for system in range(CLIENTS, len(NAMES)):
            mine = connections.server == system
            counted = np.bincount(place[mine], connections.times[mine], self._counts.shape[1])
            self._counts[system] += counted.astype(np.int64)

    def csv(self, runs: Iterable[PlannedRun], connections: WorldConnections) -> str:
        """Return the counts by server and RMF interval, and by minute for both sides of some runs."""
        header = "system,start,end,transactions,workload,response_us"
        return "\n".join([header, *self._rows(runs, connections)]) + "\n"

    def _rows(self, runs: Iterable[PlannedRun], connections: WorldConnections) -> Iterator[str]:
        for system in range(CLIENTS, len(NAMES)):
            for number, count in enumerate(self._counts[system].tolist()):
                begin = self._recipe.start_us + number * INTERVAL_US
                yield _row(system, begin, begin + INTERVAL_US, count, ",")
        for run in runs:
            if run.kind != "CRR" and run.workload != SUPPLIED:
                continue
            minutes = run.begin_us + np.arange(run.minutes + 1) * MINUTE_US
            mine = connections[connections.run == run.number]
            if run.kind == "CRR":
                short = mine[~mine.long]
                counts = np.histogram(short.end, minutes, weights=short.times)[0]
                answers = [f"{latency:.0f}" for latency in run.latencies_us(self._recipe.seed)]
            else:
                counts = np.diff([requests_until(mine, at) for at in minutes.tolist()])
                answers = [""] * run.minutes
            for system in RUN_SYSTEMS.values():
                for minute, count in enumerate(counts.tolist()):
                    tail = f"{run.workload},{answers[minute]}"
                    yield _row(system, int(minutes[minute]), int(minutes[minute + 1]), count, tail)


def requests_until(connections: WorldConnections, at_us: int) -> int:
    """Return the number of requests of long connections completed by a time."""
    part = np.clip((at_us - connections.start) / (connections.end - connections.start), 0.0, 1.0)
    return int((connections.requests * part).astype(np.int64).sum())


def _row(system: int, begin: int, end: int, count: int, tail: str) -> str:
    times = ",".join(f"{moment(at):%Y-%m-%dT%H:%M:%SZ}" for at in (begin, end))
    return f"{NAMES[system]},{times},{count},{tail}"


def readme(recipe: WorldRecipe) -> str:
    """Return the README of the folder."""
    end = moment(recipe.start_us + recipe.days * DAY_US)
    clients, servers = _systems("client"), _systems("server")
    of_runs = " and ".join(NAMES[system] for system in RUN_SYSTEMS.values())
    return f"""{LABEL}

{clients[0].upper()}{clients[1:]}, call services of {servers}, through a distributor. Background
traffic from {recipe.start:%Y-%m-%d %H:%M} to {end:%Y-%m-%d %H:%M} UTC with an RMF interval of 15
minutes; then nights of benchmark runs between {of_runs} with an interval of a minute.
{_recorded(recipe)}
The CPU time follows the cost model in manifest.json, which also holds everything that a reader should find.
The costs have published magnitudes. Agreement of the runs with published figures shows that the arithmetic is
right, and nothing about the figures.

All clocks are an hour ahead of UTC. To load the folder into a store and name the runs in it:

  zscope ingest FOLDER --timezone {ZONE}
  cp FOLDER/{RUNS} STORE/

smf/              SMF dumps: types 30, 70-1, 72-3, 119-1, 119-2, 119-5, 119-6, 119-7, 119-11, 119-12; types
                  30 and 72 only of {NAMES[WORKLOAD_SYSTEM]} and the background traffic
rmf/              RMF reports about some hours, partly of intervals without SMF records
displays/         NETSTAT sessions of each system; a SYSLOG with displays of GSKSRVR and NETSTAT
policy/           the AT-TLS policy of each system: reports of pasearch, or the policy file
logs/             AT-TLS messages about failed handshakes: logs of syslogd, and a SYSLOG
{RUNS}         the benchmark runs
{TRANSACTIONS}  transactions that the servers counted
manifest.json     how the world was made, and the known answers

AT-TLS sections of type 119-2 name suites of four digits at the place where that field is presumed: nobody
published it. zERT records of level 3.2 are as long as those before, because what was appended is not
published either.
"""


def _systems(role: str) -> str:
    """Return the number and names of the systems of a role."""
    names = [system.name for system in WORLD_SYSTEMS if system.role == role]
    return f"{_NUMBERS[len(names) - 1]} {role}{'s' if len(names) > 1 else ''}, {' and '.join(names)}"


_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight")


def _recorded(recipe: WorldRecipe) -> str:
    """Return the sentences of the README about the records of connections."""
    of_runs = "Short connections of the runs are only counted."
    if recipe.recording == "connections":
        return f"Every connection of the background traffic has records at both ends. {of_runs}"
    first, after = (moment(at) for at in recipe.recorded_us)
    return (
        "Connections are counted by the stacks, zERT summaries and session caches. They have records of\n"
        f"their own from {first:%Y-%m-%d %H:%M} to {after:%H:%M} UTC only. {of_runs}"
    )
