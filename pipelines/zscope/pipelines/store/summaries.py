"""Summaries: precomputed rows of intermediate steps of metrics, stored in the catalogue.

A step such as `handshake_hour` has few rows, however many connections the store has. Its rows are computed
once after each change of the store, and its view reads them, which makes all metrics over it fast for every
client. Summaries belong to one commit and are dropped with the next. Small stores have none, as the views
over the data are fast enough.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from zscope.pipelines.metrics import declared, needed, summary_names, view_sql
from zscope.pipelines.metrics.narrowing import prepared
from zscope.pipelines.store.parts import data_tables
from zscope.schemas.ddl import literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    import duckdb
    import pyarrow as pa

    from zscope.pipelines.store.commits import State

SUMMARIES = "summary"
"""Schema of the catalogue with the tables of the summaries."""


def needs_summaries(state: State, min_rows: int) -> bool:
    """Whether the tables that the summaries read have so many rows that metrics are slow without them."""
    tables = _summarised_tables()
    return sum(file.rows for file in state.files.values() if file.table in tables) >= min_rows


@cache
def _summarised_tables() -> frozenset[str]:
    read = frozenset(table for name in summary_names() for table in needed(name))
    return read & frozenset(data_tables())


def has_summaries(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether a catalogue has summaries."""
    schema = connection.execute(
        "SELECT 1 FROM duckdb_schemas() WHERE database_name = current_database() AND schema_name = ?",
        [SUMMARIES],
    )
    return schema.fetchone() is not None


def compute_summaries(connection: duckdb.DuckDBPyConnection) -> dict[str, pa.Table]:
    """Compute the rows of every summary from the views of a catalogue without summaries."""
    done: set[str] = set()
    for name in summary_names():
        for text in prepared(declared()[name], made=done):
            connection.execute(text)
        done.update(needed(name))
    return {
        name: connection.execute(f"SELECT * FROM temp.main.{name}").to_arrow_table()
        for name in summary_names()
    }


def write_summaries(connection: duckdb.DuckDBPyConnection, rows: Mapping[str, pa.Table]) -> None:
    """Write the rows to tables of a catalogue, and redefine the views to read them."""
    connection.execute("BEGIN")
    connection.execute(f"CREATE SCHEMA {SUMMARIES}")
    for name, table in rows.items():
        columns = ", ".join(f"{column.name} {column.type}" for column in declared()[name].view_columns)
        connection.execute(f"CREATE TABLE {SUMMARIES}.{name} ({columns})")
        connection.register("rows_to_copy", table)
        connection.execute(f"INSERT INTO {SUMMARIES}.{name} BY NAME SELECT * FROM rows_to_copy")
        connection.unregister("rows_to_copy")
        _make_view(connection, name, f"SELECT * FROM {SUMMARIES}.{name}")
    connection.execute("COMMIT")


def drop_summaries(connection: duckdb.DuckDBPyConnection) -> None:
    """Drop the summaries of a catalogue; its views read the data again."""
    for name in summary_names():
        _make_view(connection, name, view_sql(declared()[name]))
    connection.execute(f"DROP SCHEMA {SUMMARIES} CASCADE")


def _make_view(connection: duckdb.DuckDBPyConnection, name: str, sql: str) -> None:
    connection.execute(f"CREATE OR REPLACE VIEW {name} AS {sql}")
    connection.execute("; ".join(view_comments(name)))


def view_comments(name: str) -> list[str]:
    """Return the comments on the view of a metric or step."""
    metric = declared()[name]
    columns = [(f"COLUMN {name}.{column.name}", column.meaning) for column in metric.view_columns]
    return [
        f"COMMENT ON {item} IS {literal(text)}" for item, text in ((f"VIEW {name}", metric.meaning), *columns)
    ]
