"""Published results next to what was measured here: charts, lists, and contradictions within a source."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import altair as alt
import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from zscope.app.dashboard.drawing import grid, picture, plain, synthetic_badge
from zscope.app.dashboard.style import GREY, PUBLISHED, VERDICT_COLOURS, colours, values
from zscope.pipelines.metrics import metric

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from zscope.app.dashboard.page_data import PageData
    from zscope.app.dashboard.style import Chart

ResultRow = dict[str, Any]

VERDICT_MARKS = {
    "agrees": "●", "differs": "✚", "direction only": "▲", "not comparable": "◆", "no data": "■",
}  # fmt: skip
"""The verdicts with the sign of each, so that no colour is needed."""
_FROM_REFERENCE = ("author", "published", "baseline", "candidate", "value_kind", "note")
"""Columns of the published results that the metric `benchmark` does not have."""
_FAR_PCT = 200
"""Larger changes are drawn on a separate axis, where they do not make all others unreadable."""
_UNITS = {"us": "µs", "CPU us": "CPU µs"}
_PCT = "pct"
_TEXT_COLUMNS = ("id", "metric", "side", "workload", "as_printed", "measured", "verdict", "why")
_NUMBERS = ("published", "agrees_from", "agrees_to", "value", "low", "high")
_FIGURE_CHARACTERS = 30
_SHORT_ON_A_PHONE = "windowSize()[0] < 600 ? split(datum.value, ' · ')[1] : datum.value"
"""The label of a row; a narrow window has room for the name of the result without its place."""
_SHAPES = {
    "agrees": "circle", "differs": "cross", "direction only": "triangle-up", "not comparable": "diamond",
    "no data": "square",
}  # fmt: skip
"""The signs of the verdicts by their names in Vega."""
_ROW_PX = 24
_AXES_PX = 130
_TIPS = {
    "id": "Result", "as_printed": "Published", "measured": "Measured", "verdict": "Verdict", "why": "Why",
    "metric": "What", "side": "Side", "workload": "Workload",
}  # fmt: skip
LEGEND = (
    "Orange: the published result, as a line for a number or for the end of a bound, and as a band for "
    "everything that agrees with it. Point: the value measured here with its 95 % interval. If a document "
    "does "
    "not name a side, the interval reaches from the value of one side to the value of the other."
)
_LISTED = ("id", "as_printed", "measured", "verdict", "why", "conflict")
_LONG = 400


@dataclass(frozen=True, slots=True)
class CitedResult:
    """A published figure and its place in a document."""

    as_printed: str
    value: float | None
    direction: str | None
    where: str


def cited_results(data: PageData, *ids: str) -> dict[str, CitedResult]:
    """Return published results by their names."""
    marks = ", ".join("?" for _ in ids)
    rows = data.rows(
        "SELECT id, as_printed, value, direction, document, published, figure FROM reference_result "
        f"WHERE id IN ({marks})",
        ids,
    )
    return {
        row["id"]: CitedResult(
            row["as_printed"], row["value"], row["direction"],
            ", ".join(str(row[part]) for part in ("document", "published", "figure") if row[part]),
        )
        for row in rows.to_pylist()
    }  # fmt: skip


@dataclass(frozen=True, slots=True)
class ResultPanel:
    """Results with the same unit, and the ends of their axis."""

    title: str
    rows: pa.Table
    """row, the columns of _TEXT_COLUMNS and of _NUMBERS."""
    ends: tuple[float, float]


def published_results(data: PageData) -> pa.Table:
    """Return all published results with their verdicts, in the order of sections and figures."""
    sql = f"SELECT id, {', '.join(_FROM_REFERENCE)} FROM reference_result"
    references = {row["id"]: row for row in data.rows(sql).to_pylist()}
    results = data.metric("benchmark")
    ids = results["id"].to_pylist()
    for name in _FROM_REFERENCE:
        column = pa.array([references[result][name] for result in ids], pa.string())
        results = results.append_column(name, column)
    rows = results.select(["area", "section", "figure", "id"]).to_pylist()
    return results.take(sorted(range(len(rows)), key=lambda n: _place(rows[n])))


def filtered_results(
    results: pa.Table, verdicts: Sequence[str], documents: Sequence[str], *, measured: bool
) -> list[ResultRow]:
    """Return the results that match the choices of the reader; an empty choice matches all."""
    return [
        row
        for row in results.to_pylist()
        if (not verdicts or row["verdict"] in verdicts)
        and (not documents or row["document"] in documents)
        and (not measured or row["measured"] is not None)
    ]


def has_no_number(row: ResultRow) -> bool:
    """Return whether a result was published without a number."""
    return all(row[name] is None for name in ("published_value", "published_low", "published_high"))


def result_panels(rows: Sequence[ResultRow]) -> Iterator[ResultPanel]:
    """Yield the results that can be drawn, one panel for each unit."""
    drawn: dict[str, list[ResultRow]] = {}
    for row in rows:
        if has_no_number(row) and _shown(row)["value"] is None:
            continue
        drawn.setdefault(_axis(row), []).append(row)
    for title in sorted(drawn, key=lambda title: (not title.startswith("Change"), "words" in title, title)):
        yield _panel(title, drawn[title])


def _axis(row: ResultRow) -> str:
    far = max(abs(number) for number in (_published(row), _shown(row)["value"], 0.0) if number is not None)
    beyond = f", beyond {_FAR_PCT} %" if far > _FAR_PCT else ""
    if has_no_number(row):
        return f"Change (%), published in words{beyond}"
    if row["value_kind"] == "percent_share":
        return "Share (%)"
    if row["measured_unit"] == _PCT:
        return f"Change (%){beyond}"
    return f"Published value ({_UNITS.get(row['published_unit'], row['published_unit'])})"


def _panel(title: str, rows: Sequence[ResultRow]) -> ResultPanel:
    lines = [
        {name: row[name] for name in _TEXT_COLUMNS} | {"row": _label(row)} | _agreed(row) | _shown(row)
        for row in rows
    ]
    known = [line[name] for line in lines for name in _NUMBERS if line[name] is not None]
    least, most = min(0.0, *known), max(0.0, *known)
    margin = 0.05 * (most - least) or 1.0
    ends = (least - margin if least < 0 else 0.0, most + margin)
    for line, row in zip(lines, rows, strict=True):
        # A direction without a number agrees with everything on one side, up to the end of the axis.
        if has_no_number(row) and row["published_direction"] == "decrease":
            line["agrees_from"] = ends[0]
        if has_no_number(row) and row["published_direction"] == "increase":
            line["agrees_to"] = ends[1]
    text = {name: pa.array([line[name] for line in lines], pa.string()) for name in ("row", *_TEXT_COLUMNS)}
    numbers = {name: pa.array([line[name] for line in lines], pa.float64()) for name in _NUMBERS}
    return ResultPanel(title, pa.table(text | numbers), ends)


def _agreed(row: ResultRow) -> dict[str, float | None]:
    """The published value, and the range of measurements that agree with it."""
    if not has_no_number(row):
        return {
            "published": _published(row),
            "agrees_from": _first(row["accepted_low"], row["published_low"]),
            "agrees_to": _first(row["accepted_high"], row["published_high"]),
        }
    same = _comparable_pct()
    begin, end = {
        "increase": (0.0, None), "decrease": (None, 0.0),
        "no_change": (-same, same), "comparable": (-same, same),
    }.get(row["published_direction"], (None, None))  # fmt: skip
    return {"published": None, "agrees_from": begin, "agrees_to": end}


def _published(row: ResultRow) -> float | None:
    """The published figure in the unit of the measurement; for two levels, the change between them."""
    return _first(row["published_change_pct"], row["published_value"])


def _shown(row: ResultRow) -> dict[str, float | None]:
    """The measured value; the range over the sides if the document does not name one."""
    sides = [row[f"measured_{side}_pct"] for side in ("both", "client", "server")]
    known = [side for side in sides if side is not None]
    if row["measured_value"] is None and known:
        return {"value": known[0], "low": min(known), "high": max(known)}
    return {"value": row["measured_value"], "low": row["measured_low"], "high": row["measured_high"]}


def _comparable_pct() -> float:
    [parameter] = [
        parameter
        for parameter in metric("benchmark").parameters
        if parameter.name == "benchmark_comparable_pct"
    ]
    return float(parameter.default)


def _label(row: Mapping[str, Any]) -> str:
    place = row["figure"] or row["section"]
    if len(place) > _FIGURE_CHARACTERS:
        place = f"{place[: _FIGURE_CHARACTERS - 1]}…"
    return f"{place} · {row['id']} {VERDICT_MARKS[row['verdict']]}"


def _place(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Sort key: numbers of sections, then of figures, compared as numbers."""
    numbers = re.findall(r"\d+", row["section"]) if row["section"][:1].isdigit() else []
    figures = re.findall(r"\d+", row["figure"] or "")
    return (
        row["area"], [int(text) for text in numbers], not figures, [int(text) for text in figures], row["id"],
    )  # fmt: skip


def _first(*numbers: float | None) -> float | None:
    return next((number for number in numbers if number is not None), None)


def comparison_chart(panel: ResultPanel) -> Chart:
    """Return the results of a panel as rows that can be picked: published and measured."""
    picked = alt.selection_point(name="picked", fields=["id"], on="click")
    base = alt.Chart(values(_without_nulls(panel.rows))).encode(y=_rows(panel))
    scale = alt.Scale(domain=list(panel.ends), nice=False, zero=False)
    agrees = base.mark_bar(color=PUBLISHED, opacity=0.25, height=_ROW_PX - 8).encode(
        x=alt.X("agrees_from:Q", title=panel.title, scale=scale), x2=alt.X2("agrees_to:Q")
    )
    published = base.mark_tick(color=PUBLISHED, thickness=3, size=_ROW_PX - 6).encode(x=alt.X("published:Q"))
    present = [verdict for verdict in VERDICT_MARKS if verdict in panel.rows["verdict"].to_pylist()]
    legend = alt.Legend(orient="top")
    verdict = alt.Color(
        "verdict:N", title=None, legend=legend,
        scale=colours({name: VERDICT_COLOURS[name] for name in present}),
    )  # fmt: skip
    interval = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), color=verdict)
    measured = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=alt.X("value:Q"),
        color=verdict,
        shape=alt.Shape(
            "verdict:N", title=None, scale=colours({name: _SHAPES[name] for name in present}), legend=legend
        ),
    )
    # Above everything else, so that the whole row can be clicked.
    row = (
        base.mark_rect(opacity=0, cursor="pointer")
        .encode(tooltip=[alt.Tooltip(f"{name}:N", title=title) for name, title in _TIPS.items()])
        .add_params(picked)
    )
    zero = alt.Chart(alt.InlineData([{"zero": 0}])).mark_rule(color=GREY).encode(x=alt.X("zero:Q"))
    drawn = [agrees, zero, published, interval, measured, row]
    return alt.layer(*drawn, height=_AXES_PX + _ROW_PX * panel.rows.num_rows)


def _without_nulls(rows: pa.Table) -> pa.Table:
    """The same rows with words instead of nulls, for the tooltips."""
    for name in _TIPS:
        words = pc.fill_null(rows[name], "nothing" if name == "measured" else "not known")
        rows = rows.set_column(rows.column_names.index(name), name, words)
    return rows


def _rows(panel: ResultPanel) -> alt.Y:
    axis = alt.Axis(
        labelLimit=380, labelExpr=_SHORT_ON_A_PHONE, labelOverlap=False, grid=True, tickBand="extent"
    )
    return alt.Y("row:N", title=None, sort=panel.rows["row"].to_pylist(), axis=axis)


def verdict_chart(table: pa.Table) -> Chart:
    """Return the number of results with each verdict, as bars."""
    base = alt.Chart(values(table)).encode(
        y=alt.Y("verdict:N", title=None, sort=list(VERDICT_MARKS), axis=alt.Axis(labelLimit=140)),
        x=alt.X("results:Q", title="Published results", axis=alt.Axis(tickMinStep=1)),
        tooltip=[alt.Tooltip("verdict:N", title="Verdict"), alt.Tooltip("results:Q", title="Results")],
    )
    bars = base.mark_bar().encode(color=alt.Color("verdict:N", scale=colours(VERDICT_COLOURS), legend=None))
    numbers = base.mark_text(align="left", dx=4).encode(text=alt.Text("results:Q"))
    return alt.layer(bars, numbers, height=180)


def published_section(data: PageData, area: str, slug: str) -> None:
    """Draw the published results of an area with what was measured, and list contradictions in the source."""
    rows = [row for row in published_results(data).to_pylist() if row["area"] == area]
    st.header("Comparison with published results")
    measured = [row for row in rows if row["measured"]]
    with st.container(horizontal=True, vertical_alignment="center"):
        if any(row["synthetic"] for row in measured):
            synthetic_badge()
        st.caption(LEGEND)
    for number, panel in enumerate(result_panels(rows)):
        words = f"{panel.title} of each result: published and measured. The verdicts are in the data below."
        picture(
            comparison_chart(panel), panel.rows, f"{slug}-published-{number}", words, sources=["benchmark"]
        )
    _all_rows(rows, slug)
    _conflicts(rows)


def _all_rows(rows: list[ResultRow], slug: str) -> None:
    table = pa.table({name: pa.array([row[name] for row in rows], pa.string()) for name in _LISTED})
    grid(table, f"{slug}-published-rows", sources=["benchmark"])


def _conflicts(rows: list[ResultRow]) -> None:
    conflicts = [row for row in rows if row["conflict"]]
    if not conflicts:
        return
    lines = (
        f"- {plain(row['id'])} ({plain(row['as_printed'])}): {plain(row['conflict'], _LONG)}"
        for row in conflicts
    )
    with st.expander(f"Contradictions within the source ({len(conflicts)})", icon=":material/warning:"):
        st.markdown("\n".join(lines))
