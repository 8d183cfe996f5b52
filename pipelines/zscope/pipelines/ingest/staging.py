"""Write the rows of a load to Parquet files by table and day, with several threads.

Rows arrive in the order of the input. They are buffered by table and day up to the size of a row group,
sorted by time, and compressed by a thread while the next records are decoded. The buffers are limited in
bytes, whatever the input contains.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from zscope.pipelines.store.folder import partition
from zscope.pipelines.store.parts import ROW_GROUP_ROWS, Part, StagedFile, parquet_schema, time_column

if TYPE_CHECKING:
    from pathlib import Path

BUFFER_BYTES = 96 << 20
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
    """The staged files of one load; they become part of the store when the load is committed."""

    def __init__(self, folder: Path, load_id: int, writers: int) -> None:
        self._folder = folder
        self._load_id = load_id
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
            if buffer.rows >= ROW_GROUP_ROWS:
                self._write(table, day)
        while self._bytes > BUFFER_BYTES:
            self._write(*max(self._buffers, key=lambda place: self._buffers[place].bytes))

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
        days = batch.column(clock).cast(pa.date32(), safe=False)
        distinct = pc.unique(days)
        if len(distinct) == 1:
            return [(self._day(table, distinct[0].as_py()), batch)]
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
        buffer = self._buffers.pop((table, day))
        self._bytes -= buffer.bytes
        rows = pa.Table.from_batches(buffer.batches).unify_dictionaries()
        self._collect(wait_for=max(0, len(self._busy) - self._writers))
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
        path = self._folder / partition(table, day) / f"{self._load_id:08}-{self._count}.parquet"
        return Part(path, table, day, parquet_schema(table))

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
