"""MQ channels: what a cipher costs a round trip, how busy SSL tasks are, how often keys are negotiated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import streamlit as st

from zscope.app.dashboard.looks import (
    BLUE,
    GREEN,
    ORANGE,
    PURPLE,
    SKY,
    spread_colours,
    time_axis,
    time_tip,
    values,
)
from zscope.app.dashboard.parts.against_published import against_published
from zscope.app.dashboard.queries.mq import (
    AREA,
    MOST_SSLRKEYC,
    USUAL_SSLRKEYC,
    key_resets,
    negotiation,
    overhead,
    published_overhead,
    tasks,
    tasks_over_time,
)
from zscope.app.dashboard.show import grid, nothing, picture, without_effect

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.answers import Data

_SIZES = (BLUE, SKY, PURPLE, GREEN)
"""Of the sizes of messages; orange is for what was published."""
_TASKS = ("dispatcher", "adapter", "SSL", "DNS")
_OF_TASKS = (
    "system", "queue_manager", "task_type", "tasks", "requests", "busy_pct", "cpu_pct", "cpu_us_per_request",
    "elapsed_us_per_request", "off_cpu_us_per_request", "longest_us", "not_adding_up",
)  # fmt: skip
_OF_RESETS = (
    "system", "queue_manager", "channel_name", "connection_name", "channel_end", "cipher", "messages",
    "channel_bytes", "bytes_per_message", "estimated_resets",
)  # fmt: skip
"""What is read first; the downloads have all columns."""


def render(data: Data) -> None:
    """Draw the page."""
    added, (moment, busy) = overhead(data), tasks_over_time(data)
    if not added.num_rows and not busy.num_rows:
        nothing(
            "Nothing of MQ channels: it comes from SMF 115 subtype 231 and 116 subtype 10, from CSV or JSON"
            " of the public formatter of these records, and from a CSV of measured round trips.",
            "zscope ingest SMF.DUMP --select '115(231),116(10)'\nzscope ingest round-trips.csv",
        )
    if added.num_rows:
        _round_trips(data, added)
    if busy.num_rows:
        _tasks(data, busy, moment)
    _resets(data)
    against_published(data, AREA, "mq")


def _round_trips(data: Data, added: pa.Table) -> None:
    st.subheader("What a cipher adds to a round trip")
    base = alt.Chart(values(added)).encode(
        y=alt.Y("cipher:N", title=None, axis=alt.Axis(labelLimit=300)),
        tooltip=[
            alt.Tooltip("message:N", title="Message"),
            alt.Tooltip("cipher:N", title="Cipher"),
            alt.Tooltip("plain_us:Q", title="Without (µs)", format=",.1f"),
            alt.Tooltip("cipher_us:Q", title="With (µs)", format=",.1f"),
            alt.Tooltip("added_us:Q", title="Added (µs)", format=",.1f"),
            alt.Tooltip("added_pct:Q", title="Added (%)", format=".1f"),
        ],
    )
    sizes = list(dict.fromkeys(added["message"].to_pylist()))
    bars = base.mark_bar().encode(
        x=alt.X("added_pct:Q", title="Added to the round trip (%)"),
        yOffset=alt.YOffset("message:N", sort=sizes),
        color=alt.Color(
            "message:N", title="Message", scale=alt.Scale(domain=sizes, range=_SIZES), sort=sizes
        ),
    )
    there = published_overhead(data)
    ticks = (
        alt.Chart(values(there))
        .mark_tick(color=ORANGE, thickness=3, size=16)
        .encode(
            x="added_pct:Q",
            y=alt.Y("cipher:N", title=None),
            yOffset=alt.YOffset("message:N", sort=sizes),
            tooltip=[
                alt.Tooltip("as_printed:N", title="Published"),
                alt.Tooltip("message:N", title="Message"),
            ],
        )
    )
    words = (
        "What each cipher adds to a round trip in percent, by size of message, with the published figures."
    )
    picture(alt.layer(bars, ticks), added, "mq-overhead", words, sources=["mq_cipher_overhead"])
    st.caption("Orange line: what the published round trips of another machine come to in percent.")
    found = negotiation(data)
    if found.num_rows:
        st.subheader("What negotiating the secret key costs")
        columns = (
            "message", "cipher", "sslrkeyc", "added_us", "messages_per_negotiation", "total_ms",
            "per_negotiation_ms", "published", "conflict",
        )  # fmt: skip
        titles = {
            "total_ms": "All channel pairs (ms)",
            "per_negotiation_ms": "Each pair (ms)",
        }
        config = {name: st.column_config.Column(title) for name, title in titles.items()}
        grid(found, "mq-negotiation", sources=["mq_negotiation_cost"], columns=columns, config=config)
    without_effect(data.without_effect("mq_cipher_overhead"))


def _tasks(data: Data, busy: pa.Table, moment: str) -> None:
    st.subheader("Tasks of the channel initiator")
    chart = (
        alt.Chart(values(busy))
        .mark_line(point=True)
        .encode(
            x=time_axis(moment),
            y=alt.Y("busy_pct:Q", title="Busy (% of the time of the tasks)"),
            color=alt.Color("task_type:N", title="Task", scale=spread_colours(_TASKS)),
            shape=alt.Shape("task_type:N", title="Task", sort=list(_TASKS)),
            tooltip=[
                time_tip(moment),
                alt.Tooltip("task_type:N", title="Task"),
                alt.Tooltip("busy_pct:Q", title="Busy (%)", format=".2f"),
                alt.Tooltip("requests:Q", title="Requests", format=","),
                alt.Tooltip("cpu_us_per_request:Q", title="CPU per request (µs)", format=",.1f"),
            ],
        )
        .properties(height=260)
    )
    picture(chart, busy, "mq-tasks", "How busy the tasks of each kind were, over time.",
            sources=["mq_ssl_task_busy"])  # fmt: skip
    grid(tasks(data), "mq-tasks-all", sources=["mq_ssl_task_busy"], columns=_OF_TASKS)


def _resets(data: Data) -> None:
    if not key_resets(data, USUAL_SSLRKEYC).num_rows:
        return
    st.subheader("Resets of the secret key, estimated from the bytes of each channel")
    sslrkeyc = st.number_input(
        "SSLRKEYC (bytes)", 0, MOST_SSLRKEYC, USUAL_SSLRKEYC, step=32_768, key="mq_sslrkeyc",
        bind="query-params", persist_state="session",
        help="After so many bytes the secret key is negotiated again; 0 is never. No record tells it.",
    )  # fmt: skip
    grid(key_resets(data, sslrkeyc), "mq-resets", sources=["mq_key_resets"], columns=_OF_RESETS)
    st.caption("No record counts them. After a heartbeat there can be more, so this is the least there were.")
