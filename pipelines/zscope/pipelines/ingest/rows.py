"""Rows as readers deliver them become rows as the store keeps them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from zscope.pipelines.store.tables import kept_schema
from zscope.schemas.stored import LOAD_ID, local_clock, utc_clock

if TYPE_CHECKING:
    from zscope.pipelines.ingest.clocks import Clocks


def stored_rows(table: str, rows: pa.RecordBatch, load_id: int, clocks: Clocks) -> pa.RecordBatch:
    """Rows with the load they came by, and with their time in UTC where the zone of the system is known."""
    schema = kept_schema(table)
    local = local_clock(table)
    in_utc = utc_clock(local) if local else None
    columns = []
    for field in schema:
        if field.name == LOAD_ID.name:
            columns.append(pa.array(np.full(rows.num_rows, load_id, np.uint32)))
        elif field.name == in_utc and local and in_utc not in rows.schema.names:
            columns.append(_utc(rows, local, clocks))
        else:
            columns.append(rows.column(field.name))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _utc(rows: pa.RecordBatch, local: str, clocks: Clocks) -> pa.Array:
    # Reports can fill tables of records: their rows have no number that tells an order.
    if "record_no" in rows.schema.names and not rows["record_no"].null_count:
        return clocks.to_utc(rows["system"], rows[local], rows["record_no"])
    return clocks.to_utc_of_reports(rows["system"], rows[local])
