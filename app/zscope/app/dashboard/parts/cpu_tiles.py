"""CPU time per transaction as big numbers: the busiest system at one place, the others at another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from zscope.app.dashboard.parts.tile import missing, time_tile
from zscope.app.dashboard.queries.cpu_per_transaction import WAYS
from zscope.app.dashboard.queries.overview import NOTHING, cpu_by_system, cpu_ways
from zscope.app.dashboard.show import without_effect

if TYPE_CHECKING:
    import pyarrow as pa
    from streamlit.delta_generator import DeltaGenerator

    from zscope.app.dashboard.answers import Data

_OTHERS = 4
_NAME = "CPU per transaction"


def cpu_tiles(data: Data, busiest: DeltaGenerator, others: DeltaGenerator) -> list[pa.Table]:
    """Draw the system with most transactions here and the next ones there; returns the trends."""
    ways = cpu_ways(data)
    way = _way(others, ways) if ways else ""
    found, left_out = cpu_by_system(data, way, 1 + _OTHERS) if ways else ({}, 0)
    if not found:
        with busiest:
            trend = time_tile(_NAME, NOTHING)
            missing(
                "CPU time and connections of the same system",
                "zscope ingest SMF.DUMP --select '70,119(2,11)'",
            )
        return [trend]
    (first, number), *rest = found.items()
    with busiest:
        trends = [time_tile(_NAME, number, first)]
        of_several = f" The system with most transactions of {len(found) + left_out}." if rest else ""
        st.caption(f"General-purpose processor time. Transactions counted by: {way}.{of_several}")
        st.caption("No level is published, only changes between two runs: see the page Benchmark.")
        without_effect(number.without_effect)
    if not rest:
        return trends
    with others:
        for column, (system, number) in zip(st.columns(_OTHERS), rest, strict=False):
            with column:
                trends.append(time_tile(_NAME, number, system))
        unseen = f"Systems with fewer transactions, not shown here: {left_out}. " if left_out else ""
        st.caption(f"{unseen}More on the page CPU per transaction.")
    return trends


def _way(place: DeltaGenerator, ways: tuple[str, ...]) -> str:
    way: str = place.segmented_control(
        "Transactions counted by", ways, default=ways[0], required=True, key="overview_counted_by",
        bind="query-params", persist_state="session",
    )  # fmt: skip
    place.caption(f"{WAYS[way]} CPU time is that of the whole system, other work included.")
    return way
