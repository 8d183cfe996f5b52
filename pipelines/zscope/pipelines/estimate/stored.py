"""The estimates as rows of a step that the store keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from xxhash import xxh3_64_hexdigest

from zscope.pipelines.estimate.table import COSTS, cost_table, estimates

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROWS = pa.schema(
    [
        *COSTS,
        ("first_local", pa.timestamp("us")),
        ("last_local", pa.timestamp("us")),
        ("data_digest", pa.string()),
    ]
)


def cost_estimates(intervals: pa.Table, before: pa.Table | None) -> pa.Table:
    """Return the estimates of all systems; those whose intervals have not changed are taken from `before`."""
    return pa.concat_tables([_ROWS.empty_table(), *_by_system(intervals, before)])


def _by_system(intervals: pa.Table, before: pa.Table | None) -> Iterator[pa.Table]:
    for system in sorted(pc.unique(intervals["system"]).to_pylist()):
        rows = intervals.filter(pc.equal(intervals["system"], system)).combine_chunks()
        digest = _digest(rows)
        if before is not None:
            same = pc.and_(pc.equal(before["system"], system), pc.equal(before["data_digest"], digest))
            if (known := before.filter(same)).num_rows:
                yield known.select(_ROWS.names).cast(_ROWS)
                continue
        costs = cost_table(estimates(rows))
        span = pc.min_max(rows["start_local"]).as_py()
        for name, value in (
            ("first_local", span["min"]), ("last_local", span["max"]), ("data_digest", digest)
        ):  # fmt: skip
            field = _ROWS.field(name)
            costs = costs.append_column(field, pa.repeat(pa.scalar(value, field.type), costs.num_rows))
        yield costs.cast(_ROWS)


def _digest(rows: pa.Table) -> str:
    """Return a digest of the values, which do not depend on how they are laid out in memory."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows)
    return xxh3_64_hexdigest(sink.getvalue())
