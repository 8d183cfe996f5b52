"""Start an installed dashboard from another folder and open its first page in a browser."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from playwright.sync_api import sync_playwright

WAITS = 300


def main() -> None:
    """Open the first page on a store; exit with an error if it shows no figures."""
    program, store = sys.argv[1], Path(sys.argv[2]).resolve()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "dashboard", "--store", str(store), "--port", str(port)]
        server = subprocess.Popen(command, cwd=folder)
        try:
            wait_for(f"http://127.0.0.1:{port}/_stcore/health", server)
            open_first_page(f"http://127.0.0.1:{port}")
        finally:
            server.terminate()
            server.wait(20)
    print(f"{program} dashboard shows {store.name}")


def wait_for(address: str, server: subprocess.Popen[bytes]) -> None:
    """Wait until the server answers."""
    for _ in range(WAITS):
        if server.poll() is not None:
            sys.exit(f"the dashboard ended with {server.returncode}")
        try:
            with urlopen(address, timeout=5):
                return
        except URLError:
            time.sleep(0.1)
    sys.exit("the dashboard does not answer within 30 seconds")


def open_first_page(address: str) -> None:
    """Wait for the figures of the overview; exit with an error if the page shows one."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page()
        page.goto(address)
        page.get_by_test_id("stMetricValue").first.wait_for(timeout=60_000)
        errors = page.locator(
            "[data-testid=stException], [data-testid=stAlertContentError]"
        ).all_inner_texts()
        browser.close()
    if errors:
        sys.exit(f"the dashboard shows: {errors}")


if __name__ == "__main__":
    main()
