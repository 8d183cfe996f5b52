"""Write columns as sections, records and framed files: the inverse of reading, for test data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from zscope.parsers.smf.chain import FIRST, LAST, LONGEST_IN_FILE, MIDDLE
from zscope.parsers.smf.codecs import CODECS
from zscope.parsers.smf.header import (
    HEADER_LENGTH,
    HEADER_WITH_SUBTYPE,
    LONGEST_RECORD,
    SUBTYPES_USED,
    header_slice,
)
from zscope.parsers.text.coding import CodePage, code_page
from zscope.schemas import Evidence, Field, Format, RecordLayout, Section, catalog
from zscope.schemas.arrow import arrow_type
from zscope.schemas.load import family_triplets
from zscope.schemas.model import TRIPLET_BYTES, TRIPLET_PARTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from zscope.parsers.smf.codecs.base import ByteRows
    from zscope.schemas import TripletArea


_TCPIP_TRIPLETS = family_triplets("smf119_common")
TCPIP_FIRST_TRIPLET = _TCPIP_TRIPLETS.at
"""Offset of the first triplet in records of type 119."""
TCPIP_TRIPLET_COUNT = _TCPIP_TRIPLETS.count_at or 0
"""Offset of the number of triplets in records of type 119."""
SYSTEM_FLAGS = 0x5E
"""The flags that z/OS writes: subtypes used, and the version bits of every release."""
FILLER = 0xEE
"""Fills a section after its known length."""


def encode_section(
    section: Section, columns: Mapping[str, pa.Array], count: int, length: int, page: CodePage | None = None
) -> ByteRows:
    """Return sections of one length, one for each row; a column not given is absent in all of them.

    Fields that are not inside the length are skipped, and bytes after the known length are filler.
    """
    rows = np.zeros((count, length), np.uint8)
    rows[:, section.known_length :] = FILLER
    fixed = [field for field in section.fields if field.length is not None and field.column not in columns]
    absent = [field for field in fixed if field.evidence is not Evidence.INFERRED]
    # The value for absent is the same in every row.
    write_fields(rows, section, {f.column: pa.nulls(1, _type(f, section)) for f in absent}, page)
    write_fields(rows, section, columns, page)
    return rows


def write_fields(
    rows: ByteRows, section: Section, columns: Mapping[str, pa.Array], page: CodePage | None = None
) -> None:
    """Write some columns into existing sections, as far as their fields are inside.

    A column of one value is written into all sections.
    """
    for field in section.fields:
        if field.column in columns and field.length is not None and field.end <= rows.shape[1]:
            codec = CODECS[field.format]
            begin = rows.shape[1] - field.offset if field.from_end else field.offset
            rows[:, begin : begin + field.length] = codec.encode(
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
    """Return sections whose last field extends to their end, each as long as its text."""
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
    """The entries of each record; none if the section is absent."""
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
    """Return whole records, each beginning with its descriptor; the sections follow in the order given.

    The caller writes the pointers to sections inside others: they are columns of these.
    """
    number = triplets if triplets is not None else triplet_count(layout)
    heads = encode_heads(layout, header, count, page)
    return [_record(layout, heads[index], number, sections, index) for index in range(count)]


def triplet_count(layout: RecordLayout) -> int:
    """Return how many triplets a record of this layout has when it has all known ones."""
    area = _area(layout)
    return area.number or max(s.triplet for s in layout.sections if s.triplet is not None) + 1


def _area(layout: RecordLayout) -> TripletArea:
    if layout.triplets is None:
        raise ValueError(f"the layout of {layout.label} has no triplets")
    return layout.triplets


def encode_heads(
    layout: RecordLayout, header: Mapping[str, pa.Array], count: int, page: CodePage | None = None
) -> ByteRows:
    """Return the headers of records of one layout, with everything up to the first triplet."""
    area = _area(layout)
    rows = np.zeros((count, area.header_end(area.number or 0) if area.places else area.at), np.uint8)
    _write_header(rows, layout, header, page)
    return rows


def encode_without_triplets(
    layout: RecordLayout, header: Mapping[str, pa.Array], count: int, tail: bytes = b""
) -> list[bytes]:
    """Return whole records that consist of a header, and of bytes after its known length."""
    rows = np.zeros((count, layout.header.known_length), np.uint8)
    _write_header(rows, layout, header, None)
    return [with_descriptor(row[DESCRIPTOR:] + tail) for row in cut_rows(rows)]


def _write_header(
    rows: ByteRows, layout: RecordLayout, header: Mapping[str, pa.Array], page: CodePage | None
) -> None:
    """Write the standard header and the fields that this type of record adds."""
    standard = encode_headers(layout.type, layout.subtype, header, len(rows), page)
    rows[:, : standard.shape[1]] = standard
    names = {field.column for field in catalog().header.fields}
    own = {column: values for column, values in header.items() if column not in names}
    write_fields(rows, layout.header, own, page)


def encode_headers(
    record_type: int,
    subtype: int | None,
    header: Mapping[str, pa.Array],
    count: int,
    page: CodePage | None = None,
) -> ByteRows:
    """Return the standard headers of records of one type, each with an empty descriptor."""
    length = HEADER_LENGTH if subtype is None else HEADER_WITH_SUBTYPE
    rows = encode_section(catalog().header, header, count, length, page)
    rows[:, header_slice("flags")] = SYSTEM_FLAGS if subtype is not None else SYSTEM_FLAGS & ~SUBTYPES_USED
    rows[:, header_slice("type")] = record_type
    if subtype is not None:
        rows[:, header_slice("subtype")] = list(subtype.to_bytes(2, "big"))
    return rows


def _record(
    layout: RecordLayout, head: ByteRows, triplets: int, sections: Sequence[SectionBytes], index: int
) -> bytes:
    area = _area(layout)
    record = bytearray(area.header_end(triplets))
    record[: len(head)] = head.tobytes()[: len(record)]
    if area.count_at is not None:
        record[area.count_at : area.count_at + 2] = triplets.to_bytes(2, "big")
    for part in sections:
        entries = part.entries[index]
        triplet = part.section.triplet or 0
        if not entries or triplet >= triplets:
            continue
        block = b"".join(entries)
        if part.section.base:
            record += block
            continue
        length, number = (len(block), 1) if part.as_block else (max(map(len, entries)), len(entries))
        at = area.offset(triplet)
        record[at : at + TRIPLET_BYTES] = triplet_bytes(len(record), length, number)
        record += block
    return with_descriptor(bytes(record[DESCRIPTOR:]))


def triplet_bytes(offset: int, length: int, number: int) -> bytes:
    """Return one triplet.

    >>> triplet_bytes(44, 72, 1).hex()
    '0000002c00480001'
    """
    sizes = (size for _, size in TRIPLET_PARTS)
    return b"".join(
        part.to_bytes(size, "big") for part, size in zip((offset, length, number), sizes, strict=True)
    )


@dataclass(frozen=True, slots=True)
class SectionRows:
    """The occurrences of one section in records of the same structure, in one row per record."""

    section: Section
    rows: ByteRows
    """A row for each record, or a single one for all records."""
    length: int
    """Length of one occurrence in the triplet."""
    number: int = 1


def encode_alike(
    layout: RecordLayout, heads: ByteRows, sections: Sequence[SectionRows], triplets: int
) -> list[bytes]:
    """Return whole records that differ only in their values: the same sections, as many and as long in each.

    They are written as one matrix and cut into rows, which is many times faster than one by one.
    """
    area = _area(layout)
    count, head = heads.shape
    body = area.header_end(triplets)
    length = body + sum(part.rows.shape[1] for part in sections)
    if length > LONGEST_RECORD:
        raise ValueError(f"a record of {length:,} bytes cannot be described by a two-byte length")
    records = np.zeros((count, length), np.uint8)
    records[:, : min(head, body)] = heads[:, :body]
    records[:, :4] = list(length.to_bytes(2, "big") + b"\0\0")
    if area.count_at is not None:
        records[:, area.count_at : area.count_at + 2] = list(triplets.to_bytes(2, "big"))
    offset = body
    for part in sections:
        size = part.rows.shape[1]
        records[:, offset : offset + size] = part.rows
        at = area.offset(part.section.triplet or 0)
        records[:, at : at + TRIPLET_BYTES] = list(triplet_bytes(offset, part.length, part.number))
        offset += size
    return cut_rows(records)


def cut_rows(rows: ByteRows) -> list[bytes]:
    """Return the rows of a matrix as separate bytes."""
    count, length = rows.shape
    data = rows.tobytes()
    return [data[at : at + length] for at in range(0, count * length, length)] if length else [b""] * count


def with_descriptor(content: bytes) -> bytes:
    """Return a record from the bytes after its descriptor."""
    length = 4 + len(content)
    if length > LONGEST_RECORD:
        raise ValueError(f"a record of {length:,} bytes cannot be described by a two-byte length")
    return length.to_bytes(2, "big") + b"\0\0" + content


def plain_records(
    record_type: int, header: Mapping[str, pa.Array], count: int, body: bytes = b""
) -> list[bytes]:
    """Return records without subtypes, such as the header (2) and trailer (3) of a dump."""
    return [
        with_descriptor(head.tobytes()[4:] + body)
        for head in encode_headers(record_type, None, header, count)
    ]


DESCRIPTOR = 4
DEFAULT_BLOCK = 27_998


def as_stream(records: Iterable[bytes]) -> Iterator[bytes]:
    """Yield records with length words, as from a binary FTP transfer with SITE RDW."""
    yield from records


def as_exclusive(records: Iterable[bytes]) -> Iterator[bytes]:
    """Yield records with length words that do not include their own four bytes."""
    for record in records:
        yield (len(record) - DESCRIPTOR).to_bytes(2, "big") + record[2:]


def as_segments(records: Iterable[bytes], longest: int) -> Iterator[bytes]:
    """Yield records, those longer than `longest` cut into first, middle and last segments."""
    for record in records:
        yield from split(record, longest)


def as_blocks(
    records: Iterable[bytes], size: int = DEFAULT_BLOCK, *, spanned: bool = False, extended: bool = False
) -> Iterator[bytes]:
    """Yield blocks of whole records, or (spanned) of records and segments that fill each block.

    The extended form of the length word is for blocks that are too long for the ordinary form.
    """
    pieces: list[bytes] = []
    room = size - DESCRIPTOR
    for record in records:
        rest, first = record[DESCRIPTOR:], True
        while spanned and DESCRIPTOR + len(rest) > room:
            if room > DESCRIPTOR:
                pieces.append(segment(rest[: room - DESCRIPTOR], FIRST if first else MIDDLE))
                rest, first = rest[room - DESCRIPTOR :], False
            yield block(pieces, extended=extended)
            pieces, room = [], size - DESCRIPTOR
        piece = record if first else segment(rest, LAST)
        if len(piece) > room and pieces:
            yield block(pieces, extended=extended)
            pieces, room = [], size - DESCRIPTOR
        pieces.append(piece)
        room -= len(piece)
    if pieces:
        yield block(pieces, extended=extended)


def split(record: bytes, longest: int) -> list[bytes]:
    """Return a record as segments of at most `longest` bytes, or the record itself if it is not longer."""
    if len(record) <= longest:
        return [record]
    room = longest - DESCRIPTOR
    if room < 1:
        raise ValueError(f"segments of {longest} bytes have no room for data")
    content = record[DESCRIPTOR:]
    parts = [content[at : at + room] for at in range(0, len(content), room)]
    codes = [FIRST, *[MIDDLE] * (len(parts) - 2), LAST]
    return [segment(part, code) for part, code in zip(parts, codes, strict=True)]


def segment(data: bytes, code: int) -> bytes:
    """Return a segment with its descriptor."""
    return (DESCRIPTOR + len(data)).to_bytes(2, "big") + bytes((code, 0)) + data


def block(pieces: list[bytes], *, extended: bool = False) -> bytes:
    """Return a block of records or segments with its length word."""
    content = b"".join(pieces)
    length = DESCRIPTOR + len(content)
    if extended and length > LONGEST_IN_FILE:
        return (length | 1 << 31).to_bytes(4, "big") + content
    if length > LONGEST_IN_FILE:
        raise ValueError(f"a block of {length:,} bytes needs the extended form")
    return length.to_bytes(2, "big") + b"\0\0" + content
