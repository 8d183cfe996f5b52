"""What a folder contains if its process is killed, or the power fails, at any of the calls that change it.

A kill leaves what the calls before it did. After a power failure, what was not synced can be lost: content is
safe when its file was synced, a name when its folder was. A call is lost as a whole: file systems do not tear
a rename apart.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.crash.file_calls import Call, What

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from pathlib import Path

_UNREAD = re.compile(r"(^|/)\.stage/")
"""What the next writer deletes unread."""
_UNFINISHED = re.compile(r"(?<=\.)\d+(?=\.(beside|part|old))")
"""The number of the process in the name of a file or folder that the next writer deletes unread."""
_ROOT = 0
_Names = tuple[tuple[int, str, int | None], ...]
"""New entries: the folder, a name in it, and the file that it has then, or none."""
Key = frozenset[tuple[str, tuple[int, ...]]]
"""The content of a folder, as far as the next process can distinguish it."""


@dataclass(frozen=True, slots=True)
class Step:
    """A call, with the number of the file and of the folders that it changes."""

    call: Call
    file: int
    path: str
    """The file that it changes, or the new name."""
    names: _Names
    safe_with: int | None
    """The file or folder: once it is synced, the call is not lost any more."""

    @property
    def is_naming(self) -> bool:
        """Whether a complete file gets its name with it."""
        return self.call.what in {What.RENAME, What.EXCHANGE, What.LINK} and not _UNREAD.search(self.call.to)

    @property
    def title(self) -> str:
        """The call in words."""
        return f"{self.call.what.name.lower()} {_UNFINISHED.sub('N', self.path)}"


@dataclass
class Content:
    """The content of a folder: names, and for each file the calls that made its content."""

    entries: dict[int, dict[str, int]]
    made_by: dict[int, tuple[int, ...]]

    def copy(self) -> Content:
        """Return a copy."""
        return Content({folder: dict(names) for folder, names in self.entries.items()}, dict(self.made_by))

    def apply(self, number: int, step: Step) -> None:
        """Do a call."""
        for folder, name, file in step.names:
            if file is None:
                self.entries[folder].pop(name, None)
            else:
                self.entries[folder][name] = file
        if step.call.what in {What.WRITE, What.TRUNCATE}:
            self.made_by[step.file] += (number,)

    def add(self, file: int, of: Content) -> None:
        """Add a new file or folder of another content."""
        if file in of.entries:
            self.entries[file] = {}
        else:
            self.made_by[file] = ()

    def files(self) -> Iterator[tuple[str, int]]:
        """Yield the files and folders that have a name."""
        yield from self._below(_ROOT, "")

    def _below(self, folder: int, place: str) -> Iterator[tuple[str, int]]:
        for name, file in self.entries[folder].items():
            yield place + name, file
            if file in self.entries:
                yield from self._below(file, f"{place}{name}/")


@dataclass
class RecordedDisk:
    """A folder before a command, and the calls of the command."""

    path: Path
    before: Content = field(default_factory=lambda: Content({_ROOT: {}}, {}))
    steps: list[Step] = field(default_factory=list)
    _bytes_before: dict[int, bytes] = field(default_factory=dict)
    _numbers: dict[int, int] = field(default_factory=dict)
    """Files and folders by inode; of these, which are used again, the last that had it."""
    _made: dict[tuple[int, ...], bytes] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> RecordedDisk:
        """Read a folder."""
        disk = cls(path)
        disk._numbers[path.stat().st_ino] = _ROOT
        for place in (path, *(each for each in sorted(path.rglob("*")) if each.is_dir())):
            names = disk.before.entries[disk._numbers[place.stat().st_ino]]
            for each in sorted(place.iterdir()):
                file = disk._numbers.setdefault(each.lstat().st_ino, len(disk._numbers))
                names[each.name] = file
                disk._add(file, None if each.is_dir() else each.read_bytes())
        return disk

    def _add(self, file: int, content: bytes | None) -> None:
        """Add a file, or a folder without content. A name comes later: both exist without one."""
        if content is None:
            self.before.entries[file] = {}
        else:
            self._bytes_before[file] = content
            self.before.made_by[file] = ()

    def record(self, calls: Iterable[Call]) -> None:
        """Add the calls of a command, in order."""
        now = self.before.copy()
        new = len(self._numbers)
        paths = {file: path for path, file in now.files()}
        for call in calls:
            if call.what in {What.CREATE, What.MKDIR}:
                self._numbers[call.inode] = new
                self._add(new, None if call.what is What.MKDIR else b"")
                now.add(new, self.before)
                new += 1
            file = self._numbers.get(call.inode, -1)
            names, folder = _names(now, call, file)
            path = call.to or call.path or paths.get(file, "")
            paths[file] = path
            self.steps.append(Step(call, file, path, names, folder))
            now.apply(len(self.steps) - 1, self.steps[-1])

    def key(self, content: Content) -> Key:
        """Return what the next process can distinguish.

        Of unfinished files this is that they are there, of locks whether they have content.
        """
        return frozenset(
            (_UNFINISHED.sub("N", path), self._difference(path, file, content))
            for path, file in content.files()
            if not _UNREAD.search(path)
        )

    def _difference(self, path: str, file: int, content: Content) -> tuple[int, ...]:
        made_by = content.made_by.get(file, ())
        if _UNFINISHED.search(path):
            return ()
        if path.endswith(".lock"):
            return (len(self.content_of(file, made_by)) > 0,)
        return (file, *made_by)

    def killed(self) -> Iterator[tuple[Step | None, Content]]:
        """Yield what a kill before each call leaves, and the end; each is valid until the next."""
        now = self.before.copy()
        for number, step in enumerate(self.steps):
            yield step, now
            now.apply(number, step)
        yield None, now

    def require_same(self) -> None:
        """Raise an error if the folder differs from what the calls make of it: a call was not recorded."""
        *_, (_, content) = self.killed()
        expected = {
            path: None if file in content.entries else self.content_of(file, content.made_by[file])
            for path, file in content.files()
        }
        found = {
            path.relative_to(self.path).as_posix(): None if path.is_dir() else path.read_bytes()
            for path in self.path.rglob("*")
        }
        wrong = [path for path in {*expected, *found} if expected.get(path, "") != found.get(path, "")]
        if wrong:
            raise AssertionError(f"calls that change {sorted(wrong)} were not recorded")

    def power_failed(self) -> Iterator[tuple[str, Content]]:
        """Yield what power failures leave; each is valid until the next.

        Lost is all that was not synced, one call, or what was written to a file. Most can be lost just before
        something is synced; a loss matters as soon as a file gets its name.
        """
        now = self.before.copy()
        without: dict[int, Content] = {}
        is_named = False
        for at, step in enumerate(self.steps):
            if is_named or step.call.what is What.SYNC:
                yield from self._lost(f"power failed before {step.title}", at, without)
            is_named = step.is_naming
            if step.call.what is What.SYNC:
                for number in [number for number in without if self.steps[number].safe_with == step.file]:
                    del without[number]
                continue
            for content in without.values():
                content.apply(at, step)
            without[at] = now.copy()
            now.apply(at, step)
        yield from self._lost("power failed at the end", len(self.steps), without)

    def _lost(self, where: str, end: int, without: dict[int, Content]) -> Iterator[tuple[str, Content]]:
        if not without:
            return
        yield f"{where}, all that was not synced is lost", self._content(end, without.keys())
        written = defaultdict(set)
        for number, content in without.items():
            step = self.steps[number]
            yield f"{where}, lost: {step.title}", content
            if not step.names:
                written[step.file].add(number)
        for numbers in written.values():
            if len(numbers) > 1:
                yield f"{where}, lost: what was written to a file", self._content(end, numbers)

    def _content(self, end: int, lost: Collection[int]) -> Content:
        now = self.before.copy()
        for number, step in enumerate(self.steps[:end]):
            if number not in lost:
                now.apply(number, step)
        return now

    def write(self, content: Content) -> None:
        """Make the folder contain this; all files are an hour old, so none is still being written."""
        then = time.time() - 3600
        for path in list(self.path.iterdir()):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        written: dict[int, Path] = {}
        for name, file in content.files():
            path = self.path / name
            if file in content.entries:
                path.mkdir()
            elif file in written:
                os.link(written[file], path)
            else:
                path.write_bytes(self.content_of(file, content.made_by[file]))
                os.utime(path, (then, then))
                written[file] = path

    def content_of(self, file: int, made_by: Sequence[int]) -> bytes:
        """Return the content of a file after some calls."""
        key = (file, *made_by)
        if key not in self._made:
            made = bytearray(self._bytes_before[file])
            for number in made_by:
                call = self.steps[number].call
                end = call.number + len(call.data)
                made.extend(bytes(max(0, end - len(made))))
                if call.what is What.WRITE:
                    made[call.number : end] = call.data
                else:
                    del made[call.number :]
            self._made[key] = bytes(made)
        return self._made[key]


def _names(now: Content, call: Call, file: int) -> tuple[_Names, int | None]:
    """Return the names that a call changes, and what has to be synced for it."""
    if call.what is What.SYNC:
        return (), None
    if call.what in {What.WRITE, What.TRUNCATE}:
        return (), file
    folder, name = _entry(now, call.path)
    if call.what in {What.CREATE, What.MKDIR}:
        return ((folder, name, file),), folder
    if call.what in {What.UNLINK, What.RMDIR}:
        return ((folder, name, None),), folder
    target, new = _entry(now, call.to)
    if call.what is What.LINK:
        return ((target, new, file),), target
    other = now.entries[target][new] if call.what is What.EXCHANGE else None
    return ((folder, name, other), (target, new, file)), target


def _entry(now: Content, path: str) -> tuple[int, str]:
    """Return the folder of a path, and its name there."""
    folder = _ROOT
    *folders, name = path.split("/")
    for each in folders:
        folder = now.entries[folder][each]
    return folder, name
