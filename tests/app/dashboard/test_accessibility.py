"""What readers need who see little, or use the keyboard: contrast, headings, cells without filler."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.app.dashboard.contrast import colour_of, contrast

from zscope.app.dashboard.style import text_colours

if TYPE_CHECKING:
    from pathlib import Path

    from tests.app.dashboard.conftest import Open

BACKGROUNDS = {"light": ("#ffffff", "#f8f8f7"), "dark": ("#0e1117", "#1b1b1a", "#262730")}
"""Backgrounds of pages and boxes."""


@pytest.mark.parametrize("theme", BACKGROUNDS)
def test_text_of_charts_has_enough_contrast(theme: str) -> None:
    for part in text_colours(theme).values():
        for colour in part.values():
            for background in BACKGROUNDS[theme]:
                assert contrast(colour_of(colour), colour_of(background)) >= 4.5


def test_every_chart_has_these_colours(drawn_page: Open, world: Path) -> None:
    charts = drawn_page("handshakes", world).get("vega_lite_chart")
    assert charts
    for chart in charts:
        config = json.loads(chart.proto.spec)["config"]
        assert config.items() >= text_colours("light").items()
        assert config["mark"]["aria"] is False, "a chart has one description, not one for each mark"
        assert config["axisY"]["labelLimit"] >= 220, "names at the vertical axis are cut"
        assert chart.proto.alt


def test_text_in_charts_has_no_colour_of_its_own(drawn_page: Open, world: Path) -> None:
    """The grey of marks has too little contrast for words."""
    for name in ("ciphers", "resumption", "posture"):
        for chart in drawn_page(name, world).get("vega_lite_chart"):
            for mark in marks(json.loads(chart.proto.spec)):
                assert mark.get("type") != "text" or "color" not in mark


def marks(specification: object) -> list[dict[str, object]]:
    """Return the marks of a chart and of its layers."""
    if isinstance(specification, list):
        return [mark for part in specification for mark in marks(part)]
    if not isinstance(specification, dict):
        return []
    own = specification.get("mark")
    return ([own] if isinstance(own, dict) else []) + marks(
        [part for name, part in specification.items() if name in ("layer", "vconcat", "hconcat", "spec")]
    )


@pytest.mark.parametrize("name", ["overview", "practices", "benchmark", "ciphers", "posture", "workload"])
def test_headings_skip_no_level(name: str, drawn_page: Open, world: Path) -> None:
    page = drawn_page(name, world)
    assert [heading.tag for heading in page.title] == ["h1"]
    assert {heading.tag for heading in page.header} <= {"h2"}
    # st.subheader is the third level.
    assert not page.subheader


def test_empty_cells_are_empty(drawn_page: Open, world: Path) -> None:
    frames = drawn_page("practices", world).dataframe
    assert any(frame.value.isna().any().any() for frame in frames)
    assert {frame.proto.placeholder for frame in frames} == {""}
    assert all(frame.proto.HasField("placeholder") for frame in frames)
