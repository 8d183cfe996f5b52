"""A program that kills writers of a store, looks at what is left, and lets the next one go on.

    python -m tests.pipelines.store.killing FOLDER JOB [KILLS]

Without KILLS, at each operation on a file in turn; with it, at so many random instants. Prints a list of
kills with their faults as JSON.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
from tests.pipelines.store.forked import Child, Say, done_by_child, start
from tests.pipelines.store.looking import View, view
from tests.pipelines.store.scene import Scene, without_process

from zscope.pipelines.store import catalogue
from zscope.pipelines.store.folder import Folder

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
_MEASURED = 3


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
            at_operation(f"{event} {without_process(str(place).removeprefix(inside))}")

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
    # Made once and not in each child; by one, as it makes threads.
    empty = b64decode(done_by_child(lambda: b64encode(catalogue.empty_catalogue()).decode()))
    setattr(catalogue, "empty_catalogue", lambda: empty)  # noqa: B010 - mypy has no word for it
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
