"""Change the store: lock it, delete leftovers, commit files, and publish the catalogue."""

from __future__ import annotations

import os
import re
import shutil
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from zscope.pipelines.freed_memory import return_memory_now
from zscope.pipelines.public_files import update_public_files
from zscope.pipelines.store.catalogue import publish_catalogue
from zscope.pipelines.store.catalogue_file import is_current
from zscope.pipelines.store.checksums import last_commit
from zscope.pipelines.store.commits import Commit, DataFile, State, append, read_state
from zscope.pipelines.store.file_checks import damage_text
from zscope.pipelines.store.folder import (
    DamagedStoreError,
    Folder,
    StoreError,
    digest_of_file,
    fsync_all,
    is_temporary,
    partition,
    update_format,
)
from zscope.pipelines.store.lock import WriteLock
from zscope.pipelines.store.parquet_files import schema_digest
from zscope.pipelines.store.permissions import as_created, readable_by
from zscope.pipelines.store.step_computation import days_touched, update_summaries
from zscope.pipelines.store.stored_steps import steps_to_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from zscope.pipelines.settings import Settings
    from zscope.pipelines.store.lock import Notify
    from zscope.pipelines.store.parquet_files import StagedFile


_OUR_DATA = re.compile(r"data/[a-z][a-z0-9_]*/(?:day|month)=[^/]+/[cerivn]?\d{8,}(-[a-z0-9]+)*\.parquet")
"""Names of our data files: table, day or month, and number of the load, or a letter and the number of a
commit that compacts, expires, removes, validates, names systems, or has issues of inputs. Files with other
names are not ours and are never deleted.
"""
_OUR_SUMMARY = re.compile(r"summaries/[a-z][a-z0-9_]*/\d{8,}-\d+\.parquet")


def sweep(folder: Folder, state: State, grace_s: float, *, everything: bool = True) -> int:
    """Delete files that commits dropped, and return how many; with `everything` also those that none lists.

    Files dropped within the last `grace_s` seconds stay, as queries may be reading them. The caller has the
    lock, so unfinished files are leftovers of a killed process. Only then all files have to be looked at.
    Deleted files are taken out of the state, so that the next checkpoint does not list them any more.
    """
    shutil.rmtree(folder.stage, ignore_errors=True)
    grace_start = (datetime.now(UTC) - timedelta(seconds=grace_s)).isoformat()
    listed_as = {_in_folder(name): name for name in state.dropped}
    dropped = {name: state.dropped[entry] for name, entry in listed_as.items()}
    listed = {f"data/{name}" for name in state.files} | state.summaries.keys()
    names = _our_files(folder.path) if everything else dropped
    swept = 0
    for name in [name for name in names if name not in listed and dropped.get(name, "") <= grace_start]:
        path = folder.path / name
        if path.exists():
            path.unlink(missing_ok=True)
            swept += 1
            _remove_if_empty(path.parent)
        state.dropped.pop(listed_as.get(name, ""), None)
    for place in (folder.path, folder.commits, folder.quarantine, folder.tables):
        for path in place.glob(".*"):
            if is_temporary(path):
                path.unlink(missing_ok=True)
    return swept


def _in_folder(name: str) -> str:
    """Return the name of a dropped file, relative to the store."""
    return name if _OUR_SUMMARY.fullmatch(name) else f"data/{name}"


def _our_files(store: Path) -> Iterator[str]:
    for top, ours in (("data", _OUR_DATA), ("summaries", _OUR_SUMMARY)):
        for place, _, names in os.walk(store / top):
            for name in names:
                path = Path(place, name).relative_to(store).as_posix()
                if ours.fullmatch(path):
                    yield path


def _remove_if_empty(day: Path) -> None:
    if not any(day.iterdir()):
        day.rmdir()


def write_lock(folder: Folder) -> WriteLock:
    """Return the lock of a store."""
    return WriteLock(folder.lock, folder.path, "the store")


@dataclass(slots=True)
class KeptState:
    """The state of a store after a change, for the next change by the same process: it reads less."""

    state: State | None = None

    def taken(self) -> State | None:
        """Return the state; nothing is kept until a change has ended well."""
        state, self.state = self.state, None
        return state


@contextmanager
def changing(
    folder: Folder,
    settings: Settings,
    notify: Notify,
    *,
    all_summaries: bool = False,
    kept: KeptState | None = None,
    threads: int | None = None,
) -> Iterator[State]:
    """Lock the store and return its state.

    On exit, also by an exception, the catalogue and the public files show everything that was committed.
    Without `all_summaries`, the time for summaries of days that were not changed is limited. They are
    computed by these threads, or by as many as there are processors.
    """
    kept = kept or KeptState()
    with (
        _store_errors(folder) as begin,
        readable_by(folder.path, everybody=settings.readable_by_everybody),
        write_lock(folder).held(notify, settings.lock_wait_s) as was_interrupted,
    ):
        unfinished = was_interrupted or folder.stage.exists()
        state = read_state(folder, known=kept.taken())
        before = begin.last_commit = state.number
        sweep(folder, state, settings.grace_s, everything=unfinished)
        _publish_earlier_commits(folder, state, notify)
        try:
            yield state
        except BaseException:
            # Raise the original error, not one that follows from it.
            with suppress(StoreError):
                _publish(folder, state, notify)
            raise
        threads = threads or os.cpu_count() or 1
        _summarise(folder, state, settings, notify, before, everything=all_summaries, threads=threads)
        _publish(folder, state, notify)
        if text := damage_text(state):
            notify(f"{folder.path}: {text}")
        kept.state = state


_NEIGHBOURS = 2
"""More days than this for each day of a load are not just its neighbours."""


def show_commits(folder: Folder, state: State, notify: Notify) -> None:
    """Let the catalogue and the public files show everything that was committed."""
    if not is_current(folder):
        publish_catalogue(folder, state)
    update_public_files(folder, state, notify)


def _publish(folder: Folder, state: State, notify: Notify) -> None:
    shutil.rmtree(folder.stage, ignore_errors=True)
    try:
        show_commits(folder, state, notify)
    finally:
        shutil.rmtree(folder.stage, ignore_errors=True)


def _publish_earlier_commits(folder: Folder, state: State, notify: Notify) -> None:
    """Publish what a writer committed that was killed: readers have seen it, and now use the catalogue."""
    if not state.number or is_current(folder):
        return
    try:
        publish_catalogue(folder, state)
    except StoreError as error:
        # A change such as expiry can be what gives the disk space again.
        notify(str(error))


def _summarise(
    folder: Folder,
    state: State,
    settings: Settings,
    notify: Notify,
    before: int,
    *,
    everything: bool,
    threads: int,
) -> None:
    """Compute the stored rows of the days that were changed, if the store is large enough.

    Notifies the user if this is mostly about days that were loaded before this change.
    """
    steps = steps_to_store(state, settings.summarise_from_rows)
    if not steps:
        return
    last_load = max((load.load_id for load in state.live_loads), default=0)
    return_memory_now()  # what decoding needed is free, and DuckDB has memory of its own
    try:
        computed, left = update_summaries(
            folder, state, before, last_load, steps, everything=everything, threads=threads
        )
    except (duckdb.Error, pa.ArrowException, OSError, DamagedStoreError) as error:
        if state.damaged:
            return  # what cannot be computed without these files is said below
        reason = str(error).partition("\n")[0]
        notify(
            f"{folder.path}: metrics will be slower, as no summaries could be computed ({reason}); "
            "zscope store check reads all files, zscope store rebuild computes the summaries again"
        )
        return
    touched = days_touched(state, before)
    older = computed - touched
    if len(older) > _NEIGHBOURS * (1 + len(touched)):
        notify(f"{folder.path}: summaries of {len(older):,} days that were loaded before have been computed")
    if left:
        notify(
            f"{folder.path}: summaries of {len(left):,} days are still missing; the next change of the store "
            "continues"
        )


def current_catalogue(folder: Folder, settings: Settings, notify: Notify) -> Path:
    """Return the path of the catalogue, after building it again if it does not show the newest commit."""
    if not is_current(folder):
        with changing(folder, settings, notify):
            pass
    return folder.catalogue


@dataclass
class _Begin:
    """The store at the begin of a change."""

    folder: Folder
    last_commit: int | None = None
    """None as long as it has not been read."""

    def effect(self) -> str:
        """Describe what an error left of the change; an error can also follow a commit."""
        try:
            committed = self.last_commit is not None and last_commit(self.folder) > self.last_commit
        except StoreError:
            return "zscope loads lists what was committed"
        if committed:
            return "what was committed is complete, zscope loads lists it; run the command again for the rest"
        return "earlier commits are unchanged, the current change was not committed"


@contextmanager
def _store_errors(folder: Folder) -> Iterator[_Begin]:
    """Convert errors of the file system and of DuckDB to StoreError; errors of inputs never get here."""
    begin = _Begin(folder)
    try:
        yield begin
    except (duckdb.Error, pa.ArrowInvalid) as error:
        reason = str(error).partition("\n")[0]
        raise StoreError(
            f"{folder.path}: {reason}; {begin.effect()}; zscope store check reads all files"
        ) from error
    except OSError as error:
        where = f" ({os.fsdecode(error.filename)})" if error.filename else ""
        reason = error.strerror or str(error).partition("\n")[0]
        raise StoreError(
            f"{folder.path}: the store cannot be changed: {reason}{where}; {begin.effect()}"
        ) from error


def commit_files(
    folder: Folder,
    state: State,
    staged: Sequence[StagedFile],
    commit_of: Callable[[tuple[DataFile, ...]], Commit],
) -> None:
    """Move staged files to their places, then append the commit that adds them.

    An interruption before the last step leaves only files that no commit lists.
    """
    fsync_all(file.path for file in staged)
    places: set[Path] = set()
    data_files: list[DataFile] = []
    for file in staged:
        name = f"{partition(file.table, file.day, file.days)}/{file.path.name}"
        target = folder.data / name
        target.parent.mkdir(parents=True, exist_ok=True)
        file.path.rename(target)
        as_created(target)  # a worker on another machine can have written it
        places |= {target.parent, target.parent.parent}
        schema, digest = schema_digest(file.table), file.digest or digest_of_file(target)
        data_files.append(
            DataFile(
                name, file.table, file.day, file.rows, file.bytes, dict(file.loads), schema, digest,
                file.first_local, file.last_local, dict(file.days),
            )
        )  # fmt: skip
    fsync_all([*places, folder.data] if places else [])
    update_format(folder)
    append(folder, state, commit_of(tuple(data_files)))
