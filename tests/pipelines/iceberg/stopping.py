"""Stop a publication at one of its operations on files, as if its process was killed there.

From the chosen operation on, none is possible any more, so what would clean up after an error does nothing
either.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_ON_FILES = {
    "open",
    "os.rename",
    "os.link",
    "os.remove",
    "os.mkdir",
    "os.rmdir",
    "os.truncate",
    "shutil.copyfile",
    "sqlite3.connect",
}
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT

Observer = Callable[[str, tuple[Any, ...]], None]
"""Called with an audit event and its arguments."""
_observers: list[Observer] = []


class StoppedError(Exception):
    """The publication was stopped."""


@contextmanager
def watched(folder: Path, at_operation: Callable[[str], None]) -> Iterator[list[str]]:
    """Call a function before each operation on files of a folder; yields the list of operations."""
    operations: list[str] = []
    is_called = False

    def on_event(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal is_called
        if is_called:  # the function can use files, too
            return
        place = arguments[0]
        if isinstance(place, int) or str(folder) not in os.fsdecode(place):
            if event != "os.truncate":  # of the lock, which is open
                return
            place = "lock"
        operations.append(f"{event} {Path(os.fsdecode(place)).name}")
        is_called = True
        try:
            at_operation(operations[-1])
        finally:
            is_called = False

    with audited(on_event):
        yield operations


def stop_before(number: int) -> Callable[[str], None]:
    """Return a function that permits this number of operations, and none after them."""
    numbers = count()

    def at_operation(_: str) -> None:
        if next(numbers) >= number:
            raise StoppedError

    return at_operation


@contextmanager
def audited(on_event: Observer) -> Iterator[None]:
    """Call a function before each operation of this process that changes files."""
    _install_hook()
    _observers.append(on_event)
    try:
        yield
    finally:
        _observers.remove(on_event)


@cache
def _install_hook() -> None:
    """Install the audit hook. Hooks cannot be removed, so all observers use the same one."""

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event not in _ON_FILES:
            return
        if event == "open" and not (isinstance(arguments[2], int) and arguments[2] & _WRITES):
            return
        for on_event in _observers:
            on_event(event, arguments)

    sys.addaudithook(hook)
