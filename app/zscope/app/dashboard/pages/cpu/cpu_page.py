"""CPU and LPARs: how busy systems were, partitions, CPACF, crypto cards and ICSF services."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from zscope.app.dashboard.drawing import no_data, without_effect
from zscope.app.dashboard.figure_cards import Card, draw_figures
from zscope.app.dashboard.pages.cpu.crypto import cards_section, services_section
from zscope.app.dashboard.pages.cpu.partitions import partitions_section
from zscope.app.dashboard.registry import Page
from zscope.app.figures.figure_declarations import declared_figures

if TYPE_CHECKING:
    from zscope.app.dashboard.page_data import PageData

PAGE = Page(title="CPU and LPARs", icon="memory", area="Data", order=20)

FIGURES = (
    (
        Card(
            choice="cpu_processors",
            choices={"general-purpose": Card("busy-over-time"), "zIIP": Card("ziip-busy-over-time")},
        ),
    ),
    (Card("cpu-systems"),),
)
CRYPTO = ((Card("crypto-share-over-time"), Card("crypto-instructions")), (Card("crypto-cpu-by-space"),))
"""Counted cryptographic work, where one of the two is recorded."""
DIFFERENT = "cpu-disagreements"
_METRIC, _COLUMNS, _CLOCK = "cpu_interval", ("system",), "interval_start_utc"


def compared(data: PageData) -> int:
    """Return the number of intervals that more than one source covers."""
    [row] = data.rows(f"""
        SELECT count(*) AS intervals FROM (
            SELECT 1 FROM cpu_by_source {data.where(_COLUMNS, _CLOCK)}
            GROUP BY system, interval_key HAVING count(*) > 1
        )
    """).to_pylist()  # fmt: skip
    return int(row["intervals"])


def render(data: PageData) -> None:
    """Draw the page."""
    without_effect(data.filters.without_effect(_COLUMNS, _CLOCK))
    _busy(data)
    partitions_section(data)
    _counted_crypto(data)
    cards_section(data)
    services_section(data)


def _busy(data: PageData) -> None:
    if not data.found(_METRIC, "SELECT 1 AS one FROM found LIMIT 1").num_rows:
        figure = declared_figures()["cpu-systems"]
        no_data(figure.needs, figure.load)
        return
    draw_figures(data, FIGURES)
    if not compared(data):
        st.caption(
            "Each interval is covered by one source only, so there is nothing to compare. Load SMF 70 "
            "records and an RMF CPU Activity report of the same time to compare them."
        )
    elif data.found("cpu_interval_disagreement", "SELECT 1 AS one FROM found LIMIT 1").num_rows:
        draw_figures(data, ((Card(DIFFERENT),),))
    else:
        st.caption(declared_figures()[DIFFERENT].needs)


def _counted_crypto(data: PageData) -> None:
    metrics = (declared_figures()[card.figure].metric for row in CRYPTO for card in row)
    if any(data.found(name, "SELECT 1 AS one FROM found LIMIT 1").num_rows for name in metrics):
        st.header("Cryptographic work of the processors")
        draw_figures(data, CRYPTO)
