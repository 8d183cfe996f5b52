"""CSV: quotes only where needed; a missing value is empty, an empty text is an empty pair of quotes.

A missing value in the only column would make an empty line, which many readers skip: it is quoted, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from zscope.app.output.text import is_number, joined, matching, of_dictionary, texts

if TYPE_CHECKING:
    from zscope.app.output.rows import Rows

_NEEDS_QUOTES = r'^$|[",\r\n]'


def write_csv(rows: Rows, out: BinaryIO) -> None:
    """Write a line of names and a line for each row."""
    out.write((",".join(_quote_one(name) for name in rows.schema.names) + "\n").encode())
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
    return written if is_number(column.type) else matching(written, _NEEDS_QUOTES, _in_quotes)


def _quote_one(name: str) -> str:
    return str(_cells(pa.array([name]))[0].as_py())


def _in_quotes(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
