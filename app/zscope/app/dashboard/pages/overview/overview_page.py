"""Overview: what TLS costs, who pays, what to change first, what is exposed, and what the data cover."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import groupby
from typing import TYPE_CHECKING

import streamlit as st

from zscope.app.dashboard.drawing import clean, no_data, plain, without_effect
from zscope.app.dashboard.figure_cards import Card, draw_figures
from zscope.app.dashboard.filter_choices import choices
from zscope.app.dashboard.links import page_link
from zscope.app.dashboard.pages.overview.key_figures import (
    cost,
    next_certificate,
    resumption,
    tls13,
    unprotected,
)
from zscope.app.dashboard.registry import Page
from zscope.app.dashboard.tiles import TileDetail, change_in_tile, tile, tile_places
from zscope.app.shared.shown_statements import STATEMENT, more_words, shown_sql

if TYPE_CHECKING:
    from zscope.app.dashboard.page_data import PageData


PAGE = Page(title="Overview", icon="dashboard", area="Overview", order=10)

FIGURES = (
    (Card("cost-by-day", 4, "tls_price"), Card("advice-first", 3, "tls_price")),
    (
        Card("price-by-job", 4, "tls_price"), Card("finding-first", 4, "posture"),
        Card("verdicts-by-area", 4, "benchmark"), Card("covered-systems", 3, "quality"),
    ),
)  # fmt: skip
_KEY_FIGURES = (cost, resumption, tls13, unprotected, next_certificate)
_NAMED_SYSTEMS = 8
_LONGEST = 2000
_MOMENT = "%Y-%m-%d %H:%M"


def render(data: PageData) -> None:
    """Draw the page."""
    if not data.summary().loads:
        no_data(
            "Nothing is loaded yet. There are three ways to start; loaded data appears here within seconds.",
            f"zscope ingest YOUR.SMF.DUMP --store {data.queries.store}   # your own data\n"
            "zscope demo   # the sample data, in its own store\n"
            "zscope generate world FOLDER   # synthetic systems of any size, then zscope ingest FOLDER",
        )
        return
    with st.container(gap="xsmall"):
        _tiles(data)
        draw_figures(data, FIGURES)
    _scope(data)
    with st.spinner("Computing the statements"):
        sentences_section(data)


def _scope(data: PageData) -> None:
    """Period, systems and amount of data in one line."""
    offered, summary = choices(data.queries, data.version), data.summary()
    systems = data.filters.systems or offered.systems
    named = ", ".join(plain(system) for system in systems[:_NAMED_SYSTEMS])
    more = f" and {len(systems) - _NAMED_SYSTEMS} more" if len(systems) > _NAMED_SYSTEMS else ""
    parts = [f"**Systems**: {named}{more}" if systems else "**Systems**: none with TLS or CPU data"]
    begin = data.filters.begin or offered.first_utc
    end = data.filters.end or offered.end_utc
    if begin and end:
        age = (datetime.now(UTC) - end).days
        ago = f" ({age:,} days ago)" if age > 0 else ""
        first, last = data.filters.first_day, data.filters.last_day
        days = f"{first} to {last}" if first != last else f"{first}"
        shown = days if first else f"{begin:{_MOMENT}} to {end:{_MOMENT}} UTC"
        parts.insert(0, f"**Period**: {shown}{ago}")
    files = "file" if summary.loads == 1 else "files"
    parts.append(f"**Loaded**: {summary.loads:,} {files}, {summary.rows:,} rows")
    st.caption(" · ".join(parts))


def _tiles(data: PageData) -> None:
    figures = [key_figure(data) for key_figure in _KEY_FIGURES]
    for place, figure in zip(tile_places(len(figures)), figures, strict=True):
        ignored = [name for name in data.filters.chosen() if name in figure.without_effect]
        tile(
            place,
            data.without_filters(ignored),
            figure.title,
            figure.shown,
            figure.source,
            clean(figure.words, _LONGEST),
            TileDetail(figure.trend, figure.note or figure.words),
            **change_in_tile(data, figure.quantity),
        )
    without_effect(sorted({name for figure in figures for name in figure.without_effect}))


STATEMENT_PAGES: dict[str, tuple[str, dict[str, str]]] = {
    "price": ("tls_price", {}),
    "saving": ("tls_price", {}),
    "exposure": ("posture", {"posture_part": "Protection"}),
    "old versions": ("posture", {"posture_part": "Protection"}),
    "certificates": ("posture", {"posture_part": "Certificates"}),
    "change": ("ranking", {}),
    "coverage": ("quality", {"quality_part": "Coverage"}),
    "runs": ("compare", {}),
}
"""The page with the evidence of each statement, and the parameters of its address."""


def sentences_section(data: PageData) -> None:
    """Draw the statements that are shown first, with a link below the last of each subject."""
    st.header("In short")
    statements = data.found(STATEMENT, shown_sql("found")).to_pylist()
    with st.container(border=True):
        for subject, of_subject in groupby(statements, key=lambda each: each["subject"]):
            shown = list(of_subject)
            words, link = st.columns([4, 1], vertical_alignment="center")
            with words:
                for each in shown:
                    st.markdown(f"**{each['heading']}.** {plain(each['sentence'], _LONGEST)}")
                    if each["not_filtered_by"]:
                        st.caption(f"Not filtered by {each['not_filtered_by']}.")
                if more := more_words(shown):
                    st.caption(plain(more, _LONGEST))
            with link:
                name, parameters = STATEMENT_PAGES[subject]
                page_link(name, **parameters)
        st.caption("The same sentences: `zscope summary`; all of them: `zscope metrics statement`.")
