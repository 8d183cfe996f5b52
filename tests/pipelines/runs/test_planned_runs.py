"""Plans of runs for published results, followed with generated data: the verdict is the intended one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.runs import FILE_NAME, read_runs
from zscope.pipelines.settings import Settings
from zscope.pipelines.store import open_reader
from zscope.pipelines.store.catalogue import publish_catalogue
from zscope.pipelines.store.commits import read_state
from zscope.pipelines.store.folder import existing_store
from zscope.samples.world import ZONE, WorldRecipe, read_planned_runs, write_world
from zscope.schemas.declared import TomlFile

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

INTENDED = {
    # The model has the published difference between the two versions.
    "tls31-tls13-vs-tls12-cpu": ("", "agrees", None),
    "perf32-smcr-neth-str-cpu": ("everything = 0.9", "agrees", None),
    "perf32-gre-iwq-cpu": ("everything = 0.7", "differs", None),
    "perf32-smcr-tcp-rr-cpu": ("everything = 0.8", "direction only", "agrees"),
    "perf32-iprouter-local-latency": ("latency_ms = 9", "direction only", "contradicts"),
    "perf32-shared-osh-osd-rr-latency": ("latency_ms = 2.0", "direction only", "agrees"),
}
"""By published result what the generator does to the candidate, and the verdict and direction that follow."""
WORLDS = 2
LEAST_MINUTES, MOST_MINUTES = 5, 20
Plan = list[tuple[str, str, str]]


def _plan(connection: duckdb.DuckDBPyConnection, result: str) -> Plan:
    query = "SELECT part, what, value FROM run_plan WHERE id = $id ORDER BY line"
    return connection.execute(query, {"id": result}).fetchall()


def _minutes(plan: Plan) -> int:
    (minutes,) = (int(value) for _, what, value in plan if what == "minutes")
    return minutes


def _followed(result: str, plan: Plan, part: str, change: str) -> str:
    """Return the run of a plan as a block for the generator."""
    (workload,) = (value for _, what, value in plan if what == "workload")
    tags = dict(value.split("=") for of, what, value in plan if what == "tag" and of in {part, "both"})
    lines = ["[[run]]", f'name = "{result}-{part}"', f'workload = "{workload}"', change]
    if "cipher" in tags:
        lines.append(f'suite = "{tags["cipher"]}"')
    elif "+" in workload:
        lines += ['like = "NET"', "latency_ms = [2.4, 16]"]
    elif workload.startswith("CRR"):
        lines += ['like = "NET"', *([] if change else ["latency_ms = 8"])]
    lines += ["[run.tags]", *(f'{key} = "{value}"' for key, value in tags.items())]
    return "\n".join(lines) + "\n"


@pytest.mark.deep
def test_runs_of_a_plan_have_the_intended_verdict(world_store: Path, tmp_path: Path) -> None:
    with open_reader(world_store) as connection:
        plans = {result: _plan(connection, result) for result in INTENDED}
    minutes = max(map(_minutes, plans.values()))
    assert minutes <= MOST_MINUTES
    blocks = "".join(
        _followed(result, plans[result], part, change if part == "candidate" else "")
        for result, (change, _, _) in INTENDED.items()
        for part in ("baseline", "candidate")
    )
    planned = read_planned_runs(TomlFile.parse(blocks, "plan"))
    missed, tries = [], 0
    for seed in range(1, WORLDS + 1):
        folder, store = tmp_path / f"world{seed}", tmp_path / f"store{seed}"
        recipe = WorldRecipe(
            seed=seed,
            days=1,
            connections_per_hour=4,
            planned=planned,
            run_minutes=max(LEAST_MINUTES, minutes),
        )
        write_world(recipe, folder, lambda _: None)
        settings = Settings().merge([ZONE])
        ingest(store, (folder,), IngestOptions(selection=row_selection(None), settings=settings))
        (store / FILE_NAME).write_text((folder / FILE_NAME).read_text(encoding="utf-8"), encoding="utf-8")
        assert not read_runs(store).problems
        publish_catalogue(existing_store(store), read_state(existing_store(store)))
        with open_reader(store) as connection:
            query = "SELECT id, verdict, direction_matches, why FROM benchmark"
            found = {result: told for result, *told in connection.execute(query).fetchall()}
        for result, (_, *intended) in INTENDED.items():
            tries += 1
            if found[result][:2] != intended:
                missed.append((seed, result, found[result]))
    assert len(missed) <= 0.05 * tries, missed
