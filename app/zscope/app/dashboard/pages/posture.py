"""Posture: what was found, how much is unprotected, old or weak, and which certificates expire."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from zscope.app.dashboard.parts.certificates import certificates
from zscope.app.dashboard.parts.findings import findings
from zscope.app.dashboard.parts.protection import protection

if TYPE_CHECKING:
    from collections.abc import Callable

    from zscope.app.dashboard.answers import Data

_PARTS: dict[str, Callable[[Data], None]] = {
    "findings": findings,
    "protection": protection,
    "certificates": certificates,
}


def render(data: Data) -> None:
    """Draw the page."""
    part: str = st.segmented_control(
        "Show", list(_PARTS), default="findings", required=True, format_func=str.capitalize,
        key="posture_part", label_visibility="collapsed", bind="query-params", persist_state="session",
    )  # fmt: skip
    _PARTS[part](data)
