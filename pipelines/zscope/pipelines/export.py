"""Export tables of the store: one file for each in a folder, or all in a new DuckDB file.

Rows are streamed. Parquet files contain the declared metadata of every column; a DuckDB file has real tables
with the same comments, so it can be used without the store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, BinaryIO

import duckdb
import pyarrow as pa

from zscope.pipelines.export_target import ExportError, new_file, new_folder, spill_of
from zscope.pipelines.metrics import declared
from zscope.pipelines.store.parquet_files import parquet_schema, parquet_tables
from zscope.schemas.catalogue_schemas import EVERY_COLUMN, EVERY_NAME
from zscope.schemas.reference import reference_schemas
from zscope.schemas.sql_text import identifier, literal
from zscope.schemas.stored import DAY
from zscope.schemas.tables import DIGEST_TABLE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date
    from pathlib import Path

    from zscope.pipelines.store.session import QueryResult, Session

WriteRows = Callable[[pa.Schema, Iterable[pa.RecordBatch], BinaryIO], None]
"""Writes rows to a stream in some format."""
Progress = Callable[[str, int], None]
"""Called with each table and its number of rows when the table is complete."""

_STORE_OWN = "zscope_"
"""Prefix of the tables about the store itself, which are exported only by name."""
_BLOCK = 16_384
"""Small, because many of the tables have few rows."""
_MEMORY = "256MB"
"""Otherwise DuckDB keeps what it wrote, up to nearly all memory; a row group of a wide table fits."""
_CLOCKS = ("written_local", "taken_local", "interval_start_local")
"""Time columns of views without a day column."""


@dataclass(frozen=True, slots=True)
class ExportColumn:
    """A column in the catalogue."""

    name: str
    type: str
    nullable: bool
    comment: str | None


@dataclass(frozen=True, slots=True)
class RowFilter:
    """Selects rows by days of local time, both included, and by systems.

    Tables without a day or system column, such as the code tables, are not filtered.
    """

    begin: date | None = None
    end: date | None = None
    systems: tuple[str, ...] = ()

    def where(self, columns: Iterable[str]) -> tuple[str, dict[str, object]]:
        """Return the condition for a table with these columns, and its parameters."""
        available = set(columns)
        clock = next((f"CAST({name} AS DATE)" for name in _CLOCKS if name in available), None)
        day = "day" if "day" in available else clock
        conditions: dict[str, tuple[str, object]] = {}
        if day and self.begin:
            conditions["begin"] = (f"{day} >= $begin", self.begin)
        if day and self.end:
            conditions["end"] = (f"{day} <= $end", self.end)
        if "system" in available and self.systems:
            conditions["systems"] = ("list_contains($systems, system)", list(self.systems))
        text = " AND ".join(condition for condition, _ in conditions.values())
        return text or "true", {name: value for name, (_, value) in conditions.items()}


@dataclass(frozen=True)
class ExportSource:
    """The tables and views of a store with a row filter."""

    session: Session
    slice: RowFilter = RowFilter()

    @cached_property
    def meanings(self) -> dict[str, str | None]:
        """All tables and views with the meaning of their rows."""
        return {str(name): _text(meaning) for name, meaning in self._values(EVERY_NAME)}

    @cached_property
    def columns(self) -> dict[str, list[ExportColumn]]:
        """The columns of each table and view, in order."""
        columns: dict[str, list[ExportColumn]] = {}
        for table, name, kind, nullable, comment in self._values(EVERY_COLUMN):
            column = ExportColumn(str(name), str(kind), bool(nullable), _text(comment))
            columns.setdefault(str(table), []).append(column)
        return columns

    def names_with_rows(self) -> list[str]:
        """Return the tables to export by default: those with rows, without tables about the store and without
        metrics, which follow from the others.
        """
        own = (DIGEST_TABLE, *(name for name in self.meanings if name.startswith(_STORE_OWN)))
        left_out = {*own, *declared()}
        return [name for name in self.meanings if name not in left_out and self._has_rows(name)]

    def rows(self, table: str, limit: str = "") -> QueryResult:
        """Return the filtered rows of a table."""
        where, parameters = self.slice.where(column.name for column in self.columns[table])
        result = self.session.run(f"SELECT * FROM {identifier(table)} WHERE {where} {limit}", parameters)
        assert result is not None
        return result

    def described(self, table: str) -> QueryResult:
        """Return the same rows with the metadata of the columns in the schema."""
        columns = self.columns[table]
        result = self.rows(table)
        schema = _described(table, result.schema, columns)
        return type(result)(schema, (_as_described(batch, schema) for batch in result.batches))

    def _has_rows(self, table: str) -> bool:
        return any(batch.num_rows for batch in self.rows(table, "LIMIT 1").batches)

    def _values(self, query: str, parameters: dict[str, object] | None = None) -> list[Sequence[object]]:
        result = self.session.run(query, parameters)
        assert result is not None
        return [tuple(row.values()) for batch in result.batches for row in batch.to_pylist()]


def export_files(
    source: ExportSource,
    tables: Sequence[str],
    target: Path,
    ending: str,
    write: WriteRows,
    progress: Progress,
) -> None:
    """Write each table to its own file in a new folder."""
    with new_folder(target) as folder:
        for table in tables:
            result = source.described(table)
            count = CountedBatches(result.batches)
            with (folder / f"{table}{ending}").open("xb") as out:
                write(result.schema, count, out)
            progress(table, count.rows)


def export_database(source: ExportSource, tables: Sequence[str], target: Path, progress: Progress) -> None:
    """Write all tables into a new DuckDB file, as real tables with their comments."""
    with new_file(target) as file:
        try:
            with duckdb.connect() as connection:
                connection.execute(f"SET memory_limit = '{_MEMORY}'")
                connection.execute(f"SET temp_directory = {literal(str(spill_of(file)))}")
                connection.execute("SET enable_progress_bar = false")  # it would be drawn on standard output
                connection.execute(f"ATTACH {literal(str(file))} AS export (BLOCK_SIZE {_BLOCK})")
                connection.execute("USE export")
                connection.execute("BEGIN")
                for table in tables:
                    progress(table, _copy(source, table, connection))
                connection.execute("COMMIT")
        except RuntimeError as error:
            # What DuckDB makes of Ctrl-C while it works in the main thread.
            if isinstance(error.__cause__, KeyboardInterrupt):
                raise KeyboardInterrupt from error
            raise
        except duckdb.Error as error:
            first, _, _ = str(error).partition("\n")
            raise ExportError(f"{target}: {first}; nothing was written") from error


def _copy(source: ExportSource, table: str, connection: duckdb.DuckDBPyConnection) -> int:
    for statement in _ddl(table, source.columns[table], source.meanings[table]):
        connection.execute(statement)
    count = CountedBatches(source.rows(table).batches)
    for batch in count:
        # A name for the rows would be part of the transaction, which would keep all of them to its end.
        connection.from_arrow(pa.Table.from_batches([batch])).insert_into(table)
    return count.rows


def _ddl(table: str, columns: Sequence[ExportColumn], meaning: str | None) -> Iterator[str]:
    declared = (f"{identifier(c.name)} {c.type}{'' if c.nullable else ' NOT NULL'}" for c in columns)
    yield f"CREATE TABLE {identifier(table)} ({', '.join(declared)})"
    if meaning:
        yield f"COMMENT ON TABLE {identifier(table)} IS {literal(meaning)}"
    for column in columns:
        if column.comment:
            place = f"{identifier(table)}.{identifier(column.name)}"
            yield f"COMMENT ON COLUMN {place} IS {literal(column.comment)}"


def _described(table: str, schema: pa.Schema, columns: Sequence[ExportColumn]) -> pa.Schema:
    """Return the declared types and metadata; for other columns the comment."""
    declared = {field.name: field for field in _declared(table)}
    comments = {column.name: column.comment for column in columns}
    fields = []
    for field in schema:
        if field.name in declared:
            fields.append(declared[field.name].with_nullable(True))
        elif comment := comments.get(field.name):
            fields.append(field.with_metadata({"meaning": comment}))
        else:
            fields.append(field)
    return pa.schema(fields, {"table": table})


def _declared(table: str) -> Iterable[pa.Field]:
    if table in parquet_tables():
        return (*parquet_schema(table), DAY)
    fields: Iterable[pa.Field] = reference_schemas().get(table, ())
    return fields


def _as_described(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    columns = [
        column if column.type == field.type else column.cast(field.type)
        for column, field in zip(batch.columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


@dataclass
class CountedBatches:
    """Counts the rows of batches while they are read."""

    batches: Iterable[pa.RecordBatch]
    rows: int = 0

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for batch in self.batches:
            self.rows += batch.num_rows
            yield batch


def _text(value: object) -> str | None:
    return str(value) if value else None
