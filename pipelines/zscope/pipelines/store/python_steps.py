"""The rows of steps that are computed in Python from the rows that their SQL returns.

They are computed group by group, for example for each system. The rows of a group are computed again only if
a digest of its input has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from xxhash import xxh3_64_hexdigest

from zscope.pipelines.metrics import DIGEST_COLUMN

if TYPE_CHECKING:
    from zscope.pipelines.metrics import Metric

ComputeRows = Callable[[pa.Table], Iterable[Mapping[str, Any]]]
"""Returns the rows of one group, without the columns of the group and of the digest."""


def computed_rows(metric: Metric, inputs: pa.Table, schema: pa.Schema, stored: pa.Table | None) -> pa.Table:
    """Return the rows of a step from those that its SQL returns, and from those that are stored already."""
    module, _, name = metric.computed_by.partition(":")
    compute: ComputeRows = getattr(import_module(module), name)
    key = list(metric.computed_for)
    tables = [schema.empty_table()]
    for group in inputs.select(key).group_by(key).aggregate([]).sort_by(key[0]).to_pylist():
        of_group = pc.scalar(True)
        for column, value in group.items():
            of_group &= pc.field(column) == pa.scalar(value, inputs.schema.field(column).type)
        rows = inputs.filter(of_group).combine_chunks()
        digest = _digest(rows)
        known = stored.filter(pc.field(DIGEST_COLUMN) == digest) if stored is not None else None
        if known is not None and known.num_rows:
            tables.append(known.select(schema.names).cast(schema))
        else:
            same = group | {DIGEST_COLUMN: digest}
            tables.append(pa.Table.from_pylist([{**same, **row} for row in compute(rows)], schema=schema))
    return pa.concat_tables(tables)


def _digest(rows: pa.Table) -> str:
    """Return a digest of the values, which does not depend on how they are laid out in memory."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows)
    return xxh3_64_hexdigest(sink.getvalue())
