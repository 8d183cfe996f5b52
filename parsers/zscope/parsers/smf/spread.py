"""Columns of a section that some records lack, spread over all records, with nulls where it is missing.

Arrow's `take` with nulls among the indices does the same five times slower: it asks for every value whether
it is there. Here a whole column is placed at once, and all columns share what says which rows have a value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from zscope.parsers.smf.header import Mask, Positions


@dataclass(frozen=True, slots=True)
class Spread:
    """Where the values of some columns go."""

    rows: Positions
    """The row of each value, in ascending order."""
    count: int
    """How many rows there are."""
    there: pa.Buffer
    """A bit for each row that gets a value."""

    def column(self, values: pa.Array) -> pa.Array:
        """One column with all rows."""
        kind = values.type
        if pa.types.is_dictionary(kind):
            return pa.DictionaryArray.from_arrays(self.column(values.indices), values.dictionary, safe=False)
        valid = self.there
        if values.null_count:
            there = np.zeros(self.count, np.bool_)
            there[self.rows] = values.is_valid().to_numpy(zero_copy_only=False)
            valid = _bits(there)
        if pa.types.is_string(kind) or pa.types.is_binary(kind):
            _, offsets, content = values.buffers()
            bounds = np.frombuffer(offsets, np.int32)[values.offset : values.offset + len(values) + 1]
            ends = np.zeros(self.count + 1, np.int32)
            # Rows without a value end where the row before them ends.
            ends[self.rows + 1] = np.diff(bounds)
            np.cumsum(ends, out=ends)
            return pa.Array.from_buffers(kind, self.count, [valid, pa.py_buffer(ends + bounds[0]), content])
        width = kind.bit_width // 8
        stored = np.frombuffer(values.buffers()[1], f"u{width}")[values.offset : values.offset + len(values)]
        placed = np.zeros(self.count, stored.dtype)
        placed[self.rows] = stored
        return pa.Array.from_buffers(kind, self.count, [valid, pa.py_buffer(placed)])


def spread(rows: Positions, count: int) -> Spread:
    """How to spread columns whose values go to these rows."""
    there = np.zeros(count, np.bool_)
    there[rows] = True
    return Spread(rows, count, _bits(there))


def _bits(mask: Mask) -> pa.Buffer:
    return pa.py_buffer(np.packbits(mask, bitorder="little"))
