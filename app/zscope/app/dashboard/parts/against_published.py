"""The published results of one product beside what was measured here, and the conflicts of the source."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import streamlit as st

from zscope.app.dashboard.parts.benchmark_picture import KEY, against_measured
from zscope.app.dashboard.queries.benchmark import Row, panels, results
from zscope.app.dashboard.show import grid, picture, plain, synthetic_badge

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Data

_LISTED = ("id", "as_printed", "measured", "verdict", "why", "conflict")
_LONG = 400


def against_published(data: Data, area: str, slug: str) -> None:
    """Draw every published result of an area with what was measured, and list conflicts of the source."""
    rows = [row for row in results(data).to_pylist() if row["area"] == area]
    st.subheader("Against what was published")
    measured = [row for row in rows if row["measured"]]
    with st.container(horizontal=True, vertical_alignment="center"):
        if any(row["synthetic"] for row in measured):
            synthetic_badge()
        st.caption(f"{len(measured)} of {len(rows)} published results have a measurement here. {KEY}")
    for number, panel in enumerate(panels(rows)):
        words = f"{panel.title} of each result: published and measured. The verdicts are in the data below."
        picture(
            against_measured(panel), panel.rows, f"{slug}-published-{number}", words, sources=["benchmark"]
        )
    _all_rows(rows, slug)
    _conflicts(rows)


def _all_rows(rows: list[Row], slug: str) -> None:
    table = pa.table({name: pa.array([row[name] for row in rows], pa.string()) for name in _LISTED})
    grid(table, f"{slug}-published-rows", sources=["benchmark"])


def _conflicts(rows: list[Row]) -> None:
    told = [row for row in rows if row["conflict"]]
    if not told:
        return
    lines = (
        f"- {plain(row['id'])} ({plain(row['as_printed'])}): {plain(row['conflict'], _LONG)}" for row in told
    )
    with st.expander(f"Where the source contradicts itself ({len(told)})", icon=":material/warning:"):
        st.markdown("\n".join(lines))
