"""Tables of the store for others: one file for each in a folder, or all in a DuckDB file of its own.

Rows are streamed. Parquet files say of every column what the store knows of it; a DuckDB file has real tables
with the same comments, so whoever gets it needs no store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import duckdb
import pyarrow as pa

from zscope.pipelines.export_target import ExportError, new_file, new_folder, spill_of
from zscope.pipelines.metrics import declared
from zscope.pipelines.store.tables import kept_schema, kept_tables
from zscope.schemas.ddl import literal
from zscope.schemas.reference import reference_tables
from zscope.schemas.stored import DAY
from zscope.schemas.tables import DIGEST_TABLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zscope.pipelines.store.session import Result, Session

Write = Callable[[pa.Schema, Iterable[pa.RecordBatch], BinaryIO], None]
"""Writes rows into a stream in some format."""
Told = Callable[[str, int], None]
"""Is told each table when it is done, with its rows."""

_STORE_OWN = "zscope_"
"""Names of what the store needs to know about itself; exported when asked for."""
_BLOCK = 16_384
"""Small, as many of the tables are a few rows."""
_MEMORY = "256MB"
"""Else DuckDB keeps what it wrote, up to nearly all there is; rows of one group of a wide table have room."""
_CLOCKS = ("written_local", "taken_local", "interval_start_local")
"""Where a view has no day."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column as the catalogue has it."""

    name: str
    type: str
    nullable: bool
    comment: str | None


@dataclass(frozen=True, slots=True)
class Slice:
    """Which rows: of these days of local time, both included, and of these systems.

    Tables that know no day or no system, such as the code tables, are not cut.
    """

    begin: date | None = None
    end: date | None = None
    systems: tuple[str, ...] = ()

    def where(self, columns: Iterable[str]) -> tuple[str, dict[str, object]]:
        """The condition for a table with these columns, and its parameters."""
        there = set(columns)
        clock = next((f"CAST({name} AS DATE)" for name in _CLOCKS if name in there), None)
        day = "day" if "day" in there else clock
        conditions: dict[str, tuple[str, object]] = {}
        if day and self.begin:
            conditions["begin"] = (f"{day} >= $begin", self.begin)
        if day and self.end:
            conditions["end"] = (f"{day} <= $end", self.end)
        if "system" in there and self.systems:
            conditions["systems"] = ("list_contains($systems, system)", list(self.systems))
        text = " AND ".join(condition for condition, _ in conditions.values())
        return text or "true", {name: value for name, (_, value) in conditions.items()}


@dataclass(frozen=True)
class Source:
    """The tables and views of a store, as far as they are wanted."""

    session: Session
    slice: Slice = Slice()

    @cached_property
    def meanings(self) -> dict[str, str | None]:
        """All tables and views, and what a row of each stands for."""
        query = (
            "SELECT table_name, comment FROM duckdb_tables() WHERE schema_name = 'main' AND NOT internal "
            "UNION ALL "
            "SELECT view_name, comment FROM duckdb_views() WHERE schema_name = 'main' AND NOT internal "
            "ORDER BY ALL"
        )
        return {str(name): _text(meaning) for name, meaning in self._values(query)}

    @cached_property
    def columns(self) -> dict[str, list[Column]]:
        """The columns of each table and view, in order."""
        query = (
            "SELECT table_name, column_name, data_type, is_nullable, comment FROM duckdb_columns() "
            "WHERE schema_name = 'main' AND NOT internal ORDER BY table_name, column_index"
        )
        found: dict[str, list[Column]] = {}
        for table, name, kind, nullable, comment in self._values(query):
            column = Column(str(name), str(kind), bool(nullable), _text(comment))
            found.setdefault(str(table), []).append(column)
        return found

    def names_with_rows(self) -> list[str]:
        """The tables worth exporting: those that have rows, except what is the store's own and the metrics,
        which follow from the others.
        """
        own = (DIGEST_TABLE, *(name for name in self.meanings if name.startswith(_STORE_OWN)))
        left_out = {*own, *declared()}
        return [name for name in self.meanings if name not in left_out and self._has_rows(name)]

    def rows(self, table: str, limit: str = "") -> Result:
        """The rows of a table that are wanted."""
        where, parameters = self.slice.where(column.name for column in self.columns[table])
        result = self.session.run(f"SELECT * FROM {_quoted(table)} WHERE {where} {limit}", parameters)
        assert result is not None
        return result

    def described(self, table: str) -> Result:
        """The same rows, with all that is known of the columns in the schema."""
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
    source: Source, tables: Sequence[str], target: Path, ending: str, write: Write, told: Told
) -> None:
    """Write each table to a file of its own in a new folder."""
    with new_folder(target) as folder:
        for table in tables:
            result = source.described(table)
            count = Count(result.batches)
            with (folder / f"{table}{ending}").open("xb") as out:
                write(result.schema, count, out)
            told(table, count.rows)


def export_database(source: Source, tables: Sequence[str], target: Path, told: Told) -> None:
    """Write all tables into a new DuckDB file: real tables, with their comments."""
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
                    told(table, _copy(source, table, connection))
                connection.execute("COMMIT")
        except RuntimeError as error:
            # What DuckDB makes of Ctrl-C while it works in the main thread.
            if isinstance(error.__cause__, KeyboardInterrupt):
                raise KeyboardInterrupt from error
            raise
        except duckdb.Error as error:
            first, _, _ = str(error).partition("\n")
            raise ExportError(f"{target}: {first}; nothing was written") from error


def _copy(source: Source, table: str, connection: duckdb.DuckDBPyConnection) -> int:
    for statement in _ddl(table, source.columns[table], source.meanings[table]):
        connection.execute(statement)
    count = Count(source.rows(table).batches)
    for batch in count:
        # A name for the rows would be part of the transaction, which would keep all of them to its end.
        connection.from_arrow(pa.Table.from_batches([batch])).insert_into(table)
    return count.rows


def _ddl(table: str, columns: Sequence[Column], meaning: str | None) -> Iterator[str]:
    declared = (f"{_quoted(c.name)} {c.type}{'' if c.nullable else ' NOT NULL'}" for c in columns)
    yield f"CREATE TABLE {_quoted(table)} ({', '.join(declared)})"
    if meaning:
        yield f"COMMENT ON TABLE {_quoted(table)} IS {literal(meaning)}"
    for column in columns:
        if column.comment:
            place = f"{_quoted(table)}.{_quoted(column.name)}"
            yield f"COMMENT ON COLUMN {place} IS {literal(column.comment)}"


def _described(table: str, schema: pa.Schema, columns: Sequence[Column]) -> pa.Schema:
    """The types and metadata that are declared; of other columns what their comment says."""
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
    if table in kept_tables():
        return (*kept_schema(table), DAY)
    return reference_tables()[table].schema if table in reference_tables() else ()


def _as_described(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    columns = [
        column if column.type == field.type else column.cast(field.type)
        for column, field in zip(batch.columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


@dataclass
class Count:
    """Batches that are counted while they are read."""

    batches: Iterable[pa.RecordBatch]
    rows: int = 0

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for batch in self.batches:
            self.rows += batch.num_rows
            yield batch


def _text(value: object) -> str | None:
    return str(value) if value else None


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
