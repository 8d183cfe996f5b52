"""The filter bar that all pages share; the address bar holds what is chosen.

Streamlit keeps the widgets and the address together: values in an address that are no option are ignored, so
a link can choose nothing that the store does not have.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING

import streamlit as st

from zscope.app.dashboard.filters import ROLES, Filters
from zscope.app.dashboard.show import clean

if TYPE_CHECKING:
    from zscope.app.dashboard.queries.choices import Choices


_KEYS = {"period", "system", "stack", "port", "job", "role"}


def filter_bar(choices: Choices) -> Filters:
    """Draw the bar and tell what is chosen in it."""
    # Streamlit keeps for other pages what was chosen by hand, and forgets what only came with the address.
    for key in _KEYS & st.session_state.keys():
        st.session_state[key] = st.session_state[key]
    with st.container(horizontal=True, vertical_alignment="bottom", key="filter-bar"):
        begin, end = _period(choices)
        systems = _several("System", "system", choices.systems)
        stacks = _several("Stack", "stack", choices.stacks)
        ports = _several("Port", "port", [str(port) for port in choices.ports])
        jobs = _several("Job", "job", choices.jobs)
        roles = _several("Role", "role", ROLES)
    return Filters(begin, end, systems, stacks, tuple(map(int, ports)), jobs, roles)


def _period(choices: Choices) -> tuple[datetime | None, datetime | None]:
    if choices.first_utc is None or choices.last_utc is None:
        return None, None
    first, last = choices.first_utc.date(), choices.last_utc.date()
    chosen = st.date_input(
        "Period (UTC)", (first, last), min_value=first, max_value=last, key="period",
        format="YYYY-MM-DD", bind="query-params", persist_state="session", width=230,
        help="From the first to the last day, both included.",
    )  # fmt: skip
    days = tuple(chosen)
    if not days or days == (first, last):
        return None, None
    return _midnight(days[0]), _midnight(days[-1]) + timedelta(days=1)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _several(label: str, key: str, options: Sequence[str]) -> tuple[str, ...]:
    return tuple(
        st.multiselect(
            label, options, key=key, bind="query-params", persist_state="session", format_func=clean,
            placeholder="all", width=128, disabled=not options,
        )
    )  # fmt: skip
