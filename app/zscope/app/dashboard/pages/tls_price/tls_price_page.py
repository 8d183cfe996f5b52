"""TLS CPU cost: what it costs, by day and of which jobs, why it moved, and what a change would save."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from zscope.app.dashboard.amounts import amount, between
from zscope.app.dashboard.drawing import number, plain, without_effect
from zscope.app.dashboard.figure_cards import Card, draw_figures
from zscope.app.dashboard.pages.tls_price.what_if import what_if_section
from zscope.app.dashboard.registry import Page
from zscope.app.dashboard.tiles import MetricFigure, change_in_tile, tile, tile_places
from zscope.app.shared.shown_statements import STATEMENT, shown_sql

if TYPE_CHECKING:
    from collections.abc import Callable

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
_METRIC = "tls_price"
_OF_SYSTEMS = "shared_by = 'system' AND part = 'TLS' AND high_cpu_s_per_day IS NOT NULL"
_NOT_BY = ("stack", "port", "job", "role")
"""Filters that the cost of a system does not follow."""
_COST = "sum({end}_cpu_s_per_day)"
_SHARE = "100 * sum({end}_cpu_s_per_day) / sum(100 * high_cpu_s_per_day / nullif(high_lpar_pct, 0))"
_MSU = "sum({end}_msu)"
_HIGHEST = "max({end}_peak_pct)"


def render(data: PageData) -> None:
    """Draw the page."""
    _draw_tiles(data)
    statements = data.found(STATEMENT, shown_sql("found")).to_pylist()
    prices = [each for each in statements if each["subject"] == "price"]
    for price in prices:
        st.markdown(f"**{plain(price['sentence'], _LONGEST)}**")
    without_effect(sorted({each["not_filtered_by"] for each in prices if each["not_filtered_by"]}))
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


def _draw_tiles(data: PageData) -> None:
    """Draw what TLS costs all systems, and the field for what an MSU costs."""
    ignored = [name for name in data.filters.chosen() if name in _NOT_BY]
    data = data.without_filters(ignored)
    per_msu: float | None = st.session_state.get("tls_price_per_msu")
    figures: dict[str, tuple[str, Callable[[float | None], str], str]] = {
        "All systems, a day": (
            _COST, partial(amount, unit="s"),
            "CPU time of general-purpose processors: the sum over the systems with a known cost.",
        ),
        "Share of the LPARs": (_SHARE, partial(number, unit="%"), "Of the CPU time of these systems."),
        "In the peak hours": (
            _HIGHEST, partial(number, unit="%"),
            "Share of the four hours in a row with the most CPU time, on the system where it is highest.",
        ),
        "MSU": (
            _MSU, partial(number, digits=2),
            "MSU of the highest four-hour averages that are TLS, the sum over the systems that have one.",
        ),
    }  # fmt: skip
    if per_msu is not None:
        figures["Money for these MSU"] = (
            f"{per_msu:.15g} * {_MSU}", partial(number, digits=0), "With what an MSU costs, in its currency.",
        )  # fmt: skip
    ends = [of.format(end=end) for of, _, _ in figures.values() for end in ("low", "high")]
    selected = ", ".join(f"{end} AS v{n}" for n, end in enumerate(ends))
    [row] = data.found(_METRIC, f"SELECT {selected} FROM found", where=_OF_SYSTEMS).to_pylist()
    places = tile_places(len(figures) + 1)
    for n, (place, (title, (of, write, words))) in enumerate(zip(places, figures.items(), strict=False)):
        low, high = row[f"v{2 * n}"], row[f"v{2 * n + 1}"]
        shown = between(write(low or 0.0), write(high))
        source = MetricFigure(_METRIC, of.format(end="high"), (), _OF_SYSTEMS)
        tile(place, data, title, shown, source, words, **change_in_tile(data, "" if n else "TLS cost"))
    places[-1].number_input(
        "Price of an MSU, any currency", min_value=0.0, value=None, step=100.0, key="tls_price_per_msu",
        placeholder="not set",
    )  # fmt: skip
    without_effect(ignored)
