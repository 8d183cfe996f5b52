"""Stores to load into, and the rows that have to be in them in the end."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path

import pytest
from tests.pipelines.ingest.comparing import TABLES, Clean, Fresh, write
from tests.pipelines.stores import Contents, load, rows_of

from zscope.pipelines.store.catalogue import publish_catalogue
from zscope.pipelines.store.commits import State
from zscope.pipelines.store.folder import make_store


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for files and for one store after another."""
    return tmp_path_factory.mktemp("same")


@pytest.fixture(scope="module")
def tables() -> tuple[str, ...]:
    """Those with rows of the dump that most tests load."""
    return TABLES


@pytest.fixture(scope="module")
def fresh(place: Path, small_catalogue: None) -> Fresh:  # noqa: ARG001 - it changes what is published
    """A store without loads, always at the same place: its catalogue, which takes longest, is copied."""
    store, kept = place / "store", place / "kept"
    publish_catalogue(make_store(store), State())
    store.rename(kept)

    def again() -> Path:
        shutil.rmtree(store, ignore_errors=True)
        return Path(shutil.copytree(kept, store))

    return again


@pytest.fixture(scope="module")
def clean(fresh: Fresh, place: Path) -> Clean:
    """The rows of one load of a content, into a store that has nothing else."""

    @cache
    def rows(content: bytes, name: str = "clean.smf") -> Contents:
        store = fresh()
        load(store, write(place / "clean" / name, content))
        return rows_of(store)

    return rows
