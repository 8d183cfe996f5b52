"""Whether the values make sense: the results of a run of zscope validate, and the pages about it."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Any

import altair as alt
import streamlit as st

from zscope.app.dashboard.looks import BLUE, GREY, ORANGE, PURPLE, RED, colours, values
from zscope.app.dashboard.picking import chosen
from zscope.app.dashboard.queries.validation import (
    Run,
    by_kind,
    examples,
    pages_of,
    results,
    runs,
)
from zscope.app.dashboard.show import grid, nothing, picture, plain

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.answers import Data

_MARKS = {
    "error": "? error", "failure": "▲ failure", "warning": "◆ warning", "note": "○ note",
    "passed": "✓ passed",
}  # fmt: skip
_COLOURS = dict(zip(_MARKS.values(), (PURPLE, RED, ORANGE, GREY, BLUE), strict=True))
_COLUMNS = (
    "verdict", "table_name", "column_name", "meaning", "unexpected_rows", "checked_rows", "kind",
    "expectation", "error",
)  # fmt: skip


def expectations(data: Data) -> None:
    """Draw a run: its expectations by table, those that do not hold first, and where its pages are."""
    there = {run.run_id: run for run in runs(data)}
    if not there:
        nothing(
            "The data was not validated yet: whether values are possible, and agree with each other, is not "
            "known.",
            "zscope validate",
        )
        return
    run_id: str = st.selectbox(
        "Run", list(there), format_func=lambda one: there[one].words, key="quality_run", width=520,
        bind="query-params", persist_state="session",
    )  # fmt: skip
    _by_kind(data, there[run_id])
    _listed(data, there[run_id])
    _pages(data)


def _by_kind(data: Data, run: Run) -> None:
    table = _marked(by_kind(data, run), "verdict")
    base = alt.Chart(values(table)).encode(
        x=alt.X("verdict:N", title=None, scale=alt.Scale(domain=list(_MARKS.values())),
                axis=alt.Axis(orient="top", labelAngle=0)),
        y=alt.Y("kind:N", title="What is expected of", axis=alt.Axis(labelOverlap=False)),
        tooltip=[
            alt.Tooltip("kind:N", title="Kind"),
            alt.Tooltip("verdict:N", title="Verdict"),
            alt.Tooltip("expectations:Q", title="Expectations"),
            alt.Tooltip("rows:Q", title="Rows that are not as expected", format=","),
        ],
    )  # fmt: skip
    dots = base.mark_circle(size=130, opacity=1).encode(
        color=alt.Color("verdict:N", scale=colours(_COLOURS), legend=None)
    )
    words = base.mark_text(align="left", dx=11, color=GREY).encode(text="expectations:Q")
    picture((dots + words).properties(height=alt.Step(24)), table, "expectations-by-kind",
            "How many expectations of each kind hold and how many do not, as dots with their number.",
            sources=["validation"])  # fmt: skip
    st.caption(
        "A failure is data that contradicts itself, a warning is possible but unlikely, a note good to know, "
        "an error an expectation that could not be checked."
    )


def _marked(table: pa.Table, column: str) -> pa.Table:
    marks = [_MARKS[verdict] for verdict in table[column].to_pylist()]
    return table.set_column(table.column_names.index(column), column, [marks])


def _listed(data: Data, run: Run) -> None:
    st.subheader("Results, the worst first")
    table = _marked(results(data, run), "verdict")
    row = chosen(table, "expectations", (data.version, run.run_id), sources=["validation"], height=360,
                 columns=_COLUMNS)  # fmt: skip
    if row is None:
        st.caption("Choose a row, by the box at its left, to see some of the rows that are not as expected.")
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
        st.caption("No row is other than expected.")


def _pages(data: Data) -> None:
    st.subheader("Data Docs")
    index = pages_of(data)
    if index is None:
        nothing("There are no pages about a run in this store.", "zscope validate")
        return
    st.caption("Pages about the last run, for a browser on the machine that has the store:")
    st.code(f"python3 -m webbrowser {quote(index.as_uri())}", "sh")
    st.text(str(index))
