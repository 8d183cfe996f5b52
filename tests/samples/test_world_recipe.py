"""Recipes of worlds, cost models, the plan of benchmark runs."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.samples.world_reading import write

from zscope.samples.dump.connections import FULL, RESUMED
from zscope.samples.dump.recipe import microseconds
from zscope.samples.world import CostModel, RecipeError, WorldRecipe, read_costs
from zscope.samples.world.benchmark_runs import planned_runs
from zscope.samples.world.policy import policy_rows
from zscope.samples.world.services import SUITE_NUMBERS, world_context
from zscope.samples.world.traffic import INTERVAL_US, Traffic, load_of_day
from zscope.schemas.published import published_tables

if TYPE_CHECKING:
    from pathlib import Path

    from zscope.samples.world.world_connections import WorldConnections


@cache
def _days(recipe: WorldRecipe) -> list[WorldConnections]:
    traffic = Traffic(recipe)
    return [traffic.day(day) for day in range(recipe.days)]


def _counts(recipe: WorldRecipe, system: int) -> tuple[list[int], list[int], list[int]]:
    """Return full and resumed handshakes and bytes of a system in every interval."""
    by_day = []
    for day, connections in enumerate(_days(recipe)):
        mine = connections.of_system(system)
        place = (mine.start - recipe.day_us(day)) // INTERVAL_US
        weights = (mine.handshake == FULL, mine.handshake == RESUMED, mine.up + mine.down)
        by_day.append([np.bincount(place, weight, 96) for weight in weights])
    full, resumed, size = (np.concatenate([day[at] for day in by_day]) for at in range(3))
    return full.tolist(), resumed.tolist(), size.tolist()


@pytest.mark.parametrize("system", range(4))
def test_handshakes_and_bytes_vary_independently_so_that_their_costs_can_be_separated(system: int) -> None:
    counts = np.array(_counts(WorldRecipe(days=7), system))
    alike = np.corrcoef(counts)
    assert np.abs(alike[np.triu_indices(3, 1)]).max() < 0.75
    assert np.linalg.cond(alike) < 15


@pytest.mark.parametrize("system", range(4))
def test_every_interval_of_a_correlated_world_has_as_many_full_as_resumed_handshakes(system: int) -> None:
    full, resumed, _ = _counts(WorldRecipe(days=2, correlated=True), system)
    assert full == resumed
    assert len(set(full)) > 10


def test_resumed_connections_copy_a_full_handshake_of_the_same_client_server_and_service() -> None:
    connections = Traffic(WorldRecipe(connections_per_hour=120)).day(0)
    names = ("handshake", "session", "client", "server", "service", "suite", "client_certificate")
    known: dict[int, tuple[int, ...]] = {}
    resumed = 0
    for handshake, session, *about in zip(
        *(getattr(connections, name).tolist() for name in names), strict=True
    ):
        if handshake == FULL:
            known[session] = tuple(about)
        elif handshake == RESUMED:
            assert known[session] == tuple(about)
            resumed += 1
    assert resumed > 800


@pytest.mark.deep
def test_runs_follow_each_other_at_night_and_are_in_the_file_of_runs(tmp_path: Path) -> None:
    recipe = WorldRecipe(days=1, connections_per_hour=4, run_minutes=5)
    write(recipe, tmp_path)
    entries = tomllib.loads((tmp_path / "runs.toml").read_text(encoding="utf-8"))["run"]
    runs = planned_runs(recipe)
    assert [entry["name"] for entry in entries[::2]] == [run.name for run in runs]
    assert [(entry["system"], entry["role"]) for entry in entries[:2]] == [
        ("CLI1", "client"),
        ("SRV1", "server"),
    ]
    nights = datetime(2026, 3, 10, tzinfo=UTC), datetime(2026, 3, 12, tzinfo=UTC)
    for entry, later in zip(entries[::2], entries[2::2], strict=False):
        assert nights[0] <= entry["from"] < entry["to"] <= later["from"] < nights[1]
    assert all(entry["synthetic"] is True for entry in entries)
    assert all(isinstance(value, str) for entry in entries for value in entry["tags"].values())


def test_runs_have_the_tags_of_published_results_and_match_many_of_them() -> None:
    results = published_tables()["reference_result"].to_pylist()
    columns = ("baseline_tags", "candidate_tags", "condition_tags")
    known = {tag.partition("=")[0] for row in results for column in columns for tag in row[column]}
    fillings = published_tables()["reference_filling"].to_pylist()
    known |= {tag.partition("=")[0] for row in fillings for tag in row["both_tags"]}
    runs = [{f"{key}={value}" for key, value in run.tags.items()} for run in planned_runs(WorldRecipe())]
    assert {tag.partition("=")[0] for tags in runs for tag in tags} <= known
    filled = defaultdict(set)
    for row in results:
        baseline, candidate, both = (set(row[column]) for column in columns)
        free = {tag.partition("=")[0] for tag in baseline | candidate}
        for one in runs:
            for other in runs if baseline and baseline | both <= one else ():
                apart = {tag.partition("=")[0] for tag in one ^ other}
                if candidate | both <= other and apart <= free | {"cipher", "key_exchange"}:
                    filled[row["id"].split("-")[0]].add(row["id"])
    assert len(filled["tls31"]) >= 20
    assert len(filled["perf32"]) >= 45


def test_few_runs_are_a_subset_of_all_runs() -> None:
    every, few = planned_runs(WorldRecipe()), planned_runs(WorldRecipe(runs="few"))
    assert {run.name for run in few} < {run.name for run in every}
    assert {run.kind for run in few} == {"CRR", "RR", "STR"}
    assert planned_runs(WorldRecipe(runs="none")) == ()


def test_a_cost_file_is_equivalent_to_the_short_form(tmp_path: Path) -> None:
    file = tmp_path / "cost.toml"
    file.write_text("noise = 0.02\nfull_us = 7\n[server]\nmegabyte_us = 5\n", encoding="utf-8")
    from_file = CostModel().changed(read_costs(str(file)))
    assert from_file == CostModel().changed(read_costs("noise=0.02,full_us=7,server.megabyte_us=5"))
    assert from_file.client.megabyte_us == CostModel().client.megabyte_us
    assert {getattr(from_file.client, name) for name in ("rsa_us", "dhe_us", "ecdhe_us", "tls13_us")} == {7}
    assert CostModel().changed(CostModel().plain()) == CostModel()


def test_a_wrong_cost_in_a_file_is_named_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "cost.toml"
    file.write_text('noise = 0.02\n[client]\nrsa_us = "much"\n', encoding="utf-8")
    with pytest.raises(
        RecipeError, match=r"cost\.toml', line 3: client\.rsa_us: expected a number, got 'much'"
    ):
        read_costs(str(file))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fulll_us=1", "'fulll_us' is not a cost; known costs are full_us"),
        ("full_us=cheap", "full_us = 'cheap' is not a number"),
        ("full_us=-1", "client.rsa_us = -1 is not a valid cost"),
        ("noise=0.7", "more than half"),
        ("base_swing=1.5", "more than all other work"),
        ("noise=nan", "noise = nan is not a valid cost"),
        ("peer.rsa_us=1", "'peer.rsa_us' is not a cost"),
        ("/nowhere/cost.toml", "use a TOML file or name=value"),
    ],
)
def test_invalid_costs_are_refused(text: str, message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        CostModel().changed(read_costs(text))


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ({"days": 0}, "from 1 to 366 days"),
        ({"connections_per_hour": 1}, "an hour must have from 4"),
        ({"run_minutes": 4}, "from 5 to 20 minutes"),
        ({"runs": "some"}, "all, few, none"),
        ({"packing": "zip"}, "none, gzip"),
        ({"resumed_share": 0.9}, "from 0.2 to 0.8"),
        ({"seed": -1}, "negative"),
        ({"start": datetime(2026, 3, 9, 1, tzinfo=UTC)}, "midnight UTC"),
        ({"recording": "some"}, "connections, counts"),
        ({"recording": "counts", "correlated": True}, "need a recording of connections"),
        ({"recording": "counts", "kept_open": {"CLI1": 2}}, "stay open need a recording of connections"),
        ({"correlated": True, "kept_open": {"CLI1": 2}}, "and no pairs of them"),
        ({"kept_open": {"SRV1": 2}}, "from 1 on of the clients CLI1, CLI2"),
        ({"kept_open": {"CLI1": 0}}, "from 1 on of the clients CLI1, CLI2"),
        ({"other_suites": {"C030": "1302"}}, "of the same version of TLS"),
        ({"other_suites": {"CCA8": "C030"}}, "suites of the scenario"),
        ({"start": datetime(2026, 3, 9)}, "time zone"),  # noqa: DTZ001 - the error under test
        ({"start": datetime(1950, 3, 9, tzinfo=UTC)}, "dates must be from"),
    ],
)
def test_invalid_recipes_are_refused(shape: dict[str, Any], message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        WorldRecipe(**shape)


def test_connections_that_stay_open_have_the_bytes_of_those_that_they_replace() -> None:
    usual = Traffic(WorldRecipe()).day(0)
    kept = Traffic(WorldRecipe(kept_open={"CLI1": 5})).day(0)
    protected = {
        "usual": np.isin(usual.handshake, (FULL, RESUMED)),
        "kept": np.isin(kept.handshake, (FULL, RESUMED)),
    }
    for client in range(2):
        for server in (2, 3):
            for service in range(4):
                before, after = (
                    day[
                        (day.client == client)
                        & (day.server == server)
                        & (day.service == service)
                        & protected[name]
                    ]
                    for name, day in (("usual", usual), ("kept", kept))
                )
                assert len(after) == (-(-len(before) // 5) if client == 0 else len(before))
                assert after.up.sum() == before.up.sum()
                assert after.down.sum() == before.down.sum()
                assert after.start.min() == before.start.min()
                assert after.end.max() == before.end.max()
    assert (~protected["kept"]).sum() == (~protected["usual"]).sum()
    assert kept.long.mean() > usual.long.mean()


def test_connections_with_another_suite_are_otherwise_the_same() -> None:
    numbers = {suite: SUITE_NUMBERS[suite] for suite in ("009C", "009F", "C030")}
    usual, other = (Traffic(WorldRecipe(other_suites=suites)) for suites in ({}, {"009C": "009F"}))
    for day in range(2):
        before, after = usual.day(day), other.day(day)
        had = before.suite == numbers["009C"]
        assert had.any()
        assert (after.suite == np.where(had, numbers["009F"], before.suite)).all()
        assert all(
            (getattr(before, name) == getattr(after, name)).all() for name in ("start", "handshake", "up")
        )


def test_the_policy_has_the_suites_that_connections_have() -> None:
    def suites(recipe: WorldRecipe, system: int) -> set[str]:
        _, actions = policy_rows(recipe, system, report=False, is_changed=False)
        return {
            f"{row['action_name']} {row['parameter_value']}"
            for row in actions
            if row["parameter"].startswith("V3CipherSuites") and "BENCH" not in row["action_name"]
        }

    for system in range(4):
        usual = suites(WorldRecipe(), system)
        other = suites(WorldRecipe(other_suites={"009C": "009F"}), system)
        gone = usual - other
        assert gone
        assert gone == {suite for suite in usual if suite.endswith("009C")}
        assert other - usual == {suite.replace("009C", "009F") for suite in gone}


def test_clocks_follow_their_zones() -> None:
    recipe = WorldRecipe(
        start=datetime(2026, 10, 21, 22, tzinfo=UTC), zone="Europe/Berlin", zones={"SRV1": "-05:00"}
    )
    clocks = {system.name: system for system in recipe.systems}
    change, before = datetime(2026, 10, 25, 1, tzinfo=UTC), datetime(2026, 10, 25, 0, 59, tzinfo=UTC)
    shown = [clocks["CLI1"].local(at).strftime("%d %H:%M") for at in (before, change)]
    assert shown == ["25 02:59", "25 02:00"]
    assert clocks["SRV1"].local(change).strftime("%d %H:%M") == "24 20:00"
    context = world_context(recipe, 15)
    times = np.array([microseconds(at) for at in (before, change)])
    assert (context.offset_us(np.array([0, 0]), times) // 60_000_000).tolist() == [120, 60]
    assert (context.offset_us(np.array([2, 2]), times) // 60_000_000).tolist() == [-300, -300]


def test_a_holiday_has_the_load_of_a_sunday() -> None:
    usual, holiday = WorldRecipe(), WorldRecipe(holidays=(1,))
    assert load_of_day(holiday, 1).tolist() == load_of_day(usual, 6).tolist()
    assert load_of_day(holiday, 0).tolist() == load_of_day(usual, 0).tolist()
