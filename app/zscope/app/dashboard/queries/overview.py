"""The numbers at the top of the overview: what each is for the whole period, and how it went."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from zscope.app.dashboard.periods import length
from zscope.app.dashboard.queries import cpu_per_transaction as cpu
from zscope.schemas.ddl import literal

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Data

RESUMPTION, PRICE_OF_TLS13 = "tls31-sysplex-tickets-hit", "tls31-tls13-vs-tls12-cpu"
"""Published results that the numbers are held against."""
_COUNTED_ONCE = ("each connection once", "zERT summary")
"""Sources of connections in which none is twice, the better first."""
_TLS = re.compile(r"TLS|SSL", re.IGNORECASE)
_IN_RUNS = "bytes over request size"
"""A way of counting that tells of benchmark runs and not of systems."""
_HOURLY = timedelta(days=31)
"""Up to this length a small line has a point for each hour, else for each day."""
_INTERVALS = timedelta(days=13)
"""So long a period has not too many intervals of a minute to be put together to hours."""
_TREND = pa.schema([("time_utc", pa.timestamp("us", "UTC")), ("value", pa.float64())])


@dataclass(frozen=True, slots=True)
class Number:
    """A number of the overview; `value` is None where nothing tells it."""

    value: float | None
    trend: pa.Table
    """What it was in each hour or day: time_utc, value."""
    without_effect: tuple[str, ...]
    """Filters that are set and do not narrow it."""


NOTHING = Number(None, _TREND.empty_table(), ())


@dataclass(frozen=True, slots=True)
class Reference:
    """A published figure and where it stands."""

    as_printed: str
    value: float
    direction: str | None
    where: str


def references(data: Data) -> Mapping[str, Reference]:
    """The published results by their names."""
    rows = data.rows(
        "SELECT id, as_printed, value, direction, document, figure FROM reference_result WHERE id IN (?, ?)",
        [RESUMPTION, PRICE_OF_TLS13],
    )
    return {
        row["id"]: Reference(
            row["as_printed"], row["value"], row["direction"], f"{row['document']}, {row['figure']}"
        )
        for row in rows.to_pylist()
    }


def resumption(data: Data) -> Number:
    """The share of resumed handshakes, of those that zERT saw succeed."""
    return _of_column(data, "handshake_mix", "resumed_pct")


def unprotected(data: Data) -> Number:
    """The share of connections that nothing protects, of those that zERT saw end."""
    return _of_column(data, "tls_posture", "unprotected_pct")


def tls13(data: Data) -> tuple[Number, str]:
    """The share of TLSv1.3 among TLS connections, and the source that tells it."""
    name = "protocol_distribution"
    by_source: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in data.metric(name, ["protocol"]).to_pylist():
        by_source[row["source"]].append(row)
    shares = {source: _share_of_tls13(by_source[source]) for source in _COUNTED_ONCE}
    source = next((source for source, share in shares.items() if share is not None), _COUNTED_ONCE[0])
    by, column = _steps(data)
    moments: dict[datetime, list[dict[str, Any]]] = defaultdict(list)
    for row in data.metric(name, ["protocol", by], where=f"source = {literal(source)}").to_pylist():
        if row[column] is not None:
            moments[row[column]].append(row)
    trend = _trend({moment: _share_of_tls13(rows) for moment, rows in moments.items()})
    return Number(shares[source], trend, data.without_effect(name)), source


def _share_of_tls13(rows: list[dict[str, Any]]) -> float | None:
    counts = [(row["protocol"], row["connections"] or 0) for row in rows if _TLS.match(row["protocol"] or "")]
    total = sum(count for _, count in counts)
    new = sum(count for protocol, count in counts if protocol == "TLSv1.3")
    return 100 * new / total if total else None


def cpu_ways(data: Data) -> tuple[str, ...]:
    """The ways in which the transactions of systems were counted."""
    return tuple(way for way in cpu.ways(data) if way != _IN_RUNS)


def cpu_by_system(data: Data, way: str, most: int) -> tuple[dict[str, Number], int]:
    """CPU µs per transaction of the systems with most transactions, and how many more systems there are."""
    found = [row for row in cpu.by_system(data, way).to_pylist() if row["cpu_us_per_transaction"] is not None]
    found.sort(key=lambda row: (-row["matched_transactions"], row["system"]))
    shown = {str(row["system"]): row["cpu_us_per_transaction"] for row in found[:most]}
    if not shown:
        return {}, 0
    trends = _cpu_trends(
        data, f"counted_by = {literal(way)} AND system IN ({', '.join(map(literal, shown))})"
    )
    ignored = data.without_effect(cpu.METRIC)
    numbers = {system: Number(value, _trend(trends[system]), ignored) for system, value in shown.items()}
    return numbers, len(found) - len(shown)


def _cpu_trends(data: Data, where: str) -> dict[str, dict[datetime, float | None]]:
    """CPU µs per transaction of each system by hour or day; the metric itself knows intervals and days."""
    if length(data) > _INTERVALS:
        found, clock = data.metric(cpu.METRIC, ["system", "day"], where=where), "day_utc"
    else:
        found, clock = data.metric(cpu.METRIC, ["system", "interval_start_utc"], where=where), "hour_utc"
        hours = pc.floor_temporal(found["interval_start_utc"], unit="hour")
        found = found.append_column(clock, hours)
    sums = found.group_by(["system", clock]).aggregate(
        [("matched_cpu_s", "sum"), ("matched_transactions", "sum")]
    )
    trends: dict[str, dict[datetime, float | None]] = defaultdict(dict)
    for row in sums.to_pylist():
        if row[clock] is not None and row["matched_transactions_sum"]:
            trends[row["system"]][row[clock]] = (
                1e6 * row["matched_cpu_s_sum"] / row["matched_transactions_sum"]
            )
    return trends


def _steps(data: Data) -> tuple[str, str]:
    """What a metric by the hour is grouped by for a small line, and the column this gives."""
    return ("hour_utc", "hour_utc") if length(data) <= _HOURLY else ("day", "day_utc")


def _of_column(data: Data, name: str, column: str) -> Number:
    """A column of a metric: of all rows together, and over time."""
    [value] = data.metric(name, [])[column].to_pylist() or [None]
    by, moment = _steps(data)
    found = data.metric(name, [by])
    trend = dict(zip(found[moment].to_pylist(), found[column].to_pylist(), strict=True))
    return Number(value, _trend(trend), data.without_effect(name))


def _trend(found: Mapping[datetime | None, float | None] | Mapping[datetime, float | None]) -> pa.Table:
    known = sorted(
        (moment, value) for moment, value in found.items() if moment is not None and value is not None
    )
    return pa.table([[moment for moment, _ in known], [value for _, value in known]], _TREND)
