"""Write rows as CSV, TSV, Markdown, JSON, JSON lines, Parquet and Arrow.

Parquet and Arrow files have all types, and the meaning of every column in the metadata. CSV has quotes only
where they are needed; a missing value is empty, an empty text is a pair of quotes. Texts in CSV, TSV and
Markdown are made safe for spreadsheets and terminals unless they are wanted raw.

CSV, JSON and the aligned table convert columns to text with the same functions, so a value looks the same in
all of them.
"""

from __future__ import annotations

import io
import json
import math
import re
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from zscope.app.shared.far_times import far_text, far_texts, is_far
from zscope.app.shared.spreadsheet_texts import CONTROLS, is_text, replace_matching, safe_text, safe_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zscope.app.cli.output.row_stream import Rows


_BYTES = (
    pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary, pa.types.is_binary_view,
)  # fmt: skip
_NEEDS_ESCAPE = r'["\\\x00-\x1f\x7f-\x9f]'


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
    elif is_far(column):
        written = far_texts(column)
    elif pa.types.is_timestamp(kind):
        written = _timestamps(column)
    elif pa.types.is_nested(kind):
        written = _nested(column)
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
        written = replace_matching(_nested(column), _RAW_CONTROLS, _escaped_controls)
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
    escaped = replace_matching(column, _NEEDS_ESCAPE, _in_json)
    return pc.binary_join_element_wise('"', escaped, '"', "")


_RAW_CONTROLS = r"[\x7f-\x9f]"
"""Control characters that JSON allows in a text; terminals obey some of them."""
_RAW_CONTROL = re.compile(_RAW_CONTROLS)


def _in_json(text: str) -> str:
    return _escaped_controls(json.dumps(text, ensure_ascii=False)[1:-1])


def _escaped_controls(text: str) -> str:
    return _RAW_CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _nested(column: pa.Array) -> pa.Array:
    # Python has neither 24:00 nor fields without names.
    if "time64" not in str(column.type) and "<: " not in str(column.type):
        with suppress(OverflowError, ValueError):  # of a date that Python does not have
            return _each(column, _any_json)
    values = [_plain_scalar(value) if value.is_valid else None for value in column]
    return pa.array([None if v is None else _any_json(v) for v in values], pa.string())


def _plain_scalar(value: pa.Scalar) -> object:
    """Return a value as Python has it, and dates that it does not have as texts."""
    kind = value.type
    if not value.is_valid:
        return None
    if pa.types.is_map(kind):
        return [(_plain_scalar(entry["key"]), _plain_scalar(entry["value"])) for entry in value.values]
    if pa.types.is_struct(kind):
        items = [_plain_scalar(value[place]) for place in range(kind.num_fields)]
        names = [field.name for field in kind]
        # The fields of DuckDB's tuples have no names.
        return dict(zip(names, items, strict=True)) if all(names) else items
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return [_plain_scalar(item) for item in value.values]
    return far_text(value) if is_far(pa.array([value], kind)) else value.as_py()


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


def write_csv(rows: Rows, out: BinaryIO, *, raw: bool = False) -> None:
    """Write a line with the column names and a line for each row."""
    out.write((",".join(_quote_one(name, raw=raw) for name in rows.schema.names) + "\n").encode())
    # Many readers skip an empty line, so a missing value in the only column is quoted too.
    missing = '""' if len(rows.schema) == 1 else ""
    for piece in rows.pieces():
        parts: list[pa.Array | str] = []
        for column in piece.columns:
            parts += [pc.fill_null(_cells(column, raw=raw), missing), ","]
        parts[-1] = "\n"
        out.write(joined(parts))


def _cells(column: pa.Array, *, raw: bool) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        return of_dictionary(column, lambda values: _cells(values, raw=raw))
    written = sheet_texts(column, raw=raw)
    return written if is_number(column.type) else replace_matching(written, _NEEDS_QUOTES, _in_quotes)


def sheet_texts(column: pa.Array, *, raw: bool) -> pa.Array:
    """Convert the values to strings; texts are made safe unless they are wanted raw."""
    if pa.types.is_dictionary(column.type):
        return of_dictionary(column, lambda values: sheet_texts(values, raw=raw))
    if is_text(column.type) and not raw:
        return safe_texts(texts(column))
    written = texts(column)
    nested = pa.types.is_nested(column.type) and not raw
    return replace_matching(written, CONTROLS, safe_text) if nested else written


def _quote_one(name: str, *, raw: bool) -> str:
    return str(_cells(pa.array([name]), raw=raw)[0].as_py())


def _in_quotes(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def write_tsv(rows: Rows, out: BinaryIO, *, raw: bool = False) -> None:
    """Write lines with tabs between the values; tabs, line ends and backslashes in values are escaped."""
    names = (name if raw else safe_text(name) for name in rows.schema.names)
    out.write(("\t".join(map(_escaped, names)) + "\n").encode())
    for piece in rows.pieces():
        parts: list[pa.Array | str] = []
        for column in piece.columns:
            cell = replace_matching(sheet_texts(column, raw=raw), r"[\t\r\n\\]", _escaped)
            parts += [pc.fill_null(cell, ""), "\t"]
        parts[-1] = "\n"
        out.write(joined(parts))


_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def _escaped(text: str) -> str:
    return text.translate(_ESCAPES)


def write_markdown(rows: Rows, out: BinaryIO, *, raw: bool = False) -> None:
    """Write a table for a Markdown document; numbers are aligned to the right."""
    rules = ("---:" if is_number(field.type) else "---" for field in rows.schema)
    names = (_in_markdown(name if raw else safe_text(name)) for name in rows.schema.names)
    out.write(f"| {' | '.join(names)} |\n| {' | '.join(rules)} |\n".encode())
    for piece in rows.pieces():
        parts: list[pa.Array | str] = []
        for column in piece.columns:
            cell = replace_matching(sheet_texts(column, raw=raw), r"[^ \w.,:;%+/()-]", _in_markdown)
            parts += [" | " if parts else "| ", pc.fill_null(cell, "")]
        out.write(joined([*parts, " |\n"]))


def _in_markdown(text: str) -> str:
    """Escape what Markdown would take for markup; a line end becomes a space."""
    for character in "\\`*_[]<>|#":
        text = text.replace(character, f"\\{character}")
    return " ".join(text.splitlines())


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
        parts += [f'{opening}"{_in_json(name)}": ', json_texts(column)]
        opening = ", "
    return [*parts, "}" + after]
