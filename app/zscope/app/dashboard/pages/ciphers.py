"""Ciphers and versions: protocols and cipher suites, over time, by port, and as each source sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zscope.app.dashboard.figure_cards import Card, draw_figures
from zscope.app.dashboard.registry import Page

if TYPE_CHECKING:
    from zscope.app.dashboard.page_data import PageData

PAGE = Page(title="Ciphers and versions", icon="enhanced_encryption", area="Security", order=20)

FIGURES = (
    (Card("protocols"), Card("protocols-over-time")),
    (Card("cipher-suites"), Card("suite-ratings-over-time")),
    (Card("protocols-by-port", page="connections"), Card("suite-ratings-by-port", page="connections")),
    (Card("failed-by-port", page="handshakes"), Card("protocols-by-source")),
    (Card("suites-by-source"),),
)


def render(data: PageData) -> None:
    """Draw the page."""
    draw_figures(data, FIGURES)
