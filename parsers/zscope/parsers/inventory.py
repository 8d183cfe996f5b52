"""The table in which every kind of input is counted."""

from __future__ import annotations

import pyarrow as pa

from zscope.schemas.arrow import LOCAL

INVENTORY_SCHEMA = pa.schema(
    [
        ("file", pa.string()),
        ("kind", pa.string()),
        ("packing", pa.string()),
        ("framing", pa.string()),
        ("system", pa.string()),
        ("report", pa.string()),
        ("source", pa.string()),
        ("record_type", pa.uint8()),
        ("record_subtype", pa.uint16()),
        ("records", pa.uint64()),
        ("spanned", pa.uint64()),
        ("percent", pa.float64()),
        ("total_bytes", pa.uint64()),
        ("min_bytes", pa.uint32()),
        ("avg_bytes", pa.float64()),
        ("max_bytes", pa.uint32()),
        ("first_local", LOCAL),
        ("last_local", LOCAL),
    ]
)
"""`records` counts records of a dump and reports of a text; what one kind does not have is null."""
