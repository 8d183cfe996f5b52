"""The arithmetic of one published result, from what was loaded to the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from zscope.app.dashboard.looks import BLUE, GREY, ORANGE, values
from zscope.app.dashboard.parts.run_intervals import draw_intervals
from zscope.app.dashboard.queries.benchmark_arithmetic import arithmetic, begins_with, computed_again, part
from zscope.app.dashboard.queries.compare import MEASURES, drawable
from zscope.app.dashboard.show import downloads, grid, picture, plain
from zscope.app.exits import RefusedError

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Data

_SOURCE = ["benchmark_arithmetic"]
_LONG = 1000
_TABLES = {
    "Figures and change": ("figure", "measure", "count", "change", "check", "accepted", "verdict"),
    "Intervals": ("interval",),
    "Sums": ("sum",),
    "Runs": ("run",),
    "Pairs of runs": ("pair",),
}


def show_arithmetic(data: Data, row: dict[str, Any]) -> None:
    """Compute a row once more, and show every step."""
    st.markdown("#### The arithmetic")
    with st.spinner("Computing it again"):
        lines = arithmetic(data, row["id"])
    for rule in part(lines, "rule").to_pylist():
        st.markdown(f"Rule {plain(rule['what'])}: {plain(rule['text'], _LONG)}")
    try:
        same = computed_again(row["id"], lines)
    except RefusedError as error:
        st.error(plain(error.message, _LONG), icon=":material/error:")
    else:
        if same:
            st.success(
                f"Computed again from {begins_with(lines)}: the same ({', '.join(same)}).",
                icon=":material/calculate:",
            )
    _changes(lines)
    _intervals(lines, row)
    tables = {name: part(lines, *parts) for name, parts in _TABLES.items()}
    filled = {name: table for name, table in tables.items() if table.num_rows}
    for tab, (name, table) in zip(st.tabs(list(filled)), filled.items(), strict=True):
        with tab:
            grid(table, f"benchmark-{name.lower().replace(' ', '-')}", sources=_SOURCE)
    st.caption("All lines of the arithmetic, as zscope benchmark --explain has them:")
    downloads(lines, f"benchmark-{row['id']}")


def _changes(lines: pa.Table) -> None:
    """The change on each side with what would agree."""
    found = lines.filter(pc.field("part") == "change")
    if not found.num_rows:
        return
    table = found.select(["role", "value", "low", "high", "text"])
    # A figure that has no side still needs a name on the axis.
    named = table.set_column(0, "role", pc.fill_null(table["role"], "measured"))
    unit = found["unit"][0].as_py()
    base = alt.Chart(values(named)).encode(
        y=alt.Y("role:N", title=None, sort=["client", "server", "both"]),
        tooltip=[
            alt.Tooltip("role:N", title="Side"),
            alt.Tooltip("value:Q", title=f"Measured ({unit})", format="+.2f"),
            alt.Tooltip("low:Q", title=f"From ({unit})", format="+.2f"),
            alt.Tooltip("high:Q", title=f"To ({unit})", format="+.2f"),
            alt.Tooltip("text:N", title="Computed as"),
        ],
    )
    title = f"Measured ({unit}), with its 95 % interval where there is one"
    x = alt.X("value:Q", title=title, scale=alt.Scale(zero=True, nice=True))
    drawn: list[alt.Chart] = [
        alt.Chart(alt.InlineData([{"zero": 0}])).mark_rule(color=GREY).encode(x="zero:Q"),
        base.mark_rule(strokeWidth=2, color=BLUE).encode(x="low:Q", x2="high:Q"),
        base.mark_point(filled=True, size=80, color=BLUE, opacity=1).encode(x=x),
    ]
    words = "Change on each side with its interval."
    for accepted in lines.filter(pc.field("part") == "accepted").to_pylist():
        band = alt.Chart(alt.InlineData([{"from": accepted["low"], "to": accepted["high"]}]))
        drawn.insert(0, band.mark_rect(color=ORANGE, opacity=0.25).encode(x="from:Q", x2="to:Q"))
        words = "Change on each side with its interval, and as a band what agrees with the published figure."
        st.caption("Orange band: what agrees with the published figure.")
    chart = alt.layer(*drawn).properties(height=90 + 30 * table.num_rows)
    picture(chart, table, "benchmark-changes", words, sources=_SOURCE)


def _intervals(lines: pa.Table, row: dict[str, Any]) -> None:
    rows = lines.filter(pc.field("part") == "interval").to_pylist()
    if not rows or row["measure"] not in MEASURES:
        return
    told = [
        {
            "name": line["run"], "system": line["system"], "role": line["role"],
            "interval_start_utc": line["interval_start_utc"], "interval_ms": line["seconds"] * 1000,
            "cpu_s": line["cpu_s"], "ziip_s": None, "transactions": line["transactions"],
            "in_bytes": line["bytes"], "out_bytes": 0, "latency_ms": line["latency_ms"],
            "trimmed": not line["counts"], "why": line["text"],
        }
        for line in rows
    ]  # fmt: skip
    began = {
        name: min(line["interval_start_utc"] for line in rows if line["run"] == name)
        for name in {line["run"] for line in rows}
    }
    st.caption("The intervals of both runs. Those that are left out, such as ramps, have another shape.")
    draw_intervals(drawable(told, began), row["measure"], (row["baseline_run"], row["candidate_run"]),
                   "benchmark-run-intervals")  # fmt: skip
