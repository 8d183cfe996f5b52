"""z/TPF floods: the ECBs that a burst of TLS session starts holds, and what a change brought."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import pyarrow.compute as pc
import streamlit as st

from zscope.app.dashboard.looks import spread_colours, values
from zscope.app.dashboard.parts.against_published import against_published
from zscope.app.dashboard.queries.ztpf import AREA, curves, floods
from zscope.app.dashboard.show import grid, nothing, picture

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.answers import Data

_CURVES = {"ecbs_in_use": "ECBs in use", "tls_starts_completed": "TLS sessions started"}
_OF_FLOODS = (
    "series", "system", "sessions", "peak_ecbs", "duration_s", "ecb_seconds", "ecb_seconds_per_session",
    "starts_per_s", "gaps", "remarks",
)  # fmt: skip
"""What is read first; the download has all columns."""
_OF_CHANGES = (
    "series", "against", "throughput_gain_pct", "elapsed_ratio", "peak_change_pct", "duration_change_pct",
    "ecb_seconds_change_pct", "excess_change_pct",
)  # fmt: skip


def render(data: Data) -> None:
    """Draw the page."""
    found = floods(data)
    if found.num_rows:
        st.subheader("Floods")
        grid(found, "ztpf-floods", sources=["ztpf_flood"], columns=_OF_FLOODS)
        _changes(found)
        for column, title in _CURVES.items():
            st.subheader(title)
            for sessions, samples in curves(data, found, column):
                _curve(samples, column, title, sessions)
    else:
        nothing(
            "No flood of z/TPF: it takes samples over time of the ECBs in use or of the TLS sessions started,"
            " as CSV, as an export of a Grafana panel, or as JSON lines.",
            "zscope ingest --run before ecb-series.csv",
        )
    against_published(data, AREA, "ztpf")


def _changes(found: pa.Table) -> None:
    compared = found.filter(pc.is_valid(found["against"])).select(_OF_CHANGES)
    if compared.num_rows:
        st.subheader("One flood against another")
        grid(compared, "ztpf-changes", sources=["ztpf_flood"])


def _curve(told: pa.Table, column: str, title: str, sessions: int | None) -> None:
    flood = "number of sessions not told" if sessions is None else f"{sessions:,} sessions requested"
    st.caption(f"Floods, {flood}")
    series = sorted(set(told["series"].to_pylist()))
    chart = (
        alt.Chart(values(told))
        .mark_line()
        .encode(
            x=alt.X("since_start_s:Q", title="Seconds since the first sample"),
            y=alt.Y(f"{column}:Q", title=title),
            color=alt.Color("series:N", title="Series", scale=spread_colours(series)),
            strokeDash=alt.StrokeDash("series:N", title="Series", sort=series),
            tooltip=[
                alt.Tooltip("series:N", title="Series"),
                alt.Tooltip("since_start_s:Q", title="Seconds", format=",.2f"),
                alt.Tooltip(f"{column}:Q", title=title, format=",.0f"),
            ],
        )
        .properties(height=260)
    )
    words = f"{title} over time, a line for each series; {flood}."
    picture(chart, told, f"ztpf-{column}-{sessions or 0}", words, sources=["ztpf_sample"])
