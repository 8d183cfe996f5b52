"""pyarrow, DuckDB, polars, pandas and pyiceberg read the same values and types from the files of a store."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from tests.marking import deep_except
from tests.pipelines.readers.extremes import plain, write_extremes

from zscope.pipelines.store.commits import read_state
from zscope.pipelines.store.folder import existing_store
from zscope.pipelines.store.parquet_files import parquet_schema, parquet_tables

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Files = dict[str, tuple["Path", pa.Table]]


def by_pyarrow(path: Path, _schema: pa.Schema) -> pa.Table:
    return pq.read_table(path, partitioning=None)


def by_duckdb(path: Path, _schema: pa.Schema) -> pa.Table:
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        return connection.read_parquet(str(path), hive_partitioning=False).to_arrow_table()


def by_polars(path: Path, _schema: pa.Schema) -> pa.Table:
    return pl.read_parquet(path, hive_partitioning=False).to_arrow()


def by_pandas(path: Path, _schema: pa.Schema) -> pa.Table:
    import pandas as pd  # type: ignore[import-untyped]

    frame = pd.read_parquet(path, dtype_backend="pyarrow", partitioning=None)
    return pa.Table.from_pandas(frame, preserve_index=False)


def by_pyiceberg(path: Path, schema: pa.Schema) -> pa.Table:
    """Add the file to a table of Iceberg with a name mapping, as no file of the store has field ids."""
    folder = path.parent / f"iceberg-{path.stem}"
    folder.mkdir()
    catalog = SqlCatalog("check", uri="sqlite:///:memory:", warehouse=folder.as_uri())
    try:
        catalog.create_namespace("store")
        table = catalog.create_table("store.rows", schema=schema)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # one for each column with a dictionary, which it does not keep
            table.add_files([str(path)])
        assert "schema.name-mapping.default" in table.properties
        return table.scan().to_arrow()
    finally:
        catalog.close()


WAYS = (by_pyarrow, by_duckdb, by_polars, by_pandas, by_pyiceberg)


@pytest.fixture(scope="module")
def extremes(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """For each table a file with the extremes of all types, and the rows in it."""
    folder = tmp_path_factory.mktemp("extremes")
    paths = {table: folder / f"{table}.parquet" for table in parquet_tables()}
    return {table: (path, write_extremes(table, path)) for table, path in paths.items()}


def differences(files: Files, way: Callable[[Path, pa.Schema], pa.Table]) -> list[str]:
    different = []
    for table, (path, expected) in files.items():
        found = plain(way(path, expected.schema))
        if found.schema.types != expected.schema.types:
            different.append(f"{table}: types {found.schema.types}")
        different += [
            f"{table}.{name}: {found[name].to_pylist()[:6]} for {expected[name].to_pylist()[:6]}"
            for name in expected.column_names
            if not found[name].equals(expected[name])
        ]
    return different


@pytest.mark.parametrize("way", deep_except(WAYS[:3], WAYS))
def test_extremes_of_every_table(way: Callable[[Path, pa.Schema], pa.Table], extremes: Files) -> None:
    assert len(extremes) >= 50
    assert differences(extremes, way) == []


@pytest.mark.parametrize("way", deep_except(WAYS[1:2], WAYS[1:]))
def test_every_table_of_a_store(
    way: Callable[[Path, pa.Schema], pa.Table], sample_store: Path, tmp_path: Path
) -> None:
    """Files of sample data; pyarrow, which wrote them, states what is in them."""
    folder = existing_store(sample_store)
    files: Files = {}
    for file in read_state(folder).files.values():
        # A link beside: its folder is free for what a reader writes, and its name has no partition.
        path = tmp_path / f"{file.table}.parquet"
        if file.table not in files:
            path.symlink_to(folder.data / file.path)
            files[file.table] = (path, plain(by_pyarrow(path, parquet_schema(file.table))))
    assert len(files) >= 30
    assert differences(files, way) == []
