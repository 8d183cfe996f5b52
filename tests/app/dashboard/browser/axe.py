"""Faults of accessibility, moderate or worse, as axe-core finds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from axe_playwright_python.sync_playwright import Axe

if TYPE_CHECKING:
    from playwright.sync_api import Page

FAULTS = ("moderate", "serious", "critical")


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


def faults_of(page: Page) -> list[str]:
    """Return the faults of accessibility of a page, without those of libraries."""
    found: dict[str, Any] = Axe().run(page).response
    return [
        f"{fault['id']} at {node['target']}: {node['failureSummary']}"
        for fault in found["violations"]
        if fault["impact"] in FAULTS
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
