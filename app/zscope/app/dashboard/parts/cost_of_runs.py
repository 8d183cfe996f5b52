"""CPU per transaction of benchmark runs, with their 95 % intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import pyarrow.compute as pc
import streamlit as st

from zscope.app.dashboard.looks import BLUE, GREY, ORANGE, colours, values
from zscope.app.dashboard.queries.cpu_per_transaction import RUNS, has_runs, of_runs
from zscope.app.dashboard.show import clean, grid, nothing, picture, synthetic_badge, without_effect

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.answers import Data
    from zscope.app.dashboard.looks import Chart

_SIDES = {"client": BLUE, "server": ORANGE, "both": GREY}
_UNKNOWN = "not told"
_COLUMNS = (
    "name", "role", "value", "low", "high", "intervals", "trimmed", "counted_by", "systems", "workload",
    "status", "why", "synthetic",
)  # fmt: skip


def runs_section(data: Data) -> None:
    """Each run and side: a dot with its interval."""
    st.subheader("By benchmark run")
    if not has_runs(data):
        nothing("No benchmark runs: name when they ran, and they are measured from the data.",
                "zscope runs propose")  # fmt: skip
        return
    every = of_runs(data, "cpu_per_tran")
    if not every.num_rows:
        st.info("No run began in the period that was chosen.", icon=":material/inbox:")
        return
    if pc.any(every["synthetic"]).as_py():
        synthetic_badge()
    kinds = sorted({kind or _UNKNOWN for kind in every["workload_kind"].to_pylist()})
    kind = kinds[0]
    if len(kinds) > 1:
        kind = st.segmented_control(
            "Workload", kinds, default=kinds[0], required=True, key="cpu_per_transaction_workload",
            bind="query-params", persist_state="session", format_func=clean,
        )  # fmt: skip
    found = every.filter(pc.equal(pc.fill_null(every["workload_kind"], _UNKNOWN), kind))
    measured = found.filter(pc.field("value").is_valid())
    if measured.num_rows:
        picture(_dots(measured), measured, "cpu-per-transaction-runs",
                "CPU time per transaction of each run and side, as a dot with its 95 % interval.",
                sources=[RUNS])  # fmt: skip
    told_by = sorted({clean(way) for way in measured["counted_by"].to_pylist() if way})
    st.caption(
        f"Transactions were counted by {', '.join(told_by) or 'nothing'}. The bar is the 95 % interval: how "
        "far the intervals of this run vary, not how far another run on another day would. Both is client "
        "plus server. Published results stand beside the runs on the page Benchmark."
    )
    without_effect(data.without_effect(RUNS))
    missing = found.filter(pc.field("value").is_null())
    if missing.num_rows:
        st.markdown(f"**Without a result** ({missing.num_rows})")
        grid(missing, "cpu-per-transaction-runs-missing", sources=[RUNS], columns=_COLUMNS)


def _dots(measured: pa.Table) -> Chart:
    base = alt.Chart(values(measured)).encode(
        y=alt.Y("name:N", title="Run", sort=alt.EncodingSortField("value", op="max"),
                axis=alt.Axis(labelLimit=260, labelOverlap=False)),
        color=alt.Color("role:N", title="Side", scale=colours(_SIDES), legend=alt.Legend(orient="top")),
        tooltip=[
            alt.Tooltip("name:N", title="Run"), alt.Tooltip("role:N", title="Side"),
            alt.Tooltip("value:Q", title="CPU per transaction (µs)", format=",.1f"),
            alt.Tooltip("low:Q", title="Low, 95 %", format=",.1f"),
            alt.Tooltip("high:Q", title="High, 95 %", format=",.1f"),
            alt.Tooltip("intervals:Q", title="Intervals"), alt.Tooltip("counted_by:N", title="Counted by"),
            alt.Tooltip("systems:N", title="Systems"), alt.Tooltip("workload:N", title="Workload"),
            alt.Tooltip("synthetic:N", title="Synthetic"),
        ],
    )  # fmt: skip
    scale = alt.Scale(type="log", nice=False, padding=12)
    intervals = base.mark_rule(strokeWidth=6, opacity=0.4).encode(
        x=alt.X("low:Q", title="CPU per transaction (µs, logarithmic)", scale=scale), x2="high:Q"
    )
    dots = base.mark_point(filled=True, size=30, opacity=1).encode(
        x=alt.X("value:Q", scale=scale),
        shape=alt.Shape("role:N", title="Side", scale=alt.Scale(domain=list(_SIDES))),
    )
    return alt.layer(intervals, dots).properties(height=alt.Step(20))
