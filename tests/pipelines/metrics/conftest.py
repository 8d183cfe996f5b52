"""A world with a record of every connection, generated and loaded once for the tests of several files."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.made_once import made_once
from tests.samples.world_reading import SLOW, write

from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.settings import Settings
from zscope.samples.world import CostModel, WorldRecipe
from zscope.samples.world.cost import FULL_KINDS, RESUMED_KINDS

_SERVER = CostModel().server
GENERATED = WorldRecipe(
    days=8,
    seed=11,
    start=datetime(2026, 3, 8, 23, tzinfo=UTC),
    runs="none",
    resumed_share=0.4,
    cost=SLOW.changed({"base_us_per_s": 30_000, "noise": 0.02}).changed(
        {name: 1_000 * getattr(_SERVER, name) for name in (*FULL_KINDS, *RESUMED_KINDS)}
    ),
)
"""Handshakes have the ratios of costs of the usual model of servers, which are not the published ones."""


@pytest.fixture(scope="session")
def generated_world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The world of `GENERATED` in the folder `world`, loaded into the store `store`; read-only."""

    return made_once(tmp_path_factory, "generated", lambda folder: load_world(GENERATED, folder))


def load_world(recipe: WorldRecipe, folder: Path) -> None:
    """Write a world into the folder `world`, and load it into the store `store`."""
    write(recipe, folder / "world")
    settings = replace(Settings().merge(["+01:00"]), summarise_from_rows=1_000_000)
    options = IngestOptions(selection=row_selection(None), settings=settings)
    assert ingest(folder / "store", [folder / "world"], options).loads
