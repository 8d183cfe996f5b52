"""The part of the page z/TPF floods about the model of a flood: it needs no data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.app.conftest import deep
from tests.app.dashboard.conftest import Open, fine, words

from zscope.pipelines.flood_model import Flood, Mode, Simulation, beside_published, published_figures

if TYPE_CHECKING:
    from pathlib import Path

    from streamlit.testing.v1 import AppTest

MODEL = {"ztpf_show": "Flood model"}
SMALL = MODEL | {"flood_begin": "default", "flood_sessions": "300", "flood_burst_s": "0.05"}


def _metrics(page: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in page.metric}


@pytest.fixture
def page(open_page: Open, empty: Path) -> AppTest:
    """The part with a small flood, on a store without anything."""
    return open_page("ztpf_floods", empty, SMALL)


def test_numbers_are_those_of_the_simulation(page: AppTest) -> None:
    came = beside_published(Simulation(Flood(sessions=300, burst_s=0.05), mode) for mode in Mode)
    shown = _metrics(page)
    assert shown["MODEL: throughput gain"] == f"{came['throughput_gain']:,.1f} %"
    assert shown["MODEL: peak ECBs before"] == f"{came['peak_ecbs_before']:,.0f}"
    assert shown["MODEL: high ECBs with"] == f"{came['duration_with']:,.1f} s"


def test_every_chart_and_figure_is_marked_as_model(page: AppTest) -> None:
    assert all(label.startswith("MODEL: ") for label in _metrics(page))
    pictures = page.get("vega_lite_chart")
    assert len(pictures) == 2
    for picture in pictures:
        assert '"MODEL: simulated, not measured"' in picture.proto.spec
        assert "not measured" in picture.proto.alt
    assert any("MODEL" in badge.value for badge in page.markdown)
    for frame in page.dataframe:
        assert set(frame.value["basis"]) == {"model"}


def test_published_figures_are_shown(page: AppTest) -> None:
    text = words(page).replace("\\", "")
    for figure in published_figures().values():
        assert figure["as_printed"] in text
    assert b"published peak before: about 2,500" in page.get("vega_lite_chart")[0].proto.SerializeToString()


def test_parameters_of_the_address_are_set(page: AppTest) -> None:
    assert page.number_input(key="flood_sessions").value == 300
    page.number_input(key="flood_network_ms").set_value(0.0).run()
    fine(page)
    assert _metrics(page)["MODEL: throughput gain"] == "0.0 %"


@pytest.mark.parametrize(
    "query",
    [
        {"flood_cpu_ms": "nan"},
        *deep({"flood_sessions": "9999999"}, {"flood_order": "<b>"}, {"flood_share": "x"}),
    ],
)
def test_invalid_values_in_the_address_are_ignored(
    drawn_page: Open, empty: Path, query: dict[str, str]
) -> None:
    page = drawn_page("ztpf_floods", empty, SMALL | query)
    assert len(page.get("vega_lite_chart")) == 2
    assert page.number_input(key="flood_cpu_ms").value == 0.5


def test_a_flood_that_cannot_be_simulated_is_reported(page: AppTest) -> None:
    page.number_input(key="flood_background_per_s").set_value(2000.0)
    page.number_input(key="flood_background_ms").set_value(50.0).run()
    fine(page)
    assert "This flood cannot be simulated" in words(page)
    assert "leaves too little for sessions" in words(page)
    assert not page.get("vega_lite_chart")


@pytest.mark.deep
def test_presets_reproduce_published_figures(page: AppTest) -> None:
    page.button_group(key="flood_begin").set_value("ECB test").run()
    fine(page)
    shown = _metrics(page)
    assert page.number_input(key="flood_ecb_sessions").value == 8000
    assert shown["MODEL: peak ECBs before"] == "2,500"
    assert float(shown["MODEL: high ECBs before"].split()[0]) == pytest.approx(20, abs=0.2)
    assert float(shown["MODEL: high ECBs with"].split()[0]) == pytest.approx(2, abs=0.3)
    # The values of the other mode are unchanged.
    page.button_group(key="flood_begin").set_value("default").run()
    assert page.number_input(key="flood_sessions").value == 300


@pytest.mark.deep
def test_the_part_opens_with_a_flood_that_fits(drawn_page: Open, empty: Path) -> None:
    page = drawn_page("ztpf_floods", empty, MODEL)
    shown = _metrics(page)
    assert shown["MODEL: peak ECBs before"] == "2,500"
    assert float(shown["MODEL: peak ECBs with"]) == pytest.approx(100, abs=10)
    assert words(page).count("This preset is not fitted to it") == 1


def test_the_preset_can_be_in_the_address(drawn_page: Open, empty: Path) -> None:
    query = {"flood_begin": "throughput test", "flood_throughput_sessions": "2000"}
    page = drawn_page("ztpf_floods", empty, MODEL | query)
    gain = float(_metrics(page)["MODEL: throughput gain"].split()[0])
    assert gain == pytest.approx(46, abs=0.5)
