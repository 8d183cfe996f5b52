"""All verdicts on one screen: documents by verdict, what differs first, the rest folded by reason."""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from typing import TYPE_CHECKING

import altair as alt
import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from zscope.app.dashboard.drawing import grid, picture, plain
from zscope.app.dashboard.published import VERDICT_MARKS
from zscope.app.dashboard.style import VERDICT_COLOURS, colours, values
from zscope.pipelines.benchmark.titles import plain_title, reason_group

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zscope.app.dashboard.published import ResultRow
    from zscope.app.dashboard.style import Chart

_LISTED = ("title", "as_printed", "measured", "why", "workload", "id")
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
    for number, (reason, of_reason) in enumerate(groups.items()):
        with st.expander(f"{plain(reason, _LONGEST)}: {len(of_reason)}"):
            _list(of_reason, f"reason-{number}", pick)


def _list(rows: Sequence[ResultRow], name: str, pick: Callable[[str], None]) -> None:
    titled = [{**row, "title": plain_title(row)} for row in rows]
    table = pa.table({key: pa.array([row[key] for row in titled], pa.string()) for key in _LISTED})
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
