"""Open the site of the documents as files in a browser: no outside request, every picture, and a search.

Usage: python .ci/check_site.py build/site
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

LARGE = ("data-dictionary.html",)
"""Takes long to draw, and has no picture."""
BROKEN = (
    "() => [...document.images].filter(each => !each.complete || !each.naturalWidth).map(each => each.src)"
)


def search(page: Page, words: str) -> str:
    """Search, choose the first result, and return its address; empty if there is none within 30 seconds."""
    home = page.url
    page.get_by_role("button", name="Search").first.click()
    page.wait_for_timeout(1000)
    page.keyboard.type(words, delay=20)
    for _ in range(30):
        # The results are drawn in a closed part of the page, so the first is chosen by its key.
        page.wait_for_timeout(1000)
        page.keyboard.press("Enter")
        if page.url != home:
            return page.url
    return ""


def main(site: Path) -> int:
    """Open every page; report the problems."""
    pages = sorted(path for path in site.rglob("*.html") if path.name not in {*LARGE, "404.html"})
    problems: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("google-chrome"),
            args=["--no-sandbox", "--disable-gpu"],
        )
        page = browser.new_page()
        page.on("request", lambda asked: problems.append(asked.url) if asked.url.startswith("http") else None)
        page.on("pageerror", lambda error: problems.append(f"{page.url}: {error}"))
        for path in pages:
            page.goto(path.resolve().as_uri())
            page.wait_for_load_state("load")
            problems += [f"{path.name}: no picture {source}" for source in page.evaluate(BROKEN)]
        page.goto((site / "index.html").resolve().as_uri())
        found = search(page, "resumption")
        browser.close()
    print(*problems, sep="\n", end="\n" if problems else "", file=sys.stderr)
    print(f"{len(pages)} pages opened as files, {len(problems)} problems; a search leads to {found or None}")
    return 0 if found and not problems else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
