"""CPU and LPARs: how busy systems were, the partitions of a machine, crypto cards and ICSF services."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal, get_args

import altair as alt
import streamlit as st

from zscope.app.dashboard.drawing import (
    ROWS,
    ChartWithRows,
    grid,
    no_data,
    with_rows,
    without_effect,
)
from zscope.app.dashboard.over_time import ChartOverTime, LinesBefore, picture_over_time, rows_before
from zscope.app.dashboard.pages.cpu.crypto import cards_section, services_section
from zscope.app.dashboard.pages.cpu.partitions import partitions_section
from zscope.app.dashboard.registry import Page
from zscope.app.dashboard.style import GREY, spread_colours, time_axis, time_tip
from zscope.app.dashboard.time_axis import PIECE, in_pieces

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.page_data import PageData

PAGE = Page(title="CPU and LPARs", icon="memory", area="Data", order=20)


Processors = Literal["general-purpose", "zIIP"]
METRIC, DIFFERENT = "cpu_interval", "cpu_interval_disagreement"
_CLOCK = "interval_start_utc"
COLUMNS = ("system",)
_FIGURES = {
    "general-purpose": ("lpar_busy_pct", "cps_online", "cpu_s"),
    "zIIP": ("ziip_busy_pct", "ziips_online", "ziip_s"),
}
_MOST_SYSTEMS = 7
_MOST_POINTS = 4_000
_MOST_DIFFERENT = 1_000


@dataclass(frozen=True, slots=True)
class BusyOverTime:
    """The rows of the chart over time."""

    rows: pa.Table
    daily: bool
    systems: tuple[str, ...]
    left_out: int
    """Number of less busy systems that are not shown."""


def use_by_system(data: PageData) -> pa.Table:
    """Return processors, busy percentages and period of each system and source."""
    return data.rows(f"""
        SELECT system, source, string_agg(DISTINCT cp_kind, ', ' ORDER BY cp_kind) AS cp_kind,
            {_mean("cps_online")} AS cps_online, {_mean("lpar_busy_pct")} AS lpar_busy_pct,
            max(lpar_busy_pct) AS highest_busy_pct, sum(cpu_s) AS cpu_s,
            {_mean("ziips_online")} AS ziips_online, {_mean("ziip_busy_pct")} AS ziip_busy_pct,
            sum(ziip_s) AS ziip_s, count(*) AS intervals,
            count(*) FILTER (WHERE interval_start_utc IS NULL) AS intervals_without_utc,
            min(interval_start_utc) AS first_utc, max(interval_end_utc) AS last_utc
        FROM cpu_interval
        {data.where(COLUMNS, _CLOCK)}
        GROUP BY system, source ORDER BY system, source
    """)  # fmt: skip


def busy_over_time(data: PageData, systems: pa.Table, processors: Processors) -> BusyOverTime:
    """Return how busy the processors were by interval, or by day if intervals are too many to be drawn.

    `systems` is the result of `use_by_system`.
    """
    rows = systems.to_pylist()
    work: dict[str, float] = {}
    for row in rows:
        work[row["system"]] = work.get(row["system"], 0) + (row[_FIGURES[processors][2]] or 0)
    busiest = sorted(work, key=lambda name: (-work[name], name))
    shown = tuple(sorted(busiest[:_MOST_SYSTEMS]))
    points = sum(row["intervals"] for row in rows if row["system"] in shown)
    daily = points > _MOST_POINTS
    busy, online, seconds = _FIGURES[processors]
    what = (
        f"{_mean(busy)} AS busy_pct, {_mean(online)} AS online, sum({seconds}) AS busy_s, "
        "sum(interval_ms)::BIGINT AS interval_ms"
        if daily
        else f"{busy} AS busy_pct, {online} AS online, {seconds} AS busy_s, interval_ms, cp_kind"
    )
    start = "day" if daily else _CLOCK
    table = data.rows(f"""
        SELECT system, source, {start}, {what}
        FROM cpu_interval
        {data.where(COLUMNS, _CLOCK, "list_contains(?, system)", f"{_CLOCK} IS NOT NULL")}
        {"GROUP BY ALL" if daily else ""}
    """, [list(shown)])  # fmt: skip
    length: timedelta | str = timedelta(days=1) if daily else "interval_ms"
    placed = in_pieces(table, ("system",), "day" if daily else _CLOCK, length)
    return BusyOverTime(placed, daily, shown, len(busiest) - len(shown))


def compared(data: PageData) -> int:
    """Return the number of intervals that more than one source covers."""
    [row] = data.rows(f"""
        SELECT count(*) AS intervals FROM (
            SELECT 1 FROM cpu_by_source {data.where(COLUMNS, _CLOCK)}
            GROUP BY system, interval_key HAVING count(*) > 1
        )
    """).to_pylist()  # fmt: skip
    return int(row["intervals"])


def disagreements(data: PageData) -> pa.Table:
    """Return the newest values in which two sources differ, with the difference."""
    return data.rows(f"""
        SELECT system, interval_start_utc, interval_start_local, column_name, source, value, other_source,
            other_value, other_value - value AS difference
        FROM cpu_interval_disagreement
        {data.where(COLUMNS, _CLOCK)}
        ORDER BY interval_start_local DESC, system, column_name LIMIT {_MOST_DIFFERENT}
    """)


def _mean(column: str) -> str:
    """The mean over intervals, weighted by their length."""
    return f"sum({column} * interval_ms) / nullif(sum(interval_ms) FILTER ({column} IS NOT NULL), 0)"


def sources_section(data: PageData) -> None:
    """Draw how many intervals two sources cover, and where they differ."""
    st.markdown("**Agreement of the sources**")
    twice = compared(data)
    if not twice:
        st.caption(
            "Each interval is covered by one source only, so there is nothing to compare. Load SMF 70 "
            "records "
            "and an RMF CPU Activity report of the same time to compare them."
        )
        return
    table = disagreements(data)
    if not table.num_rows:
        st.caption("Where two sources cover an interval, they do not differ by more than rounding.")
        return
    st.warning(
        "Two sources differ by more than rounding in these of the newest intervals.",
        icon=":material/difference:",
    )
    grid(table, "cpu-disagreements", sources=[DIFFERENT])


_COLUMNS = (
    "system", "source", "cp_kind", "cps_online", "lpar_busy_pct", "highest_busy_pct", "ziips_online",
    "ziip_busy_pct", "intervals", "first_utc", "last_utc",
)  # fmt: skip
_SOURCES = {"smf70": "SMF 70 records", "xml": "RMF report, XML", "text": "RMF report, text"}


def render(data: PageData) -> None:
    """Draw the page."""
    without_effect(data.filters.without_effect(COLUMNS, "interval_start_utc"))
    _busy(data)
    partitions_section(data)
    cards_section(data)
    services_section(data)


def _busy(data: PageData) -> None:
    st.header("How busy the systems were")
    systems = use_by_system(data)
    if not systems.num_rows:
        no_data(
            "There is no CPU use. It comes from RMF, as SMF 70-1 records or as CPU Activity reports.",
            "zscope ingest SMF.DUMP --select '70(1)'",
        )
        return
    processors: Processors = st.segmented_control(
        "Processors", get_args(Processors), default="general-purpose", required=True, key="cpu_processors",
        bind="query-params", persist_state="session",
    )  # fmt: skip
    busy = busy_over_time(data, systems, processors)
    if busy.rows.num_rows:
        clock = "day" if busy.daily else "interval_start_utc"
        before = rows_before(
            data, lambda earlier: busy_over_time(earlier, systems, processors).rows, clock, daily=busy.daily
        )
        lines_before = None if before is None else LinesBefore(before, _encodings(busy, processors))
        picture_over_time(
            data,
            ChartOverTime(_lines(busy, processors), clock, lines_before),
            busy.rows,
            "cpu-busy",
            f"How busy the {processors} processors of each system were over time, as lines.",
            sources=[METRIC],
        )
    st.caption(" ".join(_notes(busy, systems.to_pylist())))
    grid(systems, "cpu-by-system", sources=[METRIC], columns=_COLUMNS)
    sources_section(data)


def _notes(busy: BusyOverTime, systems: list[dict[str, int]]) -> list[str]:
    each = "day" if busy.daily else "interval"
    notes = [
        "Busy: the share of online time in which the logical processors of a system were in use.",
        f"Each point is one {each}; a line breaks off where data is missing.",
        "SMF 70 records take precedence over reports, XML over text.",
    ]
    if any(row["intervals_without_utc"] for row in systems):
        notes.append(
            "Intervals are not drawn if the UTC offset of their clock is not known; name it with "
            "zscope ingest --timezone."
        )
    if busy.left_out:
        notes.append(f"{busy.left_out} less busy systems are not drawn; choose them above.")
    return notes


def _encodings(busy: BusyOverTime, processors: Processors) -> dict[str, Any]:
    return {
        "x": time_axis("day" if busy.daily else "interval_start_utc"),
        "y": alt.Y("busy_pct:Q", title=f"Busy, {processors} (%)", scale=alt.Scale(zero=True)),
        "color": alt.Color("system:N", title="System", scale=spread_colours(busy.systems),
                           legend=alt.Legend(orient="top")),
        "detail": alt.Detail(f"{PIECE}:N"),
    }  # fmt: skip


def _lines(busy: BusyOverTime, processors: Processors) -> ChartWithRows:
    clock = "day" if busy.daily else "interval_start_utc"
    encodings = _encodings(busy, processors)
    line = alt.Chart(ROWS).encode(
        x=encodings["x"],
        y=encodings["y"],
        color=encodings["color"],
        tooltip=[
            alt.Tooltip("system:N", title="System"), time_tip(clock),
            alt.Tooltip("busy_pct:Q", title="Busy (%)", format=".2f"),
            alt.Tooltip("online:Q", title="Processors online", format=".1f"),
            alt.Tooltip("busy_s:Q", title="Busy time (s)", format=",.1f"),
            alt.Tooltip("source_name:N", title="Source"),
        ],
    )  # fmt: skip
    names = " : ".join(f"datum.source === '{key}' ? '{name}'" for key, name in _SOURCES.items())
    named = line.transform_calculate(source_name=f"{names} : datum.source")
    points = named.mark_point(size=18, filled=True).encode(
        shape=alt.Shape("source_name:N", title="Source", scale=alt.Scale(domain=list(_SOURCES.values())),
                        legend=alt.Legend(orient="top", symbolFillColor=GREY, symbolStrokeColor=GREY)),
    )  # fmt: skip
    lines = named.mark_line(strokeWidth=1.2).encode(detail=encodings["detail"])
    chart = alt.layer(lines, points, height=320)
    return with_rows(chart, busy.rows, (clock, PIECE, "system", "source", "busy_pct", "online", "busy_s"))
