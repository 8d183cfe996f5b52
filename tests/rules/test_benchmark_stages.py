"""The stages of the benchmarks name functions that exist."""

from __future__ import annotations

import runpy
from functools import reduce
from importlib import import_module
from pathlib import Path

import pytest

STAGES = runpy.run_path(str(Path(__file__).resolve().parents[2] / "benchmarks" / "stages.py"))


@pytest.mark.parametrize("kind", ["DECODING", "LOADING", "COMMITTING"])
def test_each_stage_names_functions(kind: str) -> None:
    for name in (name for names in STAGES[kind].values() for name in names):
        module, _, path = name.partition(":")
        function: object = reduce(getattr, path.split("."), import_module(module))
        assert callable(function), name
