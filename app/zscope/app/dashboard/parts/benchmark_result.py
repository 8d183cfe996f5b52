"""One published result: what was printed, what was measured, and all that lies between the two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import streamlit as st

from zscope.app.dashboard.explained import label
from zscope.app.dashboard.parts.benchmark_arithmetic import show_arithmetic
from zscope.app.dashboard.queries.benchmark import MARKS
from zscope.app.dashboard.queries.benchmark_arithmetic import RUN_COMMANDS, commands_for
from zscope.app.dashboard.queries.compare import MEASURES
from zscope.app.dashboard.queries.tags import side_by_side
from zscope.app.dashboard.show import grid, plain, synthetic_badge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from zscope.app.dashboard.answers import Data

_BADGES: dict[str, Literal["blue", "red", "green", "violet", "gray"]] = {
    "agrees": "blue", "differs": "red", "direction only": "green", "not comparable": "violet",
    "no data": "gray",
}  # fmt: skip
_LONG = 1000
"""Sentences of the table of published results are shown whole."""
_INFORMATION = {"client": "measured_client_pct", "server": "measured_server_pct", "both": "measured_both_pct"}


def show_result(data: Data, row: dict[str, Any], choose: Callable[[str], None]) -> None:
    """Draw all that there is about a result; `choose` is what a click on another one does."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(plain(row["id"]), width="content")
        st.badge(f"{MARKS[row['verdict']]} {row['verdict']}", color=_BADGES[row["verdict"]])
        if row["synthetic"] and row["measured"]:
            synthetic_badge()
    st.markdown(plain(row["why"], _LONG))
    left, right = st.columns(2)
    with left.container(border=True):
        _published(row)
    with right.container(border=True):
        _measured(row)
    _conflict(row, choose)
    if row["measured"] is None:
        _needed(data, row)
    _environments(row)
    show_arithmetic(data, row)


def _published(row: dict[str, Any]) -> None:
    st.markdown("**Published**")
    _facts([
        ("Figure", row["as_printed"]),
        ("What", f"{MEASURES.get(row['metric'], label(row['metric']))}, side: {row['side'] or 'not told'}"),
        ("From", row["baseline"]),
        ("To", row["candidate"]),
        ("Workload", row["workload"]),
        ("Source", ", ".join(filter(None, (row["document"], row["section"], row["figure"])))),
        ("By", ", ".join(filter(None, (row["author"], row["published"])))),
        ("Note", row["note"]),
    ])  # fmt: skip


def _measured(row: dict[str, Any]) -> None:
    st.markdown("**Measured here**")
    sides = [f"{side} {row[name]:+.1f} %" for side, name in _INFORMATION.items() if row[name] is not None]
    accepted = [row["accepted_low"], row["accepted_high"]]
    unit = "%" if row["measured_unit"] == "pct" else row["measured_unit"]
    agrees = " to ".join("any" if end is None else f"{end:+g} {unit}" for end in accepted)
    _facts([
        ("Figure", row["measured"] or "nothing"),
        ("Each side", ", ".join(sides)),
        ("It would be", row["would_be"] if row["measured_value"] is None else ""),
        ("Agrees from", agrees if any(end is not None for end in accepted) else ""),
        ("By", row["measured_by"]),
        ("From", row["baseline_run"]),
        ("To", row["candidate_run"]),
        ("Pairs that fit", row["pairs_found"] or ""),
    ])  # fmt: skip


def _facts(facts: Iterable[tuple[str, object]]) -> None:
    st.markdown(
        "\n".join(f"- {name}: {plain(value, _LONG)}" for name, value in facts if value not in (None, ""))
    )


def _conflict(row: dict[str, Any], choose: Callable[[str], None]) -> None:
    if not row["conflict"]:
        return
    st.warning(
        f"The sources contradict each other: {plain(row['conflict'], _LONG)}", icon=":material/warning:"
    )
    with st.container(horizontal=True):
        for other in row["conflicts_with"] or ():
            st.button(plain(other), key=f"benchmark-other-{other}", on_click=choose, args=(other,),
                      icon=":material/arrow_forward:")  # fmt: skip


def _needed(data: Data, row: dict[str, Any]) -> None:
    if not row["needs"]:
        return
    st.info(f"To fill this row it takes: {plain(row['needs'], _LONG)}", icon=":material/inbox:")
    if row["filled_from"] == "runs":
        st.code(commands_for(data, row["id"]) or RUN_COMMANDS, language="sh", wrap_lines=True)


def _environments(row: dict[str, Any]) -> None:
    st.markdown("#### The systems there and here")
    table = side_by_side(row["environment_published"] or [], row["environment_here"] or [])
    if not table.num_rows:
        st.caption("Neither the document nor a run says anything about them.")
        return
    names = {"tag": "What", "compared": "Compared", "left": "Published", "right": "Here"}
    grid(table, "benchmark-environments",
         config={key: st.column_config.TextColumn(name) for key, name in names.items()})  # fmt: skip
    st.caption(
        "Here: the tags that both runs share, with machine and release from SMF 70. The same: one has all "
        "words of the other."
    )
