"""The figures at the top of the overview, each with its trend, and a summary of the findings."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from zscope.app.dashboard.pages.cpu_per_transaction import cpu_per_transaction_queries as cpu
from zscope.app.dashboard.pages.posture.findings import PLACE, all_findings
from zscope.app.dashboard.protection_records import (
    POSTURE,
    of_records,
    protection_records,
    records_named,
)
from zscope.app.dashboard.style import SEVERITY_MARKS
from zscope.app.dashboard.tiles import MetricFigure
from zscope.app.dashboard.time_axis import drawn_at, period_length, span
from zscope.schemas.sql_text import literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zscope.app.dashboard.page_data import PageData


RESUMPTION, PRICE_OF_TLS13 = "tls31-sysplex-tickets-hit", "tls31-tls13-vs-tls12-cpu"
"""Published results that the figures are compared with."""
_COUNTED_ONCE = ("each connection once", "zERT summary")
"""Sources that count no connection twice, the better one first."""
_IN_RUNS = "bytes over request size"
"""A way of counting that applies to benchmark runs, not to systems."""
_HOURLY = timedelta(days=31)
"""Up to this length a trend has a point for each hour, otherwise for each day."""
_INTERVALS = timedelta(days=13)
"""Up to this length, intervals of a minute are few enough to be combined into hours."""
_CONNECTIONS = "matched_connections"
_BUSY_MS = 60_000
"""A system with less than one transaction in this time does next to nothing but other work."""
_TREND = pa.schema([("time_utc", pa.timestamp("us", "UTC")), ("value", pa.float64())])


@dataclass(frozen=True, slots=True)
class KeyFigure:
    """A figure of the overview; `value` is None without data."""

    value: float | None
    trend: pa.Table
    """Its value in each hour or day: time_utc, value."""
    without_effect: tuple[str, ...]
    """Filters that are set but do not narrow it."""
    source: MetricFigure | None = None
    """Where the value comes from."""


NO_FIGURE = KeyFigure(None, _TREND.empty_table(), ())


def resumption(data: PageData) -> KeyFigure:
    """Return the share of resumed handshakes among the full and resumed ones in zERT records."""
    return _of_column(data, "handshake_mix", "resumed_pct")


def unprotected(data: PageData) -> tuple[KeyFigure, str]:
    """Return the share of connections without protection, and the records that it comes from."""
    every = protection_records(data)
    if not every:
        return NO_FIGURE, ""
    figure = _of_column(data, POSTURE, "unprotected_pct", of_records(every[0]))
    return figure, f"{every[0]['connections']:,} connections in {records_named(every[0])}"


def tls13(data: PageData) -> tuple[KeyFigure, str]:
    """Return the share of TLSv1.3 among TLS connections, and the source of the data."""
    name, column = "protocol_distribution", "tls13_pct"
    shares = {row["source"]: row[column] for row in data.metric(name, ["source"]).to_pylist()}
    # The records that count for the most connections come first.
    first = [records["source"] for records in protection_records(data)[:1]]
    known = [source for source in (*first, *_COUNTED_ONCE) if shares.get(source) is not None]
    source = known[0] if known else _COUNTED_ONCE[0]
    return _of_column(data, name, column, f"source = {literal(source)}"), source


def cpu_ways(data: PageData) -> tuple[str, ...]:
    """Return the ways in which the transactions of systems were counted."""
    return tuple(way for way in cpu.ways(data) if way != _IN_RUNS)


def cpu_by_system(data: PageData, way: str, most: int) -> tuple[dict[str, KeyFigure], int]:
    """Return CPU µs of the busiest systems per transaction or connection, and the number of other systems.

    The CPU time of a system with few transactions is that of its other work, so such systems are not shown as
    long as there are others. Connections in benchmark runs can have any number of transactions, so those of
    runs do not count.
    """
    count = cpu.count_of(way)
    counts = cpu.by_system(data, way).filter(pc.field(count).is_valid())
    if count == _CONNECTIONS and "run" in counts.column_names:
        counts = counts.filter(pc.field("run").is_null())
    sums = counts.group_by("system").aggregate([
        ("matched_cpu_s", "sum"), (count, "sum"), ("counted_ms", "sum"),
    ])  # fmt: skip
    rows = [row for row in sums.to_pylist() if row["matched_cpu_s_sum"] is not None and row[f"{count}_sum"]]
    busy = [row for row in rows if row[f"{count}_sum"] * _BUSY_MS >= row["counted_ms_sum"]]
    left_out, rows = (len(rows) - len(busy), busy) if busy else (0, rows)
    rows.sort(key=lambda row: (-row[f"{count}_sum"], row["system"]))
    shown = {str(row["system"]): 1e6 * row["matched_cpu_s_sum"] / row[f"{count}_sum"] for row in rows[:most]}
    if not shown:
        return {}, 0
    trends = _cpu_trends(data, way, tuple(shown))
    ignored = data.without_effect(cpu.METRIC)
    outside_runs = " AND run IS NULL" if count == _CONNECTIONS else ""
    known = f"FILTER ({count} IS NOT NULL{outside_runs})"
    per = f"1e6 * sum(matched_cpu_s) {known} / sum({count}) {known}"
    numbers = {
        system: KeyFigure(
            value, _trend(trends[system]), ignored,
            MetricFigure(
                cpu.METRIC, per, ("system", "run"), f"{cpu.counted(way)} AND system = {literal(system)}"
            ),
        )
        for system, value in shown.items()
    }  # fmt: skip
    return numbers, left_out + len(rows) - len(shown)


def _cpu_trends(
    data: PageData, way: str, systems: tuple[str, ...]
) -> dict[str, dict[datetime, float | None]]:
    """The same of each system by hour or day; the metric has intervals and days only."""
    of = ", ".join(map(literal, systems))
    where, count = f"{cpu.counted(way)} AND system IN ({of})", cpu.count_of(way)
    where += " AND run IS NULL" if count == _CONNECTIONS else ""
    if period_length(data) > _INTERVALS:
        table, clock = data.metric(cpu.METRIC, ["system", "day"], where=where), "day"
    else:
        table, clock = data.metric(cpu.METRIC, ["system", "interval_start_utc"], where=where), "hour_utc"
        hours = pc.floor_temporal(table["interval_start_utc"], unit="hour")
        table = table.append_column(clock, hours)
    sums = (
        table.filter(pc.field(count).is_valid())
        .group_by(["system", clock])
        .aggregate([("matched_cpu_s", "sum"), (count, "sum")])
    )
    trends: dict[str, dict[datetime, float | None]] = defaultdict(dict)
    for row in sums.to_pylist():
        if row[clock] is not None and row[f"{count}_sum"]:
            trends[row["system"]][row[clock]] = 1e6 * row["matched_cpu_s_sum"] / row[f"{count}_sum"]
    return trends


def _of_column(data: PageData, name: str, column: str, of_source: str = "") -> KeyFigure:
    """A column of a metric, of a source if it has several: for the whole period, and over time."""
    [value] = data.metric(name, [], where=of_source)[column].to_pylist() or [None]
    moment = span(data, _HOURLY)
    table = data.metric(name, [moment], where=of_source)
    trend = dict(zip(table[moment].to_pylist(), table[column].to_pylist(), strict=True))
    figure = MetricFigure(name, column, ("source",), of_source) if of_source else MetricFigure(name, column)
    return KeyFigure(value, _trend(trend), data.without_effect(name), figure)


def _trend(by_time: Mapping[Any, float | None]) -> pa.Table:
    known = sorted(
        (drawn_at(time), value) for time, value in by_time.items() if time is not None and value is not None
    )
    return pa.table([[moment for moment, _ in known], [value for _, value in known]], _TREND)


_COUNTED = pa.schema([("severity", pa.string()), ("mark", pa.string()), ("findings", pa.int64())])
_KINDS = pa.schema(
    [("mark", pa.string()), ("what", pa.string()), ("places", pa.int64()), ("connections", pa.int64()),
     ("system", pa.string()), ("server_port", pa.int64()), ("job_name", pa.string()), ("remedy", pa.string())]
)  # fmt: skip


def by_severity(data: PageData) -> pa.Table:
    """Return the number of findings of each severity, including severities without findings."""
    counted = Counter(all_findings(data)["severity"].to_pylist())
    rows = [
        {"severity": severity, "mark": mark, "findings": counted[severity]}
        for severity, mark in SEVERITY_MARKS.items()
    ]
    return pa.Table.from_pylist(rows, _COUNTED)


def worst_kinds(data: PageData, most: int) -> pa.Table:
    """Return the worst kinds of finding, each with the place where it has the most connections.

    Kinds of the same severity are in the order of their number of places.
    """
    findings = all_findings(data)
    grouped = (
        findings.group_by(["rank", "id"], use_threads=False)
        .aggregate([("connections", "sum"), ([], "count_all")])
        .sort_by([("rank", "ascending"), ("count_all", "descending"), ("id", "ascending")])
        .slice(0, most)
    )
    # Findings are sorted by severity and connections, so the first of a kind has the most connections.
    busiest = {row["id"]: row for row in reversed(findings.to_pylist())}
    rows = [
        {name: busiest[row["id"]][name] for name in ("mark", "what", "remedy", *PLACE)}
        | {"places": row["count_all"], "connections": row["connections_sum"]}
        for row in grouped.to_pylist()
    ]
    return pa.Table.from_pylist(rows, _KINDS)
