"""Where an export goes: a folder or a file that appears when it is complete, and not before."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree

_DUCKDB_MARK = slice(8, 12), b"DUCK"


class ExportError(Exception):
    """An export that cannot be made; the message says why and what to do."""


def check_target(target: Path, store: Path, ending: str | None, *, force: bool) -> None:
    """Refuse a target that would take the place of something, or of the wrong thing even by force.

    A target is a folder of files with the ending, or without an ending a DuckDB file.
    """
    _check_place(target, store)
    if not _is_there(target):
        return
    if ending is not None:
        if others := [path.name for path in _entries(target) if not _is_file(path, ending)]:
            raise ExportError(
                f"{target}: there are other things than {ending} files in it ({min(others)}), which --force "
                "does not replace; choose another folder"
            )
    elif not _is_duckdb(target):
        raise ExportError(
            f"{target}: this is no DuckDB file, which --force does not replace; choose another name"
        )
    _check_force(target, force=force)


def check_text_target(target: Path, store: Path, marks: tuple[bytes, ...], *, force: bool) -> None:
    """The same for one file of text, which by force replaces one that is empty or begins with such a mark."""
    _check_place(target, store)
    if not _is_there(target):
        return
    if target.is_symlink() or not target.is_file() or not _begins_with(target, marks):
        raise ExportError(
            f"{target}: this is no such export, and nothing else is replaced, by --force neither; "
            "choose another name"
        )
    _check_force(target, force=force)


def _check_place(target: Path, store: Path) -> None:
    if target.resolve() == store.resolve() or store.resolve() in target.resolve().parents:
        raise ExportError(f"{target}: this is in the store; choose a place outside of {store}")
    if not target.resolve().parent.is_dir():
        raise ExportError(f"{target}: there is no folder {target.parent}; make it first")


def _check_force(target: Path, *, force: bool) -> None:
    if not force:
        raise ExportError(f"{target}: this is there already; choose another name or replace it with --force")


def _is_there(target: Path) -> bool:
    if target.is_dir():
        return any(target.iterdir())
    return os.path.lexists(target)


def _entries(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise ExportError(f"{folder}: this is a file, and a folder is to be made; choose another name")
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
    """A folder to fill; it gets its name when that went well."""
    beside = _beside(target)
    try:
        beside.mkdir()
        yield beside
        _take_place(beside, target)
    except OSError as error:
        raise _told(error, target) from error
    finally:
        rmtree(beside, ignore_errors=True)  # renamed, or never made


@contextmanager
def new_file(target: Path) -> Iterator[Path]:
    """The name of a file to make; it gets its own name when that went well."""
    beside = _beside(target)
    try:
        yield beside
        beside.replace(target)
    except OSError as error:
        raise _told(error, target) from error
    finally:
        for path in (beside, beside.with_name(f"{beside.name}.wal")):
            path.unlink(missing_ok=True)
        rmtree(spill_of(beside), ignore_errors=True)  # seldom needed


def spill_of(file: Path) -> Path:
    """Where DuckDB may put what does not fit in memory while it makes a file: on the same disk."""
    return file.with_name(f"{file.name}.tmp")


def _take_place(beside: Path, target: Path) -> None:
    """Rename a folder; one with files in it cannot be renamed over and steps aside first."""
    if not _is_there(target):
        beside.rename(target)
        return
    old = beside.with_suffix(".old")
    target.rename(old)
    try:
        beside.rename(target)
    except OSError:
        old.rename(target)
        raise
    rmtree(old)


def _beside(target: Path) -> Path:
    whole = target.resolve()
    return whole.with_name(f".{whole.name}.{os.getpid()}.part")


def _told(error: OSError, target: Path) -> ExportError:
    return ExportError(f"{target}: {error.strerror or error}; nothing was written")
