"""The default store, and the runs of a store that cannot be used."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

DEFAULT_STORE = "zscope-store"


def unusable_runs(store: Path) -> str:
    """Describe the first run in runs.toml that cannot be used, and how many there are; empty if none."""
    from zscope.pipelines.runs import read_runs

    file = read_runs(store)
    errors = [problem for problem in file.problems if not problem.warning]
    if not errors:
        return ""
    more = f"; {file.left_out} runs are left out, zscope runs lists them all" if file.left_out > 1 else ""
    return f"left out: {errors[0]}{more}"
