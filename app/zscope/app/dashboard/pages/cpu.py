"""CPU and LPARs: how busy systems were and who says so, the partitions of a machine, its crypto cards."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import altair as alt
import streamlit as st

from zscope.app.dashboard.looks import GREY, spread_colours, time_axis, time_tip
from zscope.app.dashboard.many_rows import ROWS, Drawn, with_rows
from zscope.app.dashboard.parts.cpu_sources import sources_section
from zscope.app.dashboard.parts.crypto_cards import cards_section, services_section
from zscope.app.dashboard.parts.partitions import partitions_section
from zscope.app.dashboard.queries.cpu import (
    COLUMNS,
    METRIC,
    Busy,
    Processors,
    busy_over_time,
    use_by_system,
)
from zscope.app.dashboard.queries.pieces import PIECE
from zscope.app.dashboard.show import grid, nothing, picture, without_effect

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Data

_COLUMNS = (
    "system", "source", "cp_kind", "cps_online", "lpar_busy_pct", "highest_busy_pct", "ziips_online",
    "ziip_busy_pct", "intervals", "first_utc", "last_utc",
)  # fmt: skip
_SOURCES = {"smf70": "SMF 70 records", "xml": "RMF report, XML", "text": "RMF report, text"}


def render(data: Data) -> None:
    """Draw the page."""
    without_effect(data.filters.without_effect(COLUMNS, "interval_start_utc"))
    _busy(data)
    partitions_section(data)
    cards_section(data)
    services_section(data)


def _busy(data: Data) -> None:
    st.subheader("How busy the systems were")
    systems = use_by_system(data)
    if not systems.num_rows:
        nothing(
            "No CPU use: it comes from RMF, as SMF 70 subtype 1 records or as CPU Activity reports.",
            "zscope ingest SMF.DUMP --select '70(1)'",
        )
        return
    processors: Processors = st.segmented_control(
        "Processors", get_args(Processors), default="general-purpose", required=True, key="cpu_processors",
        bind="query-params", persist_state="session",
    )  # fmt: skip
    found = busy_over_time(data, systems, processors)
    if found.rows.num_rows:
        picture(
            _lines(found, processors), found.rows, "cpu-busy",
            f"How busy the {processors} processors of each system were over time, as lines.",
            sources=[METRIC],
        )  # fmt: skip
    st.caption(" ".join(_words(found, systems.to_pylist())))
    grid(systems, "cpu-by-system", sources=[METRIC], columns=_COLUMNS)
    sources_section(data)


def _words(found: Busy, systems: list[dict[str, int]]) -> list[str]:
    each = "day" if found.daily else "interval"
    words = [
        "Busy is the share of the time online in which a logical processor was at work, all of a system.",
        f"Each point is one {each}; a line breaks off where there is no data.",
        "SMF 70 records count before reports, XML before text.",
    ]
    if unplaced := sum(row["intervals_without_utc"] for row in systems):
        words.append(
            f"{unplaced:,} intervals have no place in UTC, as nothing tells the offset of their clock; "
            "give it with zscope ingest --timezone."
        )
    if found.left_out:
        words.append(f"Systems that did less and are not drawn: {found.left_out}; choose them above.")
    return words


def _lines(found: Busy, processors: Processors) -> Drawn:
    clock = "day_utc" if found.daily else "interval_start_utc"
    line = alt.Chart(ROWS).encode(
        x=time_axis(clock),
        y=alt.Y("busy_pct:Q", title=f"Busy, {processors} (%)", scale=alt.Scale(zero=True)),
        color=alt.Color("system:N", title="System", scale=spread_colours(found.systems),
                        legend=alt.Legend(orient="top")),
        tooltip=[
            alt.Tooltip("system:N", title="System"), time_tip(clock),
            alt.Tooltip("busy_pct:Q", title="Busy (%)", format=".2f"),
            alt.Tooltip("online:Q", title="Processors online", format=".1f"),
            alt.Tooltip("busy_s:Q", title="Busy time (s)", format=",.1f"),
            alt.Tooltip("told_by:N", title="Told by"),
        ],
    )  # fmt: skip
    words = " : ".join(f"datum.source === '{key}' ? '{told}'" for key, told in _SOURCES.items())
    told = line.transform_calculate(told_by=f"{words} : datum.source")
    points = told.mark_point(size=18, filled=True).encode(
        shape=alt.Shape("told_by:N", title="Told by", scale=alt.Scale(domain=list(_SOURCES.values())),
                        legend=alt.Legend(orient="top", symbolFillColor=GREY, symbolStrokeColor=GREY)),
    )  # fmt: skip
    lines = told.mark_line(strokeWidth=1.2).encode(detail=f"{PIECE}:N")
    chart = alt.layer(lines, points).properties(height=320)
    return with_rows(chart, found.rows, (clock, PIECE, "system", "source", "busy_pct", "online", "busy_s"))
