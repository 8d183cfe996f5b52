"""A store in Python: its tables and metrics as DuckDB relations, polars frames or Arrow tables."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Self

from zscope.parsers.api import DataWarning
from zscope.parsers.results import UnknownTableError, html_table
from zscope.pipelines.metrics import MetricQueryError, MetricSelection, declared, metric_names, statement
from zscope.pipelines.metrics.narrowing import prepared
from zscope.pipelines.metrics.options import (
    KNOWN_SYSTEMS,
    check_systems,
    condition_check,
    day_or_moment,
    grouping,
    period,
    set_statement,
    wrong_condition,
)
from zscope.pipelines.metrics.time_zones import unzoned_note, unzoned_query
from zscope.pipelines.store import StoreError
from zscope.pipelines.store.catalogue_file import has_summaries
from zscope.pipelines.store.reader import open_reader
from zscope.schemas.field_catalog import search
from zscope.schemas.suggestions import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date
    from types import TracebackType

    import duckdb
    import polars as pl
    import pyarrow as pa

_TABLES = """
SELECT name, coalesce(comment, '')
FROM (
    SELECT table_name AS name, comment FROM duckdb_tables()
    WHERE database_name = current_database() AND schema_name = 'main' AND NOT internal
    UNION ALL
    SELECT view_name, comment FROM duckdb_views()
    WHERE database_name = current_database() AND schema_name = 'main' AND NOT internal
)
WHERE NOT starts_with(name, 'zscope_')
ORDER BY name
"""
_SHOWN = 10


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


class Store:
    """A store as it was when it was opened: loads that arrive later are not seen until `refresh`.

    What `table`, `sql` and `metric` return are DuckDB relations. They are evaluated when their rows are read:
    `.pl()` and `.df()` return a polars or pandas frame, `.to_arrow_table()` an Arrow table, and whatever
    reads Arrow streams takes them as they are. Relations can also be filtered, joined and aggregated.

    Files of the data that later changes replace are kept for some time (`grace_s` in the settings); a query
    on an older store that needs one of them fails, and `refresh` helps.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        """The folder of the store."""
        self._connection = self._opened()

    def _opened(self) -> duckdb.DuckDBPyConnection:
        connection = open_reader(self.path)
        # Statements can name frames and tables of the caller, as with DuckDB itself.
        connection.execute("SET python_scan_all_frames = true")
        return connection

    def refresh(self) -> Self:
        """Show the newest commit. Relations that were made before keep showing the older one."""
        self._connection = self._opened()
        return self

    def close(self) -> None:
        """Close the connection to the catalogue."""
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
        return int(self._value("SELECT commit_no FROM zscope_store"))

    @property
    def tables(self) -> Names:
        """Return the tables with their meaning: of data, codes, published results and loads."""
        rows = self._connection.execute(_TABLES).fetchall()
        return Names("table", {name: meaning for name, meaning in rows if name not in declared()})

    @property
    def metrics(self) -> Names:
        """Return the metrics with the question that each of them answers."""
        return Names("metric", {name: declared()[name].question for name in metric_names()})

    def table(self, name: str) -> duckdb.DuckDBPyRelation:
        """Return a table, or a metric at its grain."""
        if name not in declared() and name not in self.tables:
            known = [*self.tables, *metric_names()]
            hint = suggestion(name, known, "the attribute `tables` of the store has all")
            raise UnknownTableError(f"there is no table {name!r}; {hint}")
        return self._connection.table(name)

    def lazy(self, name: str) -> pl.LazyFrame:
        """Return a table as a polars `LazyFrame`; DuckDB reads only what its query needs."""
        frame: pl.LazyFrame = self.table(name).pl(lazy=True)
        return frame

    def sql(self, text: str) -> duckdb.DuckDBPyRelation:
        """Return the rows of a statement in the SQL of DuckDB. It can name frames of the caller."""
        return self._connection.sql(text)

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
    ) -> duckdb.DuckDBPyRelation:
        """Return the rows of a metric, with the options of `zscope metrics`.

        `by` has the columns to group by (`"system,day"`, a list, or `"all"` for one row), `from_` and `to`
        the period with both days, `where` an SQL condition. Parameters of the metric are keyword arguments,
        such as `price_per_msu=120`.
        """
        if name not in metric_names():
            hint = suggestion(name, metric_names(), "the attribute `metrics` of the store has all")
            raise UnknownTableError(f"there is no metric {name!r}; {hint}")
        metric = declared()[name]
        systems = (system,) if isinstance(system, str) else tuple(system)
        begin, end = (day_or_moment(day) if isinstance(day, str) else day for day in (from_, to))
        selection = MetricSelection(systems, *period(begin, end), where)
        query = statement(metric, grouping(by), selection)
        settings = [set_statement(metric, key, str(value)) for key, value in parameters.items()]
        # Variables and temporary views of a metric belong to a connection; another metric has others.
        connection = self._connection.cursor()
        connection.execute("USE zscope")
        if systems:
            check_systems(systems, [found for (found,) in connection.execute(KNOWN_SYSTEMS).fetchall()])
        if where:
            self._check_condition(connection, name, where)
        for text in (*settings, *prepared(metric, selection, summarised=has_summaries(connection))):
            connection.execute(text)
        if (zones := unzoned_query((name,), systems)) and (
            note := unzoned_note(connection.execute(zones).to_arrow_table())
        ):
            warnings.warn(note, DataWarning, stacklevel=2)
        return connection.sql(query)

    def _check_condition(self, connection: duckdb.DuckDBPyConnection, name: str, where: str) -> None:
        from duckdb import Error

        try:
            connection.execute(condition_check(declared()[name], where))
        except Error as error:
            raise wrong_condition(declared()[name], where, error) from error

    def loads(self) -> duckdb.DuckDBPyRelation:
        """Return the loads: file, records, rows, issues and when."""
        return self._connection.sql("FROM load ORDER BY load_id")

    def issues(self) -> duckdb.DuckDBPyRelation:
        """Return what could not be decoded or loaded, with file, record, byte and field."""
        return self._connection.sql("FROM issue UNION ALL BY NAME FROM input_issue ORDER BY load_id, file")

    def fields(self, pattern: str = "") -> pa.Table:
        """Return the fields of all tables whose names or meaning match every word of a pattern."""
        return search(pattern.split())

    def _value(self, query: str) -> int:
        row = self._connection.execute(query).fetchone()
        assert row is not None, query
        return int(row[0])

    def __repr__(self) -> str:
        """Return the folder, the commit and the number of loads."""
        loads = self._value("SELECT count(*) FROM load")
        return f"<Store {self.path}: commit {self.commit}, {loads:,} loads>"

    def _repr_html_(self) -> str:
        rows = [(name, f"{count:,}") for name, count in self._filled()]
        return f"<p>{escape(repr(self))}</p>{html_table(('table', 'rows'), rows)}"

    def _filled(self) -> list[tuple[str, int]]:
        query = "SELECT table_name, sum(rows)::BIGINT FROM load_table GROUP BY ALL HAVING sum(rows) > 0"
        return self._connection.execute(f"{query} ORDER BY table_name").fetchall()


__all__ = ["MetricQueryError", "Names", "Store", "StoreError"]
