"""The partitions of a machine: how much of it each had, and what its weight entitles it to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import pyarrow.compute as pc
import streamlit as st

from zscope.app.dashboard.looks import (
    BLUE,
    GREY,
    ORANGE,
    PURPLE,
    colours,
    spread_colours,
    time_axis,
    time_tip,
    values,
)
from zscope.app.dashboard.many_rows import ROWS, Drawn, with_rows
from zscope.app.dashboard.queries.partitions import KINDS, OTHERS, partitions, tellers, use_over_time
from zscope.app.dashboard.show import clean, nothing, picture, plain

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.answers import Data
    from zscope.app.dashboard.looks import Chart
    from zscope.app.dashboard.queries.partitions import Clock

_UNITS = {"hour_utc": "utcyearmonthdatehours", "day_utc": "utcyearmonthdate"}
"""Bars that are as wide as their time."""
_SHARING = {"shared": BLUE, "dedicated": PURPLE, "management": GREY}


def partitions_section(data: Data) -> None:
    """Partitions as one system of the machine tells of them."""
    st.subheader("Partitions of the machine")
    found = {teller.system: teller for teller in tellers(data)}
    if not found:
        nothing(
            "No partitions: they come from SMF 70 subtype 1 records or from Partition Data reports of RMF.",
            "zscope ingest SMF.DUMP --select '70(1)'",
        )
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        system = st.selectbox(
            "As told by", list(found), key="cpu_told_by", bind="query-params", persist_state="session",
            format_func=clean, width=200, help="Every system of a machine tells of all its partitions.",
        )  # fmt: skip
        teller = found[system]
        table = partitions(data, teller)
        kinds = sorted(set(table["processors"].to_pylist()), key=lambda kind: (kind != "CP", kind))
        kind = None
        if kinds:
            kind = st.segmented_control(
                "Type of processor", kinds, default=kinds[0], required=True, key="cpu_type",
                bind="query-params", persist_state="session", format_func=_kind,
            )  # fmt: skip
    if kind is None:
        st.info("Nothing is told of the period that was chosen.", icon=":material/inbox:")
        return
    of_kind = table.filter(pc.field("processors") == kind)
    moments, clock = use_over_time(data, teller, kind)
    if moments.num_rows:
        picture(
            _over_time(moments, clock), moments, "cpu-partitions-over-time",
            "Share of the physical processors that each partition had over time, as stacked bars.",
        )  # fmt: skip
    picture(
        _by_partition(of_kind), of_kind, "cpu-partitions",
        "Share of the physical processors that each partition had, as bars, and its share by weight.",
    )  # fmt: skip
    machine = f" Machine {plain(teller.machine)}." if teller.machine else ""
    physical = pc.max(of_kind["physical"]).as_py()
    there = f" It has {physical:,.0f} physical processors of this type." if physical else ""
    st.caption(
        f"Told by {teller.by} of {plain(system)}.{machine}{there} Bars: time in which the partition had a "
        "processor, as a share of all physical ones of the type. A dedicated processor is given out all the "
        "time, so its share says nothing about work. Lines: the share of the shared processors that the "
        "newest weight entitles to when all partitions want more."
    )


def _kind(kind: str) -> str:
    return KINDS.get(kind, clean(kind))


def _over_time(moments: pa.Table, clock: Clock) -> Drawn:
    names = sorted(set(moments["partition_name"].to_pylist()), key=lambda name: (name == OTHERS, name))
    chart: Chart = (
        alt.Chart(ROWS)
        .mark_bar(binSpacing=0)
        .encode(
            x=time_axis(clock, timeUnit=_UNITS[clock]),
            y=alt.Y("used_pct:Q", title="Share of the machine (%)", stack=True),
            color=alt.Color("partition_name:N", title="Partition", scale=spread_colours(names)),
            tooltip=[
                alt.Tooltip("partition_name:N", title="Partition"), time_tip(clock),
                alt.Tooltip("used_pct:Q", title="Share (%)", format=".2f"),
            ],
        )
        .properties(height=260)
    )  # fmt: skip
    return with_rows(chart, moments, moments.column_names)


def _by_partition(of_kind: pa.Table) -> Chart:
    base = alt.Chart(values(of_kind)).encode(
        y=alt.Y("partition_name:N", title="Partition", sort=of_kind["partition_name"].to_pylist(),
                axis=alt.Axis(labelOverlap=False)),
        tooltip=[
            alt.Tooltip("partition_name:N", title="Partition"), alt.Tooltip("system_name:N", title="System"),
            alt.Tooltip("sharing:N", title="Processors"),
            alt.Tooltip("used_pct:Q", title="Share of the physical processors (%)", format=".2f"),
            alt.Tooltip("weight:Q", title="Weight", format=","),
            alt.Tooltip("weight_pct:Q", title="Share by weight (%)", format=".1f"),
            alt.Tooltip("logical_online:Q", title="Logical processors online", format=".1f"),
        ],
    )  # fmt: skip
    bars = base.mark_bar(height=14).encode(
        x=alt.X("used_pct:Q", title="Share (%)"),
        color=alt.Color("sharing:N", title="Processors", scale=colours(_SHARING)),
    )
    weights = base.mark_tick(color=ORANGE, thickness=3, height=20).encode(x="weight_pct:Q")
    return alt.layer(bars, weights).properties(height=alt.Step(26))
