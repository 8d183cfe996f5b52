"""The columns of published tables: the Iceberg schema of a stored table, and how it follows a new version.

Iceberg identifies columns by numbers. The data files have none, so the name mapping in the properties of a
table gives the numbers of their names. A column keeps its number as long as its name and type are the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.conversions import to_bytes
from pyiceberg.schema import Schema
from pyiceberg.table.name_mapping import (
    MappedField,
    NameMapping,
    create_mapping_from_schema,
    parse_mapping_from_json,
)
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DoubleType,
    IcebergType,
    IntegerType,
    ListType,
    LongType,
    NestedField,
    PrimitiveType,
    StringType,
    TimestampType,
    TimestamptzType,
)

from zscope.pipelines.store.parquet_files import parquet_schema, table_description, time_column
from zscope.schemas.arrow import LOCAL, column_comment
from zscope.schemas.arrow import UTC as IN_UTC
from zscope.schemas.stored import DAY, LOAD_ID, running_of
from zscope.schemas.tables import table_names

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from zscope.pipelines.store.commits import DataFile

NAME_MAPPING = "schema.name-mapping.default"
DAY_ID = 1
"""Number of the column `day` that files with several days have. In the others it is part of the path, and
readers of Iceberg tables would see nulls: so it is not in the schema."""
_TYPES: dict[pa.DataType, PrimitiveType] = {
    pa.bool_(): BooleanType(),
    pa.int32(): IntegerType(),
    pa.int64(): LongType(),
    pa.float64(): DoubleType(),
    pa.string(): StringType(),
    pa.binary(): BinaryType(),
    pa.date32(): DateType(),
    LOCAL: TimestampType(),
    IN_UTC: TimestamptzType(),
}
_WIDENED = {(pa.int32(), pa.int64())}
"""Types of older files that readers of Iceberg tables convert."""
_WIDENED_TYPES = {(IntegerType(), LongType())}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def table_properties(table: str, schema: Schema, before: Mapping[str, str]) -> dict[str, str]:
    """Return the properties of a published table, which had some before."""
    return {
        "comment": table_comment(table),
        # Spark and other clients in Java then refuse to delete files; pyiceberg does not know this property.
        "gc.enabled": "false",
        NAME_MAPPING: _name_mapping(schema, before).model_dump_json(),
        "zscope.table": table,
    }


def _name_mapping(schema: Schema, before: Mapping[str, str]) -> NameMapping:
    """Return the numbers of the names of columns in files.

    pyiceberg refuses a file with a column that has no number, so `day` and the columns of older versions have
    numbers too, although they are not in the schema.
    """
    mapping = list(create_mapping_from_schema(schema))
    named = {name for field in mapping for name in field.names}
    old = parse_mapping_from_json(before[NAME_MAPPING]) if NAME_MAPPING in before else NameMapping(root=[])
    mapping += [field for field in old if not named & set(field.names)]
    if not any(DAY.name in field.names for field in mapping):
        mapping.append(MappedField.model_validate({"field-id": DAY_ID, "names": [DAY.name]}))
    return NameMapping(root=mapping)


def table_comment(table: str) -> str:
    """Return what a row of a table stands for, as in the catalogue of the store."""
    text = table_description(table)
    if table in table_names() and running_of(table):
        text += (
            " Rows whose basis is 'since start' have values as recorded, since the start of the address "
            "space; the views of the store show differences instead."
        )
    return text


def schema_of(table: str, before: Schema | None = None, last_column: int = DAY_ID) -> Schema:
    """Return the columns of a table; those that a published schema has already keep their numbers.

    All columns can be null: files of older versions do not have all of them.
    """
    known = {each.name: each for each in before.fields} if before else {}
    fields = []
    for column in parquet_schema(table):
        old = known.get(column.name)
        kind: IcebergType
        if old and _is_same(old.field_type, column.type):
            number, kind = old.field_id, _kept(old.field_type, column.type)
        else:
            last_column += 1
            number = last_column
            kind = iceberg_type(column.type, last_column + 1)
            last_column += isinstance(kind, ListType)
        comment = column_comment(column)
        fields.append(NestedField(number, column.name, kind, required=False, doc=comment or None))
    if before and list(before.fields) == fields:
        return before
    return Schema(*fields, schema_id=before.schema_id + 1 if before else 0)


def iceberg_type(kind: pa.DataType, element_id: int = 0) -> IcebergType:
    """Return the Iceberg type of a stored type.

    >>> str(iceberg_type(pa.dictionary(pa.int32(), pa.string()))), str(iceberg_type(pa.list_(pa.int64()), 7))
    ('string', 'list<long>')
    """
    if pa.types.is_list(kind):
        element = iceberg_type(kind.value_type)
        return ListType(element_id, element, element_required=False)
    return _TYPES[_plain(kind)]


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _is_same(published: IcebergType, stored: pa.DataType) -> bool:
    wanted = iceberg_type(stored)
    if isinstance(published, ListType) and isinstance(wanted, ListType):
        return published.element_type == wanted.element_type
    return published == wanted or (published, wanted) in _WIDENED_TYPES


def _kept(published: IcebergType, stored: pa.DataType) -> IcebergType:
    return published if isinstance(published, ListType) else iceberg_type(stored)


def problem_of_file(path: Path, table: str) -> str:
    """Return why readers of Iceberg tables cannot read a file, or an empty text if they can.

    Files of older versions of zscope can have other types.
    """
    try:
        stored = pq.read_schema(path)
    except (OSError, pa.ArrowException) as error:
        reason = str(error).partition("\n")[0]
        return f"{path.name} cannot be read ({reason}); zscope store check names damaged files"
    for column in parquet_schema(table):
        if column.name not in stored.names:
            continue
        old, new = _plain(stored.field(column.name).type), _plain(column.type)
        if old != new and (old, new) not in _WIDENED:
            return (
                f"files of an older version of zscope have {old} in {column.name}, which Iceberg does not "
                "have; zscope store compact writes them again"
            )
    return ""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of some columns of a file, by number of the column, and their numbers of nulls."""

    lower: dict[int, bytes]
    upper: dict[int, bytes]
    nulls: dict[int, int]


def bounds_of(file: DataFile, schema: Schema) -> Bounds:
    """Return the bounds that the commit contains: those of the time and of the load."""
    bounds = Bounds({}, {}, {})
    clock = time_column(file.table)
    if clock and file.first_local and file.last_local:
        number = schema.find_field(clock).field_id
        bounds.lower[number] = to_bytes(TimestampType(), _microseconds(file.first_local))
        bounds.upper[number] = to_bytes(TimestampType(), _microseconds(file.last_local))
    if file.loads:
        number = schema.find_field(LOAD_ID.name).field_id
        bounds.lower[number] = to_bytes(LongType(), min(file.loads))
        bounds.upper[number] = to_bytes(LongType(), max(file.loads))
        bounds.nulls[number] = 0
    return bounds


def _microseconds(local: str) -> int:
    """Return the number of microseconds since 1970 of a local time.

    >>> _microseconds("1970-01-01 00:00:01.000002")
    1000002
    """
    return (datetime.fromisoformat(local).replace(tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)
