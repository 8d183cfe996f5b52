"""Workload: CPU time of address spaces and service classes, and the captured share of all CPU time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from zscope.app.dashboard.drawing import no_data, number, plain
from zscope.app.dashboard.figure_cards import Card, draw_figures
from zscope.app.dashboard.registry import Page
from zscope.app.dashboard.tiles import MetricFigure, tile
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
    (Card("captured-over-time"),),
)


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
