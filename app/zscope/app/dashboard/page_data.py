"""Queries of the pages: guarded sessions that are reused, and results that are cached.

A result belongs to one version of the catalogue. After a load, nothing of an older version is used any more,
so new data appears by itself; a page that started with one version is drawn from that version to its end.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from threading import BoundedSemaphore, Lock
from typing import TYPE_CHECKING

import pyarrow as pa

from zscope.app.shared.filters import found_sql
from zscope.pipelines.local_time.unzoned_rows import unzoned_note, unzoned_query
from zscope.pipelines.metrics import declared, metric, needed, statement
from zscope.pipelines.metrics.metric_statements import WITH_RUNS
from zscope.pipelines.metrics.metric_statements import settings as period_settings
from zscope.pipelines.metrics.narrowing import PreparedMetrics, steps_named
from zscope.pipelines.store import catalogue_version, open_reader
from zscope.pipelines.store.session import Session
from zscope.schemas.errors import Error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime
    from pathlib import Path

    from zscope.app.shared.filters import Filters

MOST_ROWS = 100_000
"""Limit of one result: no chart and no reader needs more. Most queries have smaller limits."""
_AT_ONCE = 4
"""Queries that run at the same time, for all readers together."""
_CACHE_BYTES = 256 << 20
_LONGEST_S = 60.0
_Key = tuple[str, ...]
_Kind = tuple[str, ...]
"""The version that a session reads, and the statements that set its variables."""
_LASTING = frozenset({WITH_RUNS})
"""Variables that are set once per session: changing one recomputes the many steps that depend on it."""


class TooManyRowsError(Error):
    """A result has more rows than a page can show."""


@dataclass(frozen=True, slots=True)
class StoreSummary:
    """All loads of a store together."""

    loads: int
    rows: int
    last_load_utc: datetime | None
    synthetic: bool
    """Whether it has benchmark runs with synthetic data."""


class StoreQueries:
    """Runs the queries of all readers and keeps their results."""

    def __init__(self, store: Path, memory: str | None = None, threads: int | None = None) -> None:
        """For the store in a folder; memory and threads limit each of the queries that run at one time."""
        self.store = store
        self.memory = memory
        self.threads = threads
        self._idle: dict[_Kind, list[_PooledSession]] = {}
        self._cache: OrderedDict[_Key, pa.Table] = OrderedDict()
        self._cached_bytes = 0
        self._versions = "", ""
        """The newest version, and the one before."""
        self._running: dict[_Key, Future[pa.Table]] = {}
        """Queries that run now: who asks for the same waits for its result."""
        self._lock = Lock()
        self._slots = BoundedSemaphore(_AT_ONCE)

    def version(self) -> str:
        """Return the version of the newest catalogue; raises StoreError if there is no store."""
        version = catalogue_version(self.store)
        with self._lock:
            old = [kind for kind in self._idle if kind[0] != version]
            outdated = [pooled for kind in old for pooled in self._idle.pop(kind)]
            if version != self._versions[0]:
                # Pages that are being drawn need the results of the version before.
                self._versions = version, self._versions[0]
                for key in [key for key in self._cache if key[0] not in self._versions]:
                    self._cached_bytes -= self._cache.pop(key).nbytes
        for pooled in outdated:
            pooled.session.close()
        return version

    def rows(self, version: str, sql: str, parameters: Sequence[object] = ()) -> pa.Table:
        """Return the rows of one statement."""
        return self._result(version, sql, parameters)

    def metric_rows(
        self,
        version: str,
        name: str,
        by: Sequence[str] | None,
        filters: Filters,
        where: str = "",
        settings: Sequence[str] = (),
    ) -> pa.Table:
        """Return the rows of a metric, grouped and filtered as by `zscope metrics`."""
        definition = metric(name)
        selection = filters.selection(definition, where)
        sql = statement(definition, by, selection)
        return self._result(version, sql, (), name, [*settings, *period_settings(definition, selection)])

    def found(
        self,
        version: str,
        name: str,
        sql: str,
        filters: Filters,
        by: Sequence[str] | None = None,
        where: str = "",
    ) -> pa.Table:
        """Return the rows of a statement on `found`: the rows of a metric that match the filters."""
        definition = metric(name)
        selection = filters.selection(definition, where)
        narrowed = found_sql(definition, selection, sql, by)
        return self._result(version, narrowed, (), name, period_settings(definition, selection))

    def summary(self, version: str) -> StoreSummary:
        """Return how much is loaded, when that was, and whether it is synthetic."""
        [row] = self.rows(
            version,
            """ SELECT count(*) AS loads, coalesce(sum(rows), 0)::BIGINT AS rows, max(started_utc) AS
            last_load_utc, (SELECT coalesce(bool_or(synthetic), false) FROM run) AS synthetic FROM load WHERE
            status = 'loaded'
            """,
        ).to_pylist()
        return StoreSummary(**row)

    def _result(
        self,
        version: str,
        sql: str,
        parameters: Sequence[object],
        name: str | None = None,
        variables: Sequence[str] = (),
    ) -> pa.Table:
        key = (version, sql, repr(parameters), *variables)
        while True:
            with self._lock:
                if key in self._cache:
                    self._cache.move_to_end(key)
                    return self._cache[key]
                running = self._running.get(key)
                if running is None:
                    ours = self._running[key] = Future()
                    break
            # Another reader has asked for the same.
            try:
                return running.result()
            except CancelledError:
                continue
        try:
            lasting = tuple(text for text in variables if _variable_name(text) in _LASTING)
            with self._pooled(version, *lasting) as pooled:
                others = [text for text in variables if text not in lasting]
                table = self._keep(key, pooled.query(sql, parameters, name, others))
            ours.set_result(table)
        except Exception as error:
            ours.set_exception(error)
            raise
        finally:
            ours.cancel()  # does nothing if there is a result or an error
            with self._lock:
                del self._running[key]
        return table

    @contextmanager
    def _pooled(self, *kind: str) -> Iterator[_PooledSession]:
        with self._slots:
            with self._lock:
                idle = self._idle.get(kind)
                pooled = idle.pop() if idle else None
            pooled = pooled or _PooledSession.of(self._open(), kind[1:])
            try:
                yield pooled
            except BaseException:
                pooled.session.close()
                raise
            with self._lock:
                self._idle.setdefault(kind, []).append(pooled)

    def _open(self) -> Session:
        return Session.guard(
            open_reader(self.store), self.store, memory=self.memory, threads=self.threads, seconds=_LONGEST_S
        )

    def _keep(self, key: _Key, table: pa.Table) -> pa.Table:
        with self._lock:
            if key not in self._cache:
                self._cache[key] = table
                self._cached_bytes += table.nbytes
            while self._cached_bytes > _CACHE_BYTES:
                _, oldest = self._cache.popitem(last=False)
                self._cached_bytes -= oldest.nbytes
        return table


@dataclass(slots=True)
class _PooledSession:
    session: Session
    metrics: PreparedMetrics

    @classmethod
    def of(cls, session: Session, lasting: Sequence[str]) -> _PooledSession:
        """Return a session after running the statements that set its variables."""
        for text in lasting:
            session.run(text)
        return cls(session, PreparedMetrics(session))

    def query(
        self, sql: str, parameters: Sequence[object], name: str | None, variables: Sequence[str]
    ) -> pa.Table:
        """Run a statement: one about a metric, with variables set, or any other."""
        if name is None:
            # What small steps it reads is computed once for all statements, as for those about a metric.
            for step in sorted(steps_named(sql)):
                self.metrics.prepare(step)
            return _read(self.session, sql, parameters)
        # What depends on a variable is built for this query and not used for any other.
        set_now = {_variable_name(text) for text in variables}
        self.metrics.forget(dependent := _dependent_on(name, set_now))
        for text in variables:
            self.session.run(text)
        self.metrics.prepare(name)
        rows = _read(self.session, sql, parameters)
        for variable in set_now:
            self.session.run(f"RESET VARIABLE {variable}")
        self.metrics.forget(dependent)
        return rows


def _variable_name(text: str) -> str:
    """The name in SET VARIABLE name = value."""
    return text.split()[2]


def _dependent_on(name: str, variables: set[str]) -> set[str]:
    """Of a metric and the steps below it, those with rows that depend on variables."""
    return {
        step
        for step in needed(name)
        if variables
        & {p.name for low in needed(step) if low in declared() for p in declared()[low].parameters}
    }


def _read(session: Session, sql: str, parameters: Sequence[object]) -> pa.Table:
    result = session.run(sql, list(parameters) or None)
    assert result is not None, "a query returns rows"
    # Copied, because DuckDB reserves memory for many rows in each batch: a row would take 100 kB.
    copy = pa.BufferOutputStream()
    count = 0
    with pa.ipc.new_stream(copy, result.schema) as stream:
        for batch in result.batches:
            count += batch.num_rows
            if count > MOST_ROWS:
                raise TooManyRowsError(
                    f"more than {MOST_ROWS:,} rows; choose a shorter period or fewer systems"
                )
            stream.write_batch(batch)
    return pa.ipc.open_stream(copy.getvalue()).read_all()


@dataclass(frozen=True, slots=True)
class PageReading:
    """A query of a page, which can be asked again with other filters."""

    filters: Filters
    rows: pa.Table
    again: Callable[[Filters], pa.Table] | None
    """None if the statement does not show its filters."""


@dataclass(frozen=True, slots=True)
class PageData:
    """The data of a page: one version of the store, narrowed by the filters."""

    queries: StoreQueries
    version: str
    filters: Filters
    metrics_read: set[str] = field(default_factory=set, compare=False)
    """The metrics that the page has read until now."""
    newest: list[PageReading] = field(default_factory=list, compare=False)
    """The query that the page has run last, if any."""
    clauses: dict[str, Callable[[Filters], str]] = field(default_factory=dict, compare=False)
    """The conditions that `where` has returned, and what they are with other filters."""

    def metric(
        self, name: str, by: Sequence[str] | None = None, *, where: str = "", settings: Sequence[str] = ()
    ) -> pa.Table:
        """Return the rows of a metric that match the filters; `by` groups them by other columns."""
        self.metrics_read.add(name)
        return self._read(
            lambda filters: self.queries.metric_rows(self.version, name, by, filters, where, settings)
        )

    def found(self, name: str, sql: str, by: Sequence[str] | None = None, where: str = "") -> pa.Table:
        """Return the rows of a statement on `found`: the rows of a metric that match the filters."""
        self.metrics_read.add(name)
        return self._read(lambda filters: self.queries.found(self.version, name, sql, filters, by, where))

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> pa.Table:
        """Return the rows of a statement, which has to apply the filters itself (see `where`)."""
        self.metrics_read.update(steps_named(sql))
        rows = self.queries.rows(self.version, sql, parameters)
        applied = {text: clause for text, clause in self.clauses.items() if text in sql}
        # The longest first: a clause can be the beginning of another.
        anywhere = re.compile("|".join(map(re.escape, sorted(applied, key=len, reverse=True))))

        def again(filters: Filters) -> pa.Table:
            other = anywhere.sub(lambda found: applied[found[0]](filters), sql)
            return self.queries.rows(self.version, other, parameters)

        self.newest[:] = [PageReading(self.filters, rows, again if applied else None)]
        return rows

    def _read(self, query: Callable[[Filters], pa.Table]) -> pa.Table:
        rows = query(self.filters)
        self.newest[:] = [PageReading(self.filters, rows, query)]
        return rows

    def missing_zones(self) -> str:
        """Return the note about systems without a time zone that concern the metrics read; often empty."""
        query = unzoned_query(sorted(self.metrics_read), self.filters.systems)
        return unzoned_note(self.queries.rows(self.version, query)) if query else ""

    def summary(self) -> StoreSummary:
        """Return how much the store contains, whatever the filters."""
        return self.queries.summary(self.version)

    def without_effect(self, name: str) -> tuple[str, ...]:
        """Return the filters that are set but cannot narrow a metric."""
        return self.filters.without_effect_on(metric(name))

    def other(self) -> PageData | None:
        """Return the data of the period that figures are compared with, if one is chosen."""
        filters = self.filters.other()
        return replace(self, filters=filters, newest=[]) if filters else None

    def without_filters(self, names: Sequence[str]) -> PageData:
        """Return the data that filters of these names do not narrow."""
        return replace(self, filters=self.filters.without(names)) if names else self

    def where(self, columns: Sequence[str], clock: str = "", *further: str) -> str:
        """Return the filters as a WHERE clause for a table with these columns; empty without conditions."""

        def clause(filters: Filters) -> str:
            conditions = [*filters.conditions(columns, clock), *further]
            return f"WHERE {' AND '.join(conditions)}" if conditions else ""

        if text := clause(self.filters):
            self.clauses[text] = clause
        return text
