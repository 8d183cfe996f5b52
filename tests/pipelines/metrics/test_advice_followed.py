"""What `tls_advice` predicts happens in a world that is generated again with the advice followed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from tests.samples.world_reading import SLOW, write

from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.metrics import metric
from zscope.pipelines.metrics.narrowing import prepared
from zscope.pipelines.settings import Settings
from zscope.pipelines.store import open_reader
from zscope.samples.world import CostModel, WorldRecipe
from zscope.samples.world.cost import FULL_KINDS, RESUMED_KINDS

if TYPE_CHECKING:
    from pathlib import Path

DAYS = 8
RECIPE = WorldRecipe(
    days=DAYS,
    start=datetime(2026, 3, 8, 23, tzinfo=UTC),
    runs="none",
    resumed_share=0.4,
    cost=SLOW.changed({"base_us_per_s": 30_000, "noise": 0.02}),
)
BOUNDS = """
    SELECT system, sum(saving_low_s_per_day), sum(saving_high_s_per_day)
    FROM tls_advice
    WHERE shared_by = 'port' AND basis = 'published' AND change = 'ECDHE instead of RSA key exchange'
    GROUP BY ALL
"""
ATTAINABLE = """
    SELECT
        system,
        change,
        saving_low_s_per_day / handshakes_per_day,
        saving_s_per_day / handshakes_per_day,
        saving_high_s_per_day / handshakes_per_day
    FROM tls_advice
    WHERE shared_by = 'system' AND basis = 'estimate' AND status = 'ok'
"""


def loaded(world: Path, store: Path) -> Path:
    """Load a world into a new store."""
    settings = Settings().merge(["+01:00"])
    ingest(store, [world], IngestOptions(selection=row_selection(None), settings=settings))
    return store


def answers(store: Path, query: str) -> list[tuple[Any, ...]]:
    """Return the rows of a query over `tls_advice`."""
    with open_reader(store) as reader:
        for sql in prepared(metric("tls_advice")):
            reader.execute(sql)
        return reader.execute(query).fetchall()


def bill(manifest: dict[str, Any], system: str) -> tuple[float, int]:
    """Return the CPU time of connections with TLS by the cost model, and the resumed handshakes, in all."""
    jobs = manifest["connection_cpu"][system].values()
    kinds = {kind for job in jobs for kind in job["count"]}
    resumed = [kind for kind in kinds if kind.startswith("resumed")]
    return (
        sum(seconds for job in jobs for seconds in job["cpu_s"].values()),
        sum(job["count"].get(kind, 0) for job in jobs for kind in resumed),
    )


@pytest.mark.deep
def test_more_resumption_saves_what_was_predicted(tmp_path: Path) -> None:
    """The second world has the same connections, of which more are resumed. What that saves is known from
    its cost model, which neither the advice nor the estimate reads.
    """
    before = write(RECIPE, tmp_path / "before")
    advice = answers(loaded(tmp_path / "before", tmp_path / "store"), ATTAINABLE)
    assert {system for system, *_ in advice} == {"CLI1", "CLI2", "SRV1", "SRV2"}
    after = write(replace(RECIPE, resumed_share=0.6), tmp_path / "after")
    held = []
    for system, change, low, value, high in advice:
        assert change.startswith("resume 6"), change
        (cost, resumed), (cheaper, more) = bill(before, system), bill(after, system)
        saved = (cost - cheaper) / (more - resumed)
        held.append(low <= saved <= high)
        assert value == pytest.approx(saved, rel=0.15)
        assert high - low < 0.5 * saved
    # Of four intervals of 95 %, one misses in one of five seeds, two in one of a hundred.
    assert sum(held) >= 3


@pytest.mark.deep
def test_another_key_exchange_saves_what_was_predicted(tmp_path: Path) -> None:
    """In the second world, handshakes with RSA key exchange cost what they cost with ECDHE. The costs have
    the ratios of the usual cost model of servers, not the published ones.
    """
    usual = CostModel().server
    slow = {name: 1_000 * getattr(usual, name) for name in (*FULL_KINDS, *RESUMED_KINDS)}
    recipe = replace(RECIPE, cost=RECIPE.cost.changed(slow))
    before = write(recipe, tmp_path / "before")
    bounds = answers(loaded(tmp_path / "before", tmp_path / "store"), BOUNDS)
    assert {system for system, *_ in bounds} >= {"SRV1", "SRV2"}
    other_cost = recipe.cost.changed({"rsa_us": slow["ecdhe_us"]})
    after = write(replace(recipe, cost=other_cost), tmp_path / "after")
    for system, low, high in bounds:
        saved = (bill(before, system)[0] - bill(after, system)[0]) / DAYS
        assert saved != 0, "the change concerns no handshake"
        assert low <= saved <= high, system
        assert max(-low, high) < 10 * abs(saved), "a bound that says nothing"
