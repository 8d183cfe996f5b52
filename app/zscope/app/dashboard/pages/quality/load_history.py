"""Loads: their history, and the contents of one load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from zscope.app.dashboard.drawing import grid, plain, selectable_grid
from zscope.app.dashboard.figure_cards import Card, draw_figures

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.page_data import PageData


MOST = 2000
_PARTS = 500
_FIGURES = ((Card("rows-by-day"),),)


@dataclass(frozen=True, slots=True)
class LoadTotals:
    """All loads in the store together."""

    loads: int
    rows: int
    mb: float
    issues: int
    gaps: int


TOTALS = """
    SELECT count(*) AS loads, coalesce(sum(rows), 0)::BIGINT AS rows,
        coalesce(sum(content_bytes) / 1e6, 0)::DOUBLE AS mb,
        coalesce(sum(issues), 0)::BIGINT AS issues, coalesce(sum(gaps), 0)::BIGINT AS gaps
    FROM load WHERE status IN ('loaded', 'incomplete')
"""
"""The totals of the loads in the store."""


def totals(data: PageData) -> LoadTotals:
    """Return the totals of the loads in the store; removed and replaced loads do not count."""
    [row] = data.rows(TOTALS).to_pylist()
    return LoadTotals(**row)


def history(data: PageData) -> pa.Table:
    """Return the newest loads, including removed ones."""
    return data.rows(f"""
        SELECT load_id, status, regexp_extract(file, '[^/\\\\]*$') AS name, kind, started_utc, seconds,
            content_bytes / 1e6 AS content_mb, mb_per_second, records, rows, duplicates, issues, gaps,
            first_local, last_local, selection, packing, form, file, zscope_version
        FROM load ORDER BY load_id DESC LIMIT {MOST}
    """)


def kinds(data: PageData, load_id: int) -> pa.Table:
    """Return the kinds of records or reports in the file of a load, decoded or not."""
    return data.rows(
        f"SELECT * EXCLUDE (load_id) FROM load_kind WHERE load_id = ? ORDER BY ALL LIMIT {_PARTS}", [load_id]
    )


def tables(data: PageData, load_id: int) -> pa.Table:
    """Return the tables that have rows from a load."""
    return data.rows(
        f"SELECT * EXCLUDE (load_id) FROM load_table WHERE load_id = ? ORDER BY table_name LIMIT {_PARTS}",
        [load_id],
    )


def loads_section(data: PageData) -> None:
    """Draw the rows of the loads by day, the history, and the contents of one load."""
    table = history(data)
    if not table.num_rows:
        st.caption("There are no loads yet.")
        return
    draw_figures(data, _FIGURES)
    st.header("History")
    if table.num_rows == MOST:
        st.caption(f"The newest {MOST:,} loads.")
    row = selectable_grid(table, "loads", data.version, sources=["load"], height=360, config=_explained())
    if row is None:
        st.caption("Select a row with the box at its left to see the contents of the file and its tables.")
    else:
        _one(data, row)


def _explained() -> dict[str, Any]:
    return {
        "name": st.column_config.TextColumn("File", help="Without its folder, which is in the column Path."),
        "file": st.column_config.TextColumn("Path"),
        "content_mb": st.column_config.NumberColumn("Read (MB)", format="%.3f", help="After unpacking."),
    }


def _one(data: PageData, load: dict[str, Any]) -> None:
    st.markdown(f"**Load {load['load_id']}**: {plain(load['name'])}, {plain(load['status'])}")
    left, right = st.columns(2)
    with left:
        st.caption("Contents of the file, decoded or not")
        grid(kinds(data, load["load_id"]), "load-kinds", sources=["load_kind"], config={
            "total_bytes": st.column_config.NumberColumn("Total length (bytes)", format="localized")
        })  # fmt: skip
    with right:
        st.caption("Tables with rows of this load")
        grid(tables(data, load["load_id"]), "load-tables", sources=["load_table"])
    st.caption("To remove this load from the store:")
    st.code(f"zscope loads remove {load['load_id']}", "sh")
