"""Run users' statements on the store, restricted to reading and with limits of time and memory.

Rows are streamed. Calls into DuckDB run in a separate thread, so that the caller can be interrupted and a
time limit can stop a statement. DuckDB types that Arrow, Parquet or JSON cannot represent (some are converted
wrongly, such as times with a zone or unsigned 128-bit numbers, others not at all) are returned as text in
DuckDB's spelling.
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from shutil import disk_usage, rmtree
from typing import TYPE_CHECKING, Self, TypeVar

import duckdb
import pyarrow as pa

from zscope.pipelines.store.catalogue_file import has_summaries
from zscope.pipelines.store.process_lock import try_lock
from zscope.pipelines.store.sql_sandbox import QueryError, lock_down, refusal, refused_function
from zscope.schemas.catalogue_schemas import FILES, STEPS, as_shown
from zscope.schemas.sql_text import identifier, relations_named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType


Parameters = Sequence[object] | dict[str, object] | None

_AS_TEXT = re.compile(
    r"\b(INTERVAL|TIME WITH TIME ZONE|BIT|UHUGEINT|BIGNUM|UNION|VARIANT|GEOMETRY)\b"
    r"|^(?=.*[\[(]).*TIMESTAMP_NS"  # works alone, but inside a list or struct only with pandas
)
_SPILL_PREFIX = "zscope-sql-"
_SPILL_LOCK = "lock"
_WITHOUT_LOCK_S = 24 * 3600.0
"""A folder without a lock is of an earlier version of zscope, or its process is just creating it."""
_SHARE_OF_FREE_SPACE = 2
"""By default, a session can use one part in so many of the space that is free when it starts."""


def portable(
    connection: duckdb.DuckDBPyConnection, statement: duckdb.Statement, parameters: Parameters
) -> duckdb.Statement | str:
    """Return the statement, wrapped in a SELECT that casts columns to text where needed."""
    query = _without_semicolon(statement.query)
    if statement.type != duckdb.StatementType.SELECT or not query.strip():
        return statement
    try:
        columns = connection.execute(f"DESCRIBE {query}", parameters).fetchall()
    except duckdb.Error:
        # SHOW and similar statements have plain types; errors are raised when the statement runs.
        return statement
    names = distinct_names([str(name) for name, *_ in columns])
    kinds = [str(kind) for _, kind, *_ in columns]
    if not any(map(_AS_TEXT.search, kinds)):
        return statement
    casts = (
        f"{f'CAST(#{i} AS VARCHAR)' if _AS_TEXT.search(kind) else f'#{i}'} AS {identifier(name)}"
        for i, (name, kind) in enumerate(zip(names, kinds, strict=True), start=1)
    )
    return f"SELECT {', '.join(casts)} FROM ({query}\n)"


def distinct_names(names: Sequence[str]) -> list[str]:
    """Make column names distinct: a join can return a name twice, which JSON and data frames do not allow.

    >>> distinct_names(["system", "port", "system", "system_1"])
    ['system', 'port', 'system_2', 'system_1']
    """
    used = set(names)
    distinct: list[str] = []
    for name in names:
        new = name
        number = 1
        while new in distinct or (new != name and new in used):
            new = f"{name}_{number}"
            number += 1
        distinct.append(new)
    return distinct


def with_distinct_names(schema: pa.Schema) -> pa.Schema:
    """Return the schema with distinct column names."""
    names = distinct_names(schema.names)
    return pa.schema([field.with_name(name) for field, name in zip(schema, names, strict=True)])


def _without_semicolon(query: str) -> str:
    """Return the statement without its semicolon; only comments can follow it."""
    text = query.encode()
    for place, _ in reversed(duckdb.tokenize(query)):
        if text[place : place + 1] != b";":
            break
        text = text[:place]
    return text.decode()


BATCH_ROWS = 1 << 16
_BETWEEN_INTERRUPTS = 0.05
_LONGEST_WAIT = 0.5
_REFUSED_FILE = re.compile(r'Cannot access (?:file|directory) "(?P<path>[^"]*)"')
_MISSING_FILE = ".parquet/**/*.parquet"
"""The pattern that DuckDB searches for if an allowed file is missing."""
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The rows of one statement, available until the next statement runs."""

    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]


@dataclass(slots=True)
class SpillFolder:
    """A private folder for what does not fit in memory; it is deleted with its session.

    Later sessions delete it if the process was killed. A lock of the operating system tells whether the
    process still runs: it ends with the process, also in another container that shares the folder for
    temporary files, where process numbers would mislead.
    """

    path: Path
    _lock: int | None
    """The handle of the locked file; None after the folder was deleted."""

    @classmethod
    def create(cls) -> Self:
        """Create a folder, after deleting those of killed processes."""
        delete_leftovers()
        path = Path(tempfile.mkdtemp(prefix=_SPILL_PREFIX))
        unfinished = path / f"{_SPILL_LOCK}.new"
        handle = os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try_lock(handle)
        # With this name it is always locked while its process runs.
        unfinished.rename(path / _SPILL_LOCK)
        return cls(path, handle)

    @property
    def temporary(self) -> Path:
        """The folder for DuckDB, which creates and deletes it."""
        return self.path / "spill"

    def largest(self) -> str:
        """Return the default limit of its size, as DuckDB reads it."""
        return f"{max(1, disk_usage(self.path).free // _SHARE_OF_FREE_SPACE)}B"

    def delete(self) -> None:
        """Delete the folder and its files; a second call has no effect."""
        if self._lock is not None:
            rmtree(self.path, ignore_errors=True)
            os.close(self._lock)
            self._lock = None


def delete_leftovers() -> None:
    """Delete the folders of the same user whose process was killed."""
    with os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            # Whatever another process deletes at the same time is deleted.
            with suppress(FileNotFoundError):
                if entry.name.startswith(_SPILL_PREFIX) and entry.is_dir(follow_symlinks=False):
                    _delete_if_left(entry)


def _delete_if_left(entry: os.DirEntry[str]) -> None:
    about = entry.stat(follow_symlinks=False)
    if about.st_uid != os.geteuid():
        return
    path = Path(entry.path)
    try:
        handle = os.open(path / _SPILL_LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        if time.time() - about.st_mtime > _WITHOUT_LOCK_S:
            rmtree(path, ignore_errors=True)
        return
    try:
        if try_lock(handle):
            rmtree(path, ignore_errors=True)
    finally:
        os.close(handle)


class Session:
    """A restricted connection: statements can read the tables of the store and create temporary ones."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, spill: SpillFolder, seconds: float | None = None
    ) -> None:
        """Use a connection that is already restricted; see `guard`."""
        self._connection = connection
        self._spill = spill
        self._seconds = seconds
        self._left = seconds
        self._as_one = False
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
        spill_size: str | None = None,
    ) -> Self:
        """Restrict a connection to a catalogue, or to views in memory, and take ownership of it.

        The settings apply to all connections of its DuckDB instance. Data that does not fit in memory is
        written to a temporary folder, which is deleted with the session; by default it can use half of the
        free space.
        """
        spill = SpillFolder.create()
        try:
            lock_down(connection, folder, spill.temporary, memory, threads, spill_size or spill.largest())
        except duckdb.Error as error:
            connection.close()
            spill.delete()
            raise QueryError(_message(error)) from error
        return cls(connection, spill, seconds)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection and delete temporary files."""
        self._worker.shutdown()
        self._connection.close()
        self._spill.delete()

    def statements(self, text: str) -> list[duckdb.Statement]:
        """Split a text into statements; raise QueryError if one is invalid or not allowed."""
        try:
            statements = self._connection.extract_statements(as_shown(text))
        except (duckdb.Error, RuntimeError) as error:
            raise QueryError(_message(error)) from error
        for statement in statements:
            if reason := refusal(statement):
                raise QueryError(reason)
        if reason := refused_function(self._connection, text):
            raise QueryError(reason)
        return statements

    def run(self, statement: str | duckdb.Statement, parameters: Parameters = None) -> QueryResult | None:
        """Run one statement and return its rows as a stream, or None if it returns no rows.

        A text is a statement that zscope has composed: nearly always its types are portable, so it runs at
        once, and a second time only if they are not. To ask for the types first took a fifth of the
        time of the queries of pages. Statements of users run once: they can be long, or change a sequence.

        The time limit applies to the time in DuckDB, not to the time that the caller needs for the rows.
        """
        composed = isinstance(statement, str)
        if isinstance(statement, str):
            # DuckDB splits a PIVOT into preparing statements and a query.
            parts = self.statements(statement)
            if not parts or any(map(returns_rows, parts[:-1])):
                raise QueryError("exactly one statement is expected")
            for preparation in parts[:-1]:
                self.run(preparation)
            statement = parts[-1]
        if not self._as_one:
            self._left = self._seconds
        self._runs += 1
        checked = statement
        reader = self._wait(lambda: self._executed(checked, parameters, composed=composed))
        if reader is None:
            return None
        schema = with_distinct_names(reader.schema)
        return QueryResult(schema, self._batches(reader, schema, self._runs))

    @contextmanager
    def as_one(self) -> Iterator[None]:
        """Limit the time of all statements that run inside as that of one."""
        self._left = self._seconds
        self._as_one = True
        try:
            yield
        finally:
            self._as_one = False

    def reads_metrics(self, statement: duckdb.Statement) -> bool:
        """Whether a query names a view of the catalogue that is computed from others."""
        named = relations_named(statement.query) if statement.type == duckdb.StatementType.SELECT else ()
        views = (
            "SELECT count(*) FROM duckdb_views() "
            f"WHERE schema_name = '{STEPS}' AND list_contains($1, view_name) "
            f"AND view_name NOT IN (SELECT view_name FROM duckdb_views() WHERE schema_name = '{FILES}')"
        )
        return bool(named) and self._wait(lambda: self._connection.execute(views, [named]).fetchone() != (0,))

    @property
    def summarised(self) -> bool:
        """Whether the catalogue has summaries."""
        return self._wait(lambda: has_summaries(self._connection))

    def _executed(
        self, statement: duckdb.Statement, parameters: Parameters, *, composed: bool
    ) -> pa.RecordBatchReader | None:
        if not returns_rows(statement):
            self._connection.execute(statement, parameters).fetchall()
            return None
        if composed:
            result = self._connection.execute(statement, parameters)
            if not any(_AS_TEXT.search(str(kind)) for _, kind, *_ in result.description):
                return result.to_arrow_reader(BATCH_ROWS)
        text = portable(self._connection, statement, parameters)
        return self._connection.execute(text, parameters).to_arrow_reader(BATCH_ROWS)

    def _batches(self, reader: pa.RecordBatchReader, schema: pa.Schema, run: int) -> Iterator[pa.RecordBatch]:
        while True:
            if self._runs != run:  # DuckDB would silently end the stream
                raise RuntimeError("the rows of a statement cannot be read after the next one has started")
            batch = self._wait(lambda: next(reader, None))
            if batch is None:
                return
            yield pa.RecordBatch.from_arrays(batch.columns, schema=schema)

    def _wait(self, call: Callable[[], _Value]) -> _Value:
        """Return the result of a call into DuckDB, or stop it on a timeout or interrupt."""
        started = time.monotonic()
        future = self._worker.submit(call)
        try:
            # Wait in short steps, as a signal handled by another thread does not end a wait.
            while not wait([future], self._step(started)).done:
                if self._left is not None and time.monotonic() - started >= self._left:
                    self._stop(future)
                    raise QueryError(
                        f"stopped after {self._seconds:g} seconds; "
                        "select fewer days or columns, or allow more time"
                    )
            return future.result()
        except KeyboardInterrupt:
            self._stop(future)
            raise
        except (duckdb.Error, pa.ArrowException, OSError) as error:
            # Errors after the first rows come through Arrow as OSError.
            raise QueryError(_message(error)) from error
        finally:
            if self._left is not None:
                self._left = max(0.0, self._left - (time.monotonic() - started))

    def _step(self, started: float) -> float:
        if self._left is None:
            return _LONGEST_WAIT
        return min(_LONGEST_WAIT, max(0.0, self._left - (time.monotonic() - started)))

    def _stop(self, future: Future[_Value]) -> None:
        """Interrupt until the call ends: an interrupt has no effect on a statement that is just starting."""
        while not future.done():
            self._connection.interrupt()
            wait([future], _BETWEEN_INTERRUPTS)


def returns_rows(statement: duckdb.Statement) -> bool:
    """Whether a statement returns rows, unlike CREATE or SET."""
    return list(statement.expected_result_type) == [duckdb.ExpectedResultType.QUERY_RESULT]


def _message(error: Exception) -> str:
    """Return DuckDB's message, or an explanation if a restriction of the session caused it."""
    text = str(error).strip()
    if match := _REFUSED_FILE.search(text):
        if match["path"].endswith(_MISSING_FILE):
            file = match["path"].removesuffix(_MISSING_FILE)
            return f"{file}.parquet: a later change of the store deleted this file; open the store again"
        return f"{match['path']}: statements can only open the data files of the store"
    if "configuration has been locked" in text:
        return f"{text}; use the options of the command to set memory, threads and time"
    first, _, _ = text.partition("\n")
    if text.startswith("Out of Memory Error"):
        on_disk = "max_temp_directory_size" in text
        larger = "--temp-size or --memory" if on_disk else "--memory"
        return f"{first.rstrip('.')}; increase {larger}, or use fewer --threads or columns"
    if text.startswith(("INTERNAL Error", "FATAL Error")):
        return first
    return text
