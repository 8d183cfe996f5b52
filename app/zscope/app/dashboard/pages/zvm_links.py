"""z/VM links: CPU per transaction of an RSCS link in the SSL, TCPIP and RSCS virtual machines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import pyarrow.compute as pc
import streamlit as st

from zscope.app.dashboard.drawing import clean, grid, no_data, picture
from zscope.app.dashboard.published import published_section
from zscope.app.dashboard.registry import Needed, Page
from zscope.app.dashboard.style import spread_colours, values

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.page_data import PageData

PAGE = Page(
    title="z/VM links", icon="link", area="Benchmark", order=50, filtered=False,
    needs=Needed(tables=("zvm_user", "zvm_channel"), brought_by="FCX112 and FCX215 of Performance Toolkit"),
)  # fmt: skip


AREA = "z/VM RSCS"
COMBINED = "combined"
SERVERS = ("SSL", "TCPIP", "RSCS")


def cost(data: PageData) -> pa.Table:
    """Return CPU per transaction of each server and of all servers combined, by run."""
    return data.metric("zvm_cpu_per_tx")


def comparison(data: PageData) -> pa.Table:
    """Return every run compared with every other, from values rounded like the published tables."""
    return data.metric("zvm_comparison")


_OF_COMPARISON = ("measure", "unit", "baseline", "candidate", "delta", "pct", "shared")
"""The runs themselves are chosen above the table."""


def render(data: PageData) -> None:
    """Draw the page."""
    costs = cost(data)
    if costs.num_rows:
        _cost(costs)
        _comparison(comparison(data))
    else:
        no_data(
            "There are no z/VM links. They need the reports FCX112 (CPU time of virtual machines) and FCX215 "
            "(bytes of channel paths) of Performance Toolkit, or the two equivalent CSV files, of the same "
            "period.",
            "zscope ingest --run case-1 fcx112.txt fcx215.txt",
        )
    published_section(data, AREA, "zvm")


def _cost(costs: pa.Table) -> None:
    st.header("CPU per transaction")
    servers = costs.filter(pc.field("server") != COMBINED)
    chart = (
        alt.Chart(values(servers))
        .mark_bar()
        .encode(
            x=alt.X("cpu_per_tx:Q", title="CPU/tx (percent of an engine for a transaction per second)"),
            y=alt.Y("run:N", title=None, sort=None, axis=alt.Axis(labelLimit=260)),
            color=alt.Color("server:N", title="Server", scale=spread_colours(SERVERS)),
            order=alt.Order("server:O"),
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
    picture(chart, costs, "zvm-cost", "CPU per transaction of each server, stacked, for each run.",
            sources=["zvm_cpu_per_tx"])  # fmt: skip
    st.caption(
        "Transactions are the bytes of the channel path divided by a scaling constant that is not published: "
        "values can be compared only with the same constant. CPU as percent of one engine is derived from "
        "the "
        "published tables and not confirmed."
    )
    shared = costs.filter(pc.field("shared"))["run"].to_pylist()
    if shared:
        runs = ", ".join(clean(run) for run in dict.fromkeys(shared))
        st.text(f"Runs on a channel path shared with other partitions, whose bytes count as well: {runs}")


def _comparison(comparisons: pa.Table) -> None:
    if not comparisons.num_rows:
        return
    st.header("Comparison of two runs")
    runs = list(dict.fromkeys(comparisons["baseline_run"].to_pylist()))
    with st.container(horizontal=True):
        baseline = st.selectbox("From", runs, key="zvm_from", bind="query-params", persist_state="session",
                                format_func=clean)  # fmt: skip
        others = [run for run in runs if run != baseline]
        candidate = st.selectbox("To", others, key="zvm_to", bind="query-params", persist_state="session",
                                 format_func=clean)  # fmt: skip
    chosen = comparisons.filter(
        (pc.field("baseline_run") == baseline) & (pc.field("candidate_run") == candidate)
    )
    config = {"pct": st.column_config.NumberColumn("Change (%)", format="%.1f")}
    grid(chosen, "zvm-comparison", sources=["zvm_comparison"], columns=_OF_COMPARISON, config=config)
