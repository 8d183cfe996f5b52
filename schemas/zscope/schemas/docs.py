"""Render the data dictionary as Markdown from the declarations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zscope.schemas.arrow import arrow_type, duckdb_type, stored_type, table_meaning
from zscope.schemas.code_tables import cipher_suites
from zscope.schemas.field_catalog import ANY_RECORD, CatalogEntry, entries
from zscope.schemas.load import catalog
from zscope.schemas.model import CodeTable, Evidence, Field, RecordLayout, Section
from zscope.schemas.reports import PrintedField, report_tables
from zscope.schemas.stored import running_of
from zscope.schemas.tables import record_table_names, table_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from zscope.schemas.model import RunningTotals

EVIDENCE = {
    Evidence.IBM_DOC: "IBM documentation of this record.",
    Evidence.IBM_DOC_SIBLING: "IBM documentation of another record type with the same section.",
    Evidence.IBM_DECK: "An IBM presentation or education document.",
    Evidence.PUBLISHED_TABLE: "A table of offsets that others published from IBM's documentation.",
    Evidence.MACRO_MAPPING: "A public mapping generated from IBM's macro.",
    Evidence.PUBLIC_CODE: "The source of a public program that reads the record.",
    Evidence.INFERRED: "Inferred from other facts; used with care.",
    Evidence.UNCONFIRMED: "Not published; listed for completeness.",
}

_INTRODUCTION = """\
# Data dictionary

Every declared field, its place in the record or its label in the report, and the column it becomes.
This page is rendered from the layout files, which `schemas/README.md` explains;
`zscope fields PATTERN` searches the same fields.

Offsets count from 0 at the start of the section, those of the header and of triplets from the start of the
record. A timestamp computed from two fields, a time of day and its date, lists both. A field that is not
completely inside a section of the file is null: older systems write shorter sections. Columns ending in
`_utc` are points in time, those ending in `_local` are local times of the system that wrote the record.
Types are those of the store, in which all integers are signed; `zscope decode` and Python return unsigned
integers where records have them.

In tables from reports the first label is the one in the text; other forms and releases of the report
use the labels after it. Every such row contains its file and line, the form in which it was captured, and
the origin of its system and its time.

Contents: [tables](#tables), [tables from reports](#tables-from-reports),
[fields in no table](#fields-in-no-table), [sections](#sections),
[code tables](#code-tables), [evidence](#evidence), [sources](#sources).
"""
_NO_TABLE = """\
## Fields in no table

Fields of the records that have no column: used by the reader only, or not understood well enough.
"""
_CODE_TABLES = """\
## Code tables

Each is a table of this name in the store. Values that are not listed are in no source and are shown as
`unknown (0x..)`.
"""

_COLUMNS = (
    "column", "type", "unit", "vendor field", "section", "offset", "length", "evidence", "codes", "meaning",
)  # fmt: skip
_REPORT_COLUMNS = ("column", "type", "unit", "label", "format", "evidence", "codes", "meaning")
_UNPLACED = ("record", "section", "vendor field", "offset", "length", "unit", "evidence", "meaning")
_SECTIONS = ("section", "what", "triplet", "located by", "known lengths", "fields", "remark")
_CIPHERS = (
    "code", "name", "protocol", "key exchange", "authentication", "encryption", "bits", "mode", "mac", "hash",
    "pfs",
)  # fmt: skip


def data_dictionary() -> str:
    """Return the whole data dictionary; the same declarations always give the same text."""
    parts = (
        _index(), _tables(), _reports(), _unplaced(), _sections(), _codes(), _evidence(), _sources(),
    )  # fmt: skip
    return _INTRODUCTION + "".join(f"{line}\n" for part in parts for line in ("", *part))


def _index() -> Iterator[str]:
    yield "## Tables"
    yield ""
    rows = [(f"[{n}](#{n})", _origin(n), table_meaning(n)) for n in table_names()]
    yield from _table(("table", "from", "meaning"), rows)


def _tables() -> Iterator[str]:
    for number, name in enumerate(record_table_names()):
        if number:
            yield ""
        yield f"### {name}"
        yield ""
        yield table_meaning(name)
        if record := _record_of(name):
            grain = ", ".join(f"`{column}`" for column in catalog().table(name)[1].grain)
            label = (
                ", ".join(_labels(name)) if len(_labels(name)) > 1 else f"{_label(record)}, {record.title}"
            )
            yield f"From record {label}. In a file {grain} identify a row."
        if totals := running_of(name):
            yield from _running(totals)
        if report := report_tables().get(name):
            grain = ", ".join(f"`{column}`" for column in report.grain)
            yield f"Also from {report.title}, whose label follows IBM's name: {grain} identify a row."
        yield ""
        yield from _table(_COLUMNS, [_column_row(entry) for entry in entries() if entry.table == name])


def _running(totals: RunningTotals) -> Iterator[str]:
    """Explain which values count from a start on."""
    subtypes = ", ".join(str(subtype) for subtype in totals.subtypes)
    columns, same = _listed(totals.columns), _listed(totals.same)
    yield ""
    yield (
        f"Records of subtype {subtypes} count from a start on: {columns}. `zscope decode`, the data files "
        "and the view over them (`files.` before the name of the table) have the values of the record. "
        f"In the store a row has the difference from the record before of the same {same}, and "
        "`interval_start_utc` is the end of that record. The column `basis` states it: `difference`; "
        "`since restart` if a value was less than before, so that the value itself counts; "
        "`no record before`, or only one that is more than a day older, where the values are null. "
        f"As recorded it is {_listed(dict.fromkeys(totals.basis.values()))}."
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _reports() -> Iterator[str]:
    yield "## Tables from reports"
    for name, table in report_tables().items():
        if name in record_table_names():
            continue
        yield ""
        yield f"### {name}"
        yield ""
        grain = ", ".join(f"`{column}`" for column in table.grain)
        yield table.meaning
        yield f"From {table.title}. A row is identified by {grain}."
        yield ""
        yield from _table(_REPORT_COLUMNS, [_printed_row(field) for field in table.fields])


def _printed_row(field: PrintedField) -> tuple[str, ...]:
    added = not field.labels
    source = f" ({field.source})" if field.source else ""
    return (
        f"`{field.column}`",
        duckdb_type(stored_type(arrow_type(field))),
        field.unit,
        ", ".join(f"`{label}`" for label in field.labels),
        field.format.value,
        "added by the reader" if added else f"{field.evidence.value}{source}",
        f"[{field.codes}](#code_{field.codes})" if field.codes else "",
        f"{field.meaning} Since {field.since}." if field.since else field.meaning,
    )


def _column_row(entry: CatalogEntry) -> tuple[str, ...]:
    field = entry.fields[0]
    declared = bool(entry.vendor_names)
    return (
        f"`{entry.column}`",
        duckdb_type(stored_type(arrow_type(field))),
        field.unit,
        _names(entry),
        entry.section,
        _offsets(entry) if declared else "",
        _lengths(entry) if declared else "",
        _evidence_of(entry) if declared else "added by the reader",
        f"[{field.codes}](#code_{field.codes})" if field.codes else "",
        entry.meaning,
    )


def _unplaced() -> Iterator[str]:
    yield _NO_TABLE
    rows = []
    for entry in entries():
        if not entry.table:
            field = entry.fields[0]
            places = entry.record, entry.section, _names(entry), _offsets(entry), _lengths(entry)
            rows.append((*places, field.unit, _evidence_of(entry), entry.meaning))
    yield from _table(_UNPLACED, rows)


def _sections() -> Iterator[str]:
    yield "## Sections"
    for record in catalog().records.values():
        if record.subtypes and record.subtype != record.subtypes[0]:
            continue
        yield ""
        yield f"### Record {_label(record)}"
        yield ""
        yield f"{record.title}. {record.note}".strip()
        yield ""
        yield from _table(_SECTIONS, [_section_row(section) for section in record.sections])


def _section_row(section: Section) -> tuple[str, ...]:
    known = (section.lengths or {}).items()
    lengths = ", ".join(str(length) if name == "all" else f"{length} ({name})" for name, length in known)
    triplet = "" if section.triplet is None else str(section.triplet)
    pointer = " ".join(f"`{name}`" for name in section.pointer)
    fields = str(len(section.fields)) if section.fields else "known by name only"
    return section.key, section.title, triplet, pointer, lengths or "varies", fields, section.note


def _codes() -> Iterator[str]:
    yield _CODE_TABLES.rstrip()
    for codes in sorted(catalog().codes.values(), key=lambda c: c.name):
        yield ""
        yield f"### code_{codes.name}"
        yield ""
        yield f"{codes.title}. {codes.note}".strip()
        yield ""
        if codes.name == "cipher":
            yield "The table `cipher` has all details of each suite."
            yield ""
            yield from _ciphers()
        else:
            yield from _table(("code", "text"), _code_rows(codes))


def _code_rows(codes: CodeTable) -> Iterator[tuple[str, str]]:
    numbers = [code for code in codes.codes if isinstance(code, int)] + [group.mask for group in codes.masked]
    digits = 2 * max(1, (max(numbers, default=0).bit_length() + 7) // 8)
    for code, text in codes.codes.items():
        yield (str(code) if isinstance(code, str) or code < 0 else f"0x{code:0{digits}X}"), text
    for group in codes.masked:
        for code, text in group.codes.items():
            yield f"0x{code:0{digits}X} of the bits 0x{group.mask:0{digits}X}", text


def _ciphers() -> Iterator[str]:
    rows = [
        (
            s.code, s.name, s.protocol, s.key_exchange, s.authentication, s.encryption, str(s.key_bits),
            s.mode, s.mac, s.hash, s.pfs,
        )
        for s in cipher_suites().values()
    ]  # fmt: skip
    yield from _table(_CIPHERS, rows)


def _evidence() -> Iterator[str]:
    yield "## Evidence"
    yield ""
    yield from _table(("evidence", "means"), [(e.value, EVIDENCE[e]) for e in Evidence])


def _sources() -> Iterator[str]:
    yield "## Sources"
    yield ""
    sources = catalog().sources.values()
    rows = [(s.key, f"[{_escaped(s.title)}]({s.url})" if s.url else s.title) for s in sources]
    yield from _table(("key", "title"), rows)


def _record_of(table: str) -> RecordLayout | None:
    return next((record for record, layout in catalog().tables() if layout.name == table), None)


def _origin(table: str) -> str:
    report = report_tables().get(table)
    labels = _labels(table) if table in record_table_names() else []
    return ", ".join((*labels, report.title) if report else labels)


def _label(record: RecordLayout | None) -> str:
    return record.label if record else ANY_RECORD


def _labels(table: str) -> list[str]:
    """The kinds of records that fill a table."""
    labels = dict.fromkeys(record.label for record, layout in catalog().tables() if layout.name == table)
    return list(labels) or [ANY_RECORD]


def _names(entry: CatalogEntry) -> str:
    return ", ".join(f"`{name}`" for name in entry.vendor_names)


def _offsets(entry: CatalogEntry) -> str:
    return ", ".join(str(f.offset) for f in entry.all_fields if isinstance(f, Field))


def _lengths(entry: CatalogEntry) -> str:
    binary = [field for field in entry.all_fields if isinstance(field, Field)]
    return ", ".join("to the end" if f.length is None else str(f.length) for f in binary)


def _evidence_of(entry: CatalogEntry) -> str:
    field = entry.fields[0]
    return f"{field.evidence.value} ({field.source})" if field.source else field.evidence.value


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield _row(heads)
    yield "|" + "---|" * len(heads)
    for row in rows:
        yield _row([cell if cell.startswith(("[", "`")) else _escaped(cell) for cell in row])


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _escaped(text: str) -> str:
    """A text with the special characters of Markdown escaped."""
    for character in "\\|*<[":
        text = text.replace(character, f"\\{character}")
    return text
