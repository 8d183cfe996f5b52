"""Files of users in a world beside its data: the list of benchmark runs, transaction counts, a README."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zscope.samples.declaration_files import declared_text
from zscope.samples.reports.files import LABEL
from zscope.samples.reports.runs_file import SystemRun
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
    moment,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from zscope.samples.world.benchmark_runs import PlannedRun
    from zscope.samples.world.world_connections import WorldConnections
    from zscope.samples.world.world_recipe import WorldRecipe

TRANSACTIONS, README = "transactions.csv", "README.txt"
SUPPLIED = "RR60(4kB)"
"""Runs with this workload, with several workloads, with transactions that the server forwards, and those that
open a connection for each transaction have counts.
"""


def world_runs(runs: Iterable[PlannedRun]) -> Iterator[SystemRun]:
    """Yield both sides of every run."""
    for run in runs:
        for role, system in RUN_SYSTEMS.items():
            begin, end = moment(run.begin_us), moment(run.end_us)
            yield SystemRun(run.name, NAMES[system], role, begin, end, run.tags, run.workload)


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
            if run.kind in {"RR", "STR"} and run.workload != SUPPLIED and not run.forwarded:
                continue
            minutes = run.begin_us + np.arange(run.minutes + 1) * MINUTE_US
            mine = connections[connections.run == run.number]
            long, short = mine[mine.long], mine[~mine.long]
            counts = np.histogram(short.end, minutes, weights=short.times)[0]
            counts = counts + np.diff([requests_until(long, at) for at in minutes.tolist()])
            answers = [""] * run.minutes
            if run.kind == "CRR":
                answers = [f"{latency:.0f}" for latency in run.latencies_us(self._recipe.seed)]
            for system in RUN_SYSTEMS.values():
                for minute, count in enumerate((counts * run.counted_times).astype(np.int64).tolist()):
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
    clients = _systems("client")
    return declared_text("world/readme.txt").format(
        label=LABEL,
        clients=f"{clients[0].upper()}{clients[1:]}",
        servers=_systems("server"),
        start=recipe.start,
        end=moment(recipe.start_us + recipe.days * DAY_US),
        of_runs=" and ".join(NAMES[system] for system in RUN_SYSTEMS.values()),
        recorded=_recorded(recipe),
        workload_system=NAMES[WORKLOAD_SYSTEM],
    )


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
