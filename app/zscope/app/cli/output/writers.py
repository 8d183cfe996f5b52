"""Write rows as CSV, JSON, JSON lines, Parquet and Arrow.

Parquet and Arrow files have all types, and the meaning of every column in the metadata. CSV has quotes only
where they are needed; a missing value is empty, an empty text is a pair of quotes.
"""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from zscope.app.cli.output.text import is_number, joined, json_texts, of_dictionary, replace_matching, texts

if TYPE_CHECKING:
    from zscope.app.cli.output.rows import Rows


ROW_GROUP_BYTES = 64 << 20


class _CountingStream(io.RawIOBase):
    """A stream that knows its position even on a pipe: Arrow and Parquet files contain offsets."""

    def __init__(self, out: BinaryIO) -> None:
        super().__init__()
        self._out = out
        self._position = 0

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        count = self._out.write(data)  # type: ignore[call-overload]
        self._position += count
        return int(count)

    def tell(self) -> int:
        return self._position


def write_arrow(rows: Rows, out: BinaryIO) -> None:
    """Write an Arrow IPC stream."""
    with pa.ipc.new_stream(_CountingStream(out), rows.schema) as writer:
        for batch in rows:
            writer.write_batch(batch)


def write_parquet(rows: Rows, out: BinaryIO) -> None:
    """Write a Parquet file; batches are collected into row groups of 64 MB."""
    import pyarrow.parquet as pq

    waiting: list[pa.RecordBatch] = []
    size = 0
    with pq.ParquetWriter(_CountingStream(out), rows.schema, compression="zstd") as writer:
        for batch in rows:
            waiting.append(batch)
            size += batch.nbytes
            if size >= ROW_GROUP_BYTES:
                writer.write_table(pa.Table.from_batches(waiting, rows.schema))
                waiting, size = [], 0
        if waiting:
            writer.write_table(pa.Table.from_batches(waiting, rows.schema))


_NEEDS_QUOTES = r'^$|[",\r\n]'


def write_csv(rows: Rows, out: BinaryIO) -> None:
    """Write a line with the column names and a line for each row."""
    out.write((",".join(_quote_one(name) for name in rows.schema.names) + "\n").encode())
    # Many readers skip an empty line, so a missing value in the only column is quoted too.
    missing = '""' if len(rows.schema) == 1 else ""
    for piece in rows.pieces():
        parts: list[pa.Array | str] = []
        for column in piece.columns:
            parts += [pc.fill_null(_cells(column), missing), ","]
        parts[-1] = "\n"
        out.write(joined(parts))


def _cells(column: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        return of_dictionary(column, _cells)
    written = texts(column)
    return written if is_number(column.type) else replace_matching(written, _NEEDS_QUOTES, _in_quotes)


def _quote_one(name: str) -> str:
    return str(_cells(pa.array([name]))[0].as_py())


def _in_quotes(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def write_json(rows: Rows, out: BinaryIO) -> None:
    """Write an array of objects, one on each line."""
    written = False
    for piece in rows.pieces():
        # Every object begins with the comma after the previous one; the first has none.
        text = joined(_objects(piece, before=",\n", after=""))
        out.write(text if written else b"[\n")
        if not written:
            out.write(text[2:])
        written = True
    out.write(b"\n]\n" if written else b"[]\n")


def write_jsonl(rows: Rows, out: BinaryIO) -> None:
    """Write one object on each line."""
    out.writelines(joined(_objects(piece, before="", after="\n")) for piece in rows.pieces())


def _objects(piece: pa.RecordBatch, before: str, after: str) -> list[pa.Array | str]:
    parts: list[pa.Array | str] = []
    opening = before + "{"
    for name, column in zip(piece.schema.names, piece.columns, strict=True):
        parts += [f"{opening}{json.dumps(name, ensure_ascii=False)}: ", json_texts(column)]
        opening = ", "
    return [*parts, "}" + after]
