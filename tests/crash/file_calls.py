"""The calls of a function that change files: recorded, or one of them not done.

A library does this that is preloaded into the process, so calls of DuckDB, Arrow and SQLite are among them.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCE = Path(__file__).with_name("file_calls.c")
COMPILER = shutil.which("cc") if sys.platform == "linux" else None
"""None: the library cannot be built."""
Result = TypeVar("Result")
_HEAD = struct.Struct("<BQqQQQ")


class What(IntEnum):
    """The calls, by their number in a record."""

    CREATE = 1
    WRITE = 2
    TRUNCATE = 3
    RENAME = 4
    EXCHANGE = 5
    LINK = 6
    UNLINK = 7
    MKDIR = 8
    RMDIR = 9
    SYNC = 10


@dataclass(frozen=True, slots=True)
class Call:
    """A call that was successful. Calls that use an open file have no path."""

    what: What
    inode: int
    """The file that it changes, or to which it gives a name."""
    number: int
    """Where it writes, or the new length."""
    path: str
    to: str
    data: bytes


def build(folder: Path) -> Path:
    """Compile the library into a folder, and return its path."""
    library = folder / "file_calls.so"
    assert COMPILER is not None
    flags = ["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([COMPILER, *flags, "-o", library, SOURCE, "-ldl", "-lpthread"], check=True)
    return library


def preloaded(library: Path) -> dict[str, str]:
    """Return the environment of a process that records its calls."""
    return {"LD_PRELOAD": str(library)}


def is_preloaded() -> bool:
    """Whether this process can record its calls."""
    return hasattr(ctypes.CDLL(None), "file_calls_begin")


@dataclass(frozen=True, slots=True)
class NotDone:
    """A call that fails, or before which the process is killed."""

    at: int
    """The number of the call; the first one is 1."""
    error: int = 0
    """The error that it returns; 0: the process is killed."""


def recorded(folder: Path, record: Path, work: Callable[[], Result]) -> Result:
    """Do something, and record its calls in a folder."""
    with record.open("wb") as into, _observed(folder, into.fileno(), NotDone(0)):
        return work()


def without(folder: Path, call: NotDone, work: Callable[[], Result]) -> Result:
    """Do something without one of its calls in a folder."""
    with _observed(folder, -1, call):
        return work()


@contextmanager
def _observed(folder: Path, into: int, call: NotDone) -> Iterator[None]:
    begin = ctypes.CDLL(None).file_calls_begin
    begin.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_long, ctypes.c_int]
    begin(os.fsencode(folder), into, call.at, call.error)
    try:
        yield
    finally:
        begin(b"", -1, 0, 0)


def read_record(record: Path, folder: Path) -> list[Call]:
    """Return the calls of a record, in order, with the paths in the folder."""
    with record.open("rb") as file:
        return list(_calls(file, folder))


def _calls(file: BinaryIO, folder: Path) -> Iterator[Call]:
    while head := file.read(_HEAD.size):
        what, inode, number, *lengths = _HEAD.unpack(head)
        path, to, data = map(file.read, lengths)
        yield Call(What(what), inode, number, _in(folder, path), _in(folder, to), data)


def _in(folder: Path, path: bytes) -> str:
    return Path(os.fsdecode(path)).relative_to(folder).as_posix() if path else ""
