"""Stores for the pages, and fixtures that draw a page as Streamlit does, without a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from xml.etree.ElementTree import Element, fromstring

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest
from tests.made_once import made_once
from tests.sample_stores import SAMPLE, loaded_systems, summarised_world
from tests.samples.world_reading import SLOW, write

from zscope.app.dashboard import drawing
from zscope.app.shared.dashboard_server import STORE
from zscope.parsers.text.coding import DEFAULT_CODE_PAGE, code_page
from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.runs import FILE_NAME as RUNS
from zscope.pipelines.settings import Settings
from zscope.pipelines.store.catalogue import publish_catalogue
from zscope.pipelines.store.commits import State, read_state
from zscope.pipelines.store.folder import existing_store, make_store
from zscope.samples.world import WorldRecipe

MARKUP = "<b>*_`$["
"""A job name of eight characters that are all special in HTML or Markdown."""
REPLACED = {"WEBPROD ": MARKUP, "CICSPROD": "A\x05\x00B\x1b[m ", "O=Synthetic": "**_`<u>$$x["}
"""Texts of the sample and their replacements, among them names of certificates."""
LONG_FILE = "<img src=x onerror=alert(1)> **bold** [link](javascript:alert(1)) " + "x" * 120 + ".bin"
HOSTILE_RUNS = f"""
[[run]]
name = "<script>alert(1)</script>"
system = "SYSA"
role = "server"
from = 2026-03-02T00:00:00Z
to = 2026-03-03T00:00:00Z
workload = "CRR40(64B/8kB)"
[run.tags]
cipher = "**{"y" * 60}**"
"""

Open = Callable[..., AppTest]
LONGEST_S = 900
"""A script that draws longer hangs; how long it takes on a busy machine is no concern of these tests."""
SETTINGS = Settings(summarise_from_rows=0).merge(["+01:00"])
"""The rows of steps are stored, as in large stores, so that pages do not compute them again."""


@pytest.fixture(scope="session", autouse=True)
def installed_components() -> Iterator[None]:
    """Let Streamlit search the installed packages for components once, not for every page that is drawn."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests)
        )
        yield


@pytest.fixture(scope="session", autouse=True)
def opened_data() -> Iterator[None]:
    """Draw what can be opened as if it was open; the browser tests open it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drawing, "FOLDED", False)
        yield


def _load(store: Path, *paths: Path, kinds: str | None = None) -> None:
    ingest(store, paths, IngestOptions(selection=row_selection(kinds), settings=SETTINGS))


def _add_runs(store: Path, runs: str) -> None:
    """Add runs.toml and publish the catalogue; otherwise every reader would update a copy of it first."""
    (store / RUNS).write_text(runs, encoding="utf-8")
    folder = existing_store(store)
    publish_catalogue(folder, read_state(folder))


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample systems with their benchmark runs and with stored steps, as users have them."""
    return summarised_world(tmp_path_factory)


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A day of the systems in which each connection has records."""

    def make(folder: Path) -> None:
        write(WorldRecipe(days=1, connections_per_hour=40, runs="none", cost=SLOW), folder / "world")
        _load(folder / "store", folder / "world")

    return made_once(tmp_path_factory, "recorded", make) / "store"


@pytest.fixture(scope="session")
def systems(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """MQ channels, a z/VM link and z/TPF floods, with their runs."""
    return loaded_systems(tmp_path_factory)


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty store."""
    store = tmp_path_factory.mktemp("empty") / "store"
    publish_catalogue(make_store(store), State())
    return store


@pytest.fixture(scope="session")
def only_rmf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one RMF report."""
    report = SAMPLE / "reports" / "rmf-cpu.SYSB.txt"
    return made_once(tmp_path_factory, "only-rmf", lambda store: _load(store, report))


@pytest.fixture(scope="session")
def only_netstat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with NETSTAT displays of one system."""
    display = SAMPLE / "reports" / "netstat.SYSA.2026-03-02.txt"
    return made_once(tmp_path_factory, "only-netstat", lambda store: _load(store, display))


@pytest.fixture(scope="session")
def only_zert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with zERT detail records only."""
    dump = SAMPLE / "smf-sample.bin"
    return made_once(tmp_path_factory, "only-zert", lambda store: _load(store, dump, kinds="119(11)"))


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with names that are markup, contain control characters, or are very long."""

    def make(folder: Path) -> None:
        dump = (SAMPLE / "smf-sample.bin").read_bytes()
        page = code_page(DEFAULT_CODE_PAGE)
        for there, instead in REPLACED.items():
            assert page.encode(there) in dump, f"the sample has no {there}"
            dump = dump.replace(page.encode(there), page.encode(instead))
        (folder / LONG_FILE).write_bytes(dump)
        _load(folder / "store", folder / LONG_FILE, SAMPLE / "reports")
        _add_runs(folder / "store", HOSTILE_RUNS)

    return made_once(tmp_path_factory, "hostile", make) / "store"


def draw_page(name: str) -> None:
    """The script that Streamlit runs in a test."""
    from zscope.app.dashboard.shell import show as draw

    draw(name)


def _opened(name: str, store: Path, query: Mapping[str, str | list[str]] | None = None) -> AppTest:
    page = AppTest.from_function(draw_page, args=(name,), default_timeout=LONGEST_S)
    for key, value in (query or {}).items():
        page.query_params[key] = value
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(STORE, str(store))
        page.run()
    fine(page)
    return page


@pytest.fixture
def open_page(monkeypatch: pytest.MonkeyPatch) -> Open:
    """Opens a page on a store, with query parameters, for a test that uses its widgets."""

    def opened(name: str, store: Path, query: Mapping[str, str | list[str]] | None = None) -> AppTest:
        monkeypatch.setenv(STORE, str(store))
        return _opened(name, store, query)

    return opened


@pytest.fixture(scope="module")
def drawn_page() -> Open:
    """Draws a page on a store once for all tests of a file that only read it; pages take much memory."""
    drawn: dict[str, AppTest] = {}

    def draw(name: str, store: Path, query: Mapping[str, str | list[str]] | None = None) -> AppTest:
        key = repr((name, store, query))
        if key not in drawn:
            drawn[key] = _opened(name, store, query)
        return drawn[key]

    return draw


def fine(page: AppTest) -> None:
    """Assert that a page was drawn completely."""
    assert [error.message for error in page.exception] == []
    assert [error.value for error in page.error] == []


def html_of(page: AppTest) -> list[Element]:
    """Return what a page draws as HTML."""
    return [fromstring(each.proto.body) for each in page.get("html")]


def html_texts(page: AppTest) -> list[str]:
    """Return the texts in what a page draws as HTML."""
    return [text for root in html_of(page) for text in root.itertext()]


def words(page: AppTest) -> str:
    """Return the text of a page that Streamlit reads as Markdown or HTML or shows as plain text."""
    kinds = ("title", "header", "markdown", "caption", "info", "warning", "text", "code", "metric")
    said = [
        f"{getattr(element, 'label', '')} {getattr(element, 'value', '')}"
        for kind in kinds
        for element in page.get(kind)
    ]
    said += [link.proto.label for link in page.get("page_link")]
    return "\n".join([*said, *(each.proto.body for each in page.get("html"))])
