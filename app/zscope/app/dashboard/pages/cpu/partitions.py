"""The partitions of a machine: the share that each used, and its share by weight.

Every system of a machine records all its partitions, so one system is used at a time: its SMF 70 records, or
its Partition Data reports if it has no records.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal

import altair as alt
import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from zscope.app.dashboard.drawing import (
    ROWS,
    ChartWithRows,
    clean,
    no_data,
    number,
    picture,
    plain,
    with_rows,
)
from zscope.app.dashboard.over_time import ChartOverTime, LinesBefore, picture_over_time, rows_before
from zscope.app.dashboard.style import (
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
from zscope.app.dashboard.tiles import tile
from zscope.app.dashboard.time_axis import UNITS

if TYPE_CHECKING:
    from zscope.app.dashboard.page_data import PageData
    from zscope.app.dashboard.style import Chart
    from zscope.app.dashboard.time_axis import Span


KINDS = {"CP": "general-purpose", "IIP": "zIIP", "AAP": "zAAP", "IFA": "zAAP", "IFL": "Linux (IFL)",
         "ICF": "coupling facility"}  # fmt: skip
"""Types of processors in records, and their names."""
OTHERS = "others"
_MOST_PARTITIONS = 6
_MOST_ROWS = 1_500
_MARGIN = timedelta(days=1)
_COLUMNS = ("system",)
START = "make_timestamptz(epoch_us(interval_start_local) - epoch_us(written_local) + epoch_us(written_utc))"
"""Start of the interval of an RMF record in UTC: its local time, with the UTC offset of the record."""
_SMF = f"""
    WITH part AS (
        SELECT DISTINCT system, interval_start_local, record_no, record_offset, interval_ms, partition_name,
            system_name, logical_cpu_skip, logical_cpu_count, {START} AS start_utc
        FROM smf70_partition WHERE system = ? {{days}} AND logical_cpu_count > 0 AND interval_ms > 0
    ),
    kind AS (
        SELECT DISTINCT interval_start_local, record_no, record_offset, section_no, cpu_type_name,
            coalesce(physical_cpus_total / nullif(diagnose_sample_count, 0), physical_cpu_count) AS physical
        FROM smf70_cpu_type WHERE system = ? {{days}}
    ),
    logical AS (
        SELECT DISTINCT interval_start_local, record_no, record_offset, section_no, cpu_type_index, weight,
            dispatch_us, online_us
        FROM smf70_logical_cpu WHERE system = ? {{days}}
    ),
    use AS (
        SELECT p.partition_name, p.system_name, p.start_utc, p.interval_start_local::DATE AS day,
            p.interval_ms / 1000 AS seconds,
            t.cpu_type_name AS processors, t.physical, p.partition_name = 'PHYSICAL' AS management,
            max(l.weight) FILTER (l.weight NOT IN (0, 65535))::BIGINT AS weight,
            bool_and(l.weight = 65535) AS dedicated,
            sum(l.online_us / 1e3 / p.interval_ms) AS logical_online, sum(l.dispatch_us) / 1e6 AS used_s
        FROM part AS p
        INNER JOIN logical AS l
            ON p.interval_start_local = l.interval_start_local AND p.record_no = l.record_no
            AND p.record_offset = l.record_offset
            AND l.section_no >= p.logical_cpu_skip
            AND l.section_no < p.logical_cpu_skip::BIGINT + p.logical_cpu_count
        INNER JOIN kind AS t
            ON p.interval_start_local = t.interval_start_local AND p.record_no = t.record_no
            AND p.record_offset = t.record_offset AND l.cpu_type_index = t.section_no + 1
        GROUP BY ALL
    )
"""
_RMF = """
    WITH use AS (
        SELECT partition_name, NULL::VARCHAR AS system_name, interval_start_utc AS start_utc,
            interval_start_local::DATE AS day, interval_ms / 1000 AS seconds,
            cpu_type_name AS processors, NULL::DOUBLE AS physical,
            row_kind = 'physical' AS management, weight::BIGINT AS weight, dedicated,
            logical_cpus AS logical_online,
            physical_total_pct / 100 * interval_ms / 1000 AS used_s
        FROM rmf_partition
        WHERE system = ? {days} AND row_kind IN ('partition', 'physical')
        QUALIFY row_number() OVER (
            PARTITION BY interval_start_local, interval_start_utc, partition_name, cpu_type_name
            ORDER BY interval_ms, source DESC, file, line_no
        ) = 1
    )
"""


@dataclass(frozen=True, slots=True)
class PartitionSource:
    """A system with data about the partitions of its machine."""

    system: str
    by: Literal["SMF 70 records", "RMF reports"]
    machine: str
    """Type and serial number, as far as they are known."""


def partition_sources(data: PageData) -> tuple[PartitionSource, ...]:
    """Return the systems with data about partitions."""
    rows = data.rows(f"""
        WITH recorded AS (
            SELECT DISTINCT system, 'SMF 70 records' AS how FROM smf70_partition {data.where(_COLUMNS)}
            UNION ALL
            SELECT DISTINCT system, 'RMF reports' AS how FROM rmf_partition {data.where(_COLUMNS)}
        ),
        machine AS (
            SELECT system, max_by(machine, length(machine)) AS machine
            FROM (
                SELECT DISTINCT system,
                    concat_ws(' ', machine_type, ltrim(machine_sequence_code, '0')) AS machine
                FROM smf70_interval
                UNION ALL
                SELECT DISTINCT system, ltrim(machine_sequence_code, '0') AS machine FROM rmf_interval
            ) GROUP BY system
        )
        SELECT t.system, max(t.how) AS by, coalesce(any_value(m.machine), '') AS machine
        FROM recorded AS t LEFT JOIN machine AS m ON t.system = m.system
        WHERE t.system IS NOT NULL GROUP BY t.system ORDER BY t.system
    """).to_pylist()  # fmt: skip
    return tuple(PartitionSource(**row) for row in rows)


def partitions(data: PageData, source: PartitionSource) -> pa.Table:
    """Return the used share and the share by weight of each partition and type of processor."""
    use, parameters = _use(data, source)
    return data.rows(f"""
        {use},
        together AS (
            SELECT processors, partition_name, max(system_name) AS system_name,
                bool_or(management) AS management,
                {_newest("weight")} AS weight, {_newest("dedicated")} AS dedicated,
                avg(logical_online) AS logical_online, {_newest("physical")} AS physical,
                100 * {_share("used_s")} AS used_pct, count(*) AS intervals
            FROM use {data.where((), "start_utc")} GROUP BY processors, partition_name
        )
        SELECT partition_name, system_name, processors, CASE WHEN management THEN 'management'
            WHEN dedicated THEN 'dedicated' ELSE 'shared' END AS sharing,
            weight, 100 * weight / nullif(sum(weight) OVER (PARTITION BY processors), 0) AS weight_pct,
            CASE WHEN NOT management THEN logical_online END AS logical_online, physical, used_pct, intervals
        FROM together ORDER BY processors, management, used_pct DESC, partition_name
    """, parameters)  # fmt: skip


def use_over_time(data: PageData, source: PartitionSource, processors: str) -> tuple[pa.Table, Span]:
    """Return the share of the processors of a type that each partition used in each hour.

    Small partitions are combined. The second value is the time column: days if hours are too many.
    """
    by_hour = _stepped(data, source, processors, "hour_utc")
    if by_hour.num_rows <= _MOST_ROWS:
        return by_hour, "hour_utc"
    return _stepped(data, source, processors, "day"), "day"


def _stepped(data: PageData, source: PartitionSource, processors: str, column: Span) -> pa.Table:
    use, parameters = _use(data, source)
    return data.rows(f"""
        {use},
        stepped AS (
            SELECT *, time_bucket(INTERVAL 1 HOUR, start_utc) AS hour_utc
            FROM use {data.where((), "start_utc", "processors = ?", "start_utc IS NOT NULL")}
        ),
        most AS (
            SELECT partition_name, sum(used_s) AS used_s FROM stepped GROUP BY partition_name
            ORDER BY used_s DESC NULLS LAST, partition_name LIMIT {_MOST_PARTITIONS}
        ),
        each_partition AS (
            SELECT {column}, partition_name, {_share("used_s")} * 100 AS used_pct
            FROM stepped GROUP BY {column}, partition_name
        )
        SELECT e.{column}, coalesce(m.partition_name, '{OTHERS}') AS partition_name,
            sum(e.used_pct) AS used_pct
        FROM each_partition AS e LEFT JOIN most AS m ON e.partition_name = m.partition_name
        GROUP BY ALL ORDER BY ALL
    """, [*parameters, processors])  # fmt: skip


def _use(data: PageData, source: PartitionSource) -> tuple[str, list[object]]:
    """The begin of a statement and its parameters; only the days of the period are read."""
    # Days are local days, which can differ from days in UTC by one.
    begin, end = data.filters.begin, data.filters.end
    days = f"AND day >= DATE '{begin - _MARGIN:%Y-%m-%d}'" if begin else ""
    days += f" AND day <= DATE '{end + _MARGIN:%Y-%m-%d}'" if end else ""
    if source.by == "SMF 70 records":
        return _SMF.format(days=days), [source.system] * 3
    return _RMF.format(days=days), [source.system]


def _newest(column: str) -> str:
    """The value of the newest interval; of any interval if none has a time in UTC."""
    return f"coalesce(arg_max({column}, start_utc), any_value({column}))"


def _share(used: str) -> str:
    """The share of all physical processors of a type; reports already have the share."""
    return f"sum({used}) / nullif(sum(seconds * coalesce(physical, 1)), 0)"


_SHARING = {"shared": BLUE, "dedicated": PURPLE, "management": GREY}


def partitions_section(data: PageData) -> None:
    """Draw the partitions according to one system of the machine."""
    st.header("Partitions of the machine")
    by_system = {source.system: source for source in partition_sources(data)}
    if not by_system:
        no_data(
            "There are no partitions. They come from SMF 70-1 records or from Partition Data reports of RMF.",
            "zscope ingest SMF.DUMP --select '70(1)'",
        )
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        system = st.selectbox(
            "According to", list(by_system), key="cpu_reported_by", bind="query-params",
            persist_state="session", format_func=clean, width=200,
            help="Every system of a machine records all partitions of the machine.",
        )  # fmt: skip
        source = by_system[system]
        table = partitions(data, source)
        kinds = sorted(set(table["processors"].to_pylist()), key=lambda kind: (kind != "CP", kind))
        kind = None
        if kinds:
            kind = st.segmented_control(
                "Type of processor", kinds, default=kinds[0], required=True, key="cpu_type",
                bind="query-params", persist_state="session", format_func=_kind,
            )  # fmt: skip
    if kind is None:
        st.info("There is no data for the chosen period.", icon=":material/inbox:")
        return
    of_kind = table.filter(pc.field("processors") == kind)
    moments, clock = use_over_time(data, source, kind)
    if moments.num_rows:
        names = _names(moments)
        before = rows_before(
            data, lambda earlier: use_over_time(earlier, source, kind)[0], clock, daily=clock == "day"
        )
        if before is not None:
            before = before.filter(pc.field("partition_name").isin(pa.array(names, pa.string())))
        lines_before = None if before is None else LinesBefore(before, _encodings(names, clock))
        picture_over_time(
            data,
            ChartOverTime(_over_time(moments, clock), clock, lines_before),
            moments,
            "cpu-partitions-over-time",
            "Share of the physical processors that each partition used over time, as stacked bars.",
        )
    picture(
        _by_partition(of_kind), of_kind, "cpu-partitions",
        "Share of the physical processors that each partition used, as bars, and its share by weight.",
    )  # fmt: skip
    machine = f" Machine {plain(source.machine)}." if source.machine else ""
    if physical := pc.max(of_kind["physical"]).as_py():
        tile(st.container(), data, "Physical processors of this type", number(physical, 0), None)
    st.caption(
        f"From {source.by} of {plain(system)}.{machine} Bars: dispatch time of the partition as a "
        "share "
        "of all physical processors of the type. A dedicated processor counts as used all the time, so its "
        "share does not show the load. Lines: the share of the shared processors that the newest weight "
        "guarantees when all partitions need more."
    )


def _kind(kind: str) -> str:
    return KINDS.get(kind, clean(kind))


def _names(moments: pa.Table) -> list[str]:
    return sorted(set(moments["partition_name"].to_pylist()), key=lambda name: (name == OTHERS, name))


def _encodings(names: list[str], clock: Span) -> dict[str, Any]:
    return {
        "x": time_axis(clock, timeUnit=UNITS[clock]),
        "y": alt.Y("used_pct:Q", title="Share of the machine (%)", stack=True),
        "color": alt.Color("partition_name:N", title="Partition", scale=spread_colours(names)),
    }


def _over_time(moments: pa.Table, clock: Span) -> ChartWithRows:
    chart: Chart = (
        alt.Chart(ROWS)
        .mark_bar(binSpacing=0)
        .encode(
            **_encodings(_names(moments), clock),
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
    weights = base.mark_tick(color=ORANGE, thickness=3, height=20).encode(x=alt.X("weight_pct:Q"))
    return alt.layer(bars, weights, height=alt.Step(26))
