"""What a reader has typed, run apart from the server: within limits of time, memory and size."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict, dataclass
from threading import BoundedSemaphore
from typing import TYPE_CHECKING

import pyarrow as pa

from zscope.app.dashboard.server import statements
from zscope.app.dashboard.server.statements import Task, Told

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Data

MOST_ROWS = 10_000
MOST_BYTES = 20 << 20
"""So much of a result is kept for its reader and sent to the browser."""
LONGEST_TEXT = 20_000
_MEMORY = "1GB"
_ADDRESS_SPACE = 6 << 30
"""Of the program that runs statements: with its libraries, its threads and what DuckDB does not count."""
_STARTING_S = 8.0
"""So long it may take on a busy machine beside the time of the statements; then it is killed."""
_AT_ONCE = BoundedSemaphore(2)
"""Statements of readers that run at the same time: the other pages have to have a turn."""
_PATIENCE_S = 5.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a text of statements."""

    text: str
    seconds: float
    """From the first statement to the last row that was read."""
    rows: pa.Table | None = None
    """Of the last question in the text; none where there was no question, or something went wrong."""
    more: bool = False
    """Whether there are more rows than those."""
    error: str | None = None


def run(data: Data, text: str, seconds: float) -> Outcome:
    """Run the statements of a text in order, all together within a time."""
    if not _AT_ONCE.acquire(timeout=_PATIENCE_S):
        return Outcome(text, 0.0, error="others are running statements at the moment; try again in a while")
    try:
        return _run(data, text, seconds)
    finally:
        _AT_ONCE.release()


def _run(data: Data, text: str, seconds: float) -> Outcome:
    answers = data.answers
    task = Task(
        str(answers.store.absolute()), text, seconds, answers.memory or _MEMORY, answers.threads,
        _ADDRESS_SPACE, MOST_ROWS, MOST_BYTES,
    )  # fmt: skip
    try:
        done = subprocess.run(
            [sys.executable, "-m", statements.__name__],
            input=json.dumps(asdict(task)).encode(),
            capture_output=True,
            timeout=seconds + _STARTING_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Outcome(text, seconds, error=f"stopped, as it was not done within {seconds:g} seconds")
    line, _, stream = done.stdout.partition(b"\n")
    if done.returncode or not line:
        return Outcome(text, seconds, error="stopped, as it needed more memory than a statement may have")
    told = Told(**json.loads(line))
    rows = pa.ipc.open_stream(stream).read_all() if told.rows else None
    return Outcome(text, told.seconds, rows, told.more, told.error)
