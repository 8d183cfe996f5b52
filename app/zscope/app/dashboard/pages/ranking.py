"""Ports and jobs by connections, bytes and CPU time, and what changed against the period before."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, get_args

import pyarrow as pa
import streamlit as st

from zscope.app.dashboard.drawing import grid, no_data, plain, selectable_grid, without_effect
from zscope.app.dashboard.links import page_link
from zscope.app.dashboard.pages.connections.search import ConnectionSearch, search, sources_with_rows
from zscope.app.dashboard.protection_records import records_named
from zscope.app.dashboard.registry import Page
from zscope.app.dashboard.time_axis import period_length
from zscope.app.shared.column_labels import label
from zscope.schemas.sql_text import literal

if TYPE_CHECKING:
    from zscope.app.dashboard.page_data import PageData


PAGE = Page(title="Ports and jobs", icon="leaderboard", area="Traffic", order=30)

_COMPARISON, _DIFFERENCE, _CAUSE = "period_comparison", "period_difference", "period_cause"
_FILTER_OF: dict[Ranked, str] = {"server_port": "port", "job_name": "job"}
_DAY = "%Y-%m-%d %H:%M"
_HEIGHT_PX = 480
_MOST_CONNECTIONS = 100
_DIFFERENCE_COLUMNS = (
    "system", "quantity", "verdict", "earlier", "later", "change", "low", "high", "unit", "earlier_low",
    "earlier_high", "later_low", "later_high", "covered_pct", "why",
)  # fmt: skip
_CAUSE_COLUMNS = (
    "system", "quantity", "cause", "part", "earlier", "later", "change", "low", "high", "unit"
)  # fmt: skip
_CHANGE_COLUMNS = (
    "subject", "value", "earlier", "later", "earlier_per_hour", "later_per_hour", "change_pct",
    "earlier_pct", "later_pct", "why"
)  # fmt: skip


def render(data: PageData) -> None:
    """Draw the page."""
    sources = connections_by_source(data)
    if not sources:
        no_data(
            "There are no connections. They come from zERT records (SMF 119 subtype 11 or 12) or from TCP "
            "connection termination records (subtype 2).",
            "zscope ingest SMF.DUMP --select '119(2,11,12)'",
        )
        # What changed is about whole systems, whatever port or job is chosen.
        if data.metric(_DIFFERENCE).num_rows:
            _what_changed(data)
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        by: Ranked = st.segmented_control(
            "Rank", get_args(Ranked), default="server_port", required=True, format_func=label,
            key="ranking_of", bind="query-params", persist_state="session",
        )  # fmt: skip
        ranked_by: RankedBy = st.segmented_control(
            "By", get_args(RankedBy), default="connections", required=True, format_func=_capital,
            key="ranking_by", bind="query-params", persist_state="session",
        )  # fmt: skip
        source: str = st.selectbox(
            "Source", list(sources), key="ranking_source", bind="query-params", persist_state="session",
            width=240, help="Both sources record the same connections: the one with more of them is chosen.",
        )  # fmt: skip
    _table(data, by, source, ranked_by)
    _what_changed(data)


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _table(data: PageData, by: Ranked, source: str, ranked_by: RankedBy) -> None:
    rows = ranking(data, by, source, ranked_by)
    picked = selectable_grid(
        rows, "ranking", (data.version, data.filters, by, source, ranked_by), config=_config(by),
        height=min(_HEIGHT_PX, 38 + 35 * rows.num_rows),
    )  # fmt: skip
    if picked and picked[by] is not None:
        _connections(data, by, picked[by])
    periods = compared_periods(data, source)
    compared = (
        f"Change: connections per hour from {periods.begin:{_DAY}} to {periods.end:{_DAY}} UTC against the "
        f"period of the same length before. "
        if periods
        else ""
    )
    st.caption(
        f"Select a row to see its connections; click a heading to sort. {compared}CPU time: share of the "
        "price of TLS, at most and as estimated, over all systems. Resumed and failed come from zERT details "
        "(SMF 119-11), unprotected from the records that are named beside it."
    )
    without_effect(data.without_effect(PRICE))
    without_effect([name for name in data.without_effect(POSTURE) if name not in data.without_effect(PRICE)])


def _connections(data: PageData, by: Ranked, value: int | str) -> None:
    """The newest connections of a port or job, and the way to all of them."""
    name = _FILTER_OF[by]
    st.markdown(f"**Connections of {name} {plain(value)}**, the newest")
    sources = sources_with_rows(data)
    only: dict[str, Any] = {f"{name}s": (value,)}
    narrowed = replace(data, filters=replace(data.filters, **only))
    rows = search(narrowed, ConnectionSearch(source=sources[0])).rows if sources else None
    if rows is None or not rows.num_rows:
        st.caption("There are no records of its single connections, only summaries.")
        return
    grid(rows.slice(0, _MOST_CONNECTIONS), "ranking-connections", sources=["connection_detail"])
    page_link("connections", "All of them, and the history of each", **{name: str(value)})


def _config(by: Ranked) -> dict[str, object]:
    column = st.column_config
    return {
        by: column.NumberColumn("Port", format="%d", pinned=True)
        if by == "server_port"
        else column.TextColumn("Job", pinned=True),
        "connections": column.NumberColumn("Connections", format="localized"),
        "share_pct": column.ProgressColumn(
            "Share (%)", format="%.1f", min_value=0, max_value=100, help="Share of the connections shown.",
        ),
        "trend": column.BarChartColumn(
            "Over time", help="Connections of each hour or day; hours and days without data are left out.",
        ),
        "change_pct": column.NumberColumn("Change (%)", format="%+.1f"),
        "bytes": column.NumberColumn("Bytes", format="compact"),
        "high_cpu_s_per_day": column.NumberColumn("CPU at most (s a day)", format="%.3g"),
        "cpu_s_per_day": column.NumberColumn("CPU estimate (s a day)", format="%.3g"),
        "status": column.TextColumn("Status", help="How far the CPU time can be trusted: see Price of TLS."),
        "resumed_pct": column.NumberColumn("Resumed (%)", format="%.1f"),
        "failed_handshakes": column.NumberColumn("Failed handshakes", format="localized"),
        "unprotected_pct": column.NumberColumn("Unprotected (%)", format="%.1f"),
        "unprotected_records": column.TextColumn(
            "Unprotected in", help="The records of the share, and how many of the hours they cover.",
        ),
    }  # fmt: skip


def _what_changed(data: PageData) -> None:
    st.header("What changed against the period before")
    differences = data.metric(_DIFFERENCE)
    rows = data.metric(_COMPARISON, ["subject", "value"])
    if not rows.num_rows and not differences.num_rows:
        st.info("There is nothing to compare in these periods.", icon=":material/inbox:")
        return
    if differences.num_rows:
        grid(differences, "ranking-differences", sources=[_DIFFERENCE], columns=_DIFFERENCE_COLUMNS)
        st.caption(
            "Verdict: whether a quantity of a system changed by more than the days of both periods vary; "
            "zscope compare-periods compares any two."
        )
        causes = data.metric(_CAUSE, where="rank <= 5")
        if causes.num_rows:
            with st.expander("Where the changes of resumption and cost come from"):
                grid(causes, "ranking-causes", sources=[_CAUSE], columns=_CAUSE_COLUMNS)
    grid(rows, "ranking-changes", sources=[_COMPARISON], columns=_CHANGE_COLUMNS)
    st.caption(
        "Connections counted once, protocols, cipher suites, handshakes and settings of the AT-TLS policy, "
        "in the chosen period, or in the last seven days, against the period before."
    )
    without_effect(data.without_effect(_COMPARISON))


Ranked = Literal["server_port", "job_name"]
RankedBy = Literal["connections", "bytes", "CPU time", "change"]

COUNTED_ONCE = ("each connection once", "zERT summary")
"""Sources that count no connection twice."""
PRICE, HANDSHAKES, POSTURE = "tls_price", "handshake_mix", "tls_posture"
_SHARED_BY: dict[Ranked, str] = {"server_port": "port", "job_name": "job"}
_HOURLY = timedelta(days=2)
"""Up to this length the small bars are those of hours, otherwise those of days."""
_WEEK = timedelta(hours=168)
_HOUR = timedelta(hours=1)
_STATUSES = ("not enough data", "range", "conditional", "estimate")
_COLUMNS = [
    ("connections", pa.int64()), ("share_pct", pa.float64()), ("trend", pa.list_(pa.int64())),
    ("change_pct", pa.float64()), ("bytes", pa.int64()), ("high_cpu_s_per_day", pa.float64()),
    ("cpu_s_per_day", pa.float64()), ("status", pa.string()), ("resumed_pct", pa.float64()),
    ("failed_handshakes", pa.int64()), ("unprotected_pct", pa.float64()),
    ("unprotected_records", pa.string()),
]  # fmt: skip
_KINDS: dict[Ranked, pa.DataType] = {"server_port": pa.int64(), "job_name": pa.string()}
_SORTED_BY: dict[RankedBy, str] = {
    "connections": "connections", "bytes": "bytes", "CPU time": "high_cpu_s_per_day", "change": "change_pct",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ComparedPeriods:
    """The later period of a comparison and the one before it, which is as long."""

    begin: datetime
    end: datetime

    @property
    def before(self) -> datetime:
        """The begin of the period before."""
        return self.begin - (self.end - self.begin)

    def later(self) -> str:
        """Return the condition on the hours of the later period."""
        return _within(self.begin, self.end)

    def earlier(self) -> str:
        """Return the condition on the hours of the period before."""
        return _within(self.before, self.begin)


def _within(begin: datetime, end: datetime) -> str:
    return (
        f"hour_utc >= TIMESTAMPTZ {literal(begin.isoformat())} AND "
        f"hour_utc < TIMESTAMPTZ {literal(end.isoformat())}"
    )


def _hours(data: PageData) -> str:
    """Return the connections by hour, for a FROM clause: without benchmark runs unless they count."""
    if data.filters.with_runs:
        return "tls_hour"
    return "(SELECT * FROM tls_hour ANTI JOIN run_hour USING (system, hour_utc))"


def connections_by_source(data: PageData) -> dict[str, int]:
    """Return the number of connections in each of the sources that count none twice, the greatest first."""
    rows = data.rows(f"""
        SELECT source, sum(connections)::BIGINT AS connections
        FROM {_hours(data)} {_where(data, f"source IN ({', '.join(map(literal, COUNTED_ONCE))})")}
        GROUP BY source HAVING sum(connections) > 0 ORDER BY 2 DESC
    """)
    return {row["source"]: row["connections"] for row in rows.to_pylist()}


def compared_periods(data: PageData, source: str) -> ComparedPeriods | None:
    """Return the period that is compared with the one before: the chosen one, or the last seven days."""
    chosen = data.filters
    [row] = data.rows(f"""
        SELECT min(hour_utc) AS first, max(hour_utc) AS last
        FROM {_hours(data)} WHERE source = {literal(source)}
    """).to_pylist()
    if row["last"] is None:
        return None
    end = chosen.end or row["last"] + _HOUR
    begin = chosen.begin or (row["first"] if chosen.end else end - _WEEK)
    return ComparedPeriods(begin, end)


def ranking(data: PageData, by: Ranked, source: str, ranked_by: RankedBy = "connections") -> pa.Table:
    """Return the ports or jobs with their figures, the greatest first."""
    counts = _counts(data, by, source)
    changes = _changes(data, by, source)
    trends = _trends(data, by, source)
    prices = _prices(data, by)
    handshakes = {row[by]: row for row in data.metric(HANDSHAKES, [by]).to_pylist()}
    # Of two sources, which are of different days or systems, the one with more connections is shown.
    posture = {
        row[by]: row
        for row in sorted(data.metric(POSTURE, [by]).to_pylist(), key=lambda row: row["connections"] or 0)
    }
    whole = sum(row["connections"] for row in counts)
    rows = [
        {
            by: row[by],
            "connections": row["connections"],
            "share_pct": 100 * row["connections"] / whole if whole else None,
            "trend": trends.get(row[by]),
            "change_pct": changes.get(row[by]),
            "bytes": row["bytes"],
            **prices.get(row[by], {}),
            "resumed_pct": handshakes.get(row[by], {}).get("resumed_pct"),
            "failed_handshakes": handshakes.get(row[by], {}).get("failed_handshakes"),
            **_unprotected(posture.get(row[by])),
        }
        for row in counts
    ]
    column = _SORTED_BY[ranked_by]
    rows.sort(key=lambda row: (row.get(column) is None, -(row.get(column) or 0), str(row[by])))
    return pa.Table.from_pylist(rows, pa.schema([(by, _KINDS[by]), *_COLUMNS]))


def _unprotected(posture: dict[str, Any] | None) -> dict[str, float | str | None]:
    if posture is None:
        return {}
    return {"unprotected_pct": posture["unprotected_pct"], "unprotected_records": records_named(posture)}


def _where(data: PageData, *further: str) -> str:
    return data.where(("system", "stack", "server_port", "job_name"), "hour_utc", *further)


def _in_all_periods(data: PageData, *further: str) -> str:
    """The filters without the period."""
    everything = replace(data, filters=data.filters.without_period())
    return _where(everything, *further)


def _counts(data: PageData, by: Ranked, source: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = data.rows(f"""
        SELECT {by}, sum(connections)::BIGINT AS connections, sum(in_bytes + out_bytes)::BIGINT AS bytes
        FROM {_hours(data)} {_where(data, f"source = {literal(source)}")}
        GROUP BY {by} HAVING sum(connections) > 0
    """).to_pylist()
    return rows


def _changes(data: PageData, by: Ranked, source: str) -> dict[object, float | None]:
    """The change of the connections per hour in which the source has any of the same filters."""
    periods = compared_periods(data, source)
    if periods is None:
        return {}
    either = f"({periods.later()} OR {periods.earlier()})"
    rows = data.rows(f"""
        WITH found AS (
            SELECT {by} AS place, hour_utc, connections, {periods.later()} AS is_later
            FROM {_hours(data)}
            {_in_all_periods(data, f"source = {literal(source)}", either)}
        ),
        hours AS (
            SELECT
                count(DISTINCT hour_utc) FILTER (is_later) AS later_hours,
                count(DISTINCT hour_utc) FILTER (NOT is_later) AS earlier_hours
            FROM found
        )
        SELECT place,
            100 * (
                sum(connections) FILTER (is_later) / any_value(later_hours)
                / nullif(sum(connections) FILTER (NOT is_later) / nullif(any_value(earlier_hours), 0), 0) - 1
            ) AS change_pct
        FROM found CROSS JOIN hours
        GROUP BY place
    """)
    return {row["place"]: row["change_pct"] for row in rows.to_pylist()}


def _trends(data: PageData, by: Ranked, source: str) -> dict[object, list[int]]:
    """The connections of each hour or day; hours and days without any data are left out."""
    span = "INTERVAL 1 HOUR" if period_length(data) <= _HOURLY else "INTERVAL 24 HOUR"
    rows = data.rows(f"""
        SELECT {by} AS place, time_bucket({span}, hour_utc) AS moment, sum(connections)::BIGINT AS connections
        FROM {_hours(data)} {_where(data, f"source = {literal(source)}", "hour_utc IS NOT NULL")}
        GROUP BY ALL
    """).to_pylist()
    moments = sorted({row["moment"] for row in rows})
    counted: dict[object, Counter[datetime]] = {}
    for row in rows:
        counted.setdefault(row["place"], Counter())[row["moment"]] = row["connections"]
    return {place: [of[moment] for moment in moments] for place, of in counted.items()}


def _prices(data: PageData, by: Ranked) -> dict[object, dict[str, Any]]:
    """The price of TLS of each, over all systems, with the least certain status of them."""
    found: dict[object, dict[str, Any]] = {}
    where = f"shared_by = '{_SHARED_BY[by]}' AND part = 'TLS' AND high_cpu_s_per_day IS NOT NULL"
    for row in data.metric(PRICE, where=where).to_pylist():
        known = found.setdefault(
            row[by], {"high_cpu_s_per_day": 0.0, "cpu_s_per_day": 0.0, "status": _STATUSES[-1]}
        )
        known["high_cpu_s_per_day"] += row["high_cpu_s_per_day"]
        if known["cpu_s_per_day"] is not None:
            value = row["cpu_s_per_day"]
            known["cpu_s_per_day"] = None if value is None else known["cpu_s_per_day"] + value
        known["status"] = min(known["status"], row["status"], key=_STATUSES.index)
    return found
