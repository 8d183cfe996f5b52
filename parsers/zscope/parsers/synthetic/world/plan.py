"""The benchmark runs of a world: what each is, when it is, and what it does to the cost model."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from zscope.parsers.synthetic.world.cast import BENCH, SUITE_NUMBERS
from zscope.parsers.synthetic.world.cost import Factors, RunFactors
from zscope.parsers.synthetic.world.recipe import MINUTE_US, NIGHTS, WorldRecipe

PLAN = "runs_plan.toml"
RUN_CLIENT, RUN_SERVER = 0, 2
"""Numbers of the systems that runs are on."""
FIRST_RUN_MINUTE, MINUTES_BETWEEN = 60, 2
_KILO = 1_000
_UNITS = {"B": 1, "kB": _KILO, "MB": _KILO**2}
_WORKLOAD = re.compile(r"(CRR|RR|STR)(\d+)\((\d+)(B|kB|MB)(?:/(\d+)(B|kB|MB))?\)")


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
    """Share of handshakes that resume a session."""
    per_minute: float
    """Connections of a CRR run."""
    latency_us: int
    """How long a connection lasts (CRR), or a request (RR, STR)."""
    factors: RunFactors
    tags: Mapping[str, str]
    begin_us: int
    minutes: int

    @property
    def end_us(self) -> int:
        """When it is over."""
        return self.begin_us + self.minutes * MINUTE_US

    @property
    def steady_us(self) -> tuple[int, int]:
        """From when to when it goes at full speed: the first and the last minute are slower."""
        return self.begin_us + MINUTE_US, self.end_us - MINUTE_US


def planned_runs(recipe: WorldRecipe) -> tuple[PlannedRun, ...]:
    """The runs of a world, one behind the other in each night."""
    declared = _declared()
    chosen = [
        entry
        for entry in declared["run"]
        if recipe.runs == "all" or (recipe.runs == "few" and entry.get("few", False))
    ]
    made, next_minute = [], dict.fromkeys(range(NIGHTS), FIRST_RUN_MINUTE)
    for number, entry in enumerate(chosen):
        run = _run(recipe, number, entry, declared["defaults"], next_minute)
        next_minute[run.night] += recipe.run_minutes + MINUTES_BETWEEN
        made.append(run)
    return tuple(made)


def _run(
    recipe: WorldRecipe,
    number: int,
    entry: Mapping[str, Any],
    defaults: Mapping[str, Mapping[str, Any]],
    next_minute: Mapping[int, int],
) -> PlannedRun:
    match = _WORKLOAD.fullmatch(entry.get("workload", defaults["CRR"]["workload"]))
    assert match, f"{entry['name']}: the plan has an unknown workload"
    kind = match[1]
    values = {**defaults[kind], **entry}
    client_bytes = int(match[3]) * _UNITS[match[4]]
    server_bytes = int(match[5]) * _UNITS[match[6]] if match[5] else client_bytes
    night = values["night"]
    return PlannedRun(
        number=number,
        name=values["name"],
        night=night,
        workload=match[0],
        kind=kind,
        clients=int(match[2]),
        client_bytes=client_bytes,
        server_bytes=server_bytes,
        service=BENCH[values["service"]],
        suite=SUITE_NUMBERS[values["suite"]] if "suite" in values else 0,
        resumed=values.get("resumed", 0.0),
        per_minute=values.get("per_minute", 0.0),
        latency_us=values["latency_ms"] * 1_000,
        factors=_factors(values),
        tags={**defaults[kind]["tags"], **entry["tags"]},
        begin_us=recipe.day_us(recipe.days + night) + next_minute[night] * MINUTE_US,
        minutes=recipe.run_minutes,
    )


def _factors(values: Mapping[str, Any]) -> RunFactors:
    sides = {}
    for side in ("client", "server"):
        both = {name: values.get(name, 1.0) for name in ("handshake", "everything")}
        one = {name: value[side] if isinstance(value, dict) else value for name, value in both.items()}
        sides[side] = Factors(**one)
    return RunFactors(**sides)


@cache
def _declared() -> Mapping[str, Any]:
    text = (files("zscope.parsers.synthetic.world") / PLAN).read_text(encoding="utf-8")
    return tomllib.loads(text)
