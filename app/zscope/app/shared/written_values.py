"""Values as figures and tables write them, on a screen and in a file."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime

from zscope.pipelines.quantities import number

_NAMES = ("port", "_id", "_no", "year")
"""Ends of columns with whole numbers that are names, not amounts."""
_DIGITS = 3
_SMALL_PCT = 0.05


def shown(value: object, column: str = "") -> str:
    """Return a value as it is read: numbers with a few digits, times in UTC.

    >>> shown(436.68, "cpu_s"), shown(9457584, "connections"), shown(8443, "server_port")
    ('437', '9,457,584', '8443')
    >>> shown(0.01, "x_pct"), shown(-0.01, "x_pct"), shown(True), shown(None), shown([443, 446])
    ('< 0.1', '> -0.1', 'yes', '', '443, 446')
    """
    if isinstance(value, list):
        return ", ".join(shown(each, "_id") for each in value)
    if isinstance(value, date):
        return _day_or_moment(value)
    if isinstance(value, int | float):
        return _number(value, column)
    return "" if value is None else str(value)


def shown_range(low: float | None, high: float | None, column: str = "") -> str:
    """Return a range as it is read; empty if both ends are unknown.

    >>> shown_range(228.1, 431.3), shown_range(0, 511.9), shown_range(None, 5), shown_range(3, None)
    ('228 to 431', 'at most 512', 'at most 5', 'at least 3')
    >>> shown_range(0, 0.01, "x_pct")
    '< 0.1'
    """
    if high is None:
        return "" if low is None else f"at least {shown(low, column)}"
    most = shown(high, column)
    if most.startswith("<"):
        return most
    return f"{shown(low, column)} to {most}" if low else f"at most {most}"


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
    if 0 < abs(value) < _SMALL_PCT:
        return "< 0.1" if value > 0 else "> -0.1"
    return f"{value:.1f}"
