"""What the data do not cover: for each source of each system, how much is missing and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import streamlit as st

from zscope.app.dashboard.drawing import clean, grid, no_data
from zscope.app.figures.figure_declarations import declared_figures
from zscope.app.figures.figure_rows import figure_rows
from zscope.app.shared.covered_days import METRIC, covered_systems

if TYPE_CHECKING:
    from zscope.app.dashboard.page_data import PageData
    from zscope.app.shared.covered_days import CoveredSystem


def coverage_section(data: PageData) -> None:
    """Draw what is missing of each source, of one system or all."""
    st.header("What is missing")
    figure = declared_figures()["coverage"]
    found = covered_systems(figure_rows(data, figure, {}).rows)
    if not found:
        no_data(figure.needs, figure.load)
        return
    system: str | None = st.selectbox(
        "System", [each.system for each in found], index=None, placeholder="all", format_func=clean,
        key="quality_system", bind="query-params", persist_state="session", width=220,
    )  # fmt: skip
    chosen = [each for each in found if system in {None, each.system}]
    grid(_sentences(chosen), "covered-sources", sources=[METRIC], config={
        "system": st.column_config.TextColumn("System", width=70),
        "source": st.column_config.TextColumn("Source", width=90),
        "missing": st.column_config.TextColumn("What is missing, and why", width="large"),
    })  # fmt: skip


def _sentences(found: list[CoveredSystem]) -> pa.Table:
    """What is missing of each source; the sources that a system did not record are one row."""
    rows: list[dict[str, object]] = []
    for system in found:
        of_system = {"system": system.system}
        rows += [
            of_system
            | {
                "source": each.source,
                "covered_pct": each.covered_pct,
                "covered_hours": sum(row["covered_hours"] for row in each.rows),
                "hours": sum(row["hours"] for row in each.rows),
                "missing": each.sentence,
            }
            for each in system.recorded
        ]
        if system.absent:
            absent = ", ".join(system.absent)
            rows.append(of_system | {"source": absent, "covered_pct": 0.0, "missing": "Not recorded."})
    return pa.Table.from_pylist(rows)
