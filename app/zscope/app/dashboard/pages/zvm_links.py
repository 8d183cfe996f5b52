"""z/VM links: what a transaction of an RSCS link costs in the SSL, TCPIP and RSCS machines, case by case."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import pyarrow.compute as pc
import streamlit as st

from zscope.app.dashboard.looks import spread_colours, values
from zscope.app.dashboard.parts.against_published import against_published
from zscope.app.dashboard.queries.zvm import AREA, SERVERS, by_server, comparison, cost
from zscope.app.dashboard.show import clean, grid, nothing, picture

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.answers import Data


_OF_COMPARISON = ("measure", "unit", "baseline", "candidate", "delta", "pct", "shared")
"""The runs are chosen above the table."""


def render(data: Data) -> None:
    """Draw the page."""
    found = cost(data)
    if found.num_rows:
        _cost(found)
        _comparison(comparison(data))
    else:
        nothing(
            "No link of z/VM: it takes the reports FCX112 (CPU time of virtual machines) and FCX215 (bytes of"
            " channel paths) of Performance Toolkit, or the two CSVs in their place, of one period each.",
            "zscope ingest --run case-1 fcx112.txt fcx215.txt",
        )
    against_published(data, AREA, "zvm")


def _cost(found: pa.Table) -> None:
    st.subheader("CPU per transaction")
    servers = by_server(found)
    chart = (
        alt.Chart(values(servers))
        .mark_bar()
        .encode(
            x=alt.X("cpu_per_tx:Q", title="CPU/tx (percent of an engine for a transaction per second)"),
            y=alt.Y("run:N", title=None, sort=None, axis=alt.Axis(labelLimit=260)),
            color=alt.Color("server:N", title="Server", scale=spread_colours(SERVERS)),
            order=alt.Order("server:N"),
            tooltip=[
                alt.Tooltip("run:N", title="Run"),
                alt.Tooltip("server:N", title="Server"),
                alt.Tooltip("cpu_per_tx:Q", title="CPU/tx", format=".4f"),
                alt.Tooltip("busy_pct:Q", title="Busy (%)", format=".2f"),
                alt.Tooltip("etr:Q", title="ETR", format=",.1f"),
            ],
        )
        .properties(height=60 + 34 * len(set(servers["run"].to_pylist())))
    )
    picture(chart, found, "zvm-cost", "CPU per transaction of each server, stacked, for each run.",
            sources=["zvm_cpu_per_tx"])  # fmt: skip
    st.caption(
        "Transactions are bytes of the channel path over a scaling constant that is not published: values"
        " compare only where it is the same. That CPU is percent of one engine follows from the published"
        " tables and is not confirmed."
    )
    shared = found.filter(pc.field("shared"))["run"].to_pylist()
    if shared:
        runs = ", ".join(clean(run) for run in dict.fromkeys(shared))
        st.text(f"The channel path is shared with other partitions, whose bytes count as well: {runs}")


def _comparison(found: pa.Table) -> None:
    if not found.num_rows:
        return
    st.subheader("One run against another")
    runs = list(dict.fromkeys(found["baseline_run"].to_pylist()))
    with st.container(horizontal=True):
        baseline = st.selectbox("From", runs, key="zvm_from", bind="query-params", persist_state="session",
                                format_func=clean)  # fmt: skip
        others = [run for run in runs if run != baseline]
        candidate = st.selectbox("To", others, key="zvm_to", bind="query-params", persist_state="session",
                                 format_func=clean)  # fmt: skip
    chosen = found.filter((pc.field("baseline_run") == baseline) & (pc.field("candidate_run") == candidate))
    config = {"pct": st.column_config.NumberColumn("Change (%)", format="%.1f")}
    grid(chosen, "zvm-comparison", sources=["zvm_comparison"], columns=_OF_COMPARISON, config=config)
