"""Stores for tests: dumps to load, and the contents of a store for comparing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import duckdb
from tests.dumps import generated

from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.store import open_reader
from zscope.pipelines.store.commits import read_state
from zscope.pipelines.store.folder import Folder
from zscope.pipelines.store.parquet_files import data_tables
from zscope.pipelines.store.session import Session
from zscope.samples import Recipe, RecordKind
from zscope.samples.dump.recipe import TYPICAL_MIX
from zscope.schemas.sql_text import literal

if TYPE_CHECKING:
    from pathlib import Path

    from zscope.pipelines.ingest.options_and_outcomes import IngestReport

CATALOGUE = "zscope.duckdb"
WHERE_FROM = ("load_id", "record_no", "record_offset", "file", "line_no")
"""Columns about the origin of a row."""
EVERYTHING = IngestOptions(selection=row_selection(None))

Contents = Mapping[str, tuple[int, int]]
"""By table with rows: their number, and a sum over them that does not depend on their order."""


def plain_client(store: Path) -> duckdb.DuckDBPyConnection:
    """Open the catalogue as any DuckDB client does, and find all of its names without a schema."""
    connection = duckdb.connect(str(store / CATALOGUE), read_only=True)
    connection.execute("SET search_path = 'main,steps,raw'")
    return connection


def dump_bytes(records: int = 400, days: int = 3, **changes: Any) -> bytes:  # noqa: ANN401 - fields of a recipe
    """Return a dump with many tables and days; the same arguments give the same bytes."""
    recipe = Recipe(records=records, seed=4, mix=dict(TYPICAL_MIX) | {RecordKind.FOREIGN: 0.02})
    return generated(replace(recipe, **({"end": recipe.start + timedelta(days=days)} | changes)))


def load(store: Path, *paths: Path, how: IngestOptions = EVERYTHING) -> IngestReport:
    """Load files."""
    return ingest(store, paths, how)


def rows_of(store: Path) -> Contents:
    """Return the contents of all tables of a store."""
    with open_reader(store) as connection:
        return contents(connection)


def contents(connection: duckdb.DuckDBPyConnection, left_out: Iterable[str] = WHERE_FROM) -> Contents:
    """Return the contents of the tables of decoded data, without some columns."""
    result: dict[str, tuple[int, int]] = {}
    names: dict[str, list[str]] = {}
    columns = connection.execute(
        "SELECT table_name, column_name FROM duckdb_columns() WHERE schema_name = 'raw' ORDER BY column_index"
    ).fetchall()
    for table, column in columns:
        names.setdefault(table, []).append(column)
    for table in tables_with_files(connection):
        selected = ", ".join(name for name in names[table] if name not in set(left_out))
        counted = connection.execute(
            f"SELECT count(*), sum(hash({selected})::HUGEINT) FROM {table}"
        ).fetchone()
        assert counted is not None
        if counted[0]:
            result[table] = counted
    return result


def tables_with_files(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """Return the tables that can have rows. Others, most of most stores, would cost a query each."""
    reading = connection.execute("SELECT view_name FROM duckdb_views() WHERE sql LIKE '%read_parquet(%'")
    with_files = {name for (name,) in reading.fetchall()}
    return [table for table in data_tables() if table in with_files]


def counts(found: Contents) -> dict[str, int]:
    """Return only the numbers of rows."""
    return {table: rows for table, (rows, _) in found.items()}


def queried(store: Path, sql: str) -> list[tuple[Any, ...]]:
    """Return the rows of a query on a store."""
    with open_reader(store) as connection:
        return connection.execute(sql).fetchall()


def named_rows(connection: duckdb.DuckDBPyConnection, sql: str) -> list[dict[str, Any]]:
    """Return the rows of a query by the names of its columns."""
    found = connection.execute(sql)
    names = [column[0] for column in found.description or ()]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def open_session(
    folder: Path, *, memory: str | None = None, threads: int | None = None, seconds: float | None = None
) -> Session:
    """Return a guarded session on the catalogue in a folder, whatever made it."""
    connection = duckdb.connect()
    connection.execute(f"ATTACH {literal(str(folder / CATALOGUE))} AS zscope (READ_ONLY)")
    connection.execute("USE zscope")
    return Session.guard(connection, folder, memory=memory, threads=threads, seconds=seconds)


def files_that_count(store: Path) -> set[str]:
    """Return the data files that commits list, including recently dropped ones."""
    state = read_state(Folder(store))
    return {*state.files, *state.dropped}


def leftovers(store: Path) -> list[str]:
    """Return leftovers of a killed writer: files in a store that are not part of it."""
    folder = Folder(store)
    named = {folder.data / name for name in files_that_count(store)}
    named |= {folder.commits / "head", folder.tables / ".shown.json", folder.tables / ".damaged"}
    named |= set(folder.tables.glob("*/month=*/*.parquet"))  # which zscope store check compares
    named |= {folder.lock, folder.catalogue, folder.settings, folder.runs, store / "zscope-store.json"}
    numbered = {path for path in folder.commits.glob("*.json") if not path.name.startswith(".")}
    reports = {path for path in folder.quarantine.glob("*.json") if not path.name.startswith(".")}
    every = {path for path in store.rglob("*") if path.is_file()}
    return sorted(str(path.relative_to(store)) for path in every - named - numbered - reports)


def rewrite_commits(folder: Folder, change: Callable[[dict[str, Any]], None] = lambda _: None) -> None:
    """Write all commits without checksums, as earlier versions did, after changing their contents."""
    for path in sorted(folder.commits.glob("*.json")):
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        for name in ("previous", "checksum", "last_checksum", *(["number"] if path.stem.isdigit() else [])):
            content.pop(name, None)
        change(content)
        path.write_text(json.dumps(content), encoding="utf-8")
    (folder.commits / "head").unlink(missing_ok=True)


def remove_last_commit(folder: Folder) -> None:
    """Undo the last commit, as if its writer had been killed before it."""
    commits = sorted(folder.commits.glob("[0-9]*.json"))
    commits[-1].unlink()
    (folder.commits / "head").unlink()
