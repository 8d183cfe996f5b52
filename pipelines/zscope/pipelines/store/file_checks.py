"""Compare the files of a store with the checksums that their commits have.

Reading does not notice a changed bit: compressed data can often be decoded to other values. Therefore files
are compared with their checksums: some of them each night, and all whose rows are about to be written to new
files, which would get checksums of their own. What a check finds is committed: afterwards reading a table
with a damaged file is an error.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from zscope.pipelines.public_files import public_problems, shown_commit
from zscope.pipelines.store.catalogue_file import catalogue_problem
from zscope.pipelines.store.commits import CHECK, Commit, append, has_checksum, read_state
from zscope.pipelines.store.folder import DamagedStoreError, StoreError, digest_of_file
from zscope.schemas.stored import DAY, LOAD_ID

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from zscope.pipelines.store.commits import DataFile, State, SummaryFile
    from zscope.pipelines.store.folder import Folder

MAX_LISTED = 10
"""Damaged files that the error message names."""


ALL_WITHIN = timedelta(days=7)
"""Period in which all files are checked once, if a part of them is checked each night."""


@dataclass(slots=True)
class PartCheck:
    """What a check of a part of the files found."""

    files: int
    """All files of the store."""
    checked: list[str] = field(default_factory=list)
    """Files that are unchanged since they were committed."""
    damaged: dict[str, str] = field(default_factory=dict)
    """Files that are not, and what is wrong with each."""
    bytes: int = 0
    """The size of the files that were compared."""
    left: int = 0
    """Files that should have been checked by now, and were not for lack of time."""


def check_part(
    folder: Folder, state: State, budget_s: float, clock: Callable[[], float] = time.monotonic
) -> PartCheck:
    """Compare a part of the files with their checksums, and commit the result.

    These are the files that were never checked, and so many others, the oldest check first, that all are
    checked within a week of nights. What the budget leaves out is first in the next night.
    """
    now = datetime.now(UTC)
    sizes = _sizes(state)
    done = PartCheck(len(sizes))
    a_night = sum(sizes.values()) * timedelta(days=1) / ALL_WITHIN
    overdue = (now - ALL_WITHIN + timedelta(days=1)).isoformat()
    begin = clock()
    old = 0
    for path in sorted(sizes, key=lambda path: (state.checked.get(path, ""), path)):
        last = state.checked.get(path, "")
        if last > overdue and old >= a_night:
            break
        if done.checked and clock() - begin > budget_s:
            done.left += 1
            continue
        old += sizes[path] if last else 0
        done.bytes += sizes[path]
        if problem := _problem_of(folder, state, path):
            done.damaged[path] = problem
        else:
            done.checked.append(path)
    note_check(folder, state, done.checked, done.damaged)
    return done


def note_check(folder: Folder, state: State, checked: Iterable[str], damaged: dict[str, str]) -> None:
    """Commit what a check found, so that all readers know it."""
    commit = Commit(CHECK, checked=tuple(checked), damaged=damaged)
    if commit.checked or commit.damaged:
        append(folder, state, commit)


def check_all(folder: Folder, state: State) -> dict[str, str]:
    """Compare all files with their checksums, and commit the result; return the damaged ones."""
    damaged = find_damage(folder, state)
    note_check(folder, state, sorted(_sizes(state).keys() - damaged.keys()), damaged)
    return damaged


def find_damage(folder: Folder, state: State) -> dict[str, str]:
    """Compare all files with their checksums; return the damaged ones, and what is wrong with each."""
    found = ((path, _problem_of(folder, state, path)) for path in _sizes(state))
    return {path: problem for path, problem in found if problem}


def _sizes(state: State) -> dict[str, int]:
    """Return the sizes of all files of data and of stored steps."""
    return {path: file.bytes for path, file in (state.files | state.summaries).items()}


def _problem_of(folder: Folder, state: State, path: str) -> str:
    if path in state.files:
        return data_problem(folder, state.files[path])
    return summary_problem(folder, state.summaries[path])


def require_intact(folder: Folder, state: State, files: Iterable[DataFile]) -> None:
    """Raise StoreError if a file is damaged whose rows are about to be written to another one."""
    for file in files:
        if problem := state.damaged.get(file.path) or data_problem(folder, file):
            raise StoreError(
                f"{folder.data / file.path}: {problem}; its rows cannot be written to another file. zscope "
                "store repair restores it"
            )


def damage_text(state: State) -> str:
    """Return a sentence about the damaged files of a store; empty if no check has found any."""
    if not state.damaged:
        return ""
    tables = sorted({state.files[path].table for path in state.damaged})
    files = "1 file is" if len(state.damaged) == 1 else f"{len(state.damaged):,} files are"
    return (
        f"{files} damaged, and nothing is read from {', '.join(tables[:MAX_LISTED])}"
        f"{' and other tables' if len(tables) > MAX_LISTED else ''}: zscope store repair restores the rows"
    )


@dataclass(frozen=True, slots=True)
class StoreCheckResult:
    """What was read without an error."""

    files: int
    rows: int
    bytes: int
    commits: int = 0
    without_checksum: int = 0
    """Commits without a checksum, of earlier versions of zscope."""
    public_commit: int | None = None
    """The commit that the public files show; they are compared if it is the last. None if there are none."""


def check_store(folder: Folder, *, deep: bool = False) -> StoreCheckResult:
    """Compare all commits and committed files with their checksums; raise DamagedStoreError if any differs.

    With `deep` the store is also read from its first commit, and all rows are decoded and counted.
    """
    try:
        state = read_state(folder)
        without_checksum = sum(not has_checksum(folder, number) for number in range(1, state.number + 1))
        first = read_state(folder, from_first=True) if deep else state
    except StoreError as error:
        raise DamagedStoreError(str(error)) from error
    _check_checkpoint(folder, state, first)
    if folder.catalogue.exists() and (problem := catalogue_problem(folder)):
        raise DamagedStoreError(f"{folder.catalogue}: {problem}; zscope store rebuild builds it again")
    files = list(state.files.values())
    wrong = [f"{file.path}: {text}" for file in files if (text := data_problem(folder, file, deep=deep))]
    summaries = [(file, summary_problem(folder, file)) for file in state.summaries.values()]
    if damaged := [f"{file.path}: {problem}" for file, problem in summaries if problem]:
        raise DamagedStoreError(
            f"{folder.path}: {len(damaged)} files with stored rows of steps differ from what was committed: "
            f"{'; '.join(damaged[:MAX_LISTED])}; zscope store repair computes them again from the data"
        )
    if wrong:
        more = f"; and {len(wrong) - MAX_LISTED} more" if len(wrong) > MAX_LISTED else ""
        raise DamagedStoreError(
            f"{folder.data}: {len(wrong)} of {len(files)} files differ from what was committed: "
            f"{'; '.join(wrong[:MAX_LISTED])}{more}; zscope store repair restores them from a "
            "backup or from the files that they were loaded from"
        )
    public_commit = _check_public_files(folder, state)
    rows, size = sum(file.rows for file in files), sum(file.bytes for file in files)
    return StoreCheckResult(len(files), rows, size, state.number, without_checksum, public_commit)


def _check_public_files(folder: Folder, state: State) -> int | None:
    """Return the commit that the public files show, if any; raise DamagedStoreError if they do not."""
    shown = shown_commit(folder)
    if shown is None or shown.number != state.number:
        return shown.number if shown else None
    if wrong := public_problems(folder, state):
        more = f"; and {len(wrong) - MAX_LISTED} more" if len(wrong) > MAX_LISTED else ""
        raise DamagedStoreError(
            f"{folder.tables}: {len(wrong)} files differ from the current data files: "
            f"{'; '.join(wrong[:MAX_LISTED])}{more}; zscope store rebuild links the data files again; "
            "move files that are not of zscope"
        )
    return shown.number


def _check_checkpoint(folder: Folder, state: State, first: State) -> None:
    """Raise DamagedStoreError if the commits together are another state than the newest checkpoint has."""
    for what in ("files", "loads", "removed", "reopened"):
        if getattr(first, what) != getattr(state, what):
            raise DamagedStoreError(
                f"{folder.commits}: a checkpoint has other {what} than the commits before it; delete the "
                "files checkpoint-*.json: the next change of the store writes one again"
            )


def data_problem(folder: Folder, file: DataFile, *, deep: bool = False) -> str:
    """Return what is wrong with a data file, or nothing; with `deep` all rows are decoded and counted."""
    if problem := _problem(folder.data, file):
        return problem
    try:
        with pq.ParquetFile(folder.data / file.path) as parquet:
            rows = parquet.metadata.num_rows
            if rows != file.rows:
                return f"has {rows:,} rows instead of {file.rows:,}"
            return _rows_problem(parquet, file) if deep else ""
    except (pa.ArrowException, OSError) as error:
        reason, _, _ = str(error).partition("\n")
        return f"cannot be decoded ({reason})"


def _rows_problem(parquet: pq.ParquetFile, file: DataFile) -> str:
    """Decode all rows, and compare their numbers by load and by day."""
    loads: Counter[int] = Counter()
    days: Counter[str | None] = Counter()
    for batch in parquet.iter_batches():
        if LOAD_ID.name in batch.schema.names:
            loads.update(_counted(batch[LOAD_ID.name]))
        if DAY.name in batch.schema.names:
            days.update({day and str(day): rows for day, rows in _counted(batch[DAY.name]).items()})
    if loads and file.loads and loads != Counter(file.loads):
        return f"has rows of loads {dict(loads)} instead of {file.loads}"
    if days and days != {day: file.rows_on(day) for day in file.each_day}:
        return "has other numbers of rows by day"
    return ""


def summary_problem(folder: Folder, file: SummaryFile) -> str:
    """Return what is wrong with a file of a stored step, or nothing."""
    return _problem(folder.path, file)


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


def _counted(column: pa.Array) -> dict[Any, int]:
    """Return the number of rows of each value."""
    return {each["values"]: each["counts"] for each in pc.value_counts(column).to_pylist()}
