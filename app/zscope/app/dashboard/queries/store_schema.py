"""The tables and columns that statements can ask for, with their meanings."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.answers import Data

MOST = 500
_OURS = "NOT internal AND schema_name = 'main' AND database_name = current_database()"
_OWN = ("zscope_store", "zscope_view")
"""What the catalogue keeps about itself."""


def tables(data: Data, wanted: str) -> pa.Table:
    """The tables and views whose name or meaning, or that of a column, has a text in it."""
    return data.rows(
        f"""
        WITH named AS (
            SELECT view_name AS table_name, comment AS meaning FROM duckdb_views() WHERE {_OURS}
            UNION ALL
            SELECT table_name, comment AS meaning FROM duckdb_tables() WHERE {_OURS}
        )
        SELECT table_name, meaning,
            table_name ILIKE $1 ESCAPE '\\' OR coalesce(meaning, '') ILIKE $1 ESCAPE '\\' AS by_itself
        FROM named
        WHERE table_name NOT IN {_OWN} AND (by_itself OR table_name IN (
            SELECT table_name FROM duckdb_columns()
            WHERE {_OURS} AND concat_ws(' ', column_name, comment) ILIKE $1 ESCAPE '\\'
        ))
        ORDER BY by_itself DESC, table_name LIMIT {MOST}
        """,
        [_pattern(wanted)],
    ).drop_columns(["by_itself"])


def columns(data: Data, table: str) -> pa.Table:
    """The columns of a table in their order."""
    return data.rows(
        f"""
        SELECT column_name, lower(data_type) AS data_type, comment AS meaning FROM duckdb_columns()
        WHERE {_OURS} AND table_name = ? ORDER BY column_index LIMIT {MOST}
        """,
        [table],
    )


def _pattern(wanted: str) -> str:
    """A text as LIKE looks for it anywhere; what means something there stands for itself.

    >>> _pattern("in_bytes")
    '%in\\\\_bytes%'
    """
    for special in "\\%_":
        wanted = wanted.replace(special, f"\\{special}")
    return f"%{wanted}%"
