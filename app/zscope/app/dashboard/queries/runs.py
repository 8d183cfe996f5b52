"""The benchmark runs of a store and what is known of the systems they were on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any

from zscope.app.runs_file import unusable_runs

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Data


@dataclass(frozen=True, slots=True)
class Run:
    """A run with all its sides."""

    name: str
    from_utc: datetime
    to_utc: datetime
    sides: frozenset[tuple[str, str | None]]
    """Role and kind of workload of each: what two runs need in common to be compared."""
    workloads: frozenset[tuple[str, str | None]]
    """Role and workload of each: what they should have in common, too."""
    tags: tuple[str, ...]
    """What was set and where it ran, key=value."""
    synthetic: bool


def runs(data: Data) -> list[Run]:
    """All runs, the newest first."""
    machines = {
        row["system"]: row["machine"]
        for row in data.rows("""
            SELECT system, list_sort(list_distinct(list(DISTINCT concat_ws(
                ' ', nullif(trim(machine_type), ''), nullif(trim(physical_model), ''),
                nullif(trim(zos_level), '')
            )))) AS machine
            FROM smf70_interval GROUP BY system
        """).to_pylist()
    }
    sides = data.rows("SELECT * FROM run ORDER BY name, role, system").to_pylist()
    found = [_run(name, list(rows), machines) for name, rows in groupby(sides, key=lambda row: row["name"])]
    return sorted(found, key=lambda run: (run.to_utc, run.name), reverse=True)


def left_out(data: Data) -> str:
    """What of the file with the runs cannot be used; empty if all can."""
    return unusable_runs(data.answers.store)


def newest_pair(found: Sequence[Run]) -> tuple[Run, Run] | None:
    """The two newest runs that can be compared, the older first; of the same workload if there are such."""
    pairs = [(older, newer) for n, newer in enumerate(found) for older in found[n + 1 :]]
    alike = (
        pair for pair in pairs if pair[0].sides & pair[1].sides and pair[0].workloads & pair[1].workloads
    )
    comparable = (pair for pair in pairs if pair[0].sides & pair[1].sides)
    return next(alike, None) or next(comparable, None)


def _run(name: str, sides: Sequence[dict[str, Any]], machines: dict[str, list[str]]) -> Run:
    tags = [tag for side in sides for tag in side["tags"] or ()]
    for side in sides:
        tags.append(f"{side['role']} system={side['system']}")
        tags += [f"{side['role']} machine={machine}" for machine in machines.get(side["system"], ())]
        for key in ("workload", "transactions", "note"):
            tags += [f"{key}={side[key]}"] if side[key] is not None else []
    begin, end = min(side["from_utc"] for side in sides), max(side["to_utc"] for side in sides)
    return Run(
        name=name,
        from_utc=begin,
        to_utc=end,
        sides=frozenset((side["role"], side["workload_kind"]) for side in sides),
        workloads=frozenset((side["role"], _same(side["workload"])) for side in sides),
        tags=tuple(dict.fromkeys(tags)),
        synthetic=any(side["synthetic"] for side in sides),
    )


def _same(workload: str | None) -> str | None:
    """A workload as it is compared: without regard to case and spaces."""
    return workload and workload.replace(" ", "").upper()
