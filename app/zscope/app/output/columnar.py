"""Parquet and Arrow: for programs, with all types and the meaning of every column in the metadata."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa

if TYPE_CHECKING:
    from zscope.app.output.rows import Rows

ROW_GROUP_BYTES = 64 << 20


class _Counted(io.RawIOBase):
    """A stream that knows its place although a pipe does not: both formats write offsets."""

    def __init__(self, out: BinaryIO) -> None:
        super().__init__()
        self._out = out
        self._place = 0

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        count = self._out.write(data)  # type: ignore[call-overload]
        self._place += count
        return int(count)

    def tell(self) -> int:
        return self._place


def write_arrow(rows: Rows, out: BinaryIO) -> None:
    """Write an Arrow IPC stream."""
    with pa.ipc.new_stream(_Counted(out), rows.schema) as writer:
        for batch in rows:
            writer.write_batch(batch)


def write_parquet(rows: Rows, out: BinaryIO) -> None:
    """Write a Parquet file, one row group for as many batches as make it worth its while."""
    import pyarrow.parquet as pq

    waiting: list[pa.RecordBatch] = []
    size = 0
    with pq.ParquetWriter(_Counted(out), rows.schema, compression="zstd") as writer:
        for batch in rows:
            waiting.append(batch)
            size += batch.nbytes
            if size >= ROW_GROUP_BYTES:
                writer.write_table(pa.Table.from_batches(waiting, rows.schema))
                waiting, size = [], 0
        if waiting:
            writer.write_table(pa.Table.from_batches(waiting, rows.schema))
