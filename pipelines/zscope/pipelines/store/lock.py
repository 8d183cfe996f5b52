"""Lock a folder for changes: one process at a time, others wait up to a limit."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zscope.pipelines.store.folder import StoreError
from zscope.pipelines.store.process_lock import clear, holder, sign, try_lock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


Notify = Callable[[str], None]
"""Prints a message for the user."""
_POLL_S = 0.1


class StoreBusyError(StoreError):
    """Another process has the folder locked for longer than the waiting time."""


@dataclass(frozen=True, slots=True)
class WriteLock:
    """The lock file of a folder."""

    file: Path
    folder: Path
    content: str
    """What is in the folder, for messages: `the store`."""

    @contextmanager
    def held(self, notify: Notify, max_wait_s: float) -> Iterator[bool]:
        """Lock the folder for changes, after waiting at most so many seconds.

        Yields whether the last writer did not unlock it, because it was killed, and notifies the user.
        """
        try:
            handle = os.open(self.file, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            problem = f"{self.content} cannot be changed ({error.strerror})"
            raise StoreError(f"{self.folder}: {problem}") from error
        try:
            self._wait(handle, notify, max_wait_s)
            was_interrupted = bool(os.fstat(handle).st_size)
            if (last := holder(handle)) is not None:
                notify(
                    f"the last writer of {self.folder}, {last}, was interrupted; its leftovers are deleted"
                )
            sign(handle)
            try:
                yield was_interrupted
            finally:
                clear(handle)
        finally:
            os.close(handle)

    def _wait(self, handle: int, notify: Notify, max_wait_s: float) -> None:
        deadline = time.monotonic() + max_wait_s
        notified = False
        while not try_lock(handle):
            other = holder(handle) or "another process"
            if time.monotonic() >= deadline:
                raise StoreBusyError(
                    f"{self.folder}: {self.content} is being changed by {other} and did not become "
                    f"free within {max_wait_s:,.0f} seconds; nothing was changed"
                )
            if not notified:
                wait = f"at most {max_wait_s:,.0f} seconds"
                notify(f"waiting for {other}, which is changing {self.folder} ({wait})")
                notified = True
            time.sleep(_POLL_S)
