"""Post-quantum readiness on the page about posture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.app.dashboard.conftest import Open, words
from tests.app.dashboard.page_helpers import data_of, sql

from zscope.app.dashboard.pages.posture.quantum import (
    OPEN,
    UNKNOWN,
    allowed_groups,
    key_exchanges,
    seen_groups,
)
from zscope.app.shared.filters import Filters

if TYPE_CHECKING:
    from pathlib import Path

COUNTED = "source = 'zERT summary'"
PART = {"posture_part": "Post-quantum readiness"}


def test_the_shares_are_those_of_the_posture(drawn_page: Open, world: Path) -> None:
    rows = key_exchanges(data_of(world), COUNTED).to_pylist()
    [(whole, bare, unknown)] = sql(
        world,
        "SELECT sum(tls_connections), sum(quantum_open_connections), sum(quantum_unknown_connections) "
        f"FROM tls_posture WHERE {COUNTED}",
    )
    assert sum(row["connections"] for row in rows) == whole
    assert sum(row["connections"] for row in rows if row["readiness"] == OPEN) == bare
    assert sum(row["share_pct"] for row in rows) == pytest.approx(100)
    shown = {metric.label: metric.value for metric in drawn_page("posture", world, PART).metric}
    assert shown["Not known"] == f"{100 * float(unknown) / float(whole):.1f} %"


def test_the_group_of_tls13_is_not_known(world: Path) -> None:
    rows = key_exchanges(data_of(world), COUNTED).to_pylist()
    of_tls13 = [row for row in rows if row["protocol"] == "TLSv1.3"]
    assert {(row["key_exchange"], row["readiness"]) for row in of_tls13} == {("group not recorded", UNKNOWN)}


def test_displays_name_the_groups_of_their_connections(drawn_page: Open, world: Path) -> None:
    rows = seen_groups(data_of(world)).to_pylist()
    [(connections,)] = sql(
        world,
        "SELECT count(DISTINCT (system, connection_id)) FROM netstat_ttls WHERE key_share IS NOT NULL",
    )
    assert sum(row["connections"] for row in rows) == connections > 0
    shown = words(drawn_page("posture", world, PART))
    assert f"Connections in NETSTAT TTLS displays {connections}" in shown
    assert "With a hybrid group with ML-KEM 0" in shown


def test_groups_of_the_policy_have_names(world: Path) -> None:
    rows = allowed_groups(data_of(world, Filters(systems=("CLI2",)))).to_pylist()
    assert {row["system"] for row in rows} == {"CLI2"}
    assert all("secp256r1" in row["groups"] for row in rows)
    assert not any(row["has_hybrid"] for row in rows)


@pytest.mark.deep
def test_without_displays_and_policy_it_says_so(drawn_page: Open, only_zert: Path) -> None:
    text = words(drawn_page("posture", only_zert, PART))
    assert "Only NETSTAT TTLS displays" in text
    assert "No loaded AT-TLS policy states groups" in text
