"""The dashboard as users have it: the command with its server, and a real browser."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, FloatRect, Locator, Page, sync_playwright
from tests.made_once import made_once

from zscope.app.dashboard.server.protected_app import HEADERS

if TYPE_CHECKING:
    from collections.abc import Iterator

SCREENSHOTS = Path(os.environ.get("ZSCOPE_SCREENSHOTS", "build/screenshots"))
ZSCOPE = Path(sys.executable).with_name("zscope")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ALONE = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
"""The browser looks for nothing of its own on the network."""
READY = """() => {
    const app = document.querySelector('[data-testid=stApp]');
    return app && app.dataset.testScriptState === 'notRunning' && document.querySelector('h1')
        && !document.querySelector('[data-stale=true], [data-testid=stSkeleton]')
        && [...document.querySelectorAll('[data-testid=stVegaLiteChart]')]
            .every(chart => chart.querySelector('svg, canvas'));
}"""
"""Streamlit loads the code of a chart when the first one is drawn, and shows grey bars until then."""
MOST_LOOKS = 50
PROBE = ("/_stcore/health", "/_stcore/host-config")
"""Opened at the address of a page, Streamlit first asks below it, and goes up when nothing is there."""
OF_LIBRARY = (
    'WARN Dropping "fit-y"',
    'WARN Infinite extent for field "x"',
    'WARN Infinite extent for field "y"',
)
"""Vega warns of what Streamlit sets for all charts, also those with a height for each row, and for tiles."""


@dataclass
class Reader:
    """Somebody with a browser tab on the dashboard."""

    page: Page
    server: str
    troubles: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    """Requests to anywhere but the server."""
    unprotected: list[str] = field(default_factory=list)
    """Responses without a header that limits what a page may do."""

    def __post_init__(self) -> None:
        self.page.on("console", lambda said: self._heard(said.type, said.text, said.location.get("url", "")))
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("request", lambda request: self._asked(request.url))
        self.page.on("response", lambda response: self._answered(response.url, response.headers))

    def _heard(self, kind: str, text: str, url: str) -> None:
        probed = "404" in text and url.endswith(PROBE)
        if kind in {"error", "warning"} and not probed and not text.startswith(OF_LIBRARY):
            self.troubles.append(f"{text} {url}")

    def _asked(self, url: str) -> None:
        if not url.startswith((self.server, "data:", "blob:", self.server.replace("http", "ws"))):
            self.outside.append(url)

    def _answered(self, url: str, headers: dict[str, str]) -> None:
        if url.startswith(self.server) and any(headers.get(k.lower()) != v for k, v in HEADERS.items()):
            self.unprotected.append(url)

    def open(self, name: str, query: str = "") -> None:
        self.page.goto(f"{self.server}/{name}{query}")
        self.settle()

    def settle(self) -> None:
        """Wait until the page is drawn."""
        self.page.wait_for_function(READY, timeout=60_000)
        self.page.wait_for_timeout(400)  # Streamlit shows "running" shortly after a click
        self.page.wait_for_function(READY, timeout=60_000)

    def place_of(self, locator: Locator) -> FloatRect:
        """Scroll to what is inside a chart or table, and return its place when it no longer moves."""
        inside = locator.locator("canvas, svg.marks").first
        inside.wait_for(state="visible")
        inside.scroll_into_view_if_needed()
        before = None
        for _ in range(MOST_LOOKS):
            place = locator.bounding_box()
            if place is not None and place == before:
                return place
            before = place
            self.page.wait_for_timeout(300)
        raise AssertionError("it does not stop moving")

    def fine(self) -> None:
        """See that nothing went wrong so far."""
        boxes = self.page.locator("[data-testid=stException], [data-testid=stAlertContentError]")
        assert boxes.all_inner_texts() == []
        assert self.troubles == []
        assert self.outside == []
        assert self.unprotected == []

    def screenshot(self, name: str) -> None:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png")


def serve(store: Path, log: Path) -> Iterator[str]:
    """A server on a store, as the command starts it; its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with log.open("wb") as out:
        command = [str(ZSCOPE), "dashboard", "--store", str(store), "--port", str(port)]
        server = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, cwd=log.parent)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            assert server.poll() is None, log.read_text()
            try:
                with urlopen(f"{address}/_stcore/health", timeout=5):
                    break
            except URLError:
                time.sleep(0.1)
        else:
            raise AssertionError(log.read_text())
        yield address
    finally:
        server.terminate()
        server.wait(20)


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store that `zscope demo` creates."""

    def make(folder: Path) -> None:
        subprocess.run([ZSCOPE, "demo", "--store", folder / "store"], check=True, capture_output=True)

    return made_once(tmp_path_factory, "demo-of-browsers", make) / "store"


@pytest.fixture(scope="session")
def server(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The dashboard of the demo store."""
    yield from serve(demo, tmp_path_factory.mktemp("server") / "log")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's Chromium: `apt-get install chromium`."""
    assert CHROMIUM, "no Chromium is installed; on Debian: apt-get install chromium"
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ALONE))
        yield started
        started.close()


def reader_of(browser: Browser, server: str, scheme: Literal["light", "dark"] = "light") -> Iterator[Reader]:
    """A reader without history."""
    context = browser.new_context(
        viewport={"width": 1440, "height": 1400}, color_scheme=scheme, accept_downloads=True,
        timezone_id="America/New_York",
    )  # fmt: skip
    yield Reader(context.new_page(), server)
    context.close()


@pytest.fixture
def reader(browser: Browser, server: str) -> Iterator[Reader]:
    """A reader of the demo."""
    yield from reader_of(browser, server)
