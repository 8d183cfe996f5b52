"""The file of the catalogue: written beside the old one and renamed over it, opened without changing it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb

from zscope.pipelines.store.folder import Folder, StoreError, beside_of, settle
from zscope.schemas.ddl import literal

SMALL: dict[str, str | bool | int | float | list[str]] = {
    "default_block_size": "16384",
    "threads": "1",
}
"""Many small tables: with blocks of the usual size they would take eight times the room, and a second thread
is of no use to them.
"""


def replaced(
    folder: Folder, beginning: Callable[[], bytes], change: Callable[[duckdb.DuckDBPyConnection], None]
) -> None:
    """Let a changed catalogue take the place of the one that is there.

    A reader has the one or the other, whole: files are only ever renamed over.
    """
    beside = beside_of(folder.catalogue)
    log = beside.with_name(f"{beside.name}.wal")
    beside.unlink(missing_ok=True)
    try:
        beside.write_bytes(beginning())
        with duckdb.connect(str(beside), config=SMALL) as connection:
            change(connection)
            # Closing does the same, but keeps it to itself when it fails, as on a full disk.
            connection.execute("CHECKPOINT")
        if log.exists():
            raise StoreError(f"{folder.catalogue}: the catalogue could not be written to its end")
        settle([beside])
        beside.replace(folder.catalogue)
    except (duckdb.Error, OSError) as error:
        told = str(error).partition("\n")[0]
        raise StoreError(
            f"{folder.catalogue}: the catalogue cannot be built ({told}); what was committed is in the store "
            "all the same, and zscope sees it"
        ) from error
    finally:
        beside.unlink(missing_ok=True)
        log.unlink(missing_ok=True)


def attached(catalogue: Path) -> duckdb.DuckDBPyConnection | None:
    """A connection to the catalogue file, if it can be read.

    Each is an instance of its own with the file attached: opened directly, all connections of a process would
    share one, with its settings, and with the file it once opened under this name.
    """
    if not catalogue.exists():
        return None
    connection = duckdb.connect()
    try:
        connection.execute(f"ATTACH {literal(str(catalogue))} AS zscope (READ_ONLY)")
        connection.execute("USE zscope")
        connection.execute("SET enable_progress_bar = false")
    except duckdb.Error:
        connection.close()
        return None
    return connection
