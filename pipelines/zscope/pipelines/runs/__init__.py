"""Benchmark runs: what was measured, where and when, as the analyst says in runs.toml.

The file is the analyst's: it is read as it stands whenever the catalogue is made, and changed by commands
only where they add or remove a run.
"""

from __future__ import annotations

from zscope.pipelines.runs.entry import Run, RunError
from zscope.pipelines.runs.read import FILE_NAME, Problem, RunsFile, read_runs, run_table, runs_digest

__all__ = ["FILE_NAME", "Problem", "Run", "RunError", "RunsFile", "read_runs", "run_table", "runs_digest"]
