"""Stores whose catalogue has a few tables and no metrics, for tests of files, commits and processes.

A catalogue with all metrics has nine megabytes, and each change of a store opens it several times. Such tests
take a quarter of the time without the metrics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zscope.pipelines.metrics.running_totals import visible_rows_sql
from zscope.pipelines.store import catalogue
from zscope.schemas.catalogue_schemas import FILES, RAW

if TYPE_CHECKING:
    import duckdb
    import pytest

    from zscope.pipelines.store.commits import State
    from zscope.pipelines.store.folder import Folder

TABLES = ("smf119_tcp_init", "netstat_config", "netstat_conn", "netstat_ttls")
"""The tables of decoded data of most tests that change a store again and again."""
_ALWAYS = ("record_digest", "issue", "input_issue")

_FILL_WITH_ALL = catalogue.fill


def is_small() -> bool:
    """Return whether catalogues are built with few tables."""
    return catalogue.fill is not _FILL_WITH_ALL


def use_small_catalogue(
    patch: pytest.MonkeyPatch, content: bytes | None = None, tables: tuple[str, ...] = TABLES
) -> bytes:
    """Build catalogues with these tables of decoded data only, and return an empty one.

    Without `content`, the empty catalogue is built. Rows of another table are an error, as a comparison of
    stores would not see them.
    """

    tables = tuple(dict.fromkeys((*tables, *_ALWAYS)))

    def create_views(connection: duckdb.DuckDBPyConnection) -> None:
        for table in tables:
            rows = visible_rows_sql(table, f"{FILES}.{table}")
            connection.execute(f"CREATE VIEW {RAW}.{table} AS {rows}")

    def fill_with_these(connection: duckdb.DuckDBPyConnection, folder: Folder, state: State) -> None:
        others = {file.table for file in state.files.values()} - set(tables)
        assert not others, f"not in the small catalogue: {others}"
        _FILL_WITH_ALL(connection, folder, state)

    patch.setattr(catalogue, "parquet_tables", lambda: tables)
    patch.setattr(catalogue, "_create_fixed_part", create_views)
    patch.setattr(catalogue, "stored_names", tuple)
    patch.setattr(catalogue, "fill", fill_with_these)
    empty = catalogue._build_empty_catalogue() if content is None else content
    patch.setattr(catalogue, "empty_catalogue", lambda: empty)
    return empty
