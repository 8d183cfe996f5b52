"""A separate process for the statements of a reader, with a memory limit of the operating system.

DuckDB stops slow statements and limits the memory of its tables, but neither while it works on one batch of
rows, which can contain texts of gigabytes. So the server does not run the statements of readers itself. This
process does: its memory is limited, and it can be killed. It reads a task as JSON. It writes `STARTED` when
the store is open, so that the time until then does not count as that of the statement, then a line of JSON
and, if there are rows, an Arrow stream.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from zscope.app.shared.far_times import far_texts, is_far
from zscope.pipelines.store import StoreError, open_reader
from zscope.pipelines.store.session import QueryError, Session, returns_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from zscope.pipelines.store.session import QueryResult


_SPILL = "4GB"
"""Limit of the temporary files of one statement of a reader."""


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
class ProcessReply:
    """The outcome of a task."""

    seconds: float
    more: bool = False
    error: str | None = None
    rows: bool = False
    """Whether an Arrow stream follows."""


STARTED = b"."
OUT_OF_MEMORY = "stopped: the statement exceeded its memory limit"


def main() -> None:
    """Run the task on standard input."""
    task = StatementTask(**json.load(sys.stdin))
    # Whatever else writes to standard output must not come between the rows.
    answer = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def started() -> None:
        answer.write(STARTED)
        answer.flush()

    resource.setrlimit(resource.RLIMIT_AS, (task.most_bytes, task.most_bytes))
    rows, reply = run_task(task, started)
    answer.write(json.dumps(asdict(reply)).encode() + b"\n")
    if rows is not None:
        with pa.ipc.new_stream(answer, rows.schema) as stream:
            stream.write_table(rows)
    answer.flush()


def run_task(
    task: StatementTask, on_start: Callable[[], object] = lambda: None
) -> tuple[pa.Table | None, ProcessReply]:
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
        return None, ProcessReply(time.monotonic() - started, error=str(error))
    on_start()
    started = time.monotonic()
    try:
        with opened as session:
            rows, more = _run(session, task, started + task.seconds)
    except MemoryError:
        return None, ProcessReply(time.monotonic() - started, error=OUT_OF_MEMORY)
    except (QueryError, StoreError) as error:
        return None, ProcessReply(time.monotonic() - started, error=str(error))
    return rows, ProcessReply(time.monotonic() - started, more, rows=rows is not None)


def _run(session: Session, task: StatementTask, until: float) -> tuple[pa.Table | None, bool]:
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
