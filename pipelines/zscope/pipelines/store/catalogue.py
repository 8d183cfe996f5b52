"""The catalogue: a small DuckDB file with a view for every table, built beside the old one and put in its
place.

It holds nothing that the commits do not tell, so it can be made again at any time. DuckDB lets one process
write a file or many read it; because the file is never written where it lies, nobody ever waits for anybody.
"""

from __future__ import annotations

import shutil
from collections import defaultdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from zscope.pipelines.store.commits import last_commit, read_state
from zscope.pipelines.store.folder import Folder, StoreError, beside_of, existing_store, settle
from zscope.pipelines.store.history import history_tables
from zscope.pipelines.store.tables import kept_meaning, kept_schema, kept_tables, schema_digest
from zscope.pipelines.views import NAMES, view_meaning, view_sql
from zscope.schemas.ddl import column_comment, create_table, duckdb_type, literal
from zscope.schemas.reference import reference_tables
from zscope.schemas.stored import DAY, added_columns

if TYPE_CHECKING:
    from zscope.pipelines.store.commits import DataFile, State

ABOUT = "zscope_store"
"""Table with one row: which state of which folder the catalogue is about."""
_FILES = "files"
"""Schema of the views over the data files."""
_VIEWS = "zscope_view"
"""Table with the statements of all views over data files."""
_SMALL: dict[str, str | bool | int | float | list[str]] = {"default_block_size": "16384", "threads": "1"}
"""Many small tables: with blocks of the usual size they would take eight times the room, and a second thread
is of no use to them.
"""


def publish(folder: Folder, state: State, *, anew: bool = False) -> None:
    """Build the catalogue of a state and let it take the place of the old one.

    A reader has the one or the other, whole: files are only ever renamed over. What did not change since the
    old one is copied with it, which for a store of years is nearly all; unless all is to be made anew.
    """
    beside = beside_of(folder.catalogue)
    log = beside.with_name(f"{beside.name}.wal")
    beside.unlink(missing_ok=True)
    try:
        if not anew and _about(folder)[1:] == _about_now(folder)[1:]:
            shutil.copyfile(folder.catalogue, beside)
        with duckdb.connect(str(beside), config=_SMALL) as connection:
            fill(connection, folder, state)
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


def open_reader(path: Path) -> duckdb.DuckDBPyConnection:
    """A connection that sees the newest commit: to the catalogue, read-only, or where that is out of date
    (its writer was killed, the folder was moved) to the same views made in memory.
    """
    folder = existing_store(path)
    connection = _attached(folder)
    if connection is None or _about_in(connection) == _about_now(folder):
        return connection or _in_memory(folder)
    connection.close()
    return _in_memory(folder)


def _attached(folder: Folder) -> duckdb.DuckDBPyConnection | None:
    """A connection to the catalogue file, if it can be read.

    Each is an instance of its own with the file attached: opened directly, all connections of a process would
    share one, with its settings, and with the file it once opened under this name.
    """
    if not folder.catalogue.exists():
        return None
    connection = duckdb.connect()
    try:
        connection.execute(f"ATTACH {literal(str(folder.catalogue))} AS zscope (READ_ONLY)")
        connection.execute("USE zscope")
        connection.execute("SET enable_progress_bar = false")
    except duckdb.Error:
        connection.close()
        return None
    return connection


def is_current(folder: Folder) -> bool:
    """Whether the catalogue shows the newest commit."""
    return _about(folder) == _about_now(folder)


def _about(folder: Folder) -> tuple[object, ...]:
    """Which commit of which folder the catalogue shows, and which version of zscope made it."""
    connection = _attached(folder)
    if connection is None:
        return ()
    with connection:
        return _about_in(connection)


def _about_in(connection: duckdb.DuckDBPyConnection) -> tuple[object, ...]:
    try:
        found = connection.execute(f"SELECT commit_no, folder, zscope_version FROM {ABOUT}").fetchone()
    except duckdb.Error:
        return ()
    return found or ()


def _about_now(folder: Folder) -> tuple[object, ...]:
    return last_commit(folder), str(folder.path), version("zscope")


def _in_memory(folder: Folder) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    try:
        fill(connection, folder, read_state(folder))
    except duckdb.Error as error:
        told = str(error).partition("\n")[0]
        raise StoreError(
            f"{folder.path}: the store cannot be read ({told}); see zscope store check"
        ) from error
    return connection


def fill(connection: duckdb.DuckDBPyConnection, folder: Folder, state: State) -> None:
    """Make all tables and views of the catalogue, or those that differ from what is there."""
    connection.execute("BEGIN")
    made = _made(connection)
    by_table: dict[str, list[DataFile]] = defaultdict(list)
    for file in sorted(state.files.values(), key=lambda f: (f.day or "", f.path)):
        by_table[file.table].append(file)
    statements = {table: table_sql(folder, table, by_table[table]) for table in kept_tables()}
    if not made:
        connection.execute(f"CREATE SCHEMA {_FILES}")
    for table, wanted in statements.items():
        if made.get(table) != wanted:
            statements[table] = wanted if _readable(folder, by_table[table]) else _damaged(table)
            connection.execute(f"CREATE OR REPLACE VIEW {_FILES}.{table} AS {statements[table]}")
    if not made:
        _make_what_stays(connection)
    for name, rows in history_tables(state).items():
        _make_table(connection, name, rows)
    _make_table(connection, ABOUT, _about_row(folder, state))
    _make_table(
        connection, _VIEWS, pa.table({"name": list(statements), "made_by": list(statements.values())})
    )
    connection.execute("COMMIT")


def _make_what_stays(connection: duckdb.DuckDBPyConnection) -> None:
    """What is the same after every load: explanations, and the tables as people see them.

    To explain two thousand columns takes longer than all else. So the views that people see are made once,
    over views of the files that are made again whenever there are other files.
    """
    for name, rows in reference_tables().items():
        _make_table(connection, name, rows)
    connection.register("rows_to_copy", added_columns())
    connection.execute("INSERT INTO field_catalog SELECT * FROM rows_to_copy")
    connection.unregister("rows_to_copy")
    for table in kept_tables():
        connection.execute(f"CREATE VIEW {table} AS SELECT * FROM {_FILES}.{table}")
    connection.execute("; ".join(comment for table in kept_tables() for comment in _comments(table)))
    for name in NAMES:
        connection.execute(f"CREATE VIEW {name} AS {view_sql(name)}")
        connection.execute(f"COMMENT ON VIEW {name} IS {literal(view_meaning(name))}")


def _made(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """The views there are, with the statements that made them."""
    there = connection.execute("SELECT 1 FROM duckdb_tables() WHERE table_name = ?", [_VIEWS]).fetchone()
    return dict(connection.execute(f"SELECT name, made_by FROM {_VIEWS}").fetchall()) if there else {}


def _make_table(connection: duckdb.DuckDBPyConnection, name: str, rows: pa.Table) -> None:
    connection.execute(f"DROP TABLE IF EXISTS {name}")
    connection.execute("; ".join(create_table(name, rows.schema)))
    if rows.num_rows:
        connection.register("rows_to_copy", rows)
        connection.execute(f"INSERT INTO {name} SELECT * FROM rows_to_copy")
        connection.unregister("rows_to_copy")


def table_sql(folder: Folder, table: str, files: list[DataFile]) -> str:
    """The statement that reads the committed files of a table, and no others.

    Files of a version of zscope that knew fewer columns are read with nulls in the others.
    """
    by_schema: dict[str, list[str]] = defaultdict(list)
    for file in files:
        by_schema[file.schema].append(file.path)
    selects = [
        _select(folder, table, paths, current=schema == schema_digest(table))
        for schema, paths in by_schema.items()
    ]
    return "\nUNION ALL BY NAME\n".join(selects) or _nothing(table)


def _readable(folder: Folder, files: list[DataFile]) -> bool:
    """Whether a view over files can be made: DuckDB looks at the first, and so at one of each schema."""
    try:
        for file in {file.schema: file for file in reversed(files)}.values():
            pq.read_metadata(folder.data / file.path)
    except (OSError, pa.ArrowException):
        return False
    return True


def _damaged(table: str) -> str:
    """In place of a view that cannot be made, one that says so when it is asked; all others are as ever."""
    problem = f"files of the table {table} are missing or damaged: zscope store check names them"
    columns = (_as_declared(field, there=False) for field in (*kept_schema(table), DAY))
    said = f"SELECT error({literal(problem)}) AS problem"
    return f"SELECT {', '.join(columns)} FROM ({said}) WHERE problem IS NULL"


def _select(folder: Folder, table: str, paths: list[str], *, current: bool) -> str:
    schema = kept_schema(table)
    there = set(schema.names) if current else _columns_in(folder.data / paths[0])
    columns = ", ".join(
        field.name if current else _as_declared(field, there=field.name in there) for field in schema
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
        return set()  # the view is not made of it


def _as_declared(field: pa.Field, *, there: bool) -> str:
    return f"CAST({field.name if there else 'NULL'} AS {duckdb_type(field.type)}) AS {field.name}"


def _nothing(table: str) -> str:
    columns = (_as_declared(field, there=False) for field in (*kept_schema(table), DAY))
    return f"SELECT {', '.join(columns)} WHERE false"


def _comments(table: str) -> list[str]:
    told = ((field.name, column_comment(field)) for field in (*kept_schema(table), DAY))
    columns = [f"COMMENT ON COLUMN {table}.{name} IS {literal(text)}" for name, text in told if text]
    return [f"COMMENT ON VIEW {table} IS {literal(kept_meaning(table))}", *columns]


def _about_row(folder: Folder, state: State) -> pa.Table:
    row = {
        "commit_no": state.number,
        "folder": str(folder.path),
        "zscope_version": version("zscope"),
        "built_utc": datetime.now(UTC),
    }
    schema = pa.schema(
        [
            ("commit_no", pa.int64()),
            ("folder", pa.string()),
            ("zscope_version", pa.string()),
            ("built_utc", pa.timestamp("us", "UTC")),
        ]
    )
    return pa.Table.from_pylist([row], schema)
