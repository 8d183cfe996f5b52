"""The main ways through the dashboard with the keyboard alone, and ranges that are marked in charts."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import TimeoutError as NothingInTime
from playwright.sync_api import expect

if TYPE_CHECKING:
    from tests.app.dashboard.browser.conftest import Reader

pytestmark = pytest.mark.browser
MOST_STOPS = 200


def test_the_main_ways_need_no_mouse(reader: Reader) -> None:
    keys = reader.page.keyboard
    reader.open("")
    tab_to(reader, "node.matches('[data-testid=stTopNavSection]') && node.innerText.trim() === 'Traffic'")
    keys.press("Enter")
    expect(reader.page.get_by_role("menuitem", name="Handshakes")).to_be_focused()
    keys.press("Enter")
    expect(reader.page.locator("h1")).to_have_text("Handshakes")
    reader.settle()
    tab_to(reader, "!!node.closest('.st-key-filters')")
    keys.press("Enter")
    tab_to(reader, "node.matches('input') && (node.getAttribute('aria-label') || '').includes('System')")
    keys.type("CLI1")
    keys.press("Enter")
    reader.settle()
    for _ in ("the list of values", "the filters"):
        keys.press("Escape")
    reader.settle()
    assert parse_qs(urlsplit(reader.page.url).query)["system"] == ["CLI1"]
    tab_to(reader, "node.matches('button') && node.innerText.includes('Rows')")
    keys.press("Enter")
    reader.settle()
    expect(reader.page.get_by_test_id("stDownloadButton").last).to_be_visible()
    reader.fine()


def test_a_row_is_chosen_with_the_keyboard(reader: Reader) -> None:
    reader.open("policy", "?system=CLI1")
    tab_to(
        reader, "!!node.closest('[data-testid=stDataFrame]') && node.matches('canvas, table, [role=grid]')"
    )
    reader.page.keyboard.press("ArrowDown")
    reader.page.keyboard.press("Shift+Space")
    reader.settle()
    expect(reader.page.get_by_text("Parameters of its actions").first).to_be_visible()
    reader.fine()


def test_a_statement_runs_with_the_keyboard(reader: Reader) -> None:
    reader.open("workbench")
    tab_to(reader, "node.matches('textarea')")
    reader.page.keyboard.press("Control+A")
    reader.page.keyboard.type("SELECT 6 * 7 AS answer")
    reader.page.keyboard.press("Control+Enter")
    reader.settle()
    expect(reader.page.get_by_text("1 rows in", exact=False)).to_be_visible()
    reader.fine()


def test_a_range_that_is_marked_in_a_chart_becomes_the_period(reader: Reader) -> None:
    reader.open("handshakes")
    mark_a_range(reader)
    reader.settle()
    begin, end = parse_qs(urlsplit(reader.page.url).query)["period"]
    # The axis has hours, so the period has moments.
    assert datetime.fromisoformat(begin) < datetime.fromisoformat(end)
    reader.fine()


def mark_a_range(reader: Reader) -> None:
    """Drag over the first chart until the address has a period: a chart that is drawn again drops a drag."""
    for seconds in (10, 20, 30):
        place = reader.place_of(reader.page.get_by_test_id("stVegaLiteChart").first)
        height = place["y"] + place["height"] / 2
        reader.page.mouse.move(place["x"] + place["width"] * 0.3, height)
        reader.page.mouse.down()
        reader.page.mouse.move(place["x"] + place["width"] * 0.5, height, steps=8)
        reader.page.mouse.up()
        try:
            reader.page.wait_for_url("**period=**", timeout=1000 * seconds)
        except NothingInTime:
            continue
        return
    raise AssertionError("three drags mark no range")


def tab_to(reader: Reader, condition: str) -> None:
    """Press Tab until an element for which a condition is true has the focus of the keyboard."""
    focused = "const node = document.activeElement; return node.matches(':focus-visible')"
    check = f"() => {{ {focused} && ({condition}); }}"
    for _ in range(MOST_STOPS):
        reader.page.keyboard.press("Tab")
        if reader.page.evaluate(check):
            return
    raise AssertionError(f"not reached with {MOST_STOPS} tabs: {condition}")
