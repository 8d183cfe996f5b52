"""How busy the processors of systems were, who tells of it, and where two sources differ."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from zscope.app.dashboard.queries.pieces import in_pieces

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.answers import Data

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
class Busy:
    """What the picture over time shows."""

    rows: pa.Table
    daily: bool
    systems: tuple[str, ...]
    left_out: int
    """Systems that are not shown, as they were less busy."""


def use_by_system(data: Data) -> pa.Table:
    """Each system and source: processors, how busy they were, and from when to when it tells."""
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


def busy_over_time(data: Data, systems: pa.Table, processors: Processors) -> Busy:
    """How busy the processors were: by interval as long as they can be told apart, else by day.

    `systems` is the answer of `use_by_system`.
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
    start = f"time_bucket(INTERVAL 1 DAY, {_CLOCK}) AS day_utc" if daily else _CLOCK
    found = data.rows(f"""
        SELECT system, source, {start}, {what}
        FROM cpu_interval
        {data.where(COLUMNS, _CLOCK, "list_contains(?, system)", f"{_CLOCK} IS NOT NULL")}
        {"GROUP BY ALL" if daily else ""}
    """, [list(shown)])  # fmt: skip
    length: timedelta | str = timedelta(days=1) if daily else "interval_ms"
    placed = in_pieces(found, ("system",), "day_utc" if daily else _CLOCK, length)
    return Busy(placed, daily, shown, len(busiest) - len(shown))


def compared(data: Data) -> int:
    """Intervals that more than one source tells of."""
    [found] = data.rows(f"""
        SELECT count(*) AS intervals FROM (
            SELECT 1 FROM cpu_by_source {data.where(COLUMNS, _CLOCK)}
            GROUP BY system, interval_no HAVING count(*) > 1
        )
    """).to_pylist()  # fmt: skip
    return int(found["intervals"])


def disagreements(data: Data) -> pa.Table:
    """The newest figures in which two sources differ, with the difference."""
    return data.rows(f"""
        SELECT system, interval_start_utc, interval_start_local, column_name, source, value, other_source,
            other_value, other_value - value AS difference
        FROM cpu_interval_disagreement
        {data.where(COLUMNS, _CLOCK)}
        ORDER BY interval_start_local DESC, system, column_name LIMIT {_MOST_DIFFERENT}
    """)


def _mean(column: str) -> str:
    """The mean of intervals, each as often as it is long."""
    return f"sum({column} * interval_ms) / nullif(sum(interval_ms) FILTER ({column} IS NOT NULL), 0)"
