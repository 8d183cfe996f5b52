"""The page about handshakes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.app.dashboard.conftest import MARKUP, Open, fine, words
from tests.app.dashboard.page_helpers import sql

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
    assert len(page.get("vega_lite_chart")) == 2


def test_filters_of_the_address_narrow_it(drawn_page: Open, world: Path) -> None:
    page = drawn_page("handshakes", world, {"system": "CLI1"})
    assert page.multiselect(key="system").value == ["CLI1"]
    [(handshakes,)] = sql(world, "SELECT sum(handshakes) FROM handshake_mix WHERE system = 'CLI1'")
    assert page.metric[0].value == f"{handshakes:,.0f}"


@pytest.mark.deep
def test_an_unknown_system_in_the_address_has_no_rows_and_is_named(drawn_page: Open, world: Path) -> None:
    page = drawn_page("handshakes", world, {"system": "'; DROP TABLE x"})
    assert not page.metric
    assert "DROP TABLE x" in words(page)


def test_other_places_can_be_chosen(open_page: Open, world: Path) -> None:
    page = open_page("handshakes", world)
    page.button_group(key="handshakes_by").set_value("job_name").run()
    fine(page)
    assert len(page.get("vega_lite_chart")) == 2


@pytest.mark.parametrize("store", ["empty", "only_rmf", "only_netstat"])
def test_without_handshakes_the_page_shows_what_to_load(
    drawn_page: Open, store: str, request: pytest.FixtureRequest
) -> None:
    page = drawn_page("handshakes", request.getfixturevalue(store))
    assert "There are no handshakes" in words(page)
    assert "the filters above" not in words(page)
    assert "zscope ingest" in words(page)


def test_filters_without_matching_data_are_reported(drawn_page: Open, world: Path) -> None:
    page = drawn_page("handshakes", world, {"system": "CLI2", "port": "5001"})
    assert not page.metric
    assert "No rows for these filters: system CLI2; port 5001." in words(page).replace("\\", "")


def test_zert_alone_is_enough(drawn_page: Open, only_zert: Path) -> None:
    assert drawn_page("handshakes", only_zert).metric[0].value != "0"


@pytest.mark.deep
def test_names_of_data_are_never_markup(drawn_page: Open, hostile: Path) -> None:
    page = drawn_page("handshakes", hostile, {"handshakes_by": "Job name"})
    assert page.button_group(key="handshakes_by").value == "job_name"
    assert MARKUP not in words(page)
