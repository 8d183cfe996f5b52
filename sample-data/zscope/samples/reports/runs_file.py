"""Write `runs.toml`, the list of the runs in a folder of sample data."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zscope.samples.reports.files import LABEL

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

RUNS = "runs.toml"


@dataclass(frozen=True, slots=True)
class SystemRun:
    """The part of a system in a run."""

    name: str
    system: str
    role: str
    begin: datetime
    end: datetime
    tags: Mapping[str, Any]
    workload: str = ""


def runs_toml(runs: Iterable[SystemRun]) -> str:
    """Return the content of the file."""
    return "\n".join([f"# {LABEL.lower()}\n", *map(_entry, runs)])


def _entry(run: SystemRun) -> str:
    texts = {"name": run.name, "system": run.system, "role": run.role}
    lines = ["[[run]]", *(f'{key} = "{value}"' for key, value in texts.items())]
    lines += [f"{key} = {at:%Y-%m-%dT%H:%M:%SZ}" for key, at in (("from", run.begin), ("to", run.end))]
    if run.workload:
        lines.append(f'workload = "{run.workload}"')
    lines.append("synthetic = true")
    if run.tags:
        lines += ["[run.tags]", *(f"{key} = {json.dumps(tag)}" for key, tag in sorted(run.tags.items()))]
    return "\n".join(lines) + "\n"
