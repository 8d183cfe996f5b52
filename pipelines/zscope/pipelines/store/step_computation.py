"""Compute the rows of stored steps that are out of date, in a database in memory, and commit their files.

The records of some days are read once for all steps. A step that is declared as shared becomes a temporary
table with the columns that other steps read at a load; what else a step reads are common table expressions of
its statement. Views would take longer: when a view is created, DuckDB binds all views that it reads again.
"""

from __future__ import annotations

import shutil
from datetime import date, timedelta
from functools import cache
from itertools import chain, groupby
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from zscope.pipelines.metrics import RUNS, declared, macros_sql, needed, no_rows_sql, stored_names, view_sql
from zscope.pipelines.metrics.running_totals import visible_rows_sql
from zscope.pipelines.runs import run_table
from zscope.pipelines.store.commits import NO_DAY_KEY, Commit, DayRows, SummaryFile, append
from zscope.pipelines.store.folder import digest_of_file, fsync_all
from zscope.pipelines.store.parquet_files import COMPRESSION, LEVEL, data_tables
from zscope.pipelines.store.python_steps import computed_rows
from zscope.pipelines.store.stored_steps import Summaries, leaves
from zscope.pipelines.store.tables import days_sql, on_days
from zscope.schemas.reference import reference_table
from zscope.schemas.sql_text import literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

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
MEMORY = "200MB"
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
        for of_round in _rounds():
            update.compute([step for step in of_round if step in steps])
        if computation.written:
            places = {folder.path / file.path for file in computation.written}
            fsync_all([*places, *{place.parent for place in places}])
            live = {file.path for step in steps for file in summaries.files(step)}
            added = tuple(file for file in computation.written if file.path in live)
            for file in computation.written:
                if file.path not in live:  # merged into another one meanwhile
                    (folder.path / file.path).unlink()
            complete = "" if update.left else summaries.definitions
            computation.written = []  # a commit can list them from here on
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

    def compute(self, steps: Sequence[str]) -> None:
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
            rows = 0
            for step in possible:
                # What a step reads can turn out to be unchanged, or to have changed.
                todo = self._summaries.days_to_compute(step, self.left) & set(batch)
                if todo and is_enough:
                    self.left.setdefault(step, set()).update(todo)
                elif todo:
                    rows = max(rows, self._computation.compute(step, sorted(todo, reverse=True)))
                    self.computed |= todo
            self._read += rows if is_old else 0

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


class _Computation:
    """Computes rows of stored steps from the files that they need, and writes them to files."""

    def __init__(self, summaries: Summaries, last_load: int, threads: int) -> None:
        self.summaries = summaries
        self._last_load = last_load
        self._count = 0
        self.written: list[SummaryFile] = []
        self._spill = summaries.folder.stage / "summaries"
        self._connection = duckdb.connect()
        self._threads = threads
        self._made: dict[str, str] = {}
        """The tables that exist in it, and the statements whose rows they have."""

    def __enter__(self) -> _Computation:
        self._connection.execute(f"SET threads = {self._threads}")
        self._connection.execute(f"SET memory_limit = '{MEMORY}'")
        self._spill.mkdir(parents=True, exist_ok=True)
        self._connection.execute(f"SET temp_directory = {literal(str(self._spill))}")
        self._connection.execute("SET TimeZone = 'UTC'")
        self._connection.execute(macros_sql())
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        self._connection.close()
        shutil.rmtree(self._spill, ignore_errors=True)
        if error is not None:
            for file in self.written:
                (self.summaries.folder.path / file.path).unlink(missing_ok=True)

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
        self._create(_COMPUTED, self._rows_sql(metric, days, tables, steps))
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
        statement = f"CREATE OR REPLACE TEMP TABLE {table} AS {select}"
        try:
            self._connection.execute(statement)
        except duckdb.OutOfMemoryException:
            # Some operators keep in memory what they cannot write to the stage.
            self._connection.execute(f"SET memory_limit = '{MORE_MEMORY}'")
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
                self._create_reference(name)
            elif metric and not metric.stored and ((shares and metric.shared) or (by_python and metric.keep)):
                self._create_shared(metric, texts, stored)
                found[name] = _shared_rows_sql(metric)
            else:
                for other in metric.inputs if metric and not metric.stored else ():
                    visit(other)
                found[name] = texts[name]

        for name in declared()[step].inputs:
            visit(name)
        return found

    def _create_shared(self, metric: Metric, texts: Mapping[str, str], stored: Metric) -> None:
        """Create the table of a shared step, unless it has the rows of the same statement already."""
        needs = {name: texts[name] for name in needed(metric.name, stored=True) if name in texts}
        whole = _with(needs)
        if self._made.get(metric.name) != whole:
            inputs = _with(self._read_by(metric.name, texts, stored))
            columns = ", ".join(metric.shared) or "*"
            self._create(_SHARED + metric.name, f"{inputs}SELECT {columns} FROM (\n{texts[metric.name]}\n)")
            self._made[metric.name] = whole

    def _create_reference(self, name: str) -> None:
        if name not in self._made:
            rows = run_table(self.summaries.folder.path) if name == RUNS else reference_table(name)
            self._connection.register("rows_to_copy", rows)
            self._connection.execute(f"CREATE TABLE {name} AS SELECT * FROM rows_to_copy")
            self._connection.unregister("rows_to_copy")
            self._made[name] = ""

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
        self._count += 1
        path = f"summaries/{step}/{summaries.state.number + 1:08}-{self._count}.parquet"
        target = summaries.folder.path / path
        target.parent.mkdir(parents=True, exist_ok=True)
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


def _shared_rows_sql(metric: Metric) -> str:
    """Return the statement that reads the table of a shared step; a column that it lacks cannot be read."""
    columns = [
        column.name
        if not metric.shared or column.name in metric.shared
        else f"error('{metric.name}: {column.name} is not shared')::{column.type} AS {column.name}"
        for column in metric.view_columns
    ]
    return f"SELECT {', '.join(columns)} FROM {_SHARED}{metric.name}"


def _with(inputs: Mapping[str, str]) -> str:
    """Return a WITH clause that reads like views: each is computed where it is read."""
    each = ",\n".join(f"{name} AS NOT MATERIALIZED (\n{text}\n)" for name, text in inputs.items())
    return f"WITH {each}\n" if each else ""


def _column_names(metric: Metric) -> str:
    return ", ".join(column.name for column in metric.view_columns)


def _rows_of(summaries: Summaries, file: SummaryFile) -> pa.Table:
    """Return the rows of a file that are not replaced."""
    rows = pq.read_table(summaries.folder.path / file.path)
    if not file.stale:
        return rows
    days = [date.fromisoformat(day) for day in file.stale if day != NO_DAY_KEY]
    stale = pc.is_in(rows["day"], value_set=pa.array(days, pa.date32()))
    if NO_DAY_KEY in file.stale:
        stale = pc.or_(stale, pc.is_null(rows["day"]))
    return rows.filter(pc.invert(stale))
