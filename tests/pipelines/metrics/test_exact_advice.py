"""What `tls_advice` predicts from exact costs happens where its conditions are true; where one can be false,
the sentence states it.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from tests.marking import deep_except
from tests.pipelines.metrics.exact_advice import (
    connection_cpu,
    cost_of,
    exact_advice,
    exact_savings,
    network_of,
)

from zscope.samples.world import CostModel, WorldRecipe
from zscope.samples.world.cost import FULL_KINDS, SIDES
from zscope.schemas.published import published_tables

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.pipelines.metrics.exact_advice import Row

_PUBLISHED = {row["id"]: row["value"] for row in published_tables()["reference_result"].to_pylist()}
_WITH_DHE = {"009C": "009F"}
"""Then the handshakes with DHE are on one of the ports: it has another share of them than its system."""
_ECDHE_US = 1_000.0
_TLS13_US = _ECDHE_US * (1 + _PUBLISHED["tls31-tls13-vs-tls12-cpu"] / 100)
LIKE_PUBLISHED = CostModel().changed(
    {
        "ecdhe_us": _ECDHE_US,
        "rsa_us": _ECDHE_US / (1 + _PUBLISHED["tls31-ecdhe-vs-rsa-kx-cpu"] / 100),
        "dhe_us": _ECDHE_US / (1 + _PUBLISHED["tls31-ecdhe-vs-dhe-cpu"] / 100),
        "tls13_us": _TLS13_US,
        "resumed_us": _ECDHE_US * (1 + _PUBLISHED["tls31-resumption-tls12-cpu"] / 100),
        "resumed13_us": _TLS13_US * (1 + _PUBLISHED["tls31-resumption-tls13-cpu"] / 100),
    }
)
"""Costs with the published ratios, which a workload like the published one has."""
ALL_ALIKE = CostModel().changed({"full_us": 1_000, "resumed_us": 400, "resumed13_us": 400})
SEEDS = (1, 2, 3)


def world(seed: int, cost: CostModel, **changes: Any) -> WorldRecipe:  # noqa: ANN401 - fields of a recipe
    start = datetime(2026, 3, 8, 23, tzinfo=UTC)
    return replace(WorldRecipe(seed=seed, days=3, start=start, runs="none", cost=cost), **changes)


def costlier(cost: CostModel, percentages: Mapping[str, float], kinds: tuple[str, ...]) -> CostModel:
    """Return the costs before a change that lowers those of these kinds by shares of both sides."""
    return cost.changed(
        {
            f"{side}.{kind}": getattr(getattr(cost, side), kind) / (1 - percentages[side])
            for side in SIDES
            for kind in kinds
        }
    )


def less(client: str, server: str) -> dict[str, float]:
    """Return the published savings of both sides as shares."""
    return {side: -_PUBLISHED[name] / 100 for side, name in (("client", client), ("server", server))}


def not_more(client: str, server: str) -> dict[str, float]:
    """Return what is saved of costs that a change in the other direction increases."""
    return {side: 1 - 1 / (1 - saved) for side, saved in less(client, server).items()}


def _changes(seed: int) -> dict[str, tuple[WorldRecipe, WorldRecipe]]:
    """The worlds before and after each change of which only a published percentage is known."""
    after = world(seed, LIKE_PUBLISHED)
    tickets = less(*["tls31-sysplex-tickets-cpu"] * 2)
    audit = {side: 1 - 1 / (1 + _PUBLISHED[f"perf32-icsf-sessionobj-cpu-{side}"] / 100) for side in SIDES}
    cheaper = {
        "cache session tickets across the sysplex": (tickets, ("tls13_us",)),
        "no auditing of ICSF session objects": (audit, ("tls13_us",)),
        "Crypto Express also as coprocessor, where FIPS mode is off": (
            less(*["tls31-nonfips-coproc-max"] * 2), FULL_KINDS
        ),
        "Crypto Express also as accelerator, where FIPS mode is on": (
            less(*["tls31-fips-accel-cpu"] * 2), FULL_KINDS
        ),
    }  # fmt: skip
    return {
        "ECDHE instead of DHE": (
            world(seed, LIKE_PUBLISHED, other_suites=_WITH_DHE),
            world(seed, LIKE_PUBLISHED, other_suites={"009C": "C030"}),
        ),
        "ECDHE instead of RSA key exchange": (
            after, world(seed, LIKE_PUBLISHED, other_suites={"009C": "C030", "009D": "C030"})
        ),
        **{
            change: (world(seed, costlier(LIKE_PUBLISHED, saved, kinds)), after)
            for change, (saved, kinds) in cheaper.items()
        },
    }  # fmt: skip


@pytest.mark.parametrize("seed", deep_except([SEEDS[0]], SEEDS))
def test_a_change_with_a_published_percentage_saves_at_most_what_it_allows(seed: int) -> None:
    for change, (before, after) in _changes(seed).items():
        rows = [row for row in exact_advice(before) if row["change"] == change]
        assert {row["system"] for row in rows} >= {"SRV1", "SRV2"}, change
        costs, cheaper = connection_cpu(before), connection_cpu(after)
        for row in rows:
            place = row["system"], row["server_port"]
            saved = (cost_of(costs, *place).seconds - cost_of(cheaper, *place).seconds) / before.days
            low, high = row["saving_low_s_per_day"], row["saving_high_s_per_day"]
            assert abs(saved) > 0.001, f"{change} concerns no handshake of {place}"
            assert low * 1.000001 <= saved <= high * 1.000001, (change, place)
            assert max(-low, high) < 4 * abs(saved), "a bound that says nothing"


@pytest.mark.parametrize("other_suites", [{}, _WITH_DHE, {"009C": "009F", "009D": "009F"}])
def test_resumption_of_all_handshakes_saves_at_most_the_published_bound(
    other_suites: Mapping[str, str],
) -> None:
    """DHE costs many times as much as the published handshakes, and a resumed handshake has none of it."""
    before = world(SEEDS[0], LIKE_PUBLISHED, other_suites=other_suites)
    resumed_us, resumed13_us = LIKE_PUBLISHED.server.resumed_us, LIKE_PUBLISHED.server.resumed13_us
    all_resumed = dict.fromkeys(("rsa_us", "dhe_us", "ecdhe_us"), resumed_us) | {"tls13_us": resumed13_us}
    after = replace(before, cost=LIKE_PUBLISHED.changed(all_resumed))
    costs, cheaper = connection_cpu(before), connection_cpu(after)
    rows = {(row["system"], row["basis"]): row for row in exact_savings(before) if row["target_pct"] == 100}
    assert len(rows) == 8
    for (system, basis), row in rows.items():
        saved = (cost_of(costs, system).seconds - cost_of(cheaper, system).seconds) / before.days
        if basis == "estimate":
            # Versions of TLS have slightly different shares of the full and of the resumed handshakes.
            assert row["saving_s_per_day"] == pytest.approx(saved, rel=0.02)
        else:
            assert saved <= row["saving_high_s_per_day"] < 1.2 * saved
    advised = {
        row["system"]: row["saving_high_s_per_day"] / row["handshakes_per_day"]
        for row in exact_advice(before)
        if row["basis"] == "published"
        and row["shared_by"] == "system"
        and row["change"].startswith("resume 95")
    }
    bounds = {
        row["system"]: row["saving_high_s_per_day"] / row["moved_per_day"]
        for row in rows.values()
        if row["basis"] == "published bound"
    }
    assert advised == pytest.approx(bounds)


@pytest.mark.parametrize("seed", deep_except([SEEDS[0]], SEEDS))
def test_connections_that_stay_open_save_at_most_what_their_handshakes_cost(seed: int) -> None:
    """Where handshakes of all networks cost the same; where they do not, the condition is in the sentence."""
    network = network_of("CLI1")
    for cost in (ALL_ALIKE, LIKE_PUBLISHED):
        before, after = (world(seed, cost, kept_open={"CLI1": number}) for number in (1, 1_000))
        rows = [row for row in exact_advice(before) if row["basis"] == "counted"]
        assert {(row["system"], row["change"]) for row in rows} == {
            (system, f"keep connections of clients in {network} open") for system in ("SRV1", "SRV2")
        }
        costs, cheaper = connection_cpu(before), connection_cpu(after)
        for row in rows:
            system = row["system"]
            saved = (cost_of(costs, system).seconds - cost_of(cheaper, system).seconds) / before.days
            fewer = (cost_of(costs, system).number - cost_of(cheaper, system).number) / before.days
            assert row["handshakes_per_day"] == pytest.approx(fewer, rel=0.02)
            assert row["saving_low_s_per_day"] == 0
            assert row["sentence"].endswith(
                "if few connections serve all their requests, "
                "and if handshakes of all client networks cost the same"
            )
            if cost is ALL_ALIKE:
                assert 0.95 * row["saving_high_s_per_day"] < saved <= row["saving_high_s_per_day"]


def test_the_resumption_of_a_port_has_the_condition_that_all_ports_cost_the_same() -> None:
    """With it, what a handshake saves is exact; without it, the port with DHE saves much more."""
    saving = {}
    for cost in (ALL_ALIKE, LIKE_PUBLISHED):
        before = world(SEEDS[0], cost, other_suites=_WITH_DHE)
        rows: list[Row] = [
            row for row in exact_advice(before) if row["basis"] == "estimate" and row["shared_by"] == "port"
        ]
        assert {row["status"] for row in rows} == {"conditional"}
        assert all(row["sentence"].endswith(", if handshakes of all ports cost the same") for row in rows)
        costs = connection_cpu(before)
        for row in rows:
            place = row["system"], row["server_port"]
            full, resumed = (cost_of(costs, *place, kinds=[kind]) for kind in ("full", "resumed"))
            true = full.seconds / full.number - resumed.seconds / resumed.number
            saving[cost is ALL_ALIKE, place] = row["saving_s_per_day"] / row["handshakes_per_day"] / true
    assert all(ratio == pytest.approx(1) for (is_alike, _), ratio in saving.items() if is_alike)
    assert saving[False, ("SRV1", 446)] < 0.5
