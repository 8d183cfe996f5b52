"""Rows with the extreme values of each type in files of the store, and how two readers are compared."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from zscope.pipelines.store.parquet_files import open_writer, parquet_schema

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = (
    "",
    "Grüße ÄÖÜß€ 日本語 \U0001f510",
    "a\x00b\t\n\r'\"\\;%s{}<b>",
    "  blanks  ",
    "e\u0301 \u202e\ufffd",
)
TIMES = (
    datetime(1970, 1, 1, 0, 0, 0, 1, UTC),
    datetime(2026, 3, 29, 2, 30, 0, 999_999, UTC),
    datetime(2999, 12, 31, 23, 59, 59, 999_999, UTC),
    datetime(1900, 1, 1, tzinfo=UTC),
    datetime(2042, 9, 17, 23, 53, 47, 370_495, UTC),
)
VALUES: dict[pa.DataType, tuple[Any, ...]] = {
    pa.int32(): (-(2**31), 2**31 - 1, 0, -1, 65_535),
    pa.int64(): (-(2**63), 2**63 - 1, 0, 2**53 + 1, 2**32),
    pa.float64(): (-1.7976931348623157e308, 1.7976931348623157e308, 5e-324, -0.0, 0.1),
    pa.bool_(): (False, True, True, False, True),
    pa.string(): TEXTS,
    pa.binary(): (b"", b"\x00\xff", bytes(range(256)), b"\xc3\x28", b"text"),
    pa.date32(): (
        date(1900, 1, 1),
        date(2999, 12, 31),
        date(1970, 1, 1),
        date(2024, 2, 29),
        date(2026, 3, 2),
    ),
    pa.timestamp("us"): tuple(time.replace(tzinfo=None) for time in TIMES),
    pa.timestamp("us", "UTC"): TIMES,
}


def plain_type(kind: pa.DataType) -> pa.DataType:
    """Return the type of values; the types that readers have for long texts and bytes are the usual ones."""
    if pa.types.is_dictionary(kind):
        return plain_type(kind.value_type)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(plain_type(kind.value_type))
    if kind in {pa.large_string(), pa.string_view()}:
        return pa.string()
    return pa.binary() if kind in {pa.large_binary(), pa.binary_view()} else kind


def plain(rows: pa.Table) -> pa.Table:
    """Return rows with types of which there is one for each kind of values, to compare two readers."""
    schema = pa.schema([(field.name, plain_type(field.type)) for field in rows.schema])
    return rows.cast(schema).combine_chunks()


def extreme_rows(schema: pa.Schema) -> pa.Table:
    """Return rows with extreme values, and one of nulls where a column can have them."""
    columns = []
    for field in schema:
        kind = plain_type(field.type)
        if pa.types.is_list(kind):
            each = VALUES[kind.value_type]
            values: list[Any] = [list(each), [], [each[0]], [None, each[1]], [each[2]] * 3]
        else:
            values = list(VALUES[kind])
        columns.append(pa.array([*values, None if field.nullable else values[0]], kind).cast(field.type))
    return pa.Table.from_arrays(columns, schema=schema)


def write_extremes(table: str, path: Path) -> pa.Table:
    """Write extreme rows of a table with the writer of the store, and return them."""
    rows = extreme_rows(parquet_schema(table))
    with open_writer(path, parquet_schema(table)) as writer:
        writer.write_table(rows)
    return plain(rows)
