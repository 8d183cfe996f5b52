"""Write the format `table` to files and pipes: aligned columns, with all columns and rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from zscope.app.cli.output.cells import cells, is_right_aligned, visible
from zscope.app.cli.output.writers import joined

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zscope.app.cli.output.row_stream import Rows

GAP = "  "


@dataclass(frozen=True, slots=True)
class AlignedColumn:
    """A column with the width of its longest value in the first rows."""

    name: str
    width: int
    right: bool


def write_table(rows: Rows, out: BinaryIO, *, raw: bool) -> None:
    """Write column names, a rule and the rows.

    The first rows decide the widths, so longer values in later rows move out of line.
    """
    layout: list[AlignedColumn] | None = None
    for piece in _with_empty(rows):
        written = [cells(column, rows.schema.field(i), raw=raw) for i, column in enumerate(piece.columns)]
        if layout is None:
            layout = [
                AlignedColumn(
                    visible(field.name),
                    max(pc.max(pc.utf8_length(column)).as_py() or 0, len(visible(field.name))),
                    is_right_aligned(field, raw=raw),
                )
                for field, column in zip(rows.schema, written, strict=True)
            ]
            out.write(_head(layout))
        if piece.num_rows:
            out.write(_lines(written, layout))


def _with_empty(rows: Rows) -> Iterator[pa.RecordBatch]:
    """Yield the pieces, or one piece without rows: the column names are shown in any case."""
    pieces = rows.pieces()
    first = next(pieces, None)
    yield pa.RecordBatch.from_pylist([], rows.schema) if first is None else first
    yield from pieces


def _head(layout: Sequence[AlignedColumn]) -> bytes:
    names = (c.name.rjust(c.width) if c.right else c.name.ljust(c.width) for c in layout)
    rules = ("-" * column.width for column in layout)
    return f"{GAP.join(names).rstrip()}\n{GAP.join(rules)}\n".encode()


def _lines(written: Sequence[pa.Array], layout: Sequence[AlignedColumn]) -> memoryview:
    parts: list[pa.Array | str] = []
    for cell, column in zip(written, layout, strict=True):
        pad = pc.utf8_lpad if column.right else pc.utf8_rpad
        parts += [pad(cell, width=column.width), GAP]
    rows = pc.binary_join_element_wise(*parts[:-1], "")
    return joined([pc.utf8_rtrim_whitespace(rows), "\n"])
