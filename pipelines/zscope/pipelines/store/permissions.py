"""Who can read the files of a store: by default its owner and its group.

The folder of the store decides: if others can open it, new files in it are for them, too. So an administrator
who opens a store to all needs no setting, and neither does a store of an earlier version.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_OTHERS = 0o007
_OTHERS_WRITE = 0o002
_OTHERS_READ = 0o005


@contextmanager
def readable_by(store: Path | None, *, everybody: bool) -> Iterator[None]:
    """Create files and folders for owner and group only, or for all if the store is for all.

    Without a store, one is created.
    The mask is a property of the process: worker processes inherit it.
    """
    before = os.umask(_OTHERS)
    try:
        for_all = everybody or (store is not None and bool(store.stat().st_mode & _OTHERS_READ))
        os.umask(_mask(before, for_all=for_all, everybody=everybody))
        yield
    finally:
        os.umask(before)


def _mask(before: int, *, for_all: bool, everybody: bool) -> int:
    if everybody:
        return (before & ~_OTHERS) | _OTHERS_WRITE
    return before if for_all else before | _OTHERS


def close_to_others(store: Path) -> None:
    """Take the rights of others from the folder of a new store, which a user can have created before."""
    with suppress(PermissionError):  # it belongs to somebody else, who decides
        store.chmod(stat.S_IMODE(store.stat().st_mode) & ~_OTHERS)


def as_created(path: Path) -> None:
    """Give a file that another process created the rights that this process gives new files."""
    mask = os.umask(0)
    os.umask(mask)
    with suppress(PermissionError):
        path.chmod(0o666 & ~mask)
