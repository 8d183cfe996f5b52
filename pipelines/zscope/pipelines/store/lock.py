"""One writer at a time: who comes second waits, says so, and gives up after a while.

The lock is the operating system's (`flock`), so it ends with the process that holds it, however that ends.
What stands in the file is only for people: who it was.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from zscope.pipelines.store.folder import StoreError

if TYPE_CHECKING:
    from zscope.pipelines.store.folder import Folder

    Tell = Callable[[str], None]

_POLL_S = 0.1


class StoreBusyError(StoreError):
    """Another process kept the store for longer than we were to wait."""


@contextmanager
def only_writer(folder: Folder, tell: Tell, longest_wait_s: float) -> Iterator[None]:
    """Hold the store for changes, after waiting so many seconds at most.

    Whoever held it last and did not let go in order is told of: it was killed, and its leftovers are swept.
    """
    try:
        handle = os.open(folder.lock, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise StoreError(f"{folder.path}: the store cannot be changed ({error.strerror})") from error
    try:
        _wait(handle, folder, tell, longest_wait_s)
        if (holder := _holder(handle)) is not None:
            tell(
                f"the last writer of {folder.path}, {holder}, ended before it was done; what it left is swept"
            )
        _write(handle, _about_us())
        try:
            yield
        finally:
            _write(handle, b"")
    finally:
        os.close(handle)


def _wait(handle: int, folder: Folder, tell: Tell, longest_wait_s: float) -> None:
    give_up = time.monotonic() + longest_wait_s
    told = False
    while not _taken(handle):
        holder = _holder(handle) or "another process"
        if time.monotonic() >= give_up:
            raise StoreBusyError(
                f"{folder.path}: the store is being changed by {holder} and was not free within "
                f"{longest_wait_s:,.0f} seconds; nothing was done"
            )
        if not told:
            tell(
                f"waiting for {holder}, who is changing {folder.path} (at most {longest_wait_s:,.0f} seconds)"
            )
            told = True
        time.sleep(_POLL_S)


def _taken(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _about_us() -> bytes:
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
    """Who wrote into the lock file last, in words; None where nobody left a word or it cannot be read."""
    try:
        about = json.loads(os.pread(handle, 4096, 0))
        return f"process {about['pid']} on {about['host']} since {about['since']}"
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
