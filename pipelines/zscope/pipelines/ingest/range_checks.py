"""Report numbers that are too great for the store, which has signed integers.

Only 8-byte fields of records and numbers in reports can be that great. Real counters never are: such a number
comes from damaged data, or is not a count. It is null in the store, and `zscope decode` returns it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zscope.parsers.issues import Code, Issue
from zscope.schemas.stored import GREATEST_INTEGER

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zscope.parsers.issues import Issues


@dataclass(frozen=True, slots=True)
class RangeChecks:
    """Checks the numbers in the rows of one file and adds an issue for each that the store cannot contain."""

    issues: Issues
    file: str

    def observe(self, table: str, rows: pa.RecordBatch, stored: pa.RecordBatch) -> None:
        """Compare rows of a table as the reader returns them with the same rows as they are stored."""
        for field in rows.schema:
            if field.type == pa.uint64() and stored[field.name].null_count > rows[field.name].null_count:
                outside = pc.and_(pc.is_null(stored[field.name]), pc.is_valid(rows[field.name]))
                places: NDArray[np.int64] = np.flatnonzero(outside.to_numpy(zero_copy_only=False))
                self._add(table, field.name, rows, places.tolist())

    def _add(self, table: str, column: str, rows: pa.RecordBatch, places: list[int]) -> None:
        for count, row in enumerate(places):
            text = (
                f"{column} of {table} is {rows[column][row]}, greater than {GREATEST_INTEGER}, the greatest "
                "number in the store; it is stored as null"
            )
            issue = Issue(
                Code.OUT_OF_RANGE, text, self.file, _number(rows, "record_no", row),
                _number(rows, "record_offset", row), field=column, table=table,
                line_no=_number(rows, "line_no", row),
            )  # fmt: skip
            if not self.issues.room(issue):
                self.issues.add(issue, len(places) - count)
                return
            self.issues.add(issue)


def _number(rows: pa.RecordBatch, column: str, row: int) -> int | None:
    """Return the place of a row: its record, byte or line."""
    value = rows[column][row].as_py() if column in rows.schema.names else None
    return value if isinstance(value, int) else None
