"""Many small files of one table and day made into one: queries open fewer files, and skip more of each."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from zscope.pipelines.store.bring_in import bring_in
from zscope.pipelines.store.commits import Commit
from zscope.pipelines.store.folder import partition
from zscope.pipelines.store.parts import ROW_GROUP_ROWS, Part
from zscope.pipelines.store.tables import schema_digest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.pipelines.store.commits import DataFile, State
    from zscope.pipelines.store.folder import Folder
    from zscope.pipelines.store.parts import StagedFile

SMALL_BYTES = 32 << 20
"""Files of this size and above are left alone: they gain nothing."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """How many files became how many."""

    before: int
    after: int


def compact(folder: Folder, state: State, small_bytes: int = SMALL_BYTES) -> Compacted:
    """Merge the small files of each table and day in one commit; the rows stay as they are."""
    groups: dict[tuple[str, str | None], list[DataFile]] = defaultdict(list)
    for file in state.files.values():
        if file.bytes < small_bytes and file.schema == schema_digest(file.table):
            groups[file.table, file.day].append(file)
    merged: dict[StagedFile, list[DataFile]] = {}
    for number, files in enumerate(files for files in groups.values() if len(files) > 1):
        merged[_merge(folder, f"c{state.number + 1:08}-{number}.parquet", files)] = files
    if not merged:
        return Compacted(0, 0)

    def loads_of(made: StagedFile) -> Counter[int]:
        return sum((Counter(file.loads) for file in merged[made]), Counter[int]())

    replaced = [file for files in merged.values() for file in files]
    bring_in(
        folder,
        state,
        list(merged),
        loads_of,
        lambda files: Commit("compact", adds=files, drops=tuple(file.path for file in replaced)),
    )
    return Compacted(len(replaced), len(merged))


def _merge(folder: Folder, name: str, files: list[DataFile]) -> StagedFile:
    """One file with the rows of several, in groups of a good size that are each in the order of time."""
    table, day = files[0].table, files[0].day
    ordered = sorted(files, key=lambda file: file.path)
    schema = pq.read_schema(folder.data / ordered[0].path)
    part = Part(folder.stage / partition(table, day) / name, table, day, schema)
    waiting: list[pa.Table] = []
    for rows in _groups(folder, ordered):
        waiting.append(rows)
        if sum(group.num_rows for group in waiting) >= ROW_GROUP_ROWS:
            part.write(pa.concat_tables(waiting).unify_dictionaries())
            waiting = []
    if waiting:
        part.write(pa.concat_tables(waiting).unify_dictionaries())
    return part.close()


def _groups(folder: Folder, files: list[DataFile]) -> Iterator[pa.Table]:
    for data_file in files:
        with pq.ParquetFile(folder.data / data_file.path) as file:
            for index in range(file.num_row_groups):
                yield file.read_row_group(index)
