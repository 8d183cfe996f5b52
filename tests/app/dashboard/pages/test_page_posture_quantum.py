"""Post-quantum readiness on the page about posture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.app.dashboard.conftest import Open, words
from tests.app.dashboard.page_helpers import data_of, listed, sql, titles

from zscope.app.dashboard.pages.posture.posture_page import allowed_groups
from zscope.app.figures.figure_declarations import declared_figures
from zscope.app.figures.figure_rows import figure_rows
from zscope.app.shared.filters import Filters

if TYPE_CHECKING:
    from pathlib import Path

PART = {"posture_part": "Post-quantum readiness"}


def test_the_parts_of_the_traffic_are_all_of_it(drawn_page: Open, world: Path) -> None:
    rows = figure_rows(data_of(world), declared_figures()["quantum-readiness"], {}).rows
    parts = ("quantum_open_connections", "quantum_not_open_connections", "quantum_unknown_connections")
    [(whole,)] = sql(world, "SELECT sum(tls_connections)::BIGINT FROM tls_posture")
    assert sum(row[name] for row in rows for name in parts) == whole > 0
    assert {row["quantum_unknown_pct"] for row in rows if row["protocol"] == "TLSv1.3"} == {100.0}
    assert "Could a quantum computer open the traffic?" in titles(drawn_page("posture", world, PART))


def test_displays_name_the_groups_of_their_connections(drawn_page: Open, world: Path) -> None:
    [(connections,)] = sql(
        world,
        "SELECT count(DISTINCT (system, connection_id)) FROM netstat_ttls WHERE key_share IS NOT NULL",
    )
    shown = listed(drawn_page("posture", world, PART), "key_group", "is_hybrid")
    assert shown["connections"].sum() == connections > 0
    assert not shown["is_hybrid"].any()


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
