"""MQ channels: cost of ciphers and key negotiations in round trips, busy times of tasks, key resets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from zscope.app.dashboard.amounts import amount_tip, with_amounts
from zscope.app.dashboard.drawing import grid, no_data, picture, without_effect
from zscope.app.dashboard.over_time import ChartOverTime, LinesBefore, picture_over_time, rows_before
from zscope.app.dashboard.page_data import MOST_ROWS
from zscope.app.dashboard.published import published_section
from zscope.app.dashboard.registry import Needed, Page
from zscope.app.dashboard.style import (
    BLUE,
    GREEN,
    PUBLISHED,
    PURPLE,
    SKY,
    spread_colours,
    time_axis,
    time_tip,
    values,
)
from zscope.app.dashboard.time_axis import PIECE, STEPS, in_pieces

if TYPE_CHECKING:
    from zscope.app.dashboard.page_data import PageData

PAGE = Page(
    title="MQ channels", icon="sync_alt", area="Benchmark", order=40,
    needs=Needed(
        tables=("mq_channel", "mq_channel_initiator", "mq_task", "mq_round_trip"),
        brought_by="SMF 115-231 and 116-10, or measured round trips",
    ),
)  # fmt: skip


AREA = "MQ"
USUAL_SSLRKEYC = 1_048_576
MOST_SSLRKEYC = 999_999_999
"""The largest value of a queue manager."""
_MOST_POINTS = 4_000
"""Limit of the points in a chart."""


def overhead(data: PageData) -> pa.Table:
    """Return the time that each cipher adds to a round trip, by message size."""
    return data.metric("mq_cipher_overhead")


def negotiation(data: PageData) -> pa.Table:
    """Return the time of one negotiation of the secret key, by message size and cipher."""
    return data.metric("mq_negotiation_cost")


def published_overhead(data: PageData) -> pa.Table:
    """Return the published round trips with a cipher, in percent of those without: message, cipher, pct."""
    return data.rows("""
        SELECT
            substr([t FOR t IN condition_tags IF starts_with(t, 'message=')][1], 9) AS message,
            substr([t FOR t IN candidate_tags IF starts_with(t, 'cipher=')][1], 8) AS cipher,
            100 * (candidate_value / baseline_value - 1) AS added_pct,
            id, as_printed
        FROM reference_result
        WHERE area = 'MQ' AND metric = 'round_trip' AND baseline_value > 0 AND candidate_value IS NOT NULL
        ORDER BY id
    """)


def tasks_over_time(data: PageData) -> tuple[str, pa.Table]:
    """Return the time column, and how busy the tasks of each kind were by interval; by day if too many."""
    column, table = "day", data.metric("mq_ssl_task_busy", ["day", "task_type"])
    # Each interval has at least one task of a kind.
    if (pc.sum(table["tasks"]).as_py() or 0) <= MOST_ROWS:
        by_interval = data.metric("mq_ssl_task_busy", ["interval_end_utc", "task_type"])
        if by_interval.num_rows <= _MOST_POINTS:
            column, table = "interval_end_utc", by_interval
    return column, table.sort_by([(column, "ascending"), ("task_type", "ascending")])


def tasks(data: PageData) -> pa.Table:
    """Return the tasks of each kind over all intervals."""
    return data.metric("mq_ssl_task_busy", ["system", "queue_manager", "task_type"])


def key_resets(data: PageData, sslrkeyc: int) -> pa.Table:
    """Return the key resets of each channel, estimated from its bytes and a value of SSLRKEYC."""
    return data.metric("mq_key_resets", settings=[f"SET VARIABLE mq_sslrkeyc = {int(sslrkeyc)}"])


_SIZES = (BLUE, SKY, PURPLE, GREEN)
"""Colours of the message sizes; orange is for published results."""
_TASKS = ("dispatcher", "adapter", "SSL", "DNS")
_OF_TASKS = (
    "system", "queue_manager", "task_type", "tasks", "requests", "busy_pct", "cpu_pct", "cpu_us_per_request",
    "elapsed_us_per_request", "off_cpu_us_per_request", "longest_us", "not_adding_up",
)  # fmt: skip
_OF_RESETS = (
    "system", "queue_manager", "channel_name", "connection_name", "channel_end", "cipher", "messages",
    "channel_bytes", "bytes_per_message", "estimated_resets",
)  # fmt: skip
"""The most important columns; the downloads contain all."""


def render(data: PageData) -> None:
    """Draw the page."""
    added, (moment, busy) = overhead(data), tasks_over_time(data)
    if not added.num_rows and not busy.num_rows:
        no_data(
            "There is no data about MQ channels. It comes from SMF 115 subtype 231 and 116 subtype 10, from "
            "the CSV or JSON of the public formatter of these records, and from a CSV file of measured round "
            "trips.",
            "zscope ingest SMF.DUMP --select '115(231),116(10)'\nzscope ingest round-trips.csv",
        )
    if added.num_rows:
        _round_trips(data, added)
    if busy.num_rows:
        _tasks(data, busy, moment)
    _resets(data)
    published_section(data, AREA, "mq")


def _round_trips(data: PageData, added: pa.Table) -> None:
    st.header("Time added to a round trip by a cipher")
    times = with_amounts(added, plain_us="us", cipher_us="us", added_us="us")
    base = alt.Chart(values(times)).encode(
        y=alt.Y("cipher:N", title=None, axis=alt.Axis(labelLimit=300)),
        tooltip=[
            alt.Tooltip("message:N", title="Message"),
            alt.Tooltip("cipher:N", title="Cipher"),
            amount_tip("plain_us", "Without cipher"),
            amount_tip("cipher_us", "With cipher"),
            amount_tip("added_us", "Added"),
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
    ticks = (
        alt.Chart(values(published_overhead(data)))
        .mark_tick(color=PUBLISHED, thickness=3, size=16)
        .encode(
            x=alt.X("added_pct:Q"),
            y=alt.Y("cipher:N", title=None),
            yOffset=alt.YOffset("message:N", sort=sizes),
            tooltip=[
                alt.Tooltip("as_printed:N", title="Published"),
                alt.Tooltip("message:N", title="Message"),
            ],
        )
    )
    words = "Time that each cipher adds to a round trip in percent, by message size, with published results."
    picture(alt.layer(bars, ticks), added, "mq-overhead", words, sources=["mq_cipher_overhead"])
    st.caption("Orange line: published round trips of another machine, in percent.")
    negotiations = negotiation(data)
    if negotiations.num_rows:
        st.header("Cost of negotiating the secret key")
        columns = (
            "message", "cipher", "sslrkeyc", "added_us", "messages_per_negotiation", "total_us",
            "per_negotiation_us", "published", "conflict",
        )  # fmt: skip
        grid(negotiations, "mq-negotiation", sources=["mq_negotiation_cost"], columns=columns)
    without_effect(data.without_effect("mq_cipher_overhead"))


def _tasks(data: PageData, busy: pa.Table, moment: str) -> None:
    st.header("Tasks of the channel initiator")
    # Lines are interrupted at days without data.
    pieces = in_pieces(with_amounts(busy, cpu_us_per_request="us"), ("task_type",), moment, STEPS["day"])
    encodings = {
        "x": time_axis(moment),
        "y": alt.Y("busy_pct:Q", title="Busy (% of the time of the tasks)"),
        "color": alt.Color("task_type:N", title="Task", scale=spread_colours(_TASKS)),
        "detail": alt.Detail(f"{PIECE}:N"),
    }
    chart = (
        alt.Chart(values(pieces))
        .mark_line(point=True)
        .encode(
            **encodings,
            shape=alt.Shape("task_type:N", title="Task", sort=list(_TASKS)),
            tooltip=[
                time_tip(moment),
                alt.Tooltip("task_type:N", title="Task"),
                alt.Tooltip("busy_pct:Q", title="Busy (%)", format=".2f"),
                alt.Tooltip("requests:Q", title="Requests", format=","),
                amount_tip("cpu_us_per_request", "CPU per request"),
            ],
        )
        .properties(height=260)
    )

    def earlier(of: PageData) -> pa.Table:
        column, rows = tasks_over_time(of)
        # Few intervals can be rows of intervals while the days of the period are rows of days.
        return in_pieces(rows, ("task_type",), moment, STEPS["day"]) if column == moment else rows.slice(0, 0)

    before = rows_before(data, earlier, moment, daily=moment == "day")
    lines_before = None if before is None else LinesBefore(before, encodings)
    picture_over_time(
        data,
        ChartOverTime(chart, moment, lines_before),
        busy,
        "mq-tasks",
        "How busy the tasks of each kind were, over time.",
        sources=["mq_ssl_task_busy"],
    )
    grid(tasks(data), "mq-tasks-all", sources=["mq_ssl_task_busy"], columns=_OF_TASKS)


def _resets(data: PageData) -> None:
    if not key_resets(data, USUAL_SSLRKEYC).num_rows:
        return
    st.header("Key resets, estimated from the bytes of each channel")
    sslrkeyc = st.number_input(
        "SSLRKEYC (bytes)", 0, MOST_SSLRKEYC, USUAL_SSLRKEYC, step=32_768, key="mq_sslrkeyc",
        bind="query-params", persist_state="session",
        help="Bytes after which the secret key is negotiated again; 0 means never. No record has it.",
    )  # fmt: skip
    grid(key_resets(data, sslrkeyc), "mq-resets", sources=["mq_key_resets"], columns=_OF_RESETS)
    st.caption("No record counts key resets. A heartbeat can cause more resets, so this is a lower bound.")
