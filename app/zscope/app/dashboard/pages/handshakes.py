"""Handshakes: which port has most and when, and where they are full, resumed or failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import streamlit as st

from zscope.app.dashboard.drawing import number
from zscope.app.dashboard.figure_cards import Card, draw_figures
from zscope.app.dashboard.protection_records import HANDSHAKE_COVERAGE, handshake_coverage
from zscope.app.dashboard.registry import Page
from zscope.app.dashboard.tiles import MetricFigure, tile, tile_places
from zscope.app.shared.column_labels import label

if TYPE_CHECKING:
    from zscope.app.dashboard.page_data import PageData

PAGE = Page(title="Handshakes", icon="handshake", area="Traffic", order=10)

FIGURES = (
    (Card("port-hours"),),
    (Card("resumption-reasons", page="resumption"), Card("port-table", page="ranking")),
)
Place = Literal["server_port", "job_name", "handshake_role", "system"]
BY_PLACE: dict[Place, str] = {
    "server_port": "handshakes-by-port", "job_name": "handshakes-by-job",
    "handshake_role": "handshakes-by-role", "system": "handshakes-by-system",
}  # fmt: skip
_TILES = (
    ("Handshakes", "handshakes", 0, "", "In zERT details."),
    ("Resumed handshakes", "resumed_pct", 1, "%", "Of the full and resumed handshakes."),
    ("Full handshakes", "full_pct", 1, "%", "Of the full and resumed handshakes."),
    ("Failed handshakes", "failed_pct", 2, "%", "Of all handshakes."),
)


def render(data: PageData) -> None:
    """Draw the page."""
    draw_figures(data, FIGURES)
    [counts] = data.metric("handshake_mix", []).to_pylist() or [{}]
    if counts.get("handshakes"):
        *columns, hours = tile_places(len(_TILES) + 1)
        for column, (title, key, digits, unit, explanation) in zip(columns, _TILES, strict=True):
            shown = number(counts[key], digits, unit)
            tile(column, data, title, shown, MetricFigure("handshake_mix", key), explanation)
        covered = number(handshake_coverage(data), 1, "%")
        tile(hours, data, "Hours covered", covered, HANDSHAKE_COVERAGE, "By zERT details, which count them.")
    place: Place = st.segmented_control(
        "By", get_args(Place), default="server_port", required=True, format_func=label, key="handshakes_by",
        bind="query-params", persist_state="session",
    )  # fmt: skip
    draw_figures(data, [(Card(BY_PLACE[place], page="connections"), Card("handshakes-over-time"))])
