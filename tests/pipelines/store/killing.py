"""A program that kills writers of a store, looks at what is left, and lets the next one go on.

    python -m tests.pipelines.store.killing FOLDER JOB [KILLS]

Without KILLS, at each operation on a file in turn; with it, at so many random instants. Prints a list of
kills with their faults as JSON.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import shutil
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
from tests.pipelines.store.forked import Child, Say, done_by_child, start
from tests.pipelines.store.looking import View, view
from tests.pipelines.stores import EVERYTHING, dump_bytes, leftovers

from zscope.parsers.inputs import Options
from zscope.pipelines.ingest import ingest
from zscope.pipelines.settings import Settings
from zscope.pipelines.store import StoreError
from zscope.pipelines.store.change import changing
from zscope.pipelines.store.check import check
from zscope.pipelines.store.compact import compact
from zscope.pipelines.store.expire import expire
from zscope.pipelines.store.folder import Folder, existing_store
from zscope.pipelines.store.remove import remove_load

AT_ONCE = Settings(lock_wait_s=0)
"""Whoever comes behind a killed writer does not find the store locked."""
ONE_BY_ONE = replace(EVERYTHING, settings=AT_ONCE, options=Options(jobs=1))
"""With several threads the order of what is done to files would be another one each time."""
SECOND_DAY = date(2026, 3, 3)
_ON_FILES = {
    "open",
    "os.rename",
    "os.link",
    "os.remove",
    "os.mkdir",
    "os.rmdir",
    "os.truncate",
    "shutil.copyfile",
}
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_PROCESS = re.compile(r"\.\d+")
_MEASURED = 3


class Scene:
    """A store before a job, again and again at the same place: the catalogue names its files in full."""

    def __init__(self, place: Path, job: str) -> None:
        self.store, self._before = place / "store", place / "before"
        self.job = job
        self._small, self._dump = place / "small.smf", place / "dump.smf"
        self._small.write_bytes(dump_bytes(24, 2, seed=9, mix={"tcp-init": 1}))
        self._dump.write_bytes(dump_bytes(40, 1, mix={"tcp-init": 1}))

    def prepare(self) -> None:
        """Load what the job finds."""
        if self.job == "first":
            return
        ingest(self.store, [self._small], EVERYTHING)
        if self.job != "second":
            ingest(self.store, [self._dump], EVERYTHING)
        if self.job == "remove":  # of files that hold rows of others, too
            self._change(compact)
        shutil.copytree(self.store, self._before)

    def restart(self) -> None:
        """Back to the beginning."""
        shutil.rmtree(self.store, ignore_errors=True)
        if self._before.exists():
            shutil.copytree(self._before, self.store)

    def run(self) -> None:
        """Do the job."""
        if self.job in {"first", "second"}:
            ingest(self.store, [self._dump], ONE_BY_ONE)
        elif self.job == "compact":
            self._change(compact)
        elif self.job == "remove":
            self._change(lambda folder, state: remove_load(folder, state, 1))
        else:
            self._change(lambda folder, state: expire(folder, state, SECOND_DAY))

    def _change(self, change: Callable[..., object]) -> None:
        folder = existing_store(self.store)
        with changing(folder, AT_ONCE, lambda _: None) as state:
            change(folder, state)

    def left_behind(self) -> frozenset[tuple[str, str]]:
        """All that is there, but for what differs from run to run."""
        found = set()
        for path in self.store.rglob("*"):
            content = b"folder"
            if path.is_file():
                content = path.read_bytes() if path.name == "zscope.duckdb" else path.read_bytes()[:1]
            name = _PROCESS.sub(".N", str(path.relative_to(self.store)))
            found.add((name, hashlib.sha256(content).hexdigest()))
        return frozenset(found)

    def run_again(self, view_before: View) -> None:
        """What one does after the writer was killed: the same again."""
        try:
            self.run()
        except StoreError:
            if self.job != "remove" or view_before.reader == view(self.store).reader:
                raise

    def faults(self, before: View, after: View) -> list[str]:
        """What is wrong with the store a writer was killed in, and behind the next one."""
        found = []
        now = view(self.store)
        whole = after if now.commits > before.commits else before
        if now.reader != whole.reader:
            found.append(f"a reader sees {now.reader} behind {now.commits} commits")
        if now.plain not in (before.plain, after.plain):
            found.append(f"the catalogue shows {now.plain}")
        try:
            self.run_again(before)
            check(existing_store(self.store))
        except Exception:  # noqa: BLE001 - whatever it is, it is the fault looked for
            return [*found, f"the next one failed: {traceback.format_exc(limit=-3)}"]
        then = view(self.store)
        if then.reader != after.reader:
            found.append(f"behind the next one a reader sees {then.reader}")
        if then.plain != after.plain:
            found.append(f"behind the next one the catalogue shows {then.plain}")
        if left := leftovers(self.store):
            found.append(f"left behind: {left}")
        return found


def watched(store: Path, at_operation: Callable[[str], None], at_commit: Callable[[], object]) -> None:
    """From now on, tell of each operation on files of the store before it is done, and of the commit.

    Waiting for the disk is none of them: a process that is killed there leaves what it would leave at the
    next one.
    """
    inside = os.fspath(store)

    def heard(event: str, arguments: tuple[Any, ...]) -> None:
        if event not in _ON_FILES:
            return
        place = arguments[0] if isinstance(arguments[0], int) else os.fsdecode(arguments[0])
        in_folder = event in {"os.remove", "os.rmdir"} and arguments[1] != -1
        if event == "open" and not (isinstance(arguments[2], int) and arguments[2] & _WRITES):
            return
        if event in {"os.link", "os.rename"}:
            target = Path(os.fsdecode(arguments[1]))
            if target.parent.name == "commits" and target.stem.isdigit():
                at_commit()
        if in_folder or isinstance(place, int) or place.startswith(inside):
            at_operation(f"{event} {_PROCESS.sub('.N', str(place).removeprefix(inside))}")

    sys.addaudithook(heard)


def _said_nowhere(_: str) -> None:
    return


def operations(scene: Scene) -> list[str]:
    """What the job does to files, in order."""
    found: list[str] = []
    watched(scene.store, found.append, lambda: None)
    scene.run()
    return found


def kill_at(scene: Scene, operation: str, nth: int) -> None:
    """Do the job until it is to do something for the nth time."""
    times = count(1)

    def at_operation(what: str) -> None:
        if what == operation and next(times) == nth:
            os.kill(os.getpid(), signal.SIGKILL)

    watched(scene.store, at_operation, lambda: None)
    scene.run()


def at_every_operation(scene: Scene, before: View, after: View) -> list[dict[str, Any]]:
    """Kill the job at each thing that it does to files.

    Many of them change nothing that could be found later: what was looked at once is not looked at again.
    """
    scene.restart()
    times: Counter[str] = Counter()
    kills = []
    known = set()
    for what in done_by_child(lambda: operations(scene)):
        times[what] += 1
        scene.restart()
        code, _ = start(lambda _, what=what: kill_at(scene, what, times[what])).end()  # type: ignore[misc]
        left = scene.left_behind()
        where = f"{what} ({times[what]})"
        kills.append(_as_known(code, where) if left in known else _kill(scene, before, after, code, where))
        known.add(left)
    return kills


def run_and_tell(scene: Scene, say: Say) -> None:
    """Do the job, and say when it begins, commits and ends."""
    watched(scene.store, _said_nowhere, lambda: say(b"c"))
    say(b"b")
    scene.run()
    say(b"e")


def at_random(
    scene: Scene, before: View, after: View, rng: random.Random, kills: int
) -> list[dict[str, Any]]:
    """Kill the job at random instants, as many before its commit as behind it.

    The delay counts from the beginning or from the commit on: so kills fall into both parts however slow the
    machine is at the moment.
    """
    spans = {b"b": float("inf"), b"c": float("inf")}
    for _ in range(_MEASURED):
        scene.restart()
        child = start(lambda say: run_and_tell(scene, say))
        times = {_wait_for(child, sign): time.monotonic() for sign in (b"b", b"c", b"e")}
        child.end()
        spans[b"b"] = min(spans[b"b"], times[b"c"] - times[b"b"])
        spans[b"c"] = min(spans[b"c"], times[b"e"] - times[b"c"])
    found = []
    for number in range(kills):
        scene.restart()
        sign = (b"b", b"c")[number % 2]
        told = []
        for turn in range(rng.choice((1, 1, 1, 1, 2, 3))):  # the next one may be killed as well
            child = start(lambda say: run_and_tell(scene, say))
            if turn == 0:
                _wait_for(child, sign)
            delay = rng.random() * spans[sign]
            time.sleep(delay)
            child.kill()
            told.append(f"{delay:.4f} s behind {sign.decode()}")
            code, _ = child.end()
            if turn == 0:
                first, commits = code, len(list(Folder(scene.store).commits.glob("[0-9]*.json")))
        kill = _kill(scene, before, after, first, ", then ".join(told))
        found.append(kill | {"committed": commits > before.commits})
    return found


def _wait_for(child: Child, sign: bytes) -> bytes:
    while (heard := os.read(child.ear, 1)) != sign:
        assert heard, "the child ended early"
    return sign


def _kill(scene: Scene, before: View, after: View, code: int, where: str) -> dict[str, Any]:
    faults = done_by_child(lambda: scene.faults(before, after))
    return {"where": where, "killed": code == -signal.SIGKILL, "faults": faults}


def _as_known(code: int, where: str) -> dict[str, Any]:
    return {"where": where, "killed": code == -signal.SIGKILL, "faults": []}


def main() -> None:
    """Do as the command line says."""
    place, job = Path(sys.argv[1]), sys.argv[2]
    pa.set_cpu_count(1)
    scene = Scene(place, job)
    done_by_child(scene.prepare)
    scene.restart()
    before = View.from_json(done_by_child(lambda: view(scene.store).to_json()))
    done_by_child(scene.run)
    after = View.from_json(done_by_child(lambda: view(scene.store).to_json()))
    if len(sys.argv) > 3:
        kills = at_random(scene, before, after, random.Random(place.name), int(sys.argv[3]))
    else:
        kills = at_every_operation(scene, before, after)
    sys.stdout.write(json.dumps(kills))


if __name__ == "__main__":
    main()
