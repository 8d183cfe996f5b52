"""Benchmark runs of a world: their plan, their effect on the cost model, and their connections.

The systems of the runs are on the machine and at the release that the tags of a run name: they have an IPL
before each run with others than the run before.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, groupby, islice
from typing import TYPE_CHECKING

import numpy as np

from zscope.samples.dump.connections import FULL, NO_TLS, RESUMED
from zscope.samples.dump.recipe import RecipeError
from zscope.samples.dump.site_context import IplOfSystem
from zscope.samples.world.cost import SIDES
from zscope.samples.world.declared_runs import USUAL_RUNS, DeclaredRun, FactorOfSides
from zscope.samples.world.services import RUN_SERVICES, SERVICES, SUITE_NUMBERS
from zscope.samples.world.world_connections import (
    SHORTEST_LONG_US,
    TICK_US,
    WorldConnections,
    ticks,
)
from zscope.samples.world.world_recipe import MINUTE_US, NAMES, NIGHTS, WorldRecipe

if TYPE_CHECKING:
    from zscope.samples.dump.arrays import Floats


_IPL_MINUTES = 30
"""Time between two runs with an IPL between them."""
_KILO = 1_000
_UNITS = {"B": 1, "kB": _KILO, "MB": _KILO**2}
_WORKLOAD = re.compile(r"(CRR|RR|STR)(\d+)\((\d+)(B|kB|MB)(?:/(\d+)(B|kB|MB))?\)")
_AT_ONCE = " + "
"""Between workloads that run at the same time."""
COUNTED_FORWARDED = ("counted", "forwarded")
"""Tag of a run whose transactions are those that the server forwards."""


RUN_SYSTEMS = {"client": NAMES.index(USUAL_RUNS.client), "server": NAMES.index(USUAL_RUNS.server)}
"""Numbers of the systems that take part in runs."""
_LATENCY_NOISE = 0.01
"""Relative differences between the minutes of a run."""
FIRST_RUN_MINUTE, MINUTES_BETWEEN = 60, 2


@dataclass(frozen=True, slots=True)
class RunPart:
    """One of the workloads of a run."""

    kind: str
    clients: int
    client_bytes: int
    server_bytes: int
    latency_us: int
    """Duration of a connection (CRR) or of a request (RR, STR); each client begins the next one at once."""
    services: tuple[int, ...]
    """Services of its connections, in turn."""


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """A run of the plan."""

    number: int
    name: str
    night: int
    workload: str
    parts: tuple[RunPart, ...]
    suite: int
    resumed: float
    """Share of resumed handshakes."""
    forwarded: float
    """Transactions that the server forwards to other hosts, for each of its own."""
    factors: Mapping[tuple[str, str], float]
    """Factors on the CPU time of handshakes and of everything, by side."""
    tags: Mapping[str, str]
    is_recorded: bool
    """Whether connections that stay open have records."""
    begin_us: int
    minutes: int

    @property
    def end_us(self) -> int:
        """End of the run."""
        return self.begin_us + self.minutes * MINUTE_US

    @property
    def kind(self) -> str:
        """The kind of its workload, or of its workloads."""
        return _AT_ONCE.join(part.kind for part in self.parts)

    @property
    def counted_times(self) -> float:
        """How many transactions are counted for each transaction of its connections."""
        key, value = COUNTED_FORWARDED
        return self.forwarded if self.tags.get(key) == value else 1.0

    def latencies_us(self, seed: int) -> Floats:
        """Return the average latency of its first workload in each minute."""
        noise = np.random.default_rng([seed, 31, self.number]).normal(0, _LATENCY_NOISE, self.minutes)
        return self.parts[0].latency_us * np.exp(noise)

    @property
    def steady_us(self) -> tuple[int, int]:
        """Start and end of full speed: the first and the last minute are slower."""
        return self.begin_us + MINUTE_US, self.end_us - MINUTE_US

    @property
    def installed(self) -> tuple[str, str]:
        """The machine and the release of its systems."""
        return self.tags["cpc"], self.tags["release"]


def planned_runs(recipe: WorldRecipe) -> tuple[PlannedRun, ...]:
    """Return the runs of a world; those of a night follow each other."""
    runs: list[PlannedRun] = []
    next_minute = dict.fromkeys(range(NIGHTS), FIRST_RUN_MINUTE)
    latest: dict[int, PlannedRun] = {}
    declared_runs = recipe.planned or USUAL_RUNS.run
    chosen = (each for each in declared_runs if recipe.runs == "all" or (recipe.runs == "few" and each.few))
    for number, declared in enumerate(chosen):
        run = _run(recipe, number, declared, next_minute[declared.night])
        if (before := latest.get(run.night)) and before.installed != run.installed:
            next_minute[run.night] += _IPL_MINUTES
            run = _run(recipe, number, declared, next_minute[run.night])
        next_minute[run.night] += recipe.run_minutes + MINUTES_BETWEEN
        runs.append(run)
        latest[run.night] = run
    return tuple(runs)


def runs_between_ipls(runs: Sequence[PlannedRun]) -> list[list[PlannedRun]]:
    """Return the runs of a night, those between two IPLs together."""
    return [list(group) for _, group in groupby(runs, lambda run: (run.night, run.installed))]


def ipls_of_runs(runs: Sequence[PlannedRun]) -> tuple[IplOfSystem, ...]:
    """Return the IPLs before runs, in the order of time."""
    firsts = [group[0] for group in runs_between_ipls(sorted(runs, key=lambda run: run.begin_us))]
    return tuple(
        IplOfSystem(system, release, machine, run.begin_us - _IPL_MINUTES * MINUTE_US // 2)
        for run in firsts
        for machine, release in [run.installed]
        for system in RUN_SYSTEMS.values()
    )


def _run(recipe: WorldRecipe, number: int, declared: DeclaredRun, minute: int) -> PlannedRun:
    texts, latencies = declared.workload.split(_AT_ONCE), declared.latency_ms
    latencies = latencies if isinstance(latencies, tuple) else (latencies,)
    names = declared.service if isinstance(declared.service, tuple) else (declared.service,) * len(texts)
    services = tuple(RUN_SERVICES[name] for name in names)
    of_parts = [services] if len(texts) == 1 else [(service,) for service in services]
    return PlannedRun(
        number=number,
        name=declared.name,
        night=declared.night,
        workload=declared.workload,
        parts=tuple(_part(declared, *part) for part in zip(texts, latencies, of_parts, strict=True)),
        suite=SUITE_NUMBERS[declared.suite] if declared.suite else 0,
        resumed=declared.resumed,
        forwarded=declared.forwarded,
        factors={
            (side, name): getattr(factor, side) if isinstance(factor, FactorOfSides) else factor
            for name, factor in (("handshake", declared.handshake), ("everything", declared.everything))
            for side in SIDES
        },
        tags=declared.tags,
        is_recorded=recipe.recording == "connections",
        begin_us=recipe.day_us(recipe.days + declared.night) + minute * MINUTE_US,
        minutes=recipe.run_minutes,
    )


def _part(declared: DeclaredRun, text: str, latency_ms: float, services: tuple[int, ...]) -> RunPart:
    match = _WORKLOAD.fullmatch(text)
    if not match:
        raise RecipeError(f"run {declared.name}: {text!r} is not a workload such as CRR40(64B/8kB)")
    client_bytes = int(match[3]) * _UNITS[match[4]]
    server_bytes = int(match[5]) * _UNITS[match[6]] if match[5] else client_bytes
    return RunPart(match[1], int(match[2]), client_bytes, server_bytes, round(latency_ms * 1_000), services)


_RAMP = 0.5
"""Share of the clients that are active in the first and the last minute."""
_LATENCY_SPREAD = 0.02
"""Relative differences between the clients of a run."""
_ROWS_A_MINUTE = 40
_CONTROL_CONNECTIONS = 12
"""Connections of a CRR run that stay open, over which the clients are controlled."""
_ROOM_US = 200_000
"""Minimum time between the start of a minute and a connection, and between its end and that of the minute."""
_STAGGER_US = 45_000_000
"""The connections of RR and STR runs start and end at different times in the first and the last minute."""
_FIRST_SESSION = 0xB000_0000


def night_connections(runs: tuple[PlannedRun, ...], number: int, seed: int) -> WorldConnections:
    """Return the connections of all runs of a night, sorted by start."""
    chosen = [run for run in runs if run.night == number]
    parts = [_connections(run, np.random.default_rng([seed, 30, run.number]), seed) for run in chosen]
    new = WorldConnections.joined(parts)
    return new[np.argsort(new.start, kind="stable")]


def _connections(run: PlannedRun, rng: np.random.Generator, seed: int) -> WorldConnections:
    noise = run.latencies_us(seed) / run.parts[0].latency_us
    made = []
    for part in run.parts:
        mine = (
            _short_connections(run, part, rng, part.latency_us * noise)
            if part.kind == "CRR"
            else _long_connections(run, part, rng)
        )
        mine.service[:] = list(islice(cycle(part.services), len(mine)))
        made.append(mine)
    new = WorldConnections.joined(made)
    new = new[np.argsort(new.start, kind="stable")]
    new.client[:], new.server[:] = RUN_SYSTEMS["client"], RUN_SYSTEMS["server"]
    new.suite[:], new.run[:] = run.suite, run.number
    new.handshake_time[:] = new.start
    new.session[:] = (_FIRST_SESSION + (run.number << 16) + new.session) & 0xFFFFFFFF
    is_protected = np.array([service.is_protected for service in SERVICES])
    new.handshake[~is_protected[new.service]] = NO_TLS
    new.long[:] = new.end - new.start > SHORTEST_LONG_US
    return new


def _short_connections(
    run: PlannedRun, part: RunPart, rng: np.random.Generator, latencies_us: Floats
) -> WorldConnections:
    """Return connections with one request each, none of them across the end of a minute, and those that
    control the clients.
    """
    rates = part.clients * np.array(_parts(run.minutes)) / latencies_us
    totals = np.rint(rates * MINUTE_US).astype(np.int64)
    # Whole numbers that add up to the total of each minute.
    shares = np.arange(_ROWS_A_MINUTE + 1) * totals[:, None] // _ROWS_A_MINUTE
    count = _ROWS_A_MINUTE * run.minutes
    duration = int(ticks(np.array(part.latency_us))) + TICK_US
    minute = np.repeat(np.arange(run.minutes), _ROWS_A_MINUTE)
    new = WorldConnections.zeros(count)
    new.start[:] = run.begin_us + minute * MINUTE_US
    new.start += ticks(_ROOM_US + rng.uniform(0, 1, count) * (MINUTE_US - 2 * _ROOM_US - duration))
    new.end[:] = new.start + duration
    new.times[:] = np.diff(shares, axis=1).ravel()
    new.up[:], new.down[:] = part.client_bytes, part.server_bytes
    draws = rng.permutation((np.arange(count) + 0.5) / count)
    control = _control_connections(run) if run.is_recorded else new[:0]
    draws = np.concatenate([draws, np.zeros(len(control))])
    new = WorldConnections.joined([new, control])
    new.handshake[:] = np.where(draws < run.resumed, RESUMED, FULL)
    # Every client offers its own session; the handshake before the run is not in the data.
    number = np.arange(len(new))
    new.session[:] = np.where(draws < run.resumed, number % part.clients, 1_000 + number)
    return new


def _control_connections(run: PlannedRun) -> WorldConnections:
    """Return connections that stay open and carry next to nothing, the only ones with records."""
    new = WorldConnections.zeros(_CONTROL_CONNECTIONS)
    new.start[:] = run.begin_us + _ROOM_US + np.arange(len(new)) * TICK_US
    new.end[:] = run.end_us - _ROOM_US
    new.up[:] = new.down[:] = 2 * _KILO
    new.times[:] = 1
    return new


def _long_connections(run: PlannedRun, part: RunPart, rng: np.random.Generator) -> WorldConnections:
    """Return one connection for each client, with one request after the other."""
    new = WorldConnections.zeros(part.clients)
    late, early = rng.uniform(0, _STAGGER_US, (2, part.clients))
    new.start[:] = run.begin_us + ticks(_ROOM_US + late)
    new.end[:] = run.end_us - ticks(_ROOM_US + early)
    new = new[np.argsort(new.start, kind="stable")]
    latency = part.latency_us * np.exp(rng.normal(0, _LATENCY_SPREAD, part.clients))
    new.times[:] = 1
    new.requests[:] = ((new.end - new.start) / latency).astype(np.int64)
    new.up, new.down = (new.requests * size for size in (part.client_bytes, part.server_bytes))
    return new


def _parts(minutes: int) -> list[float]:
    return [_RAMP, *[1.0] * (minutes - 2), _RAMP]
