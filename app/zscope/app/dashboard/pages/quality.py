"""Data quality: what was loaded, what could not be read, what is missing, whether the values make sense."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from zscope.app.dashboard.parts.gaps import gaps
from zscope.app.dashboard.parts.issues import issues
from zscope.app.dashboard.parts.loads import loads
from zscope.app.dashboard.parts.sources import sources
from zscope.app.dashboard.parts.validation import expectations
from zscope.app.dashboard.queries.loads import totals
from zscope.app.dashboard.queries.validation import not_validated
from zscope.app.dashboard.show import nothing, number

if TYPE_CHECKING:
    from collections.abc import Callable

    from zscope.app.dashboard.answers import Data

_PARTS: dict[str, Callable[[Data], None]] = {
    "loads": loads,
    "issues": issues,
    "gaps": gaps,
    "expectations": expectations,
    "sources": sources,
}
_MILLION = 1_000_000


def render(data: Data) -> None:
    """Draw the page."""
    found = totals(data)
    if found.loads:
        shown = {
            "Loads": found.loads,
            "Rows": found.rows,
            "MB read": round(found.mb),
            "Issues": found.issues,
            "Gaps": found.gaps,
            "Not validated": not_validated(data),
        }
        for column, (title, value) in zip(st.columns(len(shown)), shown.items(), strict=True):
            column.metric(title, _short(value), help=_whole(value), border=True)
    else:
        nothing("Nothing is loaded.", "zscope ingest PATH...")
    part: str = st.segmented_control(
        "Show", list(_PARTS), default="loads", required=True, format_func=str.capitalize,
        key="quality_part", label_visibility="collapsed", bind="query-params", persist_state="session",
    )  # fmt: skip
    _PARTS[part](data)


def _short(count: int) -> str:
    """A number that has place in a narrow box.

    >>> _short(123456), _short(17_364_211)
    ('123,456', '17.4 M')
    """
    return number(count, 0) if count < _MILLION else number(count / _MILLION, 1, "M")


def _whole(count: int) -> str | None:
    return number(count, 0) if count >= _MILLION else None
