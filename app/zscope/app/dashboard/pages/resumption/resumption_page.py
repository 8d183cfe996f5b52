"""Resumption: what becomes of sessions, the session caches, and the CPU time that a higher rate saves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zscope.app.dashboard.drawing import number
from zscope.app.dashboard.figure_cards import Card, draw_figures
from zscope.app.dashboard.pages.resumption.saving import saving_section
from zscope.app.dashboard.protection_records import HANDSHAKE_COVERAGE, handshake_coverage
from zscope.app.dashboard.registry import Page
from zscope.app.dashboard.tiles import MetricFigure, tile, tile_places
from zscope.schemas.sql_text import literal

if TYPE_CHECKING:
    from zscope.app.dashboard.page_data import PageData

PAGE = Page(title="Resumption", icon="autorenew", area="Traffic", order=20)

FIGURES = (
    (Card("resumption-reasons"), Card("zert-resumption")),
    (Card("caches"), Card("resumed-by-source")),
    (Card("cache-fill"), Card("networks-without-resumption", page="connections")),
    (Card("resumed-by-system"), Card("cache-resets")),
)
_IN_PERIOD = "basis <> 'since reset'"
"""Excludes displays of GSKSRVR that count alone: their counts can start before all other data."""


def render(data: PageData) -> None:
    """Draw the page."""
    _numbers(data)
    draw_figures(data, FIGURES)
    saving_section(data)


def resumed(data: PageData, side: str = "") -> float | None:
    """Return the share of resumed handshakes in zERT records in percent, of one side or of both.

    That of both is the figure of the pages Overview and Handshakes.
    """
    where = f"starts_with(handshake_role, {literal(side)})" if side else ""
    [row] = data.metric("handshake_mix", [], where=where).to_pylist() or [{"resumed_pct": None}]
    share: float | None = row["resumed_pct"]
    return share


def totals(data: PageData) -> dict[str, dict[str, Any]]:
    """Return the counts of each source for the server side."""
    rows = data.metric("resumption_rate", ["source"], where=f"side = 'server' AND {_IN_PERIOD}").to_pylist()
    return {row["source"]: row for row in rows}


def _numbers(data: PageData) -> None:
    by_source = totals(data)
    gsk = by_source.get("GSKSRVR", {})
    if not by_source:
        return
    of_servers = "starts_with(handshake_role, 'server')"
    of_gsksrvr = "side = 'server' AND source = 'GSKSRVR'"
    counted = f"{of_gsksrvr} AND {_IN_PERIOD}"
    cards = [
        ("Resumed handshakes", resumed(data), 1, "%", MetricFigure("handshake_mix", "resumed_pct"),
         "Of the handshakes of clients and servers in zERT records, as on Overview and Handshakes."),
        ("Servers only, zERT", resumed(data, "server"), 1, "%",
         MetricFigure("handshake_mix", "resumed_pct", where=of_servers),
         "Of the handshakes in which the recording side is the server: these are comparable with GSKSRVR."),
        ("Servers only, GSKSRVR", gsk.get("resumed_pct"), 1, "%",
         MetricFigure("resumption_rate", "resumed_pct", ("source",), counted),
         "Of the handshakes that used its caches."),
        ("Cache hit rate", gsk.get("hit_rate_pct"), 1, "%",
         MetricFigure("resumption_rate", "hit_rate_pct", ("source",), counted),
         "Lookups that returned a session."),
        ("Counter resets", gsk.get("resets"), 0, "",
         MetricFigure("resumption_rate", "sum(resets)", ("source",), of_gsksrvr),
         "Part of the counts before a reset is lost."),
    ]  # fmt: skip
    cards.append(("Hours covered", handshake_coverage(data), 1, "%", HANDSHAKE_COVERAGE, "By zERT details."))
    for column, card in zip(tile_places(len(cards)), cards, strict=True):
        title, value, digits, unit, figure, explanation = card
        tile(column, data, title, number(value, digits, unit), figure, explanation)
