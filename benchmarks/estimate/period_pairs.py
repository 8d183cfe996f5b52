"""Simulate pairs of periods, compare them as a store does, and judge what the comparison says.

Both periods are of one world: a week and the week before, or a day and the same day of the week before. The
days have random heights. Either nothing changes between them, or the share of the resumed handshakes. The
costs are those that the estimate finds in both weeks, with CPU time of address spaces.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import duckdb
import msgspec
import numpy as np
import pyarrow as pa

from zscope.pipelines.estimate.costs import estimate_costs
from zscope.pipelines.estimate.intervals import SystemIntervals
from zscope.pipelines.metrics import declared, macros_sql, view_sql
from zscope.samples.cost_truth import RESUMED_US
from zscope.samples.simulated_series import DAY, INTERVAL_S, MONDAY
from zscope.samples.space_truth import space_intervals

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zscope.pipelines.estimate.costs import SystemEstimate
    from zscope.samples.space_worlds import SpaceWorld

Row = dict[str, Any]

WEEK_DAYS = 7
DAY_HEIGHT_SD = 0.05
"""Standard deviation of the height of a day, as a share of it."""
LOGIT_OF_40_PCT, LOGIT_OF_70_PCT = -0.44, 0.92
"""Mean logits of the resumed share, which varies around them, so that these are the shares."""
_PER_HOUR = 3600 // INTERVAL_S
_SYSTEM = "SYSA"
_COMPUTED = (
    "end_of_data", "handshake_cost", "estimated_price", "tls_unit_cost", "compared_period", "period_hour",
    "period_source", "period_amount", "period_rate", "period_tls_use", "period_cause", "period_difference",
)  # fmt: skip
"""The steps that are computed as in a store; what they read besides is given."""


@dataclass(frozen=True)
class PairOfPeriods:
    """Two weeks of a world, and how a handshake of it costs."""

    columns: Mapping[str, Any]
    """Those of the step cost_interval, one week after the other."""
    difference_us: float
    """What a full handshake costs more than a resumed one."""


def simulated_pair(
    world: SpaceWorld, later_logit: float | None, seed: int, height_sd: float = DAY_HEIGHT_SD
) -> PairOfPeriods:
    """Return two weeks, the second one with another mean logit of the resumed share, if it is stated."""
    earlier = msgspec.structs.replace(world, days=WEEK_DAYS)
    later = earlier if later_logit is None else msgspec.structs.replace(earlier, mean_logit=later_logit)
    weeks = [space_intervals(earlier, seed).columns, space_intervals(later, seed + 1_000_000).columns]
    heights = np.exp(height_sd * np.random.default_rng(seed).standard_normal(2 * WEEK_DAYS))
    columns: dict[str, Any] = {}
    for name, column in weeks[0].items():
        if column is None:
            columns[name] = None
            continue
        both = np.concatenate([column, weeks[1][name]])
        scaled = both.dtype.kind == "f" and name not in ("seconds", "busy_share")
        columns[name] = both * np.repeat(heights, DAY) if scaled else both
    columns["start_local"] = MONDAY + np.arange(2 * WEEK_DAYS * DAY) * np.timedelta64(INTERVAL_S, "s")
    return PairOfPeriods(columns, earlier.full_us - RESUMED_US)


def compared(pair: PairOfPeriods, days: int) -> tuple[list[Row], list[Row]]:
    """Return the rows of period_difference and period_cause for the first days of both weeks."""
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute(macros_sql())
    given = _given(pair, estimate_costs(SystemIntervals(**pair.columns)))
    read = dict.fromkeys(table for step in _COMPUTED for table in declared()[step].inputs)
    for table in read:
        if table not in _COMPUTED:
            connection.execute(f"CREATE TABLE {table} ({_columns(table)})")
            if table in given:
                connection.register("rows_to_copy", given[table])
                connection.execute(f"INSERT INTO {table} BY NAME SELECT * FROM rows_to_copy")
    for name, first_day in (("earlier", 0), ("later", WEEK_DAYS)):
        for end, day in (("from", first_day), ("to", first_day + days)):
            moment = MONDAY + np.timedelta64(day, "D")
            connection.execute(f"SET VARIABLE {name}_{end} = TIMESTAMPTZ '{moment}Z'")
    for step in _COMPUTED:
        connection.execute(f"CREATE TABLE {step} AS {view_sql(declared()[step])}")
    return _rows(connection, "period_difference"), _rows(connection, "period_cause")


def judged(pair: PairOfPeriods, days: int = WEEK_DAYS) -> dict[str, float]:
    """Return whether a comparison sees any change, one of resumption, and whether its saving is in range."""
    differences, causes = compared(pair, days)
    verdicts = {row["quantity"]: row["verdict"] for row in differences}
    row = {
        "any change": float(not {"less", "more"}.isdisjoint(verdicts.values())),
        "more resumed": float(verdicts["resumed handshakes"] == "more"),
        "known": float("not known" not in verdicts.values()),
    }
    for cause in causes:
        if cause["part"] == "share of full handshakes":
            truth = saving_s_per_hour(pair, days)
            row["saving in range"] = float(cause["low"] <= -truth <= cause["high"])
            row["saving width"] = 100 * (cause["high"] - cause["low"]) / abs(truth)
    return row


def saving_s_per_hour(pair: PairOfPeriods, days: int) -> float:
    """Return what the full handshakes that the later period does not have would have cost, of its number."""
    full, resumed = pair.columns["full_handshakes"], pair.columns["resumed_handshakes"]
    week, count = WEEK_DAYS * DAY, days * DAY
    (full_before, all_before), (full_after, all_after) = (
        (full[begin : begin + count].sum(), (full + resumed)[begin : begin + count].sum())
        for begin in (0, week)
    )
    share = full.sum() / (full + resumed).sum()
    fewer = (full_before - share * all_before) - (full_after - share * all_after)
    return float(fewer * pair.difference_us / 1e6 / (24 * days))


def _given(pair: PairOfPeriods, estimate: SystemEstimate) -> dict[str, pa.Table]:
    """Return the rows of the steps that the comparison reads."""
    columns = pair.columns
    hours = len(columns["start_local"]) // _PER_HOUR
    hour_utc = [(MONDAY + np.timedelta64(n, "h")).item() for n in range(hours)]

    def by_hour(name: str) -> list[int]:
        summed = np.asarray(columns[name]).reshape(hours, _PER_HOUR).sum(axis=1)
        return [round(float(amount)) for amount in summed]

    full, resumed, plain = (
        by_hour("full_handshakes"),
        by_hour("resumed_handshakes"),
        by_hour("plain_connections"),
    )
    tls_bytes, plain_bytes = (
        [round(1e6 * float(amount)) for amount in columns[name].reshape(hours, _PER_HOUR).sum(axis=1)]
        for name in ("tls_mb", "plain_mb")
    )
    newest = np.random.default_rng(hours).binomial(np.array(full) + np.array(resumed), 0.6)
    tls: list[Row] = []
    for at, moment in enumerate(hour_utc):
        connections = full[at] + resumed[at]
        of_hour = [
            ("TLSv1.3", True, int(newest[at]), tls_bytes[at]),
            ("TLSv1.2", True, connections - int(newest[at]), 0),
            ("none", False, plain[at], plain_bytes[at]),
        ]
        tls += [
            {
                "source": source, "reported_by": "zERT detail", "system": _SYSTEM, "hour_utc": moment,
                "protocol": protocol, "is_tls": is_tls, "connections": number, "in_bytes": size,
                "out_bytes": 0,
            }
            for source in ("each connection once", "zERT detail")
            for protocol, is_tls, number, size in of_hour
        ]  # fmt: skip
    return {
        "tls_hour": _table("tls_hour", tls),
        "handshake_hour": _table(
            "handshake_hour",
            [
                {
                    "system": _SYSTEM, "hour_utc": moment, "kind": kind, "handshakes": number,
                    "job_name": "WEB1", "server_port": 443,
                }
                for kind, numbers in (("full", full), ("resumed", resumed))
                for moment, number in zip(hour_utc, numbers, strict=True)
            ],
        ),
        "coverage_hour": _table(
            "coverage_hour",
            [
                {"system": _SYSTEM, "source": source, "hour_utc": moment, "covered_hours": 1.0, "hours": 1}
                for source in ("119-11", "70")
                for moment in hour_utc
            ],
        ),
        "cpu_slot": _table(
            "cpu_slot",
            [
                {
                    "system": _SYSTEM, "interval_start_utc": start.item(), "interval_ms": INTERVAL_S * 1000,
                    "cpu_s": float(cpu_s),
                }
                for start, cpu_s in zip(columns["start_local"], columns["cpu_s"], strict=True)
            ],
        ),
        **_of_estimate(estimate),
    }  # fmt: skip


def _of_estimate(estimate: SystemEstimate) -> dict[str, pa.Table]:
    """Return the rows of the estimate of the system."""
    per_day = estimate.per_day
    assert per_day is not None, "all intervals have data"
    time = {"first_local": MONDAY.item(), "last_local": MONDAY.item()}
    numbers = {
        "handshakes_per_day": per_day.handshakes, "full_handshakes_per_day": per_day.full_handshakes,
        "resumed_handshakes_per_day": per_day.resumed_handshakes, "megabytes_per_day": per_day.megabytes,
    }  # fmt: skip
    costs = [
        {
            "system": _SYSTEM, "item": cost.item, "unit": cost.unit, "status": cost.status.kind,
            "value": cost.value, "low": cost.low, "high": cost.high, "handshake_source": "zERT detail",
            **time, **numbers,
        }
        for cost in estimate.costs
    ]  # fmt: skip
    return {"cost_estimate": _table("cost_estimate", costs)}


def _table(step: str, rows: Sequence[Row]) -> pa.Table:
    """Return rows as a table, with times of the columns with time zone in UTC."""
    kinds = {column.name: column.type for column in declared()[step].view_columns}
    columns = {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        zoned = pa.timestamp("us", "UTC") if kinds[name] == "TIMESTAMP WITH TIME ZONE" else None
        columns[name] = pa.array(values, zoned)
    return pa.table(columns)


def _columns(table: str) -> str:
    if table == "run":
        return "system VARCHAR, from_utc TIMESTAMPTZ, to_utc TIMESTAMPTZ"
    return ", ".join(f"{column.name} {column.type}" for column in declared()[table].view_columns)


def _rows(connection: duckdb.DuckDBPyConnection, table: str) -> list[Row]:
    result = connection.execute(f"SELECT * FROM {table}")
    names = [column[0] for column in result.description or ()]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]
