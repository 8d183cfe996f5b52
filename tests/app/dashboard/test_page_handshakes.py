"""The page about handshakes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.app.dashboard.conftest import MARKUP, Open, fine, words


def test_numbers_are_those_of_the_metric(open_page: Open, world: Path) -> None:
    page = open_page("handshakes", world)
    shown = {metric.label: metric.value for metric in page.metric}
    assert shown["Handshakes"] == "5,600"
    assert shown["Resumed, of full and resumed"] == "32.3 %"
    assert len(page.get("vega_lite_chart")) == 2


def test_filters_of_the_address_narrow_it(open_page: Open, world: Path) -> None:
    page = open_page("handshakes", world, {"system": "CLI1"})
    assert page.multiselect(key="system").value == ["CLI1"]
    assert page.metric[0].value == "2,403"


def test_what_is_no_system_of_the_store_is_ignored(open_page: Open, world: Path) -> None:
    page = open_page("handshakes", world, {"system": "'; DROP TABLE x"})
    assert page.metric[0].value == "5,600"


def test_other_places_can_be_chosen(open_page: Open, world: Path) -> None:
    page = open_page("handshakes", world)
    page.button_group(key="handshakes_by").set_value("job_name").run()
    fine(page)
    assert len(page.get("vega_lite_chart")) == 2


@pytest.mark.parametrize("store", ["empty", "only_rmf", "only_netstat"])
def test_without_handshakes_it_says_what_would_bring_them(
    open_page: Open, store: str, request: pytest.FixtureRequest
) -> None:
    page = open_page("handshakes", request.getfixturevalue(store))
    assert "No handshakes" in words(page)
    assert "the filters above" not in words(page)
    assert "zscope ingest" in words(page)


def test_where_filters_leave_nothing_that_is_told(open_page: Open, world: Path) -> None:
    page = open_page("handshakes", world, {"system": "CLI2", "port": "5001"})
    assert not page.metric
    assert "the filters above leave nothing" in words(page)


def test_zert_alone_is_enough(open_page: Open, only_zert: Path) -> None:
    assert open_page("handshakes", only_zert).metric[0].value != "0"


def test_names_of_data_are_never_markup(open_page: Open, hostile: Path) -> None:
    page = open_page("handshakes", hostile, {"handshakes_by": "Job name"})
    assert page.button_group(key="handshakes_by").value == "job_name"
    assert MARKUP not in words(page)
