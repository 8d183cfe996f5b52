"""The AT-TLS rule of a connection, compared with a search through the rules; policies with large groups."""

from __future__ import annotations

import random
from ipaddress import ip_address
from time import perf_counter
from typing import Any

import pytest
from tests.marking import deep_except
from tests.pipelines.metric_world import database

RULES, ADDRESSES = 300, 1000
SIDES = ("local address", "remote address", "local port", "remote port")


def test_a_group_of_addresses_is_divided_once_however_many_rules_have_it() -> None:
    """Comparing each address of each rule with each segment would take minutes."""
    group = ", ".join(f"10.0.{number // 100}.{number % 100 * 2}" for number in range(ADDRESSES))
    rules: list[dict[str, Any]] = [
        {"policy_no": 1, "place": place, "remote_addresses": group if place % 3 else "10.0.0.0-10.0.0.2"}
        for place in range(1, RULES + 1)
    ]
    begin = perf_counter()
    with database("policy_segment", {"policy_rule": rules}) as connection:
        rows = connection.execute(
            "SELECT dimension, low_key, matched_rules FROM policy_segment ORDER BY ALL"
        ).fetchall()
    assert perf_counter() - begin < 30
    counts = {side: sum(row[0] == side for row in rows) for side in SIDES}
    # Each address begins a segment, and another one begins after it.
    assert counts == dict.fromkeys(SIDES, 2) | {"remote address": 2 * ADDRESSES + 1}
    matched = {low_key: rules for side, low_key, rules in rows if side == "remote address"}
    prefix = "00000000000000000000ffff0a00"
    assert matched[""] == "0" * RULES
    assert matched[f"{prefix}0000"] == "1" * RULES
    assert matched[f"{prefix}0000~"] == "001" * (RULES // 3)
    assert matched[f"{prefix}0002"] == "1" * RULES
    assert matched[f"{prefix}0002~"] == "0" * RULES
    assert matched[f"{prefix}0006"] == "110" * (RULES // 3)


Ranges = list[tuple[Any, Any]]


def _text(ranges: Ranges) -> str | None:
    return ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in ranges) or None


def _address(source: random.Random) -> Any:  # noqa: ANN401 - of either version
    prefix = source.choice(("10.0.0.{}", "2001:db8::{}"))
    return ip_address(prefix.format(source.randint(1, 9)))


def _port(source: random.Random) -> int:
    return source.randint(1, 21)


def _ranges(source: random.Random, value: Any) -> Ranges:  # noqa: ANN401
    """Up to three ranges; an address of the other version is the only one of its range."""
    pairs = [(value(source), value(source)) for _ in range(source.randint(0, 3))]
    versions = [(getattr(low, "version", 0), getattr(high, "version", 0)) for low, high in pairs]
    return [
        (min(pair), max(pair)) if one == other else (pair[0], pair[0])
        for pair, (one, other) in zip(pairs, versions, strict=True)
    ]


def _is_in(value: Any, ranges: Ranges) -> bool:  # noqa: ANN401
    same = [pair for pair in ranges if getattr(pair[0], "version", 0) == getattr(value, "version", 0)]
    return not ranges or any(low <= value <= high for low, high in same)


@pytest.mark.parametrize("seed", deep_except([0, 1], list(range(40))))
def test_the_rule_is_the_first_one_that_matches(seed: int) -> None:
    """An incomplete rule, which has no direction, makes the rules after it not certain."""
    source = random.Random(seed)
    sides = {"local_ip": _address, "remote_ip": _address, "local_port": _port, "remote_port": _port}
    names = dict(
        zip(sides, ("local_addresses", "remote_addresses", "local_ports", "remote_ports"), strict=True)
    )
    conditions = [{side: _ranges(source, value) for side, value in sides.items()} for _ in range(12)]
    rules: list[dict[str, Any]] = [
        {
            "load_id": 1, "file": "policy", "line_no": number, "system": "SYSA", "policy_form": "file",
            "rule_name": f"rule{number:02}", "rule_priority": source.randint(1, 4),
            "direction": source.choice(("Inbound", "Outbound", "Both") if number % 6 else ("Both", None)),
            "job_name": source.choice((None, "A*", "AB")), "ranges_from": "configured",
            **{names[side]: _text(ranges) for side, ranges in each.items()},
        }
        for number, each in enumerate(conditions)
    ]  # fmt: skip
    connections: list[dict[str, Any]] = [
        {
            "connection_id": number, "system": "SYSA", "source": "zERT detail",
            "direction": source.choice(("Inbound", "Outbound")), "job_name": source.choice(("AB", "AC", "B")),
            **{side: value(source) for side, value in sides.items()},
        }
        for number in range(50)
    ]  # fmt: skip
    expected = {}
    for connection in connections:
        name, certain = "no rule", True
        for rule in sorted(rules, key=lambda each: (-each["rule_priority"], each["rule_name"])):
            jobs = {None: "ABC", "A*": "A", "AB": "AB"}[rule["job_name"]]
            named = connection["job_name"] == jobs if jobs == "AB" else connection["job_name"][0] in jobs
            matches = all(_is_in(connection[side], conditions[rule["line_no"]][side]) for side in sides)
            if rule["direction"] is None:
                certain = False
            elif rule["direction"] in {"Both", connection["direction"]} and named and matches:
                name = rule["rule_name"]
                break
        expected[connection["connection_id"]] = name, certain
    given = [
        {key: str(value) if key.endswith("_ip") else value for key, value in each.items()}
        for each in connections
    ]
    with database("tls_connection", {"tls_rule": rules, "connection_protection": given}) as opened:
        rows = opened.execute(
            "SELECT connection_id, rule_name, rule_is_certain FROM tls_connection"
        ).fetchall()
    assert {number: (name, certain) for number, name, certain in rows} == expected
    assert len({name for name, _ in expected.values()}) > 2
