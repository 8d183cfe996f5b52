"""Results of `zscope validate`: whether values are possible and agree with each other."""

from __future__ import annotations

import json
from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import streamlit as st

from zscope.app.dashboard.drawing import grid, no_data, plain, selectable_grid
from zscope.app.dashboard.figure_cards import Card, draw_figures
from zscope.pipelines.store.folder import existing_store

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from zscope.app.dashboard.page_data import PageData


_RUNS = 50
MOST = 2000
_VERDICT = "CASE outcome WHEN 'failed' THEN severity ELSE outcome END"
"""The outcome of an expectation; its severity if rows are not as expected."""
VERDICTS = ("error", "failure", "warning", "note", "passed")
"""In order of severity."""
_MARKS = {
    "error": "? error", "failure": "▲ failure", "warning": "◆ warning", "note": "○ note",
    "passed": "✓ passed",
}  # fmt: skip
_FIGURES = ((Card("expectations-by-kind"),),)
_COLUMNS = (
    "verdict", "table_name", "column_name", "meaning", "unexpected_rows", "checked_rows", "kind",
    "expectation", "error",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ValidationSummary:
    """One run of `zscope validate`."""

    run_id: str
    checked_utc: datetime
    loads: int
    expectations: int
    passed: int

    @property
    def title(self) -> str:
        """The run in one line."""
        return (
            f"{self.checked_utc:%Y-%m-%d %H:%M} UTC: {self.passed:,} of {self.expectations:,} expectations "
            f"met ({self.loads:,} load{'' if self.loads == 1 else 's'})"
        )


def runs(data: PageData) -> tuple[ValidationSummary, ...]:
    """Return the last runs, the newest first."""
    table = data.rows(f"""
        SELECT run_id, min(checked_utc) AS checked_utc, any_value(len(load_ids))::BIGINT AS loads,
            count(*) AS expectations, count(*) FILTER (WHERE outcome = 'passed') AS passed
        FROM validation GROUP BY run_id ORDER BY checked_utc DESC, run_id LIMIT {_RUNS}
    """)
    return tuple(ValidationSummary(**row) for row in table.to_pylist())


def results(data: PageData, run: ValidationSummary) -> pa.Table:
    """Return the results of a run, the worst first."""
    return data.rows(
        f"""
        SELECT {_VERDICT} AS verdict, table_name, column_name, meaning, unexpected_rows, checked_rows,
            slice_rows, sampled, kind, expectation, error, examples
        FROM validation WHERE run_id = ?
        ORDER BY list_position({list(VERDICTS)!r}, verdict), unexpected_rows DESC, table_name, expectation
        LIMIT {MOST}
        """,
        [run.run_id],
    )


def examples(text: str | None) -> pa.Table:
    """Return examples of unexpected rows as a table."""
    rows: list[dict[str, object]] = json.loads(text) if text else []
    names = list(dict.fromkeys(name for row in rows for name in row))
    # A column can have numbers in one row and text in another.
    return pa.table({name: [_text(row.get(name)) for row in rows] for name in names})


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def pages_of(data: PageData) -> Path | None:
    """Return the start page of the Data Docs about the last run, if they exist."""
    index = existing_store(data.queries.store).docs.resolve() / "index.html"
    return index if index.is_file() else None


def expectations_section(data: PageData) -> None:
    """Draw the newest run by kind, the results of a run, and where its Data Docs are."""
    draw_figures(data, _FIGURES)
    by_id = {run.run_id: run for run in runs(data)}
    if not by_id:
        return
    run_id: str = st.selectbox(
        "Run", list(by_id), format_func=lambda name: by_id[name].title, key="quality_run", width=520,
        bind="query-params", persist_state="session",
    )  # fmt: skip
    _listed(data, by_id[run_id])
    _pages(data)


def _marked(table: pa.Table, column: str) -> pa.Table:
    marks = [_MARKS[verdict] for verdict in table[column].to_pylist()]
    return table.set_column(table.column_names.index(column), column, [marks])


def _listed(data: PageData, run: ValidationSummary) -> None:
    st.header("Results, the worst first")
    table = _marked(results(data, run), "verdict")
    row = selectable_grid(table, "expectations", (data.version, run.run_id), sources=["validation"],
                          height=360, columns=_COLUMNS)  # fmt: skip
    if row is None:
        st.caption("Select a row with the box at its left to see examples of unexpected rows.")
    else:
        _one(row)


def _one(row: dict[str, Any]) -> None:
    st.markdown(f"**{plain(row['expectation'])}**: {plain(row['meaning'], 300)}")
    if row["error"]:
        st.text(row["error"])
    table = examples(row["examples"])
    if table.num_rows:
        grid(table, "expectation-examples")
    else:
        st.caption("All rows are as expected.")


def _pages(data: PageData) -> None:
    st.header("Data Docs")
    index = pages_of(data)
    if index is None:
        no_data("This store has no Data Docs.", "zscope validate")
        return
    st.caption("Data Docs about the last run, for a browser on the machine with the store:")
    st.code(f"python3 -m webbrowser {quote(index.as_uri())}", "sh")
    st.text(str(index))
