"""Run the statements of a reader in a separate process, with limits of time, memory and size.

DuckDB stops slow statements and limits the memory of its tables, but neither while it works on one batch of
rows, which can contain texts of gigabytes. So the server does not run the statements of readers itself. It
starts this module as a process, whose memory is limited and which can be killed. The process reads a task as
JSON. It writes `_STARTED` when the store is open, so that the time until then does not count as that of the
statement, then a line of JSON and, if there are rows, an Arrow stream.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import BoundedSemaphore
from typing import IO, TYPE_CHECKING, Any

import pyarrow as pa

from zscope.app.shared.far_times import far_texts, is_far
from zscope.pipelines.store import StoreError, open_reader
from zscope.pipelines.store.session import Session, returns_rows
from zscope.pipelines.store.sql_sandbox import QueryError

if TYPE_CHECKING:
    from collections.abc import Callable

    from zscope.app.dashboard.page_data import PageData
    from zscope.pipelines.store.session import QueryResult

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
_SPILL = "4GB"
"""Limit of the temporary files of one statement of a reader."""
_STARTED = b"."
_OUT_OF_MEMORY = "stopped: the statement exceeded its memory limit"


@dataclass(frozen=True, slots=True)
class StatementTask:
    """The statements to run, and the limits."""

    store: str
    text: str
    seconds: float
    memory: str
    """Memory limit of DuckDB."""
    threads: int | None
    most_bytes: int
    """Limit of the address space of the process."""
    most_rows: int
    most_result_bytes: int


@dataclass(frozen=True, slots=True)
class _ProcessReply:
    """The outcome of a task."""

    seconds: float
    more: bool = False
    error: str | None = None
    rows: bool = False
    """Whether an Arrow stream follows."""


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
        return _in_process(data, text, seconds)
    finally:
        _AT_ONCE.release()


def _in_process(data: PageData, text: str, seconds: float) -> StatementOutcome:
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
    reply = _ProcessReply(**json.loads(line))
    rows = pa.ipc.open_stream(stream).read_all() if reply.rows else None
    return StatementOutcome(text, reply.seconds, rows, reply.more, reply.error)


def _command() -> list[str]:
    return [sys.executable, "-m", __name__]


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
    return bool(ready) and output.read(1) in {_STARTED, b""}


def reason_of_end(code: int, messages: bytes) -> str:
    """Return why a process ended without an answer.

    >>> reason_of_end(-9, b"")
    'stopped: its process was killed (SIGKILL), by an administrator or because the machine has no memory left'
    >>> reason_of_end(1, b"Traceback ...\\nImportError: no module named duckdb\\n")
    'its process failed (exit code 1): ImportError: no module named duckdb; this is no fault of the statement'
    """
    if any(sign in messages for sign in _SIGNS_OF_MEMORY):
        return _OUT_OF_MEMORY
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


def main() -> None:
    """Run the task on standard input."""
    task = StatementTask(**json.load(sys.stdin))
    # Whatever else writes to standard output must not come between the rows.
    answer = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def started() -> None:
        answer.write(_STARTED)
        answer.flush()

    limit_memory(task.most_bytes)
    rows, reply = run_task(task, started)
    answer.write(json.dumps(asdict(reply)).encode() + b"\n")
    if rows is not None:
        with pa.ipc.new_stream(answer, rows.schema) as stream:
            stream.write_table(rows)
    answer.flush()


def limit_memory(most_bytes: int) -> None:
    """Limit the memory of this process; macOS knows such a limit, but refuses to set it."""
    try:
        resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes))
    except (OSError, ValueError):
        if sys.platform != "darwin":
            raise


def run_task(
    task: StatementTask, on_start: Callable[[], object] = lambda: None
) -> tuple[pa.Table | None, _ProcessReply]:
    """Run the statements of a task in order, within one time limit for all of them.

    `on_start` is called once, when the store is open or cannot be opened.
    """
    started = time.monotonic()
    store = Path(task.store)
    limits: dict[str, Any] = {"memory": task.memory, "threads": task.threads, "seconds": task.seconds}
    try:
        opened = Session.guard(open_reader(store), store, spill_size=_SPILL, **limits)
    except (QueryError, StoreError) as error:
        on_start()
        return None, _ProcessReply(time.monotonic() - started, error=str(error))
    on_start()
    started = time.monotonic()
    try:
        with opened as session:
            rows, more = _run_statements(session, task, started + task.seconds)
    except MemoryError:
        return None, _ProcessReply(time.monotonic() - started, error=_OUT_OF_MEMORY)
    except (QueryError, StoreError) as error:
        return None, _ProcessReply(time.monotonic() - started, error=str(error))
    return rows, _ProcessReply(time.monotonic() - started, more, rows=rows is not None)


def _run_statements(session: Session, task: StatementTask, until: float) -> tuple[pa.Table | None, bool]:
    statements = session.statements(task.text)
    if not statements:
        raise QueryError("there is no statement")
    last = max((number for number, text in enumerate(statements) if returns_rows(text)), default=None)
    rows: tuple[pa.Table | None, bool] = (None, False)
    for number, statement in enumerate(statements):
        # The session limits each statement; this limits all of them together.
        if time.monotonic() >= until:
            raise QueryError(f"the time limit was reached before statement {number + 1} of {len(statements)}")
        result = session.run(statement)
        if number == last and result is not None:
            rows = _read(result, task.most_rows, task.most_result_bytes)
    return rows


def _read(result: QueryResult, most_rows: int, most_bytes: int) -> tuple[pa.Table, bool]:
    """The first rows, and whether there are more."""
    batches: list[pa.RecordBatch] = []
    count = size = 0
    for batch in result.batches:
        fitting = min(batch.num_rows, most_rows - count, _fitting(batch, most_bytes - size))
        batches.append(batch.slice(0, fitting))
        count, size = count + fitting, size + batch.nbytes * fitting // max(1, batch.num_rows)
        if fitting < batch.num_rows:
            return _for_browsers(pa.Table.from_batches(batches, result.schema)), True
    return _for_browsers(pa.Table.from_batches(batches, result.schema)), False


def _fitting(batch: pa.RecordBatch, size: int) -> int:
    """The number of rows of a batch that fit into a number of bytes, at least one."""
    if batch.nbytes <= size:
        return int(batch.num_rows)
    return max(1, int(batch.num_rows * max(0, size) / batch.nbytes))


def _for_browsers(rows: pa.Table) -> pa.Table:
    """Bytes as hexadecimal digits, and dates that Python does not have as text."""
    for place, field in enumerate(rows.schema):
        chunks = rows.column(place).chunks
        if any(map(is_far, chunks)):
            texts = pa.chunked_array([far_texts(chunk) for chunk in chunks], pa.string())
            rows = rows.set_column(place, field.name, texts)
            continue
        if pa.types.is_binary(field.type) or pa.types.is_large_binary(field.type):
            digits = [None if value is None else value.hex() for value in rows.column(place).to_pylist()]
            rows = rows.set_column(place, field.name, pa.array(digits, pa.string()))
    return rows


if __name__ == "__main__":
    main()
