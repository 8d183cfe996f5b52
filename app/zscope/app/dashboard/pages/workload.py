"""Workload: CPU time of address spaces and service classes, and the captured share of all CPU time."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import altair as alt
import pyarrow.compute as pc
import streamlit as st

from zscope.app.dashboard.drawing import no_data, number, plain
from zscope.app.dashboard.figure_cards import Card, draw_figures
from zscope.app.dashboard.over_time import ChartOverTime, LinesBefore, picture_over_time, rows_before
from zscope.app.dashboard.registry import Page
from zscope.app.dashboard.style import BLUE, GREEN, ORANGE, colours, time_axis, time_tip, values
from zscope.app.dashboard.tiles import MetricFigure, tile
from zscope.app.dashboard.time_axis import PIECE, STEPS, in_pieces, period_length
from zscope.schemas.sql_text import literal

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.page_data import PageData

PAGE = Page(title="Workload", icon="workspaces", area="Data", order=30)

CAPTURE = "capture_ratio"
_METRICS = ("address_space_cpu", "service_class_cpu")
FIGURES = (
    (Card("cpu-by-role", 3), Card("address-spaces", 3)),
    (Card("cpu-by-service-class", 3), Card("cpu-by-report-class", 3)),
)
_SOURCES = {"SMF 72": BLUE, "RMF": GREEN, "SMF 30": ORANGE}


def render(data: PageData) -> None:
    """Draw the page."""
    captured = data.metric(CAPTURE, ["system"])
    if not captured.num_rows and not any(_has_rows(data, name) for name in _METRICS):
        no_data(
            "There is no CPU time of address spaces or service classes. It comes from interval records of "
            "address spaces (SMF 30) and of service classes (SMF 72-3), next to SMF 70 or an RMF report.",
            "zscope ingest SMF.DUMP --select '30,70(1),72(3)' --timezone +01:00",
        )
        return
    _capture(data, captured)
    draw_figures(data, FIGURES)
    _over_time(data)


def _has_rows(data: PageData, metric: str) -> bool:
    return bool(data.found(metric, "SELECT 1 AS one FROM found LIMIT 1").num_rows)


def _capture(data: PageData, captured: pa.Table) -> None:
    """How much of the CPU time is accounted for, as one number for each source and system."""
    rows = [row for row in captured.to_pylist() if row["capture_ratio"] is not None]
    if not rows:
        return
    for column, row in zip(st.columns(max(4, len(rows))), rows, strict=False):
        of = f"source = {literal(row['source'])} AND system = {literal(row['system'])}"
        tile(
            column, data, f"Captured, {row['source']}, {plain(row['system'])}",
            number(100 * row["capture_ratio"], 1, "%"),
            MetricFigure(CAPTURE, "100 * capture_ratio", ("system",), of),
            f"{row['captured_s']:,.0f} of {row['cpu_s']:,.0f} CPU seconds of the system.",
        )  # fmt: skip
    st.caption(
        "Captured: the share of the CPU time of the system that address spaces (SMF 30) or service classes "
        "(SMF 72) account for. What is missing is the time of the system itself, or of address spaces "
        "without interval records."
    )


def _over_time(data: PageData) -> None:
    """The capture ratio over time: a fall means that records are missing."""
    # Up to two days, single intervals are distinguishable.
    daily = period_length(data) >= timedelta(days=2)
    column = "day" if daily else "interval_start_utc"
    length = STEPS["day" if daily else "hour_utc"]

    def shares(of: PageData) -> pa.Table:
        known = of.metric(CAPTURE, ["system", column]).filter(pc.field("capture_ratio").is_valid())
        captured = known.append_column("captured_pct", pc.multiply(known["capture_ratio"], 100.0))
        return in_pieces(captured, ("source", "system"), column, length)

    lines = shares(data)
    if lines.num_rows < 2:
        return
    st.header("Captured share over time")
    encodings = {
        "x": time_axis(column),
        "y": alt.Y("captured_pct:Q", title="Captured (%)", scale=alt.Scale(zero=False)),
        "color": alt.Color("source:N", title="Source", scale=colours(_SOURCES)),
        "detail": alt.Detail(f"{PIECE}:N"),
    }
    chart = (
        alt.Chart(values(lines))
        .mark_line(point=True, strokeWidth=1.5)
        .encode(
            **encodings,
            tooltip=[
                time_tip(column), alt.Tooltip("source:N", title="Source"),
                alt.Tooltip("system:N", title="System"),
                alt.Tooltip("captured_pct:Q", title="Captured (%)", format=".1f"),
            ],
        )
        .properties(height=220)
    )  # fmt: skip
    before = rows_before(data, shares, column, daily=daily)
    lines_before = None if before is None else LinesBefore(before, encodings)
    picture_over_time(
        data,
        ChartOverTime(chart, column, lines_before),
        lines.drop_columns([PIECE]),
        "workload-capture",
        "Captured share of the CPU time over time, as lines.",
        sources=[CAPTURE],
    )
