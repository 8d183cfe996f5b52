"""The step `files`: move or delete the files of which everything is in the store."""

from __future__ import annotations

import os
import shutil
from glob import escape
from itertools import chain, count
from stat import S_ISREG
from typing import TYPE_CHECKING

from zscope.app.cli.exits import ExitCode, describe
from zscope.app.cli.nightly.night import Night, StepResult

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from zscope.app.cli.nightly.new_files import LoadedFile, NewFile
    from zscope.app.cli.nightly.sections import FilesSection


def put_files_away(night: Night, section: FilesSection) -> StepResult:
    """Move or delete the files of which everything is in the store."""
    from zscope.parsers.inputs import shown

    items: list[dict[str, object]] = []
    details: list[str] = []
    done = failed = 0
    for loaded in night.files:
        name = shown(str(loaded.file.path))
        if reason := why_it_stays(loaded):
            items.append({"file": name, "done": "stays", "to": None, "why": reason})
            details.append(f"{name}: stays, {reason}")
            continue
        try:
            to = _planned(section, loaded.file) if night.dry_run else _put_away(section, loaded.file)
        except OSError as error:
            failed += 1
            items.append({"file": name, "done": "stays", "to": None, "why": describe(error)})
            details.append(f"failure: {name}: {describe(error)}")
            continue
        done += 1
        items.append({"file": name, "done": _done(section, night), "to": to, "why": None})
        if night.dry_run:
            details.append(f"{name}: {_done(section, night)}{f' to {to}' if to else ''}")
    left = len(items) - done
    text = f"{done:,} {'file' if done == 1 else 'files'} {_done(section, night)}"
    if section.move_to:
        text += f" to {section.move_to}"
    return StepResult(
        code=ExitCode.REFUSED if failed else ExitCode.OK,
        text=f"{text}, {left:,} {'stays' if left == 1 else 'stay'}" if left else text,
        details=tuple(details),
        counts={"done": done, "left": left},
        items=tuple(items),
    )


def _done(section: FilesSection, night: Night) -> str:
    verb = "moved" if section.after_load == "move" else "deleted"
    return f"would be {verb}" if night.dry_run else verb


def _planned(section: FilesSection, file: NewFile) -> str | None:
    return str(section.move_to / file.inside) if section.move_to else None


def _put_away(section: FilesSection, file: NewFile) -> str | None:
    if section.move_to is None:
        file.path.unlink()
        return None
    return str(_move(file, section.move_to / file.inside))


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


def _move(file: NewFile, target: Path) -> Path:
    """Move a file to a path, or to the next free name, and return the new path; nothing is replaced.

    If a file with the same content has the name, because a move was killed or the file was sent again, only
    the new file is deleted.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
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
    """Move a file; raise FileExistsError if there is one, which a rename would replace."""
    try:
        os.link(source, target)
    except FileExistsError:
        raise
    except OSError:  # another disk, or a file system without links
        _copy(source, target)
    source.unlink()


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
    fsync_all([target.parent])


def _same_content(one: Path, other: Path) -> bool:
    from zscope.pipelines.store.folder import digest_of_file

    first, second = one.lstat(), other.lstat()
    if not S_ISREG(second.st_mode) or first.st_size != second.st_size:
        return False
    return os.path.samestat(first, second) or digest_of_file(one) == digest_of_file(other)
