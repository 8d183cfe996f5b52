"""Compute the rows of stored steps that are out of date, in a database in memory, and commit their files.

The records of some days are read once for all steps. A step that is declared as shared becomes a temporary
table with the columns that other steps read at a load; what else a step reads are common table expressions of
its statement. Views would take longer: when a view is created, DuckDB binds all views that it reads again.

Steps that do not read each other are computed at the same time, each by a thread with a connection of its own
to the database. Two threads of DuckDB for one statement need a third more CPU time, and are hardly faster.
"""

from __future__ import annotations

import shutil
import threading
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from functools import cache
from itertools import chain, count, groupby
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from zscope.pipelines.metrics import RUNS, declared, macros_sql, needed, no_rows_sql, stored_names, view_sql
from zscope.pipelines.metrics.running_totals import visible_rows_sql
from zscope.pipelines.runs import run_table
from zscope.pipelines.side_by_side import results_side_by_side
from zscope.pipelines.store.commits import NO_DAY_KEY, Commit, DayRows, SummaryFile, append
from zscope.pipelines.store.file_checks import summary_problem
from zscope.pipelines.store.folder import DamagedStoreError, digest_of_file, fsync_all
from zscope.pipelines.store.history import HISTORY_SCHEMAS, history_table
from zscope.pipelines.store.parquet_files import COMPRESSION, LEVEL, data_tables
from zscope.pipelines.store.python_steps import computed_rows
from zscope.pipelines.store.stored_steps import Summaries, leaves
from zscope.pipelines.store.tables import days_sql, on_days
from zscope.schemas.reference import reference_table
from zscope.schemas.sql_text import literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from zscope.pipelines.metrics import Metric
    from zscope.pipelines.store.commits import State
    from zscope.pipelines.store.folder import Folder

ROWS_AT_ONCE = 2_500_000
"""Limit of the rows of tables that are read at once, unless a single day has more."""
ROWS_IN_A_LOAD = 4_000_000
"""Limit of the rows that are read after one load, besides those for the days that it touched: an old store is
brought up to date over several loads."""
MERGED_ROWS = 1_000_000
"""Files with more rows are not merged with others."""
ROWS_IN_A_GROUP = 61_440
"""Rows of a row group in the files."""
MEMORY = "250MB"
"""Limit of DuckDB's memory; what does not fit is written to the stage."""
MORE_MEMORY = "2GB"
"""The limit for a statement that needs more."""
_FROM_PYTHON = "rows_from_python"
_COMPUTED = "computed_rows"
"""Table with the rows that were just computed."""
_SHARED = "shared_"
"""What the names of the tables of shared steps begin with."""
_ONE_DAY = timedelta(days=1)


@cache
def _rounds() -> tuple[tuple[str, ...], ...]:
    """Return the stored steps in groups that are computed one after the other.

    The steps of a round read each other's rows of the same day at most, so they are computed together for
    some days at a time. A result reads rows of many days.
    """
    numbers: dict[str, int] = {}
    for step in stored_names():
        metric = declared()[step]
        numbers[step] = max(
            (
                numbers[leaf] + (metric.stored != "day" or declared()[leaf].stored != "day" or any(window))
                for leaf, window in leaves(step).items()
                if leaf in numbers
            ),
            default=0,
        )

    def order(step: str) -> tuple[int, bool]:
        return numbers[step], declared()[step].stored == "result"

    return tuple(tuple(steps) for _, steps in groupby(sorted(stored_names(), key=order), order))


def update_summaries(
    folder: Folder,
    state: State,
    before: int,
    last_load: int,
    steps: tuple[str, ...],
    *,
    everything: bool,
    threads: int,
) -> tuple[set[str], set[str]]:
    """Compute what is out of date and commit it; return the days that were computed, and those left.

    Days that were touched by commits after number `before` are always computed, the others up to a limit,
    or if `everything` is to be computed.
    """
    summaries = Summaries(folder, state, steps)
    with _Computation(summaries, last_load, threads) as computation:
        update = _Update(computation, days_touched(state, before), everything=everything)
        update.compute_all(steps)
        if computation.written:
            places = {folder.path / file.path for file in computation.written}
            fsync_all([*places, *{place.parent for place in places}])
            written = {file.path for file in computation.written}
            added = tuple(file for step in steps for file in summaries.files(step) if file.path in written)
            for path in written - {file.path for file in added}:
                (folder.path / path).unlink()  # it was merged into another one meanwhile
            complete = "" if update.left else summaries.definitions
            computation.uncommitted = []  # a commit can list them from here on
            append(folder, state, Commit("summarise", summaries=added, summaries_of=complete))
    return update.computed, {day for days in update.left.values() for day in days}


def days_touched(state: State, before: int) -> set[str]:
    """Return the days with data that commits after a number have changed, and the key of what has no day."""
    days = {day for of in state.changed.values() for day, number in of.items() if number > before}
    return days | {NO_DAY_KEY} if days else days


class _Update:
    """Computes what is out of date, round by round."""

    def __init__(self, computation: _Computation, touched: set[str], *, everything: bool) -> None:
        self._computation = computation
        self._summaries = computation.summaries
        self._touched = touched
        self._everything = everything
        self._read = 0
        self.computed: set[str] = set()
        self.left: dict[str, set[str]] = {}
        """The days of steps that are left to another load."""

    def compute_all(self, steps: Sequence[str]) -> None:
        """Compute what is out of date of all steps: at once, or round by round if the rows are too many."""
        wanted = self._summaries.out_of_date()
        days = {day for of_step in wanted.values() for day in of_step}
        if sum(self._summaries.rows_read(list(wanted), day) for day in days) <= ROWS_AT_ONCE:
            self._compute(list(wanted), days)
            return
        for of_round in _rounds():
            self._compute_round([step for step in of_round if step in steps])

    def _compute_round(self, steps: Sequence[str]) -> None:
        """Compute the steps of one round, for some days at a time, the days of the change first."""
        wanted: dict[str, set[str]] = {}
        for step in steps:
            if days := self._summaries.days_to_compute(step, self.left | wanted):
                wanted[step] = days
        for step, days in wanted.items():
            if not leaves(step).keys().isdisjoint(self.left):
                self.left[step] = days
        possible = [step for step in wanted if step not in self.left]
        days = {day for step in possible for day in wanted[step]}
        new, old = days & self._touched, days - self._touched
        for batch in chain(self._batches(possible, new), self._batches(possible, old)):
            is_old = self._touched.isdisjoint(batch)
            is_enough = is_old and self._read >= ROWS_IN_A_LOAD and not self._everything
            if is_enough:
                for step in possible:
                    if todo := self._summaries.days_to_compute(step, self.left) & set(batch):
                        self.left.setdefault(step, set()).update(todo)
                continue
            read = self._compute(possible, set(batch))
            self._read += read if is_old else 0

    def _compute(self, steps: Sequence[str], days: set[str]) -> int:
        """Compute what is out of date of steps on some days; return the rows read, of the step with most."""

        def compute(step: str) -> int:
            # What a step reads can turn out to be unchanged, or to have changed.
            todo = self._summaries.days_to_compute(step, self.left) & days
            self.computed |= todo
            return self._computation.compute(step, sorted(todo, reverse=True)) if todo else 0

        return max(self._computation.compute_all(steps, compute), default=0)

    def _batches(self, steps: Sequence[str], days: set[str]) -> Iterator[list[str]]:
        """Split days into batches of a limited number of rows, the newest first."""
        batch: list[str] = []
        rows = 0
        for day in sorted(days, reverse=True):
            count = self._summaries.rows_read(steps, day)
            if batch and rows + count > ROWS_AT_ONCE:
                yield batch
                batch, rows = [], 0
            batch.append(day)
            rows += count
        if batch:
            yield batch


class _MadeTables:
    """The tables in the database; one that several threads need is created by the first of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._making: dict[tuple[str, str], threading.Lock] = defaultdict(threading.Lock)
        self._tables: dict[tuple[str, str], str] = {}
        """By step and the statement whose rows they have."""
        self._numbers = count(1)

    def table(self, step: str, statement: str, create: Callable[[str], None]) -> str:
        """Return the name of a table, which is created under a new name if there is none."""
        with self._lock:
            making = self._making[step, statement]
        with making:
            if (step, statement) not in self._tables:
                table = f"{_SHARED}{step}_{next(self._numbers)}"
                create(table)
                self._tables[step, statement] = table
            return self._tables[step, statement]

    def replaced(self) -> list[str]:
        """Remove all tables of a step but the newest; return their names. No thread can be reading them."""
        newest = dict(self._tables.keys())
        old = [key for key in self._tables if newest[key[0]] != key[1]]
        return [self._tables.pop(key) for key in old]


class _Computation:
    """Computes rows of stored steps from the files that they need, and writes them to files."""

    def __init__(self, summaries: Summaries, last_load: int, threads: int) -> None:
        self.summaries = summaries
        self._last_load = last_load
        self.written: list[SummaryFile] = []
        self.uncommitted: list[Path] = []
        """Files that have been started, which an error deletes."""
        self._spill = summaries.folder.stage / "summaries"
        self._database = duckdb.connect()
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads, "zscope-steps", self._connect)
        self._of_thread = threading.local()
        self._connections: list[duckdb.DuckDBPyConnection] = []
        """Those of all threads."""
        self._made = _MadeTables()
        self._memory = MEMORY

    def __enter__(self) -> _Computation:
        self._database.execute("SET threads = 1")
        self._database.execute(f"SET memory_limit = '{self._memory}'")
        self._spill.mkdir(parents=True, exist_ok=True)
        self._database.execute(f"SET temp_directory = {literal(str(self._spill))}")
        self._database.execute("SET GLOBAL TimeZone = 'UTC'")
        # A statement names some files several times.
        self._database.execute("SET parquet_metadata_cache = true")
        self._database.execute(macros_sql())
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if error is not None:
            for connection in self._connections:
                connection.interrupt()
        self._pool.shutdown(cancel_futures=True)
        for connection in self._connections:
            connection.close()
        self._database.close()
        shutil.rmtree(self._spill, ignore_errors=True)
        if error is not None:
            for path in self.uncommitted:
                path.unlink(missing_ok=True)

    def _connect(self) -> None:
        """Open the connection of this thread."""
        self._of_thread.connection = self._database.cursor()
        self._connections.append(self._of_thread.connection)

    @property
    def _connection(self) -> duckdb.DuckDBPyConnection:
        """The connection of this thread, which sees all tables and has temporary ones of its own."""
        connection: duckdb.DuckDBPyConnection = self._of_thread.connection
        return connection

    def compute_all(self, steps: Sequence[str], compute: Callable[[str], int]) -> list[int]:
        """Call a function for each step, after those that the step reads; return the results."""
        results = results_side_by_side(self._pool, compute, {step: leaves(step).keys() for step in steps})
        for table in self._made.replaced():
            self._database.execute(f"DROP TABLE {table}")
        return results

    def compute(self, step: str, days: list[str]) -> int:
        """Compute the rows of some days and write them to a file, together with small files of the step.

        Returns the number of rows of tables that were read.
        """
        metric = declared()[step]
        tables = self.summaries.tables_for(step, days)
        steps = dict(self.summaries.days_for(step, days))
        if metric.days_from:
            chosen = self._days_from(metric, tables)
            tables |= {name: tables[name] & chosen for name in tables if name not in metric.all_days}
            steps |= {
                name: chosen
                for name in steps
                if declared()[name].stored == "day" and name not in metric.all_days
            }
        read = self.summaries.rows_of(tables)
        self._create(f"TEMP TABLE {_COMPUTED}", self._rows_sql(metric, days, tables, steps))
        contents = self._contents(metric, days)
        known = self.summaries.stored_days(step)
        number = self.summaries.state.number + 1
        computed = {
            day: DayRows(
                number,
                known[day].changed if day in known and known[day].content == contents[day] else number,
                contents[day],
            )
            for day in days
        }
        self._write(step, computed)
        self._connection.execute(f"DROP TABLE {_COMPUTED}")
        if self._threads > 1:
            # Threads that DuckDB has not started keep what they have freed, until a limit is set.
            self._connection.execute(f"SET memory_limit = '{self._memory}'")
        return read

    def _rows_sql(
        self,
        metric: Metric,
        days: list[str],
        tables: Mapping[str, set[str]],
        steps: Mapping[str, set[str] | None],
    ) -> str:
        """Return the statement for the rows of a step on some days."""
        if metric.empty_without and not any(self._has_rows(name, tables) for name in metric.empty_without):
            return no_rows_sql(metric)
        inputs = self._inputs(metric.name, tables, steps)
        condition = on_days(days) if metric.stored == "day" else "true"
        order = " ORDER BY day" if metric.stored == "day" else ""
        # DuckDB writes a large table to the stage, so that memory has only a part of it at any time.
        text = view_sql(metric)
        if metric.computed_by:
            self._register_rows(metric, inputs)
            text = f"FROM {_FROM_PYTHON}"
        return f"{inputs}SELECT {_column_names(metric)} FROM (\n{text}\n) WHERE {condition}{order}"

    def _has_rows(self, table: str, tables: Mapping[str, set[str]]) -> bool:
        if table == RUNS:
            return bool(run_table(self.summaries.folder.path).num_rows)
        return self.summaries.rows_of({table: tables.get(table, set())}) > 0

    def _days_from(self, metric: Metric, tables: Mapping[str, set[str]]) -> set[str]:
        """Return the days of inputs that the rows of a step depend on."""
        steps = dict(self.summaries.days_for(metric.days_from, []))
        inputs = self._inputs(metric.days_from, tables, steps)
        ranges = self._connection.execute(
            f"{inputs}SELECT first_day, last_day FROM (\n{view_sql(declared()[metric.days_from])}\n)"
        ).fetchall()
        found = {NO_DAY_KEY}
        for first, last in ranges:
            found.update((first + number * _ONE_DAY).isoformat() for number in range((last - first).days + 1))
        return found

    def _register_rows(self, metric: Metric, inputs: str) -> None:
        """Register the rows of a step that is computed in Python."""
        stored = [_rows_of(self.summaries, file) for file in self.summaries.files(metric.name)]
        given = self._connection.execute(f"{inputs}FROM (\n{metric.sql}\n)").to_arrow_table()
        schema = self._connection.execute(no_rows_sql(metric)).to_arrow_table().schema
        rows = computed_rows(metric, given, schema, pa.concat_tables(stored) if stored else None)
        self._connection.register(_FROM_PYTHON, rows)

    def _create(self, table: str, select: str) -> None:
        statement = f"CREATE {table} AS {select}"
        try:
            self._connection.execute(statement)
        except duckdb.OutOfMemoryException:
            # Some operators keep in memory what they cannot write to the stage.
            self._memory = MORE_MEMORY
            self._connection.execute(f"SET memory_limit = '{self._memory}'")
            self._connection.execute(statement)

    def _inputs(self, step: str, tables: Mapping[str, set[str]], steps: Mapping[str, set[str] | None]) -> str:
        """Return the WITH clause of a step: tables and stored steps on these days, and other steps.

        Shared steps are tables afterwards, as is what several steps computed in Python read.
        """
        texts: dict[str, str] = {}
        for name in needed(step, stored=True)[:-1]:
            if name in tables:
                recorded = days_sql(self.summaries.folder, self.summaries.state, name, tables[name])
                texts[name] = visible_rows_sql(name, f"(\n{recorded}\n)")
            elif name in steps:
                texts[name] = self.summaries.rows_sql(name, steps[name])
            elif name in declared():
                texts[name] = view_sql(declared()[name])
        return _with(self._read_by(step, texts, declared()[step]))

    def _read_by(self, step: str, texts: Mapping[str, str], stored: Metric) -> dict[str, str]:
        """Return the statements of all that a step needs for a stored step, each after those it needs.

        What other stored steps read as well is read from tables, which are created here.
        """
        found: dict[str, str] = {}
        by_python = bool(stored.computed_by)
        shares = stored.stored == "day" or bool(stored.days_from)  # other results read few days

        def visit(name: str) -> None:
            if name in found:
                return
            metric = declared().get(name)
            if name not in texts:
                self._create_small_table(name)
            elif metric and not metric.stored and ((shares and metric.shared) or (by_python and metric.keep)):
                found[name] = _shared_rows_sql(metric, self._shared_table(metric, texts, stored))
            else:
                for other in metric.inputs if metric and not metric.stored else ():
                    visit(other)
                found[name] = texts[name]

        for name in declared()[step].inputs:
            visit(name)
        return found

    def _shared_table(self, metric: Metric, texts: Mapping[str, str], stored: Metric) -> str:
        """Return the table with the rows of a shared step, which is created once for each statement."""
        needs = {name: texts[name] for name in needed(metric.name, stored=True) if name in texts}

        def create(table: str) -> None:
            inputs = _with(self._read_by(metric.name, texts, stored))
            columns = ", ".join(metric.shared) or "*"
            self._create(f"TABLE {table}", f"{inputs}SELECT {columns} FROM (\n{texts[metric.name]}\n)")

        return self._made.table(metric.name, _with(needs), create)

    def _create_small_table(self, name: str) -> None:
        """Create a table without files of its own: runs, what is known of loads, or a reference table."""

        def create(_: str) -> None:
            if name == RUNS:
                rows = run_table(self.summaries.folder.path)
            elif name in HISTORY_SCHEMAS:
                state = self.summaries.state
                rows = history_table(name, state, state.loads.keys())
            else:
                rows = reference_table(name)
            self._connection.register("rows_to_copy", rows)
            self._connection.execute(f"CREATE TABLE {name} AS SELECT * FROM rows_to_copy")
            self._connection.unregister("rows_to_copy")

        self._made.table(name, "", create)

    def _contents(self, metric: Metric, days: list[str]) -> dict[str, str]:
        """Return a digest of the computed rows of each day, for steps that others read."""
        contents = dict.fromkeys(days, "")
        if metric.name in _read_by_others():
            day = f"coalesce(day::VARCHAR, '{NO_DAY_KEY}')" if metric.stored == "day" else "''"
            contents |= dict(
                self._connection.execute(
                    f"SELECT {day}, sum(hash({_column_names(metric)})::HUGEINT)::VARCHAR "
                    f"FROM {_COMPUTED} GROUP BY 1"
                ).fetchall()
            )
        return contents

    def _write(self, step: str, days: dict[str, DayRows]) -> None:
        """Write the computed rows to a file, with the rows of other days from small files of the step."""
        summaries = self.summaries
        [[count]] = self._connection.execute(f"SELECT count(*) FROM {_COMPUTED}").fetchall()
        computed = self._connection.execute(f"FROM {_COMPUTED}").to_arrow_reader(ROWS_IN_A_GROUP)
        merged = []
        for file in sorted(summaries.files(step), key=lambda file: file.rows):
            if file.rows > 2 * max(count, 1000) or count + file.rows > MERGED_ROWS:
                break
            left = file.without(set(days))
            if left.days:
                merged.append(left)
            days |= left.days
            count += file.rows
        number = 1 + sum(file.step == step for file in self.written)
        path = f"summaries/{step}/{summaries.state.number + 1:08}-{number}.parquet"
        target = summaries.folder.path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        self.uncommitted.append(target)
        rows = 0
        with pq.ParquetWriter(
            target, computed.schema, compression=COMPRESSION, compression_level=LEVEL
        ) as writer:
            others = (_rows_of(summaries, file).cast(computed.schema) for file in merged)
            for part in chain((pa.Table.from_batches([batch]) for batch in computed), others):
                writer.write_table(part)
                rows += part.num_rows
        written = SummaryFile(
            path=path, step=step, rows=rows, bytes=target.stat().st_size,
            digest=digest_of_file(target), definition=summaries.definition(step), days=days,
            load_id=self._last_load,
        )  # fmt: skip
        summaries.add(written)
        self.written.append(written)


@cache
def _read_by_others() -> frozenset[str]:
    return frozenset(leaf for step in stored_names() for leaf in leaves(step)) - frozenset(data_tables())


def _shared_rows_sql(metric: Metric, table: str) -> str:
    """Return the statement that reads the table of a shared step; a column that it lacks cannot be read."""
    columns = [
        column.name
        if not metric.shared or column.name in metric.shared
        else f"error('{metric.name}: {column.name} is not shared')::{column.type} AS {column.name}"
        for column in metric.view_columns
    ]
    return f"SELECT {', '.join(columns)} FROM {table}"


def _with(inputs: Mapping[str, str]) -> str:
    """Return a WITH clause that reads like views: each is computed where it is read."""
    each = ",\n".join(f"{name} AS NOT MATERIALIZED (\n{text}\n)" for name, text in inputs.items())
    return f"WITH {each}\n" if each else ""


def _column_names(metric: Metric) -> str:
    return ", ".join(column.name for column in metric.view_columns)


def _rows_of(summaries: Summaries, file: SummaryFile) -> pa.Table:
    """Return the rows of a file that are not replaced; raise DamagedStoreError if the file was changed."""
    if problem := summary_problem(summaries.folder, file):
        raise DamagedStoreError(
            f"{summaries.folder.path / file.path}: {problem}; zscope store repair restores it"
        )
    rows = pq.read_table(summaries.folder.path / file.path)
    if not file.stale:
        return rows
    days = [date.fromisoformat(day) for day in file.stale if day != NO_DAY_KEY]
    stale = pc.is_in(rows["day"], value_set=pa.array(days, pa.date32()))
    if NO_DAY_KEY in file.stale:
        stale = pc.or_(stale, pc.is_null(rows["day"]))
    return rows.filter(pc.invert(stale))
