"""The frame: pages are complete, and a store that cannot be read is explained."""

from __future__ import annotations

import shutil
from importlib import import_module
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from tests.app.dashboard.conftest import Open, draw_page, words

from zscope.app import dashboard
from zscope.app.dashboard.pages import PAGES, Page
from zscope.app.dashboard.server.variables import SIGN_IN, STORE

FOLDER = Path(str(dashboard.__file__)).parent
DRAWING = sorted([*(FOLDER / "pages").glob("*.py"), *(FOLDER / "parts").glob("*.py")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_page_is_a_module_that_says_what_it_is(page: Page) -> None:
    module = import_module(f"zscope.app.dashboard.pages.{page.name}")
    assert callable(module.render)
    assert module.__doc__


@pytest.mark.parametrize("file", DRAWING, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_what_draws_holds_no_statement_and_opens_no_file(file: Path) -> None:
    source = file.read_text(encoding="utf-8")
    for forbidden in ("SELECT ", "FROM ", "open(", "Path(", "unsafe_allow_html", "st.html", "cache_data"):
        assert forbidden not in source, f"{forbidden} belongs elsewhere"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
@pytest.mark.parametrize("store", ["empty", "world", "only_rmf", "only_netstat", "only_zert", "hostile"])
def test_every_page_is_drawn_on_every_kind_of_store(
    page: Page, store: str, open_page: Open, request: pytest.FixtureRequest
) -> None:
    shown = open_page(page.name, request.getfixturevalue(store))
    assert shown.title[0].value == page.title


def test_without_a_store_the_page_says_how_to_make_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    page = unreadable(monkeypatch, tmp_path / "nowhere")
    assert "zscope ingest" in words(page)


def test_a_damaged_store_is_named_with_its_remedy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, only_rmf: Path
) -> None:
    store = Path(shutil.copytree(only_rmf, tmp_path / "store"))
    for commit in (store / "commits").iterdir():
        commit.write_text("no commit", encoding="utf-8")
    page = unreadable(monkeypatch, store)
    assert "zscope store check" in words(page)


def unreadable(monkeypatch: pytest.MonkeyPatch, store: Path) -> AppTest:
    monkeypatch.setenv(STORE, str(store))
    page = AppTest.from_function(draw_page, args=("handshakes",), default_timeout=60).run()
    assert [error.message for error in page.exception] == []
    assert [error.value for error in page.error] == ["The store cannot be read."]
    return page


def test_who_has_to_sign_in_sees_nothing_before(monkeypatch: pytest.MonkeyPatch, world: Path) -> None:
    monkeypatch.setenv(STORE, str(world))
    monkeypatch.setenv(SIGN_IN, "yes")

    def program() -> None:
        from zscope.app.dashboard.shell import run

        run()

    monkeypatch.setattr("streamlit.user", _Stranger())
    page = AppTest.from_function(program, default_timeout=60).run()
    assert [error.message for error in page.exception] == []
    assert [button.label for button in page.button] == ["Sign in"]
    assert not page.metric
    assert not page.dataframe


class _Stranger:
    is_logged_in = False
