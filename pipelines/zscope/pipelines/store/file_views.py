"""The views over the data files: one for each table, that reads the committed files and no others."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from zscope.pipelines.store.tables import kept_schema, schema_digest
from zscope.schemas.ddl import duckdb_type, literal
from zscope.schemas.stored import DAY

if TYPE_CHECKING:
    from zscope.pipelines.store.commits import DataFile
    from zscope.pipelines.store.folder import Folder


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


def readable(folder: Folder, files: list[DataFile]) -> bool:
    """Whether a view over files can be made: DuckDB looks at the first, and so at one of each schema."""
    try:
        for file in {file.schema: file for file in reversed(files)}.values():
            pq.read_metadata(folder.data / file.path)
    except (OSError, pa.ArrowException):
        return False
    return True


def damaged(table: str) -> str:
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
