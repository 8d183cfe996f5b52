"""Cards: a figure on a page with its title and its picture, and its rows and command for those who ask.

A page is a list of rows of figures, each with its share of the width:

    draw_figures(data, [(Card("cost-by-day", 4), Card("advice-first", 3)), (Card("price-by-job"),)])
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING
from zlib import crc32

import altair as alt
import pyarrow as pa
import streamlit as st
from msgspec import structs

from zscope.app.dashboard.drawing import (
    PICKED,
    Zoom,
    draw_chart,
    folded,
    grid,
    no_data,
    plain,
    without_effect,
)
from zscope.app.dashboard.figure_charts import chart_of, clock_of
from zscope.app.dashboard.figure_lists import draw_list, draw_texts
from zscope.app.dashboard.filter_bar import choose
from zscope.app.dashboard.links import title_link
from zscope.app.dashboard.over_time import ChartOverTime, marked_chart
from zscope.app.figures.drawn_values import (
    answer_of,
    drawn_rows,
    left_out,
    not_compared,
    others_of,
    real,
    row_at,
    words_of,
)
from zscope.app.figures.figure_command import command_of
from zscope.app.figures.figure_declarations import declared_figures, heading
from zscope.app.figures.figure_rows import figure_rows
from zscope.app.shared.covered_days import PICTURE_LEGEND

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from zscope.app.dashboard.page_data import PageData
    from zscope.app.dashboard.style import Chart
    from zscope.app.figures.figure_declarations import FigureDeclaration
    from zscope.app.figures.figure_rows import FigureRows, Row

_TABLE_ROWS, _TABLE_PX = 8, 318
"""A table with more rows is scrolled."""
_FILTER_OF = {"system": "system", "server_port": "port", "job_name": "job"}
_STRIPS_PX = 460
"""Height of the strips of days, which scroll: there are as many as systems have sources."""


@dataclass(frozen=True, slots=True)
class Card:
    """A figure on a page."""

    figure: str = ""
    """The id of its declaration; none for a card with choices."""
    width: int = 1
    """Its share of the width of its row."""
    page: str = ""
    """The page with more about it."""
    where: str = ""
    """A condition that narrows the rows, beside that of the declaration."""
    title: str = ""
    """What stands above it instead of the question or title of the figure."""
    folded: bool = False
    """Whether the reader has to open it."""
    below: tuple[Card, ...] = ()
    """Cards below it, in its place of the row."""
    choice: str = ""
    """Of a card with choices: the name of the chosen one in the address."""
    choices: Mapping[str, Card] = field(default_factory=dict)
    """Figures of which one is shown, by the words to choose them by; the first one at first."""
    pick: Callable[[Row], None] | None = None
    """What a click on a row does, instead of choosing its system, port or job."""

    @property
    def shown(self) -> tuple[Card, ...]:
        """All cards that can be shown in its place."""
        return (*(self.choices.values() or (self,)), *self.below)

    @property
    def name(self) -> str:
        """What tells it apart on a page: the figure, and its condition."""
        return f"{self.figure}-{crc32(self.where.encode()):08x}" if self.where else self.figure

    @property
    def declaration(self) -> FigureDeclaration:
        """The figure, narrowed by the condition."""
        figure = declared_figures()[self.figure]
        where = " AND ".join(f"({each})" for each in (figure.where, self.where) if each)
        return structs.replace(figure, where=where) if self.where else figure


def draw_figures(data: PageData, rows: Sequence[Sequence[Card]]) -> None:
    """Draw rows of figures, each in a card."""
    filled: dict[str, bool] = {}
    with st.container(gap="xsmall"):
        for cards in rows:
            for place, card in zip(
                st.columns([card.width for card in cards], gap="xsmall"), cards, strict=True
            ):
                with place:
                    for each in (card, *card.below):
                        _framed(data, each, filled)


def _framed(data: PageData, card: Card, filled: dict[str, bool]) -> None:
    if card.folded:
        title = card.title or card.shown[0].declaration.title
        folded(title, f"{card.choice or card.name}-folded", partial(_draw, data, card, filled))
    else:
        with st.container(border=True, height="stretch", gap="xsmall"):
            _draw(data, card, filled)


def _draw(data: PageData, card: Card, filled: dict[str, bool]) -> None:
    above = st.container(gap="xsmall")
    if card.choices:
        chosen: str = st.segmented_control(
            "Show", tuple(card.choices), default=next(iter(card.choices)), required=True, key=card.choice,
            bind="query-params", persist_state="session", label_visibility="collapsed",
        )  # fmt: skip
        card = card.choices[chosen]
    found = figure_rows(data, card.declaration, filled)
    figure = found.figure
    rows = drawn_rows(found)
    with above:
        _head(data, found, card)
    below = []
    if rows:
        below += _picture(data, found, card)
    elif found.rows and not figure.chart:
        picked = grid(
            _table(found), f"{card.name}-card", sources=[figure.metric], columns=figure.columns,
            config={name: _bar(found, name) for name in figure.bars},
            height=_TABLE_PX if len(found.rows) > _TABLE_ROWS else None, pick=card.pick is not None,
        )  # fmt: skip
        if card.pick is not None and picked is not None:
            card.pick(found.rows[picked])
    elif found.has_data and figure.none:
        st.markdown(figure.none)
    else:
        no_data(figure.needs, figure.load, card.name)
    if found.evidence:
        below.insert(0, found.evidence.words)
    draw_texts(note=" · ".join(filter(None, below)))
    without_effect(found.ignored)
    if words := not_compared(found):
        st.caption(words)


def _head(data: PageData, found: FigureRows, card: Card) -> None:
    """Draw the title, which links to a page with details, the description of the chart, and the answer."""
    figure, rows = found.figure, drawn_rows(found)
    title = f"**{plain(card.title or figure.question or figure.title)}**"
    with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="xsmall"):
        if card.page:
            title_link(card.page, title)
        else:
            st.markdown(title, width="stretch")
        with st.container(width="content"):
            _more(data, found, card.name)
    what = ""
    if figure.chart and rows:
        first = f" (first {len(rows)} of {found.count:,})" if left_out(found) else ""
        other = f"; grey: {found.compared_with}" if others_of(found) else ""
        what = f"{figure.chart.what}{other}{first}"
    draw_texts(what, answer_of(found))


def _picture(data: PageData, found: FigureRows, card: Card) -> list[str]:
    """Draw the picture, and return what to say below it."""
    name, chart = card.name, chart_of(found)
    declared = found.figure.chart
    assert declared is not None, "only rows of a picture are drawn"
    if chart is None:
        draw_list(found)
    elif declared.kind == "strips":
        st.caption(PICTURE_LEGEND)
        with st.container(height=_STRIPS_PX, border=False):
            draw_chart(chart, name, words_of(found))
    elif not declared.time:
        if card.pick is None:
            draw_chart(_clickable(chart, found), name, words_of(found), click=_click(data, found))
        elif picked := draw_chart(_with_selection(chart), name, words_of(found), pick=True):
            card.pick(row_at(found, int(picked["place"])))
    else:
        times = pa.table({clock_of(found): [row[declared.time] for row in drawn_rows(found)]})
        marked = marked_chart(data, ChartOverTime(_clickable(chart, found), clock_of(found)), times)
        draw_chart(marked.chart, name, words_of(found), zoom=marked.zoom, click=_click(data, found))
        return [marked.marks_in_words] if marked.kinds else []
    return []


def _click(data: PageData, found: FigureRows) -> Zoom | None:
    """What a click on a bar or cell does: it chooses the system, port and job that it is about."""
    columns = _chosen_by(found)
    return Zoom(partial(_choose, found, columns), data.filters) if columns else None


def _chosen_by(found: FigureRows) -> list[str]:
    chart = found.figure.chart
    return [name for name in chart.name if name in _FILTER_OF] if chart else []


def _choose(found: FigureRows, columns: Sequence[str], clicked: Sequence[dict[str, int]]) -> None:
    row = row_at(found, clicked[0]["place"])
    for column in columns:
        if row[column] is not None:
            choose(_FILTER_OF[column], str(row[column]))


def _clickable(chart: Chart, found: FigureRows) -> Chart:
    return _with_selection(chart) if _chosen_by(found) else chart


def _with_selection(chart: Chart) -> Chart:
    return chart.add_params(alt.selection_point(name=PICKED, fields=["place"]))


def _bar(found: FigureRows, column: str) -> object:
    """A column of a table whose numbers are also bars, as long as their share of the largest."""
    most = max((real(row[column]) for row in found.rows), default=0.0)
    is_whole = all(isinstance(row[column], int) for row in found.rows)
    return st.column_config.ProgressColumn(
        heading(column), min_value=0, max_value=most or 1.0, format="localized" if is_whole else "%.1f"
    )


@st.fragment
def _more(data: PageData, found: FigureRows, name: str) -> None:
    """The rows of a figure and the command that prints them, when they are asked for."""
    figure = found.figure
    more = st.popover("Rows", key=f"{name}-more", type="tertiary", icon=":material/table:", on_change="rerun")
    if more.open:
        with more:
            grid(_table(found), name, sources=[figure.metric])
            if figure.note:
                st.caption(figure.note)
            if command := command_of(data.filters, found):
                st.code(command, language="sh")


def _table(found: FigureRows) -> pa.Table:
    return pa.Table.from_pylist(list(found.rows))
