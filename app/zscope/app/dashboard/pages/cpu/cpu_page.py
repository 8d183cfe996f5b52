"""CPU and LPARs: how busy systems were, partitions, CPACF, crypto cards and ICSF services."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from zscope.app.dashboard.drawing import clean, no_data, without_effect
from zscope.app.dashboard.figure_cards import Card, draw_figures
from zscope.app.dashboard.registry import Page
from zscope.app.figures.figure_declarations import declared_figures
from zscope.schemas.sql_text import literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zscope.app.dashboard.page_data import PageData

PAGE = Page(title="CPU and LPARs", icon="memory", area="Data", order=20)

FIGURES = (
    (
        Card(
            choice="cpu_processors",
            choices={"general-purpose": Card("busy-over-time"), "zIIP": Card("ziip-busy-over-time")},
        ),
    ),
    (Card("cpu-systems"),),
)
PARTITIONS = ((Card("partitions-over-time", 3), Card("partitions", 2)),)
CRYPTO = ((Card("crypto-share-over-time"), Card("crypto-instructions")), (Card("crypto-cpu-by-space"),))
"""Counted cryptographic work, where one of the two is recorded."""
CARDS = (
    (Card("card-operations-over-time"), Card("card-time-over-time"), Card("card-busy-over-time")),
    (Card("card-operations", folded=True),),
)
SERVICES = ((Card("icsf-services"),),)
DIFFERENT = "cpu-disagreements"
TYPES = {"CP": "general-purpose", "IFL": "Linux (IFL)", "ICF": "coupling facility"}
"""Names of types of processors; others have the name of the record."""
_METRIC, _COLUMNS, _CLOCK = "cpu_interval", ("system",), "interval_start_utc"


def compared(data: PageData) -> int:
    """Return the number of intervals that more than one source covers."""
    [row] = data.rows(f"""
        SELECT count(*) AS intervals FROM (
            SELECT 1 FROM cpu_by_source {data.where(_COLUMNS, _CLOCK)}
            GROUP BY system, interval_key HAVING count(*) > 1
        )
    """).to_pylist()  # fmt: skip
    return int(row["intervals"])


def render(data: PageData) -> None:
    """Draw the page."""
    without_effect(data.filters.without_effect(_COLUMNS, _CLOCK))
    _busy(data)
    _partitions(data)
    _counted_crypto(data)
    _cards(data)
    draw_figures(data, SERVICES)


def _busy(data: PageData) -> None:
    if not data.found(_METRIC, "SELECT 1 AS one FROM found LIMIT 1").num_rows:
        figure = declared_figures()["cpu-systems"]
        no_data(figure.needs, figure.load)
        return
    draw_figures(data, FIGURES)
    if not compared(data):
        st.caption(
            "Each interval is covered by one source only, so there is nothing to compare. Load SMF 70 "
            "records and an RMF CPU Activity report of the same time to compare them."
        )
    elif data.found("cpu_interval_disagreement", "SELECT 1 AS one FROM found LIMIT 1").num_rows:
        draw_figures(data, ((Card(DIFFERENT),),))
    else:
        st.caption(declared_figures()[DIFFERENT].needs)


def _partitions(data: PageData) -> None:
    """Draw the partitions of a machine, as one of its systems recorded them, for one type of processor."""
    recorded = data.found(
        "partition_use",
        "SELECT system, cpu_type FROM found GROUP BY ALL ORDER BY sum(intervals) DESC, system, cpu_type",
        ("system", "cpu_type"),
    ).to_pylist()
    where = ""
    if recorded:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            system = st.selectbox(
                "According to", list(dict.fromkeys(row["system"] for row in recorded)), key="cpu_reported_by",
                bind="query-params", persist_state="session", format_func=clean, width=200,
                help="Every system of a machine records all partitions of the machine.",
            )  # fmt: skip
            types = [row["cpu_type"] for row in recorded if row["system"] == system]
            types.sort(key=lambda name: (name != "CP", name))
            cpu_type = st.segmented_control(
                "Type of processor", types, default=types[0], required=True, key="cpu_type",
                bind="query-params", persist_state="session", format_func=lambda name: TYPES.get(name, name),
            )  # fmt: skip
        where = f"system = {literal(system)} AND cpu_type = {literal(cpu_type)}"
    draw_figures(data, _narrowed(PARTITIONS, where))


def _counted_crypto(data: PageData) -> None:
    metrics = (declared_figures()[card.figure].metric for row in CRYPTO for card in row)
    if any(data.found(name, "SELECT 1 AS one FROM found LIMIT 1").num_rows for name in metrics):
        st.header("Cryptographic work of the processors")
        draw_figures(data, CRYPTO)


def _cards(data: PageData) -> None:
    """Draw the work of crypto cards: that of this system or of the whole machine, where both are recorded."""
    found = data.found(
        "crypto_card_use", "SELECT scope FROM found ORDER BY scope = 'whole CPC', scope", ("scope",)
    )
    scopes = list(dict.fromkeys(found["scope"].to_pylist()))
    condition = ""
    if len(scopes) > 1:
        scope = st.segmented_control(
            "Work of", scopes, default=scopes[0], required=True, key="cpu_crypto_scope",
            bind="query-params", persist_state="session",
        )  # fmt: skip
        condition = f"scope = {literal(scope)}"
    draw_figures(data, _narrowed(CARDS if scopes else CARDS[:1], condition))


def _narrowed(rows: Sequence[Sequence[Card]], where: str) -> list[list[Card]]:
    return [[replace(card, where=where) for card in row] for row in rows]
