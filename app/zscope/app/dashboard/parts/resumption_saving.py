"""The section about what a higher resumption rate would save."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import streamlit as st

from zscope.app.dashboard.looks import BLUE, GREY, ORANGE, values
from zscope.app.dashboard.queries.resumption import published
from zscope.app.dashboard.queries.resumption_saving import (
    BOUNDS,
    HIGHEST,
    LOWEST,
    USUAL,
    by_bound,
    by_fit,
    refused,
    saving,
)
from zscope.app.dashboard.show import nothing, number, picture, plain, without_effect

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.answers import Data

_SYSTEM = alt.Y("system:N", title="System")
_TIPS = [
    alt.Tooltip("system:N", title="System"),
    alt.Tooltip("resumed_pct:Q", title="Resumed now (%)", format=".1f"),
    alt.Tooltip("moved_per_day:Q", title="Handshakes a day that would be resumed", format=",.0f"),
    alt.Tooltip("cpu_s_per_day:Q", title="CPU time now (s a day)", format=",.0f"),
]
_MOST_SYSTEMS = 24
_MOST_REASONS = 10


@st.fragment
def saving_section(data: Data) -> None:
    """Draw the section; the slider draws only this part of the page anew."""
    st.subheader("What a higher rate would save")
    target: int = st.slider(
        "Share of handshakes that would be resumed (%)", LOWEST, HIGHEST, USUAL, key="resumption_target",
        bind="query-params", persist_state="session",
    )  # fmt: skip
    found = saving(data, target)
    if not found.num_rows:
        nothing(
            "No saving can be worked out: that takes zERT connection detail records and the CPU time of the"
            " same system at the same time (SMF 70 or RMF reports).",
            "zscope ingest SMF.DUMP --select '70,119(11)'",
        )
        return
    left, right = st.columns(2)
    with left:
        _by_fit(found, target)
    with right:
        _by_bound(data, found, target)
    without_effect(data.filters.without_effect(("system",), "period_from_utc"))


def _by_fit(found: pa.Table, target: int) -> None:
    table = by_fit(found)
    st.markdown(f"**By what handshakes cost these systems** at {target} %")
    if table.num_rows:
        base = alt.Chart(values(table.slice(0, _MOST_SYSTEMS)))
        tips = [
            *_TIPS,
            alt.Tooltip("saving_s_per_day:Q", title="Saved (CPU s a day)", format=",.1f"),
            alt.Tooltip("saving_low_s_per_day:Q", title="At least", format=",.1f"),
            alt.Tooltip("saving_high_s_per_day:Q", title="At most", format=",.1f"),
        ]
        axis = alt.X("saving_low_s_per_day:Q", title="CPU seconds saved a day, with the 95 % interval")
        spread = base.mark_rule(strokeWidth=3, color=BLUE).encode(
            x=axis, x2="saving_high_s_per_day:Q", y=_SYSTEM, tooltip=tips
        )
        points = base.mark_point(filled=True, size=110, color=BLUE).encode(
            x="saving_s_per_day:Q", y=_SYSTEM, tooltip=tips
        )
        labels = base.mark_text(dy=-11, color=GREY).encode(
            x="saving_s_per_day:Q", y=_SYSTEM, text=alt.Text("saving_s_per_day:Q", format=",.1f")
        )
        zero = alt.Chart(alt.InlineData([{"zero": 0}])).mark_rule(color=GREY).encode(x="zero:Q")
        chart = alt.layer(zero, spread, points, labels).properties(height=alt.Step(34))
        picture(chart, table, "saving-by-fit",
                f"CPU seconds a day that each system would save at {target} %, with the interval.",
                sources=["resumption_saving"])  # fmt: skip
    _refusals(refused(found))


def _refusals(table: pa.Table) -> None:
    """The systems that no figure is given for, and why."""
    rows = table.to_pylist()
    if not rows:
        return
    st.warning(f"No figure for {len(rows):,} systems, and why:", icon=":material/block:")
    for row in rows[:_MOST_REASONS]:
        st.markdown(f"- **{plain(row['system'])}**: {plain(row['why'], 400)}")
    if len(rows) > _MOST_REASONS:
        st.caption(f"And {len(rows) - _MOST_REASONS:,} more; choose systems above to see theirs.")


def _by_bound(data: Data, found: pa.Table, target: int) -> None:
    table = by_bound(found)
    st.markdown(f"**By the published bounds**: no more than this at {target} %")
    if not table.num_rows:
        reasons = {row["why"] for row in found.to_pylist() if row["basis"] == "published bound"}
        st.caption(f"No figure: {plain('; '.join(sorted(map(str, reasons))), 400)}")
        return
    base = alt.Chart(values(table.slice(0, _MOST_SYSTEMS)))
    tips = [
        *_TIPS,
        alt.Tooltip("saving_high_s_per_day:Q", title="Saved at most (CPU s a day)", format=",.1f"),
        alt.Tooltip("bounded_pct:Q", title="Full handshakes with a published bound (%)", format=".1f"),
        alt.Tooltip("why:N", title="Rests on"),
    ]
    axis = alt.X("saving_high_s_per_day:Q", title="CPU seconds saved a day, at most")
    bars = base.mark_bar(color=ORANGE, opacity=0.55, height=14).encode(x=axis, y=_SYSTEM, tooltip=tips)
    ends = base.mark_text(dx=4, align="left", color=GREY).encode(
        x=axis, y=_SYSTEM, text=alt.Text("saving_high_s_per_day:Q", format="<,.1f")
    )
    picture(alt.layer(bars, ends).properties(height=alt.Step(34)), table, "saving-by-bound",
            f"CPU seconds a day that each system would save at most at {target} % by published bounds.",
            sources=["resumption_saving"])  # fmt: skip
    told = published(data, *BOUNDS)
    figures = "; ".join(
        f"{versions}: {plain(told[name].as_printed)} ({plain(told[name].where, 200)})"
        for versions, name in zip(("TLSv1.2", "TLSv1.3"), BOUNDS, strict=True)
        if name in told
    )
    st.caption(f"Published: {figures}. A system that does more than open connections saves far less.")
    moved = sum(row["moved_per_day"] or 0 for row in table.to_pylist())
    st.caption(f"All systems shown: {number(moved, 0)} handshakes a day would be resumed instead of full.")
