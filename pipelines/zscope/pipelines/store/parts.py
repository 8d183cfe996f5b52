"""The tables of the store, and the Parquet file of one table and day, written row group by row group."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from zscope.parsers.issues import ISSUE_SCHEMA
from zscope.pipelines.quality.results import VALIDATION_SCHEMA
from zscope.schemas.ddl import table_meaning
from zscope.schemas.stored import LOAD_ID, local_clock, stored_schema
from zscope.schemas.tables import ANY_RECORD_TABLES, DIGEST_TABLE, table_names

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path


ISSUE_TABLE = "issue"
VALIDATION_TABLE = "validation"
_INTERNAL = {
    ISSUE_TABLE: (
        "One row per issue in a loaded file, with its place.",
        pa.schema([LOAD_ID, *ISSUE_SCHEMA]),
    ),
    VALIDATION_TABLE: ("One row per expectation and run of the data validation.", VALIDATION_SCHEMA),
}


@cache
def data_tables() -> tuple[str, ...]:
    """Return the tables of decoded data, without those that only `zscope decode` produces."""
    return tuple(name for name in table_names() if name not in ANY_RECORD_TABLES)


@cache
def parquet_tables() -> tuple[str, ...]:
    """Return all tables that the store has as Parquet files."""
    return (*data_tables(), DIGEST_TABLE, *_INTERNAL)


def parquet_schema(table: str) -> pa.Schema:
    """Return the columns of the files of a table."""
    return _INTERNAL[table][1] if table in _INTERNAL else stored_schema(table)


def table_description(table: str) -> str:
    """Return what a row of a table stands for."""
    return _INTERNAL[table][0] if table in _INTERNAL else table_meaning(table)


def time_column(table: str) -> str | None:
    """Return the column by which rows are sorted and partitioned; None for internal tables."""
    return None if table in _INTERNAL else local_clock(table)


@cache
def schema_digest(table: str) -> str:
    """Return a digest of the columns and types of a table in this version."""
    columns = ",".join(f"{field.name}:{field.type}" for field in parquet_schema(table))
    return hashlib.sha256(columns.encode()).hexdigest()[:12]


ROW_GROUP_ROWS = 122_880
"""The unit of work of a DuckDB thread, so that each group is read by one thread or skipped by its times."""
COMPRESSION, LEVEL = "zstd", 1
"""Higher levels cost much time and save little space."""
_INCREASING = frozenset(
    {
        "record_no", "record_offset", "line_no", "connection_id", "written_local", "written_utc",
        "taken_local", "taken_utc", "interval_start_local", "interval_start_utc", "start_local", "start_utc",
        "end_local", "end_utc",
    }
)  # fmt: skip
_FILTERED = _INCREASING | {"load_id", "system", "job_name", "local_port", "remote_port", "digest"}
_BATCH_ROWS = 1 << 16
_ORDER = ("record_no", "line_no", "section_no")
"""Columns by which rows of the same time are sorted into the order of their file."""


@dataclass(frozen=True, slots=True)
class StagedFile:
    """A complete file that is not committed yet."""

    path: Path
    table: str
    day: str | None
    rows: int
    bytes: int
    first_local: str | None = None
    last_local: str | None = None
    """The earliest and latest time in it; None if it has no times."""


@dataclass(slots=True)
class Part:
    """A file that is being written; used by one thread at a time."""

    path: Path
    table: str
    day: str | None
    schema: pa.Schema
    rows: int = 0
    _times: list[datetime] = field(default_factory=list, init=False)
    _writer: pq.ParquetWriter | None = field(default=None, init=False)

    def write(self, rows: pa.Table) -> None:
        """Write rows as one row group, sorted by time."""
        if self._writer is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._writer = open_writer(self.path, self.schema)
        clock = time_column(self.table)
        self._writer.write_table(sorted_by_time(rows, clock), row_group_size=rows.num_rows)
        self.rows += rows.num_rows
        if clock:
            span = pc.min_max(rows[clock]).as_py()
            self._times += [time for time in span.values() if time is not None]

    def close(self) -> StagedFile:
        """Finish the file."""
        assert self._writer is not None, "a part is created with its first row group"
        self._writer.close()
        first, last = (
            str(time) if time else None
            for time in (min(self._times, default=None), max(self._times, default=None))
        )
        size = self.path.stat().st_size
        return StagedFile(self.path, self.table, self.day, self.rows, size, first, last)

    def abandon(self) -> None:
        """Close the incomplete file, which the caller deletes."""
        if self._writer:
            with suppress(OSError):
                self._writer.close()


def open_writer(path: Path, schema: pa.Schema) -> pq.ParquetWriter:
    """Return a writer with the settings of the store.

    Strings and repeated values are dictionary-encoded, mostly increasing numbers delta-encoded, other numbers
    plain. Minimum and maximum are stored for columns by which queries skip row groups.
    """
    repeating = [f.name for f in schema if pa.types.is_dictionary(f.type) or f.name == "load_id"]
    increasing = [f.name for f in schema if f.name in _INCREASING and not pa.types.is_dictionary(f.type)]
    return pq.ParquetWriter(
        path,
        schema,
        compression=COMPRESSION,
        compression_level=LEVEL,
        use_dictionary=repeating,
        column_encoding=dict.fromkeys(increasing, "DELTA_BINARY_PACKED"),
        write_statistics=[field.name for field in schema if field.name in _FILTERED],
        write_batch_size=_BATCH_ROWS,
    )


def sorted_by_time(rows: pa.Table, clock: str | None) -> pa.Table:
    """Return rows sorted by time; rows that are in order already, as in most dumps, are not copied."""
    if clock is None or rows.num_rows < 2:
        return rows
    times = rows[clock].combine_chunks()
    if not times.null_count and pc.all(pc.greater_equal(times[1:], times[:-1])).as_py():
        return rows
    keys = [(name, "ascending") for name in (clock, *_ORDER) if name in rows.column_names]
    return rows.take(pc.sort_indices(rows, sort_keys=keys))
