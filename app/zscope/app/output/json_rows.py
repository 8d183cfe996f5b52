"""JSON: one array written as it comes, or one object on each line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, BinaryIO

from zscope.app.output.text import joined, json_texts

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.output.rows import Rows


def write_json(rows: Rows, out: BinaryIO) -> None:
    """Write an array of objects; a reader that streams can stop anywhere between two lines."""
    written = False
    for piece in rows.pieces():
        # Every object carries the comma of the one before it; the first of all has none.
        text = joined(_objects(piece, before=",\n", behind=""))
        out.write(text if written else b"[\n")
        if not written:
            out.write(text[2:])
        written = True
    out.write(b"\n]\n" if written else b"[]\n")


def write_jsonl(rows: Rows, out: BinaryIO) -> None:
    """Write one object on each line."""
    out.writelines(joined(_objects(piece, before="", behind="\n")) for piece in rows.pieces())


def _objects(piece: pa.RecordBatch, before: str, behind: str) -> list[pa.Array | str]:
    parts: list[pa.Array | str] = []
    opening = before + "{"
    for name, column in zip(piece.schema.names, piece.columns, strict=True):
        parts += [f"{opening}{json.dumps(name, ensure_ascii=False)}: ", json_texts(column)]
        opening = ", "
    return [*parts, "}" + behind]
