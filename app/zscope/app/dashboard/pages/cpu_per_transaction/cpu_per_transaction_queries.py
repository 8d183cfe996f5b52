"""Queries of the page CPU per transaction; each way of counting transactions is separate."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, timedelta, timezone
from typing import TYPE_CHECKING, Literal

import pyarrow as pa
import pyarrow.compute as pc

from zscope.app.dashboard.filter_choices import choices
from zscope.app.dashboard.time_axis import in_pieces
from zscope.schemas.sql_text import literal

if TYPE_CHECKING:
    from zscope.app.dashboard.page_data import PageData

METRIC, RUNS, PEAKS = "cpu_per_transaction", "run_result", "peak_load"
_BYTES = (
    "Within benchmark runs, bytes are divided by the size of a request and its reply. The figures above "
    "combine runs of all workloads; below, each run is separate."
)
WAYS = {
    "connections ended": "Each TCP connection that ended is one transaction (SMF 119 subtype 2).",
    "zERT connections": "Each connection that zERT saw is one transaction (SMF 119 subtype 11).",
    "bytes over request size": _BYTES,
    "supplied count": "The counts were loaded from a CSV file.",
}
"""The ways to count transactions with their meaning; the first one with data is the default."""
_CONNECTIONS = ("connections ended", "zERT connections")
_MOST_ROWS = 4_000
"""Limit of the intervals in a chart; a screen does not have more columns."""
_USUAL_MS = 900_000
"""Usual length of an interval, to estimate the number of intervals."""
_MOST_SYSTEMS = 7
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class CostOverTime:
    """The rows of the charts over time."""

    rows: pa.Table
    clock: Literal["interval_start_utc", "day"]
    systems: tuple[str, ...]
    """The systems shown, by name."""
    left_out: int
    """Number of systems with fewer transactions that are not shown."""
    zone: timezone = UTC
    """The clock whose days an axis has: that of the systems, if they have one; days are drawn as in UTC."""


TITLES = {
    "cpu_us_per_transaction": "CPU per transaction",
    "lpar_cpu_us_per_ended_connection": "LPAR CPU per connection",
}
"""The names of the columns that a way of counting can show."""


def measure(way: str) -> str:
    """Return the column with the CPU time that a way of counting can show for a whole system.

    Connections have the CPU time of the system per connection; other counts that of a run per transaction.
    """
    return "lpar_cpu_us_per_ended_connection" if way in _CONNECTIONS else "cpu_us_per_transaction"


def count_of(way: str) -> str:
    """Return the column with the number that the CPU time is divided by in this column."""
    return "matched_connections" if way in _CONNECTIONS else "own_transactions"


def ways(data: PageData) -> tuple[str, ...]:
    """Return the ways in which transactions were counted."""
    present = set(data.metric(METRIC, ["counted_by"])["counted_by"].to_pylist())
    return tuple(way for way in WAYS if way in present)


def has_cpu(data: PageData) -> bool:
    """Return whether there is CPU time, with or without transactions."""
    return any(seconds is not None for seconds in data.metric(METRIC, ["counted_by"])["cpu_s"].to_pylist())


def totals(data: PageData, way: str) -> dict[str, float | None]:
    """Return the totals of one way of counting over all systems and runs, without the rows of jobs."""
    table = data.metric(METRIC, ["counted_by"], where=counted(way))
    sums = {name: pc.sum(table[name]).as_py() for name in ("transactions", "apportioned_transactions")}
    known = table.filter(pc.field(count_of(way)).is_valid())
    for name in ("matched_cpu_s", "matched_ziip_s", count_of(way)):
        sums[name] = pc.sum(known[name]).as_py()
    return sums | {
        "cpu_us": _over(sums["matched_cpu_s"], sums[count_of(way)], 1e6),
        "ziip_us": _over(sums["matched_ziip_s"], sums[count_of(way)], 1e6),
        "apportioned_pct": _over(sums["apportioned_transactions"], sums["transactions"], 100),
    }


def by_system(data: PageData, way: str) -> pa.Table:
    """Return one way of counting by run and system; what is in no run comes first."""
    table = data.metric(METRIC, ["system"], where=counted(way))
    run = pc.fill_null(table["run"].cast(pa.string()), "")
    keys = pa.table({"run": run, "system": table["system"].cast(pa.string())})
    order = pc.sort_indices(keys, sort_keys=[("run", "ascending"), ("system", "ascending")])
    return _without_empty(table.take(order))


def by_job(data: PageData, way: str) -> pa.Table:
    """Return one way of counting by job, of the jobs whose CPU time is known (SMF 30)."""
    where = f"counted_by = {literal(way)} AND job_name IS NOT NULL"
    return _without_empty(data.metric(METRIC, ["system"], where=where))


def statuses(data: PageData, way: str) -> pa.Table:
    """Return time, transactions and CPU time by status."""
    table = data.metric(METRIC, ["status"], where=counted(way)).combine_chunks()
    sums = table.group_by("status").aggregate([
        ("interval_ms", "sum"), ("transactions", "sum"), ("cpu_s", "sum"),
    ])  # fmt: skip
    hours = pc.divide(pc.cast(sums["interval_ms_sum"], pa.float64()), 3_600_000.0)
    return pa.table({
        "status": sums["status"], "hours": hours, "transactions": sums["transactions_sum"],
        "cpu_s": sums["cpu_s_sum"],
    }).sort_by([("hours", "descending")])  # fmt: skip


def over_time(data: PageData, way: str) -> CostOverTime:
    """Return one way of counting over time: by interval, or by day if intervals are too many."""
    ranked = by_system(data, way).group_by("system").aggregate([("transactions", "sum")])
    busiest = ranked.sort_by([("transactions_sum", "descending")])["system"].to_pylist()
    systems = tuple(sorted(busiest[:_MOST_SYSTEMS]))
    left_out = len(busiest) - len(systems)
    of = f"system IN ({', '.join(map(literal, systems))})" if systems else "false"
    days = data.metric(METRIC, ["day", "system"], where=f"{counted(way)} AND {of}")
    if (pc.sum(days["interval_ms"]).as_py() or 0) <= _MOST_ROWS * _USUAL_MS:
        # CPU intervals without any counted transaction are rows without a way of counting.
        table = data.metric(METRIC, None, where=f"({counted(way)} OR counted_by IS NULL) AND {of}")
        if table.num_rows <= _MOST_ROWS:
            rows = in_pieces(table, ("run", "system"), "interval_start_utc", "interval_ms")
            zone = choices(data.queries, data.version).zone(systems)
            return CostOverTime(rows, "interval_start_utc", systems, left_out, zone)
    return CostOverTime(in_pieces(days, ("run", "system"), "day", _DAY), "day", systems, left_out)


def without_value(costs: CostOverTime) -> pa.Table:
    """Return the intervals without a value, with the reason in the column `status`."""
    if "status" not in costs.rows.column_names:
        return costs.rows.slice(0, 0)
    return costs.rows.filter(pc.field("status") != "ok")


def has_runs(data: PageData) -> bool:
    """Return whether the store has benchmark runs, in any period."""
    [row] = data.rows("SELECT count(*) AS runs FROM run WHERE role <> 'tls-test'").to_pylist()
    return bool(row["runs"])


def of_runs(data: PageData, measure: str) -> pa.Table:
    """Return a measure of the runs: value and 95 % interval of each side."""
    return data.metric(RUNS, where=f"measure = {literal(measure)}")


def counted(way: str) -> str:
    """Return the condition of the rows of one way of counting, without those of jobs."""
    return f"counted_by = {literal(way)} AND job_name IS NULL"


def _over(above: float | None, below: float | None, times: float) -> float | None:
    return times * above / below if above is not None and below else None


def _without_empty(table: pa.Table) -> pa.Table:
    """The table without the column `run` if it is empty."""
    return table.select([
        name for name in table.column_names if name != "run" or table[name].null_count < table.num_rows
    ])  # fmt: skip
