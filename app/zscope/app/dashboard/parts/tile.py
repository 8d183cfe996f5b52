"""One big number with its trend."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import streamlit as st

from zscope.app.dashboard.show import number, plain

if TYPE_CHECKING:
    from zscope.app.dashboard.queries.overview import Number

_HEIGHT_PX = 200
_LONG_US = 10_000_000
"""From here on a number of microseconds is too long to be read, and seconds are shown."""


def share_tile(name: str, found: Number, published: float | None = None) -> pa.Table:
    """Draw a percentage and how far it is from a published one; returns the rows of its trend."""
    away = None if published is None or found.value is None else found.value - published
    return _tile(name, "%", found, number(found.value, 1, "%"), away)


def time_tile(name: str, found: Number, system: str = "") -> pa.Table:
    """Draw a number of microseconds, of one system if that is told; returns the rows of its trend."""
    if found.value is not None and found.value >= _LONG_US:
        shown = number(found.value / 1e6, 1, "s")
    else:
        shown = number(found.value, 0, "µs")
    return _tile(name, "µs", found, shown, system=system)


def missing(what: str, command: str) -> None:
    """Say below a number what it takes."""
    st.caption(f"It takes {what}:")
    st.code(command, language="sh", wrap_lines=True)


def _tile(
    name: str, unit: str, found: Number, shown: str, away: float | None = None, system: str = ""
) -> pa.Table:
    below = away is not None and away < 0
    compared = None if away is None else f"{abs(away):.1f} points {'below' if below else 'above'} published"
    st.metric(
        f"{name}, {plain(system)}" if system else name, shown, compared,
        delta_arrow="down" if below else "up", delta_color="blue",
        chart_data=found.trend["value"].to_pylist() if found.trend.num_rows > 1 else None,
        border=True, height=_HEIGHT_PX,
    )  # fmt: skip
    told = {"number": name, "system": system or "all chosen", "unit": unit}
    named = [pa.array([value] * found.trend.num_rows, pa.string()) for value in told.values()]
    return pa.table([*named, *found.trend.columns], [*told, *found.trend.column_names])
