"""Write the format `table`: aligned columns, with the meaning of codes instead of their numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from zscope.app.cli.output.writers import is_number, joined, replace_matching, texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zscope.app.cli.output.rows import Rows

_GAP = "  "
_CONTROLS = r"[\x00-\x1f\x7f-\x9f]"
_DIGITS = 6
_FIRST_WIDTH = 30
"""Width that a long column gets at first, so that others have room too."""
_NARROWEST = 12
"""A column that does not fit is cut to the room that is left, but not below this."""


@dataclass(frozen=True, slots=True)
class ScreenColumn:
    """A column on the screen."""

    index: int
    name: str
    width: int
    right: bool


def write_table(rows: Rows, out: BinaryIO, *, width: int | None, raw: bool) -> tuple[str, ...]:
    """Write column names, a rule and the rows; return the names of columns that do not fit.

    The first rows decide the widths, so longer values in later rows move out of line. With `width`, lines
    are cut to it.
    """
    layout: list[ScreenColumn] | None = None
    for piece in _with_empty(rows):
        cells = [_cells(column, rows.schema.field(i), raw=raw) for i, column in enumerate(piece.columns)]
        if layout is None:
            layout = _layout(rows, cells, width, raw=raw)
            out.write(_head(layout))
        if piece.num_rows:
            out.write(_lines(cells, layout, width))
    shown = {column.index for column in layout or ()}
    return tuple(name for i, name in enumerate(rows.schema.names) if i not in shown)


def _with_empty(rows: Rows) -> Iterator[pa.RecordBatch]:
    """Yield the pieces, or one piece without rows: the column names are shown in any case."""
    pieces = rows.pieces()
    first = next(pieces, None)
    yield pa.RecordBatch.from_pylist([], rows.schema) if first is None else first
    yield from pieces


def _cells(column: pa.Array, field: pa.Field, *, raw: bool) -> pa.Array:
    """Convert a column to text; control characters, which would move the cursor, become escapes."""
    codes = _codes(field)
    written = _meanings(column, codes) if codes and not raw else texts(column if raw else _rounded(column))
    return pc.fill_null(replace_matching(written, _CONTROLS, _visible), "")


def _rounded(column: pa.Array) -> pa.Array:
    """Round floats so that the largest of the column has six digits."""
    if not pa.types.is_floating(column.type):
        return column
    largest = pc.max(pc.abs(column)).as_py()
    if not largest or not math.isfinite(largest):
        return column
    return pc.round(column, ndigits=max(0, _DIGITS - 1 - math.floor(math.log10(largest))))


def _codes(field: pa.Field) -> str:
    name: bytes = (field.metadata or {}).get(b"codes", b"")
    return name.decode()


def _meanings(column: pa.Array, codes: str) -> pa.Array:
    """Replace each code by its meaning; an empty text stays empty."""
    from zscope.schemas import catalog  # results of SQL have no codes

    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    table = catalog().codes[codes]
    values = encoded.dictionary.to_pylist()
    meanings = [table.text(v) if v not in {None, ""} else v for v in values]
    return pa.array(meanings, pa.string()).take(encoded.indices)


def _visible(text: str) -> str:
    return "".join(f"\\x{ord(c):02x}" if c < " " or "\x7f" <= c <= "\x9f" else c for c in text)


def _layout(rows: Rows, cells: Sequence[pa.Array], width: int | None, *, raw: bool) -> list[ScreenColumn]:
    columns = []
    for i, field in enumerate(rows.schema):
        longest = pc.max(pc.utf8_length(cells[i])).as_py() or 0
        right = is_number(field.type) and (raw or not _codes(field))
        columns.append(ScreenColumn(i, field.name, max(longest, len(field.name)), right))
    if width is None:
        return columns
    return _fitting(columns, rows.essential, width)


def _fitting(columns: list[ScreenColumn], essential: tuple[str, ...], width: int) -> list[ScreenColumn]:
    """Choose as many columns as fit, the essential ones first, and keep their order.

    A long column first gets a limited width, so that it does not displace the next ones, and then the room
    that is left.
    """
    first = [column for name in essential for column in columns if column.name == name]
    others = [column for column in columns if column not in first]
    widths: dict[int, int] = {}
    left = width
    for group in (first, others):
        for column in group:
            room = left - (len(_GAP) if widths else 0)
            given = min(column.width, _FIRST_WIDTH, max(room, 0 if widths else _NARROWEST))
            if given == column.width or given >= _NARROWEST:
                widths[column.index] = given
                left = room - given
        for column in group:
            if column.index in widths:
                more = min(column.width - widths[column.index], max(left, 0))
                widths[column.index] += more
                left -= more
    return [replace(column, width=widths[column.index]) for column in columns if column.index in widths]


def _head(layout: list[ScreenColumn]) -> bytes:
    names = (_padded(column.name[: column.width], column) for column in layout)
    rules = ("-" * column.width for column in layout)
    return f"{_GAP.join(names).rstrip()}\n{_GAP.join(rules)}\n".encode()


def _padded(name: str, column: ScreenColumn) -> str:
    return name.rjust(column.width) if column.right else name.ljust(column.width)


def _lines(cells: Sequence[pa.Array], layout: list[ScreenColumn], width: int | None) -> bytes | memoryview:
    parts: list[pa.Array | str] = []
    for column in layout:
        cell = cells[column.index]
        if width is not None:
            cell = _cut(cell, column.width)
        pad = pc.utf8_lpad if column.right else pc.utf8_rpad
        parts += [pad(cell, width=column.width), _GAP]
    rows = pc.binary_join_element_wise(*parts[:-1], "")
    return joined([pc.utf8_rtrim_whitespace(rows), "\n"])


def _cut(cell: pa.Array, width: int) -> pa.Array:
    long = pc.greater(pc.utf8_length(cell), width)
    if not pc.any(long).as_py():
        return cell
    shorter = pc.binary_join_element_wise(pc.utf8_slice_codeunits(cell, 0, width - 1), "\u2026", "")
    return pc.if_else(long, shorter, cell)
