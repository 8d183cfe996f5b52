"""Stores that the tests of several commands read; each is built once in a test session."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.settings import Settings

if TYPE_CHECKING:
    from click.testing import Result

SAMPLE = Path(__file__).resolve().parents[3] / "sample-data"
DUMP = SAMPLE / "smf-sample.bin"


@pytest.fixture(scope="session")
def dump_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the sample dump, without a time zone; read it only."""
    store = tmp_path_factory.mktemp("dump") / "store"
    ingest(store, [DUMP], IngestOptions(selection=row_selection(None)))
    return store


@pytest.fixture(scope="session")
def utc_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the sample dump, whose local times are UTC; read it only."""
    store = tmp_path_factory.mktemp("utc") / "store"
    ingest(store, [DUMP], IngestOptions(selection=row_selection(None), settings=Settings().merge(["+00:00"])))
    return store


@pytest.fixture(scope="session")
def zoned_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the sample dump, whose local times are one hour ahead of UTC; read it only."""
    store = tmp_path_factory.mktemp("zoned") / "store"
    ingest(store, [DUMP], IngestOptions(selection=row_selection(None), settings=Settings().merge(["+01:00"])))
    return store


@pytest.fixture
def own_demo(demo: tuple[Path, Result], tmp_path: Path) -> Path:
    """A copy of the store of `zscope demo`."""
    return Path(shutil.copytree(demo[0], tmp_path / "store"))
