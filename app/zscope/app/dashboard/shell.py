"""The frame around every page: navigation, filter bar, and messages about a store that cannot be read."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from zscope.app.dashboard.drawing import EMPTIED, plain, synthetic_badge
from zscope.app.dashboard.emptied import draw_emptied
from zscope.app.dashboard.filter_address import carry_filters, filters_in_address, remember_filters
from zscope.app.dashboard.filter_bar import filter_bar, filters_of_address
from zscope.app.dashboard.filter_choices import choices
from zscope.app.dashboard.links import keep_entries, page_link
from zscope.app.dashboard.page_data import PageData, StoreQueries, TooManyRowsError
from zscope.app.dashboard.registry import RegisteredPage, area_of, registered_pages
from zscope.app.report.report_page import write_appendix, write_report_page
from zscope.app.shared.dashboard_server import MEMORY, SIGN_IN, STORE, THREADS
from zscope.app.shared.default_store import DEFAULT_STORE
from zscope.app.shared.filters import Filters
from zscope.pipelines.store import StoreError
from zscope.pipelines.store.sql_sandbox import QueryError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streamlit.navigation.page import StreamlitPage

NEW_DATA_CHECK_S = 10
_LONGEST = 300
_ICON = "🔍"
_FILLED = """
    SELECT DISTINCT table_name FROM load_table
    SEMI JOIN (FROM load WHERE status IN ('loaded', 'incomplete')) USING (load_id)
    WHERE rows > 0
"""


def run() -> None:
    """Draw the navigation and the page that is open."""
    st.set_page_config("zscope", _ICON, layout="wide")
    if os.environ.get(SIGN_IN) and not _signed_in():
        return
    carry_filters()
    entries = _entries(_without_data())
    areas: dict[str, list[StreamlitPage]] = {}
    for page in registered_pages():
        # The area of the first page is the page.
        areas.setdefault(page.area if page.address else "", []).append(entries[page.name])
    current = st.navigation(areas, position="top")
    st.set_page_config(f"{current.title} - zscope")
    current.run()


def show(name: str) -> None:
    """Draw one page without the navigation."""
    st.navigation([*_entries(_without_data()).values()], position="hidden")
    _draw(next(page for page in registered_pages() if page.name == name))


def _entries(without_data: frozenset[str]) -> dict[str, StreamlitPage]:
    """The entry of each page in the navigation, by its name; links between pages need them, too."""
    entries = {
        page.name: st.Page(
            partial(_draw, page), title=page.title, icon=f":material/{page.icon}:", url_path=page.name,
            default=not page.address, visibility="hidden" if page.name in without_data else "visible",
        )
        for page in registered_pages()
    }  # fmt: skip
    keep_entries(entries)
    return entries


def _without_data() -> frozenset[str]:
    """The names of the pages whose data are not loaded."""
    needs = {page.name: page.needs for page in registered_pages() if page.needs}
    queries = _queries()
    try:
        found = queries.rows(queries.version(), _FILLED)["table_name"].to_pylist()
    except (StoreError, QueryError):
        found = []  # the page says what is wrong with the store
    return frozenset(name for name, needed in needs.items() if not {*needed.tables} & {*found})


def _signed_in() -> bool:
    if st.user.is_logged_in:
        return True
    st.title("zscope")
    st.button("Sign in", on_click=st.login)
    return False


@st.cache_resource
def queries_of(store: str, memory: str, threads: str) -> StoreQueries:
    """Return the queries on a store, which all readers share."""
    return StoreQueries(Path(store), memory or None, int(threads) if threads else None)


def _queries() -> StoreQueries:
    return queries_of(
        os.environ.get(STORE, DEFAULT_STORE), os.environ.get(MEMORY, ""), os.environ.get(THREADS, "")
    )


def _draw(page: RegisteredPage) -> None:
    queries = _queries()
    bar = st.container()
    heading = st.container(horizontal=True, vertical_alignment="center", gap="small", key="heading")
    heading.title(page.title, width="content")
    data: PageData | None = None
    with _errors_explained(queries):
        version = queries.version()
        with bar:
            data = PageData(queries, version, _filters(page, queries, version))
    # Before the page, which can take seconds, and after the filters, which its links carry.
    with heading:
        shown = area_of(page, _without_data())
        for other in shown:
            if other.name != page.name:
                page_link(other.name)
        if data is not None:
            st.space("stretch")
            _draw_store_name(queries, data.version)
            _offer_report(page, data)
    if data is not None:
        _draw_content(page, data)
        _name_absent(page)


def _name_absent(page: RegisteredPage) -> None:
    """Name the pages of the area that wait for their data."""
    without_data = _without_data()
    absent = [other for other in area_of(page) if other.name in without_data and other.name != page.name]
    if absent:
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key="absent"):
            st.caption("Pages that appear with their data:")
            for other in absent:
                page_link(other.name, f"{other.title} ({other.needs.brought_by})" if other.needs else "")


def _draw_content(page: RegisteredPage, data: PageData) -> None:
    st.session_state[EMPTIED] = partial(draw_emptied, data)
    with _errors_explained(data.queries):
        above = st.container()
        page.render(data)
        if note := data.missing_zones():
            above.warning(plain(note, len(note)), icon=":material/schedule:")
        _check_for_new_data(data.queries, data.version)


def _filters(page: RegisteredPage, queries: StoreQueries, version: str) -> Filters:
    """What is chosen in the bar; a page without a bar keeps the filters of its address for the next one."""
    offered = choices(queries, version)
    if page.filtered:
        return filter_bar(offered)
    if kept := filters_of_address(offered).words():
        st.caption(f"This page shows all data. Kept for other pages: {plain(kept, _LONGEST)}.")
    remember_filters(filters_in_address())
    return Filters()


def _offer_report(page: RegisteredPage, data: PageData) -> None:
    """Draw the button that downloads the report for the filters; it is written when the button is clicked."""
    with _errors_explained(data.queries):
        filters = data.filters if page.filtered else filters_of_address(choices(data.queries, data.version))
        narrowed = replace(data, filters=filters, metrics_read=set())
        store = data.queries.store.resolve().name
        st.download_button(
            "Report", lambda: write_report_page(narrowed, store, datetime.now(UTC)).page,
            "zscope-report.html", "text/html", key="report", icon=":material/download:",
            on_click="ignore", help="A self-contained HTML file for the current filters: figures "
            "and sentences. `zscope report` writes the same. It takes some seconds.",
        )  # fmt: skip
        st.download_button(
            "Appendix", lambda: write_appendix(narrowed, store, datetime.now(UTC)).page,
            "zscope-report-appendix.html", "text/html", key="appendix", icon=":material/download:",
            on_click="ignore", type="tertiary", help="All tables of the report as one HTML file, "
            "and the definitions of what they show. `zscope report --appendix` writes the same.",
        )  # fmt: skip


@contextmanager
def _errors_explained(queries: StoreQueries) -> Iterator[None]:
    """Draw what is wrong with the store, or with a query, instead of the rest of the page."""
    try:
        yield
        return
    except TooManyRowsError as error:
        st.warning(f"The result is too large to show: {error}.", icon=":material/data_alert:")
    except QueryError as error:
        st.error("A query of this page failed.", icon=":material/error:")
        st.text(str(error))
    except StoreError as error:
        st.error("The store cannot be read.", icon=":material/error:")
        st.text(str(error))
        st.markdown("To check the store, or to load data into a new one:")
        st.code(
            f"zscope store check --store {queries.store}\nzscope ingest PATH... --store {queries.store}", "sh"
        )
    _check_for_new_data(queries, _version(queries))


def _version(queries: StoreQueries) -> str:
    """The version of the store; empty if there is none."""
    try:
        return queries.version()
    except StoreError:
        return ""


def _draw_store_name(queries: StoreQueries, version: str) -> None:
    summary = queries.summary(version)
    if summary.synthetic:
        synthetic_badge()
    loaded = (
        "nothing is loaded"
        if summary.last_load_utc is None
        else f"last load {summary.last_load_utc:%Y-%m-%d %H:%M} UTC"
    )
    st.caption(f"{plain(queries.store.name)}, {loaded}", width="content")


@st.fragment(run_every=NEW_DATA_CHECK_S)
def _check_for_new_data(queries: StoreQueries, version: str) -> None:
    """Draw the page again after the store has changed, was removed or has appeared."""
    if _version(queries) != version:
        st.rerun(scope="app")
