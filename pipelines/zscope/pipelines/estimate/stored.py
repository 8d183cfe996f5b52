"""The estimates as rows of steps that the store keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from xxhash import xxh3_64_hexdigest

from zscope.pipelines.estimate.costs import estimate_costs
from zscope.pipelines.estimate.periods import compare_periods, split_price
from zscope.pipelines.estimate.statuses import Trusted
from zscope.pipelines.estimate.table import COSTS, cost_table, estimates, system_intervals

_ESTIMATES = pa.schema(
    [
        *COSTS,
        ("first_local", pa.timestamp("us")),
        ("last_local", pa.timestamp("us")),
        ("data_digest", pa.string()),
    ]
)
_OF_CHANGE = ("system", "changed_utc", "changed", "change")
_CHANGES = pa.schema(
    [
        ("system", pa.string()),
        ("changed_utc", pa.timestamp("us", "UTC")),
        ("changed", pa.string()),
        ("change", pa.string()),
        ("item", pa.string()),
        ("unit", pa.string()),
        ("status", pa.string()),
        ("why", pa.string()),
        ("value", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("smallest_visible", pa.float64()),
        ("before", pa.float64()),
        ("after", pa.float64()),
        ("by_costs", pa.float64()),
        ("by_number", pa.float64()),
        ("by_mix", pa.float64()),
        ("data_digest", pa.string()),
    ]
)


def cost_estimates(intervals: pa.Table, before: pa.Table | None) -> pa.Table:
    """Return the estimates of all systems; those whose intervals have not changed are taken from `before`."""

    def estimated(rows: pa.Table) -> pa.Table:
        costs = cost_table(estimates(rows))
        span = pc.min_max(rows["start_local"]).as_py()
        for name, value in (("first_local", span["min"]), ("last_local", span["max"])):
            field = _ESTIMATES.field(name)
            costs = costs.append_column(field, pa.repeat(pa.scalar(value, field.type), costs.num_rows))
        return costs

    return _by_group(intervals, ("system",), before, _ESTIMATES, estimated)


def cost_changes(intervals: pa.Table, before: pa.Table | None) -> pa.Table:
    """Return how far costs changed with each change of a system; known ones are taken from `before`."""
    return _by_group(intervals, _OF_CHANGE, before, _CHANGES, lambda rows: _table(list(_changes(rows))))


def _changes(rows: pa.Table) -> Iterator[dict[str, Any]]:
    """Yield how far the costs of a system differ before and after one change."""
    key = {name: rows[name][0].as_py() for name in _OF_CHANGE}
    is_after = rows["is_after"]
    old = estimate_costs(system_intervals(rows.filter(pc.invert(is_after))))
    new = estimate_costs(system_intervals(rows.filter(is_after)))
    found = compare_periods(old, new)
    if not found or old.fitted is None or new.fitted is None:
        refused = Trusted((*old.trusted.reasons, *new.trusted.reasons))
        yield key | {"item": None, "unit": None, "status": "refused", "why": refused.why}
        return
    for change in found:
        row = key | {
            "item": change.item,
            "unit": change.unit,
            "status": change.trusted.status,
            "why": change.trusted.why,
            "value": change.value,
            "low": change.low,
            "high": change.high,
            "smallest_visible": change.smallest_visible,
            "before": old.cost(change.item, change.unit).value,
            "after": new.cost(change.item, change.unit).value,
        }
        if change.item == "TLS":
            split = split_price(old.fitted, new.fitted)
            row |= {"by_costs": split.costs, "by_number": split.number, "by_mix": split.mix}
        yield row


def _table(rows: list[dict[str, Any]]) -> pa.Table:
    columns = {name: [row.get(name) for row in rows] for name in _CHANGES.names if name != "data_digest"}
    return pa.table(columns, pa.schema([field for field in _CHANGES if field.name != "data_digest"]))


def _by_group(
    intervals: pa.Table,
    key: tuple[str, ...],
    before: pa.Table | None,
    schema: pa.Schema,
    compute: Callable[[pa.Table], pa.Table],
) -> pa.Table:
    """Return the rows of each group of intervals; those of unchanged intervals are taken from `before`."""
    results = [schema.empty_table()]
    for group in intervals.select(key).group_by(list(key)).aggregate([]).sort_by(key[0]).to_pylist():
        same_group = pc.scalar(True)
        for name, value in group.items():
            same_group &= pc.field(name) == pa.scalar(value, intervals.schema.field(name).type)
        rows = intervals.filter(same_group).combine_chunks()
        digest = _digest(rows)
        known = before.filter(pc.field("data_digest") == digest) if before is not None else None
        if known is not None and known.num_rows:
            results.append(known.select(schema.names).cast(schema))
        else:
            made = compute(rows)
            digests = pa.repeat(pa.scalar(digest), made.num_rows)
            results.append(made.append_column("data_digest", digests).select(schema.names).cast(schema))
    return pa.concat_tables(results)


def _digest(rows: pa.Table) -> str:
    """Return a digest of the values, which does not depend on how they are laid out in memory."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows)
    return xxh3_64_hexdigest(sink.getvalue())
