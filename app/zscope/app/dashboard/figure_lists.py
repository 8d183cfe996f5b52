"""Texts and lists of figures as HTML, in a smaller font than Markdown. All text is escaped."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, tostring

import streamlit as st

from zscope.app.dashboard.style import COLOURS
from zscope.app.figures.drawn_values import amount_of, colour_of, drawn_rows, name_of
from zscope.app.figures.elements import add, add_text
from zscope.app.shared.written_values import shown

if TYPE_CHECKING:
    from zscope.app.figures.figure_rows import FigureRows

_SAID = "margin: 0; font-size: 0.93rem; line-height: 1.35; overflow-wrap: anywhere"
_SMALL = "margin: 0; font-size: 0.8rem; line-height: 1.4; opacity: 0.75; overflow-wrap: anywhere"
_LIST = "list-style: none; margin: 0; padding: 0; font-size: 0.93rem; line-height: 1.3"
_ITEM = (
    "display: grid; grid-template-columns: 1fr auto; column-gap: 0.75rem; margin: 0; padding: 0.18rem 0; "
    "border-bottom: 1px solid rgba(128, 128, 128, 0.25)"
)
_NOTE = f"grid-column: 1 / -1; {_SMALL}"
_AMOUNT = "font-weight: 600; text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums"
_DOT = "display: inline-block; width: 0.6em; height: 0.6em; border-radius: 50%; margin-right: 0.45em"


def draw_texts(note: str = "", said: str = "") -> None:
    """Draw a note in a small font, and a text below it. Empty texts are omitted."""
    texts = Element("div")
    for text, style in ((note, _SMALL), (said, _SAID)):
        if text:
            add(texts, "p", text, style=style)
    if len(texts):
        _draw(texts)


def draw_list(found: FigureRows) -> None:
    """Draw one line per row: name and note on the left, amount on the right."""
    chart = found.figure.chart
    assert chart is not None, "only rows of a picture are drawn"
    listed = Element("ul", {"style": _LIST})
    for row in drawn_rows(found):
        item = add(listed, "li", style=_ITEM)
        name = add(item, "span", style="overflow-wrap: anywhere")
        if chart.colour:
            add(
                name,
                "span",
                aria_hidden="true",
                style=f"{_DOT}; background: {COLOURS[colour_of(chart, row)]}",
            )
        add_text(name, name_of(chart, row))
        add(item, "span", amount_of(chart, row), style=_AMOUNT)
        if chart.note and (note := shown(row[chart.note], chart.note)):
            add(item, "span", note, style=_NOTE)
    _draw(listed)


def _draw(element: Element) -> None:
    st.html(tostring(element, encoding="unicode", method="html"))
