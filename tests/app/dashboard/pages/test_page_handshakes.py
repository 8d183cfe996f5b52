"""The page about handshakes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from tests.app.conftest import deep
from tests.app.dashboard.conftest import MARKUP, Open, fine, words
from tests.app.dashboard.page_helpers import data_of, sql, titles

from zscope.app.dashboard.pages.handshakes import BY_PLACE, FIGURES
from zscope.app.figures.drawn_values import row_at
from zscope.app.figures.figure_declarations import declared_figures
from zscope.app.figures.figure_rows import figure_rows

if TYPE_CHECKING:
    from pathlib import Path


def test_numbers_are_those_of_the_metric(drawn_page: Open, world: Path) -> None:
    page = drawn_page("handshakes", world)
    shown = {metric.label: metric.value for metric in page.metric}
    [(handshakes, resumed_pct)] = sql(
        world,
        "SELECT sum(handshakes), 100 * sum(resumed_handshakes) / sum(full_handshakes + resumed_handshakes) "
        "FROM handshake_mix",
    )
    assert shown["Handshakes"] == f"{handshakes:,.0f}"
    assert shown["Resumed handshakes"] == f"{resumed_pct:.1f} %"
    assert len(page.get("vega_lite_chart")) == 4
    assert titles(page) >= {"Which port handshakes most, and when?", "Why do handshakes not resume?"}


def test_the_busiest_port_is_first_with_its_sum_and_share(drawn_page: Open, world: Path) -> None:
    [(port, connections, whole)] = sql(
        world,
        "SELECT server_port, sum(tls_connections)::BIGINT AS own, sum(own) OVER ()::BIGINT "
        "FROM covered_tls_hour AS t, LATERAL (SELECT if(t.is_tls, t.connections, 0) AS tls_connections) "
        "WHERE source = 'zERT summary' GROUP BY 1 ORDER BY 2 DESC LIMIT 1",
    )
    heat = drawn_page("handshakes", world).get("vega_lite_chart")[0].proto.alt
    assert f": port {port}: {connections:,} · {100 * connections / whole:.1f} %;" in heat


def test_the_first_line_is_the_busiest_port(world: Path) -> None:
    found = figure_rows(data_of(world), declared_figures()["port-hours"], {})
    sums: Counter[int] = Counter()
    for row in found.rows:
        sums[row["server_port"]] += row["tls_connections"]
    assert [row_at(found, place)["server_port"] for place in range(2)] == [
        port for port, _ in sums.most_common(2)
    ]


def test_filters_of_the_address_narrow_it(drawn_page: Open, world: Path) -> None:
    page = drawn_page("handshakes", world, {"system": "CLI1"})
    assert page.multiselect(key="system").value == ["CLI1"]
    [(handshakes,)] = sql(world, "SELECT sum(handshakes) FROM handshake_mix WHERE system = 'CLI1'")
    assert page.metric[0].value == f"{handshakes:,.0f}"


def test_what_cannot_be_filtered_is_named_and_stays(drawn_page: Open, world: Path) -> None:
    page = drawn_page("handshakes", world, {"port": "443"})
    assert "Not filtered by port" in words(page)
    assert any("not offered" in chart.proto.alt for chart in page.get("vega_lite_chart"))


@pytest.mark.deep
def test_an_unknown_system_in_the_address_has_no_rows_and_is_named(drawn_page: Open, world: Path) -> None:
    page = drawn_page("handshakes", world, {"system": "'; DROP TABLE x"})
    assert not page.metric
    assert "DROP TABLE x" in words(page)


def test_other_places_can_be_chosen(open_page: Open, world: Path) -> None:
    page = open_page("handshakes", world)
    for place in BY_PLACE:
        page.button_group(key="handshakes_by").set_value(place).run()
        fine(page)
        assert len(page.get("vega_lite_chart")) == 4


@pytest.mark.parametrize("store", ["empty", *deep("only_rmf", "only_netstat")])
def test_without_handshakes_the_page_shows_what_to_load(
    drawn_page: Open, store: str, request: pytest.FixtureRequest
) -> None:
    page = drawn_page("handshakes", request.getfixturevalue(store))
    assert "Handshakes come from zERT connection detail records" in words(page)
    assert "the filters above" not in words(page)
    assert len([code for code in page.code if code.value.startswith("zscope ingest")]) >= 2


def test_zert_alone_is_enough(drawn_page: Open, only_zert: Path) -> None:
    page = drawn_page("handshakes", only_zert)
    assert page.metric[0].value != "0"
    assert "displays of the caches of GSKSRVR" in words(page)


@pytest.mark.deep
def test_names_of_data_are_never_markup(drawn_page: Open, hostile: Path) -> None:
    page = drawn_page("handshakes", hostile, {"handshakes_by": "Job name"})
    assert page.button_group(key="handshakes_by").value == "job_name"
    assert MARKUP not in words(page)


def test_its_first_row_is_one_figure() -> None:
    assert len(FIGURES[0]) == 1
