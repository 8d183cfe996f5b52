"""A folder for a night."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.app.cli.nightly.nights import NightFolder


@pytest.fixture
def night(tmp_path: Path) -> NightFolder:
    """A folder with an empty folder for new files."""
    (tmp_path / "new").mkdir()
    return NightFolder(tmp_path)
