"""Records of single layouts: written at every known length and read back, and ten thousand damaged ones."""

from __future__ import annotations

import random
import struct
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from tests.marking import deep_except

from zscope.parsers import read
from zscope.parsers.smf.record_writer import SectionBytes, encode_records, encode_section, triplet_count
from zscope.schemas import Format, RecordLayout, Section, catalog
from zscope.schemas.arrow import UTC, arrow_type

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LAYOUTS = ((30, 2), (30, 6), (30, 4), (72, 3), (119, 5), (119, 6), (119, 7), (115, 1), (116, 0))
CHUNKS, PER_CHUNK = 10, 1_000
"""Ten thousand in all for the layouts together; one chunk in the normal run."""
RECORDS = 3
NUMBER = 7


def values(section: Section, count: int) -> dict[str, pa.Array]:
    """Small numbers and short texts; times and addresses stay absent."""
    columns = {}
    for field in section.columns:
        kind = arrow_type(field)
        if field.format in {Format.UINT, Format.INT, Format.BITS} and not field.unless:
            columns[field.column] = pa.array([NUMBER * field.scale] * count, kind)
        elif field.format is Format.TEXT:
            text = "ABCDEFGH"[: field.length]
            columns[field.column] = (
                pa.array([text] * count).cast(kind)
                if kind == pa.string()
                else pa.array([text] * count).dictionary_encode()
            )
    return columns


def lengths(section: Section) -> list[int]:
    return sorted(set((section.lengths or {"all": section.known_length}).values()))


def entries(layout: RecordLayout, which: int) -> list[SectionBytes]:
    """All sections with fields, at one of their known lengths; a section that repeats has two."""
    parts = []
    for section in layout.sections:
        if section.triplet is None or not section.fields:
            continue
        known = lengths(section)
        rows = encode_section(section, values(section, 2), 2, known[min(which, len(known) - 1)])
        each = [row.tobytes() for row in rows][: 2 if section.repeats else 1]
        parts.append(SectionBytes(section, [each] * RECORDS))
    return parts


def header() -> dict[str, pa.Array]:
    noon = pa.array(np.full(RECORDS, 1_772_452_800_000_000, np.int64)).cast(UTC)
    return {"written_local": noon.cast(pa.timestamp("us")), "system": pa.array(["SYSA"] * RECORDS)}


def header_counts(layout: RecordLayout) -> list[int]:
    """Numbers of triplets: all, and those of the older headers."""
    area = layout.triplets
    assert area is not None
    if not area.places:
        return [triplet_count(layout)]
    known = [end for end in area.ends if end >= area.end(1)] or [area.end(len(area.places))]
    return sorted({max(n for n in range(1, len(area.places) + 1) if area.end(n) <= end) for end in known})


@cache
def written(key: tuple[int, int]) -> tuple[bytes, ...]:
    layout = catalog().records[key]
    return tuple(
        record
        for triplets in header_counts(layout)
        for which in (0, 1)
        for record in encode_records(layout, header(), entries(layout, which), RECORDS, triplets)
    )


def tables_of(key: tuple[int, int]) -> tuple[str, ...]:
    return tuple(table.name for table in catalog().records[key].tables)


@pytest.mark.parametrize("key", LAYOUTS)
def test_what_the_writer_writes_is_read_at_every_length(key: tuple[int, int], tmp_path: Path) -> None:
    records = written(key)
    file = tmp_path / "dump"
    file.write_bytes(b"".join(records))
    tables = read(file, tables_of(key))
    assert [issue.code for issue in tables.issues] == []
    layout = catalog().records[key]
    for table in layout.tables:
        sections = [layout.section(row) for row in table.rows]
        rows = tables[table.name].to_pylist()
        places = [(2 if s.repeats else 1, s.triplet or 0) for s in sections]
        headers = header_counts(layout)
        assert len(rows) == sum(RECORDS * 2 * each for each, place in places for n in headers if place < n)
        for section in sections:
            shortest = lengths(section)[0]
            for field in section.columns:
                number = field.format in {Format.UINT, Format.BITS, Format.INT} and not field.unless
                if number and not field.when and field.end <= shortest:
                    # Rows of the other sections do not have the column.
                    other = {None} if len(sections) > 1 else set()
                    assert {row[field.column] for row in rows} - other == {NUMBER * field.scale}, field.name


def damaged(source: random.Random, records: tuple[bytes, ...]) -> bytes:
    """A record with some bytes replaced, cut, or with bytes added; its length is that of the bytes."""
    record = bytearray(source.choice(records))
    for _ in range(source.randint(1, 6)):
        kind = source.random()
        # Half of the damage is in header and triplets, where it does most.
        at = source.randrange(18, min(len(record), 240) if source.random() < 0.5 else len(record))
        if kind < 0.6:
            record[at] = source.choice((0, 1, 0x7F, 0x80, 0xFF, source.randrange(256)))
        elif kind < 0.8:
            record[at : at + 2] = source.randrange(1 << 16).to_bytes(2, "big")
        elif kind < 0.9:
            del record[at : at + source.randrange(1, 40)]
        else:
            record[at:at] = bytes(source.randrange(1, 40))
    if len(record) < 24:
        record += bytes(24 - len(record))
    return struct.pack(">HH", len(record), 0) + bytes(record[4:])


def chunks() -> Iterator[int]:
    return iter(range(CHUNKS))


@pytest.mark.parametrize("chunk", deep_except([0], list(chunks())))
def test_damaged_records_give_rows_and_issues_but_no_exception(chunk: int, tmp_path: Path) -> None:
    source = random.Random(chunk)
    records = [damaged(source, written(source.choice(LAYOUTS))) for _ in range(PER_CHUNK)]
    file = tmp_path / "dump"
    file.write_bytes(b"".join(records))
    names = {name for key in LAYOUTS for name in tables_of(key)}
    tables = read(file, ("smf_record", "smf_raw", *sorted(names)))
    assert tables["smf_record"].num_rows == PER_CHUNK
    assert len(tables.issues)
    for name in names:
        assert tables[name].num_rows < 100 * PER_CHUNK
