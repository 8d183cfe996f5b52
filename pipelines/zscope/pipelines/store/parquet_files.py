"""The tables of the store, and writing their Parquet files by day, row group by row group.

The rows of a load arrive in the order of the input. They are buffered by table and day up to the size of a
row group, sorted by time, and compressed by a thread while the next records are decoded. The buffers are
limited in bytes, whatever the input contains.
"""

from __future__ import annotations

import hashlib
from collections import Counter, OrderedDict, defaultdict
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from zscope.parsers.issues import ISSUE_SCHEMA
from zscope.pipelines.quality.validation_results import VALIDATION_SCHEMA
from zscope.pipelines.store.folder import partition
from zscope.schemas.arrow import UTC, in_stored_types, table_meaning
from zscope.schemas.stored import DAY, LOAD_ID, local_clock, stored_schema
from zscope.schemas.tables import ANY_RECORD_TABLES, DIGEST_TABLE, table_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import datetime
    from pathlib import Path


Rows = TypeVar("Rows", pa.RecordBatch, pa.Table)
ISSUE_TABLE = "issue"
INPUT_ISSUE_TABLE = "input_issue"
VALIDATION_TABLE = "validation"
_SINCE = pa.field(
    "since_utc", UTC, metadata={"meaning": "When the file was first not loaded for this reason."}
)
_INTERNAL = {
    ISSUE_TABLE: (
        "One row per issue in a loaded file, with its place.",
        in_stored_types(pa.schema([LOAD_ID, *ISSUE_SCHEMA])),
    ),
    INPUT_ISSUE_TABLE: (
        "One row per issue of a file that was refused or skipped in the last attempt to load it.",
        in_stored_types(pa.schema([_SINCE, *ISSUE_SCHEMA])),
    ),
    VALIDATION_TABLE: (
        "One row per expectation and run of the data validation.",
        in_stored_types(VALIDATION_SCHEMA),
    ),
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


@cache
def file_schema(table: str) -> pa.Schema:
    """Return the columns of the files of a table: those of its rows, and the day of their partition."""
    return parquet_schema(table).append(DAY)


def table_description(table: str) -> str:
    """Return what a row of a table stands for."""
    return _INTERNAL[table][0] if table in _INTERNAL else table_meaning(table)


def time_column(table: str) -> str | None:
    """Return the column by which rows are sorted and partitioned; None for internal tables."""
    return None if table in _INTERNAL else local_clock(table)


@cache
def schema_digest(table: str) -> str:
    """Return a digest of the columns and types of the files of a table in this version."""
    columns = ",".join(f"{field.name}:{field.type}" for field in file_schema(table))
    return hashlib.sha256(columns.encode()).hexdigest()[:12]


ROW_GROUP_ROWS = 122_880
"""The unit of work of a DuckDB thread, so that each group is read by one thread or skipped by its times."""
ROW_GROUP_BYTES = 16 << 20
"""Size from which on rows of a wide table are written: writing them needs several times as much memory."""
COMPRESSION, LEVEL = "zstd", 1
"""Higher levels cost much time and save little space."""
_INCREASING = frozenset(
    {
        "record_no", "record_offset", "line_no", "connection_id", "written_local", "written_utc",
        "taken_local", "taken_utc", "interval_start_local", "interval_start_utc", "start_local", "start_utc",
        "end_local", "end_utc",
    }
)  # fmt: skip
_FILTERED = _INCREASING | {DAY.name, "load_id", "system", "job_name", "local_port", "remote_port", "digest"}
_BATCH_ROWS = 1 << 16
_ORDER = ("record_no", "line_no", "section_no")
"""Columns by which rows of the same time are sorted into the order of their file."""


TableRows = tuple[str, pa.RecordBatch]
"""A table and some of its rows."""


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
    days: Mapping[str, int] = field(default_factory=dict, compare=False)
    """Number of rows by day, if it has several days."""
    digest: str = field(default="", compare=False)
    """XXH3-128 of the file, if whoever wrote it has computed it."""
    loads: Mapping[int, int] = field(default_factory=dict, compare=False)
    """Number of rows by load; empty for tables whose rows are of no load."""


@dataclass(slots=True)
class Part:
    """A file that is being written; used by one thread at a time.

    Without a day it can have rows of several days, or rows without one: their column `day` says which.
    """

    path: Path
    table: str
    day: str | None
    schema: pa.Schema
    rows: int = 0
    _times: list[datetime] = field(default_factory=list, init=False)
    _days: Counter[str] = field(default_factory=Counter, init=False)
    _loads: Counter[int] = field(default_factory=Counter, init=False)
    _writer: pq.ParquetWriter | None = field(default=None, init=False)

    def write(self, rows: pa.Table) -> None:
        """Write rows as one row group, sorted by time; without a column `day` they are of the file's day."""
        if self._writer is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._writer = open_writer(self.path, self.schema)
        rows = with_day(rows, self.day)
        clock = time_column(self.table)
        self._writer.write_table(sorted_by_time(rows, clock), row_group_size=rows.num_rows)
        self.rows += rows.num_rows
        if clock:
            span = pc.min_max(rows[clock]).as_py()
            self._times += [time for time in span.values() if time is not None]
        if self.day is None:
            for each in pc.value_counts(rows[DAY.name].drop_null()).to_pylist():
                self._days[each["values"].isoformat()] += each["counts"]
        if LOAD_ID.name in self.schema.names:
            self._loads.update(rows_by_load(rows))

    def close(self) -> StagedFile:
        """Finish the file."""
        assert self._writer is not None, "a part is created with its first row group"
        self._writer.close()
        first, last = (
            str(time) if time else None
            for time in (min(self._times, default=None), max(self._times, default=None))
        )
        size = self.path.stat().st_size
        days = dict(sorted(self._days.items()))
        loads = dict(sorted(self._loads.items()))
        return StagedFile(self.path, self.table, self.day, self.rows, size, first, last, days, loads=loads)

    def abandon(self) -> None:
        """Close the incomplete file, which the caller deletes."""
        if self._writer:
            with suppress(OSError):
                self._writer.close()


def with_day(rows: pa.Table, day: str | None) -> pa.Table:
    """Return rows with the column `day`: their own, or the day of their file."""
    if DAY.name in rows.column_names:
        return rows
    value = pa.scalar(day and date.fromisoformat(day), DAY.type)
    return rows.append_column(DAY, pa.repeat(value, rows.num_rows))


def rows_by_load(rows: pa.Table) -> dict[int, int]:
    """Return the number of rows of each load."""
    return {each["values"]: each["counts"] for each in pc.value_counts(rows[LOAD_ID.name]).to_pylist()}


def open_writer(path: Path, schema: pa.Schema) -> pq.ParquetWriter:
    """Return a writer with the settings of the store.

    Strings and repeated values are dictionary-encoded, mostly increasing numbers delta-encoded, other numbers
    plain. Minimum and maximum are stored for columns by which queries skip row groups.
    """
    repeating = [f.name for f in schema if pa.types.is_dictionary(f.type) or f.name in {"load_id", DAY.name}]
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


def numbered_rows(rows: Rows, load_id: int) -> Rows:
    """Return rows with the number of their load."""
    place = rows.schema.get_field_index(LOAD_ID.name)
    numbers = pa.repeat(pa.scalar(load_id, LOAD_ID.type), rows.num_rows)
    return rows.set_column(place, rows.schema.field(place), numbers)


def rows_in(files: Iterable[StagedFile]) -> Iterator[TableRows]:
    """Yield the rows of staged files as they were added, without the column `day`."""
    for file in files:
        with pq.ParquetFile(file.path) as source:
            columns = [name for name in source.schema_arrow.names if name != DAY.name]
            yield from ((file.table, batch) for batch in source.iter_batches(columns=columns))


def with_load_id(file: StagedFile, load_id: int) -> StagedFile:
    """Write a staged file again with another number of the load."""
    written = written_again(file, f"{load_id:08}", lambda rows: numbered_rows(rows, load_id))
    return replace(written, loads={load_id: file.rows})


def written_again(file: StagedFile, prefix: str, change: Callable[[pa.Table], pa.Table]) -> StagedFile:
    """Write a staged file again, under a name that begins with a prefix, with other values of columns."""
    target = file.path.with_name(f"{prefix}-{file.path.stem}.parquet")
    with pq.ParquetFile(file.path) as source, open_writer(target, source.schema_arrow) as writer:
        for index in range(source.num_row_groups):
            rows = change(source.read_row_group(index))
            writer.write_table(rows, row_group_size=rows.num_rows)
    file.path.unlink()
    return replace(file, path=target, bytes=target.stat().st_size, digest="")


BUFFER_BYTES = 24 << 20
"""Limit of all buffers together: above it the largest is written before it is full."""
MAX_OPEN_FILES = 64
"""Limit of open files; a damaged dump can have rows of any number of days."""
MAX_DAYS = 1000
"""Limit of days of a table in one load; rows of further days are stored without a day."""

Place = tuple[str, str | None]
"""Table and day."""


@dataclass(slots=True)
class RowBuffer:
    """Buffered rows of one table and day."""

    batches: list[pa.RecordBatch] = field(default_factory=list)
    rows: int = 0
    bytes: int = 0

    def add(self, batch: pa.RecordBatch, size: int) -> None:
        """Append rows."""
        self.batches.append(batch)
        self.rows += batch.num_rows
        self.bytes += size


class Stage:
    """The staged files of one commit; they become part of the store with it."""

    def __init__(self, folder: Path, load_id: int, writers: int, suffix: str = "") -> None:
        self._folder = folder
        self._names = f"{load_id:08}{suffix}"
        self._writers = writers
        self._pool = ThreadPoolExecutor(writers, thread_name_prefix="zscope-write")
        self._buffers: dict[Place, RowBuffer] = defaultdict(RowBuffer)
        self._bytes = 0
        self._days: dict[str, set[str]] = defaultdict(set)
        self._idle: OrderedDict[Place, list[Part]] = OrderedDict()
        self._open = 0
        self._count = 0
        self._busy: dict[Future[None], tuple[Place, Part]] = {}
        self._closed: list[StagedFile] = []

    def add(self, table: str, batch: pa.RecordBatch) -> None:
        """Add rows with all columns of their table."""
        # Slices share their strings, so the average size of a row is more accurate than the size of a slice.
        row_bytes = batch.nbytes / batch.num_rows
        for day, rows in self._by_day(table, batch):
            buffer = self._buffers[table, day]
            buffer.add(rows, int(row_bytes * rows.num_rows))
            self._bytes += int(row_bytes * rows.num_rows)
            if buffer.rows >= ROW_GROUP_ROWS or buffer.bytes >= ROW_GROUP_BYTES:
                self._write(table, day)
        while self._bytes > BUFFER_BYTES:
            self._write(*max(self._buffers, key=lambda place: self._buffers[place].bytes))

    def add_all(self, rows: Iterable[TableRows]) -> None:
        """Add rows of several tables."""
        for table, batch in rows:
            self.add(table, batch)

    def finish(self) -> list[StagedFile]:
        """Write the remaining buffers and close all files."""
        for place in list(self._buffers):
            self._write(*place)
        self._collect(wait_for=len(self._busy))
        list(self._pool.map(self._close, [part for parts in self._idle.values() for part in parts]))
        self._pool.shutdown()
        return self._closed

    def abandon(self) -> None:
        """Stop writing and ignore errors; the caller deletes the files."""
        self._pool.shutdown(cancel_futures=True)
        busy = (part for _, part in self._busy.values())
        for part in (*busy, *(part for parts in self._idle.values() for part in parts)):
            part.abandon()
        self._busy.clear()
        self._idle.clear()

    def _by_day(self, table: str, batch: pa.RecordBatch) -> list[tuple[str | None, pa.RecordBatch]]:
        clock = time_column(table)
        if clock is None:
            return [(None, batch)]
        times = batch.column(clock)
        first, last = (time and time.date() for time in pc.min_max(times).as_py().values())
        if first == last and times.null_count in {0, len(times)}:
            return [(self._day(table, first), batch)]
        days = times.cast(pa.date32(), safe=False)
        order = pc.sort_indices(days)
        ordered, sorted_days = batch.take(order), days.take(order)
        runs = pc.run_end_encode(sorted_days)
        split, begin = [], 0
        for end, day in zip(runs.run_ends.to_pylist(), runs.values.to_pylist(), strict=True):
            split.append((self._day(table, day), ordered.slice(begin, end - begin)))
            begin = end
        return split

    def _day(self, table: str, day: object) -> str | None:
        known = self._days[table]
        name = None if day is None else str(day)
        if name is None or (name not in known and len(known) >= MAX_DAYS):
            return None
        known.add(name)
        return name

    def _write(self, table: str, day: str | None) -> None:
        self._collect(wait_for=max(0, len(self._busy) - self._writers + 1))
        buffer = self._buffers.pop((table, day))
        self._bytes -= buffer.bytes
        rows = pa.Table.from_batches(buffer.batches).unify_dictionaries()
        part = self._part((table, day))
        self._busy[self._pool.submit(part.write, rows)] = (table, day), part

    def _part(self, place: Place) -> Part:
        """Return an idle file of the table and day, or a new one if all are being written to."""
        if idle := self._idle.get(place):
            part = idle.pop()
            if not idle:
                del self._idle[place]
            return part
        while self._open >= MAX_OPEN_FILES and self._idle:
            _, parts = self._idle.popitem(last=False)
            for part in parts:
                self._close(part)
        self._open += 1
        self._count += 1
        table, day = place
        path = self._folder / partition(table, day) / f"{self._names}-{self._count}.parquet"
        return Part(path, table, day, file_schema(table))

    def _collect(self, wait_for: int) -> None:
        """Collect the files whose row group is written; wait for at least this many."""
        while self._busy:
            done, _ = wait(self._busy, timeout=None if wait_for > 0 else 0, return_when=FIRST_COMPLETED)
            if not done:
                return
            for future in done:
                place, part = self._busy.pop(future)
                wait_for -= 1
                self._idle.setdefault(place, []).append(part)
                if not future.cancelled():
                    future.result()

    def _close(self, part: Part) -> None:
        self._open -= 1
        self._closed.append(part.close())
