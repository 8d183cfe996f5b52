"""The rows of the steps `cost_estimate` and `cost_change`, computed from the intervals of one system."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zscope.pipelines.estimate.costs import estimate_costs
from zscope.pipelines.estimate.intervals import DAY_S, SystemIntervals
from zscope.pipelines.estimate.periods import compare_periods

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.pipelines.estimate.intervals import Numbers

_BESIDE = ("tls_spaces_cpu_s", "tls_spaces_ziip_s", "tls_classes_cpu_s")
"""Columns whose mean per day is stored with the estimate."""
_OPTIONAL = {each.name for each in fields(SystemIntervals) if each.default is None}
_COLUMNS = [each.name for each in fields(SystemIntervals) if each.name not in {"start_local", "kinds_known"}]


def estimate_rows(intervals: pa.Table) -> Iterator[dict[str, Any]]:
    """Yield a row for each cost and each part of the price of a system."""
    result = estimate_costs(system_intervals(intervals))
    # Intervals whose handshakes are not known show how much of the time is left out.
    known = intervals.filter(pc.is_valid(intervals["handshakes"]))
    time = pc.min_max((known if len(known) else intervals)["start_local"]).as_py()
    of_system: dict[str, Any] = {
        "interval_s": result.step_s,
        "intervals": result.steps,
        "days": result.days,
        "covered_pct": 100 * result.covered_share,
        "first_local": time["min"],
        "last_local": time["max"],
        "handshake_source": intervals["handshake_source"][0].as_py(),
        **{f"{name}_per_day": _per_day(intervals, name) for name in _BESIDE},
    }
    if per_day := result.per_day:
        of_system |= {f"{name}_per_day": number for name, number in asdict(per_day).items()}
    if fitted := result.fitted:
        of_system |= {
            "cpu_source": "LPAR" if fitted.attribution.charged_to is None else "address spaces with TLS",
            "time_effects_pct": 100 * fitted.levels.time_share,
            "tls_pct": 100 * fitted.levels.explained_share,
            "outlier_pct": fitted.levels.outlier_pct,
            "residual_autocorrelation": fitted.levels.residual_autocorrelation,
            "charged_to": fitted.attribution.charged_to,
        }
    for cost in result.costs:
        yield of_system | {
            "item": cost.item,
            "unit": cost.unit,
            "status": cost.status.kind,
            "why": cost.status.why,
            "value": cost.value,
            "low": cost.low,
            "high": cost.high,
            "other_work_most_pct": cost.other_work_most_pct,
            "conditional_low": cost.conditional_low,
            "conditional_high": cost.conditional_high,
        }


def _per_day(intervals: pa.Table, name: str) -> float | None:
    """Return the mean of a column in 24 hours, over the intervals that have it."""
    known = intervals.filter(pc.is_valid(intervals[name]))
    seconds = pc.sum(known["seconds"]).as_py()
    return pc.sum(known[name]).as_py() / seconds * DAY_S if seconds else None


def change_rows(intervals: pa.Table) -> Iterator[dict[str, Any]]:
    """Yield a row for the change of the price, and for each part; one row with the reason if it is not known.

    The column `is_after` tells the intervals after the change from those before it.
    """
    is_after = intervals["is_after"]
    compared = compare_periods(
        system_intervals(intervals.filter(pc.invert(is_after))), system_intervals(intervals.filter(is_after))
    )
    of_change = {
        "status": compared.status.kind,
        "why": compared.status.why,
        "covered_pct": 100 * compared.covered_share,
        "cpu_source": compared.measured_in,
    }
    if not compared.changes:
        yield of_change
    for change in compared.changes:
        row = of_change | {
            "item": change.item,
            "unit": "s/day",
            "value": change.value,
            "low": change.low,
            "high": change.high,
            "smallest_visible": change.smallest_visible,
        }
        if change.item == "TLS":
            row |= {"before": compared.before, "after": compared.after}
        yield row


def system_intervals(rows: pa.Table) -> SystemIntervals:
    """Return the intervals of one system, from the columns of the step cost_interval."""

    def numbers(name: str) -> Numbers | None:
        if name in _OPTIONAL and (name not in rows.column_names or rows[name].null_count == len(rows)):
            return None
        return np.asarray(rows[name].cast(pa.float64()).to_numpy(), np.float64)

    start = rows["start_local"].cast(pa.timestamp("s"), safe=False).to_numpy()
    columns: dict[str, Any] = {name: numbers(name) for name in _COLUMNS}
    kinds_known = rows["full_handshakes"].null_count < len(rows)
    if not kinds_known:
        columns |= {"full_handshakes": numbers("handshakes"), "resumed_handshakes": np.zeros(len(rows))}
    return SystemIntervals(start_local=start, **columns, kinds_known=kinds_known)
