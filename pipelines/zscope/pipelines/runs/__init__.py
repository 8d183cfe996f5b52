"""Benchmark runs: what was measured, where and when, as defined in runs.toml.

The user maintains the file. It is read whenever the catalogue is built; commands only add or remove runs in
it.
"""

from __future__ import annotations

from zscope.pipelines.runs.entry import Run
from zscope.pipelines.runs.read import FILE_NAME, Problem, RunsFile, read_runs, run_table

__all__ = ["FILE_NAME", "Problem", "Run", "RunsFile", "read_runs", "run_table"]
