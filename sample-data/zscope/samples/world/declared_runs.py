"""Declarations of benchmark runs of a world: `benchmark_runs.toml`, and files of users."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from zscope.samples.declaration_files import declared_file
from zscope.schemas.declared import Declared, TomlFile


class FactorOfSides(Declared, frozen=True):
    """A factor on the CPU time of each side."""

    client: int | float
    server: int | float


class DeclaredRun(Declared, frozen=True):
    """A run with the values that it inherits from its kind of workload."""

    name: str
    workload: str
    night: int
    service: str | tuple[str, ...]
    latency_ms: float | tuple[float, ...]
    tags: Mapping[str, str]
    suite: str = ""
    resumed: float = 0.0
    handshake: int | float | FactorOfSides = 1.0
    everything: int | float | FactorOfSides = 1.0
    forwarded: float = 0.0
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
        like = entry.pop("like", None) or next(kind for kind in defaults if workload.startswith(kind))
        inherited = defaults[like]
        runs.append({**inherited, **entry, "tags": {**inherited["tags"], **entry["tags"]}})
    content = {name: value for name, value in file.content.items() if name != "defaults"}
    return file.typed(DeclaredRuns, content | {"run": runs})


def read_planned_runs(file: TomlFile) -> tuple[DeclaredRun, ...]:
    """Return the runs of a file with nothing but runs, with the systems and defaults of the usual ones."""
    usual = {name: value for name, value in _FILE.content.items() if name != "run"}
    return read_benchmark_runs(replace(file, content=usual | file.content)).run


_FILE = declared_file("world/benchmark_runs.toml")
USUAL_RUNS = read_benchmark_runs(_FILE)
