"""Stop a publication at one of its operations on files, as if its process was killed there.

An audit hook sees each operation before it happens. From the chosen one on, none is possible any more, so
what would clean up after an error does nothing either. Hooks cannot be removed: this one does nothing when no
publication is watched.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_OPERATIONS = {
    "open",
    "os.rename",
    "os.link",
    "os.remove",
    "os.mkdir",
    "os.rmdir",
    "os.truncate",
    "sqlite3.connect",
}
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class StoppedError(Exception):
    """The publication was stopped."""


@dataclass(slots=True)
class Watch:
    """What happens at operations on files of a folder."""

    folder: str = ""
    at_operation: Callable[[str], None] | None = None
    operations: list[str] = field(default_factory=list)

    def see(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Note an operation on files, and do what is to be done at it."""
        if self.at_operation is None or event not in _OPERATIONS:
            return
        if event == "open" and not (isinstance(arguments[2], int) and arguments[2] & _WRITES):
            return
        place = arguments[0]
        if isinstance(place, int) or self.folder not in os.fsdecode(place):
            if event != "os.truncate":  # of the lock, which is open
                return
            place = "lock"
        what, self.at_operation = self.at_operation, None  # it can use files, too
        self.operations.append(f"{event} {Path(os.fsdecode(place)).name}")
        try:
            what(self.operations[-1])
        finally:
            self.at_operation = what


_WATCH = Watch()
sys.addaudithook(_WATCH.see)


@contextmanager
def watched(folder: Path, at_operation: Callable[[str], None]) -> Iterator[list[str]]:
    """Call a function before each operation on files of a folder; yields the list of operations."""
    _WATCH.folder, _WATCH.at_operation, _WATCH.operations = str(folder), at_operation, []
    try:
        yield _WATCH.operations
    finally:
        _WATCH.at_operation = None


def stop_before(number: int) -> Callable[[str], None]:
    """Return a function that lets so many operations happen, and none after them."""

    def at_operation(_: str) -> None:
        if len(_WATCH.operations) > number:
            raise StoppedError

    return at_operation
