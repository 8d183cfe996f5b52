"""Stores with the sample data, created once and copied for tests that change them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.sample_stores import loaded_sample, loaded_systems, loaded_world, summarised_world

from zscope.pipelines.metrics import declared, view_sql
from zscope.pipelines.store import open_reader

if TYPE_CHECKING:
    import duckdb


@pytest.fixture(scope="session")
def sample_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample data, loaded once; read-only."""
    return loaded_sample(tmp_path_factory)


@pytest.fixture(scope="session")
def world_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small world with its runs; read-only."""
    return loaded_world(tmp_path_factory)


@pytest.fixture(scope="session")
def summarised_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small world with stored rows of all steps, as stores of users have them; read-only."""
    return summarised_world(tmp_path_factory)


@pytest.fixture(scope="session")
def systems_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """MQ channels, a z/VM link and floods on z/TPF with their runs; read-only."""
    return loaded_systems(tmp_path_factory)


@pytest.fixture(scope="session")
def world_metrics(world_store: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """The world with all steps and metrics as tables, each computed from those before; read-only."""
    with open_reader(world_store) as connection:
        for name, step in declared().items():
            if not step.computed_by:
                connection.execute(f"CREATE TEMP TABLE {name} AS {view_sql(step)}")
        yield connection


@pytest.fixture
def copied_store(sample_store: Path, tmp_path: Path) -> Path:
    """A copy of the store with the sample data."""
    return Path(shutil.copytree(sample_store, tmp_path / "store"))
