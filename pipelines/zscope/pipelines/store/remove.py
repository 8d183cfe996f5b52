"""Remove loads without changing the rows of others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from zscope.pipelines.store.commits import Commit, DataFile, State
from zscope.pipelines.store.file_checks import require_intact
from zscope.pipelines.store.folder import Folder, StoreError, partition
from zscope.pipelines.store.parquet_files import Part, StagedFile, with_day
from zscope.pipelines.store.stored_columns import in_current_columns, rewritten_schema
from zscope.pipelines.store.transaction import commit_files
from zscope.schemas.stored import LOAD_ID

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from zscope.pipelines.store.commits import Load


KeepRows = Callable[[pa.Table, int], NDArray[np.bool_]]
"""Returns which rows of a row group to keep; the number is that of the group's first row in the file."""


ChangeRows = Callable[[pa.Table, int], pa.Table]
"""Returns the rows that take the place of a row group, given the number of its first row in the file."""


def rewrite_file(
    table: str, day: str | None, source: Path, target: Path, keep: KeepRows
) -> StagedFile | None:
    """Write some rows of a file to a new one; return None if no row is left."""
    return rewrite_rows(
        table, day, source, target, lambda rows, first: rows.filter(pa.array(keep(rows, first)))
    )


def rewrite_rows(
    table: str, day: str | None, source: Path, target: Path, change: ChangeRows
) -> StagedFile | None:
    """Write a file again with changed rows; return None if no row is left.

    The new file has the columns of this version of zscope.
    """
    with pq.ParquetFile(source) as file:
        part = Part(target, table, day, rewritten_schema(table, [file.schema_arrow]))
        first = 0
        try:
            for index in range(file.num_row_groups):
                rows = file.read_row_group(index)
                changed = change(rows, first)
                first += rows.num_rows
                if changed.num_rows:
                    part.write(in_current_columns(with_day(changed, day), part.schema))
        except BaseException:
            part.abandon()
            raise
    return part.close() if part.rows else None


@dataclass(frozen=True, slots=True)
class Removed:
    """The removed load."""

    load: Load
    rows: int
    reopened: tuple[Load, ...]
    """Loads that omitted records because this one had them; ingest their files again to load these records.
    """


@dataclass(frozen=True, slots=True)
class StoreWithoutLoad:
    """The changes of files that remove loads."""

    drops: tuple[str, ...]
    """Files with rows of the loads."""
    rewritten: tuple[StagedFile, ...]
    """New files with the rows of other loads."""
    rows: int
    """Rows of the loads."""


def remove_load(folder: Folder, state: State, load_id: int) -> Removed:
    """Remove a load in one commit."""
    load = removable_load(state, load_id)
    without = files_without(folder, state, {load_id})
    removed = {load_id, *load.replaces}
    reopened = tuple(other for other in state.live_loads if removed & other.duplicates_of.keys())
    commit_files(
        folder,
        state,
        without.rewritten,
        lambda files: Commit(
            "remove",
            adds=files,
            drops=without.drops,
            removed_load=load_id,
            reopened=tuple(other.load_id for other in reopened),
        ),
    )
    return Removed(load, without.rows, reopened)


def removable_load(state: State, load_id: int) -> Load:
    """Return a load that is in the store; raise StoreError if there is none with this number."""
    load = state.loads.get(load_id)
    if load is None or load_id in state.removed:
        problem = "was already removed" if load else "does not exist"
        raise StoreError(f"load {load_id}: {problem}; zscope loads lists all loads")
    return load


def files_without(
    folder: Folder, state: State, loads: Collection[int], left_out: Collection[str] = ()
) -> StoreWithoutLoad:
    """Return the changes of files that remove loads, and files left out; the new files are staged."""
    files = state.files.values()
    affected = [file for file in files if not file.loads.keys().isdisjoint(loads) or file.path in left_out]
    shared = [file for file in affected if file.path not in left_out and file.loads.keys() - set(loads)]
    require_intact(folder, state, shared)
    return StoreWithoutLoad(
        drops=tuple(file.path for file in affected),
        rewritten=tuple(_rewritten(folder, state, file, loads, number) for number, file in enumerate(shared)),
        rows=sum(rows for file in affected for load, rows in file.loads.items() if load in loads),
    )


def _rewritten(
    folder: Folder, state: State, file: DataFile, loads: Collection[int], number: int
) -> StagedFile:
    removed = pa.array(sorted(loads), LOAD_ID.type)

    def of_other_loads(rows: pa.Table, _: int) -> NDArray[np.bool_]:
        mask: NDArray[np.bool_] = pc.invert(pc.is_in(rows[LOAD_ID.name], removed)).to_numpy()
        return mask

    name = f"r{state.number + 1:08}-{number}.parquet"
    target = folder.stage / partition(file.table, file.day, file.days) / name
    staged = rewrite_file(file.table, file.day, folder.data / file.path, target, of_other_loads)
    if staged is None:
        raise StoreError(
            f"{folder.data / file.path}: the file has no rows of other loads, although it should; run zscope "
            "store check"
        )
    return staged
