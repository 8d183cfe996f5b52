"""From columns back to sections and records: the inverse of reading, for test data and examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from zscope.parsers.smf.codecs import CODECS
from zscope.parsers.smf.ebcdic import CodePage, code_page
from zscope.parsers.smf.header import HEADER_LENGTH, HEADER_WITH_SUBTYPE, LONGEST_RECORD
from zscope.parsers.smf.triplets import FIRST_TRIPLET, TRIPLET_BYTES, end_of
from zscope.schemas import Evidence, Field, Format, RecordLayout, Section, catalog
from zscope.schemas.arrow import arrow_type

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zscope.parsers.smf.codecs.raw import ByteRows


SYSTEM_FLAGS = 0x5E
"""What z/OS writes: subtypes used, and the version bits of every release."""
FILLER = 0xEE
"""Stands where a section is longer than any layout known here; no field has a reason to look at it."""


def encode_section(
    section: Section, columns: Mapping[str, pa.Array], count: int, length: int, page: CodePage | None = None
) -> ByteRows:
    """Sections of one length, one for each row; a column not given is absent in all of them.

    Fields that do not lie inside the length are left out, and what is beyond the known length is filler.
    """
    rows = np.zeros((count, length), np.uint8)
    rows[:, section.known_length :] = FILLER
    fixed = [field for field in section.fields if field.length is not None and field.column not in columns]
    absent = [field for field in fixed if field.evidence is not Evidence.INFERRED]
    # What stands for absent is the same in every row.
    write_fields(rows, section, {f.column: pa.nulls(1, _type(f, section)) for f in absent}, page)
    write_fields(rows, section, columns, page)
    return rows


def write_fields(
    rows: ByteRows, section: Section, columns: Mapping[str, pa.Array], page: CodePage | None = None
) -> None:
    """Write some columns into sections that exist already, as far as their fields lie inside them.

    A column of one value goes into all sections.
    """
    for field in section.fields:
        if field.column in columns and field.length is not None and field.end <= rows.shape[1]:
            codec = CODECS[field.format]
            rows[:, field.offset : field.end] = codec.encode(
                field, columns[field.column], page or code_page()
            )


def _type(field: Field, section: Section) -> pa.DataType:
    """The type of a field's column; a date shares that of the time it completes."""
    if not field.is_date_part:
        return arrow_type(field)
    return next(arrow_type(f) for f in section.fields if f.date == field.name)


def encode_entries(
    section: Section, columns: Mapping[str, pa.Array], count: int, page: CodePage | None = None
) -> list[bytes]:
    """Sections whose last field goes on to their end, each as long as its text; the step field is set."""
    page = page or code_page()
    last = next(f for f in section.fields if f.length is None and f.format is not Format.RAW)
    fixed = encode_section(section, columns, count, last.offset, page) if last.offset else None
    texts = [page.encode(text or "") for text in columns[last.column].to_pylist()]
    if fixed is None:
        return texts
    if section.step_field:
        step = section.field(section.step_field)
        sizes = pa.array([last.offset + len(text) for text in texts], arrow_type(step))
        fixed[:, step.offset : step.end] = CODECS[step.format].encode(step, sizes, page)
    return [head.tobytes() + text for head, text in zip(fixed, texts, strict=True)]


@dataclass(frozen=True, slots=True)
class SectionBytes:
    """The occurrences of one section in each record of a set."""

    section: Section
    entries: Sequence[Sequence[bytes]]
    """For each record its entries; none means that the section is absent."""
    as_block: bool = False
    """Describe entries of different lengths as one block instead of counting them."""


def encode_records(
    layout: RecordLayout,
    header: Mapping[str, pa.Array],
    sections: Sequence[SectionBytes],
    count: int,
    triplets: int | None = None,
    page: CodePage | None = None,
) -> list[bytes]:
    """Whole records, each beginning with its four-byte descriptor; the sections lie in the order given."""
    number = triplets if triplets is not None else triplet_count(layout)
    heads = encode_heads(layout, header, count, page)
    return [_record(heads[index], number, sections, index) for index in range(count)]


def triplet_count(layout: RecordLayout) -> int:
    """How many triplets a record of this layout has when it has all that are known."""
    return layout.triplets or max(s.triplet for s in layout.sections if s.triplet is not None) + 1


def encode_heads(
    layout: RecordLayout, header: Mapping[str, pa.Array], count: int, page: CodePage | None = None
) -> ByteRows:
    """The headers of records of one layout: up to the number of triplets, or to these where it has none."""
    rows = encode_headers(layout.type, layout.subtype, header, count, page)
    if layout.triplets is None:
        return rows
    rows = np.hstack([rows, np.zeros((count, FIRST_TRIPLET - HEADER_WITH_SUBTYPE), np.uint8)])
    write_fields(rows, layout.section("header"), header, page)
    return rows


def encode_headers(
    record_type: int,
    subtype: int | None,
    header: Mapping[str, pa.Array],
    count: int,
    page: CodePage | None = None,
) -> ByteRows:
    """The standard headers of records of one type, each with an empty descriptor in front."""
    length = HEADER_LENGTH if subtype is None else HEADER_WITH_SUBTYPE
    rows = encode_section(catalog().header, header, count, length, page)
    rows[:, 4] = SYSTEM_FLAGS if subtype is not None else SYSTEM_FLAGS & ~0x40
    rows[:, 5] = record_type
    if subtype is not None:
        rows[:, 22], rows[:, 23] = subtype >> 8, subtype & 0xFF
    return rows


def _record(head: ByteRows, triplets: int, sections: Sequence[SectionBytes], index: int) -> bytes:
    pointers = bytearray(TRIPLET_BYTES * triplets)
    offset = end_of(triplets)
    body: list[bytes] = []
    for part in sections:
        entries = part.entries[index]
        place = TRIPLET_BYTES * (part.section.triplet or 0)
        if not entries or place >= len(pointers):
            continue
        block = b"".join(entries)
        length, number = (len(block), 1) if part.as_block else (max(map(len, entries)), len(entries))
        pointers[place : place + TRIPLET_BYTES] = (
            offset.to_bytes(4, "big") + length.to_bytes(2, "big") + number.to_bytes(2, "big")
        )
        body.append(block)
        offset += len(block)
    counted = triplets.to_bytes(2, "big") + b"\0\0" if len(head) < FIRST_TRIPLET else b""
    return with_descriptor(head.tobytes()[4:] + counted + pointers + b"".join(body))


@dataclass(frozen=True, slots=True)
class SectionRows:
    """The occurrences of one section in records that are all alike, one behind the other in each row."""

    section: Section
    rows: ByteRows
    """A row for each record, or a single one that all records share."""
    length: int
    """Of one occurrence, as the triplet says it."""
    number: int = 1


def encode_alike(heads: ByteRows, sections: Sequence[SectionRows], triplets: int) -> list[bytes]:
    """Whole records that differ in their values only: the same sections, as many and as long in each.

    They are laid out as one matrix and cut into rows, which is many times faster than one by one.
    """
    count, head = heads.shape
    body = end_of(triplets)
    length = body + sum(part.rows.shape[1] for part in sections)
    if length > LONGEST_RECORD:
        raise ValueError(f"a record of {length:,} bytes cannot be described by a two-byte length")
    records = np.zeros((count, length), np.uint8)
    records[:, :head] = heads
    records[:, :4] = list(length.to_bytes(2, "big") + b"\0\0")
    if head < FIRST_TRIPLET:
        records[:, head : head + 2] = list(triplets.to_bytes(2, "big"))
    offset = body
    for part in sections:
        size = part.rows.shape[1]
        records[:, offset : offset + size] = part.rows
        place = end_of(part.section.triplet or 0)
        pointer = offset.to_bytes(4, "big") + part.length.to_bytes(2, "big") + part.number.to_bytes(2, "big")
        records[:, place : place + TRIPLET_BYTES] = list(pointer)
        offset += size
    return cut_rows(records)


def cut_rows(rows: ByteRows) -> list[bytes]:
    """The rows of a matrix as separate bytes."""
    count, length = rows.shape
    data = rows.tobytes()
    return [data[at : at + length] for at in range(0, count * length, length)] if length else [b""] * count


def with_descriptor(content: bytes) -> bytes:
    """A record from what follows its four-byte descriptor."""
    length = 4 + len(content)
    if length > LONGEST_RECORD:
        raise ValueError(f"a record of {length:,} bytes cannot be described by a two-byte length")
    return length.to_bytes(2, "big") + b"\0\0" + content


def plain_records(
    record_type: int, header: Mapping[str, pa.Array], count: int, body: bytes = b""
) -> list[bytes]:
    """Records without subtypes, such as the header (2) and trailer (3) of a dump."""
    return [
        with_descriptor(head.tobytes()[4:] + body)
        for head in encode_headers(record_type, None, header, count)
    ]
