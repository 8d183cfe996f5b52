"""The new files in folders: which are complete, and which may still be written and are left for later.

`nightly` and `watch` load the same files: those that patterns select and that have not changed for some
seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from zscope.parsers.issues import Issue
    from zscope.pipelines.ingest.options_and_outcomes import FileOutcome


class FileChoice(Protocol):
    """Which files of some folders are loaded: keys of the settings of `nightly`, or options of `watch`."""

    @property
    def folders(self) -> Sequence[Path]:
        """Folders with new files, searched recursively."""

    @property
    def patterns(self) -> Sequence[str]:
        """Only files that match one of these; they apply to the name, or with a `/` to the path."""

    @property
    def exclude(self) -> Sequence[str]:
        """No files that match one of these."""

    @property
    def settle_s(self) -> int:
        """Files that changed in the last so many seconds may still be written."""


INCOMPLETE = ("*.part", "*.partial", "*.filepart", "*.tmp")
"""Patterns of the names that programs give to files while they transfer them."""


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file in one of the folders, as it was when the folder was listed."""

    path: Path
    folder: Path
    size: int
    changed_ns: int

    @property
    def inside(self) -> Path:
        """The path below its folder."""
        return self.path.relative_to(self.folder)

    def unchanged(self) -> bool:
        """Whether the file is as it was."""
        try:
            about = self.path.lstat()
        except OSError:
            return False
        return (about.st_size, about.st_mtime_ns) == (self.size, self.changed_ns)


@dataclass(frozen=True, slots=True)
class LoadedFile:
    """A new file with the outcomes of what is in it: one, or of an archive one for each member."""

    file: NewFile
    outcomes: tuple[FileOutcome, ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """The contents of the folders with new files."""

    files: tuple[NewFile, ...]
    unsettled: tuple[str, ...]
    """Files that changed too recently."""
    not_matching: int
    """Number of files that no pattern selects."""
    missing: tuple[Issue, ...]
    """Folders that do not exist or cannot be read."""
    skipped: tuple[Issue, ...]
    """What else was skipped in the folders."""


def list_files(choice: FileChoice, outside: Sequence[Path], now: float) -> Listing:
    """List the new files of the folders, without those in the folders `outside`; `now` is in seconds."""
    from zscope.parsers.inputs import input_paths, shown
    from zscope.parsers.issues import Code, Issue, Issues

    left_out = [place.resolve() for place in outside]
    issues = Issues()
    files: dict[Path, NewFile] = {}
    unsettled: list[str] = []
    not_matching = 0
    for folder in choice.folders:
        if not folder.is_dir():
            text = "not a folder" if folder.exists() else "does not exist"
            issues.add(Issue(Code.UNREADABLE, text, shown(str(folder))))
            continue
        for path in (Path(each) for each, _ in input_paths([folder], issues)):
            real = path.parent.resolve() / path.name
            if real in files or any(place in real.parents for place in left_out):
                continue
            if not selects(choice, path.relative_to(folder)):
                not_matching += 1
                continue
            try:
                about = path.stat()
            except OSError:
                # Such as a link that leads nowhere: ingest reports it.
                files[real] = NewFile(path, folder, 0, 0)
                continue
            if about.st_mtime > now - choice.settle_s:
                unsettled.append(_unsettled(shown(str(path)), about.st_mtime, now))
            else:
                files[real] = NewFile(path, folder, about.st_size, about.st_mtime_ns)
    skipped = [issue for issue in issues if issue.code is not Code.UNREADABLE]
    return Listing(
        tuple(files.values()),
        tuple(unsettled),
        not_matching,
        tuple(issue for issue in issues if issue.code is Code.UNREADABLE),
        tuple(n for n in skipped if not any(p in (Path(n.file), *Path(n.file).parents) for p in outside)),
    )


def selects(choice: FileChoice, inside: Path) -> bool:
    """Whether the patterns select a file with this path below its folder."""

    def matches(patterns: Iterable[str]) -> bool:
        return any(fnmatchcase(str(inside) if "/" in each else inside.name, each) for each in patterns)

    return matches(choice.patterns) and not matches(choice.exclude)


def _unsettled(name: str, changed: float, now: float) -> str:
    if changed > now:
        return f"{name}: changed {changed - now:,.0f} s in the future; the clock of its writer differs"
    return f"{name}: changed {now - changed:,.0f} s ago"


def with_outcomes(files: Sequence[NewFile], outcomes: Iterable[FileOutcome]) -> tuple[LoadedFile, ...]:
    """Return the files with their outcomes; the names of members begin with the name of their archive."""
    from zscope.parsers.inputs import shown

    named: dict[str, list[FileOutcome]] = {}
    for outcome in outcomes:
        named.setdefault(outcome.file, []).append(outcome)
    members: dict[str, list[FileOutcome]] = {shown(str(file.path)): [] for file in files}
    for name, found in named.items():
        if place := next((place for place in _places(name) if place in members), None):
            members[place] += found
    return tuple(LoadedFile(file, tuple(members[shown(str(file.path))])) for file in files)


def _places(name: str) -> Iterator[str]:
    """Yield a name and what is before each of its slashes, the longest first."""
    while name:
        yield name
        name = name.rpartition("/")[0]
