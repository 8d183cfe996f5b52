"""CPU time per transaction: by system, over time, by benchmark run; each way of counting on its own."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

import pyarrow as pa
import pyarrow.compute as pc

from zscope.app.dashboard.queries.pieces import in_pieces
from zscope.schemas.ddl import literal

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Data

METRIC, RUNS = "cpu_per_transaction", "run_result"
_BYTES = (
    "Within benchmark runs, bytes are divided by what a request and its reply carry. Above, runs of all "
    "workloads are together; below, each is on its own."
)
WAYS = {
    "connections ended": "Each TCP connection that ended is one transaction (SMF 119 subtype 2).",
    "zERT connections": "Each connection that zERT saw is one transaction (SMF 119 subtype 11).",
    "bytes over request size": _BYTES,
    "supplied count": "The counts were loaded from a CSV file.",
}
"""How transactions can be counted, and what that means; the first that there is, is shown first."""
_MOST_ROWS = 4_000
"""Of intervals: with more of them a picture has more points than a screen has columns."""
_USUAL_MS = 900_000
"""Intervals are asked for where there would not be too many of this length."""
_MOST_SYSTEMS = 7
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class OverTime:
    """What the pictures over time show."""

    rows: pa.Table
    clock: Literal["interval_start_utc", "day_utc"]
    systems: tuple[str, ...]
    """Those shown, by name."""
    left_out: int
    """Systems that are not shown, as they have fewer transactions."""


def ways(data: Data) -> tuple[str, ...]:
    """The ways in which transactions were counted."""
    found = set(data.metric(METRIC, ["counted_by"])["counted_by"].to_pylist())
    return tuple(way for way in WAYS if way in found)


def has_cpu(data: Data) -> bool:
    """Whether there is CPU time, with or without transactions."""
    return any(seconds is not None for seconds in data.metric(METRIC, ["counted_by"])["cpu_s"].to_pylist())


def totals(data: Data, way: str) -> dict[str, float | None]:
    """What was counted in one way, all systems and runs together."""
    found = data.metric(METRIC, ["counted_by"], where=_counted(way))
    sums = {
        name: pc.sum(found[name]).as_py()
        for name in (
            "transactions", "apportioned_transactions", "matched_transactions", "matched_cpu_s",
            "matched_ziip_s", "counted_ms",
        )
    }  # fmt: skip
    return sums | {
        "cpu_us": _over(sums["matched_cpu_s"], sums["matched_transactions"], 1e6),
        "ziip_us": _over(sums["matched_ziip_s"], sums["matched_transactions"], 1e6),
        "apportioned_pct": _over(sums["apportioned_transactions"], sums["transactions"], 100),
    }


def by_system(data: Data, way: str) -> pa.Table:
    """What was counted in one way on each system, and in each run where the way is about runs."""
    return _without_empty(data.metric(METRIC, ["system"], where=_counted(way)))


def statuses(data: Data, way: str) -> pa.Table:
    """How much time there is of each status, and how many transactions are in it."""
    found = data.metric(METRIC, ["status"], where=_counted(way)).combine_chunks()
    sums = found.group_by("status").aggregate([
        ("interval_ms", "sum"), ("transactions", "sum"), ("cpu_s", "sum"),
    ])  # fmt: skip
    hours = pc.divide(pc.cast(sums["interval_ms_sum"], pa.float64()), 3_600_000.0)
    return pa.table({
        "status": sums["status"], "hours": hours, "transactions": sums["transactions_sum"],
        "cpu_s": sums["cpu_s_sum"],
    }).sort_by([("hours", "descending")])  # fmt: skip


def over_time(data: Data, way: str) -> OverTime:
    """One way of counting over time: by interval as long as they can be told apart, else by day."""
    ranked = by_system(data, way).group_by("system").aggregate([("transactions", "sum")])
    busiest = ranked.sort_by([("transactions_sum", "descending")])["system"].to_pylist()
    systems = tuple(sorted(busiest[:_MOST_SYSTEMS]))
    left_out = len(busiest) - len(systems)
    of = f"system IN ({', '.join(map(literal, systems))})" if systems else "false"
    days = data.metric(METRIC, ["day", "system"], where=f"{_counted(way)} AND {of}")
    if (pc.sum(days["interval_ms"]).as_py() or 0) <= _MOST_ROWS * _USUAL_MS:
        # CPU intervals in which nothing was counted in any way are in rows without a way.
        found = data.metric(METRIC, None, where=f"({_counted(way)} OR counted_by IS NULL) AND {of}")
        if found.num_rows <= _MOST_ROWS:
            rows = in_pieces(found, ("run", "system"), "interval_start_utc", "interval_ms")
            return OverTime(rows, "interval_start_utc", systems, left_out)
    return OverTime(in_pieces(days, ("run", "system"), "day_utc", _DAY), "day_utc", systems, left_out)


def broken(found: OverTime) -> pa.Table:
    """The intervals without a value, and why there is none."""
    if "status" not in found.rows.column_names:
        return found.rows.slice(0, 0)
    return found.rows.filter(pc.field("status") != "ok")


def has_runs(data: Data) -> bool:
    """Whether runs were named, whatever the period."""
    [found] = data.rows("SELECT count(*) AS runs FROM run").to_pylist()
    return bool(found["runs"])


def of_runs(data: Data, measure: str) -> pa.Table:
    """What the runs measured: value and 95 % interval of each side."""
    return data.metric(RUNS, where=f"measure = {literal(measure)}")


def _counted(way: str) -> str:
    return f"counted_by = {literal(way)}"


def _over(above: float | None, below: float | None, times: float) -> float | None:
    return times * above / below if above is not None and below else None


def _without_empty(found: pa.Table) -> pa.Table:
    """Without columns in which nothing stands, as that of the run mostly is."""
    return found.select([
        name for name in found.column_names if name != "run" or found[name].null_count < found.num_rows
    ])  # fmt: skip
