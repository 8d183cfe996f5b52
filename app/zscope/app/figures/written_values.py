"""Values and headings as figures write them, on a screen and in a file."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime

from zscope.app.figures.figure_declarations import figure_words
from zscope.app.shared.column_labels import label
from zscope.pipelines.quantities import number

_NAMES = ("port", "_id", "_no", "year")
"""Ends of columns with whole numbers that are names, not amounts."""
_DIGITS = 3
_SMALL_PCT = 0.05


def heading(column: str) -> str:
    """Return the heading of a column."""
    return figure_words().headings.get(column) or label(column)


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
