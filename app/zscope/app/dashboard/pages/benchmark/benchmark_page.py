"""Benchmark: all published results compared with the runs measured here, and the calculation of each."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Literal, get_args

import pyarrow as pa
import streamlit as st

from zscope.app.dashboard.drawing import clean, grid, no_data, picture, plain, synthetic_badge
from zscope.app.dashboard.pages.benchmark.one_result import show_result
from zscope.app.dashboard.pages.benchmark.verdicts import verdicts_section
from zscope.app.dashboard.published import (
    LEGEND,
    VERDICT_MARKS,
    ResultRow,
    comparison_chart,
    filtered_results,
    has_no_number,
    published_results,
    result_panels,
    verdict_chart,
)
from zscope.app.dashboard.registry import Page
from zscope.app.dashboard.run_intervals import RUN_COMMANDS, warn_about_unusable_runs

if TYPE_CHECKING:
    from zscope.app.dashboard.page_data import PageData

PAGE = Page(title="Benchmark", icon="flag", section="Benchmark", order=70, filtered=False)

View = Literal["Verdicts", "Charts"]
_NARROWING = frozenset({"benchmark_verdict", "benchmark_document", "benchmark_measured"})
_RESULT = "benchmark_result"
_PICKED = "benchmark-picked"
"""The result clicked in a chart: the selection box was drawn before and can only be set in the next run."""
_LISTED = ("id", "figure", "as_printed", "measured", "verdict", "why", "metric", "side", "workload")
_LIST_PX = 300
_FEW = 2
"""So few documents are all expanded, with or without a measurement."""


def render(data: PageData) -> None:
    """Draw the page."""
    if _PICKED in st.session_state:
        st.session_state[_RESULT] = st.session_state.pop(_PICKED)
    with st.spinner("Comparing measured runs with the published results"):
        results = published_results(data)
    rows = {row["id"]: row for row in results.to_pylist()}
    result = st.selectbox(
        "Result", sorted(rows), index=None, placeholder="Choose a result, or click one below", key=_RESULT,
        bind="query-params", persist_state="session", format_func=clean, filter_mode="contains",
    )  # fmt: skip
    if result:
        st.button("All results", icon=":material/arrow_back:", on_click=_choose, args=(None,))
        show_result(data, rows[result], _choose)
        return
    view: View = st.segmented_control(
        "View", get_args(View), default=_view_of_address(), required=True, key="benchmark_view",
        bind="query-params", persist_state="session", label_visibility="collapsed",
    )  # fmt: skip
    _summary(data, results, with_chart=view == "Charts")
    if view == "Verdicts":
        verdicts_section(results.to_pylist(), _pick)
    else:
        _documents(_filtered(results))


def _view_of_address() -> View:
    """An address with filters is about the charts, which they narrow."""
    return "Charts" if _NARROWING & st.query_params.to_dict().keys() else "Verdicts"


def _choose(result: str | None) -> None:
    st.session_state[_RESULT] = result


def _pick(result: str) -> None:
    st.session_state[_PICKED] = result
    st.rerun()


def _summary(data: PageData, results: pa.Table, *, with_chart: bool) -> None:
    verdicts = Counter(results["verdict"].to_pylist())
    measured = [row for row in results.select(["measured", "synthetic"]).to_pylist() if row["measured"]]
    synthetic = sum(bool(row["synthetic"]) for row in measured)
    left, right = st.columns([2, 3], gap="large") if with_chart else (None, st.container())
    if left:
        table = pa.table(
            {"verdict": list(VERDICT_MARKS), "results": [verdicts[name] for name in VERDICT_MARKS]}
        )
        with left:
            picture(verdict_chart(table), table, "benchmark-verdicts", "Published results with each verdict.",
                    sources=["benchmark"])  # fmt: skip
    with right:
        st.markdown(
            f"Each of **{results.num_rows} published results** on TLS and networks on IBM Z is compared with "
            f"the runs measured here; {len(measured)} of them have a measurement. The comparison uses "
            "percentages, never absolute times of another machine. **Direction only**: the document says "
            "higher, lower or the same, without a number. **Not comparable** and **no data** come with a "
            "reason, or with what is needed."
        )
        directions = Counter(filter(None, results["direction_matches"].to_pylist()))
        if directions:
            listed = ", ".join(f"{count} {plain(name)}" for name, count in directions.most_common())
            st.caption(f"Direction only: {listed}.")
        if synthetic:
            with st.container(horizontal=True, vertical_alignment="center"):
                synthetic_badge()
                st.caption(f"{synthetic} of the measurements use synthetic data.", width="content")
    warn_about_unusable_runs(data)
    if not measured:
        no_data(
            "There is no measurement yet. Measurements come from benchmark runs, which you name.",
            RUN_COMMANDS,
        )


def _filtered(results: pa.Table) -> list[ResultRow]:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        verdicts = st.pills(
            "Verdict", tuple(VERDICT_MARKS), selection_mode="multi", key="benchmark_verdict",
            bind="query-params",
            persist_state="session",
        )  # fmt: skip
        documents = st.multiselect(
            "Document", sorted(set(results["document"].to_pylist())), key="benchmark_document",
            placeholder="all", bind="query-params", persist_state="session", format_func=clean, width=300,
        )  # fmt: skip
        measured = st.toggle(
            "Measured only", key="benchmark_measured", bind="query-params", persist_state="session"
        )
    return filtered_results(results, verdicts, documents, measured=measured)


def _documents(rows: list[ResultRow]) -> None:
    if not rows:
        st.info(
            "No published result matches all filters; choose fewer filters.", icon=":material/filter_alt_off:"
        )
        return
    st.caption(f"{LEGEND} Click a row to see its calculation.")
    by_document: dict[str, list[ResultRow]] = {}
    for row in rows:
        by_document.setdefault(row["document"], []).append(row)
    measured = {name: sum(row["measured"] is not None for row in of) for name, of in by_document.items()}
    for name in sorted(by_document, key=lambda name: (-measured[name], name)):
        title = f"**{plain(name)}**: {len(by_document[name])} results, {measured[name]} with a measurement"
        opened = bool(measured[name]) or len(by_document) <= _FEW
        key = f"benchmark-document-{_slug(name)}-{opened}"
        # Only expanded sections are drawn: charts of all documents together are slow in a browser.
        with st.expander(title, expanded=opened, key=key, on_change="rerun") as section:
            if section.open:
                _document(name, by_document[name])


def _document(document: str, rows: list[ResultRow]) -> None:
    slug = _slug(document)
    for panel in result_panels(rows):
        name = f"{slug}-{_slug(panel.title)}"
        words = f"{panel.title} of each result: published and measured. The verdicts are in the data below."
        picked = picture(
            comparison_chart(panel), panel.rows, name, words, sources=["benchmark"], pick=("id",)
        )
        if picked is not None:
            _pick(str(picked["id"]))
    wordy = [row for row in rows if has_no_number(row)]
    if not wordy:
        return
    st.markdown(f"Published without a number: {len(wordy)}")
    table = pa.table({name: pa.array([row[name] for row in wordy], pa.string()) for name in _LISTED})
    height = _LIST_PX if len(wordy) > _LIST_PX // 40 else None
    chosen_row = grid(table, f"{slug}-words", sources=["benchmark"], pick=True, height=height)
    if chosen_row is not None:
        _pick(wordy[chosen_row]["id"])


def _slug(text: str) -> str:
    """A text as part of a file name."""
    return re.sub(r"\W+", "-", text.lower()).strip("-")
