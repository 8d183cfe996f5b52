"""The benchmark over the small world: what it says, and that every number follows from the rows behind it."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.pipelines.stores import named_rows
from tests.sample_stores import WORLD

from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.metrics import declared, needed, view_sql
from zscope.pipelines.runs import FILE_NAME as RUNS
from zscope.pipelines.settings import Settings
from zscope.pipelines.store import open_reader
from zscope.pipelines.store.catalogue import publish_catalogue
from zscope.pipelines.store.commits import read_state
from zscope.pipelines.store.folder import existing_store
from zscope.samples.world import ZONE, WorldRecipe, write_world

if TYPE_CHECKING:
    import duckdb

UNSPECIFIED = 15
"""Results whose document does not state a side."""
LATENCIES = 10
"""Results about the time of a transaction on connections that stay open."""
DISPLAYED = """
[[run]]
name = "during-displays"
system = "CLI1"
role = "client"
from = 2026-03-09T12:00:00Z
to = 2026-03-09T12:15:00Z
[run.tags]
interface = "OSD"
"""
"""A run during which NETSTAT was displayed."""


@contextmanager
def computed(store: Path, name: str) -> Iterator[duckdb.DuckDBPyConnection]:
    """The store with everything that a metric reads and that rests on runs computed once."""
    with open_reader(store) as connection:
        for step in needed(name):
            if step in declared() and {"run_interval", "run"} & set(needed(step)):
                connection.execute(f"CREATE TEMP TABLE {step} AS {view_sql(declared()[step])}")
        yield connection


@pytest.fixture(scope="module")
def world(world_store: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """The world as zscope benchmark computes it."""
    with computed(world_store, "benchmark_arithmetic") as connection:
        yield connection


@pytest.fixture(scope="module")
def mistagged(
    world_store: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[duckdb.DuckDBPyConnection]:
    """The world with exchanged releases, another machine for four runs, and no SMC-D on the older machine."""
    store = tmp_path_factory.mktemp("mistagged") / "store"
    shutil.copytree(world_store, store)
    changes = {
        "rr-osh": ('release = "3.2"', 'release = "3.1"'),
        "rr-osh-z31": ('release = "3.1"', 'release = "3.2"'),
        **dict.fromkeys(
            ("rr-hipersockets", "rr-shared-osh", "rr-hipersockets-16k", "rr-shared-osh-16k"),
            ('cpc = "z17"', 'cpc = "z15"'),
        ),
    }
    blocks = []
    for block in (store / RUNS).read_text(encoding="utf-8").split("[[run]]\n")[1:]:
        name = block.split('"')[1]
        if not name.endswith("-smcd-z16"):
            blocks.append(f"[[run]]\n{block.replace(*changes.get(name, ('', '')))}")
    _with_runs(store, "".join(blocks))
    with computed(store, "benchmark_arithmetic") as connection:
        yield connection


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A world whose runs have records of the connections that stay open."""
    folder = tmp_path_factory.mktemp("recorded")
    recipe = WorldRecipe(days=1, connections_per_hour=40, runs="few", run_minutes=5)
    write_world(recipe, folder / "world", lambda _: None)
    settings = Settings().merge([ZONE])
    options = IngestOptions(selection=row_selection(None), settings=settings)
    ingest(folder / "store", (folder / "world",), options)
    _with_runs(folder / "store", (folder / "world" / RUNS).read_text(encoding="utf-8"))
    return folder / "store"


@pytest.fixture(scope="module")
def untagged(recorded: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with runs that do not have the tags that their data show."""
    store = tmp_path_factory.mktemp("untagged") / "store"
    shutil.copytree(recorded, store)
    text = (store / RUNS).read_text(encoding="utf-8")
    typed = re.compile(r"^(?:release|fips|version|cipher|key_exchange) = .*\n", re.MULTILINE)
    assert len(typed.findall(text)) > 40
    _with_runs(store, typed.sub("", text) + DISPLAYED)
    return store


def _with_runs(store: Path, text: str) -> None:
    (store / RUNS).write_text(text, encoding="utf-8")
    publish_catalogue(existing_store(store), read_state(existing_store(store)))


@pytest.fixture(scope="module")
def manifest() -> dict[str, Any]:
    """What the world is made of."""
    contents: dict[str, Any] = json.loads((WORLD / "manifest.json").read_text(encoding="utf-8"))
    return contents


def _cpu_us(manifest: dict[str, Any], name: str) -> dict[str, float]:
    """CPU time per transaction of a run, by side and of both."""
    (run,) = (run for run in manifest["runs"] if run["name"] == name)
    sides = {side: values["cpu_us_per_transaction"] for side, values in run["sides"].items()}
    return {**sides, "both": sum(sides.values())}


def test_each_kind_of_verdict_occurs(world: duckdb.DuckDBPyConnection) -> None:
    verdicts = Counter(row[0] for row in world.execute("SELECT verdict FROM benchmark").fetchall())
    assert sum(verdicts.values()) == 126
    assert set(verdicts) == {"agrees", "differs", "direction only", "not comparable", "no data"}


def test_measurements_are_marked_as_synthetic(world: duckdb.DuckDBPyConnection) -> None:
    measured = world.execute(
        "SELECT measured, synthetic FROM benchmark WHERE measured IS NOT NULL"
    ).fetchall()
    assert len(measured) > 40
    assert all(text.endswith(" synthetic") and synthetic for text, synthetic in measured)


def test_every_number_follows_from_its_rows(world: duckdb.DuckDBPyConnection) -> None:
    checked = world.execute(
        "SELECT a.id, a.role, a.value, b.value, a.low, b.low, a.high, b.high FROM benchmark_arithmetic AS a "
        "INNER JOIN benchmark_arithmetic AS b ON a.id = b.id AND a.role = b.role "
        "WHERE a.part = 'change' AND b.part = 'check'"
    ).fetchall()
    assert len({row[0] for row in checked}) > 40
    for result, role, *pairs in checked:
        for mine, there in zip(pairs[::2], pairs[1::2], strict=True):
            if there is not None:
                assert mine == pytest.approx(there, rel=1e-9), (result, role)


def test_every_measured_row_has_its_check(world: duckdb.DuckDBPyConnection) -> None:
    unchecked = world.execute(
        "SELECT id FROM benchmark WHERE measured_value IS NOT NULL AND (id, measured_side) NOT IN "
        "(SELECT (id, role) FROM benchmark_arithmetic WHERE part = 'check')"
    ).fetchall()
    assert unchecked == []


def test_a_side_that_is_not_stated_does_not_matter_if_all_have_the_same_verdict(
    world: duckdb.DuckDBPyConnection, manifest: dict[str, Any]
) -> None:
    found = named_rows(world, "SELECT * FROM benchmark WHERE published_side = 'unspecified'")
    assert len(found) == UNSPECIFIED
    assert {row["id"] for row in found if row["side"] != "any"} == {"tls31-resumption-tls13-cpu"}
    by_id = {row["id"]: row for row in found}
    adapter = by_id["tls31-nonfips-coproc-ecdhe"]
    before, after = (_cpu_us(manifest, name) for name in ("nonfips-accelerator-ecdhe", "tls12-ecdhe-full"))
    for side, cpu_us in before.items():
        change = 100 * (after[side] / cpu_us - 1)
        assert -98 < change < -97.5
        assert adapter[f"measured_{side}_pct"] == pytest.approx(change, abs=0.05)
    assert (adapter["verdict"], adapter["measured_side"], adapter["as_printed"]) == ("agrees", "both", "98 %")
    # The client saves more than 30 %, the server less: it depends on the side.
    tickets = by_id["tls31-resumption-tls13-cpu"]
    assert tickets["verdict"] == "not comparable"
    assert "client differs, server agrees" in tickets["why"]


def test_latency_of_a_closed_loop_is_the_number_of_clients_over_the_rate(
    world: duckdb.DuckDBPyConnection,
) -> None:
    found = named_rows(world, "SELECT * FROM benchmark WHERE rule = 'transaction-time'")
    assert len(found) == LATENCIES
    assert not [row["id"] for row in found if "stay open" in row["why"]]
    (osd, osh) = named_rows(
        world,
        "SELECT * FROM run_result WHERE name IN ('rr-osd', 'rr-osh') AND measure = 'latency' "
        "AND role = 'client' ORDER BY name",
    )
    # 60 clients, 20,000 and 25,000 transactions a second. Their connections were open for 434 seconds.
    assert osd["value"] == pytest.approx(3, rel=5e-3)
    assert osh["value"] == pytest.approx(2.4, rel=5e-3)
    latency = next(row for row in found if row["id"] == "perf32-osh-osd-rr-latency")
    assert (latency["verdict"], latency["direction_matches"]) == ("direction only", "agrees")
    assert latency["measured_value"] == pytest.approx(-20, abs=0.5)


def test_rates_from_bytes_of_long_connections_have_the_spread_of_the_clients(
    world: duckdb.DuckDBPyConnection,
) -> None:
    """Before, every interval had the same rate, without a width. A single connection has no spread."""
    found = named_rows(
        world,
        "SELECT * FROM run_result WHERE workload_kind IN ('RR', 'STR') AND role <> 'both' "
        "AND workload NOT LIKE 'STR1(%' "
        "AND (measure = 'throughput' "
        "OR counted_by = 'bytes over request size' AND measure = 'transaction_rate')",
    )
    assert len(found) > 20
    assert all(row["status"] == "ok" and row["high"] > 1.001 * row["low"] for row in found)


def test_performance_is_cpu_and_latency(world: duckdb.DuckDBPyConnection) -> None:
    found = {
        row["id"]: row for row in named_rows(world, "SELECT * FROM benchmark WHERE metric = 'performance'")
    }
    assert {name: row["verdict"] for name, row in found.items()} == {
        "perf32-heappools64": "direction only",
        "perf32-r32-r31-osh": "direction only",
        "perf32-r32-r31-osd": "direction only",
    }
    (also,) = named_rows(
        world, "SELECT * FROM benchmark_arithmetic WHERE id = 'perf32-heappools64' AND part = 'also'"
    )
    assert (also["what"], also["value"] < -10) == ("latency", True)


def test_no_tag_of_the_sample_is_contradicted_by_its_records(world: duckdb.DuckDBPyConnection) -> None:
    known = dict(world.execute("SELECT status, count(*) FROM run_tag GROUP BY status").fetchall())
    assert "contradicted" not in known
    assert known["confirmed"] > 150


def test_tags_that_the_data_contradict_are_reported(mistagged: duckdb.DuckDBPyConnection) -> None:
    (row,) = named_rows(mistagged, "SELECT * FROM benchmark WHERE id = 'perf32-r32-r31-osh'")
    assert row["verdict"] == "not comparable"
    assert "run rr-osh has the tag release=3.1, but SMF 119 of CLI1 shows 3.2" in row["why"]
    # This result does not depend on the machine.
    (row,) = named_rows(mistagged, "SELECT * FROM benchmark WHERE id = 'perf32-shared-osh-hs-rr-cpu'")
    assert row["verdict"] == "agrees"
    assert any("cpc=z15" in text for text in row["contradictions"])


@pytest.mark.deep
def test_tags_that_the_data_show_need_not_be_typed(recorded: Path, untagged: Path) -> None:
    of_runs = "SELECT id, verdict FROM benchmark WHERE area = 'z/OS AT-TLS'"
    with computed(recorded, "benchmark") as connection:
        by_hand = dict(connection.execute(of_runs).fetchall())
    assert len([verdict for verdict in by_hand.values() if verdict in {"agrees", "direction only"}]) > 4
    with computed(untagged, "benchmark") as connection:
        found = {row["id"]: row for row in named_rows(connection, "SELECT * FROM benchmark")}
        (displayed,) = named_rows(
            connection, "SELECT * FROM run_tag WHERE name = 'during-displays' AND key = 'interface'"
        )
    assert {name: found[name]["verdict"] for name in by_hand} == by_hand
    assert {"cipher=C030", "fips=off", "release=3.1", "version=TLSv1.2"} <= set(
        found["tls31-resumption-tls12-cpu"]["observed_tags"]
    )
    assert (displayed["observed"], displayed["given"], displayed["status"]) == ("OSH", "OSD", "contradicted")


def test_without_a_fit_the_five_nearest_pairs_are_listed(mistagged: duckdb.DuckDBPyConnection) -> None:
    listed = dict(
        mistagged.execute(
            "SELECT id, count(*) FROM benchmark_arithmetic WHERE part = 'pair' AND id IN "
            "(SELECT id FROM benchmark WHERE filled_from = 'runs' AND pairs_found = 0) GROUP BY id"
        ).fetchall()
    )
    assert max(listed.values()) == 5
    (row,) = named_rows(mistagged, "SELECT * FROM benchmark WHERE id = 'perf32-smcd-z17-z16-rr-cpu'")
    assert row["verdict"] == "no data"
    assert row["measured"] is None
    assert "; the closest runs, " in row["why"]


def test_the_network_share_is_at_least_that_of_the_stacks(
    world: duckdb.DuckDBPyConnection, manifest: dict[str, Any]
) -> None:
    (row,) = named_rows(world, "SELECT * FROM benchmark WHERE id = 'tls31-network-share'")
    (classes,) = named_rows(
        world,
        "SELECT sum(cp_s) AS cp_s FROM service_class_cpu "
        "WHERE class_kind = 'service class' AND system = 'SRV1' AND source = 'SMF 72'",
    )
    share = 100 * manifest["address_spaces"]["SRV1"]["TCPIP"]["cpu_s"] / classes["cp_s"]
    assert row["measured_value"] == pytest.approx(share, rel=1e-3)
    assert row["measured"].startswith(f"at least {share:.1f} %")
    assert row["verdict"] == "differs"


def test_few_results_are_not_comparable(world: duckdb.DuckDBPyConnection, systems_store: Path) -> None:
    """Each in the store that has data for it."""
    ours = "area IN ('MQ', 'z/VM RSCS', 'z/TPF')"
    query = "SELECT id FROM benchmark WHERE verdict = 'not comparable' AND "
    found = world.execute(f"{query} NOT {ours}").fetchall()
    with computed(systems_store, "benchmark") as connection:
        found += connection.execute(f"{query} {ours}").fetchall()
    assert len(found) <= 20
