"""Taking away what does not count: leftovers of a killed writer, and files that were replaced long ago."""

from __future__ import annotations

import os
import shutil
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from zscope.pipelines.store.folder import is_beside

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from zscope.pipelines.store.commits import State
    from zscope.pipelines.store.folder import Folder

GRACE_S = 3600.0
"""So long a file that was replaced stays for those who opened the catalogue before."""


def sweep(folder: Folder, state: State, grace_s: float = GRACE_S) -> int:
    """Delete what no commit names, except what was dropped only lately; returns how many files went.

    The caller holds the lock: what looks unfinished is so because its writer is gone.
    """
    shutil.rmtree(folder.stage, ignore_errors=True)
    kept = datetime.now(UTC) - timedelta(seconds=grace_s)
    swept = 0
    for path in _files(folder.data):
        name = path.relative_to(folder.data).as_posix()
        dropped = state.dropped.get(name)
        if name in state.files or (dropped and datetime.fromisoformat(dropped) > kept):
            continue
        path.unlink(missing_ok=True)
        swept += 1
        _remove_if_empty(path.parent)
    for place in (folder.path, folder.commits, folder.quarantine):
        for left in place.glob(".*"):
            if is_beside(left):
                left.unlink(missing_ok=True)
    return swept


def _files(data: Path) -> Iterator[Path]:
    for place, _, names in os.walk(data):
        yield from (data.joinpath(place, name) for name in names)


def _remove_if_empty(day: Path) -> None:
    if not any(day.iterdir()):
        day.rmdir()
