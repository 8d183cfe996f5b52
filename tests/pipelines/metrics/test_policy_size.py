"""Policies with many rules and large groups of addresses."""

from __future__ import annotations

from time import perf_counter

from tests.pipelines.metric_world import database

RULES, ADDRESSES = 300, 1000
SIDES = ("local address", "remote address", "local port", "remote port")


def test_a_group_of_addresses_is_divided_once_however_many_rules_have_it() -> None:
    """Comparing each address of each rule with each segment would take minutes."""
    group = ", ".join(f"10.0.{number // 100}.{number % 100 * 2}" for number in range(ADDRESSES))
    rules = [
        {"policy_no": 1, "place": place, "remote_addresses": group if place % 3 else "10.0.0.0-10.0.0.2"}
        for place in range(1, RULES + 1)
    ]
    begin = perf_counter()
    with database("policy_segment", {"policy_rule": rules}) as connection:
        rows = connection.execute(
            "SELECT dimension, low_key, matched_rules FROM policy_segment ORDER BY ALL"
        ).fetchall()
    assert perf_counter() - begin < 10
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
