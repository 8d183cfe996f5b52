"""Serious faults of accessibility, as axe-core finds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from axe_playwright_python.sync_playwright import Axe

if TYPE_CHECKING:
    from playwright.sync_api import Page

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
        "[data-testid=stVegaLiteChart] [class*=_brush]",
        "Vega gives the range that can be marked a role and no name; the days can be chosen above the page.",
    ),
)


def serious_faults(page: Page) -> list[str]:
    """Return the serious faults of accessibility of a page, without those of libraries."""
    found: dict[str, Any] = Axe().run(page).response
    return [
        f"{fault['id']} at {node['target']}: {node['failureSummary']}"
        for fault in found["violations"]
        if fault["impact"] in SERIOUS
        for node in fault["nodes"]
        if not any(
            known.rule == fault["id"]
            and page.evaluate(
                "([at, inside]) => !!document.querySelector(at)?.closest(inside)",
                [node["target"][-1], known.inside],
            )
            for known in KNOWN
        )
    ]
