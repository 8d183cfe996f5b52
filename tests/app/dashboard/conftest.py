"""Stores to open pages on, and a way to open one: pages are drawn as Streamlit does it, without a browser."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from zscope.app.dashboard.server.variables import STORE
from zscope.parsers.smf.ebcdic import DEFAULT_CODE_PAGE, code_page
from zscope.pipelines.ingest import How, choose, ingest
from zscope.pipelines.runs import FILE_NAME as RUNS
from zscope.pipelines.settings import Settings
from zscope.pipelines.store.catalogue import publish
from zscope.pipelines.store.commits import State
from zscope.pipelines.store.folder import make_store

SAMPLE = Path(__file__).resolve().parents[3] / "sample-data"
WORLD, SYSTEMS = SAMPLE / "world", SAMPLE / "systems"
MARKUP = "<b>*_`$["
"""As the name of a job: eight characters, all of which mean something in HTML or Markdown."""
REPLACED = {"WEBPROD ": MARKUP, "CICSPROD": "A\x05\x00B\x1b[m ", "O=Synthetic": "**_`<u>$$x["}
"""Texts of the sample, and what stands in their place; the names of certificates are among them."""
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


def _load(store: Path, *paths: Path) -> Path:
    ingest(store, paths, How(choose(None), settings=Settings().merge(["+01:00"])))
    return store


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small world with its runs."""
    store = _load(tmp_path_factory.mktemp("world") / "store", WORLD)
    shutil.copyfile(WORLD / RUNS, store / RUNS)
    return store


@pytest.fixture(scope="session")
def systems(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """MQ channels, a z/VM link and floods on z/TPF, with their runs."""
    store = _load(tmp_path_factory.mktemp("systems") / "store", SYSTEMS)
    shutil.copyfile(SYSTEMS / RUNS, store / RUNS)
    return store


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store without anything."""
    store = tmp_path_factory.mktemp("empty") / "store"
    publish(make_store(store), State())
    return store


@pytest.fixture(scope="session")
def only_rmf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one RMF report."""
    return _load(tmp_path_factory.mktemp("rmf") / "store", SAMPLE / "reports" / "rmf-cpu.SYSB.txt")


@pytest.fixture(scope="session")
def only_netstat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with NETSTAT displays of one system."""
    return _load(
        tmp_path_factory.mktemp("netstat") / "store", SAMPLE / "reports" / "netstat.SYSA.2026-03-02.txt"
    )


@pytest.fixture(scope="session")
def only_zert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with zERT detail records and nothing else."""
    store = tmp_path_factory.mktemp("zert") / "store"
    how = How(choose("119(11)"), settings=Settings().merge(["+01:00"]))
    ingest(store, [SAMPLE / "smf-sample.bin"], how)
    return store


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose names are markup, control characters or endless, wherever data can have a name."""
    folder = tmp_path_factory.mktemp("hostile")
    dump = (SAMPLE / "smf-sample.bin").read_bytes()
    page = code_page(DEFAULT_CODE_PAGE)
    for there, instead in REPLACED.items():
        assert page.encode(there) in dump, f"the sample has no {there}"
        dump = dump.replace(page.encode(there), page.encode(instead))
    (folder / LONG_FILE).write_bytes(dump)
    store = _load(folder / "store", folder / LONG_FILE, SAMPLE / "reports")
    (store / RUNS).write_text(HOSTILE_RUNS, encoding="utf-8")
    return store


def draw_page(name: str) -> None:
    """The program that a test has Streamlit run."""
    from zscope.app.dashboard.shell import show as draw

    draw(name)


@pytest.fixture
def open_page(monkeypatch: pytest.MonkeyPatch) -> Open:
    """Opens a page on a store, with query parameters; what is not a picture or an answer is an error."""

    def opened(name: str, store: Path, query: Mapping[str, str | list[str]] | None = None) -> AppTest:
        monkeypatch.setenv(STORE, str(store))
        page = AppTest.from_function(draw_page, args=(name,), default_timeout=120)
        for key, value in (query or {}).items():
            page.query_params[key] = value
        page.run()
        fine(page)
        return page

    return opened


def fine(page: AppTest) -> None:
    """See that a page was drawn to its end."""
    assert [error.message for error in page.exception] == []
    assert [error.value for error in page.error] == []


def words(page: AppTest) -> str:
    """All text of a page that Streamlit reads as Markdown, and what it shows as plain text."""
    kinds = ("title", "subheader", "markdown", "caption", "info", "warning", "text", "code", "metric")
    return "\n".join(
        f"{getattr(element, 'label', '')} {getattr(element, 'value', '')}"
        for kind in kinds
        for element in page.get(kind)
    )
