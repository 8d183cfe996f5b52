"""The page about the AT-TLS policy."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qs

import pytest
from tests.app.dashboard.conftest import Open, words
from tests.app.dashboard.page_helpers import choose, data_of, sql, table

from zscope.app.dashboard.pages.policy import messages, parameters, rules
from zscope.app.shared.filters import Filters

if TYPE_CHECKING:
    from pathlib import Path

PAGE = "policy"


def test_it_shows_the_rules_of_the_metric(drawn_page: Open, world: Path) -> None:
    page = drawn_page(PAGE, world)
    shown = table(page, "policy-rules")
    expected = sql(world, "SELECT system, rule_name, full_handshakes FROM rule_use")
    assert len(shown) == len(expected)
    assert set(shown["rule_name"]) == {name for _, name, _ in expected}
    [in_force] = sql(world, "SELECT count(*) FROM rule_use WHERE place IS NOT NULL")
    assert f"Rules in force {in_force[0]}" in words(page)


def test_a_rule_has_the_parameters_of_its_actions(open_page: Open, world: Path) -> None:
    page = open_page(PAGE, world)
    chosen = table(page, "policy-rules").iloc[0]
    choose(page, "policy-rules")
    assert f"{chosen['rule_name']}, {chosen['system']}" in words(page)
    assert "Parameters of its actions" in words(page)
    links = {link.proto.page: parse_qs(link.proto.query_string) for link in page.main.get("page_link")}
    assert links["connections"] == {
        "system": [chosen["system"]], "port": [chosen["server_ports"]],
    }  # fmt: skip
    assert links["tls_price"] == {"tls_advice_of": ["Rule"]}


def test_parameters_and_messages_are_those_of_the_rule(world: Path) -> None:
    [rule] = [
        row
        for row in rules(data_of(world)).to_pylist()
        if (row["system"], row["rule_name"]) == ("CLI1", "WEBGATE1_Client~1")
    ]
    named = {row["parameter"]: row["value"] for row in parameters(data_of(world), rule).to_pylist()}
    assert named["HandshakeRole"] == "Client"
    said = messages(data_of(world), rule).to_pylist()
    assert len(said) == rule["errors"] > 0


def test_a_system_narrows_it(world: Path) -> None:
    found = rules(data_of(world, Filters(systems=("SRV1",))))
    assert set(found["system"].to_pylist()) == {"SRV1"}


@pytest.mark.deep
def test_without_a_policy_it_names_what_to_load(drawn_page: Open, only_rmf: Path) -> None:
    assert "No AT-TLS policy is loaded" in words(drawn_page(PAGE, only_rmf))
