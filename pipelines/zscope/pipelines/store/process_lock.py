"""Lock files: a `flock` of the operating system, which ends with its process.

The content of the file only informs users who has the lock, or that its last holder was killed.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from zscope.pipelines.unix_calls import lock

if TYPE_CHECKING:
    from pathlib import Path


def try_lock(handle: int) -> bool:
    """Lock an open file, unless another process has locked it."""
    try:
        lock(handle)
    except BlockingIOError:
        return False
    return True


def is_locked(path: Path) -> bool:
    """Whether a process has a file locked, without disturbing processes that want to lock it.

    A file without content has no holder. One with content is locked, or its last holder was killed: only then
    this process locks it, together with others that do the same, for a moment.
    """
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        if not os.fstat(handle).st_size:
            return False
        lock(handle, shared=True)
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks, to which nothing can be loaded either
        return False
    finally:
        os.close(handle)
    return False


def sign(handle: int) -> None:
    """Write into a locked file which process has locked it."""
    about = {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "since": datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC"),
        "command": " ".join(sys.argv)[:200],
    }
    _write(handle, json.dumps(about).encode())


def clear(handle: int) -> None:
    """Empty a locked file before it is unlocked."""
    _write(handle, b"")


def _write(handle: int, content: bytes) -> None:
    os.ftruncate(handle, 0)
    os.pwrite(handle, content, 0)


def holder(handle: int) -> str | None:
    """Return which process the file names; None if it names none or cannot be read."""
    try:
        about = json.loads(os.pread(handle, 4096, 0))
        return f"process {about['pid']} on {about['host']} since {about['since']}"
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
