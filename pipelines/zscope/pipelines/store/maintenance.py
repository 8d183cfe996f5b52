"""Maintain a store: merge small files, drop old days, check all files, keep validation results."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from zscope.pipelines.store.change import changing, commit_files
from zscope.pipelines.store.columns import in_current_columns, rewritten_schema
from zscope.pipelines.store.commits import COMPACT, Commit, append, read_state
from zscope.pipelines.store.folder import DamagedStoreError, Folder, digest_of_file, existing_store, partition
from zscope.pipelines.store.parts import ROW_GROUP_ROWS, VALIDATION_TABLE, Part, parquet_schema, schema_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import date
    from pathlib import Path

    from zscope.pipelines.settings import Settings
    from zscope.pipelines.store.commits import DataFile, State, SummaryFile
    from zscope.pipelines.store.parts import StagedFile


SMALL_BYTES = 32 << 20
"""Files of this size or larger are not merged."""
MERGED_FROM = 8
"""Number of small files of a table and day from which on a load merges them."""
MOST_AFTER_LOAD = 64 << 20
"""Limit of the bytes that are merged after one load."""


@dataclass(frozen=True, slots=True)
class CompactResult:
    """Number of files before and after merging."""

    before: int
    after: int


def compact(folder: Folder, state: State, small_bytes: int = SMALL_BYTES) -> CompactResult:
    """Merge the small files of each table and day in one commit, so that queries open fewer files.

    Files with the columns or types of an older version of zscope are written again, also large ones.
    """
    groups = _by_place(file for file in state.files.values() if file.bytes < small_bytes)
    chosen = [files for files in groups if len(files) > 1 or any(map(_is_older, files))]
    chosen += [[file] for file in state.files.values() if file.bytes >= small_bytes and _is_older(file)]
    return _merge_groups(folder, state, chosen)


def merge_after_load(folder: Folder, state: State, since: int) -> CompactResult:
    """Merge the files of days that were loaded in many small parts since a commit, up to a limit."""
    files = (
        file
        for table, days in state.changed.items()
        for day, number in days.items()
        if number > since
        for file in state.files_on(table, day or None)
    )
    groups: list[list[DataFile]] = []
    size = 0
    for group in _by_place(file for file in files if file.bytes < SMALL_BYTES and not _is_older(file)):
        if len(group) < MERGED_FROM:
            continue
        size += sum(file.bytes for file in group)
        if size > MOST_AFTER_LOAD:
            break
        groups.append(group)
    return _merge_groups(folder, state, groups)


def _by_place(files: Iterable[DataFile]) -> list[list[DataFile]]:
    """Return files by table and day."""
    groups: dict[tuple[str, str | None], list[DataFile]] = defaultdict(list)
    for file in files:
        groups[file.table, file.day].append(file)
    return list(groups.values())


def _merge_groups(folder: Folder, state: State, groups: list[list[DataFile]]) -> CompactResult:
    merged: dict[StagedFile, list[DataFile]] = {}
    for number, files in enumerate(groups):
        merged[_merge(folder, f"c{state.number + 1:08}-{number}.parquet", files)] = files
    if not merged:
        return CompactResult(0, 0)

    def loads_of(staged: StagedFile) -> Counter[int]:
        return sum((Counter(file.loads) for file in merged[staged]), Counter[int]())

    replaced = [file for files in merged.values() for file in files]
    commit_files(
        folder,
        state,
        list(merged),
        loads_of,
        lambda files: Commit(COMPACT, adds=files, drops=tuple(file.path for file in replaced)),
    )
    return CompactResult(len(replaced), len(merged))


def _is_older(file: DataFile) -> bool:
    """Whether a file has other columns or types than this version of zscope writes."""
    return file.schema != schema_digest(file.table)


def _merge(folder: Folder, name: str, files: list[DataFile]) -> StagedFile:
    """Write the rows of several files to one, in row groups that are each sorted by time."""
    table, day = files[0].table, files[0].day
    ordered = sorted(files, key=lambda file: file.path)
    schema = rewritten_schema(table, (pq.read_schema(folder.data / file.path) for file in ordered))
    part = Part(folder.stage / partition(table, day) / name, table, day, schema)
    waiting: list[pa.Table] = []
    for rows in _groups(folder, ordered):
        waiting.append(in_current_columns(rows, schema))
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


@dataclass(frozen=True, slots=True)
class ExpireResult:
    """What was dropped."""

    files: int
    rows: int
    bytes: int
    days: int


def expire(folder: Folder, state: State, first_day: date, *, dry_run: bool = False) -> ExpireResult:
    """Drop all files of days before `first_day`; rows without a day stay, as their age is unknown.

    A dry run only counts.
    """
    limit = first_day.isoformat()
    old = [file for file in state.files.values() if file.day is not None and file.day < limit]
    if old and not dry_run:
        append(folder, state, Commit("expire", drops=tuple(file.path for file in old)))
    return ExpireResult(
        files=len(old),
        rows=sum(file.rows for file in old),
        bytes=sum(file.bytes for file in old),
        days=len({file.day for file in old}),
    )


MAX_LISTED = 10
"""Damaged files that the error message names."""


@dataclass(frozen=True, slots=True)
class StoreCheckResult:
    """What was read without an error."""

    files: int
    rows: int
    bytes: int


def check_store(folder: Folder) -> StoreCheckResult:
    """Compare every committed file with its digest; raise DamagedStoreError if any differs."""
    state = read_state(folder)
    files = list(state.files.values())
    wrong = [f"{file.path}: {problem}" for file in files if (problem := _problem(folder.data, file))]
    summaries = [(file, _problem(folder.path, file)) for file in state.summaries.values()]
    if damaged := [f"{file.path}: {problem}" for file, problem in summaries if problem]:
        raise DamagedStoreError(
            f"{folder.path}: {len(damaged)} files with stored rows of steps differ from what was committed: "
            f"{'; '.join(damaged[:MAX_LISTED])}; zscope store rebuild computes them again from the data"
        )
    if wrong:
        more = f"; and {len(wrong) - MAX_LISTED} more" if len(wrong) > MAX_LISTED else ""
        raise DamagedStoreError(
            f"{folder.data}: {len(wrong)} of {len(files)} files differ from what was committed: "
            f"{'; '.join(wrong[:MAX_LISTED])}{more}; restore them from a backup, or remove the loads they "
            "belong to (zscope loads) and ingest those files again"
        )
    return StoreCheckResult(len(files), sum(file.rows for file in files), sum(file.bytes for file in files))


def _problem(place: Path, expected: DataFile | SummaryFile) -> str:
    path = place / expected.path
    try:
        if (size := path.stat().st_size) != expected.bytes:
            return f"has {size:,} bytes instead of {expected.bytes:,}"
        digest = digest_of_file(path)
    except FileNotFoundError:
        return "is missing"
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    return "" if digest == expected.digest else "has other content"


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
        schema = parquet_schema(VALIDATION_TABLE)
        part = Part(folder.stage / partition(VALIDATION_TABLE, day) / name, VALIDATION_TABLE, day, schema)
        part.write(results.cast(schema))
        commit_files(
            folder, state, [part.close()], lambda _: {}, lambda files: Commit("validate", adds=files)
        )
