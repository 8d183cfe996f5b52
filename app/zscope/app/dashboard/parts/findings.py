"""What was found about protection: how bad, where, what is to be done, and the rows it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import pyarrow.compute as pc
import streamlit as st

from zscope.app.dashboard.looks import GREY, SEVERITY_COLOURS, SEVERITY_MARKS, colours, values
from zscope.app.dashboard.picking import chosen
from zscope.app.dashboard.queries.findings import (
    EVIDENCE_ROWS,
    MOST,
    PLACE,
    evidence,
    kinds,
    narrowed,
)
from zscope.app.dashboard.queries.findings import findings as found_in
from zscope.app.dashboard.show import grid, nothing, number, picture, plain, without_effect

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.answers import Data

_WITH_PLACE = 1.12
"""How much longer than the longest bar the axis is, for the word behind it."""
_SHOWN = (
    "mark", "what", "system", "server_port", "job_name", "certificate", "connections", "share_pct", "remedy",
)  # fmt: skip


def findings(data: Data) -> None:
    """Draw how many there are of each severity and kind, the list, and the evidence of one."""
    found = found_in(data)
    without_effect(data.filters.without_effect(PLACE))
    if not found.num_rows:
        nothing(
            "Nothing was found. Findings come from zERT connection detail records (SMF 119 subtype 11) and "
            "from certificates in them; without such records nothing can be found.",
            "zscope ingest SMF.DUMP --select '119(11,12)'",
        )
        return
    for column, (severity, mark) in zip(st.columns(4), SEVERITY_MARKS.items(), strict=True):
        count = pc.sum(pc.equal(found["severity"], severity)).as_py() or 0
        column.metric(mark.capitalize(), number(count, 0), border=True)
    st.caption("A finding is something to look at: one kind of weakness on one system, port and job.")
    _by_kind(kinds(found))
    _listed(data, found)


def _by_kind(table: pa.Table) -> None:
    order = table["what"].to_pylist()
    scale = alt.Scale(domainMin=0, domainMax=_WITH_PLACE * max(table["places"].to_pylist()))
    base = alt.Chart(values(table)).encode(
        y=alt.Y("what:N", title=None, sort=order, axis=alt.Axis(labelLimit=320)),
        x=alt.X("places:Q", title="Places: a system, port and job", scale=scale),
    )
    bars = base.mark_bar().encode(
        color=alt.Color("severity:N", title="Severity", scale=colours(SEVERITY_COLOURS), legend=None),
        tooltip=[
            alt.Tooltip("mark:N", title="Severity"),
            alt.Tooltip("what:N", title="What"),
            alt.Tooltip("places:Q", title="Places", format=","),
            alt.Tooltip("connections:Q", title="Connections", format=","),
        ],
    )
    words = base.mark_text(align="left", dx=6, color=GREY).encode(text="mark:N")
    picture(
        (bars + words).properties(height=alt.Step(24)), table, "findings-by-kind",
        "Number of places for each kind of finding as bars, the worst severity first.",
        sources=["finding"],
    )  # fmt: skip


def _listed(data: Data, found: pa.Table) -> None:
    st.subheader("What, where, and what to do")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        severities: list[str] = st.segmented_control(
            "Severity", list(SEVERITY_MARKS), selection_mode="multi", format_func=SEVERITY_MARKS.__getitem__,
            key="posture_severity", bind="query-params", persist_state="session",
        )  # fmt: skip
        what: str | None = st.selectbox(
            "What", kinds(found)["what"].to_pylist(), index=None, placeholder="all", key="posture_what",
            bind="query-params", persist_state="session", width=420,
        )  # fmt: skip
    table = narrowed(found, severities, what)
    if table.num_rows > MOST:
        st.caption(f"The worst {MOST:,} of {table.num_rows:,} findings.")
    row = chosen(
        table.slice(0, MOST), "findings", (data.version, data.filters, severities, what),
        sources=["finding"], columns=_SHOWN, height=360,
        config={
            "mark": st.column_config.TextColumn("Severity", width=90),
            "share_pct": st.column_config.ProgressColumn(
                "Share (%)", min_value=0, max_value=100, format="%.1f",
                help="Of the connections of this system, port and job.",
            ),
        },
    )  # fmt: skip
    if row is None:
        st.caption("Choose a row, by the box at its left, to see the connections or certificates behind it.")
        return
    _behind(data, row)


def _behind(data: Data, finding: dict[str, Any]) -> None:
    place = (finding["system"], finding["server_port"] or "any port", finding["job_name"])
    st.markdown(f"**{plain(finding['what'])}**: {plain(', '.join(map(str, place)))}")
    st.markdown(f"What to do: {plain(finding['remedy'], 400)}")
    rows = evidence(data, finding["evidence"])
    many = "the first " if rows.num_rows == EVIDENCE_ROWS else ""
    st.caption(f"Evidence: {many}{rows.num_rows:,} rows. The statement below shows all of them.")
    grid(rows, "evidence", sources=["connection_posture", "certificate_seen"], height=300)
    st.code(finding["evidence"], "sql", wrap_lines=True)
