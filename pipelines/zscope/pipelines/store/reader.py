"""Open a store for reading."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zscope.pipelines.store.catalogue_file import attach_catalogue, can_be_shown, newest, shown
from zscope.pipelines.store.folder import existing_store
from zscope.pipelines.store.process_lock import is_locked

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb


def open_reader(path: Path) -> duckdb.DuckDBPyConnection:
    """Open a read-only connection that shows the newest commit, or while a writer works, the last catalogue.

    Commits of a writer appear when it publishes the catalogue: at its end, and during long loads from time to
    time. If the catalogue is out of date without a writer (it was killed, the folder was moved, runs.toml was
    edited), the connection is to an updated copy.
    """
    folder = existing_store(path)
    has_writer = is_locked(folder.lock)
    if connection := attach_catalogue(folder.catalogue):
        if can_be_shown(shown(connection), newest(folder), has_writer=has_writer):
            return connection
        connection.close()
    # Its import takes longer than most queries, and nearly always the catalogue is up to date.
    from zscope.pipelines.store.catalogue import open_updated

    return open_updated(folder)
