"""The metrics computed step by step, for many cases with few rows each.

In a store each step is a view, and DuckDB plans all views below a metric again for every query: that takes up
to half a second, and a few rows are then computed in a millisecond. Here each step is a table, which one
statement fills from the tables of its inputs. A statement is planned once in each process, as no table is
created or dropped between two cases: a case is a transaction that is rolled back.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import cache
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any

import duckdb
from tests.pipelines.metric_world import table_schema, without_dictionaries

from zscope.pipelines.metrics import (
    declared,
    macros_sql,
    needed,
    settable,
    statement,
    view_sql,
)
from zscope.pipelines.metrics.metric_statements import finest_rows
from zscope.pipelines.store.history import HISTORY_SCHEMAS
from zscope.pipelines.store.parquet_files import parquet_tables
from zscope.schemas.arrow import create_table
from zscope.schemas.reference import reference_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    import pyarrow as pa
    from tests.pipelines.metrics.case_tables import Row

    from zscope.pipelines.metrics import Metric


EVIDENCE = {"finding": "evidence", "best_practice_check": "evidence_query"}
"""The metrics whose rows have a statement that shows their evidence, with its column."""
READ_BY_EVIDENCE = {"finding": ("connection_posture",)}
"""The steps that only these statements read."""
EVIDENCE_ROWS = "evidence_rows"
"""The number of rows that it returns: a column of the rows of these metrics in cases."""
_OF_ROWS_AT_HAND = "statistics_propagation,compressed_materialization"
"""The optimizers that put the least and greatest values of the rows at the time of planning into a plan."""


@cache
def step_tables() -> StepTables:
    """Return the tables of this process."""
    return StepTables()


class StepTables:
    """A database in memory with a table for each table of a store and for each metric and step."""

    def __init__(self) -> None:
        self.connection = duckdb.connect(config={"threads": "1"})
        self.connection.execute(f"SET disabled_optimizers = '{_OF_ROWS_AT_HAND}'")
        self.connection.execute("SET TimeZone = 'UTC'")
        self.connection.execute(macros_sql())
        for table in (*parquet_tables(), *HISTORY_SCHEMAS, "run", *reference_tables()):
            self.connection.execute(create_table(table, without_dictionaries(table_schema(table)))[0])
        for table, rows in reference_tables().items():
            self.connection.register("rows_to_copy", rows)
            self.connection.execute(f"INSERT INTO {table} BY NAME SELECT * FROM rows_to_copy")
            self.connection.unregister("rows_to_copy")
        for step in declared().values():
            columns = ", ".join(f"{column.name} {column.type}" for column in step.view_columns)
            self.connection.execute(f"CREATE TABLE {step.name} ({columns})")
        self._planned: dict[tuple[str, str], str] = {}
        self._set = ""
        """The parameters that are set."""
        self._empty: set[str] = set()
        """The statements of steps that have no rows if their inputs have none."""

    def rows(
        self,
        name: str,
        given: Mapping[str, Sequence[Row]],
        parameters: Mapping[str, Any] | None = None,
        by: Sequence[str] | None = None,
    ) -> list[Row]:
        """Return the rows of a metric for the rows of tables and steps; the other tables are empty.

        Those of a step that is computed in Python are the rows that it is computed from. Rows with a
        statement that shows their evidence also have the number of rows that it returns.
        """
        found = declared()[name]
        if unread := sorted(set(given) - set(needed(name))):
            raise LookupError(f"{name} does not read {', '.join(unread)}")
        if unknown := sorted(set(parameters or {}) - set(settable(name))):
            raise LookupError(f"{name} has no parameter {', '.join(unknown)}")
        with self._undone(parameters or {}):
            for table, rows in given.items():
                self._insert(table, rows)
            # Rows that are kept are grouped as they are in the table.
            itself = [name] if found.keep and by is not None else []
            filled = {table for table, rows in given.items() if rows}
            for step in (*steps_between(name, given), *itself):
                if self.fill(declared()[step], filled, has_parameters=bool(parameters)):
                    filled.add(step)
            self.execute(_last(found, by))
            returned = self._fetched()
            for row in returned if name in EVIDENCE else ():
                row[EVIDENCE_ROWS] = self._number_of_rows(row[EVIDENCE[name]])
            return returned

    @contextmanager
    def filled(
        self, fill: Callable[[duckdb.DuckDBPyConnection], AbstractSet[str]]
    ) -> Iterator[StepsOnDemand]:
        """Have the steps below metrics computed when they are asked for.

        The function fills tables, and steps that are computed in Python, and returns their names.
        """
        with self._undone({}):
            yield StepsOnDemand(self, {*fill(self.connection)})

    def fill(self, step: Metric, filled: AbstractSet[str], *, has_parameters: bool) -> int:
        """Compute a step and return the number of its rows; without rows to read, only the first time."""
        sql = view_sql(step)
        has_input = has_parameters or not filled.isdisjoint(step.inputs)
        if not has_input and sql in self._empty:
            return 0
        self.execute(f"INSERT INTO {step.name} BY NAME {sql}")
        [(rows,)] = self.connection.fetchall()
        if not has_input and not rows:
            self._empty.add(sql)
        assert isinstance(rows, int)
        return rows

    def plan_for(self, parameters: str) -> None:
        """Name the parameters that are set: statements that read them are planned again."""
        self._set = parameters

    def types(self, sql: str) -> dict[str, str]:
        """Return the columns that a statement returns, with their types."""
        return {name: kind for name, kind, *_ in self.connection.execute(f"DESCRIBE {sql}").fetchall()}

    def _fetched(self) -> list[Row]:
        names = [column[0] for column in self.connection.description or ()]
        return [dict(zip(names, row, strict=True)) for row in self.connection.fetchall()]

    def _number_of_rows(self, sql: str | None) -> int | None:
        """Return how many rows a statement returns; None without a statement."""
        return None if sql is None else len(self.connection.execute(sql).fetchall())

    @contextmanager
    def _undone(self, parameters: Mapping[str, Any]) -> Iterator[None]:
        self.connection.execute("BEGIN")
        try:
            for variable, value in parameters.items():
                self.connection.execute(f"SET VARIABLE {variable} = ?", [value])
            self.plan_for(repr(sorted(parameters.items())))
            yield
        finally:
            self.plan_for("")
            self.connection.execute("ROLLBACK")
            for variable in parameters:
                self.connection.execute(f"RESET VARIABLE {variable}")

    def _insert(self, table: str, rows: Sequence[Row]) -> None:
        """Add rows to a table; those of a reference table replace its own."""
        if rows and table in reference_tables():
            self.connection.execute(f"DELETE FROM {table}")
        for columns, alike in groupby(rows, key=tuple):
            if not columns:
                for _ in alike:
                    self.connection.execute(f"INSERT INTO {table} DEFAULT VALUES")
                continue
            values = [tuple(row.values()) for row in alike]
            marks = ", ".join(f"({', '.join('?' for _ in columns)})" for _ in values)
            named = f"{table} ({', '.join(columns)})"
            self.connection.execute(f"INSERT INTO {named} VALUES {marks}", [*chain.from_iterable(values)])

    def execute(self, sql: str) -> None:
        """Run a statement that is planned once for each set of parameters: a plan has their values in it."""
        key = (sql, self._set if "getvariable(" in sql else "")
        if key not in self._planned:
            planned = f"planned_{len(self._planned)}"
            self.connection.execute(f"PREPARE {planned} AS {sql}")
            self._planned[key] = planned
        self.connection.execute(f"EXECUTE {self._planned[key]}")


class StepsOnDemand:
    """Tables that are filled, and the steps that were computed from them: each once for each choice."""

    def __init__(self, tables: StepTables, filled: set[str]) -> None:
        self.connection = tables.connection
        self._tables = tables
        self._filled = filled
        self._computed: dict[str, str] = {}
        """The parameters that each step was computed with."""
        self._rows: dict[tuple[str, str], pa.Table] = {}
        """The rows of steps for the parameters that they were computed with before."""

    @contextmanager
    def chosen(self, settings: Collection[str], *names: str) -> Iterator[None]:
        """Have the rows of metrics for settings: SQL statements that set their parameters."""
        by_variable = {text.split()[2]: text for text in settings}
        for text in by_variable.values():
            self.connection.execute(text)
        for step in dict.fromkeys(chain.from_iterable(map(_with_steps_below, names))):
            read = [text for variable, text in by_variable.items() if variable in _settable(step)]
            self._compute(declared()[step], "; ".join(sorted(read)))
        yield
        for variable in by_variable:
            self.connection.execute(f"RESET VARIABLE {variable}")

    def rows(
        self, sql: str, names: Collection[str], settings: Collection[str] = (), values: Sequence[object] = ()
    ) -> pa.Table:
        """Return the rows of a statement on metrics, for settings; one without values is planned once."""
        with self.chosen(settings, *names):
            if values:
                self.connection.execute(sql, [*values])
            else:
                self._tables.plan_for("; ".join(sorted(settings)))
                self._tables.execute(sql)
                self._tables.plan_for("")
            return self.connection.to_arrow_table()

    def rows_of_metric(self, found: Metric, sql: str, settings: Collection[str] = ()) -> pa.Table:
        """Return the rows of a statement of a metric for settings.

        It reads the rows of the metric, instead of having its SQL in it, unless it combines them.
        """
        if found.combinable and not found.keep:
            return self.rows(sql, [name for name in found.inputs if name in declared()], settings)
        return self.rows(sql.replace(finest_rows(found), f"{found.name} AS finest"), [found.name], settings)

    def _compute(self, step: Metric, parameters: str) -> None:
        before = self._computed.get(step.name)
        if step.computed_by or before == parameters:
            return
        if before is not None:
            self._rows[step.name, before] = self.connection.execute(f"FROM {step.name}").to_arrow_table()
            self.connection.execute(f"DELETE FROM {step.name}")
        self._computed[step.name] = parameters
        if (rows := self._rows.get((step.name, parameters))) is not None:
            self.connection.register("rows_to_copy", rows)
            self.connection.execute(f"INSERT INTO {step.name} BY NAME FROM rows_to_copy")
            self.connection.unregister("rows_to_copy")
            return
        self._tables.plan_for(parameters)
        if self._tables.fill(step, self._filled, has_parameters=bool(parameters)):
            self._filled.add(step.name)
        self._tables.plan_for("")


@cache
def _with_steps_below(name: str) -> tuple[str, ...]:
    return (*steps_between(name, {}), name)


@cache
def _settable(name: str) -> frozenset[str]:
    return frozenset(settable(name))


def steps_between(name: str, given: Mapping[str, object]) -> list[str]:
    """Return the steps that a metric reads and that are not given, each after those it reads itself.

    Those that only given steps read, and those that are computed in Python, are not needed.
    """
    steps: dict[str, None] = {}

    def visit(step: str) -> None:
        for other in declared()[step].inputs:
            if other in declared() and other not in given and not declared()[other].computed_by:
                visit(other)
                steps.setdefault(other)

    visit(name)
    for step in READ_BY_EVIDENCE.get(name, ()):
        visit(step)
        steps.setdefault(step)
    return list(steps)


def _last(found: Metric, by: Sequence[str] | None) -> str:
    """The statement for the rows of a metric. Rows of steps are in no order, as that would cost time."""
    if found.computed_by:
        return found.sql
    if by is not None:
        return statement(found, by)
    if found.kind == "metric":
        return view_sql(found)
    return f"SELECT * FROM ({view_sql(found)}\n) ORDER BY {', '.join(found.grain) or 'ALL'}"
