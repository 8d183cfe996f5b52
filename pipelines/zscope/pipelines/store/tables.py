"""The views of the tables: statements that read exactly the committed files."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from zscope.pipelines.store.columns import column_sql
from zscope.pipelines.store.parts import parquet_schema, schema_digest
from zscope.schemas.arrow import literal
from zscope.schemas.stored import DAY

if TYPE_CHECKING:
    from pathlib import Path

    from zscope.pipelines.store.commits import DataFile
    from zscope.pipelines.store.folder import Folder


def table_sql(folder: Folder, table: str, files: list[DataFile]) -> str:
    """Return the statement of the view of a table, which reads exactly the committed files.

    Files written by a version of zscope with fewer columns have nulls in the others, and their numbers have
    the types of this version.
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
    newest = {file.schema: file for file in reversed(files)}.values()
    return all(is_parquet(folder.data / file.path) for file in newest)


def is_parquet(path: Path) -> bool:
    """Whether a file exists and has the metadata of a Parquet file."""
    try:
        pq.read_metadata(path)
    except (OSError, pa.ArrowException):
        return False
    return True


def damaged(table: str) -> str:
    """Return the statement of a view that raises an error when it is read, for a table with damaged files."""
    problem = f"files of the table {table} are missing or damaged: zscope store check names them"
    columns = (column_sql(field, None) for field in (*parquet_schema(table), DAY))
    error = f"SELECT error({literal(problem)}) AS problem"
    return f"SELECT {', '.join(columns)} FROM ({error}) WHERE problem IS NULL"


def _select(folder: Folder, table: str, paths: list[str], *, current: bool) -> str:
    existing = {} if current else _columns_in(folder.data / paths[0])
    columns = ", ".join(
        field.name if current else column_sql(field, existing.get(field.name))
        for field in parquet_schema(table)
    )
    listed = ",\n    ".join(literal(str(folder.data / path)) for path in paths)
    return (
        f"SELECT {columns}, day FROM read_parquet([\n    {listed}\n], "
        "hive_partitioning = true, hive_types = {'day': DATE})"
    )


def _columns_in(path: Path) -> dict[str, pa.DataType]:
    try:
        return {field.name: field.type for field in pq.read_schema(path)}
    except (OSError, pa.ArrowException):
        return {}  # `damaged` replaces the view


def _no_rows(table: str) -> str:
    columns = (column_sql(field, None) for field in (*parquet_schema(table), DAY))
    return f"SELECT {', '.join(columns)} WHERE false"
