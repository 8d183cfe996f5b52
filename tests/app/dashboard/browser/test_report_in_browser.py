"""A report in a real browser without a network: it is drawn, nothing runs, and paper does not cut it."""

from __future__ import annotations

import socket
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from tests.app.dashboard.browser.conftest import ALONE, CHROMIUM, SCREENSHOTS, ZSCOPE, Reader
from tests.app.dashboard.contrast import colour_of, contrast
from tests.app.report_reading import ReportReader, harmless

from zscope.app.cli.reporting import reports_on
from zscope.app.shared.filters import Filters

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.browser
NOW = datetime(2026, 3, 20, 12, 0, tzinfo=UTC)
PAPER_PX = 1016
"""Height of a page of A4 without its margins."""
BEYOND = """() => [...document.querySelectorAll('main *')]
    .filter(node => node.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
    .filter(node => node.getBoundingClientRect().width > 1)
    .map(node => node.outerHTML.slice(0, 200))"""
BROKEN = """() => [...document.querySelectorAll('th, td:not(.long)')].flatMap(cell => {
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    const broken = [];
    while (walker.nextNode()) {
        for (const word of walker.currentNode.data.matchAll(/\\w+/g)) {
            const range = document.createRange();
            range.setStart(walker.currentNode, word.index);
            range.setEnd(walker.currentNode, word.index + word[0].length);
            const tops = [...range.getClientRects()].map(box => Math.round(box.top));
            if (new Set(tops).size > 1) broken.push(word[0]);
        }
    }
    return broken;
})"""
TEXTS = "h1, h2, h3, p, a, td, th, dt, dd, li, figcaption, .name, .amount, summary"
COLOURS = """texts => [...document.querySelectorAll(texts)].map(node => {
    const colours = [getComputedStyle(node).color];
    while (node && getComputedStyle(node).backgroundColor === 'rgba(0, 0, 0, 0)') node = node.parentElement;
    return [...colours, getComputedStyle(node).backgroundColor];
})"""


@pytest.fixture(scope="module")
def report(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the demo store. The file appendix.html in the same folder is its appendix."""
    file = tmp_path_factory.mktemp("report") / "report.html"
    appendix = file.with_name("appendix.html")
    subprocess.run(
        [ZSCOPE, "report", "-o", file, "--appendix", appendix, "--store", demo],
        check=True,
        capture_output=True,
    )
    return file


def opened(context: BrowserContext, file: Path) -> tuple[Page, list[str]]:
    """Open a file in a browser without a network; return the page, and whatever it did beyond being drawn."""
    context.set_offline(True)
    page = context.new_page()
    done: list[str] = []
    page.on("request", lambda request: done.append(request.url))
    page.on("console", lambda said: done.append(said.text))
    page.on("pageerror", lambda error: done.append(str(error)))
    page.on("dialog", lambda dialog: done.append(dialog.message))
    page.on("popup", lambda popup: done.append(popup.url))
    page.goto(file.as_uri())
    return page, done


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(viewport={"width": 1440, "height": 1400})
    yield made
    made.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_it_is_readable(width: int, scheme: Literal["light", "dark"], browser: Browser, report: Path) -> None:
    context = browser.new_context(viewport={"width": width, "height": 1400}, color_scheme=scheme)
    page, done = opened(context, report)
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"report-{width}-{scheme}.png")
    assert done == [report.as_uri()]
    assert page.evaluate(BEYOND) == []
    pairs = {tuple(pair) for pair in page.evaluate(COLOURS, TEXTS)}
    low = {pair: contrast(colour_of(pair[0]), colour_of(pair[1])) for pair in pairs}
    assert {pair: value for pair, value in low.items() if value < 4.5} == {}
    context.close()


def test_names_from_strangers_do_nothing(context: BrowserContext, hostile: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_bytes(reports_on(hostile, Filters(), appendix=True, now=NOW)[-1].page)
    harmless(file.read_bytes())
    page, done = opened(context, file)
    page.wait_for_timeout(500)
    assert done == [file.as_uri()]
    assert page.locator("script, img, iframe").count() == 0
    assert page.evaluate(BEYOND) == []
    page.set_viewport_size({"width": 390, "height": 1400})
    assert page.evaluate(BEYOND) == []


def test_its_policy_forbids_scripts_and_requests(browser: Browser, report: Path, tmp_path: Path) -> None:
    """Even if a text of the data were not escaped: nothing connects to a server that is there."""
    file = tmp_path / "report.html"
    runs = b"document.title='ran'"
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(1)
        picture = b"http://127.0.0.1:%d/x.png" % server.getsockname()[1]
        planted = b"<script>%b</script><img src='%b' onerror=\"%b\">" % (runs, picture, runs)
        file.write_bytes(report.read_bytes().replace(b"</h1>", b"</h1>" + planted))
        page = browser.new_page()
        page.goto(file.as_uri())
        with pytest.raises(TimeoutError):
            server.accept()
        assert page.locator("img").count() == 1
        assert page.title().startswith("Report on TLS")
        page.close()


@pytest.mark.parametrize(("name", "least", "most"), [("report", 5, 9), ("appendix", 20, 70)])
def test_nothing_is_cut_and_no_word_is_broken_on_paper(
    name: str, least: int, most: int, context: BrowserContext, report: Path, tmp_path: Path
) -> None:
    """As `--print-to-pdf` does it, and at the width of paper."""
    assert CHROMIUM
    file = report.with_stem(name)
    pdf = tmp_path / "report.pdf"
    subprocess.run(
        [CHROMIUM, "--headless", *ALONE, f"--user-data-dir={tmp_path / 'profile'}", f"--print-to-pdf={pdf}",
         file.as_uri()],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    assert pdf.read_bytes().startswith(b"%PDF")
    assert least <= pdf.read_bytes().count(b"/Type /Page\n") <= most
    page, _ = opened(context, file)
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 690, "height": 1000})
    assert page.evaluate(BEYOND) == []
    if name == "report":
        [first] = page.locator("#glance").all()
        box = first.bounding_box()
        assert box
        assert box["y"] + box["height"] <= PAPER_PX, "the first page has room for what is read first"
    assert page.evaluate(BROKEN) == [], "words that are continued on the next line"
    for part in ("loads", "handshakes-over-time") if name == "appendix" else ("systems", "certificates"):
        assert page.locator(f"table[data-part={part}] tbody tr").first.is_visible()


def test_the_dashboard_writes_it_for_its_filters(reader: Reader, tmp_path: Path) -> None:
    reader.open("handshakes", "?system=SRV1")
    with reader.page.expect_download(timeout=120_000) as waiting:
        reader.page.get_by_role("button", name="Report", exact=True).click()
    file = tmp_path / "report.html"
    waiting.value.save_as(file)
    assert waiting.value.suggested_filename == "zscope-report.html"
    read: ReportReader = harmless(file.read_bytes())
    assert [row["System"].text for row in read.tables["systems"].rows] == ["SRV1"]
    expect(reader.page.locator("h1")).to_have_text("Handshakes")
    reader.fine()
