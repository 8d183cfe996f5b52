"""The tables of a report. A cell with a number also has all of its digits, in the element `data`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zscope.app.figures.elements import add, add_text
from zscope.app.figures.figure_declarations import figure_words, heading
from zscope.app.shared.written_values import shown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from xml.etree.ElementTree import Element

    from zscope.app.figures.figure_rows import Row

_MANY = 6
"""From this number of columns on, a table is written smaller on paper, and as records on a narrow screen."""
_MOST_ON_PAPER = 12
"""A table with more columns is written as records on paper, too."""
_LONG_TEXT = 40
"""A table with a longer text is written as records on a narrow screen, too."""
_LONG_WORD = 15
"""A longer word can be broken everywhere."""


def add_table(parent: Element, columns: Sequence[str], rows: Sequence[Row], **attributes: object) -> None:
    """Add a table."""
    many = len(columns) >= _MANY
    texts = [str(row[name]) for row in rows for name in columns if isinstance(row[name], str | list)]
    long = any(len(text) > _LONG_TEXT for text in texts)
    kinds = [*(["many"] if many else []), *(["records"] if many or long else [])]
    kinds += ["wide"] if len(columns) > _MOST_ON_PAPER else []
    table = add(parent, "table", class_=" ".join(kinds) or None, **attributes)
    numeric = {name: _is_numeric([row[name] for row in rows]) for name in columns}
    head = add(add(table, "thead"), "tr")
    for name in columns:
        add(head, "th", heading(name), scope="col", class_="number" if numeric[name] else None)
    body = add(table, "tbody")
    for row in rows:
        line = add(body, "tr")
        for name in columns:
            _cell(line, name, row[name], numeric=numeric[name])


def _is_numeric(values: Sequence[object]) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and all(
        isinstance(value, (int, float)) and not isinstance(value, bool) for value in known
    )


def _cell(line: Element, name: str, value: Any, *, numeric: bool) -> None:  # noqa: ANN401 - any value
    text = shown(value, name)
    cell = add(line, "td", data_label=heading(name))
    if numeric:
        cell.set("class", "number")
    if not text:
        cell.set("class", "empty")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        add(cell, "data", text, value=repr(value))
    elif isinstance(value, str) and (colour := figure_words().colours.get(value)):
        word = add(cell, "span", class_="word")
        add(word, "span", class_=f"dot back-{colour}")
        add_text(word, text)
    else:
        if any(len(word) > _LONG_WORD for word in text.split()):
            cell.set("class", "long")
        add_text(cell, text)
