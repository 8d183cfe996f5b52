"""Which worker process of a test run gets which files."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from xdist.scheduler import LoadFileScheduling

if TYPE_CHECKING:
    import pytest

COMPUTED = ("world_metrics",)
"""Fixtures whose value only the process has that computed it; what can be in a file is `made_once`."""


class ComputedOnce(LoadFileScheduling):
    """Give all files that read such a fixture to one process, and each other file to the next that is free.

    The files are given out in the order of their tests, which begins with the longest ones.
    """

    config: pytest.Config

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return fixture_of(self.config.rootpath / file) or file


@cache
def fixture_of(file: Path) -> str:
    """Return which of these fixtures a file names, or nothing."""
    text = file.read_text(encoding="utf-8")
    return next((name for name in COMPUTED if name in text), "")
