"""The frame around the pages: every page is drawn, and a store that cannot be read is explained."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from tests.app.dashboard.conftest import LONGEST_S, SETTINGS, Open, draw_page, words
from tests.marking import deep_except
from tests.sample_stores import SAMPLE

from zscope.app import dashboard
from zscope.app.dashboard.registry import RegisteredPage, registered_pages
from zscope.app.shared.dashboard_server import SIGN_IN, STORE
from zscope.pipelines.ingest import IngestOptions, ingest, row_selection

FOLDER = Path(str(dashboard.__file__)).parent
PAGES = registered_pages()


WRITES_HTML = "figure_lists.py"
"""The only module that writes HTML, from elements, which escape every text."""


@pytest.mark.parametrize("file", sorted(FOLDER.rglob("*.py")), ids=lambda file: str(file.relative_to(FOLDER)))
def test_one_module_writes_html_and_none_has_its_own_cache(file: Path) -> None:
    source = file.read_text(encoding="utf-8")
    for forbidden in ("unsafe_allow_html", "cache_data"):
        assert forbidden not in source
    assert source.count("st.html(") == source.count("st.html(tostring(") == (file.name == WRITES_HTML)


@pytest.mark.parametrize("page", deep_except(PAGES[:3], PAGES), ids=lambda page: page.name)
def test_every_page_is_drawn_without_data(page: RegisteredPage, drawn_page: Open, empty: Path) -> None:
    assert drawn_page(page.name, empty).title[0].value == page.title


@pytest.fixture(scope="session")
def only_reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store without records, with one RMF report and the NETSTAT displays of another system."""
    reports = (SAMPLE / "reports" / name for name in ("rmf-cpu.SYSB.txt", "netstat.SYSA.2026-03-02.txt"))
    store = tmp_path_factory.mktemp("reports") / "store"
    ingest(store, list(reports), IngestOptions(selection=row_selection(None), settings=SETTINGS))
    return store


# The tests of each page draw it with all data, and the overview on each of these stores.
@pytest.mark.deep
@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.name != "overview"], ids=lambda page: page.name
)
@pytest.mark.parametrize("store", ["hostile", "only_reports", "only_zert"])
def test_every_page_is_drawn(
    page: RegisteredPage, store: str, drawn_page: Open, request: pytest.FixtureRequest
) -> None:
    assert drawn_page(page.name, request.getfixturevalue(store)).title[0].value == page.title


def test_without_a_store_the_page_shows_how_to_create_one(
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
    page = AppTest.from_function(draw_page, args=("handshakes",), default_timeout=LONGEST_S).run()
    assert [error.message for error in page.exception] == []
    assert [error.value for error in page.error] == ["The store cannot be read."]
    return page


@pytest.mark.deep
def test_pages_name_systems_without_a_time_zone_if_they_show_them(open_page: Open, tmp_path: Path) -> None:
    store = tmp_path / "store"
    ingest(
        store,
        [SAMPLE / "reports" / "netstat.SYSA.2026-03-02.txt"],
        IngestOptions(selection=row_selection(None)),
    )
    [note] = open_page("ciphers", store).warning
    assert note.value.startswith("rows of SYSA have no time in UTC")
    assert "timezone SYSA=ZONE" in note.value.replace("\\", "")
    assert not open_page("fields", store).warning


def test_nothing_is_shown_before_sign_in(monkeypatch: pytest.MonkeyPatch, world: Path) -> None:
    monkeypatch.setenv(STORE, str(world))
    monkeypatch.setenv(SIGN_IN, "yes")

    def program() -> None:
        from zscope.app.dashboard.shell import run

        run()

    monkeypatch.setattr("streamlit.user", _Stranger())
    page = AppTest.from_function(program, default_timeout=LONGEST_S).run()
    assert [error.message for error in page.exception] == []
    assert [button.label for button in page.button] == ["Sign in"]
    assert not page.metric
    assert not page.dataframe


class _Stranger:
    is_logged_in = False
