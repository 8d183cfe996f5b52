"""How much is unprotected, old, weak or unknown: all together, by place, over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import altair as alt
import streamlit as st

from zscope.app.dashboard.explained import label
from zscope.app.dashboard.looks import GREY, ORANGE, spread_colours, time_axis, time_tip, values
from zscope.app.dashboard.periods import span
from zscope.app.dashboard.queries.protection import KINDS, Place, Weight, by_place, over_time, totals
from zscope.app.dashboard.show import nothing, number, picture

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Data

_KINDS = [kind.name for kind in KINDS]


def protection(data: Data) -> None:
    """Draw the shares, or say what would bring them."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        weight: Weight = st.segmented_control(
            "Shares of", get_args(Weight), default="connections", required=True, format_func=str.capitalize,
            key="posture_weight", bind="query-params", persist_state="session",
        )  # fmt: skip
        place: Place = st.segmented_control(
            "By", get_args(Place), default="server_port", required=True, format_func=label,
            key="posture_by", bind="query-params", persist_state="session",
        )  # fmt: skip
    rows = totals(data, weight).to_pylist()
    if not rows:
        nothing(
            "No connection that ended: they come from zERT connection detail records (SMF 119 subtype 11).",
            "zscope ingest SMF.DUMP --select '119(11)'",
        )
        return
    for column, row in zip(st.columns(len(rows)), rows, strict=True):
        of_what = row["of"].replace("connections", "bytes of connections") if weight == "bytes" else row["of"]
        column.metric(
            row["kind"].capitalize(), number(row["share_pct"], 1, "%"), border=True,
            help=f"{row['found']:,} of {row['out_of']:,} {weight}: of {of_what}.",
        )  # fmt: skip
    st.caption(
        "Unprotected and unknown are shares of all connections that ended, the others of those with TLS. "
        "Old versions are SSL, TLSv1.0 and TLSv1.1; weak encryption is 3DES, RC4 and weaker."
    )
    _by_place(data, place, weight)
    _over_time(data, weight)


def _by_place(data: Data, place: Place, weight: Weight) -> None:
    st.subheader("Where")
    table = by_place(data, place, weight)
    order = list(dict.fromkeys(table["place"].to_pylist()))
    kinds = [name for name in _KINDS if name in set(table["kind"].to_pylist())]
    base = alt.Chart(values(table)).encode(
        x=alt.X("kind:N", title=None, sort=kinds, axis=alt.Axis(orient="top", labelAngle=0, labelLimit=150)),
        y=alt.Y("place:N", title=label(place), sort=order),
        tooltip=[
            alt.Tooltip("place:N", title=label(place)),
            alt.Tooltip("kind:N", title="What"),
            alt.Tooltip("share_pct:Q", title="Share (%)", format=".2f"),
            alt.Tooltip("found:Q", title=weight.capitalize(), format=","),
            alt.Tooltip("out_of:Q", title="Out of", format=","),
            alt.Tooltip("of:N", title="Which are those of"),
        ],
    )
    dots = base.mark_circle(color=ORANGE, opacity=0.9).encode(
        size=alt.Size("share_pct:Q", legend=None, scale=alt.Scale(domain=[0, 100], range=[0, 500]))
    )
    words = base.mark_text(align="left", dx=15, color=GREY).encode(text=alt.Text("share_pct:Q", format=".1f"))
    picture(
        (dots + words).properties(height=alt.Step(26)), table, f"protection-by-{place.replace(' ', '-')}",
        f"Share of connections with each weakness by {label(place)}, as dots the larger the share, in %.",
        sources=["tls_posture"],
    )  # fmt: skip
    st.caption(f"Shares in %, at the {len(order)} places with the most {weight}; nothing where no TLS is.")


def _over_time(data: Data, weight: Weight) -> None:
    st.subheader("Over time")
    by, column = span(data)
    table = over_time(data, by, weight)
    kinds = [name for name in _KINDS if name in set(table["kind"].to_pylist())]
    chart = (
        alt.Chart(values(table))
        .mark_line(point=alt.OverlayMarkDef(size=45), strokeWidth=1.5)
        .encode(
            x=time_axis(column),
            y=alt.Y("share_pct:Q", title=f"Share of {weight} (%)"),
            color=alt.Color("kind:N", title="What", scale=spread_colours(kinds)),
            shape=alt.Shape("kind:N", title="What", sort=kinds),
            tooltip=[
                time_tip(column),
                alt.Tooltip("kind:N", title="What"),
                alt.Tooltip("share_pct:Q", title="Share (%)", format=".2f"),
                alt.Tooltip("found:Q", title=weight.capitalize(), format=","),
                alt.Tooltip("out_of:Q", title="Out of", format=","),
            ],
        )
        .properties(height=280)
    )
    picture(chart, table, "protection-over-time", "Share of each weakness over time, as lines with points.",
            sources=["tls_posture"])  # fmt: skip
