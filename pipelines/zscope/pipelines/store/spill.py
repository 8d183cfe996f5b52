"""Private folders for what does not fit in memory, which later sessions delete if their process was killed.

A lock of the operating system tells whether the process of a folder still runs: it ends with the process,
also in another container that shares the folder for temporary files, where process numbers would mislead.
"""

from __future__ import annotations

import os
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from shutil import disk_usage, rmtree
from typing import Self

from zscope.pipelines.store.process_lock import try_lock

_PREFIX = "zscope-sql-"
_LOCK = "lock"
_WITHOUT_LOCK_S = 24 * 3600.0
"""A folder without a lock is of an earlier version of zscope, or its process is just creating it."""
_SHARE_OF_FREE_SPACE = 2
"""By default, a session can use one part in so many of the space that is free when it starts."""


@dataclass(slots=True)
class SpillFolder:
    """A private folder that is deleted with its session."""

    path: Path
    _lock: int | None
    """The handle of the locked file; None after the folder was deleted."""

    @classmethod
    def create(cls) -> Self:
        """Create a folder, after deleting those of killed processes."""
        delete_leftovers()
        path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        unfinished = path / f"{_LOCK}.new"
        handle = os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try_lock(handle)
        # With this name it is always locked while its process runs.
        unfinished.rename(path / _LOCK)
        return cls(path, handle)

    @property
    def temporary(self) -> Path:
        """The folder for DuckDB, which creates and deletes it."""
        return self.path / "spill"

    def largest(self) -> str:
        """Return the default limit of its size, as DuckDB reads it."""
        return f"{max(1, disk_usage(self.path).free // _SHARE_OF_FREE_SPACE)}B"

    def delete(self) -> None:
        """Delete the folder and its files; a second call has no effect."""
        if self._lock is not None:
            rmtree(self.path, ignore_errors=True)
            os.close(self._lock)
            self._lock = None


def delete_leftovers() -> None:
    """Delete the folders of the same user whose process was killed."""
    with os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            # Whatever another process deletes at the same time is deleted.
            with suppress(FileNotFoundError):
                if entry.name.startswith(_PREFIX) and entry.is_dir(follow_symlinks=False):
                    _delete_if_left(entry)


def _delete_if_left(entry: os.DirEntry[str]) -> None:
    about = entry.stat(follow_symlinks=False)
    if about.st_uid != os.geteuid():
        return
    path = Path(entry.path)
    try:
        handle = os.open(path / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        if time.time() - about.st_mtime > _WITHOUT_LOCK_S:
            rmtree(path, ignore_errors=True)
        return
    try:
        if try_lock(handle):
            rmtree(path, ignore_errors=True)
    finally:
        os.close(handle)
