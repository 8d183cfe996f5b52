"""The model of record layouts: records, sections, fields, tables, code tables, and the catalog of all.

The layouts are the TOML files in `layouts/`. How bytes become values is defined by the codecs of the SMF
reader, one for each `Format`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from msgspec import field

from zscope.schemas.declared import Declared

UNITS = (
    "us", "ms", "s", "min", "bytes", "bytes_per_s", "kb", "mb", "bits", "pct", "msu", "msu_per_hour",
    "frames", "mbit_per_s",
)  # fmt: skip
"""Units of columns; the name of a column ends in its unit."""


def unit_in(column: str) -> str:
    """Return the unit in the name of a column, or an empty string; a rate per second is a plain number.

    >>> unit_in("capacity_msu_per_hour"), unit_in("busy_pct"), unit_in("cipher"), unit_in("io_per_s")
    ('msu_per_hour', 'pct', '', '')
    """
    unit = max((unit for unit in UNITS if column.endswith(f"_{unit}")), key=len, default="")
    return "" if unit == "s" and column.endswith("_per_s") else unit


HEADER = "header"
"""Key of the section at the start of every record."""
EXTENDED_HEADER = "extended_header"
"""Key of the section after it in records whose type does not fit into one byte."""


class Format(StrEnum):
    """The form of a field in a record. All numbers are big-endian."""

    UINT = "uint"
    INT = "int"
    BITS = "bits"
    TEXT = "text"
    """EBCDIC characters, padded with blanks (or binary zeros) on the right."""
    HEX = "hex"
    """Uninterpreted bytes that people read as hexadecimal digits."""
    RAW = "raw"
    """Uninterpreted bytes."""
    IP_MAPPED = "ip_mapped"
    """16 bytes; IPv4 as IPv4-mapped IPv6."""
    IP_FIRST4 = "ip_first4"
    """16 bytes; IPv4 in the first four unless a flag in another field indicates IPv6."""
    TIME_HUNDREDTHS = "time_hundredths"
    """1/100 seconds since midnight; with its packed date it becomes a timestamp."""
    PACKED_TIME = "packed_time"
    """0hhmmssF; with its packed date it becomes a timestamp."""
    PACKED_DATE = "packed_date"
    """0cyydddF; always belongs to a time of day."""
    PACKED_SPAN = "packed_span"
    """mmsstttF: minutes, seconds, milliseconds. Decoded to milliseconds."""
    PACKED_NUMBER = "packed_number"
    TOD = "tod"
    """A point in time on the TOD clock; zero means absent."""
    TOD_LOCAL = "tod_local"
    """A TOD clock that was set to the local time of the system."""
    TOD_SPAN = "tod_span"
    """An elapsed time in TOD-clock units. Decoded to microseconds."""
    TOD_SPAN_SIGNED = "tod_span_signed"
    HEX_FLOAT = "hex_float"
    """IBM hexadecimal floating point, eight bytes."""
    CERT_TIME = "cert_time"
    """Certificate expiry as characters, EBCDIC or ASCII; another field contains the form."""


class Evidence(StrEnum):
    """The proof for the place of a field."""

    IBM_DOC = "ibm-doc"
    IBM_DOC_SIBLING = "ibm-doc-sibling"
    IBM_DECK = "ibm-deck"
    PUBLISHED_TABLE = "published-table"
    MACRO_MAPPING = "macro-mapping"
    PUBLIC_CODE = "public-code"
    INFERRED = "inferred"
    UNCONFIRMED = "unconfirmed"


class Condition(Declared, frozen=True):
    """A condition on another field; where it does not hold, the field is absent."""

    field: str
    """Its name; it may be in another section of the record."""
    bits: int = 0
    """Bits that must all be set."""
    least: int = 0
    """The least value of its bytes, read as a number."""


class Field(Declared, frozen=True):
    """One field of a section: its place in the vendor's record and its column."""

    name: str
    offset: int
    format: Format
    column: str
    meaning: str
    length: int | None = None
    """None: to the end of the section."""
    unit: str = ""
    scale: int = 1
    """The value of the column is the number in the record multiplied by this."""
    codes: str = ""
    """Name of the code table for the values of the field."""
    evidence: Evidence = Evidence.IBM_DOC
    source: str = ""
    widened: int | None = None
    """The column has the type of a number of this many bytes, which the field of another record has."""
    many: bool = False
    """Most rows have different values, so the column is not dictionary-encoded."""
    date: str = ""
    """For a time of day: the name of the packed date that completes it."""
    size: str = ""
    """Name of the field with the number of valid bytes."""
    form: str = ""
    """For a certificate time: name of the field with its form."""
    v6_flag: str = ""
    """For `ip_first4`: name of the flag field whose bit 0x80 means IPv6."""
    nothing: int | None = None
    """For a number: the value that means absent."""
    when: tuple[Condition, ...] = ()
    """The field is present only where all of these hold."""
    unless: tuple[Condition, ...] = ()
    """The field is absent where all of these hold."""
    from_end: bool = False
    """The offset counts back from the end of the section."""
    since: str = ""
    """First release that writes the field, where it is known."""

    @property
    def end(self) -> int:
        """Return the offset after the field; for a field to the end of the section, its offset plus one.

        A field that counts from the end needs as many bytes of the section as its offset.
        """
        if self.from_end:
            return self.offset
        return self.offset + (1 if self.length is None else self.length)

    @property
    def partners(self) -> tuple[str, ...]:
        """Return the names of the fields that are needed to decode this one."""
        conditions = (condition.field for condition in (*self.when, *self.unless))
        return tuple(name for name in (self.date, self.size, self.form, self.v6_flag, *conditions) if name)

    @property
    def is_date_part(self) -> bool:
        """Return whether this is a packed date, which gets into the table as part of a timestamp."""
        return self.format is Format.PACKED_DATE


class SectionMark(Declared, frozen=True):
    """The text at the start of a section that nothing locates, and the fields that say what it contains."""

    text: str
    size: str
    """The field with the length of the section and the entries in it."""
    count: str
    """The field with the number of entries."""


class Section(Declared, frozen=True):
    """A part of a record that contains fields, located by a triplet (or, for the header, at the start)."""

    key: str
    title: str
    fields: tuple[Field, ...] = ()
    triplet: int | None = None
    """Position among the triplets, counted from 0; None: not located by a triplet."""
    pointer: tuple[str, ...] = ()
    """The vendor's names of the three fields that locate it: offset, length, number."""
    base: str = ""
    """Key of the section that contains the pointer, where it is not the header.

    The length and the number can be in it, and the offset in its own base: then the offset is that of the
    occurrences of all base sections, which follow each other.
    """
    mark: SectionMark | None = None
    """The section is where this text is. Sections with this one as `base` are the entries that follow it."""
    lengths: Mapping[str, int] | None = None
    """Known lengths by release, oldest first; None where the length varies from record to record."""
    repeats: bool = False
    step_field: str = ""
    """For entries of different lengths: the field with the length of each entry."""
    as_block: bool = False
    """The length in the triplet is that of all occurrences together, so only one block is located."""
    note: str = ""
    evidence: Evidence = Evidence.IBM_DOC
    """That of fields without their own."""
    source: str = ""
    """That of fields without their own."""

    @property
    def known_length(self) -> int:
        """Return the length at the newest known level, or the end of the last field where lengths vary."""
        if self.lengths:
            return max(self.lengths.values())
        from_end = max((f.offset for f in self.fields if f.from_end), default=0)
        return max((f.end for f in self.fields if not f.from_end), default=0) + from_end

    @property
    def shortest_length(self) -> int:
        """Return the length at the oldest known level; 0 where lengths vary."""
        return min(self.lengths.values()) if self.lengths else 0

    @property
    def is_located(self) -> bool:
        """Return whether a pointer or a mark locates it; the header is at the start of the record."""
        return self.triplet is not None or bool(self.base) or self.mark is not None

    @property
    def columns(self) -> tuple[Field, ...]:
        """Return the fields that become columns: all but the dates that complete a time."""
        return tuple(f for f in self.fields if not f.is_date_part)

    def field(self, name: str) -> Field:
        """Return the field with this vendor name."""
        for candidate in self.fields:
            if candidate.name == name:
                return candidate
        raise KeyError(name)


TRIPLET_PARTS = (("offset", 4), ("length", 2), ("number", 2))
"""The parts of a triplet and their lengths."""
TRIPLET_BYTES = sum(length for _, length in TRIPLET_PARTS)


@dataclass(frozen=True, slots=True)
class TripletArea:
    """Where the triplets of a record are; each locates the sections of one kind."""

    at: int
    """Offset of the first triplet in the record."""
    count_at: int | None = None
    """Offset of the two-byte field with the number of triplets; None: the layout states the number."""
    number: int | None = None
    """How many triplets the records have; None: each record states it."""
    places: tuple[int, ...] = ()
    """Offsets of the triplets where other fields are between them; empty: they follow each other."""
    ends: tuple[int, ...] = ()
    """For triplets with places: the known ends of the header by release, oldest first."""
    least: int = 0
    """For triplets with places: how many of them every record has."""

    def offset(self, index: int) -> int:
        """Return the offset of a triplet, counted from 0.

        >>> TripletArea(at=28, count_at=24).offset(2)
        44
        """
        return self.places[index] if self.places else self.at + TRIPLET_BYTES * index

    def end(self, count: int) -> int:
        """Return the offset after this many triplets.

        >>> TripletArea(at=24, number=2, places=(24, 36)).end(2)
        44
        """
        return self.offset(count - 1) + TRIPLET_BYTES if count else self.at

    def header_end(self, count: int) -> int:
        """Return where the header of a record with this many triplets ends.

        >>> TripletArea(at=24, number=2, places=(24, 36), ends=(36, 48)).header_end(2)
        48
        """
        return next((end for end in self.ends if end >= self.end(count)), self.end(count))


class Join(Declared, frozen=True):
    """A section that occurs once in a record and adds columns to every row of that record."""

    section: str
    columns: tuple[str, ...] | None = None
    """None: all of them."""


class RowKind(Declared, frozen=True):
    """The column that contains the kind of a row, where several sections make rows of one table."""

    column: str
    meaning: str
    texts: Mapping[str, str]
    """Its value by the key of the section."""


class ConnectionMatch(Declared, frozen=True):
    """A way to recognise a row of a connection: by its number, by its addresses and ports, or by both."""

    label: str
    number: str = ""
    """The column with the number of the connection."""
    addresses: str | None = None
    """What the columns `remote_ip`, `remote_port` and `local_port` have before their names."""


class ConnectionRows(Declared, frozen=True, kw_only=True):
    """How rows of a table describe a connection, for the history of a connection."""

    order: int
    """Order of the rows of one moment."""
    sentence: str
    """A row in words.

    `{column}` is a value, in the words of its code list if it has one; `{a|b}` is the first of two columns
    that has a value. `[a|b?text]` is text for rows with a value in one of the columns.
    """
    source: str = ""
    """Name of the table for readers; without one, that of the record or report."""
    time_utc: str = "written_utc"
    """SQL expression of the moment of a row."""
    time_local: str = "written_local"
    """The same by the local clock, for systems whose time zone is not known."""
    matches: tuple[ConnectionMatch, ...] = ()
    """Without any, the rows have the number and the start of the connection."""
    time_of_event: str = ""
    """Table of the same record whose rows have the time; for rows without a time."""
    facts_rank: int = 100
    """Addresses, job and user of a connection come from the table with the lowest rank that has them."""


SINCE_START = "since start"
"""The basis of values that count from the start of what they are of, and not from the record before."""


class RunningTotals(Declared, frozen=True, kw_only=True):
    """Which rows of a table count from a start on: the use of an interval is the difference of two rows."""

    basis: Mapping[int, str]
    """What the values are of, by subtype: an interval, a step, a job, or `since start`."""
    same: tuple[str, ...]
    """Columns with the same values in all rows about one thing, such as an address space."""
    columns: tuple[str, ...]
    """Columns whose values count."""
    restart: tuple[str, ...]
    """SQL expressions that only grow: after a smaller value, the counting began again."""

    @property
    def subtypes(self) -> tuple[int, ...]:
        """Return the subtypes whose values count from a start."""
        return tuple(subtype for subtype, basis in self.basis.items() if basis == SINCE_START)


class NamedColumn(Declared, frozen=True):
    """A column that no field of the record gives."""

    column: str
    meaning: str


class KnownNames(Declared, frozen=True, kw_only=True):
    """The numbers whose names are known, in records of some versions."""

    first: int
    last: int
    version: str = ""
    """The column with the version; empty: all versions give them these names."""
    least: int = 0
    most: int | None = None
    count: int | None = None
    """How many rows the group must have; another number is that of an unknown version."""


class RowNumbering(Declared, frozen=True, kw_only=True):
    """How the rows of a table are numbered whose place in their group says what they are.

    A group is what one occurrence of the base section locates.
    """

    by: str
    """The column of the base section with the kind of the group."""
    first: Mapping[int, int]
    """The number of the first row of a group, by its kind; the rows of other kinds have none."""
    index: NamedColumn
    number: NamedColumn
    name: NamedColumn
    names: str
    """The code table with the names of the numbers."""
    known: tuple[KnownNames, ...]
    """Which numbers have names; the others keep their number."""


class TableLayout(Declared, frozen=True):
    """How the sections of one kind of record become one table."""

    name: str
    meaning: str
    rows: tuple[str, ...]
    """Keys of the sections whose occurrences become rows."""
    grain: tuple[str, ...]
    """Columns that together identify a row of a file."""
    joins: tuple[Join, ...] = field(name="join", default=())
    """Where several have a column of the same name, the first value counts; the row's own section is last."""
    kind: RowKind | None = None
    connection: ConnectionRows | None = None
    """None: its rows are not about single connections."""
    numbering: RowNumbering | None = None
    """None: each row says itself what it is. As `running`, that of the first file counts for all."""
    running: RunningTotals | None = None
    """None: no values count from a start on, or the names of their columns say so."""


def record_label(record_type: int, subtype: int | None) -> str:
    """Return how a kind of record is named.

    >>> record_label(119, 2), record_label(7, None)
    ('119-2', '7')
    """
    return str(record_type) if subtype is None else f"{record_type}-{subtype}"


@dataclass(frozen=True, slots=True)
class RecordLayout:
    """One record type and subtype: its sections and their tables."""

    type: int
    subtype: int | None
    """None: records of the type have no subtype."""
    title: str
    sections: tuple[Section, ...]
    tables: tuple[TableLayout, ...]
    triplets: TripletArea | None = None
    """None: no section is located through a triplet."""
    note: str = ""
    shown_as: str = ""
    """The kind of data under which its records are counted; several records can have the same."""
    subtypes: tuple[int, ...] = ()
    """All subtypes that its file describes."""
    header_only: bool = False
    """Only its header has a declared layout, so no figures are read."""
    continued_by: str = ""
    """Key of a section: a record that has it but no section that makes rows continues another record."""

    def section(self, key: str) -> Section:
        """The section with this key."""
        for candidate in self.sections:
            if candidate.key == key:
                return candidate
        raise KeyError(key)

    @property
    def label(self) -> str:
        """Return type and subtypes, such as `30-2, 30-3`."""
        return ", ".join(record_label(self.type, subtype) for subtype in self.subtypes or (self.subtype,))

    @property
    def header(self) -> Section:
        """The header, with the field names of this type of record."""
        return self.section(HEADER)

    @property
    def row_sections(self) -> tuple[Section, ...]:
        """The sections whose occurrences become rows of a table."""
        keys = {key for table in self.tables for key in table.rows}
        return tuple(section for section in self.sections if section.key in keys)

    @property
    def main_sections(self) -> tuple[Section, ...]:
        """The sections that make rows of one table and complete those of others: every record has them."""
        joined = {join.section for table in self.tables for join in table.joins}
        return tuple(each for each in self.row_sections if each.key in joined)


@dataclass(frozen=True, slots=True)
class MaskedCodes:
    """Values of a group of bits inside a flag field."""

    mask: int
    codes: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class CodeTable:
    """The meaning of the values, bits or letters of a field."""

    name: str
    title: str
    kind: str
    """`value`, `bits` or `text`."""
    codes: Mapping[int | str, str]
    masked: tuple[MaskedCodes, ...] = ()
    note: str = ""

    def text(self, value: int | str) -> str:
        """Return the meaning of a value for display; an unknown value is shown as its number.

        >>> table = CodeTable("role", "Role", "value", {1: "client"})
        >>> table.text(1), table.text(9)
        ('client', 'unknown (0x09)')
        """
        if isinstance(value, str) or self.kind != "bits":
            known = self.codes.get(value)
            return known if known is not None else _unknown(value)
        return self._bits_text(value)

    def _bits_text(self, value: int) -> str:
        rest = value
        parts = []
        for group in self.masked:
            part = value & group.mask
            known = group.codes.get(part)
            if known is not None:
                parts.append(known)
                rest &= ~group.mask
        for bit, meaning in self.codes.items():
            if isinstance(bit, int) and rest & bit == bit:
                parts.append(meaning)
                rest &= ~bit
        if rest:
            parts.append(_unknown(rest))
        return ", ".join(parts) if parts else "none"


def _unknown(value: int | str) -> str:
    if isinstance(value, str) or value < 0:
        return f"unknown ({value})"
    digits = max(2, (value.bit_length() + 7) // 8 * 2)
    return f"unknown (0x{value:0{digits}X})"


@dataclass(frozen=True, slots=True)
class LayoutSource:
    """The source of a fact about a layout."""

    key: str
    title: str
    url: str


@dataclass(frozen=True, slots=True)
class Catalog:
    """All declarations, ready to look up."""

    header: Section
    """The standard header of every SMF record."""
    records: Mapping[tuple[int, int | None], RecordLayout]
    """By type and subtype; None where records of the type have no subtype."""
    codes: Mapping[str, CodeTable]
    sources: Mapping[str, LayoutSource]

    def tables(self) -> Iterator[tuple[RecordLayout, TableLayout]]:
        """Yield every table with the record that fills it, in the order of the files."""
        for record in self.records.values():
            for table in record.tables:
                yield record, table

    def table(self, name: str) -> tuple[RecordLayout, TableLayout]:
        """Return the table with this name and the record that fills it."""
        for record, table in self.tables():
            if table.name == name:
                return record, table
        raise KeyError(name)
