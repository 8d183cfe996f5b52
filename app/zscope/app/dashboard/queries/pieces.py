"""Where a line over time may run through, and where it has to break off."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from datetime import datetime

PIECE = "piece"
_SLACK = timedelta(seconds=2)
"""Clocks of records and of reports have different fractions of a second."""


def in_pieces(table: pa.Table, of: Sequence[str], start: str, length: timedelta | str) -> pa.Table:
    """The rows in order of time, with the number of the piece that each belongs to.

    A piece is of one value of the columns `of`; a new one begins where the row before it has ended earlier.
    How long a row lasts is the same for all, or stands in a column, in milliseconds. Rows without a start
    are left out: they have no place on an axis of time.
    """
    placed = table.filter(table[start].is_valid())
    ordered = placed.sort_by([(name, "ascending") for name in (*of, start)])
    pieces: list[int] = []
    before: tuple[list[object], datetime] | None = None
    number = 0
    for row in ordered.select([*of, start, *([length] if isinstance(length, str) else [])]).to_pylist():
        key, begin = [row[name] for name in of], row[start]
        lasts = length if isinstance(length, timedelta) else timedelta(milliseconds=row[length] or 0)
        if before is None or before[0] != key or begin - before[1] > _SLACK:
            number += 1
        pieces.append(number)
        before = (key, begin + lasts)
    return ordered.append_column(PIECE, pa.array(pieces, pa.int32()))
