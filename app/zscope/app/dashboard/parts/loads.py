"""The history of the loads: how much came when, and what was in one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import streamlit as st

from zscope.app.dashboard.looks import BLUE, GREEN, ORANGE, RED, colours, time_axis, time_tip, values
from zscope.app.dashboard.picking import chosen
from zscope.app.dashboard.queries.loads import MOST, history, kinds, tables
from zscope.app.dashboard.show import grid, picture, plain

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.answers import Data

_CLOCK = {
    "milliseconds": "%H:%M:%S.%L", "seconds": "%H:%M:%S", "minutes": "%H:%M", "hours": "%H:%M",
    "day": "%d %b", "date": "%d %b", "week": "%d %b", "month": "%b %Y",
}  # fmt: skip
"""A first load can be over in a second."""
_BELOW = alt.Legend(orient="bottom")
_KINDS = {"smf": BLUE, "text": ORANGE, "xml": GREEN, "json": RED}
_OF_PICTURE = [
    "load_id", "name", "kind", "status", "started_utc", "rows", "content_mb", "mb_per_second",
]  # fmt: skip


def loads(data: Data) -> None:
    """Draw rows and megabytes over time, the list, and what one load brought."""
    table = history(data)
    if not table.num_rows:
        st.caption("When something is loaded, its history stands here.")
        return
    _over_time(table.select(_OF_PICTURE))
    st.subheader("History")
    if table.num_rows == MOST:
        st.caption(f"The newest {MOST:,} loads.")
    row = chosen(table, "loads", data.version, sources=["load"], height=360, config=_explained())
    if row is None:
        st.caption("Choose a row, by the box at its left, to see what was in the file and where it went.")
    else:
        _one(data, row)


def _over_time(table: pa.Table) -> None:
    st.subheader("Over time")
    base = (
        alt.Chart(values(table))
        .mark_point(filled=True, size=70, opacity=0.8)
        .encode(
            x=time_axis("started_utc", "Loading began (UTC)").axis(format=_CLOCK, labelOverlap=True),
            color=alt.Color("kind:N", title="Kind of file", scale=colours(_KINDS), legend=_BELOW),
            shape=alt.Shape("kind:N", title="Kind of file", sort=list(_KINDS)),
            tooltip=[
                alt.Tooltip("load_id:Q", title="Load"),
                alt.Tooltip("name:N", title="File"),
                time_tip("started_utc", "Loading began (UTC)"),
                alt.Tooltip("status:N", title="Status"),
                alt.Tooltip("rows:Q", title="Rows", format=","),
                alt.Tooltip("content_mb:Q", title="MB", format=",.3f"),
                alt.Tooltip("mb_per_second:Q", title="MB per second", format=".1f"),
            ],
        )
    )
    rows = base.encode(y=_log("rows", "Rows of one load", 0, 10))
    read = base.encode(y=_log("content_mb", "MB of one load", -2, 6))
    left, right = st.columns(2)
    with left:
        picture(rows.properties(height=260), table, "loads-rows", "Rows of each load over time, as points.",
                sources=["load"])  # fmt: skip
    with right:
        picture(read.properties(height=260), table, "loads-mb", "MB of each load over time, as points.",
                sources=["load"])  # fmt: skip
    st.caption("One point for each load. The vertical scale is logarithmic; MB are after unpacking.")


def _log(column: str, title: str, first: int, last: int) -> alt.Y:
    """A logarithmic scale with a place for nothing, from and to a power of ten.

    Nightly dumps have a million times the rows of a display; both can be seen on it.
    """
    ticks = [0, *(10.0**power for power in range(first, last))]
    scale = alt.Scale(type="symlog", constant=ticks[1])
    words = "format(datum.value, datum.value < 1000 ? '~g' : '~s')"
    axis = alt.Axis(values=ticks, labelExpr=words, labelOverlap=True)
    return alt.Y(f"{column}:Q", title=title, scale=scale, axis=axis)


def _explained() -> dict[str, Any]:
    return {
        "name": st.column_config.TextColumn("File", help="Without its folder, which stands under Path."),
        "file": st.column_config.TextColumn("Path"),
        "content_mb": st.column_config.NumberColumn("Read (MB)", format="%.3f", help="After unpacking."),
    }


def _one(data: Data, load: dict[str, Any]) -> None:
    st.markdown(f"**Load {load['load_id']}**: {plain(load['name'])}, {plain(load['status'])}")
    left, right = st.columns(2)
    with left:
        st.caption("What the file holds, decoded or not")
        grid(kinds(data, load["load_id"]), "load-kinds", sources=["load_kind"], config=_meant())
    with right:
        st.caption("Where it went")
        grid(tables(data, load["load_id"]), "load-tables", sources=["load_table"])
    st.caption("To take this load out of the store again:")
    st.code(f"zscope loads remove {load['load_id']}", "sh")


def _meant() -> dict[str, Any]:
    return {"total_bytes": st.column_config.NumberColumn("Length together (bytes)", format="localized")}
