"""The operations of this process on the files of a store, and the files that are there before each of them.

A process that is killed leaves the files as they are, and its lock ends with it. So the files before an
operation are what a writer leaves that is killed there, and one run of a job has them all.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

Files = dict[str, bytes | None]
"""Content by path in the store; None for a folder."""
STAGE = ".stage"
"""Folder of unfinished files."""

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
_PROCESS = re.compile(r"\.\d+")

Observer = Callable[[str, tuple[Any, ...]], None]
"""Called with an audit event and its arguments."""
_observers: list[Observer] = []


def without_process(name: str) -> str:
    """Return the name of a file without the number of the process that writes it."""
    return _PROCESS.sub(".N", name)


@contextmanager
def observed(
    store: Path, at_operation: Callable[[str], object], at_commit: Callable[[], object] = lambda: None
) -> Iterator[None]:
    """Report each operation on files of the store before it happens, and the commit.

    Flushing to disk is not reported: a process killed there leaves the same as at the next operation.
    """
    inside = os.fspath(store)

    def on_event(event: str, arguments: tuple[Any, ...]) -> None:
        place = arguments[0] if isinstance(arguments[0], int) else os.fsdecode(arguments[0])
        in_folder = event in {"os.remove", "os.rmdir"} and arguments[1] != -1
        if event in {"os.link", "os.rename"}:
            target = Path(os.fsdecode(arguments[1]))
            if target.parent.name == "commits" and target.stem.isdigit():
                at_commit()
        if in_folder or isinstance(place, int) or place.startswith(inside):
            at_operation(f"{event} {without_process(str(place).removeprefix(inside))}")

    with audited(on_event):
        yield


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


def files_of(store: Path) -> Files:
    """Return all files and folders of a store; none if it does not exist."""
    return {
        str(path.relative_to(store)): None if path.is_dir() else path.read_bytes()
        for path in (store, *sorted(store.rglob("*")))
        if path.exists()
    }


def restore(store: Path, files: Mapping[str, bytes | None]) -> None:
    """Replace the content of a store by these files."""
    shutil.rmtree(store, ignore_errors=True)
    for name, content in files.items():
        if content is None:
            (store / name).mkdir()
        else:
            (store / name).write_bytes(content)


def files_at_operations(store: Path, job: Callable[[], object]) -> list[tuple[str, Files]]:
    """Run a job, and return its operations with the files before each of them."""
    found: list[tuple[str, Files]] = []
    with observed(store, lambda what: found.append((what, files_of(store)))):
        job()
    return found


def different(states: Iterable[tuple[str, Files]]) -> list[tuple[str, Files]]:
    """Return the states without those that the next process cannot distinguish from an earlier one.

    Of unfinished files only the names are compared: the next writer deletes their folder.
    """
    known = set()
    found = []
    for where, files in states:
        key = frozenset(
            (name, b"unfinished" if name.startswith(f"{STAGE}/") else content)
            for name, content in files.items()
            if not (content is None and name.startswith(f"{STAGE}/"))
        )
        if key not in known:
            found.append((where, files))
        known.add(key)
    return found
