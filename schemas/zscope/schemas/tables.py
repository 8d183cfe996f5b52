"""The columns of each table, in order: where the row is from, then the joined sections, then its own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from zscope.schemas.load import catalog
from zscope.schemas.model import Evidence, Field, Format, RecordLayout, Section, TableLayout
from zscope.schemas.printed import report_tables

HEADER_COLUMNS = ("system", "written_local")
"""Columns of the record header that every table carries."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table and the field that fills it."""

    field: Field
    section: Section | None
    """None: made by the reader (record number and the like)."""

    @property
    def name(self) -> str:
        """The column's name."""
        return self.field.column


def _made(column: str, length: int, meaning: str) -> Column:
    field = Field(
        name="", offset=0, length=length, format=Format.UINT, column=column, meaning=meaning,
        evidence=Evidence.IBM_DOC,
    )  # fmt: skip
    return Column(field, None)


RECORD_NO = _made("record_no", 8, "Number of the record in its file, counted from 1.")
RECORD_OFFSET = _made(
    "record_offset",
    8,
    "Place of the record's first byte in the file, after unpacking if the file was packed.",
)
SECTION_NO = _made("section_no", 4, "Number of the section among its kind in the record, counted from 0.")

RECORD_TABLE = "smf_record"
"""One row for each record of any type: the header only."""
RAW_TABLE = "smf_raw"
"""The bytes of what no layout describes."""
DIGEST_TABLE = "record_digest"
"""One row for each record of any type: what tells its bytes from those of others."""
ANY_RECORD_TABLES = (RECORD_TABLE, RAW_TABLE, DIGEST_TABLE)
"""Tables that take records whether or not a layout describes them."""


@cache
def columns_of(table: str) -> tuple[Column, ...]:
    """The columns of one table.

    >>> [c.name for c in columns_of("smf119_zert_dn")][:5]
    ['record_no', 'record_offset', 'section_no', 'system', 'written_local']
    """
    header = catalog().header
    if table == RECORD_TABLE:
        return (RECORD_NO, RECORD_OFFSET, *(Column(f, header) for f in header.columns))
    if table == RAW_TABLE:
        kept = [Column(f, header) for f in header.columns if f.column in _RAW_HEADER]
        return (RECORD_NO, RECORD_OFFSET, *kept, RAW_PART, SECTION_NO, RAW_BYTES)
    if table == DIGEST_TABLE:
        kept = [Column(f, header) for f in header.columns if f.column in HEADER_COLUMNS]
        return (RECORD_NO, *kept, DIGEST)
    record, layout = catalog().table(table)
    return tuple(_columns(record, layout, header))


_RAW_HEADER = ("system", "written_local", "record_type", "record_subtype")
RAW_PART = Column(
    Field("", 0, 8, Format.TEXT, "part", "Section key, or 'record' for a record no layout describes."), None
)
RAW_BYTES = Column(Field("", 0, None, Format.RAW, "bytes", "The bytes as they are in the file."), None)
DIGEST = _made(
    "digest", 8, "XXH3 of 64 bits over the record behind its length word: equal for records that are equal."
)


def _columns(record: RecordLayout, layout: TableLayout, header: Section) -> list[Column]:
    rows = record.section(layout.rows)
    columns = [RECORD_NO, RECORD_OFFSET]
    if rows.repeats:
        columns.append(SECTION_NO)
    by_name = {f.column: f for f in header.columns}
    columns += [Column(by_name[name], header) for name in HEADER_COLUMNS]
    for join in layout.joins:
        section = record.section(join.section)
        wanted = join.columns
        columns += [Column(f, section) for f in section.columns if wanted is None or f.column in wanted]
    columns += [Column(f, rows) for f in rows.columns]
    return columns


@cache
def record_table_names() -> tuple[str, ...]:
    """Every table that SMF data can fill."""
    return (*ANY_RECORD_TABLES, *(layout.name for _, layout in catalog().tables()))


@cache
def table_names() -> tuple[str, ...]:
    """Every table there is, from SMF data first."""
    return (*record_table_names(), *report_tables())
