"""Taking away what does not count: leftovers of a killed writer, and files that were replaced long ago."""

from __future__ import annotations

import os
import re
import shutil
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from zscope.pipelines.store.folder import is_beside

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from zscope.pipelines.store.commits import State
    from zscope.pipelines.store.folder import Folder

_OUR_NAME = re.compile(r"[a-z][a-z0-9_]*/day=[^/]+/[crv]?\d{8,}(-[a-z0-9]+)*\.parquet")
"""By table, day and number: of a load, or with a letter of a commit that compacts, removes or validates. What
somebody else put into the folder has another name, and stays.
"""


def sweep(folder: Folder, state: State, grace_s: float) -> int:
    """Delete data files that no commit names, except what was dropped in the last seconds of grace: readers
    may be at them. Returns how many files went.

    The caller holds the lock: what looks unfinished is so because its writer is gone.
    """
    shutil.rmtree(folder.stage, ignore_errors=True)
    kept = datetime.now(UTC) - timedelta(seconds=grace_s)
    swept = 0
    for path in _files(folder.data):
        name = path.relative_to(folder.data).as_posix()
        dropped = state.dropped.get(name)
        lately = dropped is not None and datetime.fromisoformat(dropped) > kept
        if name in state.files or lately or not _OUR_NAME.fullmatch(name):
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
