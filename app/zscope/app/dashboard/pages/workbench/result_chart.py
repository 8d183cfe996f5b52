"""A chart of the result of a statement; the reader chooses its columns and its kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

import altair as alt
import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from zscope.app.dashboard.drawing import clean
from zscope.app.dashboard.style import BLUE, spread_colours, time_axis, time_tip, values

if TYPE_CHECKING:
    from collections.abc import Sequence

ChartKind = Literal["bar", "line", "point"]
_Name = TypeVar("_Name", str, str | None)
_ABSENT = object()
_MOST_ROWS = 5000
_MOST_COLOURS = 20
_X, _Y, _COLOUR = "x", "y", "colour"
"""Column names in the chart: Altair would read the names of the result as expressions."""


def result_chart(rows: pa.Table) -> None:
    """Draw the choices and the chart, if the rows can be drawn."""
    numbers = [field.name for field in rows.schema if _is_number(field.type)]
    others = [field.name for field in rows.schema if not pa.types.is_nested(field.type)]
    if not rows.num_rows or not numbers or len(others) < len((_X, _Y)):
        st.caption("A chart needs rows with a numeric column and another column.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind: ChartKind = st.segmented_control(
            "Kind", get_args(ChartKind), default="bar", required=True, key="workbench_kind",
            persist_state="session",
        )  # fmt: skip
        x = _column("Horizontal", "workbench_x", others, _default_x(rows, others))
        y = _column(
            "Vertical", "workbench_y", numbers, next((name for name in numbers if name != x), numbers[0])
        )
        colour = _column("Colour", "workbench_colour", [None, *others], _default_colour(rows, others, x))
    if rows.num_rows > _MOST_ROWS:
        st.caption(f"The chart shows the first {_MOST_ROWS:,} rows.")
    _draw(rows.slice(0, _MOST_ROWS), kind, x, y, colour)


def _column(title: str, key: str, options: Sequence[_Name], preset: _Name) -> _Name:
    """Choose a column; an earlier choice stays if the result has that column, too."""
    if st.session_state.get(key, _ABSENT) not in options:
        st.session_state.pop(key, None)
    chosen: _Name = st.selectbox(
        title, options, index=options.index(preset), key=key, width=220,
        format_func=lambda name: "none" if name is None else clean(name),
    )  # fmt: skip
    return chosen


def _default_x(rows: pa.Table, names: Sequence[str]) -> str:
    """A time, otherwise a column without numbers, otherwise the first column."""
    kinds = {name: rows.schema.field(name).type for name in names}
    times = [name for name in names if _is_time(kinds[name])]
    words = [name for name in names if not _is_number(kinds[name])]
    return [*times, *words, *names][0]


def _default_colour(rows: pa.Table, names: Sequence[str], x: str) -> str | None:
    """The first text column besides `x` with few values, if there is one."""
    texts = [name for name in names if name != x and pa.types.is_string(rows.schema.field(name).type)]
    return next((name for name in texts if len(pc.unique(rows[name])) <= _MOST_COLOURS), None)


def _draw(rows: pa.Table, kind: ChartKind, x: str, y: str, colour: str | None) -> None:
    columns = {_X: rows[x], _Y: rows[y], **({_COLOUR: rows[colour]} if colour else {})}
    table = pa.table({name: _drawable(column) for name, column in columns.items()})
    chart = alt.Chart(values(table))
    marked = {
        "bar": chart.mark_bar,
        "line": chart.mark_line,
        "point": chart.mark_point,
    }[kind](**_LOOK[kind] | ({} if colour else {"color": BLUE}))
    across, tip = _axis(table[_X].type, clean(x))
    encoded = marked.encode(
        x=across,
        y=alt.Y(f"{_Y}:Q", title=clean(y)),
        tooltip=[tip, alt.Tooltip(f"{_Y}:Q", title=clean(y)), *_named(colour)],
        **_coloured(table, kind, colour),
    )
    words = f"{clean(y)} by {clean(x)} as a {kind} chart."
    st.altair_chart(encoded.properties(height=360), width="stretch", key="workbench-chart", alt=words)


_LOOK: dict[ChartKind, dict[str, Any]] = {
    "bar": {}, "line": {"point": True}, "point": {"filled": True, "size": 60},
}  # fmt: skip


def _axis(kind: pa.DataType, title: str) -> tuple[alt.X, alt.Tooltip]:
    if _is_time(kind):
        return time_axis(_X, title), time_tip(_X, title)
    code = "Q" if _is_number(kind) else "N"
    return alt.X(f"{_X}:{code}", title=title, sort=None), alt.Tooltip(f"{_X}:{code}", title=title)


def _named(colour: str | None) -> list[alt.Tooltip]:
    return [alt.Tooltip(f"{_COLOUR}:N", title=clean(colour))] if colour else []


def _coloured(table: pa.Table, kind: ChartKind, colour: str | None) -> dict[str, Any]:
    """A colour for each value, with a shape for points and lines; a gradient for many numbers."""
    if colour is None:
        return {}
    present = list(dict.fromkeys(str(value) for value in table[_COLOUR].to_pylist() if value is not None))
    if _is_number(table[_COLOUR].type) and len(present) > _MOST_COLOURS:
        return {"color": alt.Color(f"{_COLOUR}:Q", title=clean(colour))}
    drawn: dict[str, Any] = {
        "color": alt.Color(
            f"{_COLOUR}:N", title=clean(colour), scale=spread_colours(present),
            legend=alt.Legend(symbolLimit=_MOST_COLOURS),
        )
    }  # fmt: skip
    if kind != "bar":
        drawn["shape"] = alt.Shape(f"{_COLOUR}:N", title=clean(colour), sort=present)
    return drawn


def _drawable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Times without a zone as UTC, so that no browser shifts them; everything else as number or text."""
    if pa.types.is_timestamp(column.type):
        return column.cast(pa.timestamp("us", "UTC"), safe=False)
    if pa.types.is_decimal(column.type):
        return column.cast(pa.float64(), safe=False)
    if _is_number(column.type) or _is_time(column.type):
        return column
    return column.cast(pa.string())


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _is_time(kind: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(kind) or pa.types.is_date(kind))
