"""Best practices: which recommended settings are in effect, and what to capture where that is not known."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import streamlit as st

from zscope.app.dashboard.drawing import clean, grid, no_data, number, plain, synthetic_badge
from zscope.app.dashboard.registry import Page
from zscope.app.dashboard.style import GREEN, GREY, RED
from zscope.app.dashboard.tiles import MetricFigure, tile
from zscope.schemas.sql_text import literal

if TYPE_CHECKING:
    from zscope.app.dashboard.page_data import PageData

PAGE = Page(title="Best practices", icon="checklist", area="Benchmark", order=30, filtered=False)


NO_SYSTEM = "not seen on any"
"""The name of the system if no data shows a setting on any system."""
MARKS = {"pass": "✓ pass", "fail": "✕ fail", "unknown": "? unknown"}
MOST = 500
"""Rows of evidence."""


@dataclass(frozen=True, slots=True)
class PracticeChecks:
    """Every practice on every system."""

    rows: pa.Table
    counts: Counter[str]
    """Number of checks by status."""
    practices: dict[str, str]
    """Setting by name of the practice, in the order of the declarations."""
    systems: tuple[str, ...]


def practice_checks(data: PageData) -> PracticeChecks:
    """Return all checks; the column `shown` is the label of the status."""
    table = data.metric("best_practice_check")
    rows = table.to_pylist()
    systems = [row["system"] or NO_SYSTEM for row in rows]
    shown = table.set_column(
        table.column_names.index("system"), "system", pa.array(systems, pa.string())
    ).append_column("shown", pa.array([MARKS[row["status"]] for row in rows], pa.string()))
    return PracticeChecks(
        rows=shown,
        counts=Counter(row["status"] for row in rows),
        practices={row["practice"]: row["setting"] or row["practice"] for row in rows},
        systems=tuple(sorted({row["system"] for row in rows} - {None})),
    )


def practice(data: PageData, name: str) -> dict[str, Any]:
    """Return a recommendation: setting, effect, document, contradictions."""
    [row] = data.rows(f"SELECT * FROM best_practice WHERE id = {literal(name)}").to_pylist()
    return dict(row)


def published(data: PageData, results: list[str]) -> pa.Table:
    """Return the published results that support a recommendation."""
    named = ", ".join(map(literal, results)) or "NULL"
    return data.rows(f"SELECT * FROM reference_result WHERE id IN ({named}) ORDER BY id LIMIT {MOST}")


def evidence(data: PageData, statement: str) -> pa.Table:
    """Return the rows that a check is based on; its statement comes from the declaration of the check."""
    return data.rows(f"SELECT * FROM ({statement}) LIMIT {MOST}")


_COLOURS = {MARKS["pass"]: GREEN, MARKS["fail"]: RED, MARKS["unknown"]: GREY}
_LABELS = {"pass": "✓ In effect", "fail": "✕ Not in effect", "unknown": "? Not known"}
_ADDRESS, _CHOICE = "practices_setting", "practices_choice"
_ROW = 35
_SETTING_PX, _STATUS_PX = 230, 96
_COLUMNS = ("system", "shown", "evidence", "capture")
_CONFIG = {
    "shown": st.column_config.TextColumn("Status", width="small"),
    "evidence": st.column_config.TextColumn("Evidence", width="large"),
    "capture": st.column_config.TextColumn("Capture to find out", width="large"),
}


def render(data: PageData) -> None:
    """Draw the page."""
    checks = practice_checks(data)
    for column, (status, title) in zip(st.columns(3), _LABELS.items(), strict=True):
        figure = MetricFigure("best_practice_check", f"count(*) FILTER (status = '{status}')", ())
        tile(column, data, title, number(checks.counts[status], 0), figure)
    st.caption(
        "Settings that published measurements recommend, each checked on each system. A setting that no "
        "data shows counts once. Findings about connections and certificates are on the page Posture and "
        "certificates."
    )
    if not checks.systems:
        no_data(
            "Nothing is loaded that shows a setting. Settings are in NETSTAT and GSKSRVR displays and in "
            "records of SMF types 119 and 70.",
            "zscope ingest NETSTAT.TXT SMF.DUMP",
        )
    _all_settings(checks)
    _one_setting(data, checks, _chosen(checks))


def _chosen(checks: PracticeChecks) -> str:
    """The chosen setting; the address contains its name, and an unknown name is ignored."""
    if (name := st.query_params.get(_ADDRESS)) in checks.practices:
        st.session_state[_CHOICE] = name
    chosen: str = st.selectbox(
        "Setting", tuple(checks.practices), index=_first_failing(checks), key=_CHOICE,
        format_func=lambda name: clean(checks.practices.get(name, name), 110), persist_state="session",
        on_change=_write_to_address,
    )  # fmt: skip
    return chosen


def _write_to_address() -> None:
    st.query_params[_ADDRESS] = st.session_state[_CHOICE]


def _first_failing(checks: PracticeChecks) -> int:
    """The first setting that is not in effect on some system."""
    failing = {row["practice"] for row in checks.rows.to_pylist() if row["status"] == "fail"}
    return next((place for place, name in enumerate(checks.practices) if name in failing), 0)


def matrix(checks: PracticeChecks) -> pa.Table:
    """Return a row for each setting, with its status on each system as a list of one label."""
    columns = [*checks.systems, *([NO_SYSTEM] if NO_SYSTEM in checks.rows["system"].to_pylist() else [])]
    labels = {
        (row["practice"], row["system"]): [row["shown"]] for row in checks.rows.to_pylist()
    }  # fmt: skip
    kind = pa.list_(pa.string())
    return pa.table(
        {
            "setting": pa.array(list(checks.practices.values()), pa.string()),
            **{
                system: pa.array([labels.get((name, system)) for name in checks.practices], kind)
                for system in columns
            },
        }
    )


def _all_settings(checks: PracticeChecks) -> None:
    st.header("All settings")
    table = matrix(checks)
    marks, colours = list(_COLOURS), list(_COLOURS.values())
    systems = table.column_names[1:]
    config = {
        "setting": st.column_config.TextColumn("Setting", width=_SETTING_PX, pinned=True),
        **{
            system: st.column_config.MultiselectColumn(
                clean(system), options=marks, color=colours, width=_STATUS_PX
            )
            for system in systems
        },
    }
    # A table can be scrolled on a phone, and its words never overprint, however many systems there are.
    grid(table, "practices-all", config=config, height=38 + _ROW * table.num_rows)
    st.caption(
        "Scroll to the right for more systems. Settings that no data shows for any system have their status "
        "in the last column."
    )


def _one_setting(data: PageData, checks: PracticeChecks, name: str) -> None:
    recommended = practice(data, name)
    st.header(plain(recommended["setting"], 200))
    left, right = st.columns(2)
    with left:
        st.markdown(f"**Effect.** {plain(recommended['effect'], 1000)}")
        st.markdown(f"**Remedy.** Set it: {plain(recommended['setting'], 300)}.")
        st.markdown(f"**Shown by.** {plain(recommended['observe'] or 'not known', 1000)}")
        for column in ("observe_note", "conflict", "also"):
            if recommended[column]:
                title = {"observe_note": "Note", "conflict": "Documents disagree", "also": "Also in"}[column]
                st.markdown(f"**{title}.** {plain(recommended[column], 1000)}")
    with right:
        st.markdown(
            f"**Recommended in** {plain(recommended['document'], 300)}, section "
            f"{plain(recommended['section'])}, by {plain(recommended['author'])}, "
            f"{plain(recommended['published'])}"
        )
        if results := recommended["results"]:
            with st.expander(f"Published results about it ({len(results)})", icon=":material/menu_book:"):
                grid(published(data, results), "practice-results", sources=["reference_result"])
    rows = [row for row in checks.rows.to_pylist() if row["practice"] == name]
    if any("(synthetic)" in row["evidence"] for row in rows):
        synthetic_badge()
    of_setting = checks.rows.filter([row["practice"] == name for row in checks.rows.to_pylist()])
    grid(of_setting, "practice-checks", sources=["best_practice_check"], columns=_COLUMNS, config=_CONFIG)
    _evidence(data, name, [row for row in rows if row["evidence_query"]])


def _evidence(data: PageData, name: str, rows: list[dict[str, Any]]) -> None:
    if not rows:
        st.caption("There are no rows as evidence: no loaded data shows the setting.")
        return
    statements = {row["system"]: row["evidence_query"] for row in rows}
    system = st.segmented_control(
        "Evidence of", tuple(statements), default=next(iter(statements)), required=True, format_func=clean,
        key=f"practices_system-{name}", persist_state="session",
    )  # fmt: skip
    table = evidence(data, statements[system])
    st.caption(f"The rows that the check is based on, {MOST} at most.")
    grid(table, "practice-evidence")
    with st.expander("Statement", icon=":material/database:"):
        st.code(statements[system], language="sql")
