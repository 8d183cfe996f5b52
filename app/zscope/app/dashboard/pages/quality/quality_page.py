"""Data: whether it can be trusted, loads, issues, gaps, checks, and the sources that are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import streamlit as st

from zscope.app.dashboard.drawing import grid, no_data, number, plain, selectable_grid
from zscope.app.dashboard.figure_cards import Card, draw_figures
from zscope.app.dashboard.pages.quality.load_history import TOTALS, loads_section, totals
from zscope.app.dashboard.pages.quality.missing_hours import coverage_section
from zscope.app.dashboard.pages.quality.validation import expectations_section
from zscope.app.dashboard.registry import Page
from zscope.app.dashboard.tiles import StatementFigure, tile, tile_places
from zscope.pipelines.ingest.quarantine import quarantine_table
from zscope.pipelines.metrics import metric_names, needed
from zscope.pipelines.store.folder import existing_store
from zscope.pipelines.store.parquet_files import data_tables, table_description

if TYPE_CHECKING:
    from collections.abc import Callable

    from zscope.app.dashboard.page_data import PageData


MOST = 1000
SHOWN_ROWS = 500


def by_file_and_code(data: PageData) -> pa.Table:
    """Return the number of issues of each load by code, the most frequent first."""
    return data.rows(f"""
        SELECT load_id, regexp_extract(file, '[^/\\\\]*$') AS name, severity, code, count(*) AS issues, file
        FROM issue GROUP BY ALL ORDER BY issues DESC, load_id, code LIMIT {MOST}
    """)


def of_code(data: PageData, group: dict[str, Any]) -> pa.Table:
    """Return the first issues of one load and code; `group` is a row of `by_file_and_code`."""
    return data.rows(
        f"""
        SELECT record_no, byte_offset, byte_end, line_no, column_no, section, field, text
        FROM issue WHERE load_id = ? AND file = ? AND code = ? AND severity = ?
        ORDER BY record_no NULLS FIRST, line_no NULLS FIRST, byte_offset NULLS FIRST LIMIT {SHOWN_ROWS}
        """,
        [group[name] for name in ("load_id", "file", "code", "severity")],
    )


def refused(data: PageData) -> pa.Table:
    """Return the files that were refused, the newest first."""
    return quarantine_table(existing_store(data.queries.store).quarantine)


def issues_section(data: PageData) -> None:
    """Draw the issues by file and code, the issues of one code, and the refused files."""
    draw_figures(data, ((Card("issues-by-file"),),))
    table = by_file_and_code(data)
    if table.num_rows:
        row = selectable_grid(
            table, "issues", data.version, sources=["issue"], config=_explain_issues(), height=300
        )
        if table.num_rows == MOST:
            st.caption(f"The {MOST:,} combinations of file and code with the most issues.")
        if row is None:
            st.caption("Select a row with the box at its left to see the places in the file.")
        else:
            _each(data, row)
    _refused(data)


def _explain_issues() -> dict[str, Any]:
    return {
        "name": st.column_config.TextColumn("File", help="Without its folder, which is in the column Path."),
        "file": st.column_config.TextColumn("Path"),
        "issues": st.column_config.NumberColumn("Issues", format="localized"),
    }


def _each(data: PageData, row: dict[str, Any]) -> None:
    rows = of_code(data, row)
    most = f", the first {SHOWN_ROWS}" if rows.num_rows == SHOWN_ROWS else ""
    st.markdown(f"**{plain(row['code'])}** in load {row['load_id']}, {plain(row['name'])}{most}")
    grid(rows, "issues-of-code", sources=["issue"], height=300)


def _refused(data: PageData) -> None:
    st.header("Refused files")
    table = refused(data)
    if not table.num_rows:
        st.caption("No file was refused.")
        return
    st.caption("The store contains nothing of these files. The remedy describes what to do.")
    grid(
        table, "refused", height=260,
        columns=["refused_utc", "file", "times", "code", "text", "place", "remedy", "size_bytes"],
    )  # fmt: skip


PAGE = Page(title="Data quality and loads", icon="fact_check", area="Data", order=10, filtered=False)


FIGURES = ((Card("data-verdict", 2), Card("coverage", 3)),)
LOADED = ((Card("loaded-data"),),)
PRESENT, MISSING = "● present", "✕ missing"


def by_table(data: PageData) -> pa.Table:
    """Return each table of decoded data with its rows and the metrics that use it, empty tables first."""
    loaded = data.rows("SELECT table_name, sum(rows)::BIGINT AS rows FROM load_table GROUP BY table_name")
    rows = {row["table_name"]: row["rows"] for row in loaded.to_pylist()}
    origins = data.rows("""
        SELECT table_name, string_agg(DISTINCT record, ', ') AS origin
        FROM field_catalog WHERE record <> 'store' GROUP BY table_name
    """)
    origin = {row["table_name"]: row["origin"] for row in origins.to_pylist()}
    readers = {table: [name for name in metric_names() if table in needed(name)] for table in data_tables()}
    tables: list[dict[str, Any]] = [
        {
            "state": PRESENT if rows.get(table) else MISSING,
            "table_name": table,
            "origin": origin.get(table),
            "rows": rows.get(table, 0),
            "meaning": table_description(table),
            "metrics": readers[table],
            "to_load": f"zscope ingest PATH --select {table}",
        }
        for table in data_tables()
    ]
    tables.sort(key=lambda row: (row["state"] == PRESENT, -len(readers[row["table_name"]])))
    return pa.Table.from_pylist(tables, _SCHEMA)


_SCHEMA = pa.schema(
    [
        ("state", pa.string()),
        ("table_name", pa.string()),
        ("origin", pa.string()),
        ("rows", pa.int64()),
        ("meaning", pa.string()),
        ("metrics", pa.list_(pa.string())),
        ("to_load", pa.string()),
    ]
)


def sources_section(data: PageData) -> None:
    """Draw what is loaded of each kind and system, and the tables with and without rows."""
    draw_figures(data, LOADED)
    st.header("Tables")
    table = by_table(data)
    st.caption(
        "Missing tables that most metrics need are listed first; the command loads them from a file that "
        "contains such records or reports."
    )
    grid(table, "sources", height=460, config=_explained())


def _explained() -> dict[str, Any]:
    return {
        "state": st.column_config.TextColumn("State", width=100),
        "table_name": st.column_config.TextColumn("Table"),
        "origin": st.column_config.TextColumn("From", help="SMF type and subtype, or the report."),
        "metrics": st.column_config.ListColumn("Read by", help="Metrics that use the table."),
        "to_load": st.column_config.TextColumn("How to load it"),
    }


def gaps_section(data: PageData) -> None:
    """Draw the intervals that are missing, and the time that files cover."""
    draw_figures(data, ((Card("missing-intervals", 2), Card("covered-periods", 3)),))


_PARTS: dict[str, Callable[[PageData], None]] = {
    "loads": loads_section,
    "coverage": coverage_section,
    "issues": issues_section,
    "gaps": gaps_section,
    "expectations": expectations_section,
    "sources": sources_section,
}
_MILLION = 1_000_000
_OF_LOADS = {
    "Loads": "loads", "Rows": "rows", "MB read": "mb", "Issues": "issues", "Gaps": "gaps",
}  # fmt: skip


def render(data: PageData) -> None:
    """Draw the page."""
    loaded = totals(data)
    if loaded.loads:
        shown = {
            "Loads": loaded.loads,
            "Rows": loaded.rows,
            "MB read": round(loaded.mb),
            "Issues": loaded.issues,
            "Gaps": loaded.gaps,
        }
        draw_figures(data, FIGURES)
        statements = {title: (TOTALS, name) for title, name in _OF_LOADS.items()}
        for column, (title, value) in zip(tile_places(len(shown)), shown.items(), strict=True):
            tile(column, data, title, _short(value), StatementFigure(*statements[title]), _whole(value))
    else:
        no_data("Nothing is loaded.", "zscope ingest PATH...")
    part: str = st.segmented_control(
        "Show", list(_PARTS), default="loads", required=True, format_func=str.capitalize,
        key="quality_part", label_visibility="collapsed", bind="query-params", persist_state="session",
    )  # fmt: skip
    _PARTS[part](data)


def _short(count: int) -> str:
    """A number that fits into a narrow box.

    >>> _short(123456), _short(17_364_211)
    ('123,456', '17.4 M')
    """
    return number(count, 0) if count < _MILLION else number(count / _MILLION, 1, "M")


def _whole(count: int) -> str:
    return number(count, 0) if count >= _MILLION else ""
