"""Changing the runs of a store: alone with it, and with a catalogue that shows them in the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from zscope.pipelines.runs.edit import RunsChangeError, differing, with_runs, without_runs
from zscope.pipelines.runs.read import FILE_NAME, RunsFile, parse_runs
from zscope.pipelines.store.change import changing
from zscope.pipelines.store.folder import Folder, write_atomically

if TYPE_CHECKING:
    from zscope.pipelines.runs.entry import Run
    from zscope.pipelines.settings import Settings

    Tell = Callable[[str], None]


def add_runs(folder: Folder, settings: Settings, tell: Tell, runs: Sequence[Run]) -> None:
    """Put runs behind those that the store has; one of them that is there is an error, and none is added."""
    _change(folder, settings, tell, lambda text: with_runs(text, runs))


def remove_runs(folder: Folder, settings: Settings, tell: Tell, name: str) -> int:
    """Take out all sides of a run, and say how many there were."""
    gone = 0

    def change(text: str) -> str:
        nonlocal gone
        changed, gone = without_runs(text, name)
        if not gone:
            names = dict.fromkeys(run.name for run in parse_runs(text).runs)
            known = f"it has {', '.join(names)}" if names else "it has none"
            raise RunsChangeError(f"there is no run {name!r}; {known}")
        return changed

    _change(folder, settings, tell, change)
    return gone


def import_runs(folder: Folder, settings: Settings, tell: Tell, other: RunsFile) -> int:
    """Put the runs of another file behind those that the store has, and say how many were new.

    A run that is there with other values is an error, and so is another size of a kB: none is added then.
    """
    added = 0

    def change(text: str) -> str:
        nonlocal added
        mine = parse_runs(text)
        new, changed = differing(other.runs, mine.runs)
        if changed:
            raise RunsChangeError(
                f"{changed[0].title} is there already, with other values: remove it first, or rename one"
            )
        added = len(new)
        if not new:
            return text
        first = not mine.runs and not mine.problems and mine.kb_bytes != other.kb_bytes
        if mine.kb_bytes != other.kb_bytes and not first:
            raise RunsChangeError(
                f"it takes a kB for {mine.kb_bytes} bytes, the other file for {other.kb_bytes}: "
                "kb_bytes has to be the same in both"
            )
        return with_runs(text, new, other.kb_bytes if first else None)

    _change(folder, settings, tell, change)
    return added


def _change(folder: Folder, settings: Settings, tell: Tell, change: Callable[[str], str]) -> None:
    path = (folder.path / FILE_NAME).resolve()
    with changing(folder, settings, tell):
        try:
            # As bytes: line ends and a byte order mark stay what they are.
            before = path.read_bytes().decode() if path.exists() else ""
            after = change(before)
        except UnicodeDecodeError as error:
            raise RunsChangeError(f"{path}: is not UTF-8 text (byte {error.start}): mend it first") from error
        except RunsChangeError as error:
            raise RunsChangeError(f"{path}: {error}") from error
        if after != before:
            write_atomically(path, after.encode())
