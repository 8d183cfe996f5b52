"""One published result: the printed figure, the measurement, and the calculation between the two."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, Literal

import altair as alt
import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from zscope.app.dashboard.drawing import downloads, grid, picture, plain, synthetic_badge
from zscope.app.dashboard.run_intervals import MEASURES, RUN_COMMANDS, draw_intervals, interval_table
from zscope.app.dashboard.style import BLUE, GREY, ORANGE, values
from zscope.app.dashboard.tags import side_by_side
from zscope.app.shared.column_labels import label
from zscope.pipelines.benchmark.arithmetic import ArithmeticMismatchError, Explanation
from zscope.pipelines.benchmark.wording import plain_title
from zscope.schemas.sql_text import literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from zscope.app.dashboard.page_data import PageData


def arithmetic(data: PageData, result: str) -> pa.Table:
    """Return the lines of the calculation of one result, from the published figure to the verdict."""
    return data.metric("benchmark_arithmetic", where=f"id = {literal(result)}").sort_by("line")


def part(lines: pa.Table, *names: str) -> pa.Table:
    """Return the lines of some parts, without columns that are empty in all of them."""
    rows = lines.filter(pc.is_in(lines["part"], pa.array(names)))
    used = [name for name in rows.column_names if rows[name].null_count < rows.num_rows]
    return rows.select([name for name in used if name not in ("id", "line", "synthetic")])


def commands_for(data: PageData, result: str) -> str:
    """Return the commands that name the two runs of a result, as far as the document describes them."""
    rows = data.rows(
        """
        SELECT r.workload, r.side, r.baseline_tags, r.candidate_tags, r.condition_tags, f.both_tags
        FROM reference_result AS r INNER JOIN reference_filling AS f ON r.id = f.id
        WHERE r.id = ? AND f.filled_from = 'runs'
        """,
        [result],
    ).to_pylist()
    return "\n".join(
        _add(name, row, [*row[f"{name}_tags"], *row["condition_tags"], *row["both_tags"]])
        for row in rows
        for name in ("baseline", "candidate")
    )


def _add(name: str, row: dict[str, Any], tags: Sequence[str]) -> str:
    role = "server" if row["side"] in ("server", "sender") else "client"
    workload = f" --workload {shlex.quote(row['workload'])}" if row["workload"] else ""
    options = "".join(f" --tag {shlex.quote(tag)}" for tag in dict.fromkeys(tags))
    return f"zscope runs add {name} --system SYSTEM --role {role} --from TIME --to TIME{workload}{options}"


_SOURCE = ["benchmark_arithmetic"]
_TABLES = {
    "Figures and change": ("figure", "measure", "count", "change", "check", "accepted", "verdict"),
    "Intervals": ("interval",),
    "Sums": ("sum",),
    "Runs": ("run",),
    "Pairs of runs": ("pair",),
}


def show_arithmetic(data: PageData, row: dict[str, Any]) -> None:
    """Calculate a result again and draw every step."""
    st.markdown("#### Calculation")
    with st.spinner("Calculating the result again"):
        lines = arithmetic(data, row["id"])
    for rule in part(lines, "rule").to_pylist():
        st.markdown(f"Rule {plain(rule['what'])}: {plain(rule['text'], _LONG)}")
    explanation = Explanation(row["id"], lines)
    try:
        if sides := explanation.check():
            st.success(
                f"Calculated again from {explanation.calculated_from}: same result for {', '.join(sides)}.",
                icon=":material/calculate:",
            )
    except ArithmeticMismatchError as error:
        st.error(plain(str(error), _LONG), icon=":material/error:")
    _changes(lines)
    _intervals(lines, row)
    tables = {name: part(lines, *parts) for name, parts in _TABLES.items()}
    filled = {name: table for name, table in tables.items() if table.num_rows}
    for tab, (name, table) in zip(st.tabs(list(filled)), filled.items(), strict=True):
        with tab:
            grid(table, f"benchmark-{name.lower().replace(' ', '-')}", sources=_SOURCE)
    st.caption("All lines of the calculation, as printed by zscope benchmark --explain:")
    downloads(lines, f"benchmark-{row['id']}")


def _changes(lines: pa.Table) -> None:
    """The change on each side, and the range that agrees with the published figure."""
    changes = lines.filter(pc.field("part") == "change")
    if not changes.num_rows:
        return
    table = changes.select(["role", "value", "low", "high", "text"])
    # A figure without a side needs a name on the axis.
    named = table.set_column(0, "role", pc.fill_null(table["role"], "measured"))
    unit = changes["unit"][0].as_py()
    base = alt.Chart(values(named)).encode(
        y=alt.Y("role:N", title=None, sort=["client", "server", "both"]),
        tooltip=[
            alt.Tooltip("role:N", title="Side"),
            alt.Tooltip("value:Q", title=f"Measured ({unit})", format="+.2f"),
            alt.Tooltip("low:Q", title=f"From ({unit})", format="+.2f"),
            alt.Tooltip("high:Q", title=f"To ({unit})", format="+.2f"),
            alt.Tooltip("text:N", title="Calculated as"),
        ],
    )
    title = f"Measured ({unit}), with the 95 % interval if there is one"
    x = alt.X("value:Q", title=title, scale=alt.Scale(zero=True, nice=True))
    drawn: list[alt.Chart] = [
        alt.Chart(alt.InlineData([{"zero": 0}])).mark_rule(color=GREY).encode(x=alt.X("zero:Q")),
        base.mark_rule(strokeWidth=2, color=BLUE).encode(x=alt.X("low:Q"), x2=alt.X2("high:Q")),
        base.mark_point(filled=True, size=80, color=BLUE, opacity=1).encode(x=x),
    ]
    words = "Change on each side with its interval."
    for accepted in lines.filter(pc.field("part") == "accepted").to_pylist():
        band = alt.Chart(alt.InlineData([{"from": accepted["low"], "to": accepted["high"]}]))
        drawn.insert(
            0, band.mark_rect(color=ORANGE, opacity=0.25).encode(x=alt.X("from:Q"), x2=alt.X2("to:Q"))
        )
        words = "Change on each side with its interval; a band for what agrees with the published figure."
        st.caption("Orange band: values that agree with the published figure.")
    chart = alt.layer(*drawn, height=90 + 30 * table.num_rows)
    picture(chart, table, "benchmark-changes", words, sources=_SOURCE)


def _intervals(lines: pa.Table, row: dict[str, Any]) -> None:
    rows = lines.filter(pc.field("part") == "interval").to_pylist()
    if not rows or row["measure"] not in MEASURES:
        return
    intervals = [
        {
            "name": line["run"], "system": line["system"], "role": line["role"],
            "interval_start_utc": line["interval_start_utc"], "interval_ms": line["seconds"] * 1000,
            "cpu_s": line["cpu_s"], "ziip_s": None, "transactions": line["transactions"],
            "in_bytes": line["bytes"], "out_bytes": 0, "latency_ms": line["latency_ms"],
            "trimmed": not line["counts"], "why": line["text"],
        }
        for line in rows
    ]  # fmt: skip
    starts = {
        name: min(line["interval_start_utc"] for line in rows if line["run"] == name)
        for name in {line["run"] for line in rows}
    }
    st.caption("The intervals of both runs. Intervals that are not used, such as ramps, have another shape.")
    runs = (row["baseline_run"], row["candidate_run"])
    draw_intervals(interval_table(intervals, starts), row["measure"], runs,
                   "benchmark-run-intervals")  # fmt: skip


_BADGES: dict[str, Literal["blue", "red", "green", "violet", "gray"]] = {
    "agrees": "blue", "differs": "red", "direction only": "green", "other machine": "blue",
    "not comparable": "violet", "no data": "gray",
}  # fmt: skip
_MARKS = {
    "agrees": "●", "differs": "✚", "direction only": "▲", "other machine": "○", "not comparable": "◆",
    "no data": "■",
}  # fmt: skip
"""The verdicts with the sign of each, so that no colour is needed."""
_LONG = 1000
"""Texts of the published results are shown in full."""
_SIDES = {"client": "measured_client_pct", "server": "measured_server_pct", "both": "measured_both_pct"}


def _result(data: PageData, name: str) -> dict[str, Any]:
    """A published result with its verdict."""
    [verdict] = data.metric("benchmark", where=f"id = {literal(name)}").to_pylist()
    [published] = data.rows("SELECT * FROM reference_result WHERE id = ?", [name]).to_pylist()
    return {**published, **verdict}


def show_result(data: PageData, name: str, choose: Callable[[str], None]) -> None:
    """Draw everything about a result; `choose` opens another result."""
    row = _result(data, name)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.header(plain(row["id"]), width="content")
        st.badge(f"{_MARKS[row['verdict']]} {row['verdict']}", color=_BADGES[row["verdict"]])
        if row["synthetic"] and row["measured"]:
            synthetic_badge()
    st.markdown(f"**{plain(plain_title(row), _LONG)}**")
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
        ("Metric", MEASURES.get(row["metric"], label(row["metric"]))),
        ("Side", row["side"] or "not named"),
        ("From", row["baseline"]),
        ("To", row["candidate"]),
        ("Workload", row["workload"]),
        ("Source", ", ".join(filter(None, (row["document"], row["section"], row["figure"])))),
        ("By", ", ".join(filter(None, (row["author"], row["published"])))),
        ("Note", row["note"]),
    ])  # fmt: skip


def _measured(row: dict[str, Any]) -> None:
    st.markdown("**Measured here**")
    sides = [f"{side} {row[name]:+.1f} %" for side, name in _SIDES.items() if row[name] is not None]
    accepted = [row["accepted_low"], row["accepted_high"]]
    unit = "%" if row["measured_unit"] == "pct" else row["measured_unit"]
    agrees = " to ".join("any value" if end is None else f"{end:+g} {unit}" for end in accepted)
    _facts([
        ("Figure", row["measured"] or "nothing"),
        ("Each side", ", ".join(sides)),
        ("Verdict of each side", row["would_be"] if row["published_side"] == "unspecified" else ""),
        ("Agrees from", agrees if any(end is not None for end in accepted) else ""),
        ("Because of", row["accepted_why"]),
        ("By", row["measured_by"]),
        ("From", row["baseline_run"]),
        ("To", row["candidate_run"]),
        ("Of the published value", "" if row["ratio"] is None else f"{row['ratio']:.2f} times"),
        ("Matching pairs of runs", row["pairs_found"] or ""),
    ])  # fmt: skip


def _facts(facts: Iterable[tuple[str, object]]) -> None:
    st.markdown(
        "\n".join(f"- {name}: {plain(value, _LONG)}" for name, value in facts if value not in (None, ""))
    )


def _conflict(row: dict[str, Any], choose: Callable[[str], None]) -> None:
    if not row["conflict"]:
        return
    st.warning(
        f"The documents contradict each other: {plain(row['conflict'], _LONG)}", icon=":material/warning:"
    )
    with st.container(horizontal=True):
        for other in row["conflicts_with"] or ():
            st.button(plain(other), key=f"benchmark-other-{other}", on_click=choose, args=(other,),
                      icon=":material/arrow_forward:")  # fmt: skip


def _needed(data: PageData, row: dict[str, Any]) -> None:
    if not row["needs"]:
        return
    st.info(f"A measurement of this result needs: {plain(row['needs'], _LONG)}", icon=":material/inbox:")
    if row["filled_from"] == "runs":
        st.code(commands_for(data, row["id"]) or RUN_COMMANDS, language="sh", wrap_lines=True)


def _environments(row: dict[str, Any]) -> None:
    st.markdown("#### Published and measured environment")
    table = side_by_side(row["environment_published"] or [], row["environment_here"] or [])
    if not table.num_rows:
        st.caption("Neither the document nor a run describes its environment.")
        return
    names = {"tag": "Tag", "compared": "Compared", "left": "Published", "right": "Here"}
    grid(table, "benchmark-environments",
         config={key: st.column_config.TextColumn(name) for key, name in names.items()})  # fmt: skip
    st.caption(
        "Here: the tags that both runs share, with machine and release from SMF 70. Two values count as the "
        "same if one contains all words of the other."
    )
