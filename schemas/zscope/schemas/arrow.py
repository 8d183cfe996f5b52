"""Arrow schemas of the declared tables, and the DuckDB statements that create them.

This is the only place that decides the type of a column.
"""

from __future__ import annotations

from functools import cache

import pyarrow as pa

from zscope.schemas.errors import DeclarationError
from zscope.schemas.load import catalog
from zscope.schemas.model import Field, Format
from zscope.schemas.reports import PrintedField, PrintedFormat, report_tables
from zscope.schemas.sql_text import literal
from zscope.schemas.tables import (
    DIGEST_TABLE,
    RAW_TABLE,
    RECORD_TABLE,
    TableColumn,
    record_table_names,
    table_columns,
)

TEXT = pa.string()
FEW_TEXTS = pa.dictionary(pa.int32(), pa.string())
LOCAL = pa.timestamp("us")
UTC = pa.timestamp("us", tz="UTC")

LONGEST_NUMBER = 8
"""Bytes of the longest number; one that extends to the end of its section can have any length up to it."""
_UNSIGNED = {1: pa.uint8(), 2: pa.uint16(), 3: pa.uint32(), 4: pa.uint32(), 8: pa.uint64()}
_SIGNED = {1: pa.int8(), 2: pa.int16(), 4: pa.int32(), 8: pa.int64()}
_FIXED: dict[Format, pa.DataType] = {
    Format.HEX: TEXT,
    Format.RAW: pa.binary(),
    Format.IP_MAPPED: FEW_TEXTS,
    Format.IP_FIRST4: FEW_TEXTS,
    Format.PACKED_SPAN: pa.uint64(),
    Format.PACKED_NUMBER: pa.int32(),
    Format.TOD: UTC,
    Format.TOD_LOCAL: LOCAL,
    Format.TOD_SPAN: pa.uint64(),
    Format.TOD_SPAN_SIGNED: pa.int64(),
    Format.HEX_FLOAT: pa.float64(),
    Format.CERT_TIME: UTC,
}
_PRINTED: dict[PrintedFormat, pa.DataType] = {
    PrintedFormat.COUNT: pa.uint64(),
    PrintedFormat.NUMBER: pa.float64(),
    PrintedFormat.HEX_NUMBER: pa.uint32(),
    PrintedFormat.HEX: TEXT,
    PrintedFormat.PORT: pa.uint16(),
    PrintedFormat.ADDRESS: FEW_TEXTS,
    PrintedFormat.YES_NO: pa.bool_(),
    PrintedFormat.TLS_VERSION: pa.uint16(),
    PrintedFormat.MEGABYTES: pa.uint64(),
    PrintedFormat.SPAN: pa.uint64(),
    PrintedFormat.TIME: LOCAL,
    PrintedFormat.MOMENT: UTC,
}
_NAMED = {
    "uint64": pa.uint64(),
    "uint32": pa.uint32(),
    "uint16": pa.uint16(),
    "uint8": pa.uint8(),
    "int8": pa.int8(),
    "int32": pa.int32(),
    "float64": pa.float64(),
    "bool": pa.bool_(),
    "local": LOCAL,
    "utc": UTC,
}


def arrow_type(field: Field | PrintedField) -> pa.DataType:
    """Return the Arrow type of a field's column.

    >>> from zscope.schemas import catalog
    >>> arrow_type(catalog().header.field("SMFxTME"))
    TimestampType(timestamp[us])
    """
    if isinstance(field, PrintedField):
        return _printed_type(field)
    match field.format:
        case Format.UINT | Format.BITS:
            length = field.widened or field.length or LONGEST_NUMBER
            return pa.uint64() if field.scale != 1 else _UNSIGNED[length]
        case Format.INT:
            return pa.int64() if field.scale != 1 else _SIGNED[field.length or 0]
        case Format.TEXT:
            return TEXT if field.many else FEW_TEXTS
        case Format.TIME_HUNDREDTHS | Format.PACKED_TIME:
            return UTC if field.column.endswith("_utc") else LOCAL
        case _:
            return _FIXED[field.format]


def _printed_type(field: PrintedField) -> pa.DataType:
    text = TEXT if field.many else FEW_TEXTS
    if field.type:
        return _NAMED[field.type]
    return _PRINTED.get(field.format, text)


def arrow_field(field: Field | PrintedField, *, nullable: bool, also: str = "") -> pa.Field:
    """Return an Arrow field with the vendor's name, the unit and the meaning in its metadata.

    `also` is the label in a report, where both records and reports have the column.
    """
    name = field.label if isinstance(field, PrintedField) else field.name
    details = {
        "meaning": field.meaning,
        "evidence": field.evidence.value,
        "vendor_name": ", ".join(part for part in (name, also) if part),
        "unit": field.unit,
        "codes": field.codes,
    }
    metadata = {key: value for key, value in details.items() if value}
    return pa.field(field.column, arrow_type(field), nullable=nullable, metadata=metadata)


@cache
def table_schema(table: str) -> pa.Schema:
    """Return the Arrow schema of a table.

    >>> table_schema("smf_record").field("record_no").type
    DataType(uint64)
    """
    fields = [column_field(table, column) for column in table_columns(table)]
    return pa.schema(fields, metadata={"table": table})


def column_field(table: str, column: TableColumn) -> pa.Field:
    """Return one field of a table's schema; all declarations of the column must agree on type and unit."""
    declared: list[Field | PrintedField] = []
    if column.from_records:
        declared = [column.from_records.field, *(field for _, field in column.from_records.others)]
    if column.from_reports:
        declared.append(column.from_reports)
    kinds = {f"{arrow_type(field)} {field.unit}".strip() for field in declared}
    if len(kinds) > 1:
        raise DeclarationError(table, column.name, f"is declared as {' and as '.join(sorted(kinds))}")
    also = column.from_reports.label if column.from_reports and column.from_records else ""
    return arrow_field(declared[0], nullable=not column.never_null, also=also)


_TYPES: dict[pa.DataType, str] = {
    pa.bool_(): "BOOLEAN",
    pa.int8(): "TINYINT",
    pa.int16(): "SMALLINT",
    pa.int32(): "INTEGER",
    pa.int64(): "BIGINT",
    pa.uint8(): "UTINYINT",
    pa.uint16(): "USMALLINT",
    pa.uint32(): "UINTEGER",
    pa.uint64(): "UBIGINT",
    pa.float64(): "DOUBLE",
    pa.date32(): "DATE",
    pa.string(): "VARCHAR",
    pa.binary(): "BLOB",
    pa.timestamp("us"): "TIMESTAMP",
    # A time known in UTC is an instant: like Arrow, DuckDB stores it in microseconds since 1970 in UTC. As a
    # plain TIMESTAMP it would look like a local time, and AT TIME ZONE would shift it the wrong way.
    pa.timestamp("us", tz="UTC"): "TIMESTAMP WITH TIME ZONE",
}


_STORED: dict[pa.DataType, pa.DataType] = {
    pa.int8(): pa.int32(),
    pa.int16(): pa.int32(),
    pa.uint8(): pa.int32(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.int64(),
}


def stored_type(arrow: pa.DataType) -> pa.DataType:
    """Return the type in which the store has the values of a column.

    Readers return integers as the records have them. The store has only signed integers of 4 and 8 bytes, as
    Iceberg and many readers of Parquet know no others.

    >>> stored_type(pa.uint16()), stored_type(pa.list_(pa.uint32())), stored_type(pa.string())
    (DataType(int32), ListType(list<item: int64>), DataType(string))
    """
    if pa.types.is_list(arrow):
        return pa.list_(stored_type(arrow.value_type))
    return _STORED.get(arrow, arrow)


def in_stored_types(schema: pa.Schema) -> pa.Schema:
    """Return the same columns in the types of the store.

    >>> in_stored_types(pa.schema([("port", pa.uint16())])).field("port").type
    DataType(int32)
    """
    return pa.schema([field.with_type(stored_type(field.type)) for field in schema], schema.metadata)


def duckdb_type(arrow: pa.DataType) -> str:
    """Return the DuckDB type of an Arrow type; a type that is not listed is an error.

    A dictionary-encoded column has the type of its values.

    >>> duckdb_type(pa.dictionary(pa.int32(), pa.string()))
    'VARCHAR'
    """
    if pa.types.is_dictionary(arrow):
        return duckdb_type(arrow.value_type)
    if pa.types.is_list(arrow):
        return f"{duckdb_type(arrow.value_type)}[]"
    try:
        return _TYPES[arrow]
    except KeyError:
        raise TypeError(f"no DuckDB type is declared for the Arrow type {arrow}") from None


def create_table(name: str, schema: pa.Schema, meaning: str = "") -> list[str]:
    """Return the statements that create a table and comment on it and its columns.

    The default for the meaning of the table is in the metadata of the schema.

    >>> create_table("t", pa.schema([pa.field("wait_us", pa.uint64(), nullable=False)]))
    ['CREATE TABLE t (\\n    wait_us UBIGINT NOT NULL\\n)']
    """
    columns = (
        f"{field.name} {duckdb_type(field.type)}{'' if field.nullable else ' NOT NULL'}" for field in schema
    )
    statements = [f"CREATE TABLE {name} (\n    " + ",\n    ".join(columns) + "\n)"]
    meaning = meaning or (schema.metadata or {}).get(b"meaning", b"").decode()
    if meaning:
        statements.append(f"COMMENT ON TABLE {name} IS {literal(meaning)}")
    comments = ((field.name, column_comment(field)) for field in schema)
    statements += [
        f"COMMENT ON COLUMN {name}.{column} IS {literal(text)}" for column, text in comments if text
    ]
    return statements


def column_comment(field: pa.Field) -> str:
    """Return the comment for a column: meaning, vendor's name, unit and code table."""
    metadata = {key.decode(): value.decode() for key, value in (field.metadata or {}).items()}
    if "meaning" not in metadata:
        return ""
    details = [metadata.get("vendor_name", "")]
    if unit := metadata.get("unit"):
        details.append(f"unit {unit}")
    if codes := metadata.get("codes"):
        details.append(f"codes in code_{codes}")
    text = ", ".join(detail for detail in details if detail)
    return f"{metadata['meaning']} [{text}]" if text else metadata["meaning"]


_MEANINGS = {
    RECORD_TABLE: "One row per record of any type: its standard header.",
    RAW_TABLE: "One row per record without a layout, and per section without a layout: its bytes.",
    DIGEST_TABLE: "One row per record of any type: a digest by which duplicate records are recognised.",
}


def table_meaning(table: str) -> str:
    """Return the meaning of a table: what one row is."""
    if table in record_table_names():
        return _MEANINGS.get(table) or catalog().table(table)[1].meaning
    return report_tables()[table].meaning
