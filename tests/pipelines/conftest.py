"""Stores with the sample data, created once and copied for tests that change them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.made_once import made_once
from tests.pipelines.small_catalogue import is_small, use_small_catalogue

from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.metrics import declared, metric
from zscope.pipelines.metrics.narrowing import prepared
from zscope.pipelines.runs import FILE_NAME as RUNS
from zscope.pipelines.runs.edit import import_runs
from zscope.pipelines.runs.read import read_file
from zscope.pipelines.settings import Settings
from zscope.pipelines.store import open_reader
from zscope.pipelines.store.catalogue import publish_catalogue
from zscope.pipelines.store.commits import read_state
from zscope.pipelines.store.folder import existing_store
from zscope.pipelines.store.parquet_files import parquet_tables

if TYPE_CHECKING:
    import duckdb

SAMPLE = Path(__file__).resolve().parents[2] / "sample-data"
WORLD, SYSTEMS = SAMPLE / "world", SAMPLE / "systems"

MakeStore = Callable[[], Path]


@pytest.fixture(scope="session")
def sample_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample data, loaded once; read-only."""
    return made_once(
        tmp_path_factory, "sample", lambda store: _load(store, SAMPLE / "smf-sample.bin", SAMPLE / "reports")
    )


@pytest.fixture(scope="session")
def world_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small world with its runs, loaded once; read-only."""

    def make(store: Path) -> None:
        _load(store, WORLD)
        # Not copied: rows that are stored for the runs are computed again.
        import_runs(existing_store(store), Settings(), lambda _: None, read_file(WORLD / RUNS))

    return made_once(tmp_path_factory, "world", make)


@pytest.fixture(scope="session")
def systems_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """MQ channels, a z/VM link and floods on z/TPF with their runs, loaded once; read-only."""

    def make(store: Path) -> None:
        _load(store, SYSTEMS)
        shutil.copyfile(SYSTEMS / RUNS, store / RUNS)
        publish_catalogue(existing_store(store), read_state(existing_store(store)))

    return made_once(tmp_path_factory, "systems", make)


@pytest.fixture(scope="session")
def world_metrics(world_store: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """The world with the rows of all steps computed once, as `prepared` does for a metric; read-only."""
    done: set[str] = set()
    with open_reader(world_store) as connection:
        for name in declared():
            for text in prepared(metric(name), made=done):
                connection.execute(text)
            done.add(name)
        yield connection


def _load(store: Path, *paths: Path) -> None:
    # Rows of steps are computed by each test, unless it stores them itself.
    assert not is_small(), "all tests share this store"
    settings = replace(Settings().merge(["+01:00"]), summarise_from_rows=1_000_000)
    ingest(store, paths, IngestOptions(selection=row_selection(None), settings=settings))


@pytest.fixture
def copied_store(sample_store: Path, tmp_path: Path) -> Path:
    """A copy of the store with the sample data."""
    return Path(shutil.copytree(sample_store, tmp_path / "store"))


@pytest.fixture(scope="module")
def tables() -> tuple[str, ...]:
    """All tables; a module whose stores have rows of a few of them names these."""
    return parquet_tables()


@pytest.fixture(scope="module")
def small_catalogue(tables: tuple[str, ...]) -> Iterator[None]:
    """Stores of a module have a catalogue without metrics, which takes a quarter of the time."""
    with pytest.MonkeyPatch.context() as patch:
        use_small_catalogue(patch, tables=tables)
        yield
