"""Links from page to page, which carry the filters of the reader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from zscope.app.dashboard.filter_address import address_of_filters

if TYPE_CHECKING:
    from collections.abc import Mapping

_ENTRIES = "page_entries"


def keep_entries(entries: Mapping[str, Any]) -> None:
    """Remember the entries of the navigation by the names of their pages."""
    st.session_state[_ENTRIES] = dict(entries)


def page_link(name: str, words: str = "", **parameters: str) -> None:
    """Draw a link to a page, with the filters of this one and with further parameters of its address.

    Without words, the link has the title of the page. A parameter that is a filter replaces that of the
    reader.
    """
    entry = st.session_state[_ENTRIES][name]
    st.page_link(entry, label=words or None, query_params={**address_of_filters(), **parameters})


def title_link(name: str, title: str) -> None:
    """Draw a title that leads to a page with more about it, with the filters of this one."""
    entry = st.session_state[_ENTRIES][name]
    st.page_link(entry, label=title, query_params=address_of_filters(), width="stretch")


def go_to(name: str) -> None:
    """Show another page now."""
    st.switch_page(st.session_state[_ENTRIES][name])
