"""The file of the catalogue: attach it, and compare what it shows with the store.

Every command that reads a store begins with this. Therefore nothing is imported here that only building a
catalogue needs, such as Arrow and the declarations of the metrics: that would take longer than most queries.
"""

from __future__ import annotations

import os
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING

import duckdb
from xxhash import xxh3_128

from zscope.pipelines.store.checksums import last_commit
from zscope.pipelines.store.folder import existing_store, runs_digest
from zscope.pipelines.store.process_lock import is_locked
from zscope.schemas.catalogue_schemas import FILES, SEARCH_PATH
from zscope.schemas.sql_text import literal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from zscope.pipelines.store.folder import Folder

ABOUT = f"{FILES}.zscope_store"
"""Table with one row: the commit and folder that the catalogue shows."""
DESCRIBING = ("commit_no", "runs_digest", "folder", "zscope_version", "metrics_digest")
"""The columns of `ABOUT` from which follows whether the catalogue is up to date."""
_DECLARING = ("zscope.schemas", "zscope.parsers", "zscope.pipelines")
"""The packages whose files determine the tables and views of a catalogue."""


def attach_catalogue(catalogue: Path) -> duckdb.DuckDBPyConnection | None:
    """Return a connection to the catalogue file, or None if the file cannot be read.

    Each connection is a separate DuckDB instance that attaches the file. Opened directly, all connections of
    a process would share one instance, with its settings and the file that had this name when it was opened.
    """
    if not catalogue.exists():
        return None
    # With several threads, reading the many small entries of the file takes twice the CPU time.
    connection = duckdb.connect(config={"threads": "1"})
    try:
        connection.execute(f"ATTACH {literal(str(catalogue))} AS zscope (READ_ONLY)")
        connection.execute("RESET threads")
        use_catalogue(connection)
    except duckdb.Error:
        connection.close()
        return None
    return connection


def search(connection: duckdb.DuckDBPyConnection) -> None:
    """Let a connection find all names of the catalogue that is its current database."""
    found = connection.execute(
        "SELECT database_name, schema_name FROM duckdb_schemas() WHERE database_name = current_database()"
    ).fetchall()
    places = {schema: f"{database}.{schema}" for database, schema in found}
    # The catalogue of an earlier version has all names in `main`, until it is built again.
    path = ",".join(places[schema] for schema in SEARCH_PATH if schema in places)
    connection.execute(f"SET search_path = '{path}'")


def use_catalogue(connection: duckdb.DuckDBPyConnection) -> None:
    """Let statements of a connection to the same instance name what the attached catalogue has."""
    connection.execute("USE zscope")
    search(connection)
    connection.execute("SET enable_progress_bar = false")


def catalogue_problem(folder: Folder) -> str:
    """Return what is wrong with the file of the catalogue; nothing if it is intact.

    All tables are read, as DuckDB compares each block that it reads with a checksum.
    """
    connection = attach_catalogue(folder.catalogue)
    if connection is None:
        return "is missing or cannot be read"
    with connection:
        try:
            tables = connection.execute(
                "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'zscope'"
            ).fetchall()
            for schema, table in tables:
                connection.execute(f'SELECT sum(hash(each)) FROM "{schema}"."{table}" AS each').fetchall()
        except duckdb.Error as error:
            return f"cannot be read ({str(error).partition(chr(10))[0]})"
    return ""


def is_current(folder: Folder) -> bool:
    """Whether the catalogue shows the newest commit."""
    return shown_by(folder) == newest(folder)


_Identity = tuple[int, int, int]
_last_read: dict[Path, tuple[_Identity, tuple[object, ...]]] = {}
"""What the file of each catalogue shows: a file is never changed in place, so it is read once."""


def shown_by(folder: Folder) -> tuple[object, ...]:
    """Return commit, runs and folder that the catalogue shows, and the versions it was built with."""
    try:
        identity = _identity(folder.catalogue)
    except OSError:
        return ()
    known = _last_read.get(folder.catalogue)
    if known is not None and known[0] == identity:
        return known[1]
    connection = attach_catalogue(folder.catalogue)
    if connection is None:
        return ()
    with connection:
        row = shown(connection)
    _last_read[folder.catalogue] = identity, row
    return row


def note_shown(folder: Folder, file: Path, row: tuple[object, ...]) -> None:
    """Note what a file shows that becomes the catalogue next, by a rename."""
    _last_read[folder.catalogue] = _identity(file), row


def _identity(file: Path) -> _Identity:
    """Return what differs between two files that have the name of a catalogue one after the other."""
    status = file.stat()
    return status.st_ino, status.st_mtime_ns, status.st_size


def shown(connection: duckdb.DuckDBPyConnection) -> tuple[object, ...]:
    """Return the same for the catalogue that a connection is attached to."""
    try:
        rows = connection.execute(f"SELECT {', '.join(DESCRIBING)} FROM {ABOUT}").fetchall()
    except duckdb.Error:
        return ()
    return next(iter(rows), ())


def newest(folder: Folder) -> tuple[object, ...]:
    """Return what a catalogue that is up to date shows."""
    return (
        last_commit(folder),
        runs_digest(folder),
        str(folder.path),
        zscope_version(),
        digest_of_declarations(),
    )


@cache
def zscope_version() -> str:
    """Return the version of zscope; the metadata of the installation are read once."""
    return version("zscope")


def can_be_shown(existing: tuple[object, ...], wanted: tuple[object, ...], *, has_writer: bool) -> bool:
    """Whether readers can use a catalogue: it shows the newest commit, or a writer works on the next one.

    To update a copy for each reader during a load would take seconds, again after each commit.
    """
    return existing == wanted or (has_writer and existing[1:] == wanted[1:])


@cache
def digest_of_declarations() -> str:
    """Return a digest of all declarations: a catalogue with another digest has other tables or views.

    It is computed from the contents of the files, because parsing them takes longer than most queries. Their
    times would be faster, but differ between two installations that use one store.
    """
    digest = xxh3_128()
    for package in _DECLARING:
        for label, path in sorted(_sources(folder_of(package), package)):
            with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - see below
                digest.update(f"{label}\n".encode() + file.read())
    return str(digest.hexdigest()[:16])


def folder_of(package: str) -> str:
    """Return the folder of a package without importing it."""
    spec = find_spec(package)
    assert spec is not None, package
    assert spec.origin is not None, package
    return os.path.dirname(spec.origin)  # noqa: PTH120 - see below


def _sources(folder: str, name: str) -> Iterator[tuple[str, str]]:
    """Return the files of a package that determine its declarations, with their names.

    Every command that opens a store reads them, and strings take a third of the time of `Path` objects.
    """
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                yield from _sources(entry.path, f"{name}/{entry.name}")
            elif entry.name.endswith((".toml", ".sql", ".py")):
                yield f"{name}/{entry.name}", entry.path


def catalogue_version(path: Path) -> str:
    """Return a short text that changes whenever readers of the store would see something else."""
    folder = existing_store(path)
    has_writer = is_locked(folder.lock)
    try:
        file = "-".join(map(str, _identity(folder.catalogue)))
    except OSError:
        file = "none"
    number: object = last_commit(folder)
    if has_writer and file != "none":
        existing = shown_by(folder)
        if can_be_shown(existing, newest(folder), has_writer=True):
            number = existing[0]
    return f"{number}-{runs_digest(folder)}-{file}"


def has_summaries(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether the catalogue that a connection shows has stored rows of steps."""
    try:
        rows = connection.execute(f"SELECT summarised FROM {ABOUT}").fetchall()
    except duckdb.Error:
        return False
    return any(summarised for (summarised,) in rows)
