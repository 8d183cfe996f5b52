"""Checks that follow from the declarations: a new table or column is checked without another word."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from zscope.pipelines.quality.checks import (
    CHECKED,
    Between,
    Check,
    Kind,
    NotNull,
    OneOf,
    Severity,
    identifier,
)
from zscope.pipelines.quality.places import where
from zscope.schemas import catalog
from zscope.schemas.ddl import literal
from zscope.schemas.printed import report_tables
from zscope.schemas.stored import local_clock, stored_schema
from zscope.schemas.tables import RAW_TABLE, record_table_names, table_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from zscope.schemas.model import CodeTable

EARLIEST = "1990-01-01"
"""No record that anyone still has is older; clocks that were never set are."""


@dataclass(frozen=True, slots=True)
class Range:
    """Limits of a column, or of all columns of a unit."""

    minimum: float | None
    maximum: float | None
    severity: Severity
    meaning: str


@dataclass(frozen=True, slots=True)
class Allowed:
    """What the declarations do not say: limits of units and columns, and codes that tell nothing."""

    by_unit: Mapping[str, Range]
    by_column: Mapping[tuple[str, str], Range]
    nothing_told: Mapping[str, tuple[str, ...]]
    """By code table: what stands in a record where there is no code to give."""

    def range(self, table: str, field: pa.Field) -> Range | None:
        """The limits of a column, if it has any."""
        unit = _told(field, b"unit")
        return self.by_column.get((table, field.name)) or self.by_unit.get(unit)


def declared_checks(allowed: Allowed) -> list[Check]:
    """Every check that the declarations lead to, table by table."""
    return [check for table in table_names() for check in _of_table(table, allowed)]


def _of_table(table: str, allowed: Allowed) -> Iterator[Check]:
    for field in stored_schema(table):
        if not field.nullable:
            yield _not_null(table, field.name)
        if limits := allowed.range(table, field):
            yield _range(table, field.name, limits)
        if codes := _told(field, b"codes"):
            yield _codes(table, field.name, catalog().codes[codes], allowed)
    yield _unique(table)
    if clock := local_clock(table):
        yield _clock(table, clock)


def _told(field: pa.Field, key: bytes) -> str:
    value: bytes = (field.metadata or {}).get(key, b"")
    return value.decode()


def _not_null(table: str, column: str) -> Check:
    return Check(
        id=f"{table}.{column}.not-null", table=table, column=column, kind=Kind.NOT_NULL,
        severity=Severity.FAILURE, test=NotNull(), meaning=f"Every row has a {column}.",
        unexpected=where(table, f"{identifier(column)} IS NULL"),
    )  # fmt: skip


def _range(table: str, column: str, limits: Range) -> Check:
    name = identifier(column)
    outside = []
    if limits.minimum is not None:
        outside.append(f"{name} < {limits.minimum}")
    if limits.maximum is not None:
        outside.append(f"{name} > {limits.maximum}")
    return Check(
        id=f"{table}.{column}.range", table=table, column=column, kind=Kind.RANGE, severity=limits.severity,
        test=Between(limits.minimum, limits.maximum), meaning=limits.meaning,
        unexpected=where(table, " OR ".join(outside), column),
    )  # fmt: skip


def _codes(table: str, column: str, codes: CodeTable, allowed: Allowed) -> Check:
    # Newer systems write codes that no published list has: such rows are good data. Where the list itself
    # comes with a remark about more of them, not even a warning is in place.
    severity = Severity.NOTE if codes.note else Severity.WARNING
    check_id, name = f"{table}.{column}.codes", identifier(column)
    if codes.kind == "bits":
        known = reduce(or_, [int(bit) for bit in codes.codes] + [group.mask for group in codes.masked], 0)
        unknown = f"({name}::UBIGINT & {known}) <> {name}::UBIGINT"
        meaning = f"{column} has no bits beyond those in code_{codes.name}."
        statement = where(table, unknown, column)
        return Check(check_id, table, Kind.CODES, severity, meaning, statement, column=column)
    # Binary zeros and blanks are what a record has where there is nothing to tell.
    table_name = codes.name if codes.name == "cipher" else f"code_{codes.name}"
    meaning = f"{column} has a value that {table_name} explains, or none."
    if codes.kind == "text":
        texts = ("", *allowed.nothing_told.get(codes.name, ()), *(str(code) for code in codes.codes))
        return _one_of(check_id, table, column, severity, meaning, OneOf(texts))
    values = tuple(sorted({0, *(int(code) for code in codes.codes)}))
    return _one_of(check_id, table, column, severity, meaning, OneOf(values))


def _one_of(check_id: str, table: str, column: str, severity: Severity, meaning: str, test: OneOf) -> Check:
    listed = ", ".join(str(value) if isinstance(value, int) else literal(value) for value in test.values)
    return Check(
        id=check_id, table=table, column=column, kind=Kind.CODES, severity=severity, meaning=meaning,
        test=test, unexpected=where(table, f"{identifier(column)} NOT IN ({listed})", column),
    )  # fmt: skip


def grain_of(table: str) -> tuple[str, ...]:
    """The columns that tell a row of one load from all others.

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


def _unique(table: str) -> Check:
    grain = grain_of(table)
    columns = ", ".join(identifier(name) for name in grain)
    return Check(
        id=f"{table}.unique", table=table, kind=Kind.UNIQUE, severity=Severity.FAILURE, rows=CHECKED,
        meaning=f"No two rows of a load have the same {', '.join(grain[1:])}.",
        unexpected=f"SELECT {columns}, count(*) AS occurrences FROM {CHECKED}.{identifier(table)} "
        f"GROUP BY {columns} HAVING count(*) > 1",
    )  # fmt: skip


def _clock(table: str, clock: str) -> Check:
    name = identifier(clock)
    return Check(
        id=f"{table}.{clock}.clock", table=table, column=clock, kind=Kind.CLOCK, severity=Severity.WARNING,
        meaning=f"{clock} lies between the year {EARLIEST[:4]} and the day after tomorrow.",
        unexpected=where(
            table, f"{name} < TIMESTAMP '{EARLIEST}' OR {name} > now()::TIMESTAMP + INTERVAL 2 DAY", clock
        ),
    )  # fmt: skip
