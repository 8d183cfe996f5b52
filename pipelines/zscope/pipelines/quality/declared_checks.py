"""Checks derived from the declarations of tables, and checks declared in the TOML files in `expectations/`.

Every new table or column is checked automatically. The derived checks cover required values, limits of units,
codes, unique keys, plausible times, and times near that of the record header.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, reduce
from importlib.resources import files
from operator import or_
from typing import TYPE_CHECKING, Annotated

import msgspec

from zscope.pipelines.quality.quality_checks import (
    CHECKED,
    NEARBY,
    SAMPLED,
    Between,
    Check,
    CheckKind,
    CheckSeverity,
    NotNull,
    OneOf,
)
from zscope.schemas import catalog
from zscope.schemas.allowed import Allowed
from zscope.schemas.arrow import table_schema
from zscope.schemas.declared import Declared, TomlFile, WrongValueError
from zscope.schemas.reports import report_tables
from zscope.schemas.sql_text import identifier, literal
from zscope.schemas.stored import (
    INTERVAL_LENGTHS,
    LOAD_ID,
    RECORDED_TWICE,
    SAME_TIME_US,
    comparisons,
    local_clock,
    stored_schema,
)
from zscope.schemas.tables import RAW_TABLE, record_table_names, table_names

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    import pyarrow as pa

    from zscope.schemas.model import CodeTable
    from zscope.schemas.stored import TimeComparison


_ORIGIN = ("load_id", "file", "record_no", "line_no", "section_no", "system")


def origin_columns(table: str) -> tuple[str, ...]:
    """Return the columns of a table that identify the origin of a row.

    >>> origin_columns("smf70_cpu"), origin_columns("rmf_cpu")
    (('load_id', 'record_no', 'section_no', 'system'), ('load_id', 'file', 'line_no', 'system'))
    """
    names = stored_schema(table).names
    return tuple(name for name in _ORIGIN if name in names)


def where(table: str, condition: str, *shown: str) -> str:
    """Return the statement for rows that fulfil a condition, with origin, other columns and time."""
    origin = origin_columns(table)
    clock = local_clock(table)
    further = (*shown, clock) if clock else shown
    columns = (*origin, *dict.fromkeys(name for name in further if name not in origin))
    names = ", ".join(identifier(name) for name in columns)
    return f"SELECT {names} FROM {SAMPLED}.{identifier(table)} WHERE {condition}"


EARLIEST = "1990-01-01"
"""Earlier times come from clocks that were never set."""


Limit = Annotated[int | float | None, Allowed("a number")]


class ValueRange(Declared, frozen=True, kw_only=True):
    """Limits of a column, or of all columns with a unit."""

    severity: CheckSeverity
    meaning: str
    minimum: Limit = None
    maximum: Limit = None


class ColumnRange(ValueRange, frozen=True, kw_only=True):
    """Limits of a column."""

    table: str
    column: str


class Expectation(Declared, frozen=True, kw_only=True):
    """A check that is declared: a condition, a statement, or counters that never decrease."""

    id: str
    table: str
    kind: CheckKind
    severity: CheckSeverity
    meaning: str
    column: str = ""
    needs: tuple[str, ...] = ()
    where: str = ""
    """The condition of unexpected rows."""
    shows: tuple[str, ...] = ()
    """For `where`: the columns that show why a row is unexpected."""
    sql: str = ""
    """The statement that returns unexpected rows."""
    counters: tuple[str, ...] = ()
    order: str = ""
    """For `counters`: the column with the time."""
    by: tuple[str, ...] = ()
    """For `counters`: the columns of what is counted."""
    since: tuple[str, ...] = ()
    """For `counters`: the columns that change when counting begins again."""

    def __post_init__(self) -> None:
        if [bool(self.where), bool(self.sql), bool(self.counters)].count(True) != 1:
            raise ValueError("exactly one of where, sql, counters is required")
        if self.counters and not self.order:
            raise WrongValueError("order", "is missing; counters need it")


class ExpectationsFile(Declared, frozen=True):
    """A file in `expectations/`."""

    no_code: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    """By code table: the values of a record that has no code."""
    unit: Mapping[str, ValueRange] = msgspec.field(default_factory=dict)
    range: tuple[ColumnRange, ...] = ()
    expectation: tuple[Expectation, ...] = ()


@dataclass(frozen=True, slots=True)
class ValueLimits:
    """Limits of units and columns, and values that mean "no code": what the declarations do not contain."""

    by_unit: Mapping[str, ValueRange]
    by_column: Mapping[tuple[str, str], ValueRange]
    no_code: Mapping[str, tuple[str, ...]]
    """By code table: the values of a record that has no code."""

    def range(self, table: str, field: pa.Field) -> ValueRange | None:
        """Return the limits of a column, or None."""
        unit = _metadata(field, b"unit")
        return self.by_column.get((table, field.name)) or self.by_unit.get(unit)


def declared_checks(limits: ValueLimits) -> list[Check]:
    """Return all checks that follow from the declarations, table by table."""
    return [check for table in table_names() for check in _table_checks(table, limits)]


def _table_checks(table: str, limits: ValueLimits) -> Iterator[Check]:
    required = {LOAD_ID.name, *(field.name for field in table_schema(table) if not field.nullable)}
    for field in stored_schema(table):
        if field.name in required:
            yield _not_null_check(table, field.name)
        if value_range := limits.range(table, field):
            yield _range_check(table, field.name, value_range)
        if codes := _metadata(field, b"codes"):
            yield _codes_check(table, field.name, catalog().codes[codes], limits.no_code)
    yield _unique_check(table)
    if clock := local_clock(table):
        yield _clock_check(table, clock)
    for comparison in comparisons(table):
        if comparison.other.startswith("written_"):
            yield _header_check(table, comparison)


def _metadata(field: pa.Field, key: bytes) -> str:
    value: bytes = (field.metadata or {}).get(key, b"")
    return value.decode()


def _not_null_check(table: str, column: str) -> Check:
    return Check(
        id=f"{table}.{column}.not-null", table=table, column=column, kind=CheckKind.NOT_NULL,
        severity=CheckSeverity.FAILURE, test=NotNull(), meaning=f"Every row has a {column}.",
        unexpected=where(table, f"{identifier(column)} IS NULL"),
    )  # fmt: skip


def _range_check(table: str, column: str, limits: ValueRange) -> Check:
    name = identifier(column)
    outside = []
    if limits.minimum is not None:
        outside.append(f"{name} < {limits.minimum}")
    if limits.maximum is not None:
        outside.append(f"{name} > {limits.maximum}")
    return Check(
        id=f"{table}.{column}.range", table=table, column=column, kind=CheckKind.RANGE,
        severity=limits.severity,
        test=Between(limits.minimum, limits.maximum), meaning=limits.meaning,
        unexpected=where(table, " OR ".join(outside), column),
    )  # fmt: skip


def _codes_check(table: str, column: str, codes: CodeTable, no_code: Mapping[str, tuple[str, ...]]) -> Check:
    # Newer systems write codes that no published list has, so unknown codes are valid data. If the list
    # itself states that more codes exist, they are not even a warning.
    severity = CheckSeverity.NOTE if codes.note else CheckSeverity.WARNING
    check_id, name = f"{table}.{column}.codes", identifier(column)
    if codes.kind == "bits":
        known = reduce(or_, [int(bit) for bit in codes.codes] + [group.mask for group in codes.masked], 0)
        unknown = f"({name}::BIGINT & {known}) <> {name}::BIGINT"
        meaning = f"{column} has only bits of code_{codes.name}."
        statement = where(table, unknown, column)
        return Check(check_id, table, CheckKind.CODES, severity, meaning, statement, column=column)
    # Zero and blanks mean that there is no code.
    table_name = codes.name if codes.name == "cipher" else f"code_{codes.name}"
    meaning = f"{column} has a code of {table_name}, or none."
    if codes.kind == "text":
        texts = ("", *no_code.get(codes.name, ()), *(str(code) for code in codes.codes))
        return _one_of_check(check_id, table, column, severity, meaning, OneOf(texts))
    values = tuple(sorted({0, *(int(code) for code in codes.codes)}))
    return _one_of_check(check_id, table, column, severity, meaning, OneOf(values))


def _one_of_check(
    check_id: str, table: str, column: str, severity: CheckSeverity, meaning: str, test: OneOf
) -> Check:
    listed = ", ".join(str(value) if isinstance(value, int) else literal(value) for value in test.values)
    return Check(
        id=check_id, table=table, column=column, kind=CheckKind.CODES, severity=severity, meaning=meaning,
        test=test, unexpected=where(table, f"{identifier(column)} NOT IN ({listed})", column),
    )  # fmt: skip


def grain_of(table: str) -> tuple[str, ...]:
    """Return the columns that identify a row among all loads.

    >>> grain_of("smf70_cpu"), grain_of("gsk_crypto")
    (('load_id', 'record_no', 'section_no'), ('load_id', 'file', 'line_no'))
    >>> grain_of("mq_task")
    ('load_id', 'record_no', 'task_type', 'section_no', 'file', 'line_no')
    """
    if table in report_tables():
        from_records = catalog().table(table)[1].grain if table in record_table_names() else ()
        return ("load_id", *from_records, *report_tables()[table].grain)
    parts = ("part",) if table == RAW_TABLE else ()
    names = stored_schema(table).names
    return ("load_id", "record_no", *parts, *(name for name in ("section_no",) if name in names))


def _unique_check(table: str) -> Check:
    grain = grain_of(table)
    columns = ", ".join(identifier(name) for name in grain)
    return Check(
        id=f"{table}.unique", table=table, kind=CheckKind.UNIQUE, severity=CheckSeverity.FAILURE,
        rows=CHECKED,
        meaning=f"No two rows of a load have the same {', '.join(grain[1:])}.",
        unexpected=f"SELECT {columns}, count(*) AS occurrences FROM {CHECKED}.{identifier(table)} "
        f"GROUP BY {columns} HAVING count(*) > 1",
    )  # fmt: skip


def _clock_check(table: str, clock: str) -> Check:
    name = identifier(clock)
    return Check(
        id=f"{table}.{clock}.clock", table=table, column=clock, kind=CheckKind.CLOCK,
        severity=CheckSeverity.WARNING,
        meaning=f"{clock} is between the year {EARLIEST[:4]} and the day after tomorrow.",
        unexpected=where(
            table, f"{name} < TIMESTAMP '{EARLIEST}' OR {name} > now()::TIMESTAMP + INTERVAL 2 DAY", clock
        ),
    )  # fmt: skip


def _header_check(table: str, comparison: TimeComparison) -> Check:
    """Return the check that a time is near that of the header of its record."""
    time = f"epoch_us({identifier(comparison.column)})"
    if comparison.length:
        time += f" + {identifier(comparison.length)}::BIGINT * {INTERVAL_LENGTHS[comparison.length]}"
    difference = f"{time} - epoch_us({identifier(comparison.other)})"
    limits = [f"{difference} > {comparison.at_most}"]
    if comparison.at_least is not None:
        limits.append(f"{difference} < {comparison.at_least}")
    unexpected, columns = " OR ".join(limits), [comparison.column, comparison.other]
    meaning = f"Rows do not {comparison.about}, by {comparison.column} and {comparison.other}"
    twin = RECORDED_TWICE.get(comparison.column, "")
    if twin in stored_schema(table).names:
        in_utc = f"abs({time} - epoch_us({identifier(twin)})) <= {SAME_TIME_US}"
        unexpected, columns = f"({unexpected}) AND NOT coalesce({in_utc}, false)", [*columns, twin]
        meaning += f"; a {comparison.column} that is in UTC is the same as {twin}"
    return Check(
        id=f"{table}.{comparison.column}.header", table=table, column=comparison.column,
        kind=CheckKind.CLOCK, severity=CheckSeverity.WARNING,
        meaning=f"{meaning}.",
        unexpected=where(table, unexpected, *columns),
    )  # fmt: skip


@cache
def all_checks() -> tuple[Check, ...]:
    """Return all checks: those derived from declarations, then those of the files."""
    declared = _declared()
    return (*declared_checks(limits_in(declared)), *explicit_checks(declared))


def declared_expectations() -> tuple[Expectation, ...]:
    """Return the checks of the files as they are declared, without those derived from tables."""
    return tuple(expectation for each in _declared() for expectation in each.expectation)


@cache
def _declared() -> tuple[ExpectationsFile, ...]:
    return tuple(read_folder(files(__package__) / "expectations"))


def read_folder(folder: Traversable) -> list[ExpectationsFile]:
    """Return the content of every TOML file in a folder, in the order of their names."""
    toml = (file for file in folder.iterdir() if file.name.endswith(".toml"))
    return [read_expectations(TomlFile.read(file)) for file in sorted(toml, key=lambda file: file.name)]


def read_expectations(file: TomlFile) -> ExpectationsFile:
    """Return the content of a file, after checking that its tables exist."""
    declared = file.typed(ExpectationsFile)
    for number, expectation in enumerate(declared.expectation):
        if unknown := {expectation.table, *expectation.needs}.difference(table_names()):
            raise file.error(("expectation", number), f"unknown table {', '.join(sorted(unknown))}")
    return declared


def limits_in(declared: Iterable[ExpectationsFile]) -> ValueLimits:
    """Return the limits and the values without a code of all files."""
    by_unit: dict[str, ValueRange] = {}
    by_column: dict[tuple[str, str], ValueRange] = {}
    no_code: dict[str, tuple[str, ...]] = {}
    for each in declared:
        no_code |= each.no_code
        by_unit |= each.unit
        by_column |= {(limits.table, limits.column): limits for limits in each.range}
    return ValueLimits(by_unit, by_column, no_code)


def explicit_checks(declared: Iterable[ExpectationsFile]) -> Iterator[Check]:
    """Yield the checks of all files."""
    return (_check(expectation) for each in declared for expectation in each.expectation)


def _check(declared: Expectation) -> Check:
    table = declared.table
    if declared.where:
        statement = where(table, declared.where, *declared.shows)
    else:
        statement = declared.sql.strip() or _falling_counters(declared)
    return Check(
        id=f"{table}.{declared.id}",
        table=table,
        kind=declared.kind,
        severity=declared.severity,
        meaning=" ".join(declared.meaning.split()),
        unexpected=statement,
        column=declared.column,
        rows=SAMPLED if declared.where else CHECKED,
        needs=declared.needs,
    )


def _falling_counters(declared: Expectation) -> str:
    """Return the statement for decreases of counters, with the previous value and its origin."""
    table, order = declared.table, declared.order
    origin = [name for name in origin_columns(table) if name not in declared.by]
    columns = _names([*origin, order, *declared.by, *declared.since])
    group = _names([*declared.by, *declared.since])
    counters = _names(declared.counters)
    return f"""
WITH shown AS (
    UNPIVOT (
        SELECT {columns}, {counters} FROM {NEARBY}.{identifier(table)} WHERE {identifier(order)} IS NOT NULL
    )
    ON {counters} INTO NAME counter VALUE value
),
pairs AS (
    SELECT
        *,
        lag(value) OVER in_time AS value_before,
        lag({identifier(origin[-1])}) OVER in_time AS {identifier(f"{origin[-1]}_before")}
    FROM shown
    WINDOW in_time AS (PARTITION BY {group}, counter ORDER BY {identifier(order)}, value)
)
SELECT * FROM pairs
WHERE value < value_before AND load_id IN (SELECT load_id FROM {CHECKED}.{identifier(table)})
""".strip()


def _names(columns: Iterable[str]) -> str:
    return ", ".join(identifier(name) for name in columns)
