"""Kill writers of a store, examine what is left, and run the next writer.

    python -m tests.pipelines.store.killing FOLDER JOB WHEN

WHEN is `every` for a kill at each operation on files, `few` for a kill at some of them, or a number of kills
at random instants. Prints a list of kills with their faults as JSON.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections import Counter
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from tests.pipelines.store.forked import Child, Say, done_by_child, start, warm_up
from tests.pipelines.store.looking import View, view
from tests.pipelines.store.scene import Scene, without_process

from zscope.pipelines.store.folder import Folder

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

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
    """Report each operation on files of the store before it happens, and the commit.

    Flushing to disk is not reported: a process killed there leaves the same as at the next operation.
    """
    inside = os.fspath(store)

    def on_event(event: str, arguments: tuple[Any, ...]) -> None:
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

    sys.addaudithook(on_event)


def _said_nowhere(_: str) -> None:
    return


def operations(scene: Scene) -> list[str]:
    """Return the operations of the job on files, in order."""
    found: list[str] = []
    watched(scene.store, found.append, lambda: None)
    scene.run()
    return found


def kill_at(scene: Scene, operation: str, nth: int) -> None:
    """Run the job and kill it before an operation happens for the nth time."""
    times = count(1)

    def at_operation(what: str) -> None:
        if what == operation and next(times) == nth:
            os.kill(os.getpid(), signal.SIGKILL)

    watched(scene.store, at_operation, lambda: None)
    scene.run()


def few(operations: Sequence[str]) -> set[int]:
    """Choose the commit, the operation after it, and the rename of the catalogue; the kill is before each."""
    commit, renamed = (
        next(number for number, what in enumerate(operations) if what.startswith(step))
        for step in ("os.link /.stage/commit-", "os.rename /.zscope.duckdb.")
    )
    return {commit, commit + 1, renamed}


def at_operations(
    scene: Scene, before: View, after: View, chosen: Callable[[Sequence[str]], Container[int]]
) -> list[dict[str, Any]]:
    """Kill the job at its operations on files.

    Many of them leave the same files: what was examined once is not examined again.
    """
    scene.restart()
    times: Counter[str] = Counter()
    kills = []
    known = set()
    every = done_by_child(lambda: operations(scene))
    selected = chosen(every)
    for number, what in enumerate(every):
        times[what] += 1
        if number not in selected:
            continue
        scene.restart()
        code, _ = start(lambda _, what=what: kill_at(scene, what, times[what])).end()  # type: ignore[misc]
        left = scene.left_behind()
        where = f"{what} ({times[what]})"
        kills.append(_as_known(code, where) if left in known else _kill(scene, before, after, code, where))
        known.add(left)
    return kills


def run_and_tell(scene: Scene, say: Say) -> None:
    """Run the job and report its start, commit and end."""
    watched(scene.store, _said_nowhere, lambda: say(b"c"))
    say(b"b")
    scene.run()
    say(b"e")


def at_random(
    scene: Scene, before: View, after: View, rng: random.Random, kills: int
) -> list[dict[str, Any]]:
    """Kill the job at random instants, as many before its commit as after it.

    The delay counts from the start or from the commit, so both parts are covered however slow the machine is.
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
        for turn in range(rng.choice((1, 1, 1, 1, 2, 3))):  # the next writer can be killed, too
            child = start(lambda say: run_and_tell(scene, say))
            if turn == 0:
                _wait_for(child, sign)
            delay = rng.random() * spans[sign]
            time.sleep(delay)
            child.kill()
            told.append(f"{delay:.4f} s after {sign.decode()}")
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
    """Run the program."""
    place, job = Path(sys.argv[1]), sys.argv[2]
    pa.set_cpu_count(1)
    scene = Scene(place, job)
    warm_up()
    done_by_child(scene.prepare)
    scene.restart()
    before = View.from_json(done_by_child(lambda: view(scene.store).to_json()))
    done_by_child(scene.run)
    after = View.from_json(done_by_child(lambda: view(scene.store).to_json()))
    when = sys.argv[3]
    if when.isdigit():
        kills = at_random(scene, before, after, random.Random(place.name), int(when))
    elif when == "few":
        kills = at_operations(scene, before, after, few)
    else:
        kills = at_operations(scene, before, after, lambda operations: range(len(operations)))
    sys.stdout.write(json.dumps(kills))


if __name__ == "__main__":
    main()
