"""What is predicted of changes happens in worlds that are generated again with the advice followed.

The predictions come from the records alone; what is saved comes from the cost model of the world, which
neither the advice nor the estimate reads.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.pipelines.metrics.advice_rules import faults_of
from tests.pipelines.metrics.conftest import GENERATED, load_world
from tests.pipelines.metrics.exact_advice import connection_cpu, cost_of, network_of

from zscope.pipelines.estimate.what_if import PriceRange, changed_price
from zscope.pipelines.metrics.narrowing import prepare
from zscope.pipelines.store import open_reader
from zscope.samples.world.cost import FULL_KINDS, SIDES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.pipelines.metrics.exact_advice import ConnectionCpu

    from zscope.samples.world import WorldRecipe

pytestmark = pytest.mark.deep
Row = dict[str, Any]
SEED = 21
METRICS = ("tls_advice", "resumption_saving", "handshake_cost", "tls_price")
SYSTEMS = {"CLI1", "CLI2", "SRV1", "SRV2"}
_KEPT_OPEN = 20
_WITH_DHE, _WITHOUT_DHE = {"009C": "009F"}, {"009C": "C030"}
"""Handshakes with DHE are on one port only."""


@pytest.fixture(scope="module")
def before() -> WorldRecipe:
    """A world with all that advice can change."""
    return replace(GENERATED, seed=SEED, other_suites=_WITH_DHE)


@pytest.fixture(scope="module")
def predicted(before: WorldRecipe, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, list[Row]]:
    """The rows of the metrics for the world before."""
    return loaded(before, tmp_path_factory.mktemp("followed"))


@pytest.fixture(scope="module")
def costs(before: WorldRecipe) -> ConnectionCpu:
    """What the connections of the world before cost."""
    return connection_cpu(before)


def loaded(recipe: WorldRecipe, folder: Path) -> Mapping[str, list[Row]]:
    """Write and load a world, and return the rows of the metrics."""
    load_world(recipe, folder)
    rows = {}
    with open_reader(folder / "store") as connection:
        prepare(connection, METRICS)
        for name in METRICS:
            found = connection.execute(f"FROM {name}")
            columns = [column[0] for column in found.description or ()]
            rows[name] = [dict(zip(columns, row, strict=True)) for row in found.fetchall()]
    return rows


def cheaper(before: WorldRecipe, kinds: tuple[str, ...], left: Mapping[str, float]) -> WorldRecipe:
    """Return the world in which these kinds of handshakes cost a share of what they did, by side."""
    us = {
        f"{side}.{kind}": getattr(getattr(before.cost, side), kind) * left[side]
        for side in SIDES
        for kind in kinds
    }
    return replace(before, cost=before.cost.changed(us))


def followed(before: WorldRecipe) -> Mapping[str, WorldRecipe]:
    """Return the world after each change of which a published percentage is known: all of it is saved."""
    tickets, audit = dict.fromkeys(SIDES, 0.7), {"client": 1 / 20.53, "server": 1 / 12.49}
    return {
        "ECDHE instead of DHE": replace(before, other_suites=_WITHOUT_DHE),
        "ECDHE instead of RSA key exchange": replace(before, other_suites=_WITH_DHE | {"009D": "C030"}),
        "cache session tickets across the sysplex": cheaper(before, ("tls13_us",), tickets),
        "no auditing of ICSF session objects": cheaper(before, ("tls13_us",), audit),
        "Crypto Express also as coprocessor, where FIPS mode is off": cheaper(
            before, FULL_KINDS, dict.fromkeys(SIDES, 0.02)
        ),
        "Crypto Express also as accelerator, where FIPS mode is on": cheaper(
            before, FULL_KINDS, dict.fromkeys(SIDES, 0.03)
        ),
    }


def test_advice_follows_its_rules(predicted: Mapping[str, list[Row]]) -> None:
    assert list(faults_of(predicted["tls_advice"])) == []


def test_a_change_with_a_published_percentage_saves_what_was_predicted(
    predicted: Mapping[str, list[Row]], before: WorldRecipe, costs: ConnectionCpu
) -> None:
    """The costs have the ratios of the usual cost model of servers, not the published ones."""
    for change, recipe in followed(before).items():
        after = connection_cpu(recipe)
        rows = [
            row for row in predicted["tls_advice"] if row["change"] == change and row["shared_by"] != "rule"
        ]
        assert {row["system"] for row in rows} >= {"SRV1", "SRV2"}, change
        for row in rows:
            place = row["system"], row["server_port"]
            saved = (cost_of(costs, *place).seconds - cost_of(after, *place).seconds) / before.days
            low, high = row["saving_low_s_per_day"], row["saving_high_s_per_day"]
            assert low <= saved <= high, (change, place)
            assert 0 < max(-low, high) < 15 * abs(saved), "a bound that says nothing"


def test_connections_that_stay_open_save_what_was_predicted(
    predicted: Mapping[str, list[Row]], before: WorldRecipe, costs: ConnectionCpu
) -> None:
    after = connection_cpu(replace(before, kept_open={"CLI1": _KEPT_OPEN}))
    rows = [row for row in predicted["tls_advice"] if row["basis"] == "counted"]
    assert {(row["system"], row["change"]) for row in rows} == {
        (system, f"keep connections of clients in {network_of('CLI1')} open") for system in ("SRV1", "SRV2")
    }
    for row in rows:
        now, then = cost_of(costs, row["system"]), cost_of(after, row["system"])
        saved, fewer = ((now[at] - then[at]) / before.days for at in (0, 1))
        assert row["saving_low_s_per_day"] <= saved <= row["saving_high_s_per_day"] < 3 * saved
        assert row["handshakes_per_day"] * (1 - 1 / _KEPT_OPEN) == pytest.approx(fewer, rel=0.05)


def test_more_resumption_saves_what_was_predicted(
    predicted: Mapping[str, list[Row]], before: WorldRecipe, costs: ConnectionCpu
) -> None:
    """The second world has the same connections, of which more are resumed. A moved handshake saves as much
    at each target.
    """
    after = connection_cpu(replace(before, resumed_share=0.6))
    true = {}
    for system in SYSTEMS:
        now, then = (cost_of(each, system) for each in (costs, after))
        more = [cost_of(each, system, kinds=["resumed"]).number for each in (costs, after)]
        true[system] = (now.seconds - then.seconds) / (more[1] - more[0])
    ranges = [
        (row["system"], row["basis"], row["handshakes_per_day"], row)
        for row in predicted["tls_advice"]
        if row["shared_by"] == "system" and row["change"].startswith("resume ")
    ] + [
        (row["system"], row["basis"], row["moved_per_day"], row)
        for row in predicted["resumption_saving"]
        if row["moved_per_day"] > 0
    ]
    assert {(system, basis) for system, basis, *_ in ranges} == {
        (system, basis) for system in SYSTEMS for basis in ("estimate", "published", "published bound")
    }
    held: dict[str, bool] = {}
    for system, basis, moved, row in ranges:
        saved = moved * true[system]
        holds = row["saving_low_s_per_day"] <= saved <= row["saving_high_s_per_day"]
        if basis == "estimate":
            held[system] = held.get(system, True) and holds
            # There is a value where the range has a condition under which the world was generated.
            assert row["saving_s_per_day"] is None or row["saving_s_per_day"] == pytest.approx(saved, rel=0.2)
            assert row["saving_high_s_per_day"] < 1.6 * saved
        else:
            assert holds, (system, basis)
    # Of four ranges whose upper ends hold 97.5 %, one misses in one of ten seeds.
    assert sum(held.values()) >= 3


def test_other_numbers_of_handshakes_cost_what_was_predicted(
    predicted: Mapping[str, list[Row]], before: WorldRecipe, costs: ConnectionCpu
) -> None:
    """`changed_price` is given the numbers of the second world, and the prices of the first one."""
    kinds = {"full handshakes": "full", "resumed handshakes": "resumed", "bulk data": "TLS"}
    each_change: tuple[dict[str, Any], ...] = ({"resumed_share": 0.6}, {"kept_open": {"CLI1": _KEPT_OPEN}})
    for changes in each_change:
        after = connection_cpu(replace(before, **changes))
        for system in SYSTEMS:
            parts = {
                row["part"]: PriceRange(*(row[f"{end}cpu_s_per_day"] for end in ("", "low_", "high_")))
                for row in predicted["tls_price"]
                if row["system"] == system and row["shared_by"] == "system"
            }
            of_kinds = [
                [cost_of(each, system, kinds=[kind]) for each in (costs, after)] for kind in kinds.values()
            ]
            full, resumed = (then.number / now.number for now, then in of_kinds[:2])
            then = changed_price(parts, full, resumed, 1)
            price = sum(later.seconds for _, later in of_kinds) / before.days
            assert then.low <= price <= then.high < 5 * price


def test_advice_that_was_followed_is_not_given_again(
    predicted: Mapping[str, list[Row]], before: WorldRecipe, costs: ConnectionCpu, tmp_path: Path
) -> None:
    """The world after is loaded, too: its records say how many handshakes there are no more."""
    recipe = replace(before, other_suites=_WITHOUT_DHE, kept_open={"CLI1": _KEPT_OPEN})
    after = loaded(recipe, tmp_path)
    assert list(faults_of(after["tls_advice"])) == []
    changes = {row["change"] for row in predicted["tls_advice"]} - {
        row["change"] for row in after["tls_advice"]
    }
    assert {"ECDHE instead of DHE", f"keep connections of clients in {network_of('CLI1')} open"} <= changes
    true = connection_cpu(recipe)
    found = {row["system"]: row for row in after["handshake_cost"]}
    for row in predicted["handshake_cost"]:
        system = row["system"]
        now, then = cost_of(costs, system), cost_of(true, system)
        fewer = row["handshakes_per_day"] - found[system]["handshakes_per_day"]
        assert fewer == pytest.approx((now.number - then.number) / before.days, rel=0.05, abs=30)
    for row in after["tls_price"]:
        if row["shared_by"] == "system" and row["part"] == "handshakes":
            price = cost_of(true, row["system"]).seconds / before.days
            assert row["low_cpu_s_per_day"] <= price <= row["high_cpu_s_per_day"]
