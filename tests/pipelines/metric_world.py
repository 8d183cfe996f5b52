"""Tables with the few rows a case names, in an empty DuckDB, for the metrics to run on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import duckdb
import pyarrow as pa

from zscope.pipelines.metrics import declared, needed, view_sql
from zscope.pipelines.runs.table import RUN_SCHEMA
from zscope.pipelines.store.commits import State
from zscope.pipelines.store.history import history_tables
from zscope.pipelines.store.tables import kept_schema, kept_tables
from zscope.schemas.ddl import create_table
from zscope.schemas.reference import reference_tables
from zscope.schemas.stored import DAY

Row = Mapping[str, Any]
NULL = "NULL"
"""How a case writes that a column has no value, for which TOML has no word."""


@cache
def table_schema(name: str) -> pa.Schema:
    """The columns of a table as a catalogue has it, or of a metric as it is declared."""
    if name == "run":
        return RUN_SCHEMA
    if name in kept_tables():
        return pa.schema([*kept_schema(name), DAY])
    if name in reference_tables():
        return reference_tables()[name].schema
    return history_tables(State())[name].schema


def database(
    name: str, given: Mapping[str, Sequence[Row]], defaults: Mapping[str, Row] | None = None
) -> duckdb.DuckDBPyConnection:
    """A database in which a metric can run: the tables it rests on, with these rows, and the views between.

    Rows can be given for a step as well, which then is a table. Reference tables are filled as in a store.
    """
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    wanted = needed(name)
    if strange := sorted(set(given) - set(wanted)):
        raise LookupError(f"{name} does not read {', '.join(strange)}")
    for table in wanted:
        rows = [dict((defaults or {}).get(table, {})) | dict(row) for row in given.get(table, ())]
        if table in declared() and (table not in given or table == name):
            connection.execute(f"CREATE VIEW {table} AS {view_sql(declared()[table])}")
        elif table in declared():
            columns = ", ".join(f"{column.name} {column.type}" for column in declared()[table].view_columns)
            connection.execute(f"CREATE TABLE {table} ({columns})")
            _insert_loose(connection, table, rows)
        else:
            connection.execute(create_table(table, _loose(table_schema(table)))[0])
            if rows:
                insert(connection, table, rows)
            elif table in reference_tables():
                _append(connection, table, reference_tables()[table])
    return connection


def insert(connection: duckdb.DuckDBPyConnection, table: str, rows: Iterable[Row]) -> None:
    """Add rows to a table of the store; columns that a row does not name have no value."""
    schema = _loose(table_schema(table))
    complete = [_complete(table, schema.names, row) for row in rows]
    _append(connection, table, pa.Table.from_pylist(complete, schema))


def _insert_loose(connection: duckdb.DuckDBPyConnection, table: str, rows: Iterable[Row]) -> None:
    names = [column.name for column in declared()[table].view_columns]
    marks = ", ".join("?" for _ in names)
    for row in rows:
        complete = _complete(table, names, row)
        connection.execute(f"INSERT INTO {table} VALUES ({marks})", [complete[name] for name in names])


def _complete(table: str, names: Sequence[str], row: Row) -> dict[str, Any]:
    if strange := sorted(set(row) - set(names)):
        raise LookupError(f"{table} has no column {', '.join(strange)}")
    return {name: None if row.get(name) == NULL else row.get(name) for name in names}


def _append(connection: duckdb.DuckDBPyConnection, table: str, rows: pa.Table) -> None:
    connection.register("rows_to_copy", rows)
    connection.execute(f"INSERT INTO {table} BY NAME SELECT * FROM rows_to_copy")
    connection.unregister("rows_to_copy")


def _loose(schema: pa.Schema) -> pa.Schema:
    """The same columns, each of which may lack a value and is written as it is: no dictionaries."""
    return pa.schema([pa.field(field.name, _plain(field.type)) for field in schema])


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind
