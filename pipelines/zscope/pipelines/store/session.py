"""Asking the store: a connection on which users' statements run, guarded and within limits.

Rows are streamed. Every call into DuckDB is made by a thread of its own, so that the caller can always be
interrupted and a time limit can end what runs.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from types import TracebackType
from typing import Self, TypeVar

import duckdb
import pyarrow as pa

from zscope.pipelines.store.guard import lock_down, refusal
from zscope.pipelines.store.portable import Parameters, portable, renamed
from zscope.pipelines.store.summaries import has_summaries

BATCH_ROWS = 1 << 16
_BETWEEN_INTERRUPTS = 0.05
_LONGEST_WAIT = 0.5
_REFUSED_FILE = re.compile(r'Cannot access (?:file|directory) "(?P<path>[^"]*)"')
_TRIED_AS_FOLDER = ".parquet/**/*.parquet"
"""What DuckDB looks for when a file that it may open is not there."""
_Found = TypeVar("_Found")


class QueryError(Exception):
    """A statement that was not done; the message says why, in DuckDB's words where DuckDB found it."""


@dataclass(frozen=True, slots=True)
class Result:
    """The rows of one statement; they are there until the next statement runs."""

    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]


class Session:
    """A guarded connection. Statements read the tables of the store and may make temporary ones."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, spill: Path, seconds: float | None = None
    ) -> None:
        """For a connection that is guarded already; `guard` makes one that is."""
        self._connection = connection
        self._spill = spill
        self._seconds = seconds
        self._left = seconds
        self._runs = 0
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="zscope-sql")

    @classmethod
    def guard(
        cls,
        connection: duckdb.DuckDBPyConnection,
        folder: Path,
        *,
        memory: str | None = None,
        threads: int | None = None,
        seconds: float | None = None,
    ) -> Self:
        """Guard a connection to a catalogue, or to views made in memory, and take it over.

        The settings hold for all connections of its DuckDB instance. What does not fit in memory is put into
        a private folder, which goes with the session.
        """
        spill = Path(mkdtemp(prefix="zscope-sql-"))
        try:
            lock_down(connection, folder, spill, memory, threads)
        except duckdb.Error as error:
            connection.close()
            rmtree(spill)
            raise QueryError(_told(error)) from error
        return cls(connection, spill, seconds)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End what runs and let go of everything."""
        self._worker.shutdown()
        self._connection.close()
        rmtree(self._spill, ignore_errors=True)  # DuckDB removes its own files, and may have been first

    def statements(self, text: str) -> list[duckdb.Statement]:
        """The statements of a text; if one is wrong or not possible, none."""
        try:
            found = self._connection.extract_statements(text)
        except (duckdb.Error, RuntimeError) as error:
            raise QueryError(_told(error)) from error
        for statement in found:
            if reason := refusal(statement):
                raise QueryError(reason)
        return found

    def run(self, statement: str | duckdb.Statement, parameters: Parameters = None) -> Result | None:
        """Run one statement: its rows as they come, or nothing where the statement has none to give.

        The time limit counts the time DuckDB works on it, not the time the caller takes with the rows.
        """
        if isinstance(statement, str):
            # One as written: PIVOT is a question behind the statements that prepare it.
            found = self.statements(statement)
            if not found or any(map(has_rows, found[:-1])):
                raise QueryError("one statement is needed, neither none nor several")
            for preparation in found[:-1]:
                self.run(preparation)
            statement = found[-1]
        self._left = self._seconds
        self._runs += 1
        checked = statement
        reader = self._wait(lambda: self._executed(checked, parameters))
        if reader is None:
            return None
        schema = renamed(reader.schema)
        return Result(schema, self._batches(reader, schema, self._runs))

    @property
    def summarised(self) -> bool:
        """Whether the store keeps summaries for its answers."""
        return self._wait(lambda: has_summaries(self._connection))

    def _executed(self, statement: duckdb.Statement, parameters: Parameters) -> pa.RecordBatchReader | None:
        if not has_rows(statement):
            self._connection.execute(statement, parameters).fetchall()
            return None
        text = portable(self._connection, statement, parameters)
        return self._connection.execute(text, parameters).to_arrow_reader(BATCH_ROWS)

    def _batches(self, reader: pa.RecordBatchReader, schema: pa.Schema, run: int) -> Iterator[pa.RecordBatch]:
        while True:
            if self._runs != run:  # DuckDB would say that there are no more rows
                raise RuntimeError("the rows of a statement cannot be read when the next one has begun")
            batch = self._wait(lambda: next(reader, None))
            if batch is None:
                return
            yield pa.RecordBatch.from_arrays(batch.columns, schema=schema)

    def _wait(self, call: Callable[[], _Found]) -> _Found:
        """The result of a call into DuckDB, unless it takes too long or the user wants no more of it."""
        started = time.monotonic()
        future = self._worker.submit(call)
        try:
            # In short stretches, as a signal that reaches another thread does not end a wait.
            while not wait([future], self._stretch(started)).done:
                if self._left is not None and time.monotonic() - started >= self._left:
                    self._stop(future)
                    raise QueryError(
                        f"stopped, as it was not done within {self._seconds:g} seconds; "
                        "ask for fewer days or columns, or allow more time"
                    )
            return future.result()
        except KeyboardInterrupt:
            self._stop(future)
            raise
        except (duckdb.Error, pa.ArrowException, OSError) as error:
            # What goes wrong after the first rows comes through Arrow, which makes an OSError of it.
            raise QueryError(_told(error)) from error
        finally:
            if self._left is not None:
                self._left = max(0.0, self._left - (time.monotonic() - started))

    def _stretch(self, started: float) -> float:
        if self._left is None:
            return _LONGEST_WAIT
        return min(_LONGEST_WAIT, max(0.0, self._left - (time.monotonic() - started)))

    def _stop(self, future: Future[_Found]) -> None:
        """Interrupt until it is over: one interruption has no effect on a statement that just begins."""
        while not future.done():
            self._connection.interrupt()
            wait([future], _BETWEEN_INTERRUPTS)


def has_rows(statement: duckdb.Statement) -> bool:
    """Whether a statement is a question: CREATE, SET and the like have nothing to show."""
    return list(statement.expected_result_type) == [duckdb.ExpectedResultType.QUERY_RESULT]


def _told(error: Exception) -> str:
    """DuckDB's message; where the guard is behind it, what the guard means."""
    text = str(error).strip()
    if found := _REFUSED_FILE.search(text):
        if found["path"].endswith(_TRIED_AS_FOLDER):
            gone = found["path"].removesuffix(_TRIED_AS_FOLDER)
            return f"{gone}.parquet: this file is gone, as the store has changed meanwhile; open it again"
        return f"{found['path']}: statements can only open the files behind the tables of the store"
    if "configuration has been locked" in text:
        return f"{text}; options of the command set memory, threads and time"
    first, _, _ = text.partition("\n")
    if text.startswith("Out of Memory Error"):
        return f"{first}; more --memory, fewer --threads or fewer columns help"
    if text.startswith(("INTERNAL Error", "FATAL Error")):
        return first
    return text
