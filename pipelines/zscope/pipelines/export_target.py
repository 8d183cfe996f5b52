"""Targets of exports: a folder or file that appears only when it is complete."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from glob import escape
from shutil import rmtree
from typing import TYPE_CHECKING

from zscope.schemas.errors import Error

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_DUCKDB_MARK = slice(8, 12), b"DUCK"


class ExportError(Error):
    """An export that is not possible; the message contains the reason and what to do."""


def check_target(target: Path, store: Path, ending: str | None, *, force: bool) -> None:
    """Raise ExportError for a target that exists, or that must not be replaced even with `force`.

    A target is a folder of files with the ending, or without an ending a DuckDB file.
    """
    check_location(target, store)
    if not _exists(target):
        return
    if ending is not None:
        if others := [path.name for path in _entries(target) if not _is_file(path, ending)]:
            raise ExportError(
                f"{target}: contains files other than {ending} files ({min(others)}), which --force "
                "does not replace; choose another folder"
            )
    elif not _is_duckdb(target):
        raise ExportError(f"{target}: not a DuckDB file, which --force does not replace; choose another name")
    _check_force(target, force=force)


def check_text_target(target: Path, store: Path, marks: tuple[bytes, ...], *, force: bool) -> None:
    """The same for one text file; `force` replaces a file that is empty or begins with one of the marks."""
    check_location(target, store)
    if not _exists(target):
        return
    if target.is_symlink() or not target.is_file() or not _begins_with(target, marks):
        raise ExportError(
            f"{target}: not an export of this format, which --force does not replace; choose another name"
        )
    _check_force(target, force=force)


def check_location(target: Path, store: Path) -> None:
    """Raise ExportError for a target in the store, or in a folder that does not exist."""
    if target.resolve() == store.resolve() or store.resolve() in target.resolve().parents:
        raise ExportError(f"{target}: inside the store; choose a path outside of {store}")
    if not target.resolve().parent.is_dir():
        raise ExportError(f"{target}: the folder {target.parent} does not exist; create it first")


def _check_force(target: Path, *, force: bool) -> None:
    if not force:
        raise ExportError(f"{target}: already exists; choose another name or replace it with --force")


def _exists(target: Path) -> bool:
    if target.is_dir():
        return any(target.iterdir())
    return os.path.lexists(target)


def _entries(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise ExportError(f"{folder}: a file, where the export would be a folder; choose another name")
    return list(folder.iterdir())


def _is_file(path: Path, ending: str) -> bool:
    return path.suffix == ending and path.is_file() and not path.is_symlink()


def _is_duckdb(path: Path) -> bool:
    if not path.is_file():
        return False
    place, mark = _DUCKDB_MARK
    with path.open("rb") as file:
        return file.read(place.stop)[place] == mark


def _begins_with(path: Path, marks: tuple[bytes, ...]) -> bool:
    with path.open("rb") as file:
        begin = file.read(max(map(len, marks)))
    return not begin or begin.startswith(marks)


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """Yield a folder to fill, which gets its final name if there was no error."""
    temporary = _temporary_path(target)
    try:
        remove_leftovers(target)
        temporary.mkdir()
        yield temporary
        _take_place(temporary, target)
    except OSError as error:
        raise _export_error(error, target) from error
    finally:
        rmtree(temporary, ignore_errors=True)  # after a rename there is nothing to remove


@contextmanager
def new_file(target: Path) -> Iterator[Path]:
    """Yield the path of a file to write, which gets its final name if there was no error."""
    temporary = _temporary_path(target)
    try:
        remove_leftovers(target)
        yield temporary
        temporary.replace(target)
    except OSError as error:
        raise _export_error(error, target) from error
    finally:
        for path in (temporary, temporary.with_name(f"{temporary.name}.wal")):
            path.unlink(missing_ok=True)
        rmtree(spill_of(temporary), ignore_errors=True)  # seldom needed


def spill_of(file: Path) -> Path:
    """Return where DuckDB can put what does not fit in memory while it writes a file: on the same disk."""
    return file.with_name(f"{file.name}.tmp")


def _take_place(temporary: Path, target: Path) -> None:
    """Rename a folder; an existing folder with files is moved away first."""
    if not _exists(target):
        temporary.rename(target)
        return
    old = temporary.with_suffix(".old")
    target.rename(old)
    try:
        temporary.rename(target)
    except OSError:
        old.rename(target)
        raise
    rmtree(old)


_LEFTOVER = re.compile(r"\.(?P<process>\d+)\.(?P<kind>old|part|part\.tmp|part\.wal)")


def remove_leftovers(target: Path) -> None:
    """Delete what killed exports to a target left.

    If one was killed while it replaced a folder, the folder that it was to replace gets its name back.
    """
    whole = target.resolve()
    begin = f".{whole.name}"
    for path in sorted(whole.parent.glob(f"{escape(begin)}.*")):
        match = _LEFTOVER.fullmatch(path.name.removeprefix(begin))
        if match is None or _is_other_process(int(match["process"])):
            continue
        if match["kind"] == "old" and not _exists(target):
            path.rename(whole)
        elif path.is_dir() and not path.is_symlink():
            rmtree(path)
        else:
            path.unlink()


def _is_other_process(number: int) -> bool:
    """Whether a process is alive; in containers a new process often has the number of the killed one."""
    if number == os.getpid():
        return False
    try:
        os.kill(number, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _temporary_path(target: Path) -> Path:
    whole = target.resolve()
    return whole.with_name(f".{whole.name}.{os.getpid()}.part")


def _export_error(error: OSError, target: Path) -> ExportError:
    return ExportError(f"{target}: {error.strerror or error}; nothing was written")
