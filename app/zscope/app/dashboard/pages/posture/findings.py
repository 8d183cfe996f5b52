"""Findings about the protection of connections: severity, place, remedy, and the rows as evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from zscope.app.dashboard.drawing import (
    grid,
    no_data,
    number,
    plain,
    selectable_grid,
    without_effect,
)
from zscope.app.dashboard.figure_cards import Card, draw_figures
from zscope.app.dashboard.style import SEVERITY_MARKS
from zscope.app.dashboard.tiles import MetricFigure, tile, tile_places

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zscope.app.dashboard.page_data import PageData


PLACE = ("system", "server_port", "job_name")
"""The place of a finding; filters for these columns apply to findings."""
MOST = 2000
EVIDENCE_ROWS = 500


def all_findings(data: PageData) -> pa.Table:
    """Return all findings, the worst first; `rank` is 0 for the worst severity, `mark` its label."""
    table = data.metric("finding")
    severities = table["severity"].to_pylist()
    ranks = pa.array([list(SEVERITY_MARKS).index(severity) for severity in severities])
    marks = pa.array([SEVERITY_MARKS[severity] for severity in severities], pa.string())
    marked = table.append_column("rank", ranks.cast(pa.int64())).append_column("mark", marks)
    return marked.sort_by([("rank", "ascending"), ("connections", "descending"), ("id", "ascending")])


def narrowed(findings: pa.Table, severities: Sequence[str], what: str | None) -> pa.Table:
    """Return the findings of some severities and of one kind; an empty choice matches all."""
    if severities:
        findings = findings.filter(pc.is_in(findings["severity"], pa.array(severities)))
    return findings.filter(pc.equal(findings["what"], what)) if what else findings


def kinds(findings: pa.Table) -> pa.Table:
    """Return the number of places and connections of each kind of finding, the worst first."""
    grouped = findings.group_by(["id", "severity", "mark", "what", "rank"]).aggregate(
        [("connections", "sum"), ("connections", "count")]
    )
    named = grouped.rename_columns(
        {"connections_sum": "connections", "connections_count": "places"}
    )  # fmt: skip
    return named.sort_by([("rank", "ascending"), ("places", "descending"), ("id", "ascending")])


def evidence(data: PageData, statement: str) -> pa.Table:
    """Return the first rows of the statement of a finding."""
    return data.rows(f"SELECT * FROM ({statement}\n) LIMIT {EVIDENCE_ROWS}")


_SHOWN = (
    "mark", "what", "system", "server_port", "job_name", "certificate", "connections", "share_pct", "source",
    "covered_pct", "remedy",
)  # fmt: skip


def findings_section(data: PageData) -> None:
    """Draw the number of findings by severity, the list, and the evidence of one."""
    findings = all_findings(data)
    without_effect(data.filters.without_effect(PLACE))
    if not findings.num_rows:
        no_data(
            "There are no findings. Findings come from zERT summaries (SMF 119 subtype 12) or connection "
            "details (11), and the certificates in them; without such records zscope cannot find anything.",
            "zscope ingest SMF.DUMP --select '119(11,12)'",
        )
        return
    for column, (severity, mark) in zip(
        tile_places(len(SEVERITY_MARKS)), SEVERITY_MARKS.items(), strict=True
    ):
        count = pc.sum(pc.equal(findings["severity"], severity)).as_py() or 0
        figure = MetricFigure("finding", f"count(*) FILTER (severity = '{severity}')", ())
        tile(column, data, mark.capitalize(), number(count, 0), figure)
    st.caption("A finding is one kind of weakness on one system, port and job.")
    draw_figures(data, [(Card("finding-kinds"),)])
    _listed(data, findings)


def _listed(data: PageData, findings: pa.Table) -> None:
    st.header("All findings")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        severities: list[str] = st.segmented_control(
            "Severity", list(SEVERITY_MARKS), selection_mode="multi", format_func=SEVERITY_MARKS.__getitem__,
            key="posture_severity", bind="query-params", persist_state="session",
        )  # fmt: skip
        what: str | None = st.selectbox(
            "What", kinds(findings)["what"].to_pylist(), index=None, placeholder="all", key="posture_what",
            bind="query-params", persist_state="session", width=420,
        )  # fmt: skip
    table = narrowed(findings, severities, what)
    if table.num_rows > MOST:
        st.caption(f"The worst {MOST:,} of {table.num_rows:,} findings.")
    row = selectable_grid(
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
        st.caption("Select a row with the box at its left to see its connections or certificates.")
        return
    _evidence(data, row)


def _evidence(data: PageData, finding: dict[str, Any]) -> None:
    place = (finding["system"], finding["server_port"] or "any port", finding["job_name"])
    st.markdown(f"**{plain(finding['what'])}**: {plain(', '.join(map(str, place)))}")
    st.markdown(f"Remedy: {plain(finding['remedy'], 400)}")
    rows = evidence(data, finding["evidence"])
    many = "the first " if rows.num_rows == EVIDENCE_ROWS else ""
    st.caption(f"Evidence: {many}{rows.num_rows:,} rows. The statement below returns all of them.")
    grid(rows, "evidence", sources=["connection_posture", "certificate_seen"], height=300)
    st.code(finding["evidence"], "sql", wrap_lines=True)
