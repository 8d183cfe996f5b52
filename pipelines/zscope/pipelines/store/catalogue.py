"""The catalogue: a small DuckDB file with a view for every table, replaced as a whole after each change.

All its content follows from the commits, so it can be built again at any time. DuckDB allows one writing
process or many reading ones per file; as the file is never changed in place, readers and writers never wait
for each other.

Summaries are precomputed rows of intermediate steps of metrics, stored in the catalogue. A step such as
`handshake_hour` has few rows, however many connections the store has. Its rows are computed once after each
change of the store, and its view reads them, which makes all metrics over it fast for every client. Summaries
belong to one commit and are dropped with the next. Small stores have none, as the views over the data are
fast enough.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from zscope.pipelines.metrics import (
    creating_views,
    declared,
    macros_sql,
    metrics_digest,
    needed,
    summary_names,
    view_sql,
)
from zscope.pipelines.metrics.narrowing import FILES, prepared
from zscope.pipelines.runs import run_table, runs_digest
from zscope.pipelines.store.commits import State, last_commit, read_state
from zscope.pipelines.store.folder import Folder, StoreError, existing_store, fsync_all, temporary_path
from zscope.pipelines.store.history import HISTORY_SCHEMAS, history_tables
from zscope.pipelines.store.parts import (
    data_tables,
    parquet_schema,
    parquet_tables,
    schema_digest,
    table_description,
)
from zscope.schemas.arrow import column_comment, create_table, duckdb_type, literal
from zscope.schemas.reference import reference_tables
from zscope.schemas.stored import DAY, added_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from zscope.pipelines.store.commits import DataFile


CATALOGUE_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "default_block_size": "16384",
    "threads": "1",
}
"""Small blocks: with the default size, the many small tables would need eight times the space."""


def replace_catalogue(
    folder: Folder, initial: Callable[[], bytes], change: Callable[[duckdb.DuckDBPyConnection], None]
) -> None:
    """Write a catalogue from initial content and a change, and rename it over the existing one.

    Readers see either the old or the new file.
    """
    temporary = temporary_path(folder.catalogue)
    log = temporary.with_name(f"{temporary.name}.wal")
    temporary.unlink(missing_ok=True)
    try:
        temporary.write_bytes(initial())
        with duckdb.connect(str(temporary), config=CATALOGUE_CONFIG) as connection:
            change(connection)
            # Closing does the same but reports no error, for example of a full disk.
            connection.execute("CHECKPOINT")
        if log.exists():
            raise StoreError(f"{folder.catalogue}: the catalogue could not be written completely")
        fsync_all([temporary])
        temporary.replace(folder.catalogue)
    except (duckdb.Error, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise StoreError(
            f"{folder.catalogue}: the catalogue cannot be built ({reason}); the committed data is in the "
            "store, and zscope can read it"
        ) from error
    finally:
        temporary.unlink(missing_ok=True)
        log.unlink(missing_ok=True)


def attach_catalogue(catalogue: Path) -> duckdb.DuckDBPyConnection | None:
    """Return a connection to the catalogue file, or None if the file cannot be read.

    Each connection is a separate DuckDB instance that attaches the file. Opened directly, all connections of
    a process would share one instance, with its settings and the file that had this name when it was opened.
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


def table_sql(folder: Folder, table: str, files: list[DataFile]) -> str:
    """Return the statement of the view of a table, which reads exactly the committed files.

    Files written by a version of zscope with fewer columns have nulls in the others.
    """
    by_schema: dict[str, list[str]] = defaultdict(list)
    for file in files:
        by_schema[file.schema].append(file.path)
    selects = [
        _select(folder, table, paths, current=schema == schema_digest(table))
        for schema, paths in by_schema.items()
    ]
    return "\nUNION ALL BY NAME\n".join(selects) or _no_rows(table)


def readable(folder: Folder, files: list[DataFile]) -> bool:
    """Whether a view over files can be created, for which DuckDB opens one file of each schema."""
    try:
        for file in {file.schema: file for file in reversed(files)}.values():
            pq.read_metadata(folder.data / file.path)
    except (OSError, pa.ArrowException):
        return False
    return True


def damaged(table: str) -> str:
    """Return the statement of a view that raises an error when it is read, for a table with damaged files."""
    problem = f"files of the table {table} are missing or damaged: zscope store check names them"
    columns = (_as_declared(field, exists=False) for field in (*parquet_schema(table), DAY))
    error = f"SELECT error({literal(problem)}) AS problem"
    return f"SELECT {', '.join(columns)} FROM ({error}) WHERE problem IS NULL"


def _select(folder: Folder, table: str, paths: list[str], *, current: bool) -> str:
    schema = parquet_schema(table)
    existing = set(schema.names) if current else _columns_in(folder.data / paths[0])
    columns = ", ".join(
        field.name if current else _as_declared(field, exists=field.name in existing) for field in schema
    )
    listed = ",\n    ".join(literal(str(folder.data / path)) for path in paths)
    return (
        f"SELECT {columns}, day FROM read_parquet([\n    {listed}\n], "
        "hive_partitioning = true, hive_types = {'day': DATE})"
    )


def _columns_in(path: Path) -> set[str]:
    try:
        return set(pq.read_schema(path).names)
    except (OSError, pa.ArrowException):
        return set()  # `damaged` replaces the view


def _as_declared(field: pa.Field, *, exists: bool) -> str:
    return f"CAST({field.name if exists else 'NULL'} AS {duckdb_type(field.type)}) AS {field.name}"


def _no_rows(table: str) -> str:
    columns = (_as_declared(field, exists=False) for field in (*parquet_schema(table), DAY))
    return f"SELECT {', '.join(columns)} WHERE false"


ABOUT = "zscope_store"
"""Table with one row: the commit and folder that the catalogue shows."""
_VIEWS = "zscope_view"
"""Table with the statements of all views over data files, to replace only those that change."""
_RUNS = "run"
"""Table with the benchmark runs of runs.toml."""
_BUILT_ALIKE = slice(2, None)
"""The values of `ABOUT` that must be equal for a catalogue to be updated instead of built from nothing."""


def publish_catalogue(folder: Folder, state: State, *, anew: bool = False) -> None:
    """Build the catalogue of a state and replace the old one.

    It starts as a copy of the old one, as little changes between two commits; with `anew`, from nothing.
    """
    replace_catalogue(
        folder,
        lambda: empty_catalogue() if anew else _initial_content(folder),
        lambda connection: fill(connection, folder, state),
    )


@cache
def empty_catalogue() -> bytes:
    """Return the catalogue of an empty store: most of the work is the same for every store."""
    with TemporaryDirectory(prefix="zscope-") as temporary:
        folder = Folder(Path(temporary))
        with duckdb.connect(str(folder.catalogue), config=CATALOGUE_CONFIG) as connection:
            fill(connection, folder, State())
        return folder.catalogue.read_bytes()


def open_reader(path: Path) -> duckdb.DuckDBPyConnection:
    """Open a read-only connection that shows the newest commit.

    If the catalogue is out of date (its writer was killed, the folder was moved, runs.toml was edited), the
    connection is to an updated copy.
    """
    folder = existing_store(path)
    if connection := attach_catalogue(folder.catalogue):
        if _about_in(connection) == _about_now(folder):
            return connection
        connection.close()
    return _in_a_copy(folder) or _in_memory(folder)


def _in_a_copy(folder: Folder) -> duckdb.DuckDBPyConnection | None:
    """Return a connection to an updated copy of the catalogue, or None if there is no space for it.

    The copy is unlinked before it is read, so it disappears with the connection.
    """
    with TemporaryDirectory(prefix="zscope-") as temporary:
        copy = Path(temporary, folder.catalogue.name)
        try:
            copy.write_bytes(_initial_content(folder))
            with duckdb.connect(str(copy), config=CATALOGUE_CONFIG) as connection:
                fill(connection, folder, read_state(folder))
        except (duckdb.Error, OSError):
            return None  # the caller builds it in memory, and raises the error if that fails too
        return attach_catalogue(copy)


def _initial_content(folder: Folder) -> bytes:
    """Return the existing catalogue if it was built in the same way, otherwise an empty one."""
    same = _about(folder)[_BUILT_ALIKE] == _about_now(folder)[_BUILT_ALIKE]
    return folder.catalogue.read_bytes() if same else empty_catalogue()


def catalogue_version(path: Path) -> str:
    """Return a short text that changes whenever readers of the store would see something else."""
    folder = existing_store(path)
    try:
        status = folder.catalogue.stat()
        file = f"{status.st_ino}-{status.st_mtime_ns}"
    except OSError:
        file = "none"
    return f"{last_commit(folder)}-{runs_digest(folder.path)}-{file}"


def is_current(folder: Folder) -> bool:
    """Whether the catalogue shows the newest commit."""
    return _about(folder) == _about_now(folder)


def _about(folder: Folder) -> tuple[object, ...]:
    """Return commit, runs and folder that the catalogue shows, and the versions it was built with."""
    connection = attach_catalogue(folder.catalogue)
    if connection is None:
        return ()
    with connection:
        return _about_in(connection)


def _about_in(connection: duckdb.DuckDBPyConnection) -> tuple[object, ...]:
    try:
        row = connection.execute(
            f"SELECT commit_no, runs_digest, folder, zscope_version, metrics_digest FROM {ABOUT}"
        ).fetchone()
    except duckdb.Error:
        return ()
    return row or ()


def _about_now(folder: Folder) -> tuple[object, ...]:
    return (
        last_commit(folder),
        runs_digest(folder.path),
        str(folder.path),
        version("zscope"),
        _digest(),
    )


@cache
def _digest() -> str:
    """Return a digest of the views and of the tables of the load history."""
    return sha256(f"{metrics_digest()}\n{HISTORY_SCHEMAS}".encode()).hexdigest()[:16]


def _in_memory(folder: Folder) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    try:
        fill(connection, folder, read_state(folder))
    except duckdb.Error as error:
        reason = str(error).partition("\n")[0]
        raise StoreError(
            f"{folder.path}: the store cannot be read ({reason}); run zscope store check"
        ) from error
    return connection


def fill(connection: duckdb.DuckDBPyConnection, folder: Folder, state: State) -> None:
    """Create all tables and views of the catalogue, or replace those that differ."""
    connection.execute("BEGIN")
    views = _existing_views(connection)
    if has_summaries(connection) and _about_in(connection)[:1] != (state.number,):
        drop_summaries(connection)
    by_table: dict[str, list[DataFile]] = defaultdict(list)
    for file in sorted(state.files.values(), key=lambda f: (f.day or "", f.path)):
        by_table[file.table].append(file)
    statements = {table: table_sql(folder, table, by_table[table]) for table in parquet_tables()}
    if not views:
        connection.execute(f"CREATE SCHEMA {FILES}")
    for table, wanted in statements.items():
        if views.get(table) != wanted:
            statements[table] = wanted if readable(folder, by_table[table]) else damaged(table)
            connection.execute(f"CREATE OR REPLACE VIEW {FILES}.{table} AS {statements[table]}")
    for name, rows in {**history_tables(state), _RUNS: run_table(folder.path)}.items():
        _create_table(connection, name, rows)
    _create_table(connection, ABOUT, _about_row(folder, state))
    if not views:
        _create_fixed_part(connection)
    _create_table(
        connection, _VIEWS, pa.table({"name": list(statements), "made_by": list(statements.values())})
    )
    connection.execute("COMMIT")


def _create_fixed_part(connection: duckdb.DuckDBPyConnection) -> None:
    """Create what does not change with a load: reference tables, comments, and the views that users see.

    Comments on two thousand columns take longer than everything else. Therefore the commented views are
    created once, over views of the data files that are replaced whenever the files change.
    """
    for name, rows in reference_tables().items():
        _create_table(connection, name, rows)
    connection.register("rows_to_copy", added_columns())
    connection.execute("INSERT INTO field_catalog SELECT * FROM rows_to_copy")
    connection.unregister("rows_to_copy")
    for table in parquet_tables():
        connection.execute(f"CREATE VIEW {table} AS SELECT * FROM {FILES}.{table}")
    connection.execute("; ".join(comment for table in parquet_tables() for comment in _comments(table)))
    connection.execute(macros_sql())
    for statement in creating_views():
        connection.execute(statement)
    for name in declared():
        connection.execute("; ".join(view_comments(name)))


def _existing_views(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Return the existing views over data files with their statements."""
    exists = connection.execute("SELECT 1 FROM duckdb_tables() WHERE table_name = ?", [_VIEWS]).fetchone()
    return dict(connection.execute(f"SELECT name, made_by FROM {_VIEWS}").fetchall()) if exists else {}


def _create_table(connection: duckdb.DuckDBPyConnection, name: str, rows: pa.Table) -> None:
    connection.execute(f"DROP TABLE IF EXISTS {name}")
    connection.execute("; ".join(create_table(name, rows.schema)))
    if rows.num_rows:
        connection.register("rows_to_copy", rows)
        connection.execute(f"INSERT INTO {name} SELECT * FROM rows_to_copy")
        connection.unregister("rows_to_copy")


def _comments(table: str) -> list[str]:
    columns = ((field.name, column_comment(field)) for field in (*parquet_schema(table), DAY))
    return _comments_on(table, table_description(table), columns)


def _comments_on(view: str, meaning: str, columns: Iterable[tuple[str, str]]) -> list[str]:
    on_columns = [f"COMMENT ON COLUMN {view}.{name} IS {literal(text)}" for name, text in columns if text]
    return [f"COMMENT ON VIEW {view} IS {literal(meaning)}", *on_columns]


def _about_row(folder: Folder, state: State) -> pa.Table:
    row = {
        "commit_no": state.number,
        "runs_digest": runs_digest(folder.path),
        "folder": str(folder.path),
        "zscope_version": version("zscope"),
        "metrics_digest": _digest(),
        "built_utc": datetime.now(UTC),
    }
    schema = pa.schema(
        [
            ("commit_no", pa.int64()),
            ("runs_digest", pa.string()),
            ("folder", pa.string()),
            ("zscope_version", pa.string()),
            ("metrics_digest", pa.string()),
            ("built_utc", pa.timestamp("us", "UTC")),
        ]
    )
    return pa.Table.from_pylist([row], schema)


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
