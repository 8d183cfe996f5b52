"""A store in Python: its tables and metrics as DuckDB relations, polars frames or Arrow tables."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Self, cast

import pyarrow as pa

from zscope.parsers.api import DataWarning
from zscope.parsers.lazy import imported_polars
from zscope.parsers.notebook_html import html_table
from zscope.parsers.results import UnknownTableError
from zscope.pipelines.local_time.unzoned_rows import unzoned_note, unzoned_query
from zscope.pipelines.metrics import (
    MetricQueryError,
    declared,
    metric_names,
    settable,
    statement,
)
from zscope.pipelines.metrics.narrowing import prepare, prepared, steps_named
from zscope.pipelines.metrics.query_options import (
    KNOWN_SYSTEMS,
    answering,
    check_systems,
    condition_check,
    day_or_moment,
    grouping,
    like_metric,
    selected,
    set_statement,
    wrong_condition,
)
from zscope.pipelines.settings import Zones
from zscope.pipelines.store import StoreError
from zscope.pipelines.store.catalogue_file import ABOUT, has_summaries, use_catalogue
from zscope.pipelines.store.reader import open_reader
from zscope.schemas.catalogue_schemas import EVERY_NAME, as_shown
from zscope.schemas.field_catalog import search
from zscope.schemas.suggestions import suggestion, with_suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import date
    from types import TracebackType

    import polars as pl
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

    from zscope.pipelines.metrics import Metric

_ZONES = """
SELECT system, arg_max(zone, load_id) FROM system_clock
WHERE system IS NOT NULL AND zone IS NOT NULL GROUP BY system
"""
_SHOWN = 10
_OPTIONS = ("by", "from_", "to", "system", "where")
"""The options that all metrics have."""


class Names(Mapping[str, str]):
    """The names of tables with their meaning, or of metrics with their question."""

    def __init__(self, kind: str, meanings: dict[str, str]) -> None:
        self._kind = kind
        self._meanings = meanings

    def __getitem__(self, name: str) -> str:
        """Return what a table has, or the question that a metric answers."""
        try:
            return self._meanings[name]
        except KeyError:
            hint = suggestion(name, self._meanings, f"there are {len(self)}")
            raise UnknownTableError(f"there is no {self._kind} {name!r}; {hint}") from None

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._meanings)

    def __len__(self) -> int:
        """Return the number of names."""
        return len(self._meanings)

    def __repr__(self) -> str:
        """Return the first names."""
        more = f" and {len(self) - _SHOWN} more" if len(self) > _SHOWN else ""
        return f"<{len(self)} {self._kind}s: {', '.join(list(self)[:_SHOWN])}{more}>"

    def _repr_html_(self) -> str:
        return html_table((self._kind, "meaning"), list(self._meanings.items()))

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)


class EachTimeAnew:
    """A relation that is created again, with a connection of its own, whenever it is used."""

    def __init__(self, create: Callable[[], DuckDBPyRelation]) -> None:
        self._create = create

    def __getattr__(self, name: str) -> object:
        """Return an attribute of a new relation."""
        return getattr(self._create(), name)


class Store:
    """A store as it was when it was opened: loads that arrive later are not seen until `refresh`.

    What `table`, `sql` and `metric` return are DuckDB relations. They are evaluated when their rows are read:
    `.pl()` and `.df()` return a polars or pandas frame, `.to_arrow_table()` an Arrow table, and whatever
    reads Arrow streams takes them as they are. Relations can also be filtered, sorted and aggregated.

    Each of them has a connection of its own, so that any number can be read at the same time, also by
    several threads. To join two of them, name tables in `sql`, or frames: `mix = store.metric(...).pl()` and
    `store.sql("SELECT ... FROM smf119_zert_detail JOIN mix USING (system)")`; or create them on one
    connection, that of `duckdb`.

    Files of the data that later changes replace are kept for some time (`grace_s` in the settings); a query
    on an older store that needs one of them fails, and `refresh` helps.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        """The folder of the store."""
        self._connection = self._opened()
        self._shared: DuckDBPyConnection | None = None

    def _opened(self) -> DuckDBPyConnection:
        connection = open_reader(self.path)
        # As on the command line; otherwise times and days would be those of the time zone of this computer.
        connection.execute("SET GLOBAL TimeZone = 'UTC'")
        # Statements can name frames and tables of the caller, as with DuckDB itself.
        connection.execute("SET GLOBAL python_scan_all_frames = true")
        return connection

    def _own(self, opened: DuckDBPyConnection | None = None) -> DuckDBPyConnection:
        """Return another connection to the same snapshot.

        A connection has one result at a time: another query would end a stream that is still being read, and
        its remaining rows would be lost without an error.
        """
        connection = (opened or self._connection).cursor()
        use_catalogue(connection)
        return connection

    def refresh(self) -> Self:
        """Show the newest data, without a load that still works. Earlier relations stay as they are."""
        self._connection, self._shared = self._opened(), None
        return self

    def close(self) -> None:
        """Close the store; relations that were made before can no longer be read."""
        if self._shared is not None:
            self._shared.close()
        self._connection.close()

    def __enter__(self) -> Self:
        """Return the store."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connection."""
        self.close()

    @property
    def commit(self) -> int:
        """Return the number of the commit that is shown."""
        return int(self._value(f"SELECT commit_no FROM {ABOUT}"))

    @property
    def tables(self) -> Names:
        """Return the tables with their meaning: of data, codes, published results and loads."""
        rows = self._own().execute(EVERY_NAME).fetchall()
        return Names("table", {name: meaning or "" for name, meaning in rows if name not in declared()})

    @property
    def metrics(self) -> Names:
        """Return the metrics with the question that each of them answers."""
        return Names("metric", {name: declared()[name].question for name in metric_names()})

    def parameters(self, metric: str) -> dict[str, str]:
        """Return the parameters of a metric with their meaning, type and default."""
        _check_metric(metric)
        return {
            name: f"{parameter.meaning} {parameter.type}, default {parameter.default}"
            for name, (_, parameter) in settable(metric).items()
        }

    def table(self, name: str) -> DuckDBPyRelation:
        """Return a table, or a metric at its grain."""
        if name not in declared() and name not in self.tables:
            known = [*self.tables, *metric_names()]
            hint = suggestion(name, known, "the attribute `tables` of the store has all")
            raise UnknownTableError(f"there is no table {name!r}; {hint}")
        return self._own().table(name)

    def lazy(self, name: str) -> pl.LazyFrame:
        """Return a table as a polars `LazyFrame`; DuckDB reads only what its query needs.

        It needs polars: `pip install "zscope[polars]"`.
        """
        imported_polars()
        from duckdb.polars_io import duckdb_source

        schema = self.table(name).limit(0).pl().schema
        opened = self._connection
        # polars reads several parts of one query at the same time.
        anew = EachTimeAnew(lambda: self._own(opened).table(name))
        return duckdb_source(cast("DuckDBPyRelation", anew), schema)

    def sql(self, text: str) -> DuckDBPyRelation:
        """Return the rows of a statement in the SQL of DuckDB. It can name frames of the caller.

        What metrics after FROM and JOIN read is computed at once, the statement when its rows are read.
        """
        from duckdb import InvalidInputException

        connection = self._own()
        # DuckDB takes seconds to plan several layers of the views of the catalogue.
        prepare(connection, steps_named(text))
        try:
            return connection.sql(as_shown(text))
        except InvalidInputException as error:
            if "another Connection" in str(error):
                error.add_note(
                    "Relations of a store have connections of their own. Name a frame in the statement: "
                    ".pl(), .df() or .to_arrow_table() of the relation. Relations of the connection "
                    "store.duckdb() can be joined."
                )
            raise

    def metric(
        self,
        name: str,
        *,
        by: str | Sequence[str] | None = None,
        from_: str | date | None = None,
        to: str | date | None = None,
        system: str | Sequence[str] = (),
        where: str = "",
        **parameters: object,
    ) -> DuckDBPyRelation:
        """Return the rows of a metric, with the options of `zscope metrics`.

        `by` has the columns to group by (`"system,day"`, a list, or `"all"` for one row), `from_` and `to`
        the period with both days, `where` an SQL condition. Parameters of the metric are keyword arguments,
        such as `price_per_msu=120`; the method `parameters` lists them.
        """
        _check_metric(name)
        _check_parameters(name, parameters)
        keys = grouping(by)
        systems = (system,) if isinstance(system, str) else tuple(system)
        begin, end = (day_or_moment(day) if isinstance(day, str) else day for day in (from_, to))
        metric = answering(declared()[name], keys, begin, end)
        selection = selected(systems, begin, end, where)
        query = statement(metric, keys, selection)
        settings = [set_statement(metric, key, str(value)) for key, value in parameters.items()]
        connection = self._own()
        if systems:
            check_systems(systems, [found for (found,) in connection.execute(KNOWN_SYSTEMS).fetchall()])
        if where:
            self._check_condition(connection, metric, where)
        for text in (*settings, *prepared(metric, selection, summarised=has_summaries(connection))):
            connection.execute(text)
        if (zones := unzoned_query((name,), systems)) and (
            note := unzoned_note(connection.execute(zones).to_arrow_table())
        ):
            warnings.warn(note, DataWarning, stacklevel=2)
        return connection.sql(query)

    def _check_condition(self, connection: DuckDBPyConnection, metric: Metric, where: str) -> None:
        from duckdb import Error

        try:
            connection.execute(condition_check(metric, where))
        except Error as error:
            raise wrong_condition(metric, where, error) from error

    def duckdb(self) -> DuckDBPyConnection:
        """Return one connection to the store, on which all tables, metrics and relations can be joined.

        It is the same until `refresh`, and can change nothing. A connection has one result at a time: read
        the rows of a relation before those of the next. Temporary tables and views are possible.
        """
        if self._shared is None:
            self._shared = self._own()
        return self._shared

    def loads(self) -> DuckDBPyRelation:
        """Return the loads: file, records, rows, issues and when."""
        return self.sql("FROM load ORDER BY load_id")

    def issues(self) -> DuckDBPyRelation:
        """Return what could not be decoded or loaded, with file, record, byte and field."""
        return self.sql("FROM issue UNION ALL BY NAME FROM input_issue ORDER BY load_id, file")

    def gaps(self) -> pa.Table:
        """Return the intervals that are missing in SMF 70 records and RMF reports, also between loads.

        The table `load_gap` has those inside each load, as they were when it was loaded.
        """
        from zscope.pipelines.ingest.gaps import GAP_SCHEMA, INTERVAL_COLUMNS, INTERVAL_TABLES, find_gaps

        found = [GAP_SCHEMA.empty_table()]
        for table in INTERVAL_TABLES:
            rows = self._own().table(table).project(", ".join(INTERVAL_COLUMNS)).to_arrow_table()
            found.append(find_gaps(rows, table, Zones(self._zones())))
        return pa.concat_tables(found).sort_by([("system", "ascending"), ("from_local", "ascending")])

    def _zones(self) -> dict[str, str]:
        """Return the zone with which the last load of each system was stored."""
        return dict(self._own().execute(_ZONES).fetchall())

    def fields(self, pattern: str = "") -> pa.Table:
        """Return the fields of all tables whose names or meaning match every word of a pattern."""
        return search(pattern.split())

    def _value(self, query: str) -> int:
        row = self._own().execute(query).fetchone()
        assert row is not None, query
        return int(row[0])

    def __repr__(self) -> str:
        """Return the folder, the commit, and the number of loads and of their issues."""
        loads = self._value("SELECT count(*) FROM load")
        issues = self._value("SELECT coalesce(sum(issues), 0) FROM load")
        counted = f"{loads:,} loads, {issues:,} issue{'' if issues == 1 else 's'}"
        return f"<Store {self.path}: commit {self.commit}, {counted}>"

    def _repr_html_(self) -> str:
        rows = [(name, f"{count:,}") for name, count in self._filled()]
        return f"<p>{escape(repr(self))}</p>{html_table(('table', 'rows'), rows)}"

    def _filled(self) -> list[tuple[str, int]]:
        query = "SELECT table_name, sum(rows)::BIGINT FROM load_table GROUP BY ALL HAVING sum(rows) > 0"
        return self._own().execute(f"{query} ORDER BY table_name").fetchall()


def _check_metric(name: str) -> None:
    # A step of other metrics is no answer to a question, and is not suggested; whoever knows it can have it.
    if name not in declared():
        hint = like_metric(name, "the attribute `metrics` of the store has all")
        raise UnknownTableError(f"there is no metric {name!r}; {hint}")


def _check_parameters(metric: str, parameters: dict[str, object]) -> None:
    known = settable(metric)
    for name in parameters:
        if name not in known:
            has = f"its parameters are {', '.join(known)}" if known else "it has no parameters"
            message = f"{metric} has no parameter or option {name!r}; {has}"
            raise MetricQueryError(with_suggestion(message, name, [*known, *_OPTIONS]))


__all__ = ["MetricQueryError", "Names", "Store", "StoreError"]
