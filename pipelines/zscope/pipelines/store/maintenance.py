"""Maintain a store: merge small files, drop old days, keep validation results."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from zscope.pipelines.store.commits import CHECK, COMPACT, Commit, append
from zscope.pipelines.store.file_checks import data_problem, require_intact
from zscope.pipelines.store.folder import Folder, existing_store, month_of, partition
from zscope.pipelines.store.parquet_files import (
    ROW_GROUP_ROWS,
    VALIDATION_TABLE,
    Part,
    file_schema,
    schema_digest,
    with_day,
)
from zscope.pipelines.store.remove import KeepRows, rewrite_file
from zscope.pipelines.store.stored_columns import in_current_columns, rewritten_schema
from zscope.pipelines.store.transaction import changing, commit_files
from zscope.schemas.stored import DAY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import date
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from zscope.pipelines.settings import Settings
    from zscope.pipelines.store.commits import DataFile, State
    from zscope.pipelines.store.parquet_files import StagedFile


SMALL_BYTES = 32 << 20
"""Files of this size or larger are not merged."""
MERGED_FROM = 8
"""Number of small files of a table and month from which on a load merges them."""
MOST_BYTES = 64 << 20
"""Limit of the bytes that are merged after one load."""
MOST_FILES = 64
"""Limit of the files that are merged after one load, unless it added more than half as many."""
DAY_GROUP_ROWS = 16_384
"""Number of rows from which on a row group of a merged file ends with a day, so that reading a day reads
little else."""


@dataclass(frozen=True, slots=True)
class CompactResult:
    """Number of files before and after merging."""

    before: int
    after: int


def compact(folder: Folder, state: State, small_bytes: int = SMALL_BYTES) -> CompactResult:
    """Merge the small files of each table and month in one commit, so that queries open fewer files.

    Files with the columns or types of an older version of zscope are written again, also large ones.
    """
    groups = _by_month(file for file in state.files.values() if file.bytes < small_bytes)
    chosen = [files for files in groups if len(files) > 1 or any(map(_is_older, files))]
    chosen += [[file] for file in state.files.values() if file.bytes >= small_bytes and _is_older(file)]
    require_intact(folder, state, [file for files in chosen for file in files])
    return _merge_groups(folder, state, chosen)


def merge_after_load(folder: Folder, state: State, files_before: int) -> CompactResult:
    """Merge small files of the same table and month, in proportion to the files that a load added.

    So a store has few files however many nights are loaded. Each merge at least doubles the size of the files
    that it merges, so that a row is written again a few times only.
    """
    files_left = max(MOST_FILES, 2 * (len(state.files) - files_before))
    bytes_left = MOST_BYTES
    groups: list[list[DataFile]] = []
    small = (
        file
        for file in state.files.values()
        if file.bytes < SMALL_BYTES and not _is_older(file) and file.path not in state.damaged
    )
    for files in sorted(map(_ripe, _by_month(small)), key=len, reverse=True):
        sizes = accumulate(file.bytes for file in files)
        chosen = [file for file, size in zip(files, sizes, strict=True) if size <= bytes_left][:files_left]
        if len(chosen) >= MERGED_FROM:
            files_left -= len(chosen)
            bytes_left -= sum(file.bytes for file in chosen)
            groups.append(chosen)
    problems = {file.path: data_problem(folder, file) for files in groups for file in files}
    if damaged := {path: problem for path, problem in problems.items() if problem}:
        append(folder, state, Commit(CHECK, damaged=damaged))
    intact = [files for files in groups if damaged.keys().isdisjoint(file.path for file in files)]
    return _merge_groups(folder, state, intact)


def _ripe(files: list[DataFile]) -> list[DataFile]:
    """Return the smallest files, up to one that is larger than all before it together."""
    ordered = sorted(files, key=lambda file: (file.bytes, file.path))
    size = 0
    for number, file in enumerate(ordered):
        if number >= MERGED_FROM and file.bytes > size:
            return ordered[:number]
        size += file.bytes
    return ordered


def _by_month(files: Iterable[DataFile]) -> list[list[DataFile]]:
    """Return files by table and month; those without a day are a group of their own."""
    groups: dict[tuple[str, str], list[DataFile]] = defaultdict(list)
    for file in files:
        first = file.each_day[0]
        groups[file.table, month_of(first) if first else ""].append(file)
    return list(groups.values())


def _merge_groups(folder: Folder, state: State, groups: list[list[DataFile]]) -> CompactResult:
    merged = [
        _merge(folder, f"c{state.number + 1:08}-{number}.parquet", files)
        for number, files in enumerate(groups)
    ]
    if not merged:
        return CompactResult(0, 0)
    replaced = [file for files in groups for file in files]
    commit_files(
        folder,
        state,
        merged,
        lambda files: Commit(COMPACT, adds=files, drops=tuple(file.path for file in replaced)),
    )
    return CompactResult(len(replaced), len(merged))


def _is_older(file: DataFile) -> bool:
    """Whether a file has other columns or types than this version of zscope writes."""
    return file.schema != schema_digest(file.table)


def _merge(folder: Folder, name: str, files: list[DataFile]) -> StagedFile:
    """Write the rows of several files to one, in row groups that are each sorted by time."""
    table = files[0].table
    days = sorted({day for file in files for day in file.each_day if day})
    ordered = sorted(files, key=lambda file: (file.each_day[0] or "", file.path))
    schema = rewritten_schema(table, (pq.read_schema(folder.data / file.path) for file in ordered))
    # A file of several days stays one of its month when all but one of them have expired.
    of_days = len(days) > 1 or any(file.days for file in files)
    day = None if of_days else files[0].each_day[0]
    part = Part(folder.stage / partition(table, day, days if of_days else ()) / name, table, day, schema)
    waiting: list[pa.Table] = []

    def write() -> None:
        part.write(pa.concat_tables(waiting).unify_dictionaries())
        waiting.clear()

    for file in ordered:
        for rows in _row_groups(folder, file):
            waiting.append(in_current_columns(with_day(rows, file.day), schema))
            if sum(group.num_rows for group in waiting) >= ROW_GROUP_ROWS:
                write()
        if sum(group.num_rows for group in waiting) >= DAY_GROUP_ROWS:
            write()
    if waiting:
        write()
    return part.close()


def _row_groups(folder: Folder, data_file: DataFile) -> Iterator[pa.Table]:
    with pq.ParquetFile(folder.data / data_file.path) as file:
        for index in range(file.num_row_groups):
            yield file.read_row_group(index)


@dataclass(frozen=True, slots=True)
class ExpireResult:
    """What was dropped."""

    files: int
    """Files with rows of old days."""
    rows: int
    bytes: int
    days: int


def expire(folder: Folder, state: State, first_day: date, *, dry_run: bool = False) -> ExpireResult:
    """Drop all rows of days before `first_day`; rows without a day stay, as their age is unknown.

    A dry run only counts.
    """
    limit = first_day.isoformat()
    expired = {
        file.path: Counter({day: file.rows_on(day) for day in file.each_day if day and day < limit})
        for file in state.files.values()
    }
    old = [file for file in state.files.values() if expired[file.path]]
    rows = {file.path: expired[file.path].total() for file in old}
    if old and not dry_run:
        _drop_days(folder, state, old, first_day)
    return ExpireResult(
        files=len(old),
        rows=sum(rows.values()),
        bytes=sum(file.bytes * rows[file.path] // max(1, file.rows) for file in old),
        days=len({day for file in old for day in expired[file.path]}),
    )


def _drop_days(folder: Folder, state: State, files: list[DataFile], first_day: date) -> None:
    """Drop files with old days in one commit; newer days of the same files are written to new ones."""
    left: list[StagedFile] = []
    for number, file in enumerate(files):
        if (file.each_day[-1] or "") < first_day.isoformat():
            continue
        name = f"e{state.number + 1:08}-{number}.parquet"
        target = folder.stage / partition(file.table, file.day, file.days) / name
        require_intact(folder, state, [file])
        source = folder.data / file.path
        kept = rewrite_file(file.table, file.day, source, target, _keep_from(first_day))
        if kept:
            left.append(kept)
    commit_files(
        folder,
        state,
        left,
        lambda added: Commit("expire", adds=added, drops=tuple(file.path for file in files)),
    )


def _keep_from(first_day: date) -> KeepRows:
    """Return a filter of rows by day."""

    def keep(rows: pa.Table, _: int) -> NDArray[np.bool_]:
        kept: NDArray[np.bool_] = pc.greater_equal(rows[DAY.name], pa.scalar(first_day, DAY.type)).to_numpy()
        return kept

    return keep


def record_validation(
    store: Path, results: pa.Table, settings: Settings, notify: Callable[[str], None]
) -> None:
    """Add the results of one run of the validation to the store."""
    folder = existing_store(store)
    if not results.num_rows:
        return
    day = datetime.now(UTC).date().isoformat()
    with changing(folder, settings, notify) as state:
        name = f"v{state.number + 1:08}.parquet"
        schema = file_schema(VALIDATION_TABLE)
        part = Part(folder.stage / partition(VALIDATION_TABLE, day) / name, VALIDATION_TABLE, day, schema)
        part.write(with_day(results, day).cast(schema))
        commit_files(folder, state, [part.close()], lambda files: Commit("validate", adds=files))
