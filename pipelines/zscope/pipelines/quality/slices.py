"""Views of the rows to check, over a read-only catalogue.

Three schemas have a view of every table:

- `checked`: all rows of the slice;
- `sampled`: the same, or for a very large table a sample of them;
- `nearby`: all rows of the days of the slice and the day before, of any load, since the previous value of a
  counter or the same interval from another source can be in another load. Its view `coverage` has the hours
  of the days of the slice, from the days that the store keeps.

The sample depends only on the number of the record or line, so the same slice always has the same sample.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

from zscope.pipelines.metrics import declared, macros_sql, needed, view_sql
from zscope.pipelines.quality.quality_checks import CHECKED, NEARBY, SAMPLED, QualityError
from zscope.schemas.arrow import duckdb_type, table_schema
from zscope.schemas.catalogue_schemas import RAW, STEPS
from zscope.schemas.sql_text import identifier, literal
from zscope.schemas.stored import DAY, stored_schema
from zscope.schemas.tables import table_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import duckdb

SAMPLE_ROWS = 1_000_000
"""Approximate sample size of tables with more rows in the slice."""
STORE = "store"
_METRICS = (
    "cpu_interval_disagreement",
    "cpu_interval",
    "capture_ratio",
    "service_class_disagreement",
    "crypto_share",
)
"""Metrics that expectations read."""
_COVERAGE = "coverage"
"""The metric with the hours that the data cover."""
_HASH_FACTOR = 2_654_435_761
"""About 2**32 divided by the golden ratio: multiples are distributed evenly over 32-bit numbers."""


@dataclass(frozen=True, slots=True)
class StoreSlice:
    """The rows of a store to validate; the default is all."""

    loads: tuple[int, ...] | None = None
    tables: tuple[str, ...] = ()
    system: str | None = None
    first_day: date | None = None
    last_day: date | None = None

    @property
    def whole_loads(self) -> bool:
        """Whether the loads are checked completely, without other restrictions."""
        return not self.tables and self.system is None and self.first_day is None and self.last_day is None

    def condition(self) -> str:
        """Return the SQL condition of the slice."""
        return " AND ".join(self._terms()) or "true"

    def _terms(self) -> Iterator[str]:
        if self.loads is not None:
            yield f"load_id IN ({', '.join(map(str, self.loads)) or 'NULL'})"
        yield from self._of_system()
        if self.first_day:
            yield f"day >= DATE '{self.first_day.isoformat()}'"
        if self.last_day:
            yield f"day <= DATE '{self.last_day.isoformat()}'"

    def _of_system(self) -> Iterator[str]:
        if self.system is not None:
            yield f"system = {literal(self.system)}"

    def covered_hours(self, days: tuple[date, date] | None) -> str:
        """Return the SQL condition of the hours of a slice with these first and last days."""
        terms = list(self._of_system())
        if days:
            terms.append(f"hour_local::DATE BETWEEN DATE '{days[0]}' AND DATE '{days[1]}'")
        return " AND ".join(terms) or "true"

    def nearby(self, days: tuple[date, date] | None) -> str:
        """Return the SQL condition of schema `nearby` for a slice with these first and last days."""
        terms = list(self._of_system())
        if days:
            before = days[0] - timedelta(days=1)
            terms.append(
                f"(day BETWEEN DATE '{before.isoformat()}' AND DATE '{days[1].isoformat()}' OR day IS NULL)"
            )
        return " AND ".join(terms) or "true"


@dataclass(frozen=True, slots=True)
class SliceSize:
    """Number of rows of a table in the slice and in its sample."""

    rows: int
    sampled_rows: int


def make_views(
    connection: duckdb.DuckDBPyConnection,
    catalogue: Path,
    store_slice: StoreSlice,
    sample_rows: int = SAMPLE_ROWS,
) -> Mapping[str, SliceSize]:
    """Create the three schemas in an empty database; return the size of each table with rows in the slice."""
    _attach(connection, catalogue)
    for schema in (CHECKED, SAMPLED, NEARBY):
        connection.execute(f"CREATE SCHEMA {schema}")
    existing = _stored_tables(connection)
    sizes: dict[str, int] = {}
    days: list[date] = []
    for table in table_names():
        _view(connection, CHECKED, table, store_slice.condition(), existing)
        rows, first, last = _one(
            connection, f"SELECT count(*), min(day), max(day) FROM {CHECKED}.{identifier(table)}"
        )
        sizes[table] = rows
        days += [day for day in (first, last) if day]
    span = (min(days), max(days)) if days else None
    for table in table_names():
        _view(connection, NEARBY, table, store_slice.nearby(span), existing)
    _views_of_metrics(connection)
    _view_of_coverage(connection, store_slice.covered_hours(span), existing)
    in_sample = {table: _sample(connection, table, rows, sample_rows) for table, rows in sizes.items()}
    return {table: size for table, size in in_sample.items() if size.rows}


def load_ids(connection: duckdb.DuckDBPyConnection) -> set[int]:
    """Return the loads with rows in the slice."""
    parts = " UNION ".join(f"SELECT load_id FROM {CHECKED}.{identifier(table)}" for table in table_names())
    return {row[0] for row in connection.execute(parts).fetchall()}


def _attach(connection: duckdb.DuckDBPyConnection, catalogue: Path) -> None:
    import duckdb

    if not catalogue.is_file():
        raise QualityError(f"{catalogue}: the catalogue does not exist; zscope ingest creates it")
    try:
        connection.execute(f"ATTACH {literal(str(catalogue))} AS {STORE} (READ_ONLY)")
    except duckdb.Error as error:
        raise QualityError(f"{catalogue}: the catalogue cannot be opened ({error})") from error
    connection.execute("SET GLOBAL TimeZone = 'UTC'")


def _stored_tables(connection: duckdb.DuckDBPyConnection) -> set[str]:
    tables = connection.execute(
        "SELECT table_name FROM information_schema.tables WHERE table_catalog = ? AND table_schema IN (?, ?)",
        [STORE, RAW, STEPS],
    )
    return {row[0] for row in tables.fetchall()}


def _view(
    connection: duckdb.DuckDBPyConnection, schema: str, table: str, condition: str, existing: set[str]
) -> None:
    name = identifier(table)
    # A store of another version can lack a table.
    stored = f"SELECT * FROM {STORE}.{RAW}.{name} WHERE {condition}"
    source = stored if table in existing else _no_rows(table)
    connection.execute(f"CREATE VIEW {schema}.{name} AS {source}")


def _no_rows(table: str) -> str:
    columns = (
        f"NULL::{duckdb_type(field.type)} AS {identifier(field.name)}"
        for field in (*stored_schema(table), DAY)
    )
    return f"SELECT {', '.join(columns)} WHERE false"


def _views_of_metrics(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the views of the metrics, whose statements name tables without a schema."""
    connection.execute(macros_sql())
    connection.execute(f"SET search_path = '{NEARBY}'")
    names = dict.fromkeys(name for metric in _METRICS for name in needed(metric))
    for name in names:
        if name in declared():
            connection.execute(f"CREATE VIEW {NEARBY}.{name} AS {view_sql(declared()[name])}")
    connection.execute("RESET search_path")


def _view_of_coverage(connection: duckdb.DuckDBPyConnection, condition: str, existing: set[str]) -> None:
    # A store of another version can lack the metric.
    columns = (f"NULL::{column.type} AS {column.name}" for column in declared()[_COVERAGE].columns)
    stored = f"SELECT * FROM {STORE}.{STEPS}.{_COVERAGE} WHERE {condition}"
    source = stored if _COVERAGE in existing else f"SELECT {', '.join(columns)} WHERE false"
    # A table, as many expectations read it, and the catalogue computes it from what the store keeps by day.
    connection.execute(f"CREATE TABLE {_COVERAGE} AS {source}")
    connection.execute(f"CREATE VIEW {NEARBY}.{_COVERAGE} AS FROM main.{_COVERAGE}")


def _sample(connection: duckdb.DuckDBPyConnection, table: str, rows: int, sample_rows: int) -> SliceSize:
    name = identifier(table)
    condition = "true"
    if rows > sample_rows:
        numbers = [name for name in ("record_no", "line_no") if name in table_schema(table).names]
        number = f"coalesce({', '.join(numbers)})::UBIGINT"
        modulus, limit = f"{2**32}::UBIGINT", sample_rows * 2**32 // rows
        condition = f"({number} % {modulus}) * {_HASH_FACTOR}::UBIGINT % {modulus} < {limit}::UBIGINT"
    connection.execute(f"CREATE VIEW {SAMPLED}.{name} AS SELECT * FROM {CHECKED}.{name} WHERE {condition}")
    if rows <= sample_rows:
        return SliceSize(rows, rows)
    return SliceSize(rows, _one(connection, f"SELECT count(*) FROM {SAMPLED}.{name}")[0])


def _one(connection: duckdb.DuckDBPyConnection, statement: str) -> tuple[int, date | None, date | None]:
    row = connection.execute(statement).fetchone()
    assert row is not None
    return (*row, None, None)[:3]
