"""A scheduler that runs tasks one after the other, and everything in a store that a load decides."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from tests.pipelines.stores import contents, leftovers

from zscope.pipelines.ingest.parallel_load import EngineError
from zscope.pipelines.store import open_reader
from zscope.pipelines.store.commits import read_state
from zscope.pipelines.store.folder import Folder

if TYPE_CHECKING:
    from pathlib import Path

Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass
class InTurn:
    """Runs tasks in this process; all that a cluster would send is sent."""

    fails: str = ""
    """What fails for good."""
    attempts: int = 1
    """How often each task is run; only the last result counts."""
    before: dict[str, Callable[[], object]] = field(default_factory=dict)
    """What happens before a step, by label."""
    labels: list[tuple[str, int]] = field(default_factory=list)
    """What was run, with the number of tasks."""

    def run(self, label: str, function: Callable[[Task, str], Result], tasks: Sequence[Task]) -> list[Result]:
        self.labels.append((label, len(tasks)))
        if label in self.before:
            self.before[label]()
        sent: Callable[[Task, str], Result] = pickle.loads(pickle.dumps(function))
        results: list[Result] = []
        for number, task in enumerate(tasks):
            for attempt in range(self.attempts):
                done = sent(pickle.loads(pickle.dumps(task)), f"a{number}x{attempt}")
            results.append(pickle.loads(pickle.dumps(done)))
        if label == self.fails:
            raise EngineError(f"{label} failed")
        return results


def everything_in(store: Path) -> dict[str, Any]:
    """Return the rows of all tables, the loads and the issues, without when they were loaded."""
    loads = read_state(Folder(store)).loads
    with open_reader(store) as connection:
        issues = connection.execute("SELECT * EXCLUDE (day) FROM issue ORDER BY ALL").fetchall()
        inputs = connection.execute("SELECT * EXCLUDE (since_utc) FROM input_issue ORDER BY ALL").fetchall()
        digests = connection.execute("SELECT load_id, record_no, digest FROM record_digest ORDER BY ALL")
        return {
            "rows": contents(connection, left_out=()),
            "digests": digests.fetchall(),
            "issues": issues,
            "issues of inputs": inputs,
            "loads": {number: replace(load, seconds=0, started_utc="") for number, load in loads.items()},
        }


def differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Return what differs between two stores, in a few lines."""
    found = []
    for name, value in one.items():
        if value != other[name]:
            mine, theirs = (
                list(each.items()) if isinstance(each, dict) else each for each in (value, other[name])
            )
            found += [f"{name}: {row!r:.1500}" for row in mine if row not in theirs][:3]
            found += [f"{name}, other: {row!r:.1500}" for row in theirs if row not in mine][:3]
    return found


def staged(store: Path) -> list[str]:
    """Return the leftovers of tasks in a store."""
    return [name for name in leftovers(store) if not name.startswith("summaries/")]
