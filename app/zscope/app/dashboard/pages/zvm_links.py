"""z/VM links: CPU per transaction of an RSCS link in the SSL, TCPIP and RSCS virtual machines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from zscope.app.dashboard.drawing import clean
from zscope.app.dashboard.figure_cards import Card, draw_figures
from zscope.app.dashboard.pages.benchmark.benchmark_page import open_result
from zscope.app.dashboard.registry import Needed, Page
from zscope.schemas.sql_text import literal

if TYPE_CHECKING:
    from zscope.app.dashboard.page_data import PageData

PAGE = Page(
    title="z/VM links", icon="link", area="Benchmark", order=50, filtered=False,
    needs=Needed(tables=("zvm_user", "zvm_channel"), brought_by="FCX112 and FCX215 of Performance Toolkit"),
)  # fmt: skip

FIGURES = (
    (Card("zvm-cost"), Card("results-rscs", pick=open_result)),
    (Card("conflicts", where="area = 'z/VM RSCS'"),),
)


def render(data: PageData) -> None:
    """Draw the page."""
    draw_figures(data, FIGURES)
    runs = sorted(set(data.metric("zvm_cpu_per_tx")["run"].to_pylist()))
    others = data.found("zvm_comparison", "SELECT DISTINCT baseline_run FROM found").num_rows
    if not others:
        return
    with st.container(horizontal=True):
        baseline = st.selectbox("From", runs, key="zvm_from", bind="query-params", persist_state="session",
                                format_func=clean)  # fmt: skip
        candidates = [run for run in runs if run != baseline]
        candidate = st.selectbox("To", candidates, key="zvm_to", bind="query-params", persist_state="session",
                                 format_func=clean)  # fmt: skip
    where = f"baseline_run = {literal(str(baseline))} AND candidate_run = {literal(str(candidate))}"
    draw_figures(data, ((Card("zvm-comparison", where=where),),))
