"""Rows as Spark takes them: its types, the columns of its schema, and conditions on them in Arrow."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from zscope.parsers.api import selected_schema
from zscope.parsers.options import RowCondition
from zscope.schemas.arrow import stored_type
from zscope.schemas.stored import DIGEST
from zscope.schemas.tables import DIGEST_TABLE

if TYPE_CHECKING:
    from collections.abc import Sequence

COMPARISONS = {
    "EqualTo": pc.equal,
    "GreaterThan": pc.greater,
    "GreaterThanOrEqual": pc.greater_equal,
    "LessThan": pc.less,
    "LessThanOrEqual": pc.less_equal,
}
"""Filters of Spark that compare a column with a value."""


def converted(column: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Return a column in another type; a number that is too great for it is null.

    >>> converted(pa.array([1, 1 << 63], pa.uint64()), pa.int64()).to_pylist()
    [1, None]
    """
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_uint64(column.type) and pa.types.is_int64(wanted):
        column = pc.if_else(pc.less(column, pa.scalar(1 << 63, pa.uint64())), column, None)
    return column.cast(wanted)


@dataclass(frozen=True, slots=True)
class SparkRows:
    """Turns batches of a table into batches of a schema of Spark."""

    table: str
    schema: pa.Schema
    """The columns in the order and types of the frame."""

    def convert(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return the columns of the schema."""
        columns = [self._column(rows.column(field.name), field) for field in self.schema]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def _column(self, column: pa.Array, field: pa.Field) -> pa.Array:
        if self.table == DIGEST_TABLE and field.name == DIGEST and pa.types.is_int64(field.type):
            return column.view(pa.int64())
        return converted(column, field.type)

    def partly(self, names: Sequence[str]) -> SparkRows:
        """Return the same for some of the columns."""
        return SparkRows(self.table, pa.schema([self.schema.field(name) for name in names]))


@dataclass(frozen=True, slots=True)
class ColumnFilter:
    """A condition on one column that this side evaluates instead of Spark."""

    column: str
    kind: str
    """`In`, `IsNull`, `IsNotNull`, or one of `COMPARISONS`."""
    value: pa.Scalar | pa.Array | None = None

    def meets(self, column: pa.Array) -> pa.Array:
        """Return for each row whether it meets the condition; where the column is null, it does not."""
        if self.kind == "IsNull":
            return column.is_null()
        if self.kind == "IsNotNull":
            return column.is_valid()
        if self.kind == "In":
            return pc.is_in(column, value_set=self.value, skip_nulls=True)
        return pc.fill_null(COMPARISONS[self.kind](column, self.value), fill_value=False)


def column_filter(schema: pa.Schema, name: str, kind: str, value: object) -> ColumnFilter | None:
    """Return the filter of Spark as one of ours, or None if Spark has to evaluate it.

    Texts, whole numbers, Booleans and times are compared alike in both. Numbers with a point are left to
    Spark, in which NaN equals itself.

    >>> schema = pa.schema([("port", pa.int32()), ("rate", pa.float64())])
    >>> column_filter(schema, "port", "EqualTo", 443).value
    <pyarrow.Int32Scalar: 443>
    >>> column_filter(schema, "rate", "EqualTo", 1.5), column_filter(schema, "port", "EqualTo", "443")
    (None, None)
    """
    if schema.get_field_index(name) < 0:
        return None
    wanted = schema.field(name).type
    if kind in {"IsNull", "IsNotNull"}:
        return ColumnFilter(name, kind)
    values = list(value) if kind == "In" and isinstance(value, (list, tuple)) else [value]
    if not (kind == "In" or kind in COMPARISONS) or not all(_comparable(each, wanted) for each in values):
        return None
    try:
        literal = pa.array(values, wanted)
    except (pa.ArrowInvalid, OverflowError):
        return None  # out of the range of the column
    return ColumnFilter(name, kind, literal if kind == "In" else literal[0])


def _comparable(value: object, arrow: pa.DataType) -> bool:
    """Whether a value from Spark can be compared with a column of this type, without any conversion."""
    if pa.types.is_string(arrow):
        return isinstance(value, str)
    if pa.types.is_signed_integer(arrow):
        return isinstance(value, int) and not isinstance(value, bool)
    if pa.types.is_timestamp(arrow):
        return isinstance(value, datetime) and (value.tzinfo is None) is (arrow.tz is None)
    return pa.types.is_boolean(arrow) and isinstance(value, bool)


def condition(table: str, schema: pa.Schema, filters: Sequence[ColumnFilter]) -> RowCondition | None:
    """Return the filters as a condition on rows as they are decoded, before other columns are decoded."""
    if not filters:
        return None
    names = tuple(dict.fromkeys(each.column for each in filters))
    rows = SparkRows(table, schema).partly(names)
    return RowCondition(names, lambda batch: meeting(rows.convert(batch), filters))


def meeting(rows: pa.RecordBatch, filters: Sequence[ColumnFilter]) -> pa.Array:
    """Return for each row whether it meets all filters."""
    meets = [each.meets(rows.column(each.column)) for each in filters]
    return reduce(pc.and_, meets)


def castable(table: str, name: str, wanted: pa.DataType) -> bool:
    """Return whether the values of a column can be had in another type.

    >>> castable("smf_record", "record_no", pa.string()), castable("smf_record", "record_no", pa.date32())
    (True, False)
    """
    kind = stored_type(selected_schema(table, (name,)).field(0).type)
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    try:
        pa.nulls(0, kind).cast(wanted)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return False
    return True
