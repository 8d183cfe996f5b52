"""A program of its own for the statements of one reader, which its operating system keeps within limits.

DuckDB ends a statement that takes too long and counts the memory of its tables, but not while it works on one
piece of rows: texts of gigabytes are made there. So the server does not run what readers type. This program
does; it may use so much memory and no more, and can be killed. It is given a task as JSON and answers with a
line of JSON and, where there are rows, an Arrow stream.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from zscope.pipelines.store import StoreError, open_reader
from zscope.pipelines.store.session import QueryError, Session, has_rows

if TYPE_CHECKING:
    from zscope.pipelines.store.session import Result


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be done, within which limits."""

    store: str
    text: str
    seconds: float
    memory: str
    """For DuckDB."""
    threads: int | None
    most_bytes: int
    """For the program as a whole, in its address space."""
    most_rows: int
    most_result_bytes: int


@dataclass(frozen=True, slots=True)
class Told:
    """What became of it."""

    seconds: float
    more: bool = False
    error: str | None = None
    rows: bool = False
    """Whether an Arrow stream follows."""


def main() -> None:
    """Do one task."""
    task = Task(**json.load(sys.stdin))
    resource.setrlimit(resource.RLIMIT_AS, (task.most_bytes, task.most_bytes))
    rows, told = done(task)
    sys.stdout.buffer.write(json.dumps(asdict(told)).encode() + b"\n")
    if rows is not None:
        with pa.ipc.new_stream(sys.stdout.buffer, rows.schema) as stream:
            stream.write_table(rows)
    sys.stdout.buffer.flush()


def done(task: Task) -> tuple[pa.Table | None, Told]:
    """Run the statements of a text in order, all together within a time."""
    begun = time.monotonic()
    store = Path(task.store)
    limits: dict[str, Any] = {"memory": task.memory, "threads": task.threads, "seconds": task.seconds}
    try:
        with Session.guard(open_reader(store), store, **limits) as session:
            begun = time.monotonic()
            rows, more = _run(session, task, begun + task.seconds)
    except (QueryError, StoreError) as error:
        return None, Told(time.monotonic() - begun, error=str(error))
    return rows, Told(time.monotonic() - begun, more, rows=rows is not None)


def _run(session: Session, task: Task, until: float) -> tuple[pa.Table | None, bool]:
    statements = session.statements(task.text)
    if not statements:
        raise QueryError("there is no statement")
    last = max((number for number, one in enumerate(statements) if has_rows(one)), default=None)
    found: tuple[pa.Table | None, bool] = (None, False)
    for number, statement in enumerate(statements):
        # Each may take the whole time, so what comes behind a long one does not even begin.
        if time.monotonic() >= until:
            raise QueryError(f"the time was over before statement {number + 1} of {len(statements)}")
        result = session.run(statement)
        if number == last and result is not None:
            found = _read(result, task.most_rows, task.most_result_bytes)
    return found


def _read(result: Result, most_rows: int, most_bytes: int) -> tuple[pa.Table, bool]:
    """The first rows, and whether there are more."""
    kept: list[pa.RecordBatch] = []
    count = size = 0
    for batch in result.batches:
        fitting = min(batch.num_rows, most_rows - count, _that_fit(batch, most_bytes - size))
        kept.append(batch.slice(0, fitting))
        count, size = count + fitting, size + batch.nbytes * fitting // max(1, batch.num_rows)
        if fitting < batch.num_rows:
            return _shown(pa.Table.from_batches(kept, result.schema)), True
    return _shown(pa.Table.from_batches(kept, result.schema)), False


def _that_fit(batch: pa.RecordBatch, size: int) -> int:
    """How many rows of a batch have place in so many bytes; one row is always shown."""
    if batch.nbytes <= size:
        return int(batch.num_rows)
    return max(1, int(batch.num_rows * max(0, size) / batch.nbytes))


def _shown(rows: pa.Table) -> pa.Table:
    """Bytes as hex digits: neither a browser nor a CSV file has another form for them."""
    for place, field in enumerate(rows.schema):
        if pa.types.is_binary(field.type) or pa.types.is_large_binary(field.type):
            digits = [None if value is None else value.hex() for value in rows.column(place).to_pylist()]
            rows = rows.set_column(place, field.name, pa.array(digits, pa.string()))
    return rows


if __name__ == "__main__":
    main()
