"""What is loaded of each source: how much, for which time, and how old compared with the newest data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import altair as alt
import pyarrow as pa
import streamlit as st

from zscope.app.dashboard.drawing import picture, plain, without_effect
from zscope.app.dashboard.style import BLUE, ORANGE, time_axis, time_tip, values
from zscope.app.dashboard.table_roles import data_kinds
from zscope.schemas.sql_text import literal

if TYPE_CHECKING:
    from zscope.app.dashboard.page_data import PageData
    from zscope.app.dashboard.style import Chart


OTHER = "Other SMF records (only counted)"
_NO_DATA = (2, 3)
"""Types of the records at the begin and end of a dump."""
_IN_STORE = "status IN ('loaded', 'incomplete')"
_ROW_PX = 40
_DAY_S = 86_400
_SPANS = ((2 * _DAY_S, _DAY_S, "days"), (2 * 3600, 3600, "hours"), (60, 60, "minutes"))
"""Units of a duration, each with the number of seconds from which it is used."""


@dataclass(frozen=True, slots=True)
class LoadedData:
    """The sources of a store."""

    by_source: pa.Table
    """source, systems, records, rows, first_seen, newest, behind_s (seconds before the newest of all data).

    Rows are known for all systems together only, so they are null if systems are chosen.
    """
    by_system: pa.Table
    """source, system, records, first_seen, newest, behind_s."""
    in_utc: bool
    """Whether times are in UTC; otherwise they are local times, as the zone of a system is not known."""


def loaded_data(data: PageData) -> LoadedData:
    """Return what is loaded of each source, for the chosen systems."""
    kind = _source_of([(kind.records, kind.title) for kind in data_kinds()])
    seen = f"""
        WITH counted AS (
            SELECT row_number() OVER () AS number, {kind} AS source, load_id, system, records, first_local,
                last_local
            FROM load_kind SEMI JOIN (FROM load WHERE {_IN_STORE}) USING (load_id)
            {data.where(("system",), "", f"coalesce(record_type, 0) NOT IN {_NO_DATA}")}
        ),
        timed AS (
            SELECT k.number, k.source, k.system, k.records, k.first_local, k.last_local,
                min(k.first_local - to_seconds(a.offset_s)) AS first_utc,
                max(k.last_local - to_seconds(b.offset_s)) AS last_utc
            FROM counted AS k
            LEFT JOIN system_clock AS a ON a.load_id = k.load_id AND a.system = k.system
                AND k.first_local >= a.from_local AND k.first_local < a.to_local
            LEFT JOIN system_clock AS b ON b.load_id = k.load_id AND b.system = k.system
                AND k.last_local >= b.from_local AND k.last_local < b.to_local
            GROUP BY ALL
        ),
        chosen AS (
            -- Policy files have no time.
            SELECT *, bool_and(first_utc IS NOT NULL AND last_utc IS NOT NULL)
                FILTER (first_local IS NOT NULL) OVER () AS in_utc
            FROM timed
        ),
        moments AS (
            SELECT source, system, records, in_utc,
                (CASE WHEN in_utc THEN first_utc ELSE first_local END) AT TIME ZONE 'UTC' AS first_seen,
                (CASE WHEN in_utc THEN last_utc ELSE last_local END) AT TIME ZONE 'UTC' AS newest
            FROM chosen
        )"""
    # The number of rows of each system is only in the tables themselves.
    rows = "NULL::BIGINT" if data.filters.systems else "any_value(stored.rows)"
    by_source = data.rows(f"""{seen},
        stored AS (
            SELECT {_source_of([(_one_of(kind.tables), kind.title) for kind in data_kinds()])}
                AS source,
                sum(t.rows)::BIGINT AS rows
            FROM load_table AS t JOIN load AS l USING (load_id) WHERE {_IN_STORE} GROUP BY 1
        )
        SELECT source, count(DISTINCT system) AS systems, sum(records)::BIGINT AS records,
            {rows} AS rows, min(first_seen) AS first_seen, max(newest) AS newest,
            epoch(max(max(newest)) OVER () - max(newest)) AS behind_s, bool_and(in_utc) AS in_utc
        FROM moments LEFT JOIN stored USING (source) GROUP BY source ORDER BY records DESC, source
    """)
    by_system = data.rows(f"""{seen}
        SELECT source, system, sum(records)::BIGINT AS records, min(first_seen) AS first_seen,
            max(newest) AS newest, epoch(max(max(newest)) OVER () - max(newest)) AS behind_s
        FROM moments GROUP BY source, system ORDER BY source, system
    """)
    in_utc = all(by_source["in_utc"].to_pylist())
    return LoadedData(by_source.drop_columns(["in_utc"]), by_system, in_utc)


def _one_of(tables: frozenset[str]) -> str:
    return f"t.table_name IN ({', '.join(map(literal, sorted(tables)))})"


def _source_of(known: list[tuple[str, str]]) -> str:
    cases = " ".join(f"WHEN {condition} THEN {literal(name)}" for condition, name in known)
    return f"CASE {cases} ELSE {literal(OTHER)} END"


def loaded_section(data: PageData) -> None:
    """Draw what is loaded of each source, as bars over time."""
    st.header("Loaded data by source")
    loaded = loaded_data(data)
    without_effect([name for name in data.filters.without_effect(("system",)) if name != "system"])
    rows = loaded.by_source.to_pylist()
    late = [row for row in rows if row["source"] != OTHER and (row["behind_s"] or 0) >= _DAY_S]
    if late:
        named = ", ".join(f"{plain(row['source'])} by {_duration(row['behind_s'])}" for row in late)
        st.warning(f"More than a day older than the newest data: {named}.", icon=":material/update:")
    clock = "UTC" if loaded.in_utc else "local"
    if not loaded.in_utc:
        st.caption(
            "The time zone of some systems is not known, so all times are local times. "
            "Name the time zone with zscope ingest --timezone."
        )
    labels = pa.array([_amount(row) for row in rows], pa.string())
    picture(
        _chart(loaded.by_source.append_column("amount", labels), loaded.by_system, clock), loaded.by_source,
        "loaded-sources",
        "First and newest data of each source as a bar over time, with the number of records and rows.",
    )  # fmt: skip
    st.caption("A bar reaches from the first to the newest data; a tick is the newest data of one system.")


def _amount(row: dict[str, Any]) -> str:
    stored = f", {row['rows']:,} rows" if row["rows"] else ""
    behind = row["behind_s"]
    if behind is None:
        return f"{row['records']:,} records{stored}"
    return f"{row['records']:,} records{stored} · {_duration(behind) + ' older' if behind else 'newest'}"


def _duration(seconds: float) -> str:
    """A duration in one unit.

    >>> _duration(7200), _duration(200_000), _duration(3)
    ('2 hours', '2 days', 'less than a minute')
    """
    for least, unit, name in _SPANS:
        if seconds >= least:
            return f"{seconds / unit:,.0f} {name}"
    return "less than a minute"


def _chart(sources: pa.Table, systems: pa.Table, clock: str) -> Chart:
    axis = alt.Y("source:N", title=None, sort=sources["source"].to_pylist(), axis=alt.Axis(labelLimit=260))
    base = alt.Chart(values(sources)).encode(y=axis)
    tips = [
        alt.Tooltip("source:N", title="Source"),
        alt.Tooltip("records:Q", title="Records", format=","),
        alt.Tooltip("rows:Q", title="Rows stored", format=","),
        alt.Tooltip("systems:Q", title="Systems"),
        time_tip("first_seen", f"First ({clock})"),
        time_tip("newest", f"Newest ({clock})"),
    ]
    bars = base.mark_bar(size=8, color=BLUE, yOffset=8).encode(
        x=time_axis("first_seen", f"Time ({clock})"), x2=alt.X2("newest:T"), tooltip=tips
    )
    ticks = (
        alt.Chart(values(systems))
        .mark_tick(size=16, thickness=2, color=ORANGE, yOffset=8)
        .encode(
            y=axis,
            x=time_axis("newest", f"Time ({clock})"),
            tooltip=[
                alt.Tooltip("source:N", title="Source"),
                alt.Tooltip("system:N", title="System"),
                time_tip("newest", f"Newest ({clock})"),
            ],
        )
    )
    words = base.mark_text(align="left", dy=-6).encode(x=alt.value(2), text=alt.Text("amount:N"))
    return alt.layer(bars, ticks, words, height=_ROW_PX * sources.num_rows + 40)
