"""The scheduler of pytest-xdist for the tests: it assigns test files to worker processes."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from xdist.scheduler import LoadFileScheduling

if TYPE_CHECKING:
    import pytest

COMPUTED = ("world_metrics",)
"""Expensive fixtures whose value cannot be shared between workers; those in files use `made_once`."""


class ComputedOnce(LoadFileScheduling):
    """Run all files that use an expensive fixture in one worker, so that it is computed once.

    Other files are assigned to the next idle worker, in collection order, which starts with the slowest.
    """

    config: pytest.Config

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return fixture_of(self.config.rootpath / file) or file


@cache
def fixture_of(file: Path) -> str:
    """Return the expensive fixture that a file uses, or an empty text."""
    text = file.read_text(encoding="utf-8")
    return next((name for name in COMPUTED if name in text), "")
