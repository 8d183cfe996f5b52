"""What is loaded: how much of each kind of source, over which time, and how far behind the newest data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import pyarrow as pa
import streamlit as st

from zscope.app.dashboard.looks import BLUE, GREY, ORANGE, time_axis, time_tip, values
from zscope.app.dashboard.queries.loaded import OTHER, loaded
from zscope.app.dashboard.show import picture, plain, without_effect

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Data
    from zscope.app.dashboard.looks import Chart

_ROW_PX = 40
_DAY_S = 86_400
_SPANS = ((2 * _DAY_S, _DAY_S, "days"), (2 * 3600, 3600, "hours"), (60, 60, "minutes"))
"""From how many seconds on a time is told in which unit."""


def what_is_loaded(data: Data) -> None:
    """Draw the section."""
    st.subheader("What is loaded, and how fresh it is")
    found = loaded(data)
    without_effect([name for name in data.filters.without_effect(("system",)) if name != "system"])
    rows = found.by_source.to_pylist()
    late = [row for row in rows if row["source"] != OTHER and (row["behind_s"] or 0) >= _DAY_S]
    if late:
        named = ", ".join(f"{plain(row['source'])} by {_in_words(row['behind_s'])}" for row in late)
        st.warning(f"More than a day behind the newest data: {named}.", icon=":material/update:")
    clock = "UTC" if found.in_utc else "clock of each system"
    if not found.in_utc:
        st.caption(
            "The time zone of some systems is not known, so times are what their clocks showed: "
            "zscope ingest with --timezone tells it."
        )
    told = found.by_source.append_column("told", pa.array([_told(row) for row in rows], pa.string()))
    picture(
        _picture(told, found.by_system, clock), found.by_source, "overview-loaded",
        "From when to when there is data of each kind of source, as bars, with what is loaded of it.",
    )  # fmt: skip
    st.caption("Bars reach from the first to the newest data; a tick is the newest data of one system.")


def _told(row: dict[str, Any]) -> str:
    stored = f", {row['rows']:,} rows" if row["rows"] else ""
    behind = row["behind_s"]
    if behind is None:
        return f"{row['records']:,} records{stored}"
    return f"{row['records']:,} records{stored} · {_in_words(behind) + ' behind' if behind else 'newest'}"


def _in_words(seconds: float) -> str:
    """A time as people say it.

    >>> _in_words(7200), _in_words(200_000), _in_words(3)
    ('2 hours', '2 days', 'less than a minute')
    """
    for least, unit, name in _SPANS:
        if seconds >= least:
            return f"{seconds / unit:,.0f} {name}"
    return "less than a minute"


def _picture(sources: pa.Table, systems: pa.Table, clock: str) -> Chart:
    axis = alt.Y("source:N", title=None, sort=sources["source"].to_pylist(), axis=alt.Axis(labelLimit=260))
    base = alt.Chart(values(sources)).encode(y=axis)
    tips = [
        alt.Tooltip("source:N", title="Source"),
        alt.Tooltip("records:Q", title="Records", format=","),
        alt.Tooltip("rows:Q", title="Rows stored", format=","),
        alt.Tooltip("systems:Q", title="Systems"),
        time_tip("first_seen", f"First ({clock})"),
        time_tip("newest", f"Newest ({clock})"),
    ]
    bars = base.mark_bar(size=8, color=BLUE, yOffset=8).encode(
        x=time_axis("first_seen", f"Time ({clock})"), x2="newest:T", tooltip=tips
    )
    ticks = (
        alt.Chart(values(systems))
        .mark_tick(size=16, thickness=2, color=ORANGE, yOffset=8)
        .encode(
            y=axis,
            x=time_axis("newest", f"Time ({clock})"),
            tooltip=[
                alt.Tooltip("source:N", title="Source"),
                alt.Tooltip("system:N", title="System"),
                time_tip("newest", f"Newest ({clock})"),
            ],
        )
    )
    words = base.mark_text(align="left", dy=-6, color=GREY).encode(x=alt.value(2), text="told:N")
    return alt.layer(bars, ticks, words).properties(height=_ROW_PX * sources.num_rows + 40)
