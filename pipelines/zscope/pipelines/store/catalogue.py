"""The catalogue: a small DuckDB file with a view for every table, built beside the old one and put in its
place.

It holds nothing that the commits do not tell, so it can be made again at any time. DuckDB lets one process
write a file or many read it; because the file is never written where it lies, nobody ever waits for anybody.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from zscope.pipelines.metrics import declared, metrics_digest, view_sql
from zscope.pipelines.metrics.narrowing import FILES
from zscope.pipelines.runs import run_table, runs_digest
from zscope.pipelines.store.catalogue_file import SMALL, attached, replaced
from zscope.pipelines.store.commits import State, last_commit, read_state
from zscope.pipelines.store.file_views import damaged, readable, table_sql
from zscope.pipelines.store.folder import Folder, StoreError, existing_store
from zscope.pipelines.store.history import history_tables
from zscope.pipelines.store.summaries import drop_summaries, has_summaries, view_comments
from zscope.pipelines.store.tables import kept_meaning, kept_schema, kept_tables
from zscope.schemas.ddl import column_comment, create_table, literal
from zscope.schemas.reference import reference_tables
from zscope.schemas.stored import DAY, added_columns

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zscope.pipelines.store.commits import DataFile

ABOUT = "zscope_store"
"""Table with one row: which state of which folder the catalogue is about."""
_VIEWS = "zscope_view"
"""Table with the statements of all views over data files."""
_RUNS = "run"
"""Table with the benchmark runs that runs.toml names."""
_MADE_ALIKE = slice(2, None)
"""Of what a catalogue says about itself, the part that is the same for each made in the same way."""


def publish(folder: Folder, state: State, *, anew: bool = False) -> None:
    """Build the catalogue of a state and let it take the place of the old one.

    What did not change since the old one is copied with it, which for a store of years is nearly all; unless
    all is to be made anew.
    """
    replaced(
        folder,
        lambda: empty_catalogue() if anew else _to_begin_with(folder),
        lambda connection: fill(connection, folder, state),
    )


@cache
def empty_catalogue() -> bytes:
    """The catalogue of a store without data, as which each one begins: most of the work is the same."""
    with TemporaryDirectory(prefix="zscope-") as temporary:
        folder = Folder(Path(temporary))
        with duckdb.connect(str(folder.catalogue), config=SMALL) as connection:
            fill(connection, folder, State())
        return folder.catalogue.read_bytes()


def open_reader(path: Path) -> duckdb.DuckDBPyConnection:
    """A connection that sees the newest commit: to the catalogue, read-only, or where that is out of date
    (its writer was killed, the folder was moved, runs.toml was edited) to a copy that is not.
    """
    folder = existing_store(path)
    if connection := attached(folder.catalogue):
        if _about_in(connection) == _about_now(folder):
            return connection
        connection.close()
    return _in_a_copy(folder) or _in_memory(folder)


def _in_a_copy(folder: Folder) -> duckdb.DuckDBPyConnection | None:
    """A connection to a copy of the catalogue, brought up to date; None if there is no room for one.

    The copy has no name any more when it is read, and goes with the connection.
    """
    with TemporaryDirectory(prefix="zscope-") as temporary:
        copy = Path(temporary, folder.catalogue.name)
        try:
            copy.write_bytes(_to_begin_with(folder))
            with duckdb.connect(str(copy), config=SMALL) as connection:
                fill(connection, folder, read_state(folder))
        except (duckdb.Error, OSError):
            return None  # the same can be made without a file, and what is wrong is told there
        return attached(copy)


def _to_begin_with(folder: Folder) -> bytes:
    """The catalogue that is there, if the new one differs in little, otherwise one of nothing."""
    alike = _about(folder)[_MADE_ALIKE] == _about_now(folder)[_MADE_ALIKE]
    return folder.catalogue.read_bytes() if alike else empty_catalogue()


def catalogue_version(path: Path) -> str:
    """A short text that is another one whenever a reader who opens the store sees something else."""
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
    """Which commit and which runs of which folder the catalogue shows, and how it was made."""
    connection = attached(folder.catalogue)
    if connection is None:
        return ()
    with connection:
        return _about_in(connection)


def _about_in(connection: duckdb.DuckDBPyConnection) -> tuple[object, ...]:
    try:
        found = connection.execute(
            f"SELECT commit_no, runs_digest, folder, zscope_version, metrics_digest FROM {ABOUT}"
        ).fetchone()
    except duckdb.Error:
        return ()
    return found or ()


def _about_now(folder: Folder) -> tuple[object, ...]:
    return (
        last_commit(folder),
        runs_digest(folder.path),
        str(folder.path),
        version("zscope"),
        metrics_digest(),
    )


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
    if has_summaries(connection) and _about_in(connection)[:1] != (state.number,):
        drop_summaries(connection)
    by_table: dict[str, list[DataFile]] = defaultdict(list)
    for file in sorted(state.files.values(), key=lambda f: (f.day or "", f.path)):
        by_table[file.table].append(file)
    statements = {table: table_sql(folder, table, by_table[table]) for table in kept_tables()}
    if not made:
        connection.execute(f"CREATE SCHEMA {FILES}")
    for table, wanted in statements.items():
        if made.get(table) != wanted:
            statements[table] = wanted if readable(folder, by_table[table]) else damaged(table)
            connection.execute(f"CREATE OR REPLACE VIEW {FILES}.{table} AS {statements[table]}")
    for name, rows in {**history_tables(state), _RUNS: run_table(folder.path)}.items():
        _make_table(connection, name, rows)
    _make_table(connection, ABOUT, _about_row(folder, state))
    if not made:
        _make_what_stays(connection)
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
        connection.execute(f"CREATE VIEW {table} AS SELECT * FROM {FILES}.{table}")
    connection.execute("; ".join(comment for table in kept_tables() for comment in _comments(table)))
    for metric in declared().values():
        connection.execute(f"CREATE VIEW {metric.name} AS {view_sql(metric)}")
        connection.execute("; ".join(view_comments(metric.name)))


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


def _comments(table: str) -> list[str]:
    columns = ((field.name, column_comment(field)) for field in (*kept_schema(table), DAY))
    return _comments_on(table, kept_meaning(table), columns)


def _comments_on(view: str, meaning: str, columns: Iterable[tuple[str, str]]) -> list[str]:
    told = [f"COMMENT ON COLUMN {view}.{name} IS {literal(text)}" for name, text in columns if text]
    return [f"COMMENT ON VIEW {view} IS {literal(meaning)}", *told]


def _about_row(folder: Folder, state: State) -> pa.Table:
    row = {
        "commit_no": state.number,
        "runs_digest": runs_digest(folder.path),
        "folder": str(folder.path),
        "zscope_version": version("zscope"),
        "metrics_digest": metrics_digest(),
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
