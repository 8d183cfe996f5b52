"""Say how many of the printed rows are of a time that the data do not cover."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa

    from zscope.pipelines.store.session import Session

_COLUMN = "covered_pct"


def least_covered_pct(session: Session) -> float:
    """Return the share of the hours that complete data cover, which the catalogue defines."""
    result = session.run("SELECT least_covered_pct()::DOUBLE AS pct")
    assert result is not None, "a query returns rows"
    [[least]] = [batch["pct"].to_pylist() for batch in result.batches]
    return float(least)


class IncompleteRows:
    """Batches of rows, and how many of the rows read so far cover less than a share of their hours."""

    def __init__(self, batches: Iterable[pa.RecordBatch], least_pct: float) -> None:
        """Count the rows with a smaller `covered_pct`; without this column there are none."""
        self._batches = batches
        self._least_pct = least_pct
        self.count = 0

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Iterate over the batches."""
        import pyarrow.compute as pc

        for batch in self._batches:
            if _COLUMN in batch.schema.names:
                self.count += pc.sum(pc.less(batch[_COLUMN], self._least_pct)).as_py() or 0
            yield batch

    def note(self, rows: int) -> None:
        """Print a note about the incomplete ones of so many rows."""
        if self.count:
            verb = "is" if rows == 1 else "are"
            click.echo(
                f"note: {self.count:,} of {rows:,} rows {verb} of days of which the data cover less than "
                f"{self._least_pct:g} % ({_COLUMN}); zscope coverage shows what is missing",
                err=True,
            )
