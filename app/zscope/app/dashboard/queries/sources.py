"""Which sources the store has, of which systems, and what the missing ones would be good for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from zscope.pipelines.metrics import metric_names, needed
from zscope.pipelines.store.tables import data_tables, kept_meaning

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Data

THERE, MISSING = "● there", "✕ missing"
_KINDS = 30
_SYSTEMS = 40


def by_table(data: Data) -> pa.Table:
    """Each table of decoded data: whether it has rows, and which metrics read it; missing ones first."""
    brought = data.rows("SELECT table_name, sum(rows)::BIGINT AS rows FROM load_table GROUP BY table_name")
    rows = {row["table_name"]: row["rows"] for row in brought.to_pylist()}
    origins = data.rows("""
        SELECT table_name, string_agg(DISTINCT record, ', ') AS origin
        FROM field_catalog WHERE record <> 'store' GROUP BY table_name
    """)
    origin = {row["table_name"]: row["origin"] for row in origins.to_pylist()}
    readers = {table: [name for name in metric_names() if table in needed(name)] for table in data_tables()}
    found: list[dict[str, Any]] = [
        {
            "state": THERE if rows.get(table) else MISSING,
            "table_name": table,
            "origin": origin.get(table),
            "rows": rows.get(table, 0),
            "meaning": kept_meaning(table),
            "metrics": readers[table],
            "to_load": f"zscope ingest PATH --select {table}",
        }
        for table in data_tables()
    ]
    found.sort(key=lambda row: (row["state"] == THERE, -len(readers[row["table_name"]])))
    return pa.Table.from_pylist(found, _SCHEMA)


_SCHEMA = pa.schema(
    [
        ("state", pa.string()),
        ("table_name", pa.string()),
        ("origin", pa.string()),
        ("rows", pa.int64()),
        ("meaning", pa.string()),
        ("metrics", pa.list_(pa.string())),
        ("to_load", pa.string()),
    ]
)


def by_system(data: Data) -> pa.Table:
    """How many records or reports of the commonest kinds the files have of each system."""
    return data.rows(f"""
        WITH counted AS (
            SELECT coalesce(system, 'no system') AS system,
                coalesce(report, concat('SMF ', record_type, coalesce('-' || record_subtype, ''))) AS kind,
                sum(records)::BIGINT AS records
            FROM load_kind GROUP BY ALL
        ),
        kinds AS (SELECT kind FROM counted GROUP BY kind ORDER BY sum(records) DESC, kind LIMIT {_KINDS}),
        systems AS (
            SELECT system FROM counted GROUP BY system ORDER BY sum(records) DESC, system LIMIT {_SYSTEMS}
        )
        SELECT * FROM counted SEMI JOIN kinds USING (kind) SEMI JOIN systems USING (system)
        ORDER BY system, kind
    """)
