"""All published results against what was measured here, and the whole arithmetic of each."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import pyarrow as pa
import streamlit as st

from zscope.app.dashboard.parts.benchmark_picture import KEY, against_measured, counts
from zscope.app.dashboard.parts.benchmark_result import show_result
from zscope.app.dashboard.parts.run_intervals import tell_left_out
from zscope.app.dashboard.queries.benchmark import MARKS, Row, chosen, in_words, panels, results
from zscope.app.dashboard.queries.benchmark_arithmetic import RUN_COMMANDS
from zscope.app.dashboard.show import clean, grid, nothing, picture, plain, synthetic_badge

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Data

_RESULT = "benchmark_result"
_PICKED = "benchmark-picked"
"""What was clicked on in a picture: the list of results, drawn before, can only be set in the next run."""
_LISTED = ("id", "figure", "as_printed", "measured", "verdict", "why", "metric", "side", "workload")
_LIST_PX = 300
_FEW = 2
"""Documents that are all opened, whether something was measured or not."""


def render(data: Data) -> None:
    """Draw the page."""
    if _PICKED in st.session_state:
        st.session_state[_RESULT] = st.session_state.pop(_PICKED)
    with st.spinner("Holding the runs against the published results"):
        found = results(data)
    rows = {row["id"]: row for row in found.to_pylist()}
    result = st.selectbox(
        "Result", sorted(rows), index=None, placeholder="Choose a result, or click on one below", key=_RESULT,
        bind="query-params", persist_state="session", format_func=clean, filter_mode="contains",
    )  # fmt: skip
    if result:
        st.button("All results", icon=":material/arrow_back:", on_click=_choose, args=(None,))
        show_result(data, rows[result], _choose)
        return
    _summary(data, found)
    _documents(_narrowed(found))


def _choose(result: str | None) -> None:
    st.session_state[_RESULT] = result


def _pick(result: str) -> None:
    st.session_state[_PICKED] = result
    st.rerun()


def _summary(data: Data, found: pa.Table) -> None:
    verdicts = Counter(found["verdict"].to_pylist())
    measured = [row for row in found.select(["measured", "synthetic"]).to_pylist() if row["measured"]]
    synthetic = sum(bool(row["synthetic"]) for row in measured)
    left, right = st.columns([2, 3], gap="large")
    with left:
        table = pa.table({"verdict": list(MARKS), "results": [verdicts[name] for name in MARKS]})
        picture(counts(table), table, "benchmark-verdicts", "Number of published results with each verdict.",
                sources=["benchmark"])  # fmt: skip
    with right:
        st.markdown(
            f"Each of **{found.num_rows} published results** on TLS and networks on IBM Z is held against "
            f"runs that were measured here; beside {len(measured)} of them something was measured. Percents "
            "are compared, never microseconds of another machine. **Direction only**: the document says "
            "higher, lower or the same, and no figure. **Not comparable** and **no data** say why, or what "
            "it takes."
        )
        directions = Counter(filter(None, found["direction_matches"].to_pylist()))
        if directions:
            told = ", ".join(f"{count} {plain(name)}" for name, count in directions.most_common())
            st.caption(f"The direction alone: {told}.")
        if synthetic:
            with st.container(horizontal=True, vertical_alignment="center"):
                synthetic_badge()
                st.caption(f"{synthetic} of the measurements rest on generated data.", width="content")
    tell_left_out(data)
    if not measured:
        nothing(
            "Nothing was measured yet: results are filled from benchmark runs, which you name.", RUN_COMMANDS
        )


def _narrowed(found: pa.Table) -> list[Row]:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        verdicts = st.pills(
            "Verdict", tuple(MARKS), selection_mode="multi", key="benchmark_verdict", bind="query-params",
            persist_state="session",
        )  # fmt: skip
        documents = st.multiselect(
            "Document", sorted(set(found["document"].to_pylist())), key="benchmark_document",
            placeholder="all", bind="query-params", persist_state="session", format_func=clean, width=300,
        )  # fmt: skip
        measured = st.toggle(
            "Measured only", key="benchmark_measured", bind="query-params", persist_state="session"
        )
    return chosen(found, verdicts, documents, measured=measured)


def _documents(rows: list[Row]) -> None:
    if not rows:
        st.info(
            "No published result has all of this; choose fewer filters.", icon=":material/filter_alt_off:"
        )
        return
    st.caption(f"{KEY} Click on a row for all of its arithmetic.")
    by_document: dict[str, list[Row]] = {}
    for row in rows:
        by_document.setdefault(row["document"], []).append(row)
    measured = {name: sum(row["measured"] is not None for row in of) for name, of in by_document.items()}
    for name in sorted(by_document, key=lambda name: (-measured[name], name)):
        title = f"**{plain(name)}**: {len(by_document[name])} results, {measured[name]} beside a measurement"
        opened = bool(measured[name]) or len(by_document) <= _FEW
        key = f"benchmark-document-{_slug(name)}-{opened}"
        # What is closed is not drawn: pictures and tables of all documents together are slow in a browser.
        with st.expander(title, expanded=opened, key=key, on_change="rerun") as section:
            if section.open:
                _document(name, by_document[name])


def _document(document: str, rows: list[Row]) -> None:
    slug = _slug(document)
    for panel in panels(rows):
        name = f"{slug}-{_slug(panel.title)}"
        words = f"{panel.title} of each result: published and measured. The verdicts are in the data below."
        picked = picture(against_measured(panel), panel.rows, name, words, sources=["benchmark"], pick=True)
        if picked:
            _pick(str(picked[0]["id"]))
    wordy = [row for row in rows if in_words(row)]
    if not wordy:
        return
    st.markdown(f"Published without a number: {len(wordy)}")
    table = pa.table({name: pa.array([row[name] for row in wordy], pa.string()) for name in _LISTED})
    height = _LIST_PX if len(wordy) > _LIST_PX // 40 else None
    chosen_row = grid(table, f"{slug}-words", sources=["benchmark"], pick=True, height=height)
    if chosen_row is not None:
        _pick(wordy[chosen_row]["id"])


def _slug(text: str) -> str:
    """A text as part of the name of a file."""
    return re.sub(r"\W+", "-", text.lower()).strip("-")
