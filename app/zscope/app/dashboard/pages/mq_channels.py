"""MQ channels: cost of ciphers and key negotiations in round trips, busy times of tasks, key resets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from zscope.app.dashboard.drawing import grid
from zscope.app.dashboard.figure_cards import Card, draw_figures
from zscope.app.dashboard.pages.benchmark.benchmark_page import open_result
from zscope.app.dashboard.registry import Needed, Page

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.page_data import PageData

PAGE = Page(
    title="MQ channels", icon="sync_alt", area="Benchmark", order=40,
    needs=Needed(
        tables=("mq_channel", "mq_channel_initiator", "mq_task", "mq_round_trip"),
        brought_by="SMF 115-231 and 116-10, or measured round trips",
    ),
)  # fmt: skip

FIGURES = (
    (Card("mq-overhead"), Card("results-mq", pick=open_result)),
    (Card("mq-ssl-tasks-over-time"), Card("mq-dispatchers-over-time")),
    (Card("mq-tasks"), Card("mq-negotiations")),
    (Card("conflicts", where="area = 'MQ'"),),
)
USUAL_SSLRKEYC = 1_048_576
MOST_SSLRKEYC = 999_999_999
"""The largest value of a queue manager."""
_OF_RESETS = (
    "system", "queue_manager", "channel_name", "connection_name", "channel_end", "cipher", "messages",
    "channel_bytes", "bytes_per_message", "estimated_resets",
)  # fmt: skip
"""The most important columns; the downloads contain all."""


def key_resets(data: PageData, sslrkeyc: int) -> pa.Table:
    """Return the key resets of each channel, estimated from its bytes and a value of SSLRKEYC."""
    return data.metric("mq_key_resets", settings=[f"SET VARIABLE mq_sslrkeyc = {int(sslrkeyc)}"])


def render(data: PageData) -> None:
    """Draw the page."""
    draw_figures(data, FIGURES)
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
