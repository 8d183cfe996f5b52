"""Benchmark runs of a world: their plan, their effect on the cost model, and their connections."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from zscope.samples.declaration_files import declared_file
from zscope.samples.dump.connections import FULL, NO_TLS, RESUMED
from zscope.samples.world.cost import SIDES
from zscope.samples.world.services import RUN_SERVICES, SERVICES, SUITE_NUMBERS
from zscope.samples.world.world_connections import (
    SHORTEST_LONG_US,
    TICK_US,
    WorldConnections,
    ticks,
)
from zscope.samples.world.world_recipe import MINUTE_US, NAMES, NIGHTS, WorldRecipe
from zscope.schemas.declared import Declared, TomlFile

if TYPE_CHECKING:
    from zscope.samples.dump.arrays import Floats


_KILO = 1_000
_UNITS = {"B": 1, "kB": _KILO, "MB": _KILO**2}
_WORKLOAD = re.compile(r"(CRR|RR|STR)(\d+)\((\d+)(B|kB|MB)(?:/(\d+)(B|kB|MB))?\)")


class FactorOfSides(Declared, frozen=True):
    """A factor on the CPU time of each side."""

    client: int | float
    server: int | float


class DeclaredRun(Declared, frozen=True):
    """A run with the values that it inherits from its kind of workload."""

    name: str
    workload: str
    night: int
    service: str
    latency_ms: float
    tags: Mapping[str, str]
    suite: str = ""
    resumed: float = 0.0
    handshake: int | float | FactorOfSides = 1.0
    everything: int | float | FactorOfSides = 1.0
    few: bool = False


class DeclaredRuns(Declared, frozen=True):
    """The content of `benchmark_runs.toml`, with complete runs."""

    client: str
    server: str
    run: tuple[DeclaredRun, ...]


def read_benchmark_runs(file: TomlFile) -> DeclaredRuns:
    """Return the runs of a file, with what their kinds of workload have in common."""
    defaults = file.content["defaults"]
    runs = []
    for entry in file.content["run"]:
        workload = entry.get("workload", defaults["CRR"]["workload"])
        inherited = next(values for kind, values in defaults.items() if workload.startswith(kind))
        runs.append({**inherited, **entry, "tags": {**inherited["tags"], **entry["tags"]}})
    content = {name: value for name, value in file.content.items() if name != "defaults"}
    return file.typed(DeclaredRuns, content | {"run": runs})


_PLAN = read_benchmark_runs(declared_file("world/benchmark_runs.toml"))
RUN_SYSTEMS = {"client": NAMES.index(_PLAN.client), "server": NAMES.index(_PLAN.server)}
"""Numbers of the systems that take part in runs."""
_LATENCY_NOISE = 0.01
"""Relative differences between the minutes of a run."""
FIRST_RUN_MINUTE, MINUTES_BETWEEN = 60, 2


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """A run of the plan."""

    number: int
    name: str
    night: int
    workload: str
    kind: str
    clients: int
    client_bytes: int
    server_bytes: int
    service: int
    suite: int
    resumed: float
    """Share of resumed handshakes."""
    latency_us: int
    """Duration of a connection (CRR) or of a request (RR, STR); each client begins the next one at once."""
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

    def latencies_us(self, seed: int) -> Floats:
        """Return the average latency in each minute."""
        noise = np.random.default_rng([seed, 31, self.number]).normal(0, _LATENCY_NOISE, self.minutes)
        return self.latency_us * np.exp(noise)

    @property
    def steady_us(self) -> tuple[int, int]:
        """Start and end of full speed: the first and the last minute are slower."""
        return self.begin_us + MINUTE_US, self.end_us - MINUTE_US


def planned_runs(recipe: WorldRecipe) -> tuple[PlannedRun, ...]:
    """Return the runs of a world; those of a night follow each other."""
    runs, next_minute = [], dict.fromkeys(range(NIGHTS), FIRST_RUN_MINUTE)
    chosen = (each for each in _PLAN.run if recipe.runs == "all" or (recipe.runs == "few" and each.few))
    for number, declared in enumerate(chosen):
        begin_us = recipe.day_us(recipe.days + declared.night) + next_minute[declared.night] * MINUTE_US
        next_minute[declared.night] += recipe.run_minutes + MINUTES_BETWEEN
        runs.append(_run(recipe, number, declared, begin_us))
    return tuple(runs)


def _run(recipe: WorldRecipe, number: int, declared: DeclaredRun, begin_us: int) -> PlannedRun:
    match = _WORKLOAD.fullmatch(declared.workload)
    assert match, f"{declared.name}: the plan has an unknown workload"
    client_bytes = int(match[3]) * _UNITS[match[4]]
    return PlannedRun(
        number=number,
        name=declared.name,
        night=declared.night,
        workload=declared.workload,
        kind=match[1],
        clients=int(match[2]),
        client_bytes=client_bytes,
        server_bytes=int(match[5]) * _UNITS[match[6]] if match[5] else client_bytes,
        service=RUN_SERVICES[declared.service],
        suite=SUITE_NUMBERS[declared.suite] if declared.suite else 0,
        resumed=declared.resumed,
        latency_us=round(declared.latency_ms * 1_000),
        factors={
            (side, name): getattr(factor, side) if isinstance(factor, FactorOfSides) else factor
            for name, factor in (("handshake", declared.handshake), ("everything", declared.everything))
            for side in SIDES
        },
        tags=declared.tags,
        is_recorded=recipe.recording == "connections",
        begin_us=begin_us,
        minutes=recipe.run_minutes,
    )


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
    new = (
        _short_connections(run, rng, run.latencies_us(seed))
        if run.kind == "CRR"
        else _long_connections(run, rng)
    )
    new.client[:], new.server[:] = RUN_SYSTEMS["client"], RUN_SYSTEMS["server"]
    new.service[:], new.suite[:], new.run[:] = run.service, run.suite, run.number
    new.handshake_time[:] = new.start
    new.session[:] = (_FIRST_SESSION + (run.number << 16) + new.session) & 0xFFFFFFFF
    if not SERVICES[run.service].is_protected:
        new.handshake[:] = NO_TLS
    new.long[:] = new.end - new.start > SHORTEST_LONG_US
    return new


def _short_connections(run: PlannedRun, rng: np.random.Generator, latencies_us: Floats) -> WorldConnections:
    """Return connections with one request each, none of them across the end of a minute, and those that
    control the clients.
    """
    rates = run.clients * np.array(_parts(run.minutes)) / latencies_us
    totals = np.rint(rates * MINUTE_US).astype(np.int64)
    # Whole numbers that add up to the total of each minute.
    shares = np.arange(_ROWS_A_MINUTE + 1) * totals[:, None] // _ROWS_A_MINUTE
    count = _ROWS_A_MINUTE * run.minutes
    duration = int(ticks(np.array(run.latency_us))) + TICK_US
    minute = np.repeat(np.arange(run.minutes), _ROWS_A_MINUTE)
    new = WorldConnections.zeros(count)
    new.start[:] = run.begin_us + minute * MINUTE_US
    new.start += ticks(_ROOM_US + rng.uniform(0, 1, count) * (MINUTE_US - 2 * _ROOM_US - duration))
    new.end[:] = new.start + duration
    new.times[:] = np.diff(shares, axis=1).ravel()
    new.up[:], new.down[:] = run.client_bytes, run.server_bytes
    draws = rng.permutation((np.arange(count) + 0.5) / count)
    control = _control_connections(run) if run.is_recorded else new[:0]
    draws = np.concatenate([draws, np.zeros(len(control))])
    new = WorldConnections.joined([new, control])
    new.handshake[:] = np.where(draws < run.resumed, RESUMED, FULL)
    # Every client offers its own session; the handshake before the run is not in the data.
    number = np.arange(len(new))
    new.session[:] = np.where(draws < run.resumed, number % run.clients, 1_000 + number)
    return new[np.argsort(new.start, kind="stable")]


def _control_connections(run: PlannedRun) -> WorldConnections:
    """Return connections that stay open and carry next to nothing, the only ones with records."""
    new = WorldConnections.zeros(_CONTROL_CONNECTIONS)
    new.start[:] = run.begin_us + _ROOM_US + np.arange(len(new)) * TICK_US
    new.end[:] = run.end_us - _ROOM_US
    new.up[:] = new.down[:] = 2 * _KILO
    new.times[:] = 1
    return new


def _long_connections(run: PlannedRun, rng: np.random.Generator) -> WorldConnections:
    """Return one connection for each client, with one request after the other."""
    new = WorldConnections.zeros(run.clients)
    late, early = rng.uniform(0, _STAGGER_US, (2, run.clients))
    new.start[:] = run.begin_us + ticks(_ROOM_US + late)
    new.end[:] = run.end_us - ticks(_ROOM_US + early)
    new = new[np.argsort(new.start, kind="stable")]
    latency = run.latency_us * np.exp(rng.normal(0, _LATENCY_SPREAD, run.clients))
    new.times[:] = 1
    new.requests[:] = ((new.end - new.start) / latency).astype(np.int64)
    new.up, new.down = (new.requests * size for size in (run.client_bytes, run.server_bytes))
    return new


def _parts(minutes: int) -> list[float]:
    return [_RAMP, *[1.0] * (minutes - 2), _RAMP]
