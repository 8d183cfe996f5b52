"""Stores for tests: dumps to fill them with, and what is in them in a form that can be compared."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zscope.parsers.synthetic import Kind, Recipe, generate
from zscope.parsers.synthetic.recipe import TYPICAL_MIX
from zscope.pipelines.ingest import How, choose, ingest
from zscope.pipelines.store import open_reader
from zscope.pipelines.store.commits import read_state
from zscope.pipelines.store.folder import Folder
from zscope.pipelines.store.tables import data_tables

if TYPE_CHECKING:
    import duckdb

    from zscope.pipelines.ingest.outcome import Report

CATALOGUE = "zscope.duckdb"
WHERE_FROM = ("load_id", "record_no", "record_offset", "file", "line_no")
"""Columns that say by which load and from which place in a file a row came."""
EVERYTHING = How(choose(None))

Contents = Mapping[str, tuple[int, int]]
"""Of each table that has rows, how many there are and a sum over them that does not depend on their order."""


def dump_bytes(records: int = 400, days: int = 3, **changes: Any) -> bytes:  # noqa: ANN401 - fields of a recipe
    """A dump with many tables and days; the same arguments give the same bytes."""
    recipe = Recipe(records=records, seed=4, mix=dict(TYPICAL_MIX) | {Kind.FOREIGN: 0.02})
    out = io.BytesIO()
    generate(replace(recipe, end=recipe.start + timedelta(days=days), **changes), out)
    return out.getvalue()


def load(store: Path, *paths: Path, how: How = EVERYTHING) -> Report:
    """Load files as a program would."""
    return ingest(store, paths, how)


def rows_of(store: Path) -> Contents:
    """All rows in a store, whatever file they came from."""
    with open_reader(store) as connection:
        return contents(connection)


def contents(connection: duckdb.DuckDBPyConnection, left_out: Iterable[str] = WHERE_FROM) -> Contents:
    """All rows that a connection shows in the tables of decoded data, but for some columns."""
    found: dict[str, tuple[int, int]] = {}
    names: dict[str, list[str]] = {}
    columns = connection.execute(
        "SELECT table_name, column_name FROM duckdb_columns() WHERE schema_name = 'main' AND NOT internal"
    ).fetchall()
    for table, column in columns:
        names.setdefault(table, []).append(column)
    reading = connection.execute("SELECT view_name FROM duckdb_views() WHERE sql LIKE '%read_parquet(%'")
    with_files = {name for (name,) in reading.fetchall()}
    for table in data_tables():
        if table not in with_files:  # most tables of most stores: no rows, at the price of a query
            continue
        said = ", ".join(name for name in names[table] if name not in set(left_out))
        counted = connection.execute(f"SELECT count(*), sum(hash({said})::HUGEINT) FROM {table}").fetchone()
        assert counted is not None
        if counted[0]:
            found[table] = counted
    return found


def counts(found: Contents) -> dict[str, int]:
    """Only how many rows there are."""
    return {table: rows for table, (rows, _) in found.items()}


def files_that_count(store: Path) -> set[str]:
    """The data files that the commits name, those that were dropped of late included."""
    state = read_state(Folder(store))
    return {*state.files, *state.dropped}


def leftovers(store: Path) -> list[str]:
    """Files in a store that nothing names: what a killed writer left and nobody swept."""
    folder = Folder(store)
    named = {folder.data / name for name in files_that_count(store)}
    named |= {folder.lock, folder.catalogue, folder.settings, folder.runs, store / "zscope-store.json"}
    numbered = {path for path in folder.commits.glob("*.json") if not path.name.startswith(".")}
    reports = {path for path in folder.quarantine.glob("*.json") if not path.name.startswith(".")}
    every = {path for path in store.rglob("*") if path.is_file()}
    return sorted(str(path.relative_to(store)) for path in every - named - numbered - reports)
