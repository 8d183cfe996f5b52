"""Crypto cards and ICSF services over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import streamlit as st

from zscope.app.dashboard.looks import spread_colours, time_axis, time_tip, values
from zscope.app.dashboard.many_rows import ROWS, Drawn, with_rows
from zscope.app.dashboard.queries.crypto import Cards, by_card, over_time, scopes, services
from zscope.app.dashboard.queries.pieces import PIECE
from zscope.app.dashboard.show import clean, grid, nothing, picture

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.answers import Data
    from zscope.app.dashboard.looks import Chart

_COMMAND = "zscope ingest SMF.DUMP --select '70(2)'"
_PANELS = {
    "operations_per_s": "Operations per second",
    "execution_ms": "Time of one operation (ms)",
    "busy_pct": "Card busy (%)",
}


def cards_section(data: Data) -> None:
    """Operations of cards and how long they took."""
    st.subheader("Crypto cards")
    there = scopes(data)
    if not there:
        nothing(
            "No crypto cards: they come from SMF 70 subtype 2 records or from Crypto Hardware Activity "
            "reports of RMF.",
            _COMMAND,
        )
        return
    scope = there[0]
    if len(there) > 1:
        scope = st.segmented_control(
            "Whose work", there, default=there[0], required=True, key="cpu_crypto_scope",
            bind="query-params", persist_state="session",
        )  # fmt: skip
    found = over_time(data, scope)
    if found.rows.num_rows:
        picture(
            _panels(found), found.rows, "crypto-cards-over-time",
            "Operations per second, time of one operation, and how busy the card was, for each crypto card "
            "over time, one below the other.",
        )  # fmt: skip
    each = found.clock.removesuffix("_utc")
    left = f" Cards that did less and are not drawn: {found.left_out}." if found.left_out else ""
    st.caption(
        f"Work counted: {clean(scope)}. The mean of each {each}; a line breaks off where "
        f"there is no data. An accelerator with several engines is busy when all of them are.{left}"
    )
    with st.expander("Each card and operation"):
        grid(by_card(data, scope), "crypto-cards")


def _panels(found: Cards) -> Drawn:
    charts = []
    tips = [alt.Tooltip(f"{name}:Q", title=title, format=",.3f") for name, title in _PANELS.items()]
    for measure, title in _PANELS.items():
        first, last = measure == "operations_per_s", measure == "busy_pct"
        legend = alt.Legend(orient="top", labelLimit=240) if first else None
        axis = time_axis(found.clock) if last else time_axis(found.clock).axis(None)
        charts.append(
            alt.Chart(ROWS, height=130)
            .mark_line(point=alt.OverlayMarkDef(size=20), strokeWidth=1.4)
            .encode(
                x=axis,
                y=alt.Y(f"{measure}:Q", title=title, axis=alt.Axis(tickCount=4), scale=alt.Scale(zero=True)),
                color=alt.Color("card:N", title="Card", scale=spread_colours(found.shown), legend=legend),
                shape=alt.Shape("card:N", title="Card", legend=legend,
                                scale=alt.Scale(domain=list(found.shown))),
                detail=f"{PIECE}:N",
                tooltip=[alt.Tooltip("card:N", title="Card"), time_tip(found.clock), *tips],
            )
        )  # fmt: skip
    chart: Chart = alt.vconcat(*charts, spacing=10).resolve_scale(
        x="shared", color="independent", shape="independent"
    )
    return with_rows(chart, found.rows, found.rows.column_names)


def services_section(data: Data) -> None:
    """What ICSF was asked for."""
    st.subheader("ICSF services")
    found = services(data)
    if not found.num_rows:
        nothing(
            "No calls of ICSF: they come from SMF 70 subtype 2 records or from Crypto Hardware Activity "
            "reports of RMF.",
            _COMMAND,
        )
        return
    picture(
        _services(found), found, "icsf-services",
        "Calls per second of the ICSF services with the most calls, by system, as dots.",
    )  # fmt: skip
    st.caption(
        "Calls per second, the mean of the period, of the services with the most calls. A service may run on "
        "a crypto card or on the processors of the system."
    )


def _services(found: pa.Table) -> Chart:
    systems = sorted(set(found["system"].to_pylist()))
    chart: Chart = (
        alt.Chart(values(found))
        .mark_point(filled=True, size=60)
        .encode(
            x=alt.X("calls_per_s:Q", title="Calls per second (logarithmic)", scale=alt.Scale(type="log")),
            y=alt.Y("service:N", title="Service", sort="-x",
                    axis=alt.Axis(labelOverlap=False, labelLimit=260, grid=True)),
            color=alt.Color("system:N", title="System", scale=spread_colours(systems)),
            shape=alt.Shape("system:N", title="System", scale=alt.Scale(domain=systems)),
            tooltip=[
                alt.Tooltip("system:N", title="System"), alt.Tooltip("service:N", title="Service"),
                alt.Tooltip("calls_per_s:Q", title="Calls per second", format=",.3f"),
                alt.Tooltip("calls:Q", title="Calls", format=",.0f"),
            ],
        )
        .properties(height=alt.Step(18))
    )  # fmt: skip
    return chart
