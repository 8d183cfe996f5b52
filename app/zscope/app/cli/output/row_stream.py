"""The rows that a command passes to the writers: a stream of batches with one schema."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import pyarrow as pa

PIECE_ROWS = 1 << 14
PIECE_BYTES = 8 << 20


@dataclass(slots=True)
class Rows:
    """A result that is read once and never completely in memory."""

    schema: pa.Schema
    batches: Iterable[pa.RecordBatch]
    essential: tuple[str, ...] = ()
    """The columns of an answer, which a terminal shows first; none if the rows are data under their names."""
    notes: tuple[str, ...] = ()
    """Columns with reasons, which a terminal writes below the rows of an answer."""
    units: Mapping[str, str] = field(default_factory=dict)
    """Units of columns whose names do not say them."""
    heading: str = ""
    """What a terminal writes above the rows, if they are one of several sections."""
    first: int | None = None
    """How many rows a terminal shows of a section unless all are wanted."""
    count: int = field(default=0, init=False)
    """Rows read so far."""

    @classmethod
    def of(cls, table: pa.Table, essential: tuple[str, ...] = (), notes: tuple[str, ...] = ()) -> Rows:
        """Return the rows of a table."""
        return cls(table.schema, table.to_batches(), essential, notes)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Iterate over the batches that have rows."""
        for batch in self.batches:
            self.count += batch.num_rows
            if batch.num_rows:
                yield batch

    def pieces(self) -> Iterator[pa.RecordBatch]:
        """Iterate over slices small enough to become text in memory, however wide the rows are."""
        for batch in self:
            step = max(1, min(PIECE_ROWS, PIECE_BYTES * batch.num_rows // max(1, batch.nbytes)))
            for start in range(0, batch.num_rows, step):
                yield batch.slice(start, step)
