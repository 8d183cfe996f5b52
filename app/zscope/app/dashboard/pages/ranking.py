"""Ports and jobs by connections, CPU time, handshakes and protection, and what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import streamlit as st

from zscope.app.dashboard.figure_cards import Card, draw_figures
from zscope.app.dashboard.registry import Page
from zscope.app.shared.column_labels import label

if TYPE_CHECKING:
    from zscope.app.dashboard.page_data import PageData

PAGE = Page(title="Ports and jobs", icon="leaderboard", area="Traffic", order=30)

Ranked = Literal["server_port", "job_name"]
RANKINGS: dict[Ranked, tuple[tuple[Card, ...], ...]] = {
    "server_port": (
        (
            Card("port-table", page="connections"),
            Card("price-by-port", page="tls_price", title="Which port costs most?"),
        ),
        (Card("handshakes-by-port", page="handshakes"), Card("protection-by-port", page="posture")),
    ),
    "job_name": (
        (Card("job-table", page="connections"), Card("price-by-job", page="tls_price")),
        (Card("handshakes-by-job", page="handshakes"), Card("protection-by-job", page="posture")),
    ),
}
CHANGES = ((Card("changes-beyond-noise"),), (Card("changes-causes"),), (Card("changes-counted"),))


def render(data: PageData) -> None:
    """Draw the page."""
    by: Ranked = st.segmented_control(
        "Rank", get_args(Ranked), default="server_port", required=True, format_func=label, key="ranking_of",
        bind="query-params", persist_state="session",
    )  # fmt: skip
    draw_figures(data, RANKINGS[by])
    st.header("What changed against the period before")
    draw_figures(data, CHANGES)
