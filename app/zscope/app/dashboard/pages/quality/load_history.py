"""Loads: their history, the contents of one load, the time that files cover, and missing intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import altair as alt
import streamlit as st

from zscope.app.dashboard.drawing import clean, grid, picture, plain, selectable_grid
from zscope.app.dashboard.style import BLUE, GREEN, ORANGE, RED, colours, time_axis, time_tip, values

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.page_data import PageData


MOST = 2000
_PARTS = 500
_ROWS_OF_CHART = 30
_LONGEST_HOLE = "INTERVAL 2 HOUR"
"""Longer holes between records of one kind are drawn."""
_SYSTEM = "coalesce(system, 'no system')"
_WHAT = f"""concat_ws(
    ' · ', {_SYSTEM},
    coalesce(report, concat('SMF ', record_type, coalesce('-' || record_subtype, '')))
)"""
"""A system and a kind of records or reports."""
_CLOCK = {
    "milliseconds": "%H:%M:%S.%L", "seconds": "%H:%M:%S", "minutes": "%H:%M", "hours": "%H:%M",
    "day": "%d %b", "date": "%d %b", "week": "%d %b", "month": "%b %Y",
}  # fmt: skip
"""A first load can take less than a second."""
_BELOW = alt.Legend(orient="bottom")
_KINDS = {"smf": BLUE, "text": ORANGE, "xml": GREEN, "json": RED}
_OF_CHART = [
    "load_id", "name", "kind", "status", "started_utc", "rows", "content_mb", "mb_per_second",
]  # fmt: skip
_LOCAL = "Local time of the system"
_FROM_TO = [time_tip("begin", "From (local)"), time_tip("end", "To (local)")]


@dataclass(frozen=True, slots=True)
class LoadTotals:
    """All loads in the store together."""

    loads: int
    rows: int
    mb: float
    issues: int
    gaps: int


TOTALS = """
    SELECT count(*) AS loads, coalesce(sum(rows), 0)::BIGINT AS rows,
        coalesce(sum(content_bytes) / 1e6, 0)::DOUBLE AS mb,
        coalesce(sum(issues), 0)::BIGINT AS issues, coalesce(sum(gaps), 0)::BIGINT AS gaps
    FROM load WHERE status IN ('loaded', 'incomplete')
"""
"""The totals of the loads in the store."""


def totals(data: PageData) -> LoadTotals:
    """Return the totals of the loads in the store; removed and replaced loads do not count."""
    [row] = data.rows(TOTALS).to_pylist()
    return LoadTotals(**row)


def history(data: PageData) -> pa.Table:
    """Return the newest loads, including removed ones."""
    return data.rows(f"""
        SELECT load_id, status, regexp_extract(file, '[^/\\\\]*$') AS name, kind, started_utc, seconds,
            content_bytes / 1e6 AS content_mb, mb_per_second, records, rows, duplicates, issues, gaps,
            first_local, last_local, selection, packing, form, file, zscope_version
        FROM load ORDER BY load_id DESC LIMIT {MOST}
    """)


def kinds(data: PageData, load_id: int) -> pa.Table:
    """Return the kinds of records or reports in the file of a load, decoded or not."""
    return data.rows(
        f"SELECT * EXCLUDE (load_id) FROM load_kind WHERE load_id = ? ORDER BY ALL LIMIT {_PARTS}", [load_id]
    )


def tables(data: PageData, load_id: int) -> pa.Table:
    """Return the tables that have rows from a load."""
    return data.rows(
        f"SELECT * EXCLUDE (load_id) FROM load_table WHERE load_id = ? ORDER BY table_name LIMIT {_PARTS}",
        [load_id],
    )


def missing_intervals(data: PageData) -> pa.Table:
    """Return the gaps, the longest first; `begin` and `end` as those of `covered_periods`."""
    return data.rows(f"""
        SELECT system, source, from_local, to_local, missing_intervals, interval_ms, load_id,
            concat_ws(' · ', {_SYSTEM}, source) AS what,
            from_local AT TIME ZONE 'UTC' AS begin, to_local AT TIME ZONE 'UTC' AS "end"
        FROM load_gap ORDER BY to_local - from_local DESC, system, from_local LIMIT {MOST}
    """)


def systems(data: PageData) -> list[str]:
    """Return the systems with records or reports, by name."""
    table = data.rows(f"SELECT DISTINCT {_SYSTEM} AS system FROM load_kind ORDER BY 1 LIMIT {MOST}")
    return [str(system) for system in table["system"].to_pylist()]


def covered_periods(data: PageData, system: str | None) -> pa.Table:
    """Return the periods that the files cover, for each system and kind of record or report.

    `begin` and `end` are local times; they have the zone UTC only so that no browser shifts them.
    """
    return data.rows(
        f"""
        WITH span AS (
            SELECT {_WHAT} AS what, first_local, last_local, records,
                first_local > {_LONGEST_HOLE} + max(last_local) OVER (
                    PARTITION BY {_WHAT} ORDER BY first_local, last_local
                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                ) AS starts_period
            FROM load_kind WHERE first_local IS NOT NULL AND ({_SYSTEM} = $1 OR $1 IS NULL)
        ),
        numbered AS (
            SELECT *, count(*) FILTER (WHERE starts_period) OVER (
                PARTITION BY what ORDER BY first_local, last_local
            ) AS period
            FROM span
        ),
        drawn AS (
            SELECT what FROM span GROUP BY what ORDER BY sum(records) DESC LIMIT {_ROWS_OF_CHART}
        )
        SELECT what, min(first_local) AT TIME ZONE 'UTC' AS begin,
            max(last_local) AT TIME ZONE 'UTC' AS "end", sum(records)::BIGINT AS records, count(*) AS loads
        FROM numbered SEMI JOIN drawn USING (what) GROUP BY what, period ORDER BY what, begin LIMIT {MOST}
        """,
        [system],
    )


def loads_section(data: PageData) -> None:
    """Draw rows and megabytes of the loads over time, the history, and the contents of one load."""
    table = history(data)
    if not table.num_rows:
        st.caption("There are no loads yet.")
        return
    _over_time(table.select(_OF_CHART))
    st.header("History")
    if table.num_rows == MOST:
        st.caption(f"The newest {MOST:,} loads.")
    row = selectable_grid(table, "loads", data.version, sources=["load"], height=360, config=_explained())
    if row is None:
        st.caption("Select a row with the box at its left to see the contents of the file and its tables.")
    else:
        _one(data, row)


def _over_time(table: pa.Table) -> None:
    st.header("Over time")
    base = (
        alt.Chart(values(table))
        .mark_point(filled=True, size=70, opacity=0.8)
        .encode(
            x=time_axis("started_utc", "Start of the load (UTC)").axis(format=_CLOCK, labelOverlap=True),
            color=alt.Color("kind:N", title="Kind of file", scale=colours(_KINDS), legend=_BELOW),
            shape=alt.Shape("kind:N", title="Kind of file", sort=list(_KINDS)),
            tooltip=[
                alt.Tooltip("load_id:Q", title="Load"),
                alt.Tooltip("name:N", title="File"),
                time_tip("started_utc", "Start of the load (UTC)"),
                alt.Tooltip("status:N", title="Status"),
                alt.Tooltip("rows:Q", title="Rows", format=","),
                alt.Tooltip("content_mb:Q", title="MB", format=",.3f"),
                alt.Tooltip("mb_per_second:Q", title="MB per second", format=".1f"),
            ],
        )
    )
    rows = base.encode(y=_log("rows", "Rows of one load", 0, 10))
    read = base.encode(y=_log("content_mb", "MB of one load", -2, 6))
    left, right = st.columns(2)
    with left:
        picture(rows.properties(height=260), table, "loads-rows", "Rows of each load over time, as points.",
                sources=["load"])  # fmt: skip
    with right:
        picture(read.properties(height=260), table, "loads-mb", "MB of each load over time, as points.",
                sources=["load"])  # fmt: skip
    st.caption("One point for each load, on a logarithmic scale. MB are counted after unpacking.")


def _log(column: str, title: str, first: int, last: int) -> alt.Y:
    """A logarithmic axis that includes zero, between two powers of ten.

    A nightly dump has a million times the rows of a display; the axis shows both.
    """
    ticks = [0, *(10.0**power for power in range(first, last))]
    scale = alt.Scale(type="symlog", constant=ticks[1])
    words = "format(datum.value, datum.value < 1000 ? '~g' : '~s')"
    axis = alt.Axis(values=ticks, labelExpr=words, labelOverlap=True)
    return alt.Y(f"{column}:Q", title=title, scale=scale, axis=axis)


def _explained() -> dict[str, Any]:
    return {
        "name": st.column_config.TextColumn("File", help="Without its folder, which is in the column Path."),
        "file": st.column_config.TextColumn("Path"),
        "content_mb": st.column_config.NumberColumn("Read (MB)", format="%.3f", help="After unpacking."),
    }


def _one(data: PageData, load: dict[str, Any]) -> None:
    st.markdown(f"**Load {load['load_id']}**: {plain(load['name'])}, {plain(load['status'])}")
    left, right = st.columns(2)
    with left:
        st.caption("Contents of the file, decoded or not")
        grid(kinds(data, load["load_id"]), "load-kinds", sources=["load_kind"], config={
            "total_bytes": st.column_config.NumberColumn("Total length (bytes)", format="localized")
        })  # fmt: skip
    with right:
        st.caption("Tables with rows of this load")
        grid(tables(data, load["load_id"]), "load-tables", sources=["load_table"])
    st.caption("To remove this load from the store:")
    st.code(f"zscope loads remove {load['load_id']}", "sh")


def chosen_system(data: PageData) -> str | None:
    """Draw the choice of a system and return the chosen one."""
    system: str | None = st.selectbox(
        "System", systems(data), index=None, placeholder="all", format_func=clean, key="quality_system",
        bind="query-params", persist_state="session", width=220,
    )  # fmt: skip
    return system


def gaps_section(data: PageData) -> None:
    """Draw the time that files cover, and the intervals missing in it."""
    _covered(data)
    _missing(data)


def _covered(data: PageData) -> None:
    st.header("Time covered by the files")
    if not systems(data):
        st.caption("No file is loaded.")
        return
    system = chosen_system(data)
    table = covered_periods(data, system)
    if not table.num_rows:
        st.caption("No loaded data of this system has a time.")
        return
    tips = [
        alt.Tooltip("records:Q", title="Records or reports", format=","),
        alt.Tooltip("loads:Q", title="Loads", format=","),
    ]
    picture(_periods(table, BLUE, tips), table, "coverage",
            "Periods that the files cover, for each system and kind of record or report, as bars.",
            sources=["load_kind"])  # fmt: skip
    st.caption(
        "From the first to the last record of each kind in a file, for the kinds with the most records. "
        "Holes of up to two hours between files are not drawn."
    )


def _missing(data: PageData) -> None:
    st.header("Missing intervals")
    table = missing_intervals(data)
    if not table.num_rows:
        st.caption("No interval is missing between the first and the last interval of a load.")
        return
    tips = [
        alt.Tooltip("missing_intervals:Q", title="Missing intervals", format=","),
        alt.Tooltip("load_id:Q", title="Load"),
    ]
    picture(_periods(table, RED, tips), table, "gaps",
            "Periods with missing intervals, for each system and table of intervals, as bars.",
            sources=["load_gap"])  # fmt: skip
    st.caption("Periods without an interval between two intervals of the same load.")


def _periods(table: pa.Table, colour: str, tips: list[alt.Tooltip]) -> alt.Chart:
    bars: alt.Chart = (
        alt.Chart(values(table))
        # A display has one moment only: without a line around it, its bar would have no width.
        .mark_bar(color=colour, stroke=colour, strokeWidth=2, height=8)
        .encode(
            x=time_axis("begin", _LOCAL),
            x2=alt.X2("end:T"),
            y=alt.Y("what:N", title=None, axis=alt.Axis(labelLimit=360, labelOverlap=False)),
            tooltip=[alt.Tooltip("what:N", title="What"), *_FROM_TO, *tips],
        )
        .properties(height=alt.Step(18))
    )
    return bars
