"""Kill writers of a store with a signal, examine what is left, and run the next writer.

    python -m tests.pipelines.store.killing FOLDER JOB WHEN

WHEN is `commit` for kills around the commit, or a number of kills at random instants. The catalogue is small.
Prints a list of kills with their faults as JSON.
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
import pytest
from tests.pipelines.small_catalogue import use_small_catalogue
from tests.pipelines.store.forked import Child, Say, done_by_child, start, warm_up
from tests.pipelines.store.looking import View, view
from tests.pipelines.store.operations import files_at_operations, files_of, observed, without_process
from tests.pipelines.store.scene import Scene

from zscope.pipelines.store.folder import Folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_MEASURED = 3


def _said_nowhere(_: str) -> None:
    return


def _names(files: Iterable[str]) -> list[str]:
    return sorted(map(without_process, files))


def _operations_with_names(scene: Scene) -> list[tuple[str, list[str]]]:
    """Return the operations of the job on files, with the names of the files before each of them."""
    return [(what, _names(files)) for what, files in files_at_operations(scene.store, scene.run)]


def kill_at(scene: Scene, operation: str, nth: int) -> None:
    """Run the job and kill it before an operation happens for the nth time."""
    times = count(1)

    def at_operation(what: str) -> None:
        if what == operation and next(times) == nth:
            os.kill(os.getpid(), signal.SIGKILL)

    with observed(scene.store, at_operation):
        scene.run()


def around_the_commit(operations: Sequence[str]) -> set[int]:
    """Choose the commit, the operation after it, and the rename of the catalogue; the kill is before each."""
    commit, renamed = (
        next(number for number, what in enumerate(operations) if what.startswith(step))
        for step in ("os.link /.stage/commit-", "os.rename /.zscope.duckdb.")
    )
    return {commit, commit + 1, renamed}


def at_commit(scene: Scene, before: View, after: View) -> list[dict[str, Any]]:
    """Kill the job around its commit, and compare the files with those of a job that is not killed."""
    scene.restart()
    times: Counter[str] = Counter()
    kills = []
    every = done_by_child(lambda: _operations_with_names(scene))
    chosen = around_the_commit([what for what, _ in every])
    for number, (what, names) in enumerate(every):
        times[what] += 1
        if number not in chosen:
            continue
        scene.restart()
        code, _ = start(lambda _, what=what: kill_at(scene, what, times[what])).end()  # type: ignore[misc]
        left = _names(files_of(scene.store))
        kill = _kill(scene, before, after, code, f"{what} ({times[what]})")
        if left != names:
            kill["faults"].append(f"the killed job left {left}, one that goes on has {names}")
        kills.append(kill)
    return kills


def run_and_tell(scene: Scene, say: Say) -> None:
    """Run the job and report its start, commit and end."""
    with observed(scene.store, _said_nowhere, lambda: say(b"c")):
        say(b"b")
        scene.run()
        say(b"e")


def at_random(
    scene: Scene, before: View, after: View, rng: random.Random, kills: int
) -> list[dict[str, Any]]:
    """Kill the job at random instants, as many before its commit as after it.

    The delay counts from the start or from the commit, so both parts are covered however slow the machine is.
    Many kills leave the same files: what was examined once is not examined again.
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
    known = set()
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
        where, left = ", then ".join(told), scene.left_behind()
        kill = _as_known(first, where) if left in known else _kill(scene, before, after, first, where)
        found.append(kill | {"committed": commits > before.commits})
        known.add(left)
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
    place, job, when = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    pa.set_cpu_count(1)
    scene = Scene(place, job)
    warm_up()
    empty = place / "empty.duckdb"
    done_by_child(lambda: empty.write_bytes(use_small_catalogue(pytest.MonkeyPatch())))
    use_small_catalogue(pytest.MonkeyPatch(), empty.read_bytes())
    done_by_child(scene.prepare)
    scene.restart()
    before = View.from_json(done_by_child(lambda: view(scene.store).to_json()))
    done_by_child(scene.run)
    after = View.from_json(done_by_child(lambda: view(scene.store).to_json()))
    if when == "commit":
        kills = at_commit(scene, before, after)
    else:
        kills = at_random(scene, before, after, random.Random(place.name), int(when))
    sys.stdout.write(json.dumps(kills))


if __name__ == "__main__":
    main()
