"""Arrow types and schemas of the declared columns; the one place that decides what type a column has."""

from __future__ import annotations

from functools import cache

import pyarrow as pa

from zscope.schemas.model import Field, Format
from zscope.schemas.tables import Column, columns_of

TEXT = pa.string()
FEW_TEXTS = pa.dictionary(pa.int32(), pa.string())
LOCAL = pa.timestamp("us")
UTC = pa.timestamp("us", tz="UTC")

_UNSIGNED = {1: pa.uint8(), 2: pa.uint16(), 3: pa.uint32(), 4: pa.uint32(), 8: pa.uint64()}
_SIGNED = {1: pa.int8(), 2: pa.int16(), 4: pa.int32(), 8: pa.int64()}
_FIXED: dict[Format, pa.DataType] = {
    Format.HEX: TEXT,
    Format.RAW: pa.binary(),
    Format.IP_MAPPED: FEW_TEXTS,
    Format.IP_FIRST4: FEW_TEXTS,
    Format.PACKED_SPAN: pa.uint64(),
    Format.PACKED_NUMBER: pa.int32(),
    Format.TOD: UTC,
    Format.TOD_SPAN: pa.uint64(),
    Format.TOD_SPAN_SIGNED: pa.int64(),
    Format.HEX_FLOAT: pa.float64(),
    Format.CERT_TIME: UTC,
}


def arrow_type(field: Field) -> pa.DataType:
    """The Arrow type of a field's column.

    >>> from zscope.schemas import catalog
    >>> arrow_type(catalog().header.field("SMFxTME"))
    TimestampType(timestamp[us])
    """
    match field.format:
        case Format.UINT | Format.BITS:
            return pa.uint64() if field.scale != 1 else _UNSIGNED[field.length or 0]
        case Format.INT:
            return pa.int64() if field.scale != 1 else _SIGNED[field.length or 0]
        case Format.TEXT:
            return TEXT if field.many else FEW_TEXTS
        case Format.TIME_HUNDREDTHS | Format.PACKED_TIME:
            return UTC if field.column.endswith("_utc") else LOCAL
        case _:
            return _FIXED[field.format]


def arrow_field(column: Column) -> pa.Field:
    """An Arrow field that carries the vendor's name, the unit and the meaning along."""
    field = column.field
    told = {
        "meaning": field.meaning,
        "evidence": field.evidence.value,
        "vendor_name": field.name,
        "unit": field.unit,
        "codes": field.codes,
    }
    metadata = {key: value for key, value in told.items() if value}
    return pa.field(field.column, arrow_type(field), nullable=column.section is not None, metadata=metadata)


@cache
def table_schema(table: str) -> pa.Schema:
    """The Arrow schema of a table.

    >>> table_schema("smf_record").field("record_no").type
    DataType(uint64)
    """
    return pa.schema([arrow_field(c) for c in columns_of(table)], metadata={"table": table})
