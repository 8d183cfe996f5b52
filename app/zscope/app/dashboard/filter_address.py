"""The filters in the address of a page, and the session's copy of them.

The address is always complete: what the reader chooses is added to it at once, and links from page to page
carry it. So Refresh, Back, a bookmark and a link sent to somebody show the same rows. A filter that was not
touched is in neither. The menu of Streamlit opens a page without parameters, so they are added then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FILTER_NAMES = ("period", "system", "stack", "port", "job", "role", "runs", "compare")
"""The parameters of an address, which are also the keys of the widgets."""
_KNOWN = "filters_known"
"""In the session: the filters in the address after the last run."""
_PAGE = "filters_page"
"""In the session: the page of the last run."""


def carry_filters() -> None:
    """Add the filters to the address of a page that was opened by the menu.

    Called before the navigation is drawn: the browser then has one entry in its history for the page. Back
    and Forward bring their own filters, or none.
    """
    run = get_script_run_ctx()
    page = run.page_script_hash if run else ""
    opened = st.session_state.get(_PAGE, page) != page
    st.session_state[_PAGE] = page
    if run and opened and not run.is_history_navigation and not filters_in_address():
        st.query_params.update(known_filters())


def filters_in_address() -> dict[str, list[str]]:
    """Return the filters in the address of the page."""
    return {name: values for name in FILTER_NAMES if (values := st.query_params.get_all(name))}


def address_of_filters() -> dict[str, str | list[str]]:
    """Return the filters that are chosen, as parameters of an address."""
    known: Mapping[str, list[str]] | None = st.session_state.get(_KNOWN)
    return dict(filters_in_address() if known is None else known)


def newly_asked_for() -> dict[str, list[str]] | None:
    """Return the filters of an address that something other than the filter bar has changed, or None.

    That is an opened link, a link between pages, Back or Forward.
    """
    address = filters_in_address()
    return None if address == st.session_state.get(_KNOWN) else address


def known_filters() -> dict[str, list[str]]:
    """Return the filters after the last run."""
    return dict(st.session_state.get(_KNOWN) or {})


def remember_filters(chosen: Mapping[str, Sequence[str]]) -> None:
    """Add the chosen filters to the session and to the address, and remove all others."""
    known = {name: list(map(str, chosen[name])) for name in FILTER_NAMES if chosen.get(name)}
    address = filters_in_address()
    for name in address.keys() - known.keys():
        del st.query_params[name]
    if changed := {name: values for name, values in known.items() if values != address.get(name)}:
        st.query_params.update(changed)
    st.session_state[_KNOWN] = known


def forget_filter(name: str, value: str) -> None:
    """Remove a value of a filter from the session and from the address."""
    known = known_filters()
    known[name] = [kept for kept in known.get(name, ()) if kept != value]
    remember_filters(known)
