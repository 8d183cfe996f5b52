"""The frame around every page: navigation, filter bar, and messages about a store that cannot be read."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import streamlit as st

from zscope.app.dashboard.drawing import FILTERED, plain, synthetic_badge
from zscope.app.dashboard.filter_bar import choices, filter_bar
from zscope.app.dashboard.filters import Filters
from zscope.app.dashboard.registry import RegisteredPage, registered_pages
from zscope.app.dashboard.store import PageData, StoreQueries, TooManyRowsError
from zscope.app.shared.dashboard_server import MEMORY, SIGN_IN, STORE, THREADS
from zscope.app.shared.store import DEFAULT_STORE
from zscope.pipelines.store import StoreError
from zscope.pipelines.store.session import QueryError

NEW_DATA_CHECK_S = 10


def run() -> None:
    """Draw the navigation and the page that is open."""
    st.set_page_config("zscope", "🔍", layout="wide")
    if os.environ.get(SIGN_IN) and not _signed_in():
        return
    sections: dict[str, list[object]] = {}
    for page in registered_pages():
        entry = st.Page(
            partial(_draw, page), title=page.title, icon=f":material/{page.icon}:", url_path=page.name,
            default=not page.address,
        )  # fmt: skip
        sections.setdefault(page.section, []).append(entry)
    st.navigation(sections, expanded=True).run()  # type: ignore[arg-type]


def show(name: str) -> None:
    """Draw one page without the navigation."""
    _draw(next(page for page in registered_pages() if page.name == name))


def _signed_in() -> bool:
    if st.user.is_logged_in:
        return True
    st.title("zscope")
    st.button("Sign in", on_click=st.login, type="primary")
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
    try:
        version = queries.version()
        with corner:
            _draw_store_name(queries, version)
        filters = filter_bar(choices(queries, version)) if page.filtered else Filters()
        st.session_state[FILTERED] = filters != Filters()
        above = st.container()
        data = PageData(queries, version, filters)
        page.render(data)
        if note := data.missing_zones():
            above.warning(plain(note, len(note)), icon=":material/schedule:")
        _check_for_new_data(queries, version)
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
    """Draw the page again after the store has changed or was removed."""
    try:
        changed = queries.version() != version
    except StoreError:
        changed = True
    if changed:
        st.rerun(scope="app")
