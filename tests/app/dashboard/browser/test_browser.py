"""A real browser over every page, and over what only a browser does."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlsplit
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Browser, Download, Locator, expect
from playwright.sync_api import TimeoutError as NothingInTime
from tests.app.dashboard.browser.axe import faults_of
from tests.app.dashboard.browser.conftest import ZSCOPE, Reader, reader_of, serve
from tests.app.dashboard.contrast import colour_of, contrast

from zscope.app.dashboard.registry import RegisteredPage, registered_pages
from zscope.app.dashboard.server.protected_app import HEADERS

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.browser
PAGES = registered_pages()
SAMPLE = Path(__file__).resolve().parents[4] / "sample-data"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_page_is_drawn_and_accessible(
    page: RegisteredPage, scheme: Literal["light", "dark"], browser: Browser, server: str
) -> None:
    for reader in reader_of(browser, server, scheme):
        reader.open(page.address)
        expect(reader.page.locator("h1")).to_have_text(page.title)
        expect(reader.page).to_have_title(f"{page.title} - zscope")
        reader.page.wait_for_timeout(800)  # pictures are drawn after the page is there
        reader.screenshot(f"{page.name}-{scheme}")
        reader.fine()
        assert faults_of(reader.page) == []


@pytest.mark.parametrize("path", ["/", "/_stcore/host-config", "/static/none.js", "/overview"])
def test_a_request_to_another_host_is_refused(path: str, server: str) -> None:
    """A page of another site could send it, after its name was pointed to this machine."""
    request = Request(f"{server}{path}", headers={"Host": "evil.example"})
    with pytest.raises(HTTPError) as refused:
        urlopen(request, timeout=20)
    assert (refused.value.code, refused.value.read()) == (400, b"Invalid host header")
    assert {name: refused.value.headers[name] for name in HEADERS} == HEADERS


def test_no_other_site_can_send_messages_to_a_page(server: str) -> None:
    with urlopen(f"{server}/_stcore/host-config", timeout=20) as answer:
        assert json.loads(answer.read())["allowedOrigins"] == []


def test_pages_are_reached_by_the_navigation(reader: Reader) -> None:
    reader.open("")
    for title in ("TLS CPU cost", "SQL workbench", "Overview"):
        follow(reader, title)
    for other in ("MQ channels", "z/VM links", "z/TPF floods"):  # their data are in the demo
        follow(reader, other)
    reader.settle()
    reader.fine()


def test_a_view_can_be_sent_as_a_link(reader: Reader, browser: Browser, server: str) -> None:
    reader.open("handshakes")
    whole = number(reader, "Handshakes")
    choose(reader, "System", "CLI1")
    part = number(reader, "Handshakes")
    assert 0 < part < whole
    assert parse_qs(urlsplit(reader.page.url).query)["system"] == ["CLI1"]
    for other in reader_of(browser, server):
        other.page.goto(reader.page.url)
        other.settle()
        assert number(other, "Handshakes") == part
        other.fine()
    reader.fine()


def test_filters_stay_from_page_to_page(reader: Reader) -> None:
    reader.open("handshakes", "?system=CLI1")
    for title in ("Resumption", "Benchmark", "Handshakes"):
        follow(reader, title)
        assert systems(reader) == ["CLI1"]
    expect(chip(reader, "System CLI1")).to_be_visible()
    reader.fine()


def test_back_and_refresh_keep_the_filters(reader: Reader) -> None:
    reader.open("handshakes")
    choose(reader, "System", "CLI1")
    follow(reader, "Benchmark")
    follow(reader, "Resumption")
    reader.page.reload()
    reader.settle()
    assert systems(reader) == ["CLI1"]
    for title in ("Benchmark", "Handshakes"):
        reader.page.go_back()
        expect(reader.page.locator("h1")).to_have_text(title)
        reader.settle()
        assert systems(reader) == ["CLI1"]
    expect(chip(reader, "System CLI1")).to_be_visible()
    reader.page.go_back()
    reader.settle()
    assert systems(reader) == []
    expect(chip(reader, "System CLI1")).to_have_count(0)
    reader.fine()


def test_chosen_filters_are_not_cut(reader: Reader) -> None:
    reader.open("handshakes", "?system=CLI1&role=server&stack=TCPIP&port=443")
    chips = chip(reader, re.compile(r"^(close )?(System|Stack|Port|Role) "))
    expect(chips).to_have_count(4)
    cut = "nodes => nodes.filter(node => node.scrollWidth > node.clientWidth + 1).map(node => node.innerText)"
    assert chips.evaluate_all(cut) == []
    reader.page.get_by_role("button", name="Filters", exact=True).click()
    inside = reader.page.locator("[data-testid=stMultiSelect] [data-tag] span[title]")
    expect(inside).to_have_count(4)
    assert inside.evaluate_all(cut) == []
    reader.fine()


def test_what_the_data_do_not_have_is_shown_and_can_be_removed(reader: Reader) -> None:
    reader.open("handshakes", "?port=9&port=99999&system=CLI1")
    expect(chip(reader, "99999 is no port, not applied")).to_be_visible()
    chip(reader, "Port 9: not in the data").click()
    reader.settle()
    asked = parse_qs(urlsplit(reader.page.url).query)
    assert asked == {"port": ["99999"], "system": ["CLI1"]}
    chip(reader, "99999 is no port, not applied").click()
    reader.settle()
    assert parse_qs(urlsplit(reader.page.url).query) == {"system": ["CLI1"]}
    assert number(reader, "Handshakes") > 0
    reader.fine()


def test_a_period_without_rows_leads_to_the_nearest_day(reader: Reader) -> None:
    reader.open("handshakes", "?period=2026-03-10")
    said = "No rows on 2026-03-10. Nearest data: 2026-03-15."
    expect(reader.page.get_by_text(said).first).to_be_visible()
    reader.page.get_by_role("button", name="Show 2026-03-15").first.click()
    expect(reader.page.get_by_test_id("stMetric").first).to_be_visible()
    reader.settle()
    assert parse_qs(urlsplit(reader.page.url).query) == {"period": ["2026-03-15"]}
    reader.fine()


@pytest.mark.parametrize(("width", "height", "most"), [(1440, 900, 130), (390, 844, 211)])
def test_navigation_and_filters_leave_room_for_the_page(
    width: int, height: int, most: int, reader: Reader
) -> None:
    """At most 130 pixels of a desktop, and a quarter of the screen of a phone."""
    reader.page.set_viewport_size({"width": width, "height": height})
    reader.open("handshakes", "?system=CLI1&port=443")
    # Both at one time: the page moves while its buttons are drawn.
    bar, title = reader.page.evaluate(
        "[document.querySelector('.st-key-filter-bar').getBoundingClientRect().bottom,"
        " document.querySelector('h1').getBoundingClientRect().top]"
    )
    assert 0 < bar <= title
    assert bar <= most
    wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    assert not reader.page.evaluate(wide)
    reader.screenshot(f"filter-bar-{width}")
    reader.fine()


def test_the_navigation_folds_on_a_phone(reader: Reader) -> None:
    reader.page.set_viewport_size({"width": 390, "height": 844})
    reader.open("handshakes", "?system=CLI1")
    reader.page.get_by_test_id("stExpandSidebarButton").click()
    menu = reader.page.get_by_test_id("stSidebar")
    for area in ("Cost", "Traffic", "Security", "Benchmark", "Explore", "Data"):
        expect(menu.get_by_text(area, exact=True).first).to_be_visible()
    menu.get_by_role("link", name="Resumption").click()
    expect(reader.page.locator("h1")).to_have_text("Resumption")
    reader.settle()
    assert systems(reader) == ["CLI1"]
    reader.fine()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_captions_have_enough_contrast(
    scheme: Literal["light", "dark"], browser: Browser, server: str
) -> None:
    for reader in reader_of(browser, server, scheme):
        reader.open("cpu_per_transaction")
        caption = reader.page.get_by_test_id("stMain").get_by_test_id("stCaptionContainer").nth(1)
        shown = caption.evaluate("node => getComputedStyle(node).color")
        page = reader.page.get_by_test_id("stApp").evaluate("node => getComputedStyle(node).backgroundColor")
        assert contrast(colour_of(shown), colour_of(page)) >= 4.5
        reader.fine()


def test_a_click_on_a_cell_chooses_its_port_for_all_figures(reader: Reader) -> None:
    reader.open("handshakes")
    box = reader.place_of(reader.page.get_by_test_id("stVegaLiteChart").first)
    # In the line of the busiest port, at noon of one of its days.
    reader.page.mouse.click(box["x"] + box["width"] * 0.6, box["y"] + 15)
    reader.page.wait_for_url("**port=**")
    reader.settle()
    expect(chip(reader, re.compile(r"Port \d+$"))).to_be_visible()
    reader.screenshot("handshakes-port")
    reader.fine()


def test_a_figure_leads_to_its_connections_with_the_filters(reader: Reader) -> None:
    reader.open("ranking", "?system=CLI1&port=443")
    reader.page.get_by_test_id("stMain").get_by_role("link", name="Connections").first.click()
    expect(reader.page.locator("h1")).to_have_text("Connections")
    reader.settle()
    expect(chip(reader, "System CLI1")).to_be_visible()
    expect(chip(reader, "Port 443")).to_be_visible()
    reader.fine()


def test_a_sentence_leads_to_its_evidence_with_the_filters(reader: Reader) -> None:
    reader.open("", "?system=CLI1")
    reader.page.get_by_test_id("stMain").get_by_role("link", name="TLS CPU cost").first.click()
    expect(reader.page.locator("h1")).to_have_text("TLS CPU cost")
    reader.settle()
    expect(chip(reader, "System CLI1")).to_be_visible()
    reader.fine()


def test_the_data_of_a_picture_can_be_downloaded(reader: Reader, tmp_path: Path) -> None:
    reader.open("handshakes")
    reader.page.get_by_role("button", name="Rows").first.click()
    for kind in ("CSV", "Parquet"):
        button = reader.page.get_by_test_id("stDownloadButton").filter(has_text=kind).last
        expect(button).to_be_visible()
        reader.settle()  # a picture that is drawn late moves what is below it
        download(reader, button).save_as(tmp_path / kind)
    assert (tmp_path / "CSV").read_text(encoding="utf-8").startswith('"')
    assert (tmp_path / "Parquet").read_bytes()[:4] == b"PAR1"
    reader.fine()


def download(reader: Reader, button: Locator) -> Download:
    """Click a button until its file arrives: while the page is drawn again, a click gets none."""
    for seconds in (10, 20, 30):
        try:
            with reader.page.expect_download(timeout=1000 * seconds) as caught:
                button.click()
        except NothingInTime:
            continue
        return caught.value
    raise AssertionError("no file arrives after three clicks")


def test_a_statement_of_the_workbench_runs(reader: Reader) -> None:
    reader.open("workbench")
    reader.page.get_by_role("textbox", name="Statement").fill("SELECT 6 * 7 AS answer")
    reader.page.keyboard.press("Control+Enter")
    reader.settle()
    expect(reader.page.get_by_text("1 rows in", exact=False)).to_be_visible()
    expect(reader.page.get_by_test_id("stDataFrame").last).to_be_visible()
    reader.screenshot("workbench-result")
    reader.fine()


@pytest.fixture
def growing(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A store of its own that a test loads into, and the dashboard on it."""
    store = tmp_path / "store"
    load(store, SAMPLE / "reports" / "rmf-cpu.SYSB.txt")
    for address in serve(store, tmp_path / "log"):
        yield store, address


def test_new_data_appears_automatically(growing: tuple[Path, str], browser: Browser) -> None:
    store, address = growing
    for reader in reader_of(browser, address):
        reader.open("handshakes")
        needed = reader.page.get_by_text("Handshakes come from zERT", exact=False)
        expect(needed.first).to_be_visible()
        load(store, SAMPLE / "smf-sample.bin")
        expect(reader.page.get_by_test_id("stMetric").first).to_be_visible(timeout=40_000)
        reader.fine()


def test_a_removed_store_is_explained_and_a_new_one_is_drawn(
    growing: tuple[Path, str], browser: Browser
) -> None:
    store, address = growing
    for reader in reader_of(browser, address):
        reader.open("handshakes")
        shutil.rmtree(store)
        reader.page.reload()
        reader.settle()
        expect(reader.page.get_by_text("The store cannot be read")).to_be_visible()
        assert reader.troubles == []
        load(store, SAMPLE / "smf-sample.bin")
        expect(reader.page.get_by_test_id("stMetric").first).to_be_visible(timeout=40_000)
        reader.fine()


def load(store: Path, file: Path) -> None:
    done = subprocess.run(
        [ZSCOPE, "ingest", file, "--store", store, "--timezone", "+01:00", "--format", "json"],
        check=False, capture_output=True,
    )  # fmt: skip
    assert done.returncode in (0, 4), done.stderr
    assert json.loads(done.stdout)


def follow(reader: Reader, title: str) -> None:
    """Open a page by the navigation."""
    [page] = [page for page in PAGES if page.title == title]
    menu = reader.page.get_by_test_id("stTopNav")
    if page.address:
        menu.get_by_role("button", name=page.area).click()
        reader.page.get_by_role("menuitem", name=title, exact=True).click()
    else:
        menu.get_by_role("link", name=title, exact=True).click()
    expect(reader.page.locator("h1")).to_have_text(title)
    reader.settle()


def systems(reader: Reader) -> list[str]:
    """Return the chosen systems in the address."""
    return parse_qs(urlsplit(reader.page.url).query).get("system", [])


def number(reader: Reader, label: str) -> int:
    title = reader.page.get_by_test_id("stMetricLabel").get_by_text(label, exact=True)
    metric = reader.page.get_by_test_id("stMetric").filter(has=title)
    return int(metric.get_by_test_id("stMetricValue").inner_text().replace(",", ""))


def chip(reader: Reader, words: str | re.Pattern[str]) -> Locator:
    """Return the button in the filter bar that removes a chosen value."""
    exact = isinstance(words, str)
    return reader.page.locator("[class*=st-key-remove-]").get_by_role("button", name=words, exact=exact)


def choose(reader: Reader, label: str, option: str) -> None:
    reader.page.get_by_role("button", name="Filters", exact=True).click()
    box = reader.page.get_by_test_id("stMultiSelect").filter(has_text=label).first
    box.locator("input").click()
    reader.page.get_by_role("option", name=option, exact=True).click()
    reader.settle()
    for _ in ("the list of values", "the filters"):
        reader.page.keyboard.press("Escape")
    expect(box).to_have_count(0)
    reader.settle()
