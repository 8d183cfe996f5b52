"""Asking the store for pages: guarded sessions that are used again, answers that are kept.

An answer belongs to a version of the catalogue. When another one is there, nothing of the old is used any
more, so new data appears by itself; what a page has begun with one version it ends with.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import BoundedSemaphore, Lock
from typing import TYPE_CHECKING

import pyarrow as pa

from zscope.pipelines.metrics import declared, metric, needed, statement
from zscope.pipelines.metrics.narrowing import prepared
from zscope.pipelines.metrics.statement import settings as period_settings
from zscope.pipelines.store import catalogue_version, open_reader
from zscope.pipelines.store.session import Session

if TYPE_CHECKING:
    from zscope.app.dashboard.filters import Filters

MOST_ROWS = 100_000
"""More than that no picture shows and nobody reads; questions have limits of their own long before."""
_AT_ONCE = 4
"""Questions that run at the same time, whatever the number of readers."""
_KEPT_BYTES = 256 << 20
_LONGEST_S = 60.0
_Key = tuple[str, ...]


class TooManyRowsError(Exception):
    """An answer that is too long to show."""


@dataclass(slots=True)
class _Pooled:
    session: Session
    made: set[str] = field(default_factory=set)
    """Metrics and steps that are temporary views or tables in it, over all of the data."""

    def ask(
        self, sql: str, parameters: Sequence[object], name: str | None, variables: Sequence[str]
    ) -> pa.Table:
        """The rows of a statement, about a metric with variables set or about anything."""
        if name is None:
            return _read(self.session, sql, parameters)
        # What rests on a variable is made anew for it, and not used for any other question.
        set_now = {_variable(text) for text in variables}
        self.made -= (resting := _resting_on(name, set_now))
        for text in variables:
            self.session.run(text)
        self._prepare(name)
        rows = _read(self.session, sql, parameters)
        for variable in set_now:
            self.session.run(f"RESET VARIABLE {variable}")
        self.made -= resting
        return rows

    def _prepare(self, name: str) -> None:
        if name in self.made:
            return
        for text in prepared(metric(name), summarised=self.session.summarised, made=self.made):
            self.session.run(text)
        self.made.update(needed(name))


def _variable(text: str) -> str:
    """The name in SET VARIABLE name = value."""
    return text.split()[2]


def _resting_on(name: str, variables: set[str]) -> set[str]:
    """Of a metric and the steps below it, those of which the rows depend on variables."""
    return {
        step
        for step in needed(name)
        if variables
        & {p.name for low in needed(step) if low in declared() for p in declared()[low].parameters}
    }


class Answers:
    """The store as pages see it; one for all readers."""

    def __init__(self, store: Path, memory: str | None = None, threads: int | None = None) -> None:
        """For the store in a folder; memory and threads are limits for each of the questions at one time."""
        self.store = store
        self.memory = memory
        self.threads = threads
        self._idle: dict[str, list[_Pooled]] = {}
        self._kept: OrderedDict[_Key, pa.Table] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()
        self._turn = BoundedSemaphore(_AT_ONCE)

    def version(self) -> str:
        """What the newest catalogue is known by; raises StoreError where there is no store."""
        version = catalogue_version(self.store)
        with self._lock:
            left = [pooled for old in self._idle.keys() - {version} for pooled in self._idle.pop(old)]
        for pooled in left:
            pooled.session.close()
        return version

    def rows(self, version: str, sql: str, parameters: Sequence[object] = ()) -> pa.Table:
        """The rows of one statement."""
        return self._answer(version, sql, parameters)

    def of_metric(
        self,
        version: str,
        name: str,
        by: Sequence[str] | None,
        filters: Filters,
        where: str = "",
        settings: Sequence[str] = (),
    ) -> pa.Table:
        """The rows of a metric, grouped and narrowed as `zscope metrics` does it."""
        found = metric(name)
        selection = filters.selection(found, where)
        sql = statement(found, by, selection)
        return self._answer(version, sql, (), name, [*settings, *period_settings(found, selection)])

    def _answer(
        self,
        version: str,
        sql: str,
        parameters: Sequence[object],
        name: str | None = None,
        variables: Sequence[str] = (),
    ) -> pa.Table:
        key = (version, sql, repr(parameters), *variables)
        if (kept := self._found(key)) is not None:
            return kept
        with self._pooled(version) as pooled:
            return self._keep(key, pooled.ask(sql, parameters, name, variables))

    def _opened(self) -> Session:
        return Session.guard(
            open_reader(self.store), self.store, memory=self.memory, threads=self.threads, seconds=_LONGEST_S
        )

    @contextmanager
    def _pooled(self, version: str) -> Iterator[_Pooled]:
        with self._turn:
            with self._lock:
                idle = self._idle.get(version)
                pooled = idle.pop() if idle else None
            pooled = pooled or _Pooled(self._opened())
            try:
                yield pooled
            except BaseException:
                pooled.session.close()
                raise
            with self._lock:
                self._idle.setdefault(version, []).append(pooled)

    def _found(self, key: _Key) -> pa.Table | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
            return None

    def _keep(self, key: _Key, table: pa.Table) -> pa.Table:
        with self._lock:
            if key not in self._kept:
                self._kept[key] = table
                self._bytes += table.nbytes
            while self._bytes > _KEPT_BYTES:
                _, oldest = self._kept.popitem(last=False)
                self._bytes -= oldest.nbytes
        return table


def _read(session: Session, sql: str, parameters: Sequence[object]) -> pa.Table:
    result = session.run(sql, list(parameters) or None)
    assert result is not None, "a question has rows"
    batches: list[pa.RecordBatch] = []
    count = 0
    for batch in result.batches:
        count += batch.num_rows
        if count > MOST_ROWS:
            raise TooManyRowsError(f"more than {MOST_ROWS:,} rows; choose a shorter period or fewer systems")
        batches.append(batch)
    return pa.Table.from_batches(batches, result.schema)


@dataclass(frozen=True, slots=True)
class Data:
    """What a page is given: the answers of one version of the store, narrowed by the filters."""

    answers: Answers
    version: str
    filters: Filters

    def metric(
        self, name: str, by: Sequence[str] | None = None, *, where: str = "", settings: Sequence[str] = ()
    ) -> pa.Table:
        """The rows of a metric that the filters leave, grouped by other columns if wanted."""
        return self.answers.of_metric(self.version, name, by, self.filters, where, settings)

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> pa.Table:
        """The rows of a statement; its text is for the modules in `queries`."""
        return self.answers.rows(self.version, sql, parameters)

    def without_effect(self, name: str) -> tuple[str, ...]:
        """The filters that are set and cannot narrow a metric."""
        found = metric(name)
        columns = {column.name for column in found.columns if column.in_file}
        return self.filters.without_effect(columns, found.clock)

    def where(self, columns: Sequence[str], clock: str = "", *further: str) -> str:
        """A WHERE clause of what the filters mean for a table with these columns; empty if nothing."""
        conditions = [*self.filters.conditions(columns, clock), *further]
        return f"WHERE {' AND '.join(conditions)}" if conditions else ""
