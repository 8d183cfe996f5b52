"""The tables of a report. A cell with a number also has all of its digits, in the element `data`."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from zscope.app.report.elements import add, add_text
from zscope.app.report.section_declarations import report_declaration
from zscope.app.shared.column_labels import label
from zscope.pipelines.quantities import number

if TYPE_CHECKING:
    from collections.abc import Sequence
    from xml.etree.ElementTree import Element

    from zscope.app.report.report_rows import Row

_NAMES = ("port", "_id", "_no", "year")
"""Ends of columns with whole numbers that are names, not amounts."""
_DIGITS = 3
_MANY = 6
"""From this number of columns on, a table is written smaller on paper, and as records on a narrow screen."""
_MOST_ON_PAPER = 12
"""A table with more columns is written as records on paper, too."""
_LONG_TEXT = 40
"""A table with a longer text is written as records on a narrow screen, too."""
_LONG_WORD = 15
"""A longer word can be broken everywhere."""
_SMALL_PCT = 0.05


def heading(column: str) -> str:
    """Return the heading of a column."""
    return report_declaration().labels.get(column) or label(column)


def shown(value: object, column: str = "") -> str:
    """Return a value as it is read: numbers with a few digits, times in UTC.

    >>> shown(436.68, "cpu_s"), shown(9457584, "connections"), shown(8443, "server_port")
    ('437', '9,457,584', '8443')
    >>> shown(0.01, "x_pct"), shown(True), shown(None), shown([443, 446])
    ('< 0.1', 'yes', '', '443, 446')
    """
    if isinstance(value, list):
        return ", ".join(shown(each, "_id") for each in value)
    if isinstance(value, date):
        return _day_or_moment(value)
    if isinstance(value, int | float):
        return _number(value, column)
    return "" if value is None else str(value)


def _day_or_moment(value: date) -> str:
    if not isinstance(value, datetime):
        return value.isoformat()
    return f"{value.astimezone(UTC) if value.tzinfo else value:%Y-%m-%d %H:%M:%S}"


def _number(value: float, column: str) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value) if column.endswith(_NAMES) else f"{value:,}"
    if not math.isfinite(value):
        return ""
    return _percentage(value) if column.endswith("_pct") else number(value, _DIGITS)


def _percentage(value: float) -> str:
    return f"{'-' if value < 0 else ''}< 0.1" if 0 < abs(value) < _SMALL_PCT else f"{value:.1f}"


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
    elif isinstance(value, str) and (colour := report_declaration().colours.get(value)):
        word = add(cell, "span", class_="word")
        add(word, "span", class_=f"dot back-{colour}")
        add_text(word, text)
    else:
        if any(len(word) > _LONG_WORD for word in text.split()):
            cell.set("class", "long")
        add_text(cell, text)
