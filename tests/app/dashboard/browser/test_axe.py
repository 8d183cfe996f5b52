"""No serious fault of accessibility on any page, as axe-core finds them; some pages in dark, too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from tests.app.dashboard.browser.conftest import reader_of

from zscope.app.dashboard.registry import RegisteredPage, registered_pages

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser
SERIOUS = ("serious", "critical")


@dataclass(frozen=True)
class OfLibrary:
    """A fault of Streamlit or Vega that no option changes."""

    rule: str
    inside: str
    """The elements in which it occurs, as a selector."""
    reason: str


KNOWN = (
    OfLibrary(
        "svg-img-alt",
        "[data-testid=stMetric]",
        "The line in a tile has marks without a name; the values are in the table below the tiles.",
    ),
    OfLibrary(
        "svg-img-alt",
        "[data-testid=stVegaLiteChart]",
        "Vega names single marks, but not all groups of marks, nor a marked range. Each chart has a "
        "description, and its data in a table below.",
    ),
)


@pytest.mark.parametrize(
    ("page", "scheme"),
    [
        *((page, "light") for page in registered_pages()),
        *((page, "dark") for page in registered_pages()[::4]),
    ],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_a_page_has_no_serious_fault(
    page: RegisteredPage, scheme: Literal["light", "dark"], browser: Browser, server: str
) -> None:
    for reader in reader_of(browser, server, scheme):
        reader.open(page.address)
        reader.page.wait_for_timeout(800)  # pictures are drawn after the page is there
        found: dict[str, Any] = Axe().run(reader.page).response
        faults = [
            f"{fault['id']} at {node['target']}: {node['failureSummary']}"
            for fault in found["violations"]
            if fault["impact"] in SERIOUS
            for node in fault["nodes"]
            if not any(
                known.rule == fault["id"]
                and reader.page.evaluate(
                    "([at, inside]) => !!document.querySelector(at)?.closest(inside)",
                    [node["target"][-1], known.inside],
                )
                for known in KNOWN
            )
        ]
        assert faults == []
