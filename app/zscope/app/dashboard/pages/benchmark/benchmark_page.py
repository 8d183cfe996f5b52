"""Benchmark: all published results compared with the runs measured here, and the calculation of each."""

from __future__ import annotations

import json
import re
import textwrap
from collections import Counter
from typing import TYPE_CHECKING, Literal, get_args

import altair as alt
import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from zscope.app.dashboard.drawing import clean, grid, no_data, number, picture, plain, synthetic_badge
from zscope.app.dashboard.pages.benchmark.one_result import show_result
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
from zscope.app.dashboard.style import VERDICT_COLOURS, colours, values
from zscope.app.dashboard.tiles import tile
from zscope.pipelines.benchmark.wording import plain_title, reason_group

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zscope.app.dashboard.page_data import PageData
    from zscope.app.dashboard.published import ResultRow
    from zscope.app.dashboard.style import Chart


PAGE = Page(title="Benchmark", icon="flag", area="Benchmark", order=10, filtered=False)

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
    left, right = st.columns([2, 3], gap="large") if with_chart else (None, st.container())
    if left:
        table = pa.table(
            {"verdict": list(VERDICT_MARKS), "results": [verdicts[name] for name in VERDICT_MARKS]}
        )
        with left:
            picture(verdict_chart(table), table, "benchmark-verdicts", "Published results with each verdict.",
                    sources=["benchmark"])  # fmt: skip
    with right:
        shown = {"Published results": results.num_rows, "With a measurement": len(measured)}
        for column, (title, value) in zip(st.columns(len(shown)), shown.items(), strict=True):
            tile(column, data, title, number(value, 0), None)
        st.markdown(
            "Each published result on TLS and networks on IBM Z is compared with the runs measured here. The "
            "comparison uses percentages, never absolute times of another machine. **Direction only**: the "
            "document says higher, lower or the same, without a number. **Not comparable** and **no data** "
            "come with a reason, or with what is needed."
        )
        directions = Counter(filter(None, results["direction_matches"].to_pylist()))
        if directions:
            listed = ", ".join(f"{count} {plain(name)}" for name, count in directions.most_common())
            st.caption(f"Direction only: {listed}.")
        if any(row["synthetic"] for row in measured):
            synthetic_badge()
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
        title = f"**{plain(name)}** ({measured[name]} of {len(by_document[name])} measured)"
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
    st.markdown("**Published without a number**")
    table = pa.table({name: pa.array([row[name] for row in wordy], pa.string()) for name in _LISTED})
    height = _LIST_PX if len(wordy) > _LIST_PX // 40 else None
    chosen_row = grid(table, f"{slug}-words", sources=["benchmark"], pick=True, height=height)
    if chosen_row is not None:
        _pick(wordy[chosen_row]["id"])


def _slug(text: str) -> str:
    """A text as part of a file name."""
    return re.sub(r"\W+", "-", text.lower()).strip("-")


_LISTED_BY_REASON = ("title", "as_printed", "measured", "why", "workload", "id")
_NOT_COMPARED = ("not comparable", "no data")
_ROW_PX = 46
_LABEL_PX = 170
_ON_COLOUR = "black"
"""Readable on all colours of the verdicts, whatever the background of the page."""
_LABEL_CHARACTERS = 26
_OPENED = "differs"
_LONGEST = 300
_WORDS = {
    "differs": "Differs from what was published", "agrees": "Agrees",
    "direction only": "Direction only: published without a number",
}  # fmt: skip


def documents_by_verdict(rows: Sequence[ResultRow]) -> pa.Table:
    """Return the number of results of each document with each verdict."""
    counted = Counter((row["document"], row["verdict"]) for row in rows)
    documents = sorted({document for document, _ in counted})
    return pa.table(
        {
            "document": [document for document in documents for _ in VERDICT_MARKS],
            "verdict": [verdict for _ in documents for verdict in VERDICT_MARKS],
            "results": [counted[document, verdict] for document in documents for verdict in VERDICT_MARKS],
        },
        pa.schema([("document", pa.string()), ("verdict", pa.string()), ("results", pa.int64())]),
    )


def by_reason(rows: Sequence[ResultRow]) -> dict[str, list[ResultRow]]:
    """Return the results without a comparison by their reason, the most frequent first."""
    groups: dict[str, list[ResultRow]] = {}
    for row in rows:
        if row["verdict"] in _NOT_COMPARED:
            groups.setdefault(reason_group(row), []).append(row)
    return dict(sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])))


def verdicts_section(rows: list[ResultRow], pick: Callable[[str], None]) -> None:
    """Draw the grid of the verdicts, and the results; `pick` opens one of them."""
    table = documents_by_verdict(rows).filter(pc.field("results") > 0)
    cell = picture(_chart(table), table, "benchmark-documents", "Results of each document with each verdict.",
                   pick=("document", "verdict"))  # fmt: skip
    st.caption("Choose a number to list its results; select a row of a list to see its calculation.")
    if cell is not None:
        document, verdict = str(cell["document"]), str(cell["verdict"])
        chosen = [row for row in rows if (row["document"], row["verdict"]) == (document, verdict)]
        st.header(f"{plain(document, _LONGEST)}: {plain(verdict)}")
        _list(chosen, "cell", pick)
        return
    for verdict, words in _WORDS.items():
        of_verdict = [row for row in rows if row["verdict"] == verdict]
        if verdict == _OPENED:
            st.header(f"{words}: {len(of_verdict)}")
            if of_verdict:
                _list(of_verdict, verdict, pick)
            else:
                st.caption("Nothing that was measured differs.")
        elif of_verdict:
            with st.expander(f"{words}: {len(of_verdict)}"):
                _list(of_verdict, verdict.replace(" ", "-"), pick)
    groups = by_reason(rows)
    if groups:
        st.header(f"Not compared: {sum(map(len, groups.values()))}")
    for place, (reason, of_reason) in enumerate(groups.items()):
        with st.expander(f"{plain(reason, _LONGEST)}: {len(of_reason)}"):
            _list(of_reason, f"reason-{place}", pick)


def _list(rows: Sequence[ResultRow], name: str, pick: Callable[[str], None]) -> None:
    titled = [{**row, "title": plain_title(row)} for row in rows]
    table = pa.table({key: pa.array([row[key] for row in titled], pa.string()) for key in _LISTED_BY_REASON})
    chosen = grid(
        table, f"benchmark-{name}", sources=["benchmark"], pick=True,
        config={
            "title": st.column_config.TextColumn("What was published", width="large"),
            "as_printed": st.column_config.TextColumn("As printed"),
            "measured": st.column_config.TextColumn("Measured here"),
            "why": st.column_config.TextColumn("Why", width="medium"),
        },
    )  # fmt: skip
    if chosen is not None:
        pick(rows[chosen]["id"])


def _chart(table: pa.Table) -> Chart:
    picked = alt.selection_point(name="picked", fields=["document", "verdict"], on="click")
    documents = list(dict.fromkeys(table["document"].to_pylist()))
    base = alt.Chart(values(table)).encode(
        x=alt.X("verdict:N", title=None, sort=list(VERDICT_MARKS),
                scale=alt.Scale(domain=list(VERDICT_MARKS)), axis=alt.Axis(orient="top", labelAngle=-30)),
        y=alt.Y("document:N", title=None, scale=alt.Scale(domain=documents),
                axis=alt.Axis(labelLimit=_LABEL_PX, labelOverlap=False, labelExpr=_in_lines(documents))),
        tooltip=[
            alt.Tooltip("document:N", title="Document"), alt.Tooltip("verdict:N", title="Verdict"),
            alt.Tooltip("results:Q", title="Results"),
        ],
    )  # fmt: skip
    cells = (
        base.mark_rect(cursor="pointer", opacity=1, cornerRadius=4)
        .encode(color=alt.Color("verdict:N", legend=None, scale=colours(VERDICT_COLOURS)))
        .add_params(picked)
    )
    numbers = base.mark_text(fontSize=14, color=_ON_COLOUR).encode(text=alt.Text("results:Q"))
    return alt.layer(cells, numbers, height=alt.Step(_ROW_PX))


def _in_lines(names: Sequence[str]) -> str:
    """The expression of Vega that breaks each name into lines, so that it has room on a narrow screen."""
    lines = {name: textwrap.wrap(name, _LABEL_CHARACTERS) for name in names}
    return f"{json.dumps(lines)}[datum.value]"
