"""The advice for a generated world whose costs and handshakes are known exactly, without records and a store.

The costs of handshakes are those of the cost model of the world, and the handshakes are counted where they
are generated. So what `tls_advice` predicts has no room for errors, and a wrong assumption shows.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from tests.pipelines.metric_world import database

from zscope.samples.dump.connections import FULL, RESUMED
from zscope.samples.world.expected import ConnectionPrices
from zscope.samples.world.services import FIRST_RUN_SERVICE, SERVICES, SUITES
from zscope.samples.world.traffic import Traffic
from zscope.samples.world.world_recipe import CLIENTS, NAMES, WORLD_SYSTEMS
from zscope.schemas import cipher_suites

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from zscope.samples.world import WorldRecipe
    from zscope.samples.world.world_connections import WorldConnections

Row = dict[str, Any]
ConnectionCpu = dict[str, dict[str, dict[str, dict[str, float]]]]
"""By system, job, and `cpu_s` or `count`: the values of the kinds of handshakes."""
_COUNTED = ("full_handshakes", "resumed_handshakes", "full_tls12", "full_tls13", "full_dhe", "full_rsa")
_HANDSHAKES = ("full", "resumed")


class Cost(NamedTuple):
    """CPU time of handshakes and their number."""

    seconds: float
    number: float


@cache
def connection_cpu(recipe: WorldRecipe) -> ConnectionCpu:
    """Return what the connections of a world cost, without writing their records."""
    prices, traffic = ConnectionPrices(recipe.cost), Traffic(recipe)
    for day in range(recipe.days):
        prices.add(traffic.day(day))
    return prices.plain()


def cost_of(
    costs: ConnectionCpu, system: str, port: int | None = None, kinds: Iterable[str] = _HANDSHAKES
) -> Cost:
    """Return the cost of the full and resumed handshakes of a system, or of one of its ports."""
    jobs = [
        job
        for name, job in costs[system].items()
        if port is None
        or name in {each.job for each in SERVICES if each.port == port}
        or name in {each.caller for each in SERVICES if each.port == port}
    ]
    chosen = set(kinds)
    return Cost(
        sum(cpu_s for job in jobs for kind, cpu_s in job["cpu_s"].items() if kind.split()[0] in chosen),
        sum(count for job in jobs for kind, count in job["count"].items() if kind.split()[0] in chosen),
    )


def network_of(client: str) -> str:
    """Return the network of a client as `tls_use` names it."""
    address = next(system.address for system in WORLD_SYSTEMS if system.name == client)
    return f"{address.rpartition('.')[0]}.0/24"


def exact_advice(recipe: WorldRecipe) -> list[Row]:
    """Return the rows of `tls_advice` for a world whose costs are known exactly."""
    traffic = Traffic(recipe)
    use = _use(traffic.day(day) for day in range(recipe.days))
    given = {"tls_use": use, "handshake_cost": _handshake_costs(recipe)}
    settings = [
        {
            "system": row["system"],
            "shared_by": row["shared_by"],
            "server_port": row["server_port"],
            "side": "client" if NAMES.index(row["system"]) < CLIENTS else "server",
        }
        for row in use
        if row["shared_by"] != "client network"
    ]
    # Exact costs need no limit by the price, and planning tls_price takes most of the time.
    nothing: dict[str, list[Row]] = {"rule_parameter": [], "best_practice_check": [], "tls_price": []}
    beside = {"resumption_setting": settings, "avoidable_work": rows_of("avoidable_work", given)}
    return rows_of("tls_advice", given | beside | nothing)


def exact_savings(recipe: WorldRecipe) -> list[Row]:
    """Return the rows of `resumption_saving` for such a world."""
    traffic = Traffic(recipe)
    hours = [
        row for day in range(recipe.days) for row in _handshake_hours(traffic.day(day), recipe.day_us(day))
    ]
    return rows_of("resumption_saving", {"handshake_cost": _handshake_costs(recipe), "handshake_hour": hours})


def rows_of(name: str, given: Mapping[str, list[Row]]) -> list[Row]:
    """Return the rows of a metric over these rows of steps."""
    connection = database(name, given)
    try:
        found = connection.execute(f"FROM {name}")
        columns = [column[0] for column in found.description or ()]
        return [dict(zip(columns, row, strict=True)) for row in found.fetchall()]
    finally:
        connection.close()


def _groups(new: WorldConnections) -> Iterable[tuple[str, int, int, WorldConnections]]:
    """Yield the connections with each client and service, as each system sees them."""
    for system, name in enumerate(NAMES):
        mine = new.of_system(system)
        for service in range(FIRST_RUN_SERVICE):
            for client in range(CLIENTS):
                yield name, service, client, mine[(mine.service == service) & (mine.client == client)]


def _counts(connections: WorldConnections) -> Row:
    full, known = connections.handshake == FULL, [cipher_suites()[suite.code] for suite in SUITES]
    is_of = {
        "full_tls12": [suite.version == "TLSv1.2" for suite in SUITES],
        "full_tls13": [suite.version == "TLSv1.3" for suite in SUITES],
        "full_dhe": [suite.key_exchange.startswith("DHE") for suite in known],
        "full_rsa": [suite.key_exchange == "RSA" for suite in known],
    }
    return {
        "full_handshakes": int(full.sum()),
        "resumed_handshakes": int((connections.handshake == RESUMED).sum()),
        **{name: int((full & np.array(chosen)[connections.suite]).sum()) for name, chosen in is_of.items()},
    }


def _use(days: Iterable[WorldConnections]) -> list[Row]:
    """Return the rows of `tls_use`."""
    sums: defaultdict[tuple[str, str, str | None, int | None], Row] = defaultdict(
        lambda: dict.fromkeys(_COUNTED, 0)
    )
    for new in days:
        for system, service, client, connections in _groups(new):
            counted = _counts(connections)
            keys: list[tuple[str, str, str | None, int | None]] = [
                (system, "system", None, None), (system, "port", None, SERVICES[service].port)
            ]  # fmt: skip
            if NAMES.index(system) >= CLIENTS:
                keys.append((system, "client network", network_of(NAMES[client]), None))
            for key in keys:
                for name, number in counted.items():
                    sums[key][name] += number
    return [
        {
            "system": system, "shared_by": shared_by, "client_network": network, "server_port": port,
            "attainable_pct": 100, "highest_pct": 100, **counted,
        }
        for (system, shared_by, network, port), counted in sums.items()
    ]  # fmt: skip


def _handshake_hours(new: WorldConnections, day_us: int) -> Iterable[Row]:
    """Yield the rows of `handshake_hour` of a day, as if all were in one hour."""
    known = [cipher_suites()[suite.code] for suite in SUITES]
    for system, name in enumerate(NAMES):
        mine = new.of_system(system)
        for kind, handshake in (("full", FULL), ("resumed", RESUMED)):
            of_kind = mine[mine.handshake == handshake]
            for suite, count in zip(*np.unique(of_kind.suite, return_counts=True), strict=True):
                yield {
                    "system": name, "kind": kind, "hour_utc": np.datetime64(day_us, "us").item(),
                    "tls_version": SUITES[suite].version, "key_exchange": known[suite].key_exchange,
                    "handshakes": int(count),
                }  # fmt: skip


def _handshake_costs(recipe: WorldRecipe) -> list[Row]:
    costs = connection_cpu(recipe)
    return [_handshake_cost(recipe, costs, system) for system in NAMES]


def _handshake_cost(recipe: WorldRecipe, costs: ConnectionCpu, system: str) -> Row:
    """Return the row of `handshake_cost`: all ranges are as narrow as can be."""
    full, resumed = (cost_of(costs, system, kinds=[kind]) for kind in _HANDSHAKES)
    both = Cost(full.seconds + resumed.seconds, full.number + resumed.number)
    each = {
        name: 1e6 * cost.seconds / cost.number
        for name, cost in (("full", full), ("resumed", resumed), ("mean", both))
    }
    each["difference"] = each["full"] - each["resumed"]
    return {
        "system": system, "status": "estimate", "difference_status": "estimate",
        "handshakes_per_day": both.number / recipe.days,
        "full_handshakes_per_day": full.number / recipe.days,
        "resumed_handshakes_per_day": resumed.number / recipe.days,
        **{f"{name}{end}_us": us for name, us in each.items() for end in ("", "_low", "_high")},
    }  # fmt: skip
