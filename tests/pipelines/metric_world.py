"""A catalogue in memory with the few rows that a test names, for the metrics to read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import duckdb
import pyarrow as pa

from zscope.pipelines.metrics import declared, macros_sql, needed, view_sql
from zscope.pipelines.metrics.catalogue_views import creating_views
from zscope.pipelines.runs.read import RUN_SCHEMA
from zscope.pipelines.store.history import HISTORY_SCHEMAS
from zscope.pipelines.store.parquet_files import parquet_schema, parquet_tables
from zscope.schemas.arrow import create_table
from zscope.schemas.reference import reference_tables
from zscope.schemas.stored import DAY

Row = Mapping[str, Any]


@cache
def table_schema(name: str) -> pa.Schema:
    """The columns of a table as a catalogue has it, or of a metric as it is declared."""
    if name == "run":
        return RUN_SCHEMA
    if name in parquet_tables():
        return pa.schema([*parquet_schema(name), DAY])
    if name in reference_tables():
        return reference_tables()[name].schema
    return HISTORY_SCHEMAS[name]


@cache
def catalogue(*, layered: bool = False) -> duckdb.DuckDBPyConnection:
    """The catalogue of a store without data, in memory: empty tables, filled reference tables, all views.

    It is built once. Cases work on a cursor of it, in a transaction that is rolled back. A `layered` one has
    views that read the views below them, for cases that replace a step.
    """
    connection = duckdb.connect(config={"threads": "1"})  # for a few rows, several only cost time
    connection.execute(macros_sql())
    for table in (*parquet_tables(), *HISTORY_SCHEMAS, "run", *reference_tables()):
        connection.execute(create_table(table, without_dictionaries(table_schema(table)))[0])
    for table, rows in reference_tables().items():
        _append(connection, table, rows)
    for statement in creating_views(view_sql if layered else None):
        connection.execute(statement)
    return connection


def database(name: str, given: Mapping[str, Sequence[Row]]) -> duckdb.DuckDBPyConnection:
    layered = not (given.keys() - {name}).isdisjoint(declared())
    try:
        return _database(catalogue(layered=layered), name, given)
    except duckdb.TransactionException:  # a fixture has changed the same table and is still open
        return _database(catalogue.__wrapped__(layered=layered), name, given)


def _database(
    shared: duckdb.DuckDBPyConnection,
    name: str,
    given: Mapping[str, Sequence[Row]],
) -> duckdb.DuckDBPyConnection:
    """A database in which a metric can run: the tables it depends on with these rows, and the views between.

    Rows can be given for a step as well, which then is a table. Rows of a reference table replace its own.
    Close the connection to undo everything.
    """
    if unread := sorted(set(given) - set(needed(name))):
        raise LookupError(f"{name} does not read {', '.join(unread)}")
    connection = shared.cursor()
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute("BEGIN")
    for table, rows in given.items():
        if table in declared() and table != name:
            columns = ", ".join(f"{column.name} {column.type}" for column in declared()[table].view_columns)
            connection.execute(f"DROP VIEW {table}")
            connection.execute(f"CREATE TABLE {table} ({columns})")
            _insert_loose(connection, table, rows)
        elif table not in declared() and rows:
            if table in reference_tables():
                connection.execute(f"DELETE FROM {table}")
            insert(connection, table, rows)
    return connection


def insert(connection: duckdb.DuckDBPyConnection, table: str, rows: Iterable[Row]) -> None:
    """Add rows to a table of the store; columns that a row does not name have no value."""
    schema = without_dictionaries(table_schema(table))
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
    return {name: row.get(name) for name in names}


def _append(connection: duckdb.DuckDBPyConnection, table: str, rows: pa.Table) -> None:
    connection.register("rows_to_copy", rows)
    connection.execute(f"INSERT INTO {table} BY NAME SELECT * FROM rows_to_copy")
    connection.unregister("rows_to_copy")


def without_dictionaries(schema: pa.Schema) -> pa.Schema:
    """The same columns, each of which may lack a value and is written as it is: no dictionaries."""
    return pa.schema([pa.field(field.name, _plain(field.type)) for field in schema])


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind
