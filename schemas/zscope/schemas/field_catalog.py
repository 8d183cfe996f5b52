"""The field catalogue: every declared field as a row, whether or not a table has a column for it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import TYPE_CHECKING

import pyarrow as pa

from zscope.schemas.arrow import arrow_type, duckdb_type, stored_type
from zscope.schemas.described_columns import described
from zscope.schemas.load import catalog
from zscope.schemas.model import (
    TRIPLET_PARTS,
    Evidence,
    Field,
    Format,
    RecordLayout,
    Section,
    TripletArea,
    record_label,
)
from zscope.schemas.reports import PrintedField, PrintedFormat, report_tables
from zscope.schemas.tables import (
    ANY_RECORD_TABLES,
    RecordColumn,
    columns_in,
    table_columns,
    table_names,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ANY_RECORD = "any"


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """One field of one record in one table; `table` is empty for a field in no table."""

    table: str
    column: str
    record: str
    """Type and subtype (119-11), several of them, a type where all its subtypes share it, or `any`; for a
    report its name."""
    section: str
    """Keys of the sections; several where each makes rows, or where one fills the nulls of another."""
    fields: tuple[Field | PrintedField, ...]
    """The fields that give the column; a timestamp has two, a time of day and a date."""
    others: tuple[Field | PrintedField, ...] = ()
    """Fields of other sections that give it as well, and its declaration in a report."""

    @property
    def all_fields(self) -> tuple[Field | PrintedField, ...]:
        """Return all fields that can give its value."""
        return (*self.fields, *self.others)

    @property
    def vendor_names(self) -> tuple[str, ...]:
        """Return the vendor's names; none for columns that the reader adds."""
        return tuple(name for field in self.all_fields if (name := _vendor_name(field)))

    @property
    def meaning(self) -> str:
        """Return its meaning, with the first release unless the text already contains it."""
        field = self.fields[0]
        complete = not field.since or field.since in field.meaning
        return field.meaning if complete else f"{field.meaning} Since {field.since}."


def _vendor_name(field: Field | PrintedField) -> str:
    return field.label if isinstance(field, PrintedField) else field.name


@cache
def entries() -> tuple[CatalogEntry, ...]:
    """Return every column of every table, then the fields in no table."""
    return (
        *(entry for table in table_names() for entry in _of_table(table)),
        *_unplaced(_fields_in_tables()),
    )


@cache
def field_catalog() -> pa.Table:
    """Return the field catalogue as a table; the names of its columns need no quotes in SQL.

    >>> field_catalog().num_rows == len(entries())
    True
    """
    return pa.Table.from_pylist([_row(entry) for entry in entries()], FIELD_CATALOG_SCHEMA)


FIELD_CATALOG_SCHEMA = pa.schema(
    [
        described("table_name", pa.string(), "Table with the column; null for a field that is in no table."),
        described("column_name", pa.string(), "Column that contains the decoded value."),
        described(
            "vendor_name",
            pa.string(),
            "IBM's name; two for a timestamp of time and date; the label in a report.",
        ),
        described("record", pa.string(), "SMF type and subtype, such as 119-11, or the report."),
        described("section", pa.string(), "Section of the record, as issues name it."),
        described("byte_offset", pa.int64(), "First byte, counted from 0 at the start of the section."),
        described(
            "byte_length",
            pa.int64(),
            "Number of bytes; null for a field that extends to the end of the section.",
        ),
        described("format", pa.string(), "Format of the value in the record or report."),
        described("arrow_type", pa.string(), "Type of the column in Arrow, as `zscope decode` returns it."),
        described("duckdb_type", pa.string(), "Type of the column in the store."),
        described("unit", pa.string(), "Unit of the column's values."),
        described("codes", pa.string(), "Code table with the meaning of the values."),
        described("evidence", pa.string(), "Proof for the place of the field."),
        described("source", pa.string(), "Source of the proof."),
        described("meaning", pa.string(), "What the field means."),
    ],
    metadata={"meaning": "Every declared field: its place in a record or report and the column it becomes."},
)


def search(words: Sequence[str]) -> pa.Table:
    """Return the rows of the catalogue that match every word, in a name, a table or the meaning.

    A word with `*`, `?` or `[` is a pattern for a whole name. The search ignores case.

    >>> search(["smf119sc_tls_neg_cipher"])["column_name"].to_pylist()
    ['cipher']
    """
    wanted = [word.lower() for word in words]
    chosen = [index for index, entry in enumerate(entries()) if all(_matches(entry, word) for word in wanted)]
    return field_catalog().take(pa.array(chosen, pa.int64()))


def _matches(entry: CatalogEntry, word: str) -> bool:
    aliases = (alias for f in entry.all_fields if isinstance(f, PrintedField) for alias in f.aliases)
    names = [entry.table, entry.column, f"{entry.table}.{entry.column}", *entry.vendor_names, *aliases]
    if re.search(r"[*?\[]", word):
        return any(fnmatchcase(name.lower(), word) for name in names)
    return any(word in text.lower() for text in (*names, entry.meaning))


def _of_table(table: str) -> Iterator[CatalogEntry]:
    report = report_tables().get(table)
    for column in table_columns(table):
        printed = column.from_reports
        if column.from_records is None:
            assert report
            assert printed
            yield CatalogEntry(table, column.name, report.title, "", (printed,))
            continue
        record = _record_of(table)
        label = _label_of(table)
        if report and printed:
            label = f"{label}, {report.title}"
        (section, field), *others = _places(record, column.from_records)
        others += _same_elsewhere(table, record, field)
        keys = dict.fromkeys(s.key for s, _ in ((section, field), *others) if s)
        fields = _with_date(section, field)
        listed = {(f.name, f.offset) for f in fields}
        further = {(f.name, f.offset): f for _, f in others if (f.name, f.offset) not in listed}
        also = (*further.values(), *((printed,) if printed else ()))
        yield CatalogEntry(table, column.name, label, ", ".join(keys), fields, also)


def _same_elsewhere(
    table: str, record: RecordLayout | None, field: Field
) -> list[tuple[Section | None, Field]]:
    """The fields with the same column in other kinds of records that fill the table."""
    return [
        (section, other)
        for another, layout in catalog().tables()
        if layout.name == table and record is not None and another.label != record.label
        for column in columns_in(another, layout)
        if column.name == field.column
        for section, other in _places(another, column)
        if other.format is field.format
    ]


def _label_of(table: str) -> str:
    """All records that fill a table, or the label of the tables of all records.

    >>> _label_of("smf70_cpu")
    '70-1'
    """
    labels = dict.fromkeys(record.label for record, layout in catalog().tables() if layout.name == table)
    return ", ".join(labels) or ANY_RECORD


def _record_of(table: str) -> RecordLayout | None:
    return None if table in ANY_RECORD_TABLES else catalog().table(table)[0]


def _places(record: RecordLayout | None, column: RecordColumn) -> list[tuple[Section | None, Field]]:
    """The declarations of a column; a header field has the name of this type of record."""
    if record and column.section is catalog().header:
        header = next(s for s in record.sections if s.key == column.section.key)
        return [(header, next(f for f in header.columns if f.column == column.name))]
    return [(column.section, column.field), *column.others]


def _fields_in_tables() -> set[tuple[str, str, str]]:
    """Record, section and name of every field that a table shows."""
    placed = set()
    for record, layout in catalog().tables():
        for column in columns_in(record, layout):
            for section, field in _places(record, column):
                for part in _with_date(section, field):
                    key = section.key if section else ""
                    placed.add((record_label(record.type, record.subtype), key, part.name))
    return placed


def _with_date(section: Section | None, field: Field) -> tuple[Field, ...]:
    return (field, section.field(field.date)) if section and field.date else (field,)


def _unplaced(placed: set[tuple[str, str, str]]) -> Iterator[CatalogEntry]:
    """Fields in no table; a section that all subtypes of a type share is listed once."""
    types = dict.fromkeys(record.type for record in catalog().records.values())
    for record_type in types:
        records = [r for r in catalog().records.values() if r.type == record_type]
        listed: list[Section] = []
        for record in records:
            for section in record.sections:
                if section in listed:
                    continue
                listed.append(section)
                users = [r for r in records if section in r.sections]
                labels = [record_label(r.type, r.subtype) for r in users]
                label = str(record_type) if len(users) == len(records) else ", ".join(labels)
                yield from _pointers(section, record.triplets, label)
                for field in section.columns:
                    if not any((name, section.key, field.name) in placed for name in labels):
                        yield CatalogEntry("", "", label, section.key, _with_date(section, field))


def _pointers(section: Section, area: TripletArea | None, label: str) -> Iterator[CatalogEntry]:
    """The fields of the triplet that locates a section."""
    if section.triplet is None or area is None:
        return
    # Triplets are published with the section they locate; only the name is known of one without fields.
    proofs = Counter((f.evidence, f.source) for f in section.fields) or {(Evidence.INFERRED, ""): 1}
    evidence, source = max(proofs, key=proofs.__getitem__)
    offset = area.offset(section.triplet)
    for name, (part, length) in zip(section.pointer, TRIPLET_PARTS, strict=True):
        field = Field(
            name=name,
            offset=offset,
            length=length,
            format=Format.UINT,
            column="",
            meaning=f"{section.title}: {part} of the section{'s' if part == 'number' else ''}.",
            unit="" if part == "number" else "bytes",
            evidence=evidence,
            source=source,
        )
        yield CatalogEntry("", "", label, "header", (field,))
        offset += length


def _row(entry: CatalogEntry) -> dict[str, object]:
    field = entry.fields[0]
    declared = bool(entry.vendor_names)
    arrow = arrow_type(field) if entry.column else None
    return {
        "table_name": entry.table or None,
        "column_name": entry.column or None,
        "vendor_name": ", ".join(entry.vendor_names) or None,
        "record": entry.record,
        "section": entry.section or None,
        **_place(entry.fields if declared else ()),
        "arrow_type": _short(arrow) if arrow is not None else None,
        "duckdb_type": duckdb_type(stored_type(arrow)) if arrow is not None else None,
        "unit": field.unit or None,
        "codes": field.codes or None,
        "evidence": field.evidence.value if declared else None,
        "source": field.source or None,
        "meaning": entry.meaning,
    }


def _place(fields: tuple[Field | PrintedField, ...]) -> dict[str, object]:
    """The place and format of the value; a report has formats only."""
    binary = [field for field in fields if isinstance(field, Field)]
    to_the_end = any(field.length is None for field in binary)
    return {
        "byte_offset": binary[0].offset if binary else None,
        "byte_length": sum(f.length or 0 for f in binary) if binary and not to_the_end else None,
        "format": ", ".join(f.format.value for f in fields if f.format is not PrintedFormat.MADE) or None,
    }


def _short(arrow: pa.DataType) -> str:
    """The name of a type, without the index type of a dictionary."""
    return f"dictionary<{arrow.value_type}>" if pa.types.is_dictionary(arrow) else str(arrow)
