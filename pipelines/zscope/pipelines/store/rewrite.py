"""Data files written again without some of their rows, group by group: the originals are never changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from zscope.pipelines.store.parts import open_writer

Keep = Callable[[pa.Table, int], NDArray[np.bool_]]
"""Which rows of a group to keep; the number is that of the group's first row in the file."""


def rewrite(source: Path, target: Path, keep: Keep) -> int:
    """Write the rows to keep into a new file; returns how many there are. Without any, there is no file."""
    kept = 0
    with pq.ParquetFile(source) as file:
        writer: pq.ParquetWriter | None = None
        first = 0
        try:
            for index in range(file.num_row_groups):
                rows = file.read_row_group(index)
                chosen = rows.filter(pa.array(keep(rows, first)))
                first += rows.num_rows
                if chosen.num_rows:
                    if writer is None:
                        target.parent.mkdir(parents=True, exist_ok=True)
                        writer = open_writer(target, file.schema_arrow)
                    writer.write_table(chosen, row_group_size=chosen.num_rows)
                    kept += chosen.num_rows
        finally:
            if writer:
                writer.close()
    return kept
