"""The schemas of stored tables: the tables of the readers with the columns that a load adds.

Every stored row has the number of its load, and where the readers give a local time, a column with the same
time in UTC follows it. Integers are signed (`stored_type`); a number of 2^63 or more becomes null.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from zscope.schemas.arrow import UTC, duckdb_type, in_stored_types, table_schema
from zscope.schemas.field_catalog import FIELD_CATALOG_SCHEMA
from zscope.schemas.load import catalog
from zscope.schemas.tables import ANY_RECORD_TABLES, DIGEST_TABLE, table_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.schemas.model import RunningTotals

_CLOCKS = ("written_local", "taken_local", "interval_start_local")
"""Columns with the time of a row, the best first: SMF rows of an interval have two."""
STORE = "store"
"""Origin of these columns in the field catalogue."""
LOAD_ID = pa.field(
    "load_id",
    pa.int64(),
    nullable=False,
    metadata={"meaning": "Number of the load that added the row; table load has its file."},
)
DAY = pa.field(
    "day",
    pa.date32(),
    metadata={
        "meaning": "Day of the partition, from the row's local time; null where the row has no date. "
        "Conditions on it avoid reading the files of other days."
    },
)
"""Column of every file, and the value in the path of a file of one day."""
BASIS = pa.field(
    "basis",
    pa.dictionary(pa.int32(), pa.string()),
    metadata={
        "meaning": "What the values of the row are of: interval, step or job of the record; if the record "
        "counts from a start on: difference from the record before, since restart, or no record before in a "
        "day (they are null). In the data files the values of such rows are as recorded, since start."
    },
)
"""Column of tables in which some rows count from a start on."""
SUBTYPE = "record_subtype"
GREATEST_INTEGER = 2**63 - 1
"""The greatest number in the store; the 8-byte fields of records can contain greater ones."""
DIGEST = "digest"
"""Column with 64 bits that are not a number: the store has the same bits, as a signed integer."""
_ALWAYS_FIT = frozenset({DIGEST, "record_no", "record_offset", "line_no"})
"""Required columns that are never greater than the greatest number in the store."""
WRITTEN = "written_local"
HOUR_US = 3_600_000_000
SET_BACK_US = HOUR_US
"""A clock that is set back in autumn lets local times end up to an hour before they start."""
FAR_US = 2 * HOUR_US
"""A time further than this from that of the record's header comes from a clock that is set wrong."""
RECORDED_TWICE = {"end_local": "end_utc", "start_local": "start_utc"}
"""Times that a section can have in local time and in UTC. The first of a table is near that of the header.
Sources disagree whether the local ones are in UTC, too.
"""
SAME_TIME_US = 1_000_000
"""Such times are the same up to this difference: one of them is in hundredths of a second."""
INTERVAL_LENGTHS = {"interval_ms": 1000, "interval_us": 1}
"""Columns with the length of an interval, and their unit in microseconds."""


@cache
def local_clock(table: str) -> str | None:
    """Return the column with the local time that decides the partition of a row.

    >>> local_clock("smf119_zert_detail"), local_clock("netstat_conn"), local_clock("rmf_cpu")
    ('written_local', 'taken_local', 'interval_start_local')
    """
    names = table_schema(table).names
    return next((name for name in _CLOCKS if name in names), None)


def utc_clock(local: str) -> str:
    """Return the name of the column with the same time in UTC.

    >>> utc_clock("written_local")
    'written_utc'
    """
    return local.removesuffix("_local") + "_utc"


@cache
def stored_schema(table: str) -> pa.Schema:
    """Return the schema of the files of a table.

    >>> stored_schema("netstat_conn").names[:3], "taken_utc" in stored_schema("netstat_conn").names
    (['load_id', 'file', 'line_no'], True)
    """
    schema = table_schema(table)
    fields = [LOAD_ID]
    for field in schema:
        can_be_outside = field.type == pa.uint64() and field.name not in _ALWAYS_FIT
        fields.append(field.with_nullable(field.nullable or can_be_outside))
        if field.name == local_clock(table) and table != DIGEST_TABLE:
            fields.append(_in_utc(field))
    if running_of(table):
        fields.append(BASIS)
    return in_stored_types(pa.schema(fields, schema.metadata))


@cache
def running_of(table: str) -> RunningTotals | None:
    """Return which rows of a table count from a start on; None if no rows do.

    >>> totals = running_of("smf30_interval")
    >>> (totals.subtypes, totals.same) if totals else None
    ((6,), ('system', 'job_name', 'asid'))
    """
    return next((layout.running for _, layout in catalog().tables() if layout.name == table), None)


def recorded_basis(table: str, subtypes: pa.Array) -> pa.Array:
    """Return the basis of the values of records of some subtypes, as the data files have it.

    >>> recorded_basis("smf30_interval", pa.array([2, 6], pa.uint16())).to_pylist()
    ['interval', 'since start']
    """
    totals = running_of(table)
    assert totals is not None, f"{table} has no running totals"
    known = pa.array(totals.basis, subtypes.type)
    texts = pa.array(totals.basis.values(), pa.string())
    return pa.DictionaryArray.from_arrays(pc.index_in(subtypes, known), texts)


@cache
def added_columns() -> pa.Table:
    """Return the columns that the store adds to each table, as rows of the field catalogue.

    >>> rows = added_columns().to_pylist()
    >>> [row["column_name"] for row in rows if row["table_name"] == "netstat_conn"]
    ['load_id', 'taken_utc', 'day']
    """
    rows = []
    for table in table_names():
        if table in ANY_RECORD_TABLES and table != DIGEST_TABLE:
            continue
        known = set(table_schema(table).names)
        for field in (*stored_schema(table), DAY):
            if field.name not in known:
                row = {
                    "table_name": table,
                    "column_name": field.name,
                    "record": STORE,
                    "arrow_type": str(field.type),
                    "duckdb_type": duckdb_type(field.type),
                    "meaning": field.metadata[b"meaning"].decode(),
                }
                rows.append(row)
    return pa.Table.from_pylist(rows, FIELD_CATALOG_SCHEMA)


def _in_utc(local: pa.Field) -> pa.Field:
    meaning = (
        f"{local.name} in UTC; null where the time zone of the system is unknown, or where the clock showed "
        "this time twice and the data do not decide between the two."
    )
    return pa.field(utc_clock(local.name), UTC, metadata={"meaning": meaning})


class TimeComparison(NamedTuple):
    """Two times of a table; the first less the second must lie between the limits, in microseconds."""

    about: str
    """What a row is whose times contradict each other."""
    column: str
    """The time that is compared; also the field of the issue."""
    other: str
    at_least: int | None
    at_most: int | None
    length: str | None = None
    """Column with the length of the interval, which is added to the time."""


@cache
def comparisons(table: str) -> tuple[TimeComparison, ...]:
    """Return the comparisons of the times of a stored table.

    >>> [(c.column, c.other) for c in comparisons("smf119_tcp_init")]
    [('start_local', 'written_local'), ('start_utc', 'written_utc')]
    """
    names = {each.name for each in stored_schema(table) if pa.types.is_timestamp(each.type)}
    length = next((name for name in INTERVAL_LENGTHS if name in stored_schema(table).names), None)
    return tuple(_comparisons(names, length))


def _comparisons(names: set[str], length: str | None) -> Iterator[TimeComparison]:
    for start, end in (("start", "end"), ("interval_start", "interval_end")):
        for clock, allowed in (("local", SET_BACK_US), ("utc", 0)):
            if {f"{start}_{clock}", f"{end}_{clock}"} <= names:
                yield TimeComparison(
                    "end before their start", f"{end}_{clock}", f"{start}_{clock}", -allowed, None
                )
    if WRITTEN not in names:
        return
    for end in ("end", "interval_end"):
        for clock in ("local", "utc"):
            if f"{end}_{clock}" in names:
                about = "end hours before or after their record was written"
                yield TimeComparison(about, f"{end}_{clock}", f"written_{clock}", -FAR_US, FAR_US)
    for clock in ("local", "utc"):
        if f"start_{clock}" in names:
            about = "start hours after their record was written"
            yield TimeComparison(about, f"start_{clock}", f"written_{clock}", None, FAR_US)
    if "interval_start_local" in names and length:
        about = "end hours before or after their record was written"
        yield TimeComparison(about, "interval_start_local", WRITTEN, -FAR_US, FAR_US, length)
