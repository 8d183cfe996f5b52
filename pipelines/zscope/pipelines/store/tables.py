"""The views of the tables: statements that read exactly the committed files."""

from __future__ import annotations

from collections import defaultdict
from datetime import date
from functools import cache
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from zscope.pipelines.store.commits import NO_DAY_KEY
from zscope.pipelines.store.parquet_files import parquet_schema, schema_digest
from zscope.pipelines.store.stored_columns import column_sql
from zscope.schemas.arrow import duckdb_type
from zscope.schemas.sql_text import literal
from zscope.schemas.stored import DAY

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from zscope.pipelines.store.commits import DataFile, State
    from zscope.pipelines.store.folder import Folder


def table_sql(
    folder: Folder,
    state: State,
    table: str,
    files: Iterable[DataFile],
    days: Collection[str] | None = None,
) -> str:
    """Return the statement of the view of a table, which reads exactly the committed files.

    Of files with several days it reads all rows, or those of some days. Files written by a version of zscope
    with fewer columns have nulls in the others, and their numbers have the types of this version. If a check
    found one of them damaged, the statement raises an error.
    """
    kinds: dict[tuple[str, bool], list[str]] = defaultdict(list)
    for file in files:
        if file.path in state.damaged:
            return damaged(table)
        kinds[_kind(file)].append(file.path)
    selects = []
    for (schema, of_days), paths in kinds.items():
        select = _select(folder, table, paths, current=schema == schema_digest(table), of_days=of_days)
        selects.append(f"{select} WHERE {on_days(days)}" if of_days and days is not None else select)
    return "\nUNION ALL BY NAME\n".join(selects) or _no_rows(table)


def days_sql(folder: Folder, state: State, table: str, days: Collection[str]) -> str:
    """Return the statement that reads the rows of some days of a table."""
    files = {file.path: file for day in sorted(days) for file in state.files_on(table, day or None)}
    return table_sql(folder, state, table, files.values(), days)


def readable(folder: Folder, files: Sequence[DataFile]) -> bool:
    """Whether a view over files can be created, for which DuckDB opens one file of each schema."""
    newest = {_kind(file): file for file in reversed(files)}.values()
    return all(_has_columns(folder.data / file.path, file) for file in newest)


def _has_columns(path: Path, file: DataFile) -> bool:
    """Whether a file has the metadata of a Parquet file, with the columns that its commit states."""
    try:
        names = set(pq.read_schema(path).names)
    except (OSError, pa.ArrowException):
        return False
    return file.schema != schema_digest(file.table) or names >= set(parquet_schema(file.table).names)


def is_parquet(path: Path) -> bool:
    """Whether a file exists and has the metadata of a Parquet file."""
    try:
        pq.read_metadata(path)
    except (OSError, pa.ArrowException):
        return False
    return True


def damaged(table: str) -> str:
    """Return the statement of a view that raises an error when it is read, for a table with damaged files."""
    problem = (
        f"files of the table {table} are missing or damaged: zscope store check names them, "
        "zscope store repair restores them"
    )
    error = f"error({literal(problem)})"
    # Every column raises it as well: over a column of nulls, DuckDB answers most conditions without reading.
    columns = ", ".join(
        f"CAST({error} AS {duckdb_type(field.type)}) AS {field.name}"
        for field in (*parquet_schema(table), DAY)
    )
    return f"SELECT {columns} WHERE {error} IS NULL"


def _kind(file: DataFile) -> tuple[str, bool]:
    """Return what the files of one scan have in common: their columns, and whether `day` is one of them."""
    return file.schema, bool(file.days)


def on_days(days: Collection[str]) -> str:
    """Return the condition for the rows of some days, as ranges: DuckDB skips row groups outside of them.

    >>> on_days(["2026-03-02", "2026-03-03", "2026-03-05"])
    "(day BETWEEN '2026-03-02' AND '2026-03-03' OR day = '2026-03-05')"
    """
    conditions = [
        f"day = {literal(first)}" if first == last else f"day BETWEEN {literal(first)} AND {literal(last)}"
        for first, last in _ranges(sorted(day for day in days if day != NO_DAY_KEY))
    ]
    if NO_DAY_KEY in days:
        conditions.append("day IS NULL")
    return f"({' OR '.join(conditions) or 'false'})"


def _ranges(days: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the first and the last day of each range of consecutive days."""
    numbers = [date.fromisoformat(day).toordinal() for day in days]
    first = 0
    for at in range(len(days)):
        if at + 1 == len(days) or numbers[at + 1] != numbers[at] + 1:
            yield days[first], days[at]
            first = at + 1


def _select(folder: Folder, table: str, paths: list[str], *, current: bool, of_days: bool) -> str:
    existing = {} if current else _columns_in(folder.data / paths[0])
    columns = ", ".join(
        field.name if current else column_sql(field, existing.get(field.name))
        for field in parquet_schema(table)
    )
    listed = ",\n    ".join(literal(str(folder.data / path)) for path in paths)
    day = "hive_partitioning = false" if of_days else "hive_partitioning = true, hive_types = {'day': DATE}"
    return f"SELECT {columns}, day FROM read_parquet([\n    {listed}\n], {day})"


def _columns_in(path: Path) -> dict[str, pa.DataType]:
    try:
        return {field.name: field.type for field in pq.read_schema(path)}
    except (OSError, pa.ArrowException):
        return {}  # `damaged` replaces the view


@cache
def _no_rows(table: str) -> str:
    columns = (column_sql(field, None) for field in (*parquet_schema(table), DAY))
    return f"SELECT {', '.join(columns)} WHERE false"
