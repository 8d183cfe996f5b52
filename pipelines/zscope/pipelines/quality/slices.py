"""The rows to check: views over a catalogue that is only read, narrowed to what was asked for.

Three schemas hold a view of the same name for every table:

- `checked`: all rows of the slice;
- `sampled`: the same, or of a table with very many rows a sample of them;
- `nearby`: all rows of the days of the slice and the day before, by whatever load they came: what happened
  before a counter fell, and what another source says, may have come with another load.

The sample depends on nothing but the number of the record or line, so the same slice has the same sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

from zscope.pipelines.metrics import declared, needed, view_sql
from zscope.pipelines.quality.checks import CHECKED, NEARBY, SAMPLED, QualityError, identifier
from zscope.schemas.arrow import table_schema
from zscope.schemas.ddl import duckdb_type, literal
from zscope.schemas.stored import DAY, stored_schema
from zscope.schemas.tables import table_names

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

SAMPLE_ROWS = 1_000_000
"""Tables with more rows in the slice are checked row by row on about so many."""
STORE = "store"
_DISAGREEMENT = "cpu_interval_disagreement"
_SCRAMBLE = 2_654_435_761
"""Near 2**32 over the golden ratio: multiples of it are spread evenly over all 32-bit numbers."""


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of a store; nothing given means all of it."""

    loads: tuple[int, ...] | None = None
    tables: tuple[str, ...] = ()
    system: str | None = None
    first_day: date | None = None
    last_day: date | None = None

    @property
    def whole_loads(self) -> bool:
        """Whether the loads are checked in full: nothing but their choice narrows the slice."""
        return not self.tables and self.system is None and self.first_day is None and self.last_day is None

    def condition(self) -> str:
        """What rows of the slice fulfil."""
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

    def nearby(self, days: tuple[date, date] | None) -> str:
        """What rows fulfil that are needed beside those of the slice, which is about these days."""
        terms = list(self._of_system())
        if days:
            before = days[0] - timedelta(days=1)
            terms.append(
                f"(day BETWEEN DATE '{before.isoformat()}' AND DATE '{days[1].isoformat()}' OR day IS NULL)"
            )
        return " AND ".join(terms) or "true"


@dataclass(frozen=True, slots=True)
class Portion:
    """How many rows of a table are in the slice, and in its sample."""

    rows: int
    sampled_rows: int


def make_views(
    connection: duckdb.DuckDBPyConnection, catalogue: Path, part: Slice, sample_rows: int = SAMPLE_ROWS
) -> Mapping[str, Portion]:
    """Make the three schemas in an empty database; returns what the slice has of each table with rows."""
    _attach(connection, catalogue)
    for schema in (CHECKED, SAMPLED, NEARBY):
        connection.execute(f"CREATE SCHEMA {schema}")
    there = _tables_of(connection)
    sizes: dict[str, int] = {}
    days: list[date] = []
    for table in table_names():
        _view(connection, CHECKED, table, part.condition(), there)
        rows, first, last = _one(
            connection, f"SELECT count(*), min(day), max(day) FROM {CHECKED}.{identifier(table)}"
        )
        sizes[table] = rows
        days += [day for day in (first, last) if day]
    span = (min(days), max(days)) if days else None
    for table in table_names():
        _view(connection, NEARBY, table, part.nearby(span), there)
    _view_of_disagreement(connection)
    portions = {table: _sample(connection, table, rows, sample_rows) for table, rows in sizes.items()}
    return {table: portion for table, portion in portions.items() if portion.rows}


def load_ids(connection: duckdb.DuckDBPyConnection) -> set[int]:
    """The loads that have rows in the slice."""
    parts = " UNION ".join(f"SELECT load_id FROM {CHECKED}.{identifier(table)}" for table in table_names())
    return {row[0] for row in connection.execute(parts).fetchall()}


def _attach(connection: duckdb.DuckDBPyConnection, catalogue: Path) -> None:
    import duckdb

    if not catalogue.is_file():
        raise QualityError(f"{catalogue}: there is no catalogue; zscope ingest makes one")
    try:
        connection.execute(f"ATTACH {literal(str(catalogue))} AS {STORE} (READ_ONLY)")
    except duckdb.Error as error:
        raise QualityError(f"{catalogue}: the catalogue cannot be opened ({error})") from error
    connection.execute("SET GLOBAL TimeZone = 'UTC'")


def _tables_of(connection: duckdb.DuckDBPyConnection) -> set[str]:
    found = connection.execute(
        "SELECT table_name FROM information_schema.tables WHERE table_catalog = ? AND table_schema = 'main'",
        [STORE],
    )
    return {row[0] for row in found.fetchall()}


def _view(
    connection: duckdb.DuckDBPyConnection, schema: str, table: str, condition: str, there: set[str]
) -> None:
    name = identifier(table)
    # A store of another version may lack a table.
    stored = f"SELECT * FROM {STORE}.main.{name} WHERE {condition}"
    source = stored if table in there else _no_rows(table)
    connection.execute(f"CREATE VIEW {schema}.{name} AS {source}")


def _no_rows(table: str) -> str:
    columns = (
        f"NULL::{duckdb_type(field.type)} AS {identifier(field.name)}"
        for field in (*stored_schema(table), DAY)
    )
    return f"SELECT {', '.join(columns)} WHERE false"


def _view_of_disagreement(connection: duckdb.DuckDBPyConnection) -> None:
    """The statements name tables without a schema: they are found in the schema that comes first."""
    connection.execute(f"SET search_path = '{NEARBY}'")
    for name in needed(_DISAGREEMENT):
        if name in declared():
            connection.execute(f"CREATE VIEW {NEARBY}.{name} AS {view_sql(declared()[name])}")
    connection.execute("RESET search_path")


def _sample(connection: duckdb.DuckDBPyConnection, table: str, rows: int, wanted: int) -> Portion:
    name = identifier(table)
    condition = "true"
    if rows > wanted:
        places = [name for name in ("record_no", "line_no") if name in table_schema(table).names]
        place = f"coalesce({', '.join(places)})"
        low_bits, most = f"{2**32}::UBIGINT", wanted * 2**32 // rows
        condition = f"({place} % {low_bits}) * {_SCRAMBLE}::UBIGINT % {low_bits} < {most}::UBIGINT"
    connection.execute(f"CREATE VIEW {SAMPLED}.{name} AS SELECT * FROM {CHECKED}.{name} WHERE {condition}")
    if rows <= wanted:
        return Portion(rows, rows)
    return Portion(rows, _one(connection, f"SELECT count(*) FROM {SAMPLED}.{name}")[0])


def _one(connection: duckdb.DuckDBPyConnection, statement: str) -> tuple[int, date | None, date | None]:
    row = connection.execute(statement).fetchone()
    assert row is not None
    return (*row, None, None)[:3]
