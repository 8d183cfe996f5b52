"""The columns of each table, in order: origin of the row, joined sections, the section of the row.

Some tables are filled by records, some by reports, and some by both: these have the columns of both.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from zscope.schemas.load import catalog
from zscope.schemas.model import (
    HEADER,
    Evidence,
    Field,
    Format,
    RecordLayout,
    RowNumbering,
    Section,
    TableLayout,
)
from zscope.schemas.reports import PrintedField, report_tables

HEADER_COLUMNS = ("system", "written_local")
"""Columns of the record header that every table carries."""


@dataclass(frozen=True, slots=True)
class RecordColumn:
    """One column of a table and the field that fills it."""

    field: Field
    section: Section | None
    """None: added by the reader, such as the record number."""
    others: tuple[tuple[Section, Field], ...] = ()
    """Other fields that can give the value: in other kinds of rows, or where the first field is null."""
    in_every_row: bool = True
    """For a column that the reader adds: whether it gives every row a value."""

    @property
    def name(self) -> str:
        """Return the name of the column."""
        return self.field.column


def _added(column: str, length: int, meaning: str) -> RecordColumn:
    field = Field(
        name="", offset=0, length=length, format=Format.UINT, column=column, meaning=meaning,
        evidence=Evidence.IBM_DOC,
    )  # fmt: skip
    return RecordColumn(field, None)


RECORD_NO = _added("record_no", 8, "Number of the record in its file, counted from 1.")
RECORD_OFFSET = _added(
    "record_offset",
    8,
    "Offset of the record's first byte in the file, after unpacking if the file was packed.",
)
SECTION_NO = _added("section_no", 4, "Number of the section among its kind in the record, counted from 0.")

SOURCE = RecordColumn(
    Field("", 0, Format.TEXT, "source", "What the row was read from: smf for a record, csv and json.", 8),
    None,
)
"""Only in tables that reports fill as well."""
SMF_SOURCE = "smf"

RECORD_TYPE = _added("record_type", 2, "Record type; that of the extended header where a record has one.")
"""In the tables of records of any type."""

RECORD_TABLE = "smf_record"
"""One row per record of any type: its header."""
RAW_TABLE = "smf_raw"
"""The bytes of records and sections without a layout."""
DIGEST_TABLE = "record_digest"
"""One row per record of any type: a digest of its bytes."""
ANY_RECORD_TABLES = (RECORD_TABLE, RAW_TABLE, DIGEST_TABLE)
"""Tables of all records, with or without a layout."""


def columns_in(record: RecordLayout, layout: TableLayout) -> tuple[RecordColumn, ...]:
    """Return the columns that one kind of record gives to a table; others can fill the same table."""
    return tuple(_columns(record, layout, catalog().header))


@cache
def columns_of(table: str) -> tuple[RecordColumn, ...]:
    """Return the columns that records give to one table.

    >>> [c.name for c in columns_of("smf119_zert_dn")][:5]
    ['record_no', 'record_offset', 'section_no', 'system', 'written_local']
    """
    header = catalog().header
    if table == RECORD_TABLE:
        return (RECORD_NO, RECORD_OFFSET, *(_of_any_type(f, header) for f in header.columns))
    if table == RAW_TABLE:
        columns = [_of_any_type(f, header) for f in header.columns if f.column in _RAW_HEADER]
        return (RECORD_NO, RECORD_OFFSET, *columns, RAW_PART, SECTION_NO, RAW_BYTES)
    if table == DIGEST_TABLE:
        columns = [RecordColumn(f, header) for f in header.columns if f.column in HEADER_COLUMNS]
        return (RECORD_NO, *columns, DIGEST)
    first, *others = [(record, layout) for record, layout in catalog().tables() if layout.name == table]
    columns = list(columns_in(*first))
    for other in others:
        known = {column.name for column in columns}
        columns += [column for column in columns_in(*other) if column.name not in known]
    return tuple(columns)


def _of_any_type(field: Field, header: Section) -> RecordColumn:
    return RECORD_TYPE if field.column == RECORD_TYPE.name else RecordColumn(field, header)


_RAW_HEADER = ("system", "written_local", "record_type", "record_subtype")
RAW_PART = RecordColumn(
    Field("", 0, Format.TEXT, "part", "Section key, or 'record' for a record without a layout.", 8), None
)
RAW_BYTES = RecordColumn(
    Field("", 0, Format.RAW, "bytes", "The bytes of the record or section in the file."), None
)
DIGEST = _added(
    "digest", 8, "XXH3 of 64 bits over the record after its length word: the same for equal records."
)


def _columns(record: RecordLayout, layout: TableLayout, header: Section) -> list[RecordColumn]:
    rows = [record.section(key) for key in layout.rows]
    columns = [RECORD_NO, RECORD_OFFSET]
    if any(section.repeats for section in rows):
        columns.append(SECTION_NO)
    if layout.name in report_tables():
        columns.append(SOURCE)
    by_name = {f.column: f for f in header.columns}
    columns += [RecordColumn(by_name[name], header) for name in HEADER_COLUMNS]
    if layout.kind:
        kind = Field("", 0, Format.TEXT, layout.kind.column, layout.kind.meaning, 8)
        columns.append(RecordColumn(kind, None))
    if layout.numbering:
        columns += _numbering_columns(layout.numbering)
    places: dict[str, list[tuple[Section, Field]]] = {}
    for join in layout.joins:
        section, wanted = record.section(join.section), join.columns
        for field in section.columns:
            if wanted is None or field.column in wanted:
                places.setdefault(field.column, []).append((section, field))
    for section in rows:
        for field in section_columns(section):
            places.setdefault(field.column, []).append((section, field))
    columns += [RecordColumn(field, section, tuple(others)) for (section, field), *others in places.values()]
    return columns


def _numbering_columns(numbering: RowNumbering) -> list[RecordColumn]:
    """Return the columns of rows that are numbered by their place."""
    index, number, name = numbering.index, numbering.number, numbering.name
    return [
        RecordColumn(Field("", 0, Format.UINT, index.column, index.meaning, 2), None),
        RecordColumn(Field("", 0, Format.UINT, number.column, number.meaning, 2), None, in_every_row=False),
        RecordColumn(Field("", 0, Format.TEXT, name.column, name.meaning, 8), None, in_every_row=False),
    ]


def section_columns(section: Section) -> tuple[Field, ...]:
    """Return the fields that a section gives to its rows; a header that makes rows gives its own fields."""
    if section.key != HEADER:
        return section.columns
    standard = {field.column for field in catalog().header.fields}
    return tuple(field for field in section.columns if field.column not in standard)


@dataclass(frozen=True, slots=True)
class TableColumn:
    """One column of a table, as records and reports declare it."""

    name: str
    from_records: RecordColumn | None
    from_reports: PrintedField | None
    never_null: bool
    """Whether records and reports always give a value."""


@cache
def table_columns(table: str) -> tuple[TableColumn, ...]:
    """Return all columns of a table; those of reports first, each followed by columns of records only.

    >>> [c.name for c in table_columns("mq_channel")][:6]
    ['record_no', 'record_offset', 'section_no', 'file', 'line_no', 'source']
    """
    report = report_tables().get(table)
    printed = {field.column: field for field in report.fields} if report else {}
    in_records = {c.name: c for c in columns_of(table)} if table in record_table_names() else {}
    names = list(printed)
    place = 0
    for name in in_records:
        if name not in printed:
            names.insert(place, name)
        place = names.index(name) + 1
    added = {name for name, column in in_records.items() if column.section is None and column.in_every_row}
    required = {name for name, field in printed.items() if field.required}
    given = added & required if in_records and printed else added | required
    return tuple(TableColumn(n, in_records.get(n), printed.get(n), n in given) for n in names)


@cache
def record_table_names() -> tuple[str, ...]:
    """Return the names of all tables that SMF data can fill."""
    return (*ANY_RECORD_TABLES, *dict.fromkeys(layout.name for _, layout in catalog().tables()))


@cache
def table_names() -> tuple[str, ...]:
    """Return the names of all tables, those from SMF data first."""
    from_records = record_table_names()
    return (*from_records, *(name for name in report_tables() if name not in from_records))
