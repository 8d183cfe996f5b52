"""The intervals of benchmark runs over time: the measures of each, and which intervals are used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import pyarrow as pa
import streamlit as st

from zscope.app.dashboard.amounts import amount_axis, amount_tip, with_amounts
from zscope.app.dashboard.drawing import picture, plain
from zscope.app.dashboard.style import BLUE, GREY, ORANGE, time_tip, values
from zscope.pipelines.runs import read_runs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from zscope.app.dashboard.page_data import PageData

MEASURES = {
    "cpu_per_tran": "CPU per transaction",
    "ziip_per_tran": "zIIP time per transaction",
    "transaction_rate": "Transactions per second",
    "latency": "Latency",
    "throughput": "Throughput",
}
UNITS = {
    "cpu_per_tran": "us", "ziip_per_tran": "us", "transaction_rate": "", "latency": "ms",
    "throughput": "bytes/s",
}  # fmt: skip
RUN_COMMANDS = """\
zscope runs propose
zscope runs add NAME --system SYSTEM --role client --from TIME --to TIME --tag KEY=VALUE"""
"""How benchmark runs are named."""
_LONG = 400


def warn_about_unusable_runs(data: PageData) -> None:
    """Draw a warning if runs in the file of runs cannot be used."""
    file = read_runs(data.queries.store)
    problems = [problem for problem in file.problems if not problem.warning]
    if problems:
        more = f"; {file.left_out} runs are not used, see zscope runs" if file.left_out > 1 else ""
        st.warning(plain(f"A run is not used: {problems[0]}{more}", _LONG), icon=":material/rule:")


def interval_table(rows: list[dict[str, Any]], starts: Mapping[str, datetime]) -> pa.Table:
    """Return intervals with their measures and the minutes since their run started.

    `starts` is the start of each run by name.
    """
    lines = [
        {
            "run": row["name"],
            "side": f"{row['role']} {row['system']}",
            "role": row["role"],
            "interval_start_utc": row["interval_start_utc"],
            "minutes": (row["interval_start_utc"] - starts[row["name"]]).total_seconds() / 60,
            "used": "left out" if row["trimmed"] else "used",
            "why": row["why"],
            "seconds": row["interval_ms"] / 1000,
            "cpu_s": row["cpu_s"],
            "transactions": row["transactions"],
            "cpu_per_tran": _ratio(row["cpu_s"], row["transactions"], 1e6),
            "ziip_per_tran": _ratio(row["ziip_s"], row["transactions"], 1e6),
            "transaction_rate": _ratio(row["transactions"], row["interval_ms"], 1e3),
            "latency": row["latency_ms"],
            "throughput": _ratio(_sum(row["in_bytes"], row["out_bytes"]), row["interval_ms"], 1e3),
        }
        for row in rows
    ]
    text = ("run", "side", "role", "used", "why")
    kinds = {name: pa.string() for name in text} | {"interval_start_utc": pa.timestamp("us", "UTC")}
    names = (
        "run", "side", "role", "interval_start_utc", "minutes", "used", "why", "seconds", "cpu_s",
        "transactions", *MEASURES,
    )  # fmt: skip
    return pa.table(
        {name: pa.array([line[name] for line in lines], kinds.get(name, pa.float64())) for name in names}
    )


def _ratio(above: float | None, below: float | None, times: float) -> float | None:
    return times * above / below if above is not None and below else None


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


def draw_intervals(table: pa.Table, measure: str, runs: Sequence[str], name: str) -> None:
    """Draw one measure of all intervals; `runs` are the names of the baseline and the candidate."""
    shown = table.select(["run", "side", "interval_start_utc", "minutes", "used", "why", measure])
    if shown[measure].null_count == shown.num_rows:
        st.caption(f"No interval of these runs has a value for: {MEASURES[measure]}.")
        return
    base = alt.Chart(values(with_amounts(shown, **{measure: UNITS[measure]}))).encode(
        x=alt.X("minutes:Q", title="Minutes since the start of the run"),
        y=alt.Y(
            f"{measure}:Q",
            title=MEASURES[measure],
            scale=alt.Scale(zero=False),
            axis=amount_axis(UNITS[measure]),
        ),
        color=alt.Color("run:N", title="Run", scale=alt.Scale(domain=list(runs), range=[BLUE, ORANGE])),
    )
    lines = base.mark_line(opacity=0.5).encode(strokeDash=alt.StrokeDash("side:N", title="Side"))
    # The default colour of the legend is black, which is invisible on a dark background.
    legend = alt.Legend(symbolFillColor=GREY, symbolStrokeColor=GREY)
    points = base.mark_point(filled=True, opacity=1).encode(
        shape=alt.Shape(
            "used:N", title="Interval",
            scale=alt.Scale(domain=["used", "left out"], range=["circle", "cross"]), legend=legend,
        ),
        size=alt.Size(
            "used:N", title="Interval", scale=alt.Scale(domain=["used", "left out"], range=[40, 160]),
            sort=["used", "left out"], legend=legend,
        ),
        detail=alt.Detail("side:N"),
        tooltip=[
            alt.Tooltip("run:N", title="Run"),
            alt.Tooltip("side:N", title="Side"),
            time_tip("interval_start_utc", "Start (UTC)"),
            amount_tip(measure, MEASURES[measure]),
            alt.Tooltip("used:N", title="Interval"),
            alt.Tooltip("why:N", title="Why"),
        ],
    )  # fmt: skip
    chart = alt.layer(lines, points, height=280)
    words = f"{MEASURES[measure]} of each interval of the two runs, by minutes since the start of its run."
    picture(chart, table, name, words, sources=["run_interval"])
