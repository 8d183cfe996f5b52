"""What the files cover, and the intervals that are missing in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import streamlit as st

from zscope.app.dashboard.looks import BLUE, RED, time_axis, time_tip, values
from zscope.app.dashboard.queries.loads import coverage, systems
from zscope.app.dashboard.queries.loads import gaps as missing_in
from zscope.app.dashboard.show import clean, picture

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.answers import Data

_LOCAL = "Local time of the system"
_FROM_TO = [time_tip("begin", "From (local)"), time_tip("end", "To (local)")]


def gaps(data: Data) -> None:
    """Draw both."""
    _covered(data)
    _missing(data)


def _covered(data: Data) -> None:
    st.subheader("What the files cover")
    there = systems(data)
    if not there:
        st.caption("No file is loaded.")
        return
    system: str | None = st.selectbox(
        "System", there, index=None, placeholder="all", format_func=clean, key="quality_system",
        bind="query-params", persist_state="session", width=220,
    )  # fmt: skip
    table = coverage(data, system)
    if not table.num_rows:
        st.caption("Nothing that is loaded of it says when it was written.")
        return
    tips = [
        alt.Tooltip("records:Q", title="Records or reports", format=","),
        alt.Tooltip("loads:Q", title="Loads", format=","),
    ]
    picture(_stretches(table, BLUE, tips), table, "coverage",
            "For each system and kind of record or report the stretches of time that files cover, as bars.",
            sources=["load_kind"])  # fmt: skip
    st.caption(
        "From the first to the last record of each kind that a file holds. Kinds with the most records. "
        "Holes of up to two hours between files are not drawn."
    )


def _missing(data: Data) -> None:
    st.subheader("Missing intervals")
    table = missing_in(data)
    if not table.num_rows:
        st.caption("No load lacks intervals between its first and its last one.")
        return
    tips = [
        alt.Tooltip("missing_intervals:Q", title="Missing intervals", format=","),
        alt.Tooltip("load_id:Q", title="Load"),
    ]
    picture(_stretches(table, RED, tips), table, "gaps",
            "For each system and table of intervals the stretches in which intervals are missing, as bars.",
            sources=["load_gap"])  # fmt: skip
    st.caption("Stretches between two intervals of the same load in which there is none.")


def _stretches(table: pa.Table, colour: str, tips: list[alt.Tooltip]) -> alt.Chart:
    bars: alt.Chart = (
        alt.Chart(values(table))
        # A display is of one moment: its bar would have no width without a line around.
        .mark_bar(color=colour, stroke=colour, strokeWidth=2, height=8)
        .encode(
            x=time_axis("begin", _LOCAL),
            x2="end:T",
            y=alt.Y("what:N", title=None, axis=alt.Axis(labelLimit=360, labelOverlap=False)),
            tooltip=[alt.Tooltip("what:N", title="What"), *_FROM_TO, *tips],
        )
        .properties(height=alt.Step(18))
    )
    return bars
