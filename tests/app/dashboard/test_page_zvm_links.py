"""The page about RSCS links of z/VM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.app.dashboard.conftest import Open, fine, words

if TYPE_CHECKING:
    from pathlib import Path


def test_cost_of_each_case_is_shown(drawn_page: Open, systems: Path) -> None:
    page = drawn_page("zvm_links", systems)
    assert len(page.get("vega_lite_chart")) >= 2
    [cost] = [frame.value for frame in page.dataframe if "cpu_per_tx" in frame.value.columns]
    combined = cost[cost["server"] == "combined"].set_index("run")["cpu_per_tx"].round(3)
    assert combined["rscs-case-2A"] == 0.257
    assert "channel path shared with other partitions" in words(page)


def test_two_cases_are_compared_as_in_the_published_tables(open_page: Open, systems: Path) -> None:
    page = open_page("zvm_links", systems)
    page.selectbox(key="zvm_from").set_value("rscs-case-1").run()
    page.selectbox(key="zvm_to").set_value("rscs-case-2A").run()
    fine(page)
    [result] = [frame.value for frame in page.dataframe if "delta" in frame.value.columns]
    by_measure = result.set_index("measure")
    assert round(by_measure.loc["TCPIP", "pct"], 1) == 218.2
    assert by_measure.loc["ETR", "delta"] == -10


def test_without_data_the_page_shows_what_to_load(drawn_page: Open, empty: Path) -> None:
    assert "There are no z/VM links" in words(drawn_page("zvm_links", empty))
