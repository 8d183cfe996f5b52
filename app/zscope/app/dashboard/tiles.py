"""Tiles: a figure with its title, and the command that prints the figure.

The question mark of a tile shows the command with the filters of the page, so that a reader can check the
figure or take it into a script.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import altair as alt
import streamlit as st

from zscope.app.dashboard.drawing import clean, draw_chart, plain
from zscope.pipelines.metrics import metric
from zscope.pipelines.metrics.metric_statements import moment
from zscope.schemas.sql_text import literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamlit.delta_generator import DeltaGenerator

    from zscope.app.dashboard.page_data import PageData
    from zscope.app.shared.filters import Filters

FROM = "` of the rows of `"
"""Between the expression and the command in the help of a tile."""
_LONGEST = 4000
_NOT_KNOWN = "not known"
_TREND_PX, _TREND_WIDTH = 38, 72


@dataclass(frozen=True, slots=True)
class MetricFigure:
    """A figure from the rows of a metric that match the filters."""

    metric: str
    expression: str
    """An SQL expression over these rows."""
    by: tuple[str, ...] = ("all",)
    """Columns that the rows are grouped by; empty for the finest rows."""
    where: str = ""

    def source(self, filters: Filters) -> tuple[str, str]:
        """Return the expression, and the command that prints the rows."""
        definition = metric(self.metric)
        columns = {column.name for column in definition.columns if column.in_file}
        conditions = filters.without_period().conditions(columns)
        words = ["zscope", "metrics", self.metric]
        if self.by:
            words += ["--by", ",".join(self.by)]
        if definition.clock or definition.period:
            words += filters.options()
        if where := " AND ".join([*conditions, *([f"({self.where})"] if self.where else [])]):
            words += ["--where", where]
        return self.expression, shlex.join(words)


@dataclass(frozen=True, slots=True)
class StatementFigure:
    """A figure from one row of a statement, whatever the filters."""

    statement: str
    expression: str

    def source(self, _: Filters) -> tuple[str, str]:
        """Return the column, and the command that prints the row."""
        return self.expression, shlex.join(["zscope", "sql", " ".join(self.statement.split())])


Figure = MetricFigure | StatementFigure


@dataclass(frozen=True, slots=True)
class TileDetail:
    """The trend and the note of a tile."""

    trend: Sequence[float] = ()
    """Its value in each hour or day; a single one is not drawn."""
    note: str = ""
    """What it rests on, in a few words."""


def tile_places(number: int) -> list[DeltaGenerator]:
    """Return places for tiles in a row; on a phone two stand beside each other."""
    row = st.container(horizontal=True, gap="small")
    return [row.container(width="stretch", height="stretch") for _ in range(number)]


def tile(
    place: DeltaGenerator,
    data: PageData,
    title: str,
    shown: str,
    figure: Figure | None,
    explanation: str = "",
    detail: TileDetail = TileDetail(),
    **options: Any,  # noqa: ANN401 - those of Streamlit
) -> None:
    """Draw a figure with its title.

    `figure` is None if no command prints it: for simulated values, and for those of one connection. Where
    another period is chosen, a tile without a change (`delta`) says that.
    """
    parts = [explanation] if explanation else []
    if figure is not None:
        expression, command = (clean(text, _LONGEST) for text in figure.source(data.filters))
        # A name with a grave accent would end the code.
        if "`" not in expression + command:
            parts.append(f"`{expression}{FROM}{command}`")
    options["help"] = "\n\n".join(parts) or None
    if isinstance(figure, MetricFigure) and not options.get("delta") and data.filters.other() is not None:
        options |= {"delta": "not compared", "delta_color": "off", "delta_arrow": "off"}
    if detail == TileDetail():
        place.metric(title, shown, border=True, **options)
        return
    with place.container(border=True, gap=None, height="stretch"):
        with st.container(
            horizontal=True, horizontal_alignment="distribute", vertical_alignment="bottom", gap="xsmall"
        ):
            st.metric(title, shown, width="content", **options)
            if len(detail.trend) > 1:
                with st.container(width=_TREND_WIDTH):
                    draw_chart(_line(detail.trend), f"{title}-trend", f"{title}, over time")
        if detail.note:
            st.caption(plain(detail.note, _LONGEST))


def change_in_tile(data: PageData, quantity: str) -> dict[str, Any]:
    """Return the options of a tile with the change of its quantity; none without another period."""
    words = change_words(data, quantity)
    return {"delta": words, "delta_color": "off", "delta_arrow": "off"} if words else {}


def change_words(data: PageData, quantity: str) -> str:
    """Return the systems on which a quantity is less or more than in the other period; empty without one."""
    other = data.filters.other()
    if not quantity or other is None or other.begin is None or other.end is None:
        return ""
    times = {"earlier_from": other.begin, "earlier_to": other.end}
    rows = data.metric(
        "period_difference", where=f"quantity = {literal(quantity)}",
        settings=[f"SET VARIABLE {name} = {moment(time)}" for name, time in times.items()],
    )  # fmt: skip
    found: dict[str, list[str]] = {}
    for row in rows.to_pylist():
        found.setdefault(row["verdict"], []).append(row["system"])
    if not found.keys() - {_NOT_KNOWN}:
        return "change not known"
    seen = [f"{verdict} on {', '.join(found[verdict])}" for verdict in ("more", "less") if verdict in found]
    return "; ".join(seen) or "no change can be seen"


def _line(trend: Sequence[float]) -> alt.Chart:
    """A line without axes."""
    points = tuple({"place": place, "value": value} for place, value in enumerate(trend))
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(points), height=_TREND_PX, padding={"bottom": 0})
        .mark_area(line=True, opacity=0.2)
        .encode(x=alt.X("place:Q", axis=None), y=alt.Y("value:Q", axis=None))
    )
    return chart
