"""Which sources are there, of which systems, and what the missing ones would be good for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import streamlit as st

from zscope.app.dashboard.looks import BLUE, GREY, values
from zscope.app.dashboard.queries.sources import MISSING, by_system, by_table
from zscope.app.dashboard.show import grid, picture

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Data


def sources(data: Data) -> None:
    """Draw what there is of each system, and list the tables with and without rows."""
    _by_system(data)
    st.subheader("Tables")
    table = by_table(data)
    missing = table["state"].to_pylist().count(MISSING)
    st.caption(
        f"{missing} of {table.num_rows} tables have no rows. Missing ones that the most metrics read come "
        "first; the command loads such records or reports where a file has them."
    )
    grid(table, "sources", height=460, config=_explained())


def _by_system(data: Data) -> None:
    st.subheader("What the files have of each system")
    table = by_system(data)
    if not table.num_rows:
        st.caption("No file is loaded.")
        return
    base = alt.Chart(values(table)).encode(
        x=alt.X("system:N", title="System", axis=alt.Axis(orient="top", labelAngle=0)),
        y=alt.Y("kind:N", title=None, axis=alt.Axis(labelLimit=300)),
        tooltip=[
            alt.Tooltip("system:N", title="System"),
            alt.Tooltip("kind:N", title="Records or reports"),
            alt.Tooltip("records:Q", title="How many", format=","),
        ],
    )
    dots = base.mark_circle(color=BLUE, size=90)
    words = base.mark_text(align="left", dx=9, color=GREY).encode(text=alt.Text("records:Q", format=".3~s"))
    picture((dots + words).properties(height=alt.Step(22)), table, "sources-by-system",
            "Which kinds of records and reports the files have of which system, as dots with their number.",
            sources=["load_kind"])  # fmt: skip
    st.caption("A dot with the number of records or reports; where there is none, that source is missing.")


def _explained() -> dict[str, Any]:
    return {
        "state": st.column_config.TextColumn("State", width=100),
        "table_name": st.column_config.TextColumn("Table"),
        "origin": st.column_config.TextColumn("From", help="SMF type and subtype, or the report."),
        "metrics": st.column_config.ListColumn("Read by", help="Metrics that rest on it, among others."),
        "to_load": st.column_config.TextColumn("How to load it"),
    }
