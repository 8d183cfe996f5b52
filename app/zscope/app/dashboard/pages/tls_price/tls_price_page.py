"""TLS CPU cost: what it costs, by day and of which jobs, why it moved, and what a change would save."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from zscope.app.dashboard.drawing import plain, without_effect
from zscope.app.dashboard.figure_cards import Card, draw_figures
from zscope.app.dashboard.pages.tls_price.price_tiles import draw_tiles
from zscope.app.dashboard.pages.tls_price.what_if import what_if_section
from zscope.app.dashboard.registry import Page
from zscope.app.shared.shown_statements import STATEMENT, shown_sql

if TYPE_CHECKING:
    from zscope.app.dashboard.page_data import PageData

PAGE = Page(title="TLS CPU cost", icon="payments", area="Cost", order=10)

FIGURES = (
    (
        Card("cost-by-day", 4, below=(Card("cost-change"),)),
        Card(width=3, choice="tls_price_by", choices={
            "Job": Card("price-by-job"), "Port": Card("price-by-port"), "Rule": Card("price-by-rule"),
            "Client network": Card("price-by-network"), "Key exchange": Card("price-by-key-exchange"),
            "Role": Card("price-by-role"),
        }),
    ),
    (Card("advice-first"), Card("price-by-system")),
    (Card("price-by-part"),),
)  # fmt: skip
ROWS = (
    (
        Card(folded=True, title="All that a change would save", choice="tls_advice_of", choices={
            "All": Card("advice-rows", where="shared_by = 'system' OR rule_name IS NOT NULL"),
            "System": Card("advice-rows", where="shared_by = 'system'"),
            "Rule": Card("advice-rows", where="shared_by = 'rule'"),
            "Port": Card("advice-rows", where="shared_by = 'port'"),
        }),
    ),
    (Card("cost-changes", folded=True),),
    (Card("price-rows", folded=True),),
)  # fmt: skip
_LONGEST = 2000


def render(data: PageData) -> None:
    """Draw the page."""
    statements = data.found(STATEMENT, shown_sql("found")).to_pylist()
    prices = [each for each in statements if each["subject"] == "price"]
    for price in prices:
        st.markdown(f"**{plain(price['sentence'], _LONGEST)}**")
    without_effect(sorted({each["not_filtered_by"] for each in prices if each["not_filtered_by"]}))
    draw_tiles(data)
    draw_figures(data, _ports_first(data, FIGURES))
    what_if_section(data)
    draw_figures(data, _ports_first(data, ROWS))


def _ports_first(data: PageData, rows: tuple[tuple[Card, ...], ...]) -> tuple[tuple[Card, ...], ...]:
    """The cards; if ports are chosen, those with a choice begin with the ports."""
    if not data.filters.ports:
        return rows
    return tuple(
        tuple(
            replace(card, choices={"Port": card.choices["Port"], **card.choices}) if card.choices else card
            for card in row
        )
        for row in rows
    )
