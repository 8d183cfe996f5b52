"""Posture: who is unprotected or old, findings, certificates, and post-quantum readiness."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import streamlit as st

from zscope.app.dashboard.drawing import number
from zscope.app.dashboard.figure_cards import Card, draw_figures
from zscope.app.dashboard.pages.posture.certificates import certificates_section
from zscope.app.dashboard.pages.posture.findings import findings_section
from zscope.app.dashboard.pages.posture.quantum import quantum_section
from zscope.app.dashboard.protection_records import chosen_records, of_records
from zscope.app.dashboard.registry import Page
from zscope.app.dashboard.tiles import MetricFigure, tile, tile_places
from zscope.app.shared.column_labels import label

if TYPE_CHECKING:
    from collections.abc import Callable

    from zscope.app.dashboard.page_data import PageData

PAGE = Page(title="Posture and certificates", icon="security", area="Security", order=10)

FIGURES = (
    (Card("old-versions"), Card("unprotected-jobs"), Card("certificate-next")),
    (Card("protocols-over-time", page="ciphers"), Card("finding-first")),
)
Place = Literal["server_port", "system", "job_name"]
BY_PLACE: dict[Place, str] = {
    "server_port": "protection-by-port", "system": "protection-by-system", "job_name": "protection-by-job",
}  # fmt: skip
_SHARES = {
    "Unprotected": ("unprotected", "connections"),
    "Old version": ("old_version", "tls_connections"),
    "Weak encryption": ("weak_cipher", "tls_connections"),
    "No forward secrecy": ("without_pfs", "tls_connections"),
    "Unknown": ("unknown", "connections"),
}
"""The shares of the tiles: the beginning of a column of the metric, and the column that it is a share of."""


def protection_section(data: PageData) -> None:
    """Draw how well the connections are protected: in all, by place, and each exposed client."""
    records = chosen_records(data, "posture_records")
    if records is not None:
        for place, (title, (counted, of)) in zip(tile_places(len(_SHARES)), _SHARES.items(), strict=True):
            share = 100 * records[f"{counted}_connections"] / records[of] if records[of] else None
            figure = MetricFigure(
                "tls_posture", f"100 * {counted}_connections / {of}", ("source",), of_records(records)
            )
            tile(place, data, title, number(share, 1, "%"), figure, f"Of the {label(of).lower()}.")
    by: Place = st.segmented_control(
        "By", get_args(Place), default="server_port", required=True, format_func=label, key="posture_by",
        bind="query-params", persist_state="session",
    )  # fmt: skip
    records_and_places = (Card("exposure-records"), Card("unprotected"))
    draw_figures(
        data, [(Card(BY_PLACE[by]),), records_and_places, (Card("exposed-clients", page="connections"),)]
    )


_PARTS: dict[str, Callable[[PageData], None]] = {
    "findings": findings_section,
    "protection": protection_section,
    "certificates": certificates_section,
    "post-quantum readiness": quantum_section,
}


def render(data: PageData) -> None:
    """Draw the page."""
    draw_figures(data, FIGURES)
    part: str = st.segmented_control(
        "Show", list(_PARTS), default="findings", required=True, format_func=str.capitalize,
        key="posture_part", label_visibility="collapsed", bind="query-params", persist_state="session",
    )  # fmt: skip
    _PARTS[part](data)
