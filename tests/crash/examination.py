"""Stop a command at each of its calls, and examine what it leaves and what running it again makes of it."""

from __future__ import annotations

import errno
import random
import shutil
import signal
import sys
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar

from tests.crash.disk import Content, Key, RecordedDisk
from tests.crash.file_calls import NotDone, read_record, recorded, without
from tests.crash.work_folder import Seen, WorkFolder
from tests.pipelines.store.forked import done_by_child, start
from tests.pipelines.store.looking import NOTHING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from tests.crash.scenes import Scene

_Item = TypeVar("_Item")
CODES = (0, 4, 8, 12)
"""The documented exit codes."""
_SEEN_AT_ONCE = ("reader", "catalogue")
"""Where one commit is seen, and not a part of it."""
_SEEN_IN_PARTS = ("public files", "tables by hint", "tables by catalogue")
"""Where each table, or each of its months, changes by itself."""
_IMPORTED_ONCE = ("zscope", "tests", "pyiceberg", "sqlalchemy", "fsspec", "pydantic", "click", "rich")


@dataclass(slots=True)
class Findings:
    """What was found of a command."""

    command: str
    calls: int
    kills: int
    """Different states that kills leave."""
    power_failures: int
    """Different other states that power failures leave."""
    examined: int = 0
    """How many of these states were examined."""
    not_done: int = 0
    """Calls that were not done: the process was killed instead, or they failed."""
    holes: list[str] = field(default_factory=list)
    """What was wrong."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What is examined."""

    states: int | None
    """How many states; None for all."""
    not_done: int | None
    """How many calls are not done, likewise; each three times: by a kill and two errors."""
    at: str
    """A text in the description of the states."""
    rng: random.Random

    def of(self, every: Sequence[_Item], number: int | None) -> Sequence[_Item]:
        """Return so many, or all."""
        return every if number is None else self.rng.sample(every, min(number, len(every)))


@dataclass(frozen=True, slots=True)
class Examination:
    """A command that ran once, with its calls recorded."""

    scene: Scene
    folder: WorkFolder
    disk: RecordedDisk
    seen: tuple[Seen, ...]
    """What others saw before it, after each of its commits, and after it."""

    @classmethod
    def of(cls, scene: Scene, place: Path) -> Examination:
        """Prepare a command and run it."""
        folder, record = WorkFolder(place / "work"), place / "record"
        shutil.rmtree(folder.path, ignore_errors=True)
        folder.path.mkdir()
        done_by_child(lambda: scene.prepare(folder))
        disk = RecordedDisk.read(folder.path)
        before = done_by_child(folder.seen)
        code, modules = done_by_child(
            lambda: recorded(folder.path, record, lambda: (scene.run(folder).code, [*sys.modules]))
        )
        assert code == scene.code
        after = done_by_child(folder.seen)
        disk.record(read_record(record, folder.path))
        disk.require_same()
        for module in modules:
            if module.partition(".")[0] in _IMPORTED_ONCE:
                import_module(module)  # else each child would import it
        between = []
        for step, content in disk.killed():
            if step and step.title.startswith("link store/commits/"):
                disk.write(content)
                between.append(done_by_child(folder.seen))
        return cls(scene, folder, disk, (before, *between, after))

    def findings(self, sample: Sample) -> Findings:
        """Examine states that kills and power failures leave, and calls that fail."""
        known: set[Key] = set()
        kills = self._different(((f"killed before {s.title}", c) for s, c in self.disk.killed() if s), known)
        failures = self._different(self.disk.power_failed(), known)
        found = Findings(self.scene.name, len(self.disk.steps), len(kills), len(failures))
        states = [state for state in kills + failures if sample.at in state[0]]
        for where, content in sample.of(states, sample.states):
            self.disk.write(content)
            found.examined += 1
            ended = where.startswith("power failed at the end")
            holes = done_by_child(partial(self._holes, is_done=ended))
            found.holes += [f"{self.scene.name}: {where}: {hole}" for hole in holes]
        for number in sample.of(range(1, len(self.disk.steps) + 1), sample.not_done):
            for error in (0, errno.EIO, errno.ENOSPC):
                self.disk.write(self.disk.before)
                what = f"{errno.errorcode.get(error, 'killed')} at call {number}"
                holes = self._holes_without(NotDone(number, error))
                found.holes += [f"{self.scene.name}: {what}: {hole}" for hole in holes]
                found.not_done += 1
        return found

    def _different(self, states: Iterable[tuple[str, Content]], known: set[Key]) -> list[tuple[str, Content]]:
        """Return the states that the next process can distinguish from all known ones."""
        found = []
        for where, content in states:
            key = self.disk.key(content)
            if key not in known:
                known.add(key)
                found.append((where, content.copy()))
        return found

    def _holes_without(self, call: NotDone) -> list[str]:
        """Run the command without one of its calls; return what is wrong then."""
        found: list[str]
        if call.error:
            found = done_by_child(partial(self._holes_after_error, call))
            return found
        code, _ = start(lambda _: without(self.folder.path, call, lambda: self.scene.run(self.folder))).end()
        found = done_by_child(partial(self._holes, is_done=code == 0))
        return found if code in {0, -signal.SIGKILL} else [*found, f"it ended with {code}, not by the kill"]

    def _holes_after_error(self, call: NotDone) -> list[str]:
        ended = without(self.folder.path, call, lambda: self.scene.run(self.folder))
        found = []
        if ended.code not in CODES or "Traceback" in ended.messages:
            found.append(f"it ended with {ended.code}: {ended.messages}")
        if ended.code not in {0, self.scene.code} and not ended.messages:
            found.append(f"it ended with {ended.code} without saying why")
        return found + self._holes(is_done=ended.code == 0)

    def _holes(self, *, is_done: bool) -> list[str]:
        """Return what is wrong with the folder, and after the command ran again."""
        before, after, now = self.seen[0], self.seen[-1], self.folder.seen()
        found = [
            f"{where} shows {now[where]}"
            for where in _SEEN_AT_ONCE
            if now[where] not in [each[where] for each in self.seen]
        ]
        for where in _SEEN_IN_PARTS:
            for part in sorted({*before[where], *now[where]}):
                allowed = [each[where].get(part) for each in self.seen]
                if now[where].get(part) not in allowed:
                    found.append(f"{where} show {now[where].get(part)} for {part}")
        if is_done and now["reader"] != after["reader"]:
            found.append(f"it had ended, and its change is lost: {now['reader']}")
        was_done = now["reader"] == after["reader"]
        if now["reader"] != NOTHING:
            found += self._check(self.scene.checks)
        ended = self.scene.run(self.folder)
        if ended.code != self.scene.code and not (was_done and ended.code == self.scene.code_again):
            found.append(f"it ended again with {ended.code}: {ended.messages}")
        then = self.folder.seen()
        found += [
            f"after it ran again, {where} shows {then[where]} instead of {after[where]}"
            for where in after
            if then[where] != after[where]
        ]
        found += self._check(self.scene.checks[-1:])
        if left := self.folder.left():
            found.append(f"after it ran again, there is {left}")
        return found

    def _check(self, codes: Sequence[int]) -> list[str]:
        """Return what `zscope store check` finds."""
        checked = self.folder.run("store", "check", "--store", "store")
        return [] if checked.code in codes else [f"zscope store check: {checked.messages}"]
