"""A store with the sample data: made once, copied for tests that change it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from zscope.pipelines.ingest import How, choose, ingest
from zscope.pipelines.settings import Settings

SAMPLE = Path(__file__).resolve().parents[2] / "sample-data"

MakeStore = Callable[[], Path]


@pytest.fixture(scope="session")
def sample_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample data, loaded once; only to be read."""
    store = tmp_path_factory.mktemp("sample") / "store"
    ingest(store, [SAMPLE], How(choose(None), settings=Settings().merge(["+01:00"])))
    return store


@pytest.fixture
def copied_store(sample_store: Path, tmp_path: Path) -> Path:
    """The same in a folder of its own."""
    return Path(shutil.copytree(sample_store, tmp_path / "store"))
