"""Measure how long the pages of the dashboard take: `make bench-dashboard`.

The dashboard shows the store of `make bench-metrics` in Chromium. A page is complete when Streamlit has drawn
it and nothing of the previous page is left. Pages are opened by a new reader on a server that has run before.
The filter of each page is changed by selecting one more system, so that no cached result applies.
"""

from __future__ import annotations

import argparse
import shutil
import socket
import statistics
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.error import URLError
from urllib.request import urlopen

from figures import aligned, machine, verdict
from metrics import CONNECTIONS_PER_HOUR, loaded
from playwright.sync_api import sync_playwright
from working_folder import working_folder

from zscope.app.dashboard.registry import registered_pages
from zscope.pipelines.store import open_reader
from zscope.samples.world import WorldRecipe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

FIRST_PAGE_S = 1.0
FILTER_S = 0.5
REPEATS = 3
_READY = """title => {
    const app = document.querySelector('[data-testid=stApp]');
    const head = document.querySelector('h1');
    return app && app.dataset.testScriptState === 'notRunning' && head && head.innerText.trim() === title
        && !document.querySelector('[data-stale=true]');
}"""
_BEGUN = "() => document.querySelector('[data-testid=stApp]').dataset.testScriptState !== 'notRunning'"


def main() -> None:
    """Create the store if necessary, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--connections-per-hour", type=int, default=CONNECTIONS_PER_HOUR, metavar="N")
    parser.add_argument("--repeats", type=int, default=REPEATS, metavar="N")
    options = parser.parse_args()
    with working_folder() as folder:
        store = loaded(folder, WorldRecipe(connections_per_hour=options.connections_per_hour))
        with open_reader(store) as connection:
            [counted] = connection.execute("SELECT count(*) FROM smf119_tcp_term").fetchall()
            systems = [
                row[0] for row in connection.execute("SELECT DISTINCT system FROM handshake_hour").fetchall()
            ]
        print(f"{machine()}\n{counted[0]:,} connections ended in {store}\n")
        with served(store, folder / "dashboard.log") as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
            )
            rows = list(measured(browser, address, sorted(systems), options.repeats))
            browser.close()
        print(aligned([("page", "first s", f"{FIRST_PAGE_S:g} s", "filter s", f"{FILTER_S:g} s"), *rows]))


def measured(browser: Browser, address: str, systems: list[str], repeats: int) -> Iterator[tuple[str, ...]]:
    """Yield a line of the report for each page."""
    pages = registered_pages()
    first_page(browser, address, pages[0].address, pages[0].title)  # the server loads its libraries
    for page in pages:
        opened = [first_page(browser, address, page.address, page.title) for _ in range(repeats)]
        took = statistics.median(opened)
        line = (page.title, f"{took:.2f}", verdict(took <= FIRST_PAGE_S))
        if not page.filtered:
            yield (*line, "", "")
            continue
        changed = statistics.median(changes(browser, address, page.address, page.title, systems[:repeats]))
        yield (*line, f"{changed:.2f}", verdict(changed <= FILTER_S))


def first_page(browser: Browser, address: str, name: str, title: str) -> float:
    """Return the seconds until a page is complete for a new reader."""
    context = browser.new_context(viewport={"width": 1440, "height": 1400})
    page = context.new_page()
    start = time.perf_counter()
    page.goto(f"{address}/{name}")
    page.wait_for_function(_READY, arg=title, timeout=60_000)
    took = time.perf_counter() - start
    context.close()
    return took


def changes(browser: Browser, address: str, name: str, title: str, systems: list[str]) -> Iterator[float]:
    """Yield the seconds until a page shows a changed filter, for one more system at a time."""
    context = browser.new_context(viewport={"width": 1440, "height": 1400})
    page = context.new_page()
    page.goto(f"{address}/{name}")
    page.wait_for_function(_READY, arg=title, timeout=60_000)
    for system in systems:
        yield added(page, system, title)
    context.close()


def added(page: Page, system: str, title: str) -> float:
    """Select one more system."""
    choice = page.get_by_test_id("stMultiSelect").filter(has_text="System").first
    if not choice.is_visible():
        page.get_by_role("button", name="Filters").click()
    choice.locator("input").click()
    option = page.get_by_role("option", name=system, exact=True)
    option.wait_for()
    start = time.perf_counter()
    option.click()
    page.wait_for_function(_BEGUN, timeout=5_000, polling=5)
    page.wait_for_function(_READY, arg=title, timeout=60_000, polling=20)
    took = time.perf_counter() - start
    page.keyboard.press("Escape")
    return took


@contextmanager
def served(store: Path, log: Path) -> Iterator[str]:
    """Run the dashboard on a store and yield its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    program = Path(sys.executable).with_name("zscope")
    with log.open("wb") as out:
        command = [str(program), "dashboard", "--store", str(store), "--port", str(port)]
        server = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(1200):
            try:
                with urlopen(f"{address}/_stcore/health", timeout=5):
                    break
            except URLError:
                time.sleep(0.1)
        yield address
    finally:
        server.terminate()
        server.wait(20)


if __name__ == "__main__":
    main()
