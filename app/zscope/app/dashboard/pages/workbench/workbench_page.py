"""SQL workbench: run statements on the store, and show, draw and download the rows.

Examples, and a list of the tables and columns, help to write a statement.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from zscope.app.dashboard.drawing import grid, selectable_grid
from zscope.app.dashboard.pages.workbench.reader_statements import (
    LONGEST_TEXT,
    MOST_ROWS,
    StatementOutcome,
    run,
)
from zscope.app.dashboard.pages.workbench.result_chart import result_chart
from zscope.app.dashboard.registry import Page
from zscope.app.shared.statement_examples import EXAMPLES
from zscope.schemas.catalogue_schemas import EVERY_COLUMN, EVERY_NAME, public_views

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.page_data import PageData


MOST = 500
_CONFIG = {
    "table_name": st.column_config.TextColumn("Table"),
    "column_name": st.column_config.TextColumn("Column"),
    "data_type": st.column_config.TextColumn("Type", width=110),
    "meaning": st.column_config.TextColumn("Meaning"),
}


def tables(data: PageData, wanted: str) -> pa.Table:
    """Return the tables and views with a text in their name or meaning, or in that of a column."""
    return data.rows(
        f"""
        SELECT name AS table_name, comment AS meaning,
            name ILIKE $1 ESCAPE '\\' OR coalesce(comment, '') ILIKE $1 ESCAPE '\\' AS by_itself
        FROM ({EVERY_NAME})
        WHERE by_itself OR name IN (
            SELECT table_name FROM ({EVERY_COLUMN})
            WHERE concat_ws(' ', column_name, comment) ILIKE $1 ESCAPE '\\'
        )
        ORDER BY by_itself DESC, name NOT IN {tuple(public_views())}, name LIMIT {MOST}
        """,
        [_pattern(wanted)],
    ).drop_columns(["by_itself"])


def columns(data: PageData, table: str) -> pa.Table:
    """Return the columns of a table in their order."""
    return data.rows(
        f"""
        SELECT column_name, lower(data_type) AS data_type, comment AS meaning FROM ({EVERY_COLUMN})
        WHERE table_name = ? LIMIT {MOST}
        """,
        [table],
    )


def _pattern(wanted: str) -> str:
    """The pattern of LIKE that matches a text anywhere.

    >>> _pattern("in_bytes")
    '%in\\\\_bytes%'
    """
    for special in "\\%_":
        wanted = wanted.replace(special, f"\\{special}")
    return f"%{wanted}%"


def schema_browser(data: PageData) -> None:
    """Draw the search, the matching tables, and the columns of the chosen table."""
    wanted = st.text_input(
        "Search", key="workbench_search", placeholder="a word in names or meanings, such as handshake",
        label_visibility="collapsed", max_chars=100,
    )  # fmt: skip
    matching = tables(data, wanted.strip())
    if not matching.num_rows:
        st.caption("No table or column has this text in its name or meaning.")
        return
    left, right = st.columns(2)
    with left:
        row = selectable_grid(matching, "tables", (data.version, wanted), config=_CONFIG, height=300)
    with right:
        if row is None:
            st.caption("Select a table with the box at its left to see its columns.")
        else:
            grid(
                columns(data, row["table_name"]),
                f"columns-of-{row['table_name']}",
                config=_CONFIG,
                height=300,
            )


PAGE = Page(title="SQL workbench", icon="terminal", area="Explore", order=20, filtered=False)


_SQL, _EXAMPLE, _OUTCOME = "workbench_sql", "workbench_example", "workbench_outcome"
_SECONDS = (5, 15, 30)


def render(data: PageData) -> None:
    """Draw the page."""
    st.caption(
        "SQL statements of DuckDB. They can read the tables of this store only and cannot change anything; "
        "temporary tables last for one run."
    )
    with st.expander("Tables and columns", icon=":material/schema:"):
        schema_browser(data)
    _editor(data)
    outcome: StatementOutcome | None = st.session_state.get(_OUTCOME)
    if outcome is not None:
        _result(outcome)


def _editor(data: PageData) -> None:
    st.selectbox(
        "Examples", [example.title for example in EXAMPLES], index=None, key=_EXAMPLE, width=520,
        placeholder="Choose a statement to start with", on_change=_use_example,
    )  # fmt: skip
    # In a form, Ctrl+Enter in the statement presses the button.
    with st.form("workbench_form", border=False):
        text = st.text_area(
            "Statement", key=_SQL, height=190, max_chars=LONGEST_TEXT, persist_state="session",
            bind="query-params", placeholder=EXAMPLES[0].sql,
            help="Separate several statements with ; . The rows of the last query are shown. Ctrl+Enter runs "
            "them.",
        )  # fmt: skip
        with st.container(horizontal=True, vertical_alignment="bottom"):
            seconds: int = st.segmented_control(
                "Time limit", _SECONDS, default=_SECONDS[0], required=True, key="workbench_seconds",
                format_func=lambda number: f"{number} s", bind="query-params", persist_state="session",
            )  # fmt: skip
            clicked = st.form_submit_button("Run", key="workbench_run", icon=":material/play_arrow:")
    if clicked:
        with st.spinner("Running", show_time=True):
            st.session_state[_OUTCOME] = run(data, text or "", seconds)


def _use_example() -> None:
    titles = {example.title: example.sql for example in EXAMPLES}
    if st.session_state[_EXAMPLE] in titles:
        st.session_state[_SQL] = titles[st.session_state[_EXAMPLE]]


def _result(outcome: StatementOutcome) -> None:
    if outcome.error is not None:
        st.error("The statement failed.", icon=":material/error:")
        st.text(outcome.error)
        return
    if outcome.rows is None:
        st.success(f"Done in {outcome.seconds:.2f} s; there are no rows to show.", icon=":material/check:")
        return
    st.caption(f"{outcome.rows.num_rows:,} rows in {outcome.seconds:.2f} s")
    if outcome.more:
        st.warning(
            f"The result has more rows: at most {MOST_ROWS:,} are shown, fewer if they are long. To get all "
            "rows, run zscope sql with -o FILE.",
            icon=":material/content_cut:",
        )
    names = {name: st.column_config.Column(name) for name in outcome.rows.column_names}
    grid(outcome.rows, "result", config=names, height=380)
    if outcome.rows.column_names == ["explain_key", "explain_value"]:
        st.code("\n".join(outcome.rows["explain_value"].to_pylist()), None)
        return
    st.header("Chart")
    result_chart(outcome.rows)
    with st.expander("Statement of this result", icon=":material/code:"):
        st.code(outcome.text, "sql")
