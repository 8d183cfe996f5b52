"""Intervals and estimates as Arrow tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zscope.pipelines.estimate.costs import estimate_costs
from zscope.pipelines.estimate.intervals import SystemIntervals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.pipelines.estimate.costs import SystemEstimate
    from zscope.pipelines.estimate.intervals import Numbers

COSTS = pa.schema(
    [
        ("system", pa.string()),
        ("item", pa.string()),
        ("unit", pa.string()),
        ("status", pa.string()),
        ("why", pa.string()),
        ("value", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("conditional_low", pa.float64()),
        ("conditional_high", pa.float64()),
    ]
)
_FITS = pa.schema(
    [
        ("system", pa.string()),
        ("status", pa.string()),
        ("why", pa.string()),
        ("interval_s", pa.int64()),
        ("intervals", pa.int64()),
        ("days", pa.int64()),
        ("blocks", pa.int64()),
        ("memory", pa.list_(pa.float64())),
        ("effective_intervals", pa.float64()),
        ("outlier_pct", pa.float64()),
        ("left_autocorrelation", pa.float64()),
        ("calendar_pct", pa.float64()),
        ("tls_pct", pa.float64()),
        ("load_correlation", pa.float64()),
        ("handshake_us", pa.float64()),
        ("without_calendar_us", pa.float64()),
        ("control_low_us", pa.float64()),
        ("control_high_us", pa.float64()),
        ("spill", pa.float64()),
    ]
)


def estimates(intervals: pa.Table) -> dict[str, SystemEstimate]:
    """Return the estimate of each system.

    The columns are those of the step cost_interval; tls_spaces_cpu_s and busy_share can be null or missing.
    """
    systems = pc.unique(intervals["system"]).to_pylist()
    by_system = {
        system: intervals.filter(pc.equal(intervals["system"], system)) for system in sorted(systems)
    }
    return {system: estimate_costs(system_intervals(rows)) for system, rows in by_system.items()}


def cost_table(results: dict[str, SystemEstimate]) -> pa.Table:
    """Return a row for each cost and each part of the price of a system."""
    rows = [
        {
            "system": system,
            "item": cost.item,
            "unit": cost.unit,
            "status": cost.trusted.status,
            "why": cost.trusted.why,
            "value": cost.value,
            "low": cost.low,
            "high": cost.high,
            "conditional_low": cost.conditional_low,
            "conditional_high": cost.conditional_high,
        }
        for system, result in results.items()
        for cost in result.costs
    ]
    return pa.Table.from_pylist(rows, schema=COSTS)


def fit_table(results: dict[str, SystemEstimate]) -> pa.Table:
    """Return a row for each system: what was fitted, and what the noise was like."""
    return pa.Table.from_pylist(list(_fits(results)), schema=_FITS)


def _fits(results: dict[str, SystemEstimate]) -> Iterator[dict[str, Any]]:
    for system, result in results.items():
        row: dict[str, Any] = {
            "system": system,
            "status": result.trusted.status,
            "why": result.trusted.why,
            "interval_s": result.step_s,
            "intervals": result.steps,
            "days": result.days,
        }
        if fitted := result.fitted:
            levels, mean = fitted.levels, fitted.mean_handshake
            control = fitted.control.estimate(mean) if fitted.control else None
            row |= {
                "blocks": levels.blocks,
                "memory": levels.memory.tolist(),
                "effective_intervals": levels.effective_rows,
                "outlier_pct": levels.clipped_pct,
                "left_autocorrelation": levels.left_autocorrelation,
                "calendar_pct": 100 * levels.time_share,
                "tls_pct": 100 * levels.explained_share,
                "load_correlation": levels.correlation(mean),
                "handshake_us": levels.estimate(mean).value,
                "without_calendar_us": fitted.without_calendar_us,
                "control_low_us": control.low if control else None,
                "control_high_us": control.high if control else None,
                "spill": fitted.spill if control else None,
            }
        yield row


def system_intervals(rows: pa.Table) -> SystemIntervals:
    """Return the intervals of one system."""

    def numbers(name: str) -> Numbers:
        return np.asarray(rows[name].cast(pa.float64()).to_numpy(), np.float64)

    def optional(name: str) -> Numbers | None:
        if name not in rows.column_names or rows[name].null_count == len(rows):
            return None
        return numbers(name)

    return SystemIntervals(
        rows["start_local"].cast(pa.timestamp("s"), safe=False).to_numpy(),
        numbers("seconds"),
        numbers("cpu_s"),
        numbers("full_handshakes"),
        numbers("resumed_handshakes"),
        numbers("tls_mb"),
        optional("tls_spaces_cpu_s"),
        optional("busy_share"),
    )
