"""Write rows as CSV, JSON, JSON lines, Parquet and Arrow.

Parquet and Arrow files have all types, and the meaning of every column in the metadata. CSV has quotes only
where they are needed; a missing value is empty, an empty text is a pair of quotes.

CSV, JSON and the aligned table convert columns to text with the same functions, so a value looks the same in
all of them.
"""

from __future__ import annotations

import io
import json
import math
from datetime import datetime
from typing import TYPE_CHECKING, Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zscope.app.cli.output.rows import Rows


_BYTES = (
    pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary, pa.types.is_binary_view,
)  # fmt: skip
_NEEDS_ESCAPE = r'["\\\x00-\x1f\x7f]'


def texts(column: pa.Array) -> pa.Array:
    """Convert the values to strings; nulls stay null.

    >>> texts(pa.array([b"\\x0a", None])).to_pylist()
    ['0a', None]
    >>> texts(pa.array([0], pa.timestamp("us", "UTC")))[0].as_py()
    '1970-01-01T00:00:00.000000Z'
    """
    kind = column.type
    if pa.types.is_dictionary(kind):
        written = of_dictionary(column, texts)
    elif pa.types.is_timestamp(kind):
        written = _timestamps(column)
    elif pa.types.is_nested(kind):
        written = _each(column, _any_json)
    elif any(is_bytes(kind) for is_bytes in _BYTES):
        written = _each(column, lambda value: value.hex())
    elif pa.types.is_duration(kind) or pa.types.is_interval(kind):
        written = _each(column, str)
    else:
        written = column.cast(pa.string())
    return written


def json_texts(column: pa.Array) -> pa.Array:
    """Convert the values to JSON: numbers with all their digits, other values as strings, null as null."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        # A row may be null although the dictionary contains no null.
        return pc.fill_null(of_dictionary(column, json_texts), "null")
    if pa.types.is_floating(kind):
        column = pc.if_else(pc.is_finite(column), column, pa.scalar(None, kind))
    if pa.types.is_nested(kind):
        written = _each(column, _any_json)
    elif is_number(kind) or pa.types.is_boolean(kind):
        written = texts(column)
    else:
        written = _quoted(texts(column))
    return pc.fill_null(written, "null")


def is_number(kind: pa.DataType) -> bool:
    """Return whether values of this type are numbers: right-aligned, and without quotes."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def of_dictionary(column: pa.Array, write: Callable[[pa.Array], pa.Array]) -> pa.Array:
    """Convert each distinct value once."""
    return write(column.dictionary).take(column.indices)


def replace_matching(column: pa.Array, pattern: str, change: Callable[[str], str]) -> pa.Array:
    """Replace the texts that match a pattern; fast for a column without any."""
    matches = pc.fill_null(pc.match_substring_regex(column, pattern), fill_value=False)
    if not pc.any(matches).as_py():
        return column
    changed = pa.array([change(text) for text in column.filter(matches).to_pylist()], pa.string())
    return pc.replace_with_mask(column, matches, changed)


def joined(parts: Sequence[pa.Array | str]) -> memoryview:
    """Concatenate the parts of each row, and all rows, into one buffer; no part may be null."""
    rows = pc.binary_join_element_wise(*parts, "")
    assert not rows.null_count
    _, offsets, data = rows.buffers()
    end = memoryview(offsets).cast("i")[len(rows)]
    return memoryview(data)[:end] if data else memoryview(b"")


def _timestamps(column: pa.Array) -> pa.Array:
    if column.type.tz is not None:
        column = column.cast(pa.timestamp(column.type.unit, "UTC"))
    return pc.replace_substring(column.cast(pa.string()), " ", "T", max_replacements=1)


def _quoted(column: pa.Array) -> pa.Array:
    escaped = replace_matching(column, _NEEDS_ESCAPE, lambda text: json.dumps(text, ensure_ascii=False)[1:-1])
    return pc.binary_join_element_wise('"', escaped, '"', "")


def _each(column: pa.Array, write: Callable[[Any], str]) -> pa.Array:
    return pa.array([None if v is None else write(v) for v in column.to_pylist()], pa.string())


def _any_json(value: object) -> str:
    """Convert a nested value to JSON; NaN and infinity become null, other types without a form a string."""
    return json.dumps(_plain(value), ensure_ascii=False, default=str)


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, datetime):
        return texts(pa.array([value]))[0].as_py()
    return None if isinstance(value, float) and not math.isfinite(value) else value


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
