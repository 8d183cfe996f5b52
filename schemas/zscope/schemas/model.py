"""What a record layout says, as frozen values.

The layouts themselves are TOML files beside this module. Nothing here knows how bytes become values;
that is the business of the codecs, one for each `Format`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

UNITS = (
    "us", "ms", "s", "min", "bytes", "bytes_per_s", "kb", "mb", "bits", "pct", "msu", "msu_per_hour",
    "frames", "mbit_per_s",
)  # fmt: skip
"""Units of columns; the name of a column ends in its unit."""


def unit_in(column: str) -> str:
    """The unit in the name of a column, or nothing; how often a second something is done is a plain number.

    >>> unit_in("capacity_msu_per_hour"), unit_in("busy_pct"), unit_in("cipher"), unit_in("io_per_s")
    ('msu_per_hour', 'pct', '', '')
    """
    unit = max((unit for unit in UNITS if column.endswith(f"_{unit}")), key=len, default="")
    return "" if unit == "s" and column.endswith("_per_s") else unit


class Format(StrEnum):
    """How a field is written in a record. All numbers are big-endian."""

    UINT = "uint"
    INT = "int"
    BITS = "bits"
    TEXT = "text"
    """EBCDIC characters, padded with blanks (or binary zeros) on the right."""
    HEX = "hex"
    """Uninterpreted bytes that people read as hexadecimal digits."""
    RAW = "raw"
    """Uninterpreted bytes, kept as bytes."""
    IP_MAPPED = "ip_mapped"
    """16 bytes; IPv4 as IPv4-mapped IPv6."""
    IP_FIRST4 = "ip_first4"
    """16 bytes; IPv4 in the first four unless a flag elsewhere says IPv6."""
    TIME_HUNDREDTHS = "time_hundredths"
    """1/100 seconds since midnight; makes a timestamp with the packed date it is paired with."""
    PACKED_TIME = "packed_time"
    """0hhmmssF; makes a timestamp with the packed date it is paired with."""
    PACKED_DATE = "packed_date"
    """0cyydddF; always the partner of a time of day."""
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
    """Certificate expiry as characters, EBCDIC or ASCII; a field beside it tells the form."""


class Evidence(StrEnum):
    """Why we believe that a field lies where the layout says."""

    IBM_DOC = "ibm-doc"
    IBM_DOC_SIBLING = "ibm-doc-sibling"
    IBM_DECK = "ibm-deck"
    PUBLISHED_TABLE = "published-table"
    MACRO_MAPPING = "macro-mapping"
    PUBLIC_CODE = "public-code"
    INFERRED = "inferred"
    UNCONFIRMED = "unconfirmed"


@dataclass(frozen=True, slots=True)
class Condition:
    """What another field must say for a field to be there."""

    field: str
    """Its name; it may be in another section of the record."""
    bits: int = 0
    """Bits that must all be set."""
    least: int = 0
    """The number that its bytes must at least come to."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a section: the vendor's place and our column."""

    name: str
    offset: int
    length: int | None
    """None: to the end of the section."""
    format: Format
    column: str
    meaning: str
    unit: str = ""
    scale: int = 1
    """The column holds this many times the number in the record."""
    codes: str = ""
    """Name of the code table whose values the field takes."""
    evidence: Evidence = Evidence.IBM_DOC
    source: str = ""
    many: bool = False
    """Most rows have a value of their own: a dictionary would cost more than it saves."""
    date: str = ""
    """For a time of day: the name of the packed date that completes it."""
    size: str = ""
    """Name of the field that says how many bytes are valid."""
    form: str = ""
    """For a certificate time: name of the field that tells its form."""
    v6_flag: str = ""
    """For `ip_first4`: name of the flag field whose bit 0x80 means IPv6."""
    nothing: int | None = None
    """For a number: the value that says that there is none."""
    when: tuple[Condition, ...] = ()
    """The field is there only where all of these hold."""
    since: str = ""
    """First release that writes the field, where it is known."""

    @property
    def end(self) -> int:
        """First offset behind the field; for a field to the end of the section, its offset plus one."""
        return self.offset + (1 if self.length is None else self.length)

    @property
    def partners(self) -> tuple[str, ...]:
        """Names of the fields needed to decode this one."""
        told_by = (condition.field for condition in self.when)
        return tuple(name for name in (self.date, self.size, self.form, self.v6_flag, *told_by) if name)

    @property
    def is_date_part(self) -> bool:
        """True for a packed date: its value reaches the table through the time it completes."""
        return self.format is Format.PACKED_DATE


@dataclass(frozen=True, slots=True)
class Section:
    """A run of fields inside a record, found through a triplet (or, for the header, at the start)."""

    key: str
    title: str
    fields: tuple[Field, ...]
    triplet: int | None = None
    """Position among the triplets, counted from zero; None: not found through a triplet."""
    pointer: tuple[str, ...] = ()
    """The vendor's names of the three fields that locate it: offset, length, number."""
    base: str = ""
    """Key of the section that holds the pointer, where it is not the header."""
    lengths: Mapping[str, int] | None = None
    """Known lengths by release, oldest first; None where the length varies from record to record."""
    repeats: bool = False
    step_field: str = ""
    """For entries of different lengths: the field that says how long each one is."""
    note: str = ""

    @property
    def known_length(self) -> int:
        """Length of the newest level known here, or the end of the last field where lengths vary."""
        if self.lengths:
            return max(self.lengths.values())
        return max((f.end for f in self.fields), default=0)

    @property
    def shortest_length(self) -> int:
        """Length of the oldest level known here; 0 where lengths vary."""
        return min(self.lengths.values()) if self.lengths else 0

    @property
    def columns(self) -> tuple[Field, ...]:
        """The fields that make a column: all but the dates that complete a time."""
        return tuple(f for f in self.fields if not f.is_date_part)

    def field(self, name: str) -> Field:
        """The field with this vendor name."""
        for candidate in self.fields:
            if candidate.name == name:
                return candidate
        raise KeyError(name)


@dataclass(frozen=True, slots=True)
class Join:
    """A section that occurs once in a record and lends columns to every row made from that record."""

    section: str
    columns: tuple[str, ...] | None = None
    """None: all of them."""


@dataclass(frozen=True, slots=True)
class RowKind:
    """The column that says of which section a row was made, where several make rows of one table."""

    column: str
    meaning: str
    texts: Mapping[str, str]
    """What it says, by the key of the section."""


@dataclass(frozen=True, slots=True)
class TableLayout:
    """How the sections of one kind of record become one table."""

    name: str
    meaning: str
    rows: tuple[str, ...]
    """Keys of the sections of which each occurrence makes a row."""
    joins: tuple[Join, ...]
    """Where several have a column of one name, the first with a value gives it; the row's own comes last."""
    grain: tuple[str, ...]
    """Columns that together tell one row of a file from all others."""
    kind: RowKind | None = None


@dataclass(frozen=True, slots=True)
class RecordLayout:
    """One record type and subtype: its sections and the tables made from them."""

    type: int
    subtype: int
    title: str
    sections: tuple[Section, ...]
    tables: tuple[TableLayout, ...]
    triplets: int | None = None
    """How many triplets the records have; None where they say it themselves."""
    note: str = ""

    def section(self, key: str) -> Section:
        """The section with this key."""
        for candidate in self.sections:
            if candidate.key == key:
                return candidate
        raise KeyError(key)


@dataclass(frozen=True, slots=True)
class MaskedCodes:
    """Values of a group of bits inside a flag field."""

    mask: int
    codes: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class CodeTable:
    """What the values, bits or letters of a field stand for."""

    name: str
    title: str
    kind: str
    """`value`, `bits` or `text`."""
    codes: Mapping[int | str, str]
    masked: tuple[MaskedCodes, ...] = ()
    note: str = ""

    def text(self, value: int | str) -> str:
        """The meaning of a value as a person should read it; what is not known shows its number.

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
