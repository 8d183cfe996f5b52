"""CPU per transaction: by system, over time, by job and by benchmark run, for one way of counting."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from zscope.app.dashboard.amounts import amount
from zscope.app.dashboard.drawing import no_data, number, without_effect
from zscope.app.dashboard.figure_cards import Card, draw_figures
from zscope.app.dashboard.registry import Page
from zscope.app.dashboard.tiles import MetricFigure, tile, tile_places
from zscope.schemas.sql_text import literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zscope.app.dashboard.page_data import PageData

PAGE = Page(title="CPU per transaction", icon="speed", area="Cost", order=20)

METRIC = "cpu_per_transaction"
WAYS = {
    "connections ended": "Each TCP connection that ended is one transaction (SMF 119 subtype 2).",
    "zERT connections": "Each connection that zERT saw is one transaction (SMF 119 subtype 11).",
    "bytes over request size": "Within benchmark runs, bytes are divided by the size of a request and its "
    "reply.",
    "supplied count": "The counts were loaded from a CSV file.",
}
"""The ways to count transactions with their meaning; the first one with data is the default."""
MEASURES = {
    "CPU per transaction": "cpu-per-transaction-by-day", "Transactions": "transactions-over-time",
    "CPU time": "cpu-time-over-time",
}  # fmt: skip
_CONNECTIONS = ("connections ended", "zERT connections")
_MOST_SYSTEMS, _IN_A_ROW = 7, 2
_KINDS = ("CRR", "RR", "STR")


def of_way_sql(way: str) -> str:
    """Return the condition of the rows of one way of counting."""
    return f"counted_by = {literal(way)}"


FIGURES = (
    (
        Card("runs-cpu-per-transaction", choice="cpu_per_transaction_workload", choices={
            **{kind: Card("runs-cpu-per-transaction", where=f"workload_kind = '{kind}'") for kind in _KINDS},
            "Other": Card("runs-cpu-per-transaction", where="workload_kind IS NULL"),
        }),
    ),
    (Card("runs-without-result", folded=True),),
    (Card("peak-load", folded=True),),
)  # fmt: skip
"""What no way of counting narrows."""


def figures_of(way: str, measure: str, systems: Sequence[str]) -> list[tuple[Card, ...]]:
    """Return the figures of one way of counting, with the course of a measure on each system."""
    of_way = of_way_sql(way)
    courses = [
        Card(MEASURES[measure], where=f"{of_way} AND system = {literal(name)}", title=name)
        for name in systems
    ]
    return [
        (Card("cpu-per-transaction", 4, where=of_way), Card("intervals-by-status", 3, where=of_way)),
        *(tuple(courses[at : at + _IN_A_ROW]) for at in range(0, len(courses), _IN_A_ROW)),
        (Card("cpu-per-transaction-by-job", where=of_way),),
    ]


def render(data: PageData) -> None:
    """Draw the page."""
    found = data.metric(METRIC, ["counted_by"]).to_pylist()
    ways = [way for way in WAYS if way in {row["counted_by"] for row in found}]
    if all(row["cpu_s"] is None for row in found):
        no_data(
            "There is no CPU time. It comes from RMF, as SMF 70 records or as CPU Activity reports.",
            "zscope ingest SMF.DUMP --select '70(1)'",
        )
    if not ways:
        no_data(
            "There are no transactions. They come from TCP connections (SMF 119 subtype 2), from zERT (SMF "
            "119 subtype 11), or from your own counts (CSV).",
            "zscope ingest SMF.DUMP --select '119(2,11)'",
        )
    else:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            way: str = st.segmented_control(
                "Transactions counted by", ways, default=ways[0], required=True,
                key="cpu_per_transaction_counted_by", bind="query-params", persist_state="session",
                help="All ways count the same work, so they are shown one at a time and never added.",
            )  # fmt: skip
            measure: str = st.segmented_control(
                "Over time", tuple(MEASURES), default=next(iter(MEASURES)), required=True,
                key="cpu_per_transaction_measure", bind="query-params", persist_state="session",
            )  # fmt: skip
        _tiles(data, way)
        draw_figures(data, figures_of(way, measure, busiest(data, way)))
    draw_figures(data, FIGURES)


def busiest(data: PageData, way: str) -> list[str]:
    """Return the systems with the most transactions."""
    rows = data.found(
        METRIC, "SELECT system FROM found GROUP BY system ORDER BY sum(transactions) DESC NULLS LAST, system "
        f"LIMIT {_MOST_SYSTEMS}", ["system"], f"{of_way_sql(way)} AND job_name IS NULL",
    )  # fmt: skip
    return sorted(rows["system"].to_pylist())


def tile_figures(way: str) -> dict[str, MetricFigure]:
    """Return the figures of one way of counting over all systems and runs, by their titles."""
    where = f"{of_way_sql(way)} AND job_name IS NULL"
    count = "matched_connections" if way in _CONNECTIONS else "own_transactions"
    known = f"FILTER ({count} IS NOT NULL)"
    title = "LPAR CPU per connection" if way in _CONNECTIONS else "CPU per transaction"
    expressions = {
        title: f"1e6 * sum(matched_cpu_s) {known} / sum({count}) {known}",
        "zIIP time of the same": f"1e6 * sum(matched_ziip_s) {known} / sum({count}) {known}",
        "Transactions": "sum(transactions)",
        "CPU time in these intervals": f"sum(matched_cpu_s) {known}",
        "Apportioned transactions": "100 * sum(apportioned_transactions) / sum(transactions)",
    }
    return {title: MetricFigure(METRIC, of, ("counted_by",), where) for title, of in expressions.items()}


def _tiles(data: PageData, way: str) -> None:
    figures = tile_figures(way)
    selected = ", ".join(f"{figure.expression} AS v{place}" for place, figure in enumerate(figures.values()))
    where = next(iter(figures.values())).where
    [values] = data.found(METRIC, f"SELECT {selected} FROM found", ["counted_by"], where).to_pylist()
    shown = [
        amount(values["v0"], "us"), amount(values["v1"], "us"), number(values["v2"], 0),
        amount(values["v3"], "s"), number(values["v4"], 1, "%"),
    ]  # fmt: skip
    for place, words, (title, of) in zip(tile_places(len(figures)), shown, figures.items(), strict=True):
        tile(place, data, title, words, of)
    st.caption(
        f"Counted by {way}. {WAYS[way]} CPU time is the whole busy time of the general-purpose processors of "
        "the system, including other work: it is that of the transactions only within benchmark runs. A "
        "transaction recorded by two systems counts on each of them. Apportioned transactions span several "
        "intervals and are distributed evenly over them."
    )
    without_effect(data.without_effect(METRIC))
