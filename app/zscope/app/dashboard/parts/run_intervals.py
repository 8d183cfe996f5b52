"""The intervals of two benchmark runs over time: what came out of each, and which of them count."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import streamlit as st

from zscope.app.dashboard.looks import BLUE, GREY, ORANGE, time_tip, values
from zscope.app.dashboard.queries.compare import MEASURES
from zscope.app.dashboard.queries.runs import left_out
from zscope.app.dashboard.show import picture, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from zscope.app.dashboard.answers import Data

UNITS = {
    "cpu_per_tran": "µs", "ziip_per_tran": "µs", "transaction_rate": "per s", "latency": "ms",
    "throughput": "bytes per s",
}  # fmt: skip


_LONG = 400


def tell_left_out(data: Data) -> None:
    """Say what of the file with the runs cannot be used: otherwise nobody would know why a run is missing."""
    if wrong := left_out(data):
        st.warning(plain(wrong, _LONG), icon=":material/rule:")


def draw_intervals(table: pa.Table, measure: str, runs: Sequence[str], name: str) -> None:
    """Draw one measure of all intervals; `runs` are the baseline and the candidate."""
    shown = table.select(["run", "side", "interval_start_utc", "minutes", "used", "why", measure])
    if shown[measure].null_count == shown.num_rows:
        st.caption(f"No interval of these runs tells {MEASURES[measure]}.")
        return
    base = alt.Chart(values(shown)).encode(
        x=alt.X("minutes:Q", title="Minutes since the run began"),
        y=alt.Y(f"{measure}:Q", title=f"{MEASURES[measure]} ({UNITS[measure]})", scale=alt.Scale(zero=False)),
        color=alt.Color("run:N", title="Run", scale=alt.Scale(domain=list(runs), range=[BLUE, ORANGE])),
    )
    lines = base.mark_line(opacity=0.5).encode(strokeDash=alt.StrokeDash("side:N", title="Side"))
    # Without a colour of its own the legend would be black, on a dark ground too.
    legend = alt.Legend(symbolFillColor=GREY, symbolStrokeColor=GREY)
    points = base.mark_point(filled=True, opacity=1).encode(
        shape=alt.Shape(
            "used:N", title="Interval",
            scale=alt.Scale(domain=["used", "left out"], range=["circle", "cross"]), legend=legend,
        ),
        size=alt.Size(
            "used:N", title="Interval", scale=alt.Scale(domain=["used", "left out"], range=[40, 160]),
            legend=legend,
        ),
        detail="side:N",
        tooltip=[
            alt.Tooltip("run:N", title="Run"),
            alt.Tooltip("side:N", title="Side"),
            time_tip("interval_start_utc", "Begins (UTC)"),
            alt.Tooltip(f"{measure}:Q", title=MEASURES[measure], format=",.6~g"),
            alt.Tooltip("used:N", title="Interval"),
            alt.Tooltip("why:N", title="Why"),
        ],
    )  # fmt: skip
    chart = alt.layer(lines, points).properties(height=280)
    words = f"{MEASURES[measure]} of each interval of the two runs, in minutes since each began."
    picture(chart, table, name, words, sources=["run_interval"])
