"""File locks, flushing to disk, and renames that replace nothing, on Linux and macOS."""

from __future__ import annotations

import ctypes
import errno
import os
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

try:
    import fcntl
except ImportError as error:  # Windows
    message = "a store needs the file locks of Linux or macOS; on Windows use WSL or the container"
    raise ImportError(message) from error


def lock(handle: int, *, shared: bool = False) -> None:
    """Lock an open file, or raise BlockingIOError if another process has locked it."""
    fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)


def flush(handle: int) -> None:
    """Flush an open file or folder to disk, on macOS also out of the cache of the drive."""
    if hasattr(fcntl, "F_FULLFSYNC"):
        with suppress(OSError):  # not every file system has it; all have the other
            fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
            return
    os.fsync(handle)


_HERE = -100
"""`AT_FDCWD`."""
_NEW, _EXCHANGE = 1, 2
"""`RENAME_NOREPLACE` and `RENAME_EXCHANGE` of Linux."""
_OF_MACOS = {_NEW: 4, _EXCHANGE: 2}
"""Their values on macOS, as `RENAME_EXCL` and `RENAME_SWAP`."""


def exchange(one: Path, other: Path) -> None:
    """Exchange two folders in one step."""
    _rename(one, other, _EXCHANGE)


def rename_to_free_name(path: Path, target: Path) -> None:
    """Rename a file; raise FileExistsError if there is one with the new name."""
    _rename(path, target, _NEW)


def _rename(one: Path, other: Path, how: int) -> None:
    names = os.fsencode(one), os.fsencode(other)
    library = ctypes.CDLL(None, use_errno=True)
    if hasattr(library, "renameat2"):
        failed = library.renameat2(_HERE, names[0], _HERE, names[1], how)
    elif hasattr(library, "renamex_np"):
        failed = library.renamex_np(*names, _OF_MACOS[how])
    else:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    if failed:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(one), None, str(other))
