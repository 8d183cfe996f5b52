"""Benchmark: all published results compared with the runs measured here, and the calculation of each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from zscope.app.dashboard.drawing import clean, no_data, synthetic_badge
from zscope.app.dashboard.figure_cards import Card, draw_figures
from zscope.app.dashboard.links import go_to
from zscope.app.dashboard.pages.benchmark.one_result import show_result
from zscope.app.dashboard.registry import Page
from zscope.app.dashboard.run_intervals import RUN_COMMANDS, warn_about_unusable_runs
from zscope.pipelines.benchmark.wording import VERDICTS
from zscope.schemas.sql_text import literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zscope.app.dashboard.page_data import PageData

PAGE = Page(title="Benchmark", icon="flag", area="Benchmark", order=10, filtered=False)

_RESULT = "benchmark_result"
_PICKED = "benchmark-picked"
"""The result clicked in a figure: the selection box was drawn before and can only be set in the next run."""


def _pick(row: dict[str, Any]) -> None:
    st.session_state[_PICKED] = row["id"]
    st.rerun()


def open_result(row: dict[str, Any]) -> None:
    """Show a result that was clicked on another page."""
    st.session_state[_PICKED] = row["id"]
    go_to("benchmark")


HEADLINE = (
    (Card("benchmark-headline", 2), Card("differing", 4, pick=_pick), Card("verdicts-by-document", 3)),
)
FIGURES = (
    (Card("results-tls31", pick=_pick), Card("results-perf32", pick=_pick)),
    (Card("results-mq", pick=_pick), Card("results-rscs", pick=_pick)),
    (Card("results-ztpf", pick=_pick), Card("results-far", pick=_pick)),
    (Card("results-ratio", pick=_pick), Card("benchmark-ratios")),
    (Card("not-compared", pick=_pick),),
    (Card("conflicts", pick=_pick),),
)


def render(data: PageData) -> None:
    """Draw the page."""
    if _PICKED in st.session_state:
        st.session_state[_RESULT] = st.session_state.pop(_PICKED)
    ids = data.rows("SELECT id FROM reference_result ORDER BY id")["id"].to_pylist()
    result = st.selectbox(
        "Result", ids, index=None, placeholder="Choose a result, or click one below", key=_RESULT,
        bind="query-params", persist_state="session", format_func=clean, filter_mode="contains",
    )  # fmt: skip
    if result:
        st.button("All results", icon=":material/arrow_back:", on_click=_choose, args=(None,))
        show_result(data, result, _choose)
        return
    warn_about_unusable_runs(data)
    with st.spinner("Comparing measured runs with the published results"):
        measured = data.metric("benchmark", where="measured IS NOT NULL")["synthetic"].to_pylist()
    if any(measured):
        synthetic_badge()
    draw_figures(data, HEADLINE)
    if not measured:
        no_data(
            "There is no measurement yet. Measurements come from benchmark runs, which you name.",
            RUN_COMMANDS,
        )
    where = _chosen(data)
    draw_figures(data, [[replace(card, where=where) for card in row] for row in FIGURES])


def _choose(result: str | None) -> None:
    st.session_state[_RESULT] = result


def _chosen(data: PageData) -> str:
    """Draw the choices of verdicts and documents, and return them as a condition."""
    documents = data.rows("SELECT DISTINCT document FROM reference_result ORDER BY 1")["document"].to_pylist()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        verdicts = st.pills(
            "Verdict", VERDICTS, selection_mode="multi", key="benchmark_verdict", bind="query-params",
            persist_state="session",
        )  # fmt: skip
        named = st.multiselect(
            "Document", documents, key="benchmark_document", placeholder="all", bind="query-params",
            persist_state="session", format_func=clean, width=300,
        )  # fmt: skip
    parts = [_one_of("verdict", verdicts), _one_of("document", named)]
    return " AND ".join(filter(None, parts))


def _one_of(column: str, chosen: Sequence[str]) -> str:
    return f"{column} IN ({', '.join(map(literal, chosen))})" if chosen else ""
