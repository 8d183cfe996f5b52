"""The frame around every page: navigation, filter bar, the store, and what to say when it cannot be read."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import streamlit as st

from zscope.app.dashboard.answers import Answers, Data, TooManyRowsError
from zscope.app.dashboard.filter_bar import filter_bar
from zscope.app.dashboard.filters import Filters
from zscope.app.dashboard.pages import PAGES, Page
from zscope.app.dashboard.queries.choices import choices
from zscope.app.dashboard.queries.state import store_state
from zscope.app.dashboard.server.variables import MEMORY, SIGN_IN, STORE, THREADS
from zscope.app.dashboard.show import FILTERED, plain, synthetic_badge
from zscope.app.store_option import DEFAULT_STORE
from zscope.pipelines.store import StoreError
from zscope.pipelines.store.session import QueryError

LOOKS_AGAIN_S = 10


def run() -> None:
    """Draw the page that is asked for."""
    st.set_page_config("zscope", "🔍", layout="wide")
    if os.environ.get(SIGN_IN) and not _signed_in():
        return
    sections: dict[str, list[object]] = {}
    for page in PAGES:
        shown = st.Page(
            partial(_draw, page), title=page.title, icon=f":material/{page.icon}:", url_path=page.name,
            default=page is PAGES[0],
        )  # fmt: skip
        sections.setdefault(page.section, []).append(shown)
    st.navigation(sections, expanded=True).run()  # type: ignore[arg-type]


def show(name: str) -> None:
    """Draw one page without the navigation."""
    _draw(next(page for page in PAGES if page.name == name))


def _signed_in() -> bool:
    if st.user.is_logged_in:
        return True
    st.title("zscope")
    st.button("Sign in", on_click=st.login, type="primary")
    return False


@st.cache_resource
def _answers(store: str, memory: str, threads: str) -> Answers:
    return Answers(Path(store), memory or None, int(threads) if threads else None)


def _draw(page: Page) -> None:
    answers = _answers(
        os.environ.get(STORE, DEFAULT_STORE), os.environ.get(MEMORY, ""), os.environ.get(THREADS, "")
    )
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.title(page.title)
        corner = st.container(horizontal=True, vertical_alignment="center", width="content")
    try:
        version = answers.version()
        with corner:
            _tell_of_the_store(answers, version)
        filters = filter_bar(choices(answers, version)) if page.filtered else Filters()
        st.session_state[FILTERED] = filters != Filters()
        page.render(Data(answers, version, filters))
        _look_again(answers, version)
    except TooManyRowsError as error:
        st.warning(f"This is too much to show: {error}.", icon=":material/data_alert:")
    except QueryError as error:
        st.error("A question of this page could not be answered.", icon=":material/error:")
        st.text(str(error))
    except StoreError as error:
        st.error("The store cannot be read.", icon=":material/error:")
        st.text(str(error))
        st.markdown("What is wrong with it, and how to make one:")
        st.code(
            f"zscope store check --store {answers.store}\nzscope ingest PATH... --store {answers.store}", "sh"
        )


def _tell_of_the_store(answers: Answers, version: str) -> None:
    state = store_state(answers, version)
    if state.synthetic:
        synthetic_badge()
    st.caption(f"{plain(answers.store.name)}, {state.words}")


@st.fragment(run_every=LOOKS_AGAIN_S)
def _look_again(answers: Answers, version: str) -> None:
    """Draw anew when there is new data, or no store any more."""
    try:
        changed = answers.version() != version
    except StoreError:
        changed = True
    if changed:
        st.rerun(scope="app")
