"""The section about handshakes that failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import streamlit as st

from zscope.app.dashboard.looks import RED, values
from zscope.app.dashboard.show import picture

if TYPE_CHECKING:
    import pyarrow as pa

_MOST = 15


def failed_by_port(table: pa.Table) -> None:
    """Handshakes that failed, which are in no share above."""
    st.subheader("Failed handshakes")
    if not table.num_rows:
        st.caption(
            "This source tells of none. They are in zERT records since z/OS 3.2 and in those of AT-TLS."
        )
        return
    shown = table.slice(0, _MOST)
    chart = (
        alt.Chart(values(shown))
        .mark_bar(color=RED)
        .encode(
            x=alt.X(
                "failed_handshakes:Q", title="Failed handshakes", axis=alt.Axis(tickMinStep=1, format=",d")
            ),
            y=alt.Y("server_port:N", title="Port", sort="-x"),
            tooltip=[
                alt.Tooltip("server_port:N", title="Port"),
                alt.Tooltip("failed_handshakes:Q", title="Failed handshakes", format=","),
                alt.Tooltip("connections:Q", title="Connections that were made", format=","),
            ],
        )
        .properties(height=alt.Step(22))
    )
    picture(chart, table, "failed-by-port", "Failed handshakes at each port, as bars.",
            sources=["protocol_distribution"])  # fmt: skip
