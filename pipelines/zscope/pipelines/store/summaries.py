"""Summaries: the rows of steps that many answers rest on, kept in the catalogue.

A step such as `handshake_hour` has few rows, however many connections the store has. After a change of the
store they are worked out once, and its view reads them: all that rests on it answers at once, for commands,
the dashboard and any other client. They are of the commit that the catalogue is about and go with it. Small
stores do without: there the views over the data are quick enough.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from zscope.pipelines.metrics import declared, needed, summary_names, view_sql
from zscope.pipelines.metrics.narrowing import prepared
from zscope.schemas.ddl import literal

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from zscope.pipelines.store.commits import State

SUMMARIES = "summary"
"""Schema of the catalogue with their rows."""
_EVENTS = "smf119_"
"""Tables of which there are millions of rows."""


def worth_it(state: State, least_rows: int) -> bool:
    """Whether a store is so big that its answers take noticeably long without summaries."""
    return sum(file.rows for file in state.files.values() if file.table.startswith(_EVENTS)) >= least_rows


def has_summaries(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether a catalogue has them."""
    found = connection.execute(
        "SELECT 1 FROM duckdb_schemas() WHERE database_name = current_database() AND schema_name = ?",
        [SUMMARIES],
    )
    return found.fetchone() is not None


def worked_out(connection: duckdb.DuckDBPyConnection) -> dict[str, pa.Table]:
    """The rows of every summary, from the views of a catalogue without any."""
    made: set[str] = set()
    for name in summary_names():
        for text in prepared(declared()[name], made=made):
            connection.execute(text)
        made.update(needed(name))
    return {
        name: connection.execute(f"SELECT * FROM temp.main.{name}").to_arrow_table()
        for name in summary_names()
    }


def keep_summaries(connection: duckdb.DuckDBPyConnection, rows: Mapping[str, pa.Table]) -> None:
    """Write the rows into a catalogue, and let the views read them."""
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
    """Take them out of a catalogue: its views read the data again."""
    for name in summary_names():
        _make_view(connection, name, view_sql(declared()[name]))
    connection.execute(f"DROP SCHEMA {SUMMARIES} CASCADE")


def _make_view(connection: duckdb.DuckDBPyConnection, name: str, sql: str) -> None:
    connection.execute(f"CREATE OR REPLACE VIEW {name} AS {sql}")
    connection.execute("; ".join(view_comments(name)))


def view_comments(name: str) -> list[str]:
    """The statements that explain the view of a metric or step."""
    metric = declared()[name]
    told = [(f"COLUMN {name}.{column.name}", column.meaning) for column in metric.view_columns]
    return [
        f"COMMENT ON {what} IS {literal(text)}" for what, text in ((f"VIEW {name}", metric.meaning), *told)
    ]
