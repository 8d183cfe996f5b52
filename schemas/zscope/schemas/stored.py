"""The tables as the store keeps them: those of the readers, and what only a load can add.

A load knows which one it is, and on which clock the systems run. So every stored row says by which load it
came, and where the readers give the local time of the writing system, the moment in UTC stands behind it.
"""

from __future__ import annotations

from functools import cache

import pyarrow as pa

from zscope.schemas.arrow import UTC, table_schema
from zscope.schemas.ddl import duckdb_type
from zscope.schemas.field_catalog import FIELD_CATALOG_SCHEMA
from zscope.schemas.tables import ANY_RECORD_TABLES, DIGEST_TABLE, table_names

_CLOCKS = ("written_local", "taken_local", "interval_start_local")
"""Columns that say when a row was made, the best first: SMF rows of an interval have two."""
STORE = "store"
"""In place of a record or report in the field catalogue."""
LOAD_ID = pa.field(
    "load_id",
    pa.uint32(),
    nullable=False,
    metadata={"meaning": "Number of the load that brought the row; table load says which file it was."},
)
DAY = pa.field(
    "day",
    pa.date32(),
    metadata={
        "meaning": "Day the row is filed under: of its local time; null where the row has no date. "
        "Conditions on it spare the reading of all other days."
    },
)
"""A part of the path, not of the files."""


@cache
def local_clock(table: str) -> str | None:
    """The column with the local time by which the rows of a table are filed.

    >>> local_clock("smf119_zert_detail"), local_clock("netstat_conn"), local_clock("rmf_cpu")
    ('written_local', 'taken_local', 'interval_start_local')
    """
    names = table_schema(table).names
    return next((name for name in _CLOCKS if name in names), None)


def utc_clock(local: str) -> str:
    """The column with the same moment in UTC.

    >>> utc_clock("written_local")
    'written_utc'
    """
    return local.removesuffix("_local") + "_utc"


@cache
def stored_schema(table: str) -> pa.Schema:
    """The schema of the files that hold a table.

    >>> stored_schema("netstat_conn").names[:3], "taken_utc" in stored_schema("netstat_conn").names
    (['load_id', 'file', 'line_no'], True)
    """
    schema = table_schema(table)
    fields = [LOAD_ID]
    for field in schema:
        fields.append(field)
        if field.name == local_clock(table) and table != DIGEST_TABLE:
            fields.append(_in_utc(field))
    return pa.schema(fields, schema.metadata)


@cache
def added_columns() -> pa.Table:
    """What only the store adds to each table, as rows of the field catalogue.

    >>> rows = added_columns().to_pylist()
    >>> [row["column_name"] for row in rows if row["table_name"] == "netstat_conn"]
    ['load_id', 'taken_utc', 'day']
    """
    rows = []
    for table in table_names():
        if table in ANY_RECORD_TABLES and table != DIGEST_TABLE:
            continue
        known = set(table_schema(table).names)
        for field in (*stored_schema(table), DAY):
            if field.name not in known:
                row = {
                    "table_name": table,
                    "column_name": field.name,
                    "record": STORE,
                    "arrow_type": str(field.type),
                    "duckdb_type": duckdb_type(field.type),
                    "meaning": field.metadata[b"meaning"].decode(),
                }
                rows.append(row)
    return pa.Table.from_pylist(rows, FIELD_CATALOG_SCHEMA)


def _in_utc(local: pa.Field) -> pa.Field:
    meaning = (
        f"The moment of {local.name} in UTC; null where the time zone of the system is not known, or where "
        "the clock showed that time twice and nothing tells which of the two it was."
    )
    return pa.field(utc_clock(local.name), UTC, metadata={"meaning": meaning})
