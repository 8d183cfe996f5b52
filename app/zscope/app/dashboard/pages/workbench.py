"""SQL workbench: ask the store anything, look at the rows, draw them, take them away."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from zscope.app.dashboard.parts.result_chart import result_chart
from zscope.app.dashboard.parts.schema_browser import schema_browser
from zscope.app.dashboard.queries.examples import EXAMPLES
from zscope.app.dashboard.queries.workbench import LONGEST_TEXT, MOST_ROWS, Outcome, run
from zscope.app.dashboard.show import grid

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Data

_SQL, _EXAMPLE, _OUTCOME = "workbench_sql", "workbench_example", "workbench_outcome"
_SECONDS = (5, 15, 30)


def render(data: Data) -> None:
    """Draw the page."""
    st.caption(
        "Statements as DuckDB understands them. They read the tables of this store and nothing else, and "
        "change nothing; temporary tables last for one run."
    )
    with st.expander("Tables and columns", icon=":material/schema:"):
        schema_browser(data)
    _editor(data)
    outcome: Outcome | None = st.session_state.get(_OUTCOME)
    if outcome is not None:
        _shown(outcome)


def _editor(data: Data) -> None:
    st.selectbox(
        "Examples", [example.title for example in EXAMPLES], index=None, key=_EXAMPLE, width=520,
        placeholder="Choose a statement to begin with", on_change=_take_example,
    )  # fmt: skip
    text = st.text_area(
        "Statement", key=_SQL, height=190, max_chars=LONGEST_TEXT, persist_state="session",
        bind="query-params", placeholder=EXAMPLES[0].sql,
        help="Several statements can stand in it, with ; between them; of the last question rows are shown.",
    )  # fmt: skip
    with st.container(horizontal=True, vertical_alignment="bottom"):
        seconds: int = st.segmented_control(
            "At most", _SECONDS, default=_SECONDS[0], required=True, key="workbench_seconds",
            format_func=lambda number: f"{number} s", bind="query-params", persist_state="session",
        )  # fmt: skip
        wanted = st.button("Run", key="workbench_run", type="primary", icon=":material/play_arrow:")
    if wanted:
        with st.spinner("Running", show_time=True):
            st.session_state[_OUTCOME] = run(data, text or "", seconds)


def _take_example() -> None:
    titles = {example.title: example.sql for example in EXAMPLES}
    if st.session_state[_EXAMPLE] in titles:
        st.session_state[_SQL] = titles[st.session_state[_EXAMPLE]]


def _shown(outcome: Outcome) -> None:
    if outcome.error is not None:
        st.error("This could not be done.", icon=":material/error:")
        st.text(outcome.error)
        return
    if outcome.rows is None:
        st.success(f"Done in {outcome.seconds:.2f} s; there are no rows to show.", icon=":material/check:")
        return
    st.caption(f"{outcome.rows.num_rows:,} rows in {outcome.seconds:.2f} s")
    if outcome.more:
        st.warning(
            f"There are more rows than are shown: at most {MOST_ROWS:,}, or fewer if they are long. For all, "
            "run zscope sql with -o FILE.",
            icon=":material/content_cut:",
        )
    names = {name: st.column_config.Column(name) for name in outcome.rows.column_names}
    grid(outcome.rows, "result", config=names, height=380)
    if outcome.rows.column_names == ["explain_key", "explain_value"]:
        st.code("\n".join(outcome.rows["explain_value"].to_pylist()), None)
        return
    st.subheader("Picture")
    result_chart(outcome.rows)
    with st.expander("The statement of this result", icon=":material/code:"):
        st.code(outcome.text, "sql")
