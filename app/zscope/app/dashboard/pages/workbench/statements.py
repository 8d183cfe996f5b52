"""Run the statements of a reader in a separate process, with limits of time, memory and size."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict, dataclass
from threading import BoundedSemaphore
from typing import TYPE_CHECKING

import pyarrow as pa

from zscope.app.dashboard.pages.workbench import process as statements
from zscope.app.dashboard.pages.workbench.process import ProcessReply, StatementTask

if TYPE_CHECKING:
    from zscope.app.dashboard.store import PageData

MOST_ROWS = 10_000
MOST_BYTES = 20 << 20
"""Limit of the part of a result that is stored and sent to the browser."""
LONGEST_TEXT = 20_000
_MEMORY = "1GB"
_ADDRESS_SPACE = 6 << 30
"""Limit of the process, including its libraries, its threads and memory that DuckDB does not count."""
_STARTING_S = 8.0
"""Time to start on a busy machine, in addition to the time limit; after that the process is killed."""
_AT_ONCE = BoundedSemaphore(2)
"""Statements that run at the same time; other pages need the machine as well."""
_PATIENCE_S = 5.0


@dataclass(frozen=True, slots=True)
class StatementOutcome:
    """The outcome of a text with statements."""

    text: str
    seconds: float
    """From the first statement to the last row that was read."""
    rows: pa.Table | None = None
    """Rows of the last query in the text; None without a query or after an error."""
    more: bool = False
    """Whether the result has more rows than these."""
    error: str | None = None


def run(data: PageData, text: str, seconds: float) -> StatementOutcome:
    """Run the statements of a text in order, within one time limit for all of them."""
    if not _AT_ONCE.acquire(timeout=_PATIENCE_S):
        return StatementOutcome(text, 0.0, error="other readers are running statements; try again later")
    try:
        return _run(data, text, seconds)
    finally:
        _AT_ONCE.release()


def _run(data: PageData, text: str, seconds: float) -> StatementOutcome:
    queries = data.queries
    task = StatementTask(
        str(queries.store.absolute()), text, seconds, queries.memory or _MEMORY, queries.threads,
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
        return StatementOutcome(text, seconds, error=f"stopped after {seconds:g} seconds")
    line, _, stream = done.stdout.partition(b"\n")
    if done.returncode or not line:
        return StatementOutcome(text, seconds, error="stopped: the statement exceeded its memory limit")
    reply = ProcessReply(**json.loads(line))
    rows = pa.ipc.open_stream(stream).read_all() if reply.rows else None
    return StatementOutcome(text, reply.seconds, rows, reply.more, reply.error)
