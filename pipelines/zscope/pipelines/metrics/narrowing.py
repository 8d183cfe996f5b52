"""Read only what an answer can depend on, and compute once what is needed several times.

The view of a metric reads everything in the store. To answer a question about a part of it, the same
statements run over temporary views of the same names: tables of events are narrowed, and the steps between
are created again over them.
"""

from __future__ import annotations

from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING

from zscope.pipelines.metrics import declared, needed
from zscope.pipelines.metrics.metric_statements import MetricSelection, moment, settings, view_sql
from zscope.pipelines.store.catalogue_file import has_summaries
from zscope.schemas.catalogue_schemas import FILES
from zscope.schemas.sql_text import identifier, literal, relations_named
from zscope.schemas.stored import stored_schema
from zscope.schemas.tables import record_table_names

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    import duckdb

    from zscope.pipelines.metrics.declarations import Metric
    from zscope.pipelines.store.session import Session

_CONNECTIONS = "smf119_zert_detail"
"""Its records of other events than the end of a connection describe what comes after them."""
_OF_INTERVALS = frozenset({"smf23_status", "smf23_log_stream"})
"""Tables of records that SMF writes at the end of an interval, whose start is not in them."""
_MARGIN = timedelta(days=1)
"""Days are days of local time, which can differ by one from days in UTC."""


@cache
def is_event_table(name: str) -> bool:
    """Whether a record table has a row for each event, not for each interval: it can have millions.

    A row is written when the event is over.

    >>> is_event_table("smf119_tcp_term"), is_event_table("smf70_cpu")
    (True, False)
    """
    if name in _OF_INTERVALS or name not in record_table_names():
        return False
    return "interval_start_local" not in stored_schema(name).names


def prepared(
    metric: Metric,
    selection: MetricSelection | None = None,
    *,
    summarised: bool = False,
    made: Collection[str] = (),
) -> list[str]:
    """Return the statements to run before a metric is queried, for all of its rows or a selection.

    Afterwards the metric and the steps it reads are temporary views over the narrowed tables of events. Small
    steps that many others read are temporary tables: DuckDB plans each use of a view again, and planning
    several layers of them would take longer than computing them. Steps below which nothing is temporary are
    read from the catalogue: to create a view again takes as long as to plan it. Steps in `made` exist
    already; so do the stored steps of a `summarised` store.
    """
    selection = selection or MetricSelection()

    def is_ready(step: Metric) -> bool:
        # The statement of a metric reads what is kept by its name, and has the SQL of all others in it.
        in_statement = step.name == metric.name and not metric.keep
        is_stored = summarised and bool(step.stored) and not in_statement
        return step.name in made or is_stored or bool(step.computed_by)

    steps = _to_make(metric, is_ready)
    narrower = _narrowed(metric, selection, steps)
    temporary = {*made, *narrower}
    texts = list(narrower.values())
    for step in steps:
        # The view of the catalogue has the same rows if nothing below it is temporary.
        if step.keep or not temporary.isdisjoint(step.inputs):
            texts.append(f"{'TABLE' if step.keep else 'VIEW'} {step.name} AS {view_sql(step)}")
            temporary.add(step.name)
    return [*settings(metric, selection), *(f"CREATE OR REPLACE TEMP {text}" for text in texts)]


def _to_make(metric: Metric, is_ready: Callable[[Metric], bool]) -> list[Metric]:
    """A metric and the steps it reads that are not ready, each after those it reads itself."""
    found: dict[str, Metric] = {}

    def visit(name: str) -> None:
        if name in found or name not in declared() or is_ready(declared()[name]):
            return
        for other in declared()[name].inputs:
            visit(other)
        found.setdefault(name, declared()[name])

    visit(metric.name)
    return list(found.values())


def _narrowed(metric: Metric, selection: MetricSelection, steps: Sequence[Metric]) -> dict[str, str]:
    """Return views of the tables of events that steps read, with only the rows needed for a selection."""
    if not (selection.systems or selection.earliest or selection.latest):
        return {}
    read = {table for step in steps for table in step.inputs}
    tables = [name for name in needed(metric.name) if name in read and is_event_table(name)]
    conditions = {table: " AND ".join(_conditions(table, selection, metric)) for table in tables}
    return {
        table: f"VIEW {table} AS SELECT * FROM {FILES}.{table} WHERE {condition}"
        for table, condition in conditions.items()
        if condition
    }


def _conditions(table: str, selection: MetricSelection, metric: Metric) -> Iterator[str]:
    steps = [declared()[name] for name in needed(metric.name) if name in declared()]
    # If rows are not those of one system, they may be made of the data of several.
    if selection.systems and "system" in metric.grain and not any(step.across_systems for step in steps):
        yield f"system IN ({', '.join(literal(system) for system in selection.systems)})"
    if any(step.looks_around for step in steps):
        return
    if selection.earliest:
        # The state of an open connection, and whether zERT was on, is recorded only once.
        earlier = " OR event_type NOT IN (3, 4)" if table == _CONNECTIONS else ""
        yield f"(day >= {_day(selection.earliest - _MARGIN)} OR day IS NULL{earlier})"
    if selection.latest:
        begun = (
            f" OR start_utc < {moment(selection.latest)}" if "start_utc" in stored_schema(table).names else ""
        )
        yield f"(day <= {_day(selection.latest + _MARGIN)} OR day IS NULL{begun})"


def _day(time: datetime) -> str:
    return f"DATE {literal(time.date().isoformat())}"


def prepare(connection: duckdb.DuckDBPyConnection, names: Iterable[str]) -> None:
    """Make metrics and the steps they read in a connection to a catalogue, over all data."""
    summarised = has_summaries(connection)
    made: set[str] = set()
    for name in names:
        if name not in made:
            for text in prepared(declared()[name], summarised=summarised, made=made):
                connection.execute(text)
            made.update(needed(name))


def steps_named(sql: str) -> list[str]:
    """Return the metrics and steps that a statement reads, each after those it reads itself.

    >>> steps_named("SELECT end_utc FROM end_of_data, (FROM load SEMI JOIN run_hour USING (system))")
    ['run_hour', 'end_of_data']
    """
    named = {*relations_named(sql)}
    return [name for name in declared() if name in named]


class PreparedMetrics:
    """The metrics that exist in a session, over all data; steps that several of them read are made once."""

    def __init__(self, session: Session) -> None:
        """Use a session in which no metric is prepared yet."""
        self.session = session
        self._made: set[str] = set()

    def prepare(self, name: str) -> None:
        """Make a metric and the steps it reads, unless they exist."""
        if name in self._made:
            return
        for text in prepared(declared()[name], summarised=self.session.summarised, made=self._made):
            self.session.run(text)
        self._made.update(needed(name))

    def forget(self, names: Iterable[str]) -> None:
        """Make metrics and steps again before they are used."""
        self._made.difference_update(names)


@contextmanager
def prepared_for(session: Session, sql: str) -> Iterator[None]:
    """Make what the metrics of a statement of a user read, and drop it after its rows were read.

    Whether a table or view of the user, or a variable, is meant with the next statement, is not known here.
    """
    steps = steps_named(sql)
    before = _temporary(session)
    if before.keys().isdisjoint(set[str]().union(*map(needed, steps))):
        metrics = PreparedMetrics(session)
        try:
            with session.as_one():
                for name in steps:
                    metrics.prepare(name)
                yield
        finally:
            for name, kind in _temporary(session).items() - before.items():
                if name in declared():
                    session.run(f"DROP {kind} temp.{identifier(name)}")
    else:
        yield


def _temporary(session: Session) -> dict[str, str]:
    """The temporary tables and views of a session, with what each is."""
    result = session.run(
        "SELECT table_name AS name, 'TABLE' AS kind FROM duckdb_tables() WHERE temporary "
        "UNION ALL SELECT view_name, 'VIEW' FROM duckdb_views() WHERE temporary AND NOT internal"
    )
    assert result is not None, "a query returns rows"
    return {row["name"].lower(): row["kind"] for batch in result.batches for row in batch.to_pylist()}
