"""The story of one connection: what it was, all that tells of it in order of time, and the rows behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import pyarrow as pa
import streamlit as st

from zscope.app.dashboard.explained import explained, label
from zscope.app.dashboard.looks import BLUE, values
from zscope.app.dashboard.parts.connection_words import says
from zscope.app.dashboard.picking import chosen
from zscope.app.dashboard.queries.codes import in_words
from zscope.app.dashboard.queries.connection_story import MOST, Event, Story, story
from zscope.app.dashboard.show import grid, nothing, number, picture, plain

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Data
    from zscope.app.dashboard.queries.connection_key import ConnectionKey

_EXACT = "YYYY-MM-DD HH:mm:ss.SSS"
_CONFIG = {
    "time_utc": st.column_config.DatetimeColumn("Time (UTC)", format=_EXACT, timezone="UTC", width="medium"),
    "time_local": st.column_config.DatetimeColumn("Time (local)", format=_EXACT, width="medium"),
    "says": st.column_config.TextColumn("What it says", width="large"),
}


def draw(data: Data, key: ConnectionKey) -> None:
    """Draw all that is known of a connection."""
    found = story(data, key)
    if not found.events:
        nothing(
            "This store has no record of that connection. It is kept by records of SMF type 119.",
            "zscope ingest SMF.DUMP --select 119",
        )
        return
    _facts(found)
    lines = _lines(data, found.in_utc)
    _timeline(lines, found)
    picked = _table(lines, found.in_utc, "utc", found)
    if found.in_local:
        st.subheader("By local clocks")
        st.caption(
            "The zone of these clocks is not known, so these times cannot be put among the others: "
            "tell it with --timezone when loading."
        )
        picked = _table(_lines(data, found.in_local), found.in_local, "local", found) or picked
    if found.cut:
        st.caption(f"More than {MOST} rows, of which {MOST} are shown: {plain(', '.join(found.cut))}.")
    if picked:
        _raw(data, picked)
    else:
        st.caption("Choose a row to see all of its columns, with what each means.")


def _facts(found: Story) -> None:
    of, key = found.of, found.key
    st.markdown(
        f"**{plain(of.system)}, stack {plain(of.stack or 'unknown')}, connection {key.number} ({key.hex})**: "
        f"{plain(of.local_ip or 'unknown')} port {plain(of.local_port)} with "
        f"{plain(of.remote_ip or 'unknown')} port {plain(of.remote_port)}, "
        f"job {plain(of.job_name or 'unknown')}, user {plain(of.user_id or 'unknown')}"
    )
    lasted = (of.end_utc - of.start_utc).total_seconds() if of.end_utc and of.start_utc else None
    received, sent = (
        max(event.row.get(name) or 0 for event in found.events) for name in ("in_bytes", "out_bytes")
    )
    for column, title, value in zip(
        st.columns(4),
        ("Lasted", "Received (bytes)", "Sent (bytes)", "Rows that tell of it"),
        (
            "end not in the data" if lasted is None else number(lasted, 2, "s"),
            number(received, 0),
            number(sent, 0),
            number(len(found.events), 0),
        ),
        strict=True,
    ):
        column.metric(title, value, border=True)


def _lines(data: Data, events: tuple[Event, ...]) -> pa.Table:
    """Events as rows that people read."""
    return pa.table(
        {
            "time_utc": pa.array([event.moment_utc for event in events], pa.timestamp("us", "UTC")),
            "time_local": pa.array([event.moment_local for event in events], pa.timestamp("us")),
            "source": pa.array([event.told.source for event in events], pa.string()),
            "says": pa.array(
                [says(event, in_words(data, event.told.table, event.row)) for event in events], pa.string()
            ),
            "matched_by": pa.array([event.matched_by for event in events], pa.string()),
            "file": pa.array([event.row["file"] for event in events], pa.string()),
            "place": pa.array([event.place for event in events], pa.string()),
            "table": pa.array([event.told.table for event in events], pa.string()),
            "no": pa.array(range(len(events)), pa.int64()),
        }
    )


def _timeline(lines: pa.Table, found: Story) -> None:
    moments = [event.moment_utc for event in found.in_utc if event.moment_utc]
    if len(set(moments)) < 2:
        return
    after = pa.array([(moment - moments[0]).total_seconds() for moment in moments], pa.float64())
    table = lines.select(["time_utc", "source", "says"]).append_column("after_s", after)
    chart = (
        alt.Chart(values(table))
        .mark_point(size=90, filled=True, color=BLUE, opacity=0.8)
        .encode(
            x=alt.X("after_s:Q", title="Time since the first of them (s)"),
            y=alt.Y("source:N", title=None, sort=None, axis=alt.Axis(labelLimit=220)),
            tooltip=[
                alt.Tooltip("after_s:Q", title="After (s)", format=",.2f"),
                alt.Tooltip("source:N", title="Source"),
                alt.Tooltip("says:N", title="What it says"),
            ],
        )
        .properties(height=60 + 26 * len({event.told.source for event in found.in_utc}))
    )
    words = "When each source tells of the connection, as points along its time."
    picture(chart, table, "connection-timeline", words)


def _table(lines: pa.Table, events: tuple[Event, ...], clock: str, found: Story) -> Event | None:
    columns = [f"time_{clock}", "source", "says", "place", "file", "matched_by", "table"]
    picked = chosen(
        lines, f"connection-{clock}", found.key.text, columns=columns, config=_CONFIG,
        height=min(38 + 35 * len(events), 420),
    )  # fmt: skip
    return events[picked["no"]] if picked else None


def _raw(data: Data, event: Event) -> None:
    st.subheader("The row itself")
    st.caption(f"Table {plain(event.told.table)}, {plain(event.place)} of {plain(event.row['file'], 200)}")
    words, known = in_words(data, event.told.table, event.row), explained(event.told.table)
    st.text(says(event, words))
    names = [name for name, value in event.row.items() if value is not None]
    table = pa.table(
        {
            "column": names,
            "value": [_as_text(event.row[name]) for name in names],
            "in_words": [words.get(name) for name in names],
            "meaning": [known[name].meaning if name in known else label(name) for name in names],
        },
        schema=pa.schema([(name, pa.string()) for name in ("column", "value", "in_words", "meaning")]),
    )
    grid(table, "connection-row", height=420)


def _as_text(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)
