"""What readers of published tables see, compared with what the store has."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Any

import duckdb
import polars as pl
import pyarrow as pa
from pyiceberg.catalog import load_catalog
from pyiceberg.table import StaticTable

from zscope.pipelines.iceberg.publish import published_tables
from zscope.pipelines.store import open_reader
from zscope.pipelines.store.commits import read_state
from zscope.pipelines.store.folder import existing_store
from zscope.pipelines.store.parquet_files import parquet_schema
from zscope.pipelines.store.tables import table_sql
from zscope.schemas.arrow import duckdb_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from pyiceberg.table import Table

    from zscope.pipelines.store.commits import DataFile

os.environ["POLARS_ICEBERG_PLANNER"] = "pyiceberg"  # the other one is a package of its own
logging.getLogger("pyiceberg.io.pyarrow").setLevel(logging.ERROR)  # a warning for each column with texts

Contents = dict[str, tuple[int, int]]
"""By table: the number of rows, and a sum over the hashes of their values."""


def content_sql(table: str, source: str) -> str:
    """The query for the content of a table, over all columns in the types of the store."""
    columns = (f"{field.name}::{duckdb_type(field.type)}" for field in parquet_schema(table))
    return f"SELECT count(*), coalesce(sum(hash({', '.join(columns)})::HUGEINT), 0) FROM {source}"


def in_store(store: Path) -> Contents:
    """What the statements of the views of the store return, for all tables with files."""
    found: Contents = {}
    folder = existing_store(store)
    files: dict[str, list[DataFile]] = {}
    state = read_state(folder)
    for file in state.files.values():
        files.setdefault(file.table, []).append(file)
    with duckdb.connect() as connection:
        for table in files.keys() & published_tables():
            source = f"({table_sql(folder, state, table, files[table])})"
            found[table] = _one_row(connection, content_sql(table, source))
    return found


def in_catalogue_of_store(store: Path, tables: Iterable[str]) -> Contents:
    """What SQL returns for the views over the data files that users of the store have."""
    with open_reader(store) as connection:
        return {table: _one_row(connection, content_sql(table, f"files.{table}")) for table in tables}


def with_rows(contents: Mapping[str, tuple[int, int]]) -> Contents:
    """The tables that have rows: a published table stays when its last row goes."""
    return {table: content for table, content in contents.items() if content[0]}


def content_of(table: str, rows: pa.Table) -> tuple[int, int]:
    """The content of a table that a reader returned; at an old snapshot it can have fewer columns."""
    for field in parquet_schema(table):
        if field.name not in rows.column_names:
            rows = rows.append_column(field.name, pa.nulls(rows.num_rows, field.type))
    with duckdb.connect() as connection:
        connection.register("rows", rows)
        return _one_row(connection, content_sql(table, "rows"))


def _one_row(connection: duckdb.DuckDBPyConnection, query: str) -> tuple[int, int]:
    row = connection.execute(query).fetchone()
    assert row is not None
    return int(row[0]), int(row[1])


def tables_in(target: Path) -> list[str]:
    """The names of all published tables."""
    return sorted(path.parents[1].name for path in target.glob("zscope/*/metadata/version-hint.text"))


def by_hint(target: Path, table: str) -> StaticTable:
    """A table opened by its folder alone."""
    return StaticTable.from_metadata(str(target / "zscope" / table))


def in_catalogue(target: Path) -> dict[str, Table]:
    """All tables of the catalogue."""
    catalogue = load_catalog("zscope", type="sql", uri=f"sqlite:///{target / 'catalog.db'}")
    names = [".".join(name) for name in catalogue.list_tables("zscope")]
    tables = {name.partition(".")[2]: catalogue.load_table(name) for name in names}
    catalogue.close()
    return tables


def all_rows(table: Table, snapshot: int | None = None) -> pa.Table:
    """All rows of a table, now or at a snapshot.

    Unlike `to_arrow`, the reader of batches converts the dictionaries of files to the type of the table.
    That is needed if others do not have the column.
    """
    return table.scan(snapshot_id=snapshot).to_arrow_batch_reader().read_all()


def read_by_hint(target: Path, tables: Iterable[str] | None = None) -> Contents:
    """What pyiceberg reads without a catalogue."""
    return {
        table: content_of(table, all_rows(by_hint(target, table))) for table in tables or tables_in(target)
    }


def read_by_catalogue(target: Path) -> Contents:
    """What pyiceberg reads by the catalogue."""
    return {table: content_of(table, all_rows(each)) for table, each in in_catalogue(target).items()}


def read_by_polars(target: Path, tables: Iterable[str] | None = None) -> Contents:
    """What the reader of polars itself reads, without pyiceberg's."""
    found = {}
    for table in tables or tables_in(target):
        frame = pl.scan_iceberg(by_hint(target, table).metadata_location, reader_override="native")
        found[table] = content_of(table, frame.collect().to_arrow())
    return found


def snapshots_of(target: Path, table: str) -> dict[int, int]:
    """The snapshots of a table: by commit of the store, the number of the snapshot."""
    snapshots = by_hint(target, table).metadata.snapshots
    found = {int(_summary(snapshot)["zscope.commit"]): snapshot.snapshot_id for snapshot in snapshots}
    assert len(found) == len(snapshots), "a commit has two snapshots"
    return found


def _summary(snapshot: Any) -> Mapping[str, str]:  # noqa: ANN401 - a snapshot
    assert snapshot.summary is not None
    return dict(snapshot.summary.additional_properties)


def read_snapshots(target: Path) -> dict[int, Contents]:
    """What pyiceberg reads at each snapshot of each table, by commit."""
    found: dict[int, Contents] = {}
    for table in tables_in(target):
        opened = by_hint(target, table)
        for commit, snapshot in snapshots_of(target, table).items():
            rows = all_rows(opened, snapshot)
            found.setdefault(commit, {})[table] = content_of(table, rows)
    return found
