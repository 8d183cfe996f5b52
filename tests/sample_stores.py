"""Stores with the systems of the sample data, each made once in a test run; read-only."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tests.made_once import made_once
from tests.pipelines.small_catalogue import is_small

from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.runs import FILE_NAME as RUNS
from zscope.pipelines.runs.edit import import_runs
from zscope.pipelines.runs.read import read_file
from zscope.pipelines.settings import Settings
from zscope.pipelines.store.catalogue import publish_catalogue
from zscope.pipelines.store.commits import read_state
from zscope.pipelines.store.folder import existing_store, make_store
from zscope.pipelines.store.transaction import changing

if TYPE_CHECKING:
    import pytest

SAMPLE = Path(__file__).resolve().parents[1] / "sample-data"
WORLD, SYSTEMS = SAMPLE / "world", SAMPLE / "systems"
ALWAYS = replace(Settings(summarise_from_rows=0).merge(["+01:00"]), grace_s=0)
"""Settings that store the rows of all steps."""


def load_sample(store: Path, *paths: Path) -> None:
    """Load parts of the sample data into a store that has no rows of steps but those computed in Python."""
    assert not is_small(), "all tests share this store"
    settings = replace(Settings().merge(["+01:00"]), summarise_from_rows=1_000_000)
    ingest(store, paths, IngestOptions(selection=row_selection(None), settings=settings))


def summarise(store: Path) -> list[str]:
    """Store the rows of all steps of a store and return the messages."""
    messages: list[str] = []
    with changing(existing_store(store), ALWAYS, messages.append):
        pass
    return messages


def loaded_sample(factory: pytest.TempPathFactory) -> Path:
    """Return the store of the sample dump and of the reports about it."""
    paths = SAMPLE / "smf-sample.bin", SAMPLE / "reports"
    return made_once(factory, "sample", lambda store: load_sample(store, *paths))


def loaded_world(factory: pytest.TempPathFactory) -> Path:
    """Return the store of the small world with its runs."""

    def make(store: Path) -> None:
        # The runs come first: what is stored for them is computed once, by the load.
        import_runs(make_store(store), Settings(), lambda _: None, read_file(WORLD / RUNS))
        load_sample(store, WORLD)

    return made_once(factory, "world", make)


def summarised_world(factory: pytest.TempPathFactory) -> Path:
    """Return the same with stored rows of all steps, as stores of users have them."""

    def make(store: Path) -> None:
        shutil.copytree(loaded_world(factory), store, dirs_exist_ok=True)
        summarise(store)

    return made_once(factory, "summarised-world", make)


def loaded_systems(factory: pytest.TempPathFactory) -> Path:
    """Return the store of MQ channels, a z/VM link and floods on z/TPF with their runs."""

    def make(store: Path) -> None:
        load_sample(store, SYSTEMS)
        shutil.copyfile(SYSTEMS / RUNS, store / RUNS)
        publish_catalogue(existing_store(store), read_state(existing_store(store)))

    return made_once(factory, "systems", make)
