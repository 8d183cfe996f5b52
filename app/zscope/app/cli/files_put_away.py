"""Files that are in the store: which may be moved or deleted, and moving them without replacing any."""

from __future__ import annotations

import os
import shutil
from glob import escape
from itertools import chain, count
from stat import S_ISREG
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from zscope.app.cli.new_files import LoadedFile, NewFile


def why_it_stays(loaded: LoadedFile) -> str | None:
    """Return why a file must not be moved or deleted; None if all of it is in the store."""
    from zscope.parsers.issues import REFUSALS
    from zscope.pipelines.ingest.options_and_outcomes import FileStatus

    refusals = {code.value for code in REFUSALS}
    statuses = {outcome.status for outcome in loaded.outcomes}
    codes = {
        code for each in loaded.outcomes for code in (*each.counts, *(each.load.issues if each.load else ()))
    }
    if FileStatus.REFUSED in statuses:
        return "refused"
    if not statuses & {FileStatus.LOADED, FileStatus.REPEATED}:
        return "nothing to load"
    if codes & refusals:
        return "a part of it was refused"
    if loaded.file.path.is_symlink():
        return "a link"
    if not loaded.file.unchanged():
        return "changed since it was loaded"
    return None


def move_file(file: NewFile, target: Path) -> Path:
    """Move a file to a path, or to the next free name, and return the new path; nothing is replaced.

    If a file with the same content has the name, because a move was killed or the file was sent again, only
    the new file is deleted.
    """
    from zscope.pipelines.store.folder import fsync_all

    new_folders = [folder for folder in target.parents if not folder.exists()]
    target.parent.mkdir(parents=True, exist_ok=True)
    fsync_all(folder.parent for folder in new_folders)  # with a folder, a power failure would take the file
    for place in chain([target], _numbered(target)):
        try:
            _move_to_free_name(file.path, place)
        except FileExistsError:
            if not _same_content(file.path, place):
                continue
            file.path.unlink()
        return place
    raise AssertionError("names do not end")


def _numbered(target: Path) -> Iterator[Path]:
    return (target.with_stem(f"{target.stem}.{number}") for number in count(2))


def _move_to_free_name(source: Path, target: Path) -> None:
    """Move a file; raise FileExistsError if there is one, which a usual rename would replace."""
    from zscope.pipelines.unix_calls import rename_to_free_name

    try:
        rename_to_free_name(source, target)
    except FileExistsError:
        raise
    except OSError:  # another disk, or a file system that cannot do this
        _link_or_copy(source, target)
        source.unlink()


def _link_or_copy(source: Path, target: Path) -> None:
    from zscope.pipelines.store.folder import fsync_all

    try:
        os.link(source, target)
    except FileExistsError:
        raise
    except OSError:  # another disk, or a file system without links
        _copy(source, target)
    fsync_all([target.parent])


def _copy(source: Path, target: Path) -> None:
    from zscope.pipelines.store.folder import fsync_all, temporary_path

    if os.path.lexists(target):
        raise FileExistsError(target)
    for leftover in target.parent.glob(f".{escape(target.name)}.*.beside"):
        leftover.unlink()
    temporary = temporary_path(target)
    try:
        shutil.copy2(source, temporary)
        fsync_all([temporary])
        temporary.rename(target)
    finally:
        temporary.unlink(missing_ok=True)


def _same_content(one: Path, other: Path) -> bool:
    from zscope.pipelines.store.folder import digest_of_file

    first, second = one.lstat(), other.lstat()
    if not S_ISREG(second.st_mode) or first.st_size != second.st_size:
        return False
    return os.path.samestat(first, second) or digest_of_file(one) == digest_of_file(other)
