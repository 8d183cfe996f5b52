"""The rows of the steps `cost_estimate` and `cost_change`, computed from the intervals of one system."""

from __future__ import annotations

from dataclasses import asdict, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zscope.pipelines.estimate.costs import estimate_costs
from zscope.pipelines.estimate.intervals import DAY_S, JOB_COLUMNS, SystemIntervals
from zscope.pipelines.estimate.jobs import estimate_jobs
from zscope.pipelines.estimate.periods import compare_periods

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.pipelines.estimate.intervals import Numbers
    from zscope.pipelines.estimate.stated_costs import TlsCost

_BESIDE = ("tls_spaces_cpu_s", "tls_spaces_ziip_s", "tls_classes_cpu_s")
"""Columns whose mean per day is stored with the estimate."""
_OPTIONAL = {each.name for each in fields(SystemIntervals) if each.default is None}
_NO_COLUMNS = {"start_local", "jobs", "kinds_known"}
_COLUMNS = [each.name for each in fields(SystemIntervals) if each.name not in _NO_COLUMNS]


def estimate_rows(intervals: pa.Table) -> Iterator[dict[str, Any]]:
    """Yield a row for each cost and each part of the price of a system, and for each part of that of its
    jobs.
    """
    names, jobs = _jobs(intervals)
    result = estimate_costs(replace(system_intervals(intervals), jobs=jobs))
    # Intervals whose handshakes are not known show how much of the time is left out.
    known = intervals.filter(pc.is_valid(intervals["handshakes"]))
    time = pc.min_max((known if len(known) else intervals)["start_local"]).as_py()
    of_data: dict[str, Any] = {
        "interval_s": result.step_s,
        "intervals": result.steps,
        "days": result.days,
        "covered_pct": 100 * result.covered_share,
        "first_local": time["min"],
        "last_local": time["max"],
        "handshake_source": intervals["handshake_source"][0].as_py(),
    }
    of_system: dict[str, Any] = {f"{name}_per_day": _per_day(intervals, name) for name in _BESIDE}
    if per_day := result.per_day:
        of_system |= {f"{name}_per_day": number for name, number in asdict(per_day).items()}
    fitted = result.fitted
    if fitted:
        of_data["cpu_source"] = "LPAR" if fitted.attribution.charged_to is None else "address spaces with TLS"
        of_system |= {
            "time_effects_pct": 100 * fitted.levels.time_share,
            "tls_pct": 100 * fitted.levels.explained_share,
            "outlier_pct": fitted.levels.outlier_pct,
            "residual_autocorrelation": fitted.levels.residual_autocorrelation,
            "charged_to": fitted.attribution.charged_to,
        }
    for cost in result.costs:
        yield of_data | of_system | {"job_name": None} | _of_cost(cost)
    if fitted is None or result.status.kind == "not enough data":
        return
    for job in estimate_jobs(fitted, names):
        of_job = {
            "job_name": job.name,
            "handshakes_per_day": job.handshakes_per_day,
            "charged_to": job.fitted and job.fitted.attribution.charged_to,
        }
        for cost in job.costs:
            yield of_data | of_job | _of_cost(cost)


def _of_cost(cost: TlsCost) -> dict[str, Any]:
    return {
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


def _jobs(intervals: pa.Table) -> tuple[list[str], Numbers | None]:
    """Return the names of the jobs, and what they do in each interval: `JOB_COLUMNS`. None without jobs.

    A job that an interval does not name had no connection in it, and its CPU time is not known.
    """
    lists = intervals["jobs"].combine_chunks()
    rows = lists.flatten()
    name = pc.struct_field(rows, "job_name").dictionary_encode()
    names: list[str] = name.dictionary.to_pylist()
    if not names:
        return names, None
    jobs = np.zeros((len(intervals), len(names), len(JOB_COLUMNS)))
    jobs[:, :, JOB_COLUMNS.index("cpu_s")] = np.nan
    columns = [pc.struct_field(rows, column).to_numpy(zero_copy_only=False) for column in JOB_COLUMNS]
    at = pc.list_parent_indices(lists).to_numpy(), name.indices.to_numpy(zero_copy_only=False)
    jobs[at] = np.stack(columns, axis=1)
    return names, jobs


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
