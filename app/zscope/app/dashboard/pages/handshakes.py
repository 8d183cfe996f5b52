"""Handshakes: full, resumed, failed; when, where, and the connections behind a bar."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import altair as alt
import streamlit as st

from zscope.app.dashboard.explained import label
from zscope.app.dashboard.looks import HANDSHAKE_COLOURS, colours, time_axis, time_tip, values
from zscope.app.dashboard.periods import span
from zscope.app.dashboard.queries.handshakes import Place, behind, by_place, over_time, totals
from zscope.app.dashboard.show import grid, nothing, number, picture, plain

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Data

_COLOUR = alt.Color("kind:N", title="Handshake", scale=colours(HANDSHAKE_COLOURS))
_TIPS = [
    alt.Tooltip("kind:N", title="Handshake"),
    alt.Tooltip("handshakes:Q", title="Handshakes", format=","),
    alt.Tooltip("share_pct:Q", title="Share (%)", format=".1f"),
]


def render(data: Data) -> None:
    """Draw the page."""
    found = totals(data)
    if not found.get("handshakes"):
        nothing(
            "No handshakes: they come from zERT connection detail records (SMF 119 subtype 11).",
            "zscope ingest SMF.DUMP --select '119(11)'",
        )
        return
    for column, (title, key, digits, unit) in zip(
        st.columns(4),
        [
            ("Handshakes", "handshakes", 0, ""),
            ("Resumed, of full and resumed", "resumed_pct", 1, "%"),
            ("Full, of full and resumed", "full_pct", 1, "%"),
            ("Failed, of all", "failed_pct", 2, "%"),
        ],
        strict=True,
    ):
        column.metric(title, number(found[key], digits, unit), border=True)
    _over_time(data)
    _by_place(data)


def _over_time(data: Data) -> None:
    st.subheader("Over time")
    by, column = span(data)
    table = over_time(data, by)
    chart = (
        alt.Chart(values(table))
        .mark_bar()
        .encode(
            x=time_axis(column),
            y=alt.Y("handshakes:Q", title=f"Handshakes per {column.removesuffix('_utc')}"),
            color=_COLOUR,
            tooltip=[time_tip(column), *_TIPS],
        )
        .properties(height=260)
    )
    picture(chart, table, "handshakes-over-time", "Handshakes of each kind over time, as stacked bars.",
            sources=["handshake_mix"])  # fmt: skip


def _by_place(data: Data) -> None:
    st.subheader("Where")
    place: Place = st.segmented_control(
        "By", get_args(Place), default="server_port", required=True, format_func=label, key="handshakes_by",
        bind="query-params", persist_state="session",
    )  # fmt: skip
    table = by_place(data, place)
    chosen = alt.selection_point(name="picked", fields=[place, "kind"])
    chart = (
        alt.Chart(values(table))
        .mark_bar(cursor="pointer")
        .encode(
            x=alt.X("handshakes:Q", title="Handshakes"),
            y=alt.Y(f"{place}:N", title=label(place), sort="-x"),
            color=_COLOUR,
            opacity=alt.condition(chosen, alt.value(1), alt.value(0.4)),
            tooltip=[alt.Tooltip(f"{place}:N", title=label(place)), *_TIPS],
        )
        .add_params(chosen)
    )
    words = f"Handshakes of each kind by {label(place)}, as bars."
    picked = picture(chart, table, f"handshakes-by-{place}", words, sources=["handshake_mix"], pick=True)
    if not picked:
        st.caption("Click a bar to see the connections behind it.")
        return
    value, kind = str(picked[0][place]), str(picked[0]["kind"])
    st.markdown(f"**Connections behind the bar**: {label(place)} {plain(value)}, {kind}, the newest 500")
    grid(behind(data, place, value, kind), "handshakes-behind", sources=["handshake"])
