"""Taking one load out again, without touching what others brought."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from zscope.pipelines.store.bring_in import bring_in
from zscope.pipelines.store.commits import Commit, DataFile, State
from zscope.pipelines.store.folder import Folder, StoreError, partition
from zscope.pipelines.store.parts import StagedFile
from zscope.pipelines.store.rewrite import rewrite

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from zscope.pipelines.store.loads import Load


@dataclass(frozen=True, slots=True)
class Removed:
    """What was taken out."""

    load: Load
    rows: int
    reopened: tuple[Load, ...]
    """Loads that had left out records because this one had them: these are gone now, and ingesting the files
    of those loads again brings them back.
    """


@dataclass(frozen=True, slots=True)
class Without:
    """The files of a store without one of its loads."""

    drops: tuple[str, ...]
    """Files with rows of it."""
    made: dict[StagedFile, dict[int, int]]
    """What takes their place where they had rows of others too, after compaction; with the rows of each load.
    """
    rows: int


def remove_load(folder: Folder, state: State, load_id: int) -> Removed:
    """Take a load out, in one commit."""
    load = removable(state, load_id)
    without = files_without(folder, state, load_id)
    mine = {load_id, *load.replaces}
    reopened = tuple(other for other in state.live_loads if mine & other.duplicates_of.keys())
    bring_in(
        folder,
        state,
        list(without.made),
        without.made.__getitem__,
        lambda files: Commit(
            "remove",
            adds=files,
            drops=without.drops,
            removed_load=load_id,
            reopened=tuple(other.load_id for other in reopened),
        ),
    )
    return Removed(load, without.rows, reopened)


def removable(state: State, load_id: int) -> Load:
    """The load of a number, if it can be taken out."""
    load = state.loads.get(load_id)
    if load is None or load_id in state.removed:
        gone = "was removed before" if load else "there is none"
        raise StoreError(f"load {load_id}: {gone}; zscope loads lists what there is")
    return load


def files_without(folder: Folder, state: State, load_id: int) -> Without:
    """What has to go and to come for a load to be out; the new files are on the stage."""
    concerned = [file for file in state.files.values() if load_id in file.loads]
    shared = (file for file in concerned if len(file.loads) > 1)
    return Without(
        drops=tuple(file.path for file in concerned),
        made={
            _rewritten(folder, state, file, load_id, number): {
                load: rows for load, rows in file.loads.items() if load != load_id
            }
            for number, file in enumerate(shared)
        },
        rows=sum(file.loads[load_id] for file in concerned),
    )


def _rewritten(folder: Folder, state: State, file: DataFile, load_id: int, number: int) -> StagedFile:
    def others(rows: pa.Table, _: int) -> NDArray[np.bool_]:
        kept: NDArray[np.bool_] = pc.not_equal(rows["load_id"], load_id).to_numpy()
        return kept

    name = f"r{state.number + 1:08}-{number}.parquet"
    target = folder.stage / partition(file.table, file.day) / name
    rows = rewrite(folder.data / file.path, target, others)
    size = target.stat().st_size
    return StagedFile(target, file.table, file.day, rows, size, file.first_local, file.last_local)
