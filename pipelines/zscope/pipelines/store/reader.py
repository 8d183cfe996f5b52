"""Open a store for reading."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zscope.pipelines.store.catalogue_file import attach_catalogue, newest, shown
from zscope.pipelines.store.folder import existing_store

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb


def open_reader(path: Path) -> duckdb.DuckDBPyConnection:
    """Open a read-only connection that shows the newest commit.

    If the catalogue is out of date (its writer was killed, the folder was moved, runs.toml was edited), the
    connection is to an updated copy.
    """
    folder = existing_store(path)
    if connection := attach_catalogue(folder.catalogue):
        if shown(connection) == newest(folder):
            return connection
        connection.close()
    # Its import takes longer than most queries, and nearly always the catalogue is up to date.
    from zscope.pipelines.store.catalogue import open_updated

    return open_updated(folder)
