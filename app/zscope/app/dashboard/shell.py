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

from zscope.app.dashboard.drawing import FILTERED, plain, synthetic_badge
from zscope.app.dashboard.filter_address import filters_in_address, remember_filters
from zscope.app.dashboard.filter_bar import choices, filter_bar, filters_of_address
from zscope.app.dashboard.links import keep_entries, page_link
from zscope.app.dashboard.page_data import PageData, StoreQueries, TooManyRowsError
from zscope.app.dashboard.registry import RegisteredPage, registered_pages
from zscope.app.report.report_page import write_appendix, write_report_page
from zscope.app.shared.dashboard_server import MEMORY, SIGN_IN, STORE, THREADS
from zscope.app.shared.default_store import DEFAULT_STORE
from zscope.app.shared.filters import Filters
from zscope.pipelines.store import StoreError
from zscope.pipelines.store.sql_sandbox import QueryError

if TYPE_CHECKING:
    from collections.abc import Iterator

NEW_DATA_CHECK_S = 10
_ICON = "🔍"


def run() -> None:
    """Draw the navigation and the page that is open."""
    st.set_page_config("zscope", _ICON, layout="wide")
    if os.environ.get(SIGN_IN) and not _signed_in():
        return
    current = st.navigation(list(_entries().values()), position="hidden")  # type: ignore[arg-type]
    st.set_page_config(f"{current.title} - zscope")
    current.run()


def show(name: str) -> None:
    """Draw one page without the navigation."""
    st.navigation(list(_entries().values()), position="hidden")  # type: ignore[arg-type]
    _draw(next(page for page in registered_pages() if page.name == name))


def _entries() -> dict[str, object]:
    """The entry of each page in the navigation, by its name; links between pages need them, too."""
    entries: dict[str, object] = {
        page.name: st.Page(
            partial(_draw, page), title=page.title, icon=f":material/{page.icon}:", url_path=page.name,
            default=not page.address,
        )
        for page in registered_pages()
    }  # fmt: skip
    keep_entries(entries)
    return entries


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


def _draw(page: RegisteredPage) -> None:
    queries = queries_of(
        os.environ.get(STORE, DEFAULT_STORE), os.environ.get(MEMORY, ""), os.environ.get(THREADS, "")
    )
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.title(page.title)
        corner = st.container(horizontal=True, vertical_alignment="center", width="content")
    data: PageData | None = None
    with _errors_explained(queries):
        version = queries.version()
        with corner:
            _draw_store_name(queries, version)
        data = PageData(queries, version, _filters(page, queries, version))
    # Before the page, which can take seconds, and after the filters, which its links carry.
    _menu()
    if data is not None:
        _offer_report(page, data)
        _draw_content(page, data)


def _draw_content(page: RegisteredPage, data: PageData) -> None:
    with _errors_explained(data.queries):
        above = st.container()
        page.render(data)
        if note := data.missing_zones():
            above.warning(plain(note, len(note)), icon=":material/schedule:")
        _check_for_new_data(data.queries, data.version)


def _filters(page: RegisteredPage, queries: StoreQueries, version: str) -> Filters:
    """What is chosen in the bar; a page without a bar keeps the filters of its address for the next one."""
    if page.filtered:
        filters = filter_bar(choices(queries, version))
    else:
        filters = Filters()
        remember_filters(filters_in_address())
    st.session_state[FILTERED] = filters != Filters()
    return filters


def _menu() -> None:
    """Links to all pages, which carry the filters; those of Streamlit's own menu do not."""
    section = ""
    with st.sidebar, st.container(key="menu", gap="xxsmall"):
        for page in registered_pages():
            if page.section != section:
                section = page.section
                st.caption(section)
            page_link(page.name)


def _offer_report(page: RegisteredPage, data: PageData) -> None:
    """Draw the button that downloads the report for the filters; it is written when the button is clicked."""
    with _errors_explained(data.queries):
        filters = data.filters if page.filtered else filters_of_address(choices(data.queries, data.version))
        narrowed = replace(data, filters=filters, metrics_read=set())
        store = data.queries.store.resolve().name
        with st.sidebar:
            st.download_button(
                "Report (HTML)", lambda: write_report_page(narrowed, store, datetime.now(UTC)).page,
                "zscope-report.html", "text/html", key="report", icon=":material/download:",
                on_click="ignore", help="A self-contained HTML file for the current filters: figures "
                "and sentences. `zscope report` writes the same. It takes some seconds.",
            )  # fmt: skip
            st.download_button(
                "Appendix (HTML)", lambda: write_appendix(narrowed, store, datetime.now(UTC)).page,
                "zscope-report-appendix.html", "text/html", key="appendix", icon=":material/download:",
                on_click="ignore", type="tertiary", help="All tables of the report, and the definitions of "
                "what they show. `zscope report --appendix` writes the same.",
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
    st.caption(f"{plain(queries.store.name)}, {loaded}")


@st.fragment(run_every=NEW_DATA_CHECK_S)
def _check_for_new_data(queries: StoreQueries, version: str) -> None:
    """Draw the page again after the store has changed, was removed or has appeared."""
    if _version(queries) != version:
        st.rerun(scope="app")
