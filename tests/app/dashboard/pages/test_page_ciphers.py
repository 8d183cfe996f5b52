"""The page about protocols and cipher suites."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.app.conftest import deep
from tests.app.dashboard.conftest import MARKUP, Open, words
from tests.app.dashboard.page_helpers import data_of, listed, sql, titles

from zscope.app.dashboard.pages.ciphers import FIGURES
from zscope.app.figures.figure_declarations import declared_figures
from zscope.app.figures.figure_rows import figure_rows

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any


def _rows(store: Path, figure: str) -> list[dict[str, Any]]:
    return list(figure_rows(data_of(store), declared_figures()[figure], {}).rows)


def test_each_question_has_its_figure(drawn_page: Open, world: Path) -> None:
    page = drawn_page("ciphers", world)
    assert titles(page) >= {declared_figures()[card.figure].question for row in FIGURES for card in row}
    seen = sql(world, "SELECT count(DISTINCT source) FROM cipher_distribution WHERE connections > 0")
    assert [(listed(page, "cipher_name", "suite_rating")["source"].nunique(),)] == seen


@pytest.mark.parametrize("over", ["protocols-over-time", "protocols-by-port", "protocols"])
def test_protocols_add_up_to_their_source(world: Path, over: str) -> None:
    rows = _rows(world, over)
    assert {row["source"] for row in rows} == {"zERT summary"}
    counted = sql(
        world,
        "SELECT protocol, sum(connections)::BIGINT FROM covered_tls_hour WHERE source = 'zERT summary' "
        "GROUP BY ALL HAVING sum(connections) > 0",
    )
    sums = {name: sum(row["connections"] for row in rows if row["protocol"] == name) for name, _ in counted}
    assert sums == dict(counted)


def test_unknown_codes_are_shown_as_their_value(only_zert: Path) -> None:
    known = {row["cipher"]: row for row in _rows(only_zert, "suites-by-source")}
    assert known["FFFFFF"]["cipher_name"] == "unknown (FFFFFF)"
    assert known["FFFFFF"]["suite_rating"] == "not known"
    assert known["000A"]["weak_because"] == "3DES"
    assert known["000A"]["suite_rating"] == "weak"


def test_failed_handshakes_are_no_connections(recorded: Path) -> None:
    rows = _rows(recorded, "failed-by-port")
    assert rows
    source = rows[0]["source"]
    counted = sql(
        recorded,
        "SELECT server_port, sum(failed_handshakes)::BIGINT, sum(connections)::BIGINT FROM covered_tls_hour "
        f"WHERE source = '{source}' GROUP BY 1 HAVING sum(failed_handshakes) > 0",
    )
    drawn = {(row["server_port"], row["failed_handshakes"], row["connections"]) for row in rows}
    assert drawn == set(counted)


def test_filters_narrow_it_or_are_named(drawn_page: Open, world: Path) -> None:
    page = drawn_page("ciphers", world, {"system": "CLI1", "role": "client"})
    assert "Not filtered by role" in words(page)
    [(connections,)] = sql(
        world,
        "SELECT sum(connections)::BIGINT FROM covered_tls_hour "
        "WHERE source = 'zERT summary' AND system = 'CLI1' AND protocol = 'TLSv1.3'",
    )
    assert f"TLSv1.3: {connections:,}" in page.get("vega_lite_chart")[0].proto.alt


@pytest.mark.parametrize("store", ["empty", *deep("only_rmf")])
def test_without_data_the_page_shows_what_to_load(
    drawn_page: Open, store: str, request: pytest.FixtureRequest
) -> None:
    shown = words(drawn_page("ciphers", request.getfixturevalue(store)))
    assert "Protocols and cipher suites come from zERT" in shown
    assert "zscope ingest" in shown


@pytest.mark.deep
@pytest.mark.parametrize("store", ["only_netstat", "only_zert"])
def test_one_source_is_enough(drawn_page: Open, store: str, request: pytest.FixtureRequest) -> None:
    page = drawn_page("ciphers", request.getfixturevalue(store))
    assert len(page.get("vega_lite_chart")) > 3


@pytest.mark.deep
def test_names_of_data_are_never_markup(drawn_page: Open, hostile: Path) -> None:
    assert MARKUP not in words(drawn_page("ciphers", hostile))
