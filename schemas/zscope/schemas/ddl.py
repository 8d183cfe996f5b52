"""Tables of the store as DuckDB statements, derived from the Arrow schemas."""

from __future__ import annotations

import pyarrow as pa

from zscope.schemas.arrow import table_schema
from zscope.schemas.load import catalog
from zscope.schemas.reports import report_tables
from zscope.schemas.tables import DIGEST_TABLE, RAW_TABLE, RECORD_TABLE, record_table_names

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


def table_ddl(table: str) -> list[str]:
    """Return the statements for one table of decoded data."""
    return create_table(table, table_schema(table), table_meaning(table))


def literal(text: str) -> str:
    """Return a text as an SQL literal.

    >>> literal("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"
