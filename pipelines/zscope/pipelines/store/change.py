"""Change the store: lock it, delete leftovers, commit files, and publish the catalogue.

One process changes the store at a time; others wait up to a limit. The lock is a `flock` of the operating
system, so it ends with its process. The content of the lock file only informs users who has the lock.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import socket
import sys
import time
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from zscope.pipelines.store.catalogue import publish_catalogue
from zscope.pipelines.store.catalogue_file import is_current
from zscope.pipelines.store.commits import Commit, DataFile, State, append, read_state
from zscope.pipelines.store.folder import (
    Folder,
    StoreError,
    digest_of_file,
    fsync_all,
    is_temporary,
    partition,
    update_format,
)
from zscope.pipelines.store.parts import schema_digest
from zscope.pipelines.store.summaries import steps_to_store, update_summaries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from zscope.pipelines.settings import Settings
    from zscope.pipelines.store.parts import StagedFile

    Notify = Callable[[str], None]

_POLL_S = 0.1


class StoreBusyError(StoreError):
    """Another process has the store locked for longer than the waiting time."""


@contextmanager
def write_lock(folder: Folder, notify: Notify, max_wait_s: float) -> Iterator[bool]:
    """Lock the store for changes, after waiting at most so many seconds.

    Yields whether the last writer did not unlock the store, because it was killed, and notifies the user.
    """
    try:
        handle = os.open(folder.lock, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise StoreError(f"{folder.path}: the store cannot be changed ({error.strerror})") from error
    try:
        _wait(handle, folder, notify, max_wait_s)
        was_interrupted = bool(os.fstat(handle).st_size)
        if (holder := _holder(handle)) is not None:
            notify(f"the last writer of {folder.path}, {holder}, was interrupted; its leftovers are deleted")
        _write(handle, _describe_process())
        try:
            yield was_interrupted
        finally:
            _write(handle, b"")
    finally:
        os.close(handle)


def _wait(handle: int, folder: Folder, notify: Notify, max_wait_s: float) -> None:
    deadline = time.monotonic() + max_wait_s
    notified = False
    while not _try_lock(handle):
        holder = _holder(handle) or "another process"
        if time.monotonic() >= deadline:
            raise StoreBusyError(
                f"{folder.path}: the store is being changed by {holder} and did not become "
                f"free within {max_wait_s:,.0f} seconds; nothing was changed"
            )
        if not notified:
            notify(
                f"waiting for {holder}, which is changing {folder.path} (at most {max_wait_s:,.0f} seconds)"
            )
            notified = True
        time.sleep(_POLL_S)


def _try_lock(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _describe_process() -> bytes:
    about = {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "since": datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC"),
        "command": " ".join(sys.argv)[:200],
    }
    return json.dumps(about).encode()


def _write(handle: int, content: bytes) -> None:
    os.ftruncate(handle, 0)
    os.pwrite(handle, content, 0)


def _holder(handle: int) -> str | None:
    """Return which process the lock file names; None if it names none or cannot be read."""
    try:
        about = json.loads(os.pread(handle, 4096, 0))
        return f"process {about['pid']} on {about['host']} since {about['since']}"
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


_OUR_DATA = re.compile(r"data/[a-z][a-z0-9_]*/(?:day|month)=[^/]+/[ceriv]?\d{8,}(-[a-z0-9]+)*\.parquet")
"""Names of our data files: table, day or month, and number of the load, or a letter and the number of a
commit that compacts, expires, removes, validates, or has issues of inputs. Files with other names are not
ours and are never deleted.
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
    for place in (folder.path, folder.commits, folder.quarantine):
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


@contextmanager
def changing(folder: Folder, settings: Settings, notify: Notify) -> Iterator[State]:
    """Lock the store and return its state.

    On exit, also by an exception, the catalogue shows everything that was committed.
    """
    with _store_errors(folder), write_lock(folder, notify, settings.lock_wait_s) as was_interrupted:
        unfinished = was_interrupted or folder.stage.exists()
        state = read_state(folder)
        before = state.number
        sweep(folder, state, settings.grace_s, everything=unfinished)
        try:
            yield state
        except BaseException:
            # Raise the original error, not one that follows from it.
            with suppress(StoreError):
                _publish(folder, state)
            raise
        _summarise(folder, state, settings, notify, before)
        _publish(folder, state)


_NEIGHBOURS = 2
"""More days than this for each day of a load are not just its neighbours."""


def _publish(folder: Folder, state: State) -> None:
    shutil.rmtree(folder.stage, ignore_errors=True)
    if not is_current(folder):
        publish_catalogue(folder, state)


def _summarise(folder: Folder, state: State, settings: Settings, notify: Notify, before: int) -> None:
    """Compute the stored rows of the days that were changed, if the store is large enough.

    Notifies the user if this is mostly about days that were loaded before this change.
    """
    steps = steps_to_store(state, settings.summarise_from_rows)
    if not steps:
        return
    last_load = max((load.load_id for load in state.live_loads), default=0)
    try:
        computed, left = update_summaries(folder, state, last_load, steps)
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        reason = str(error).partition("\n")[0]
        notify(
            f"{folder.path}: metrics will be slower, as no summaries could be computed ({reason}); "
            "zscope store check reads all files, zscope store rebuild computes the summaries again"
        )
        return
    touched = {day for days in state.changed.values() for day, number in days.items() if number > before}
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


@contextmanager
def _store_errors(folder: Folder) -> Iterator[None]:
    """Convert errors of the file system and of DuckDB to StoreError; errors of inputs never get here."""
    effect = "earlier commits are unchanged, the current change was not committed"
    try:
        yield
    except (duckdb.Error, pa.ArrowInvalid) as error:
        reason = str(error).partition("\n")[0]
        raise StoreError(f"{folder.path}: {reason}; {effect}; zscope store check reads all files") from error
    except OSError as error:
        where = f" ({os.fsdecode(error.filename)})" if error.filename else ""
        reason = error.strerror or str(error).partition("\n")[0]
        raise StoreError(f"{folder.path}: the store cannot be changed: {reason}{where}; {effect}") from error


def commit_files(
    folder: Folder,
    state: State,
    staged: Sequence[StagedFile],
    loads_of: Callable[[StagedFile], Mapping[int, int]],
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
        places |= {target.parent, target.parent.parent}
        loads = dict(loads_of(file))
        schema, digest = schema_digest(file.table), digest_of_file(target)
        data_files.append(
            DataFile(
                name, file.table, file.day, file.rows, file.bytes, loads, schema, digest, file.first_local,
                file.last_local, dict(file.days),
            )
        )  # fmt: skip
    fsync_all([*places, folder.data] if places else [])
    update_format(folder)
    append(folder, state, commit_of(tuple(data_files)))
