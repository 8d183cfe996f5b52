"""Run the statements of a reader in a separate process, with limits of time, memory and size."""

from __future__ import annotations

import json
import select
import signal
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from threading import BoundedSemaphore
from typing import IO, TYPE_CHECKING

import pyarrow as pa

from zscope.app.dashboard.pages.workbench import statement_process as statements
from zscope.app.dashboard.pages.workbench.statement_process import (
    OUT_OF_MEMORY,
    STARTED,
    ProcessReply,
    StatementTask,
)

if TYPE_CHECKING:
    from zscope.app.dashboard.page_data import PageData

MOST_ROWS = 10_000
MOST_BYTES = 20 << 20
"""Limit of the part of a result that is stored and sent to the browser."""
LONGEST_TEXT = 20_000
_MEMORY = "1GB"
_ADDRESS_SPACE = 6 << 30
"""Limit of the process, including its libraries, its threads and memory that DuckDB does not count."""
_STARTING_S = 60.0
"""Time to start and open the store on a busy machine, which does not count as time of the statement."""
_ENDING_S = 5.0
"""Time to stop and to send the rows, in addition to the time limit; after that the process is killed."""
_SIGNS_OF_MEMORY = (b"MemoryError", b"bad_alloc", b"Out of Memory", b"out of memory", b"Cannot allocate")
_LONGEST_REASON = 300
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
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as messages:
        given.write(json.dumps(asdict(task)).encode())
        given.seek(0)
        with subprocess.Popen(
            _command(), stdin=given, stdout=subprocess.PIPE, stderr=messages, bufsize=0
        ) as child:
            try:
                answer, problem = _answer(child, seconds)
            finally:
                child.kill()  # it has no effect on one that has ended
        if problem is None and (child.returncode or not answer.strip()):
            messages.seek(0)
            problem = reason_of_end(child.returncode, messages.read())
    if problem is not None:
        return StatementOutcome(text, seconds, error=problem)
    line, _, stream = answer.partition(b"\n")
    reply = ProcessReply(**json.loads(line))
    rows = pa.ipc.open_stream(stream).read_all() if reply.rows else None
    return StatementOutcome(text, reply.seconds, rows, reply.more, reply.error)


def _command() -> list[str]:
    return [sys.executable, "-m", statements.__name__]


def _answer(child: subprocess.Popen[bytes], seconds: float) -> tuple[bytes, str | None]:
    """Return what the process writes after its start, or why it was not waited for."""
    assert child.stdout is not None
    if not _has_started(child.stdout):
        return b"", (
            f"the process for statements did not start within {_STARTING_S:g} seconds, because the machine "
            "is busy; the statement did not run, try again later"
        )
    try:
        return child.communicate(timeout=seconds + _ENDING_S)[0], None
    except subprocess.TimeoutExpired:
        return b"", f"stopped after {seconds:g} seconds"


def _has_started(output: IO[bytes]) -> bool:
    """Wait for the sign of the start; whether it came, or the process ended before."""
    ready, _, _ = select.select([output], [], [], _STARTING_S)
    return bool(ready) and output.read(1) in {STARTED, b""}


def reason_of_end(code: int, messages: bytes) -> str:
    """Return why a process ended without an answer.

    >>> reason_of_end(-9, b"")
    'stopped: its process was killed (SIGKILL), by an administrator or because the machine has no memory left'
    >>> reason_of_end(1, b"Traceback ...\\nImportError: no module named duckdb\\n")
    'its process failed (exit code 1): ImportError: no module named duckdb; this is no fault of the statement'
    """
    if any(sign in messages for sign in _SIGNS_OF_MEMORY):
        return OUT_OF_MEMORY
    if code == -signal.SIGKILL:
        return (
            "stopped: its process was killed (SIGKILL), by an administrator or because the machine has no "
            "memory left"
        )
    lines = messages.decode(errors="replace").strip().splitlines()
    last = f": {lines[-1][:_LONGEST_REASON]}" if lines else ""
    if code < 0:
        names = {each.value: each.name for each in signal.Signals}
        return f"its process ended with {names.get(-code, f'signal {-code}')}{last}"
    return f"its process failed (exit code {code}){last}; this is no fault of the statement"
