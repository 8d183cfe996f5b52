"""Best practices: which recommended settings are in force, which are not, and what to capture to know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import streamlit as st

from zscope.app.dashboard.looks import GREEN, GREY, RED, colours, values
from zscope.app.dashboard.queries.practices import MARKS, MOST, Checks, checks, evidence, practice, published
from zscope.app.dashboard.show import clean, grid, nothing, number, picture, plain, synthetic_badge

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Data

_COLOURS = {MARKS["pass"]: GREEN, MARKS["fail"]: RED, MARKS["unknown"]: GREY}
_LABELS = {"pass": "✓ In force", "fail": "✕ Not in force", "unknown": "? Not known"}
_ADDRESS, _CHOICE = "practices_setting", "practices_choice"
_ROW = 26
_GAPS = alt.Scale(paddingInner=0.08)
_COLUMNS = ("system", "shown", "evidence", "capture")
_CONFIG = {
    "shown": st.column_config.TextColumn("Status", width="small"),
    "evidence": st.column_config.TextColumn("What says so", width="large"),
    "capture": st.column_config.TextColumn("What to capture to know", width="large"),
}


def render(data: Data) -> None:
    """Draw the page."""
    found = checks(data)
    for column, (status, title) in zip(st.columns(3), _LABELS.items(), strict=True):
        column.metric(title, number(found.counts[status], 0), border=True)
    st.caption(
        f"{len(found.practices)} settings that published measurements recommend, each checked on each of "
        f"{len(found.systems)} systems. A setting that nothing tells of counts once. Findings about "
        "connections and certificates are on the page Posture and certificates."
    )
    if not found.systems:
        nothing(
            "Nothing is loaded that shows a setting: displays of NETSTAT and GSKSRVR do, and records of SMF "
            "types 119 and 70.",
            "zscope ingest NETSTAT.TXT SMF.DUMP",
        )
    _everywhere(found)
    _one(data, found, _chosen(found))


def _chosen(found: Checks) -> str:
    """The setting to show; the address holds its short name, and what is none is ignored."""
    if (asked := st.query_params.get(_ADDRESS)) in found.practices:
        st.session_state[_CHOICE] = asked
    name: str = st.selectbox(
        "Setting", tuple(found.practices), index=_first_to_look_at(found), key=_CHOICE,
        format_func=lambda of: clean(found.practices.get(of, of), 110), persist_state="session",
        on_change=_into_the_address,
    )  # fmt: skip
    return name


def _into_the_address() -> None:
    st.query_params[_ADDRESS] = st.session_state[_CHOICE]


def _first_to_look_at(found: Checks) -> int:
    """The first setting that is not in force somewhere."""
    failing = {row["practice"] for row in found.rows.to_pylist() if row["status"] == "fail"}
    return next((no for no, name in enumerate(found.practices) if name in failing), 0)


def _everywhere(found: Checks) -> None:
    st.subheader("Everywhere")
    shared = alt.Chart(
        values(found.rows.select(["setting", "system", "shown", "evidence", "capture"]))
    ).encode(
        x=alt.X(
            "system:N", title=None, scale=_GAPS, axis=alt.Axis(orient="top", labelAngle=0, labelLimit=110)
        ),
        y=alt.Y(
            "setting:N",
            title=None,
            sort=list(found.practices.values()),
            scale=_GAPS,
            axis=alt.Axis(labelLimit=420),
        ),
        tooltip=[
            alt.Tooltip("setting:N", title="Setting"),
            alt.Tooltip("system:N", title="System"),
            alt.Tooltip("shown:N", title="Status"),
            alt.Tooltip("evidence:N", title="What says so"),
            alt.Tooltip("capture:N", title="What to capture"),
        ],
    )
    boxes = shared.mark_rect().encode(color=alt.Color("shown:N", title="Status", scale=colours(_COLOURS)))
    words = shared.mark_text(fontSize=12).encode(text="shown:N", color=alt.value("black"))
    told = "Each recommended setting on each system: a box with the word pass, fail or unknown."
    picture(
        (boxes + words).properties(height=40 + _ROW * len(found.practices)), found.rows,
        "practices-everywhere", told, sources=["best_practice_check"],
    )  # fmt: skip


def _one(data: Data, found: Checks, name: str) -> None:
    of = practice(data, name)
    st.subheader(plain(of["setting"], 200))
    left, right = st.columns(2)
    with left:
        st.markdown(f"**What it does.** {plain(of['effect'], 1000)}")
        st.markdown(f"**Remedy.** Set it: {plain(of['setting'], 300)}.")
        st.markdown(f"**Where it shows.** {plain(of['observe'] or 'nowhere that is known', 1000)}")
        for column in ("observe_note", "conflict", "also"):
            if of[column]:
                title = {"observe_note": "Note", "conflict": "Sources disagree", "also": "Also in"}[column]
                st.markdown(f"**{title}.** {plain(of[column], 1000)}")
    with right:
        st.markdown(
            f"**Recommended in** {plain(of['document'], 300)}, section {plain(of['section'])}, by "
            f"{plain(of['author'])}, {plain(of['published'])}"
        )
        if of["results"]:
            with st.expander(
                f"Published results about it ({len(of['results'])})", icon=":material/menu_book:"
            ):
                grid(published(data, of["results"]), "practice-results", sources=["reference_result"])
    rows = [row for row in found.rows.to_pylist() if row["practice"] == name]
    if any("(synthetic)" in row["evidence"] for row in rows):
        synthetic_badge()
    mine = found.rows.filter([row["practice"] == name for row in found.rows.to_pylist()])
    grid(mine, "practice-checks", sources=["best_practice_check"], columns=_COLUMNS, config=_CONFIG)
    _evidence(data, name, [row for row in rows if row["evidence_query"]])


def _evidence(data: Data, name: str, rows: list[dict[str, Any]]) -> None:
    if not rows:
        st.caption("There are no rows behind this: nothing that is loaded shows the setting.")
        return
    statements = {row["system"]: row["evidence_query"] for row in rows}
    system = st.segmented_control(
        "Evidence of", tuple(statements), default=next(iter(statements)), required=True, format_func=clean,
        key=f"practices_system-{name}", persist_state="session",
    )  # fmt: skip
    table = evidence(data, statements[system])
    st.caption(f"The rows behind it, {MOST} at most.")
    grid(table, "practice-evidence")
    with st.expander("Statement", icon=":material/database:"):
        st.code(statements[system], language="sql")
