"""Rows of readers and of older files in the columns of the store.

Readers return unsigned integers where records have them, and files written by zscope 0.1 contain them. The
store has signed integers: a number that is too great for them becomes null, and a digest keeps its bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from zscope.pipelines.store.parquet_files import file_schema
from zscope.schemas.arrow import duckdb_type
from zscope.schemas.stored import DIGEST, GREATEST_INTEGER

if TYPE_CHECKING:
    from collections.abc import Iterable

_OVER = GREATEST_INTEGER + 1


def stored_values(values: pa.Array, field: pa.Field) -> pa.Array:
    """Return the values of a column in the type of the store; numbers that are too great become null.

    >>> stored_values(pa.array([5, 2**63], pa.uint64()), pa.field("in_bytes", pa.int64())).to_pylist()
    [5, None]
    """
    if values.type == field.type:
        return values
    if values.type != pa.uint64():
        return values.cast(field.type)
    if field.name != DIGEST and (pc.max(values).as_py() or 0) > GREATEST_INTEGER:
        fits = pc.less_equal(values, pa.scalar(GREATEST_INTEGER, pa.uint64()))
        values = pc.if_else(fits, values, pa.scalar(None, pa.uint64()))
    return values.view(field.type)


def rewritten_schema(table: str, sources: Iterable[pa.Schema]) -> pa.Schema:
    """Return the columns for writing rows of files again.

    A required column can be null if a file does not have it, or has nulls for rows that did not.
    """
    required = {field.name for field in file_schema(table) if not field.nullable}
    for source in sources:
        required &= {field.name for field in source if not field.nullable}
    fields = [field.with_nullable(field.name not in required) for field in file_schema(table)]
    return pa.schema(fields, file_schema(table).metadata)


def in_current_columns(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return rows of a file with the columns and types of a schema.

    The file can be from another version of zscope: nulls take the place of missing columns.
    """
    if rows.schema.equals(schema):
        return rows
    columns = [
        _current(rows[field.name], field)
        if field.name in rows.column_names
        else pa.nulls(rows.num_rows, field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def _current(column: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
    return pa.chunked_array([stored_values(chunk, field) for chunk in column.chunks], field.type)


def column_sql(field: pa.Field, kind: pa.DataType | None) -> str:
    """Return the expression for a column of an older file, in which it has the given type or is missing.

    >>> column_sql(pa.field("in_bytes", pa.int64()), pa.uint64())
    'TRY_CAST(in_bytes AS BIGINT) AS in_bytes'
    """
    name, wanted = field.name, duckdb_type(field.type)
    if kind is None:
        return f"CAST(NULL AS {wanted}) AS {name}"
    if kind != pa.uint64() or field.type != pa.int64():
        return f"CAST({name} AS {wanted}) AS {name}"
    if name == DIGEST:
        signed = f"CASE WHEN {name} < {_OVER} THEN {name}::HUGEINT ELSE {name}::HUGEINT - {2 * _OVER} END"
        return f"CAST({signed} AS BIGINT) AS {name}"
    return f"TRY_CAST({name} AS {wanted}) AS {name}"
