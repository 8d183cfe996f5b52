"""One Parquet file of a table and day, written group by group."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from zscope.pipelines.store.tables import kept_clock

if TYPE_CHECKING:
    from pathlib import Path

ROW_GROUP_ROWS = 122_880
"""What DuckDB gives one thread at a time, so that a group is read by one and skipped by its times as a whole.
"""
COMPRESSION, LEVEL = "zstd", 1
"""Higher levels cost much more time than they save space."""
_RISING = frozenset(
    {
        "record_no", "record_offset", "line_no", "connection_id", "written_local", "written_utc",
        "taken_local", "taken_utc", "interval_start_local", "interval_start_utc", "start_local", "start_utc",
        "end_local", "end_utc",
    }
)  # fmt: skip
_SOUGHT = _RISING | {"load_id", "system", "job_name", "local_port", "remote_port", "digest"}
_BATCH_ROWS = 1 << 16
_ORDER = ("record_no", "line_no", "section_no")
"""What puts rows of the same time into the order of their file."""


@dataclass(frozen=True, slots=True)
class StagedFile:
    """A file that is complete, but does not count yet."""

    path: Path
    table: str
    day: str | None
    rows: int
    bytes: int
    first_local: str | None = None
    last_local: str | None = None
    """The span of its times; None where it has none."""


@dataclass(slots=True)
class Part:
    """A file in the making; used by one thread at a time."""

    path: Path
    table: str
    day: str | None
    schema: pa.Schema
    rows: int = 0
    _times: list[datetime] = field(default_factory=list, init=False)
    _writer: pq.ParquetWriter | None = field(default=None, init=False)

    def write(self, rows: pa.Table) -> None:
        """Add rows as one group, sorted by time."""
        if self._writer is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._writer = open_writer(self.path, self.schema)
        clock = kept_clock(self.table)
        self._writer.write_table(by_time(rows, clock), row_group_size=rows.num_rows)
        self.rows += rows.num_rows
        if clock:
            span = pc.min_max(rows[clock]).as_py()
            self._times += [time for time in span.values() if time is not None]

    def close(self) -> StagedFile:
        """Finish the file."""
        assert self._writer is not None, "a part is made for a first group"
        self._writer.close()
        first, last = (
            str(time) if time else None
            for time in (min(self._times, default=None), max(self._times, default=None))
        )
        size = self.path.stat().st_size
        return StagedFile(self.path, self.table, self.day, self.rows, size, first, last)

    def abandon(self) -> None:
        """Let go of the file as it is: it is not wanted, so it does not matter that its end is missing."""
        if self._writer:
            with suppress(OSError):
                self._writer.close()


def open_writer(path: Path, schema: pa.Schema) -> pq.ParquetWriter:
    """A writer with the settings of the store.

    Texts and what repeats go by dictionary, what mostly rises from row to row by its differences, all other
    numbers as they are. The least and the greatest value of a group are kept where a query can skip by them.
    """
    repeating = [f.name for f in schema if pa.types.is_dictionary(f.type) or f.name == "load_id"]
    rising = [f.name for f in schema if f.name in _RISING and not pa.types.is_dictionary(f.type)]
    return pq.ParquetWriter(
        path,
        schema,
        compression=COMPRESSION,
        compression_level=LEVEL,
        use_dictionary=repeating,
        column_encoding=dict.fromkeys(rising, "DELTA_BINARY_PACKED"),
        write_statistics=[field.name for field in schema if field.name in _SOUGHT],
        write_batch_size=_BATCH_ROWS,
    )


def by_time(rows: pa.Table, clock: str | None) -> pa.Table:
    """Rows in the order of their time; those that are so already, as in most dumps, are not touched."""
    if clock is None or rows.num_rows < 2:
        return rows
    times = rows[clock].combine_chunks()
    if not times.null_count and pc.all(pc.greater_equal(times[1:], times[:-1])).as_py():
        return rows
    keys = [(name, "ascending") for name in (clock, *_ORDER) if name in rows.column_names]
    return rows.take(pc.sort_indices(rows, sort_keys=keys))
