"""Tables of records of any type: headers, digests, and the bytes of what no layout describes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from xxhash import xxh3_64_intdigest

from zscope.parsers.smf.columns import SectionReader, gather_items
from zscope.parsers.smf.groups import Placed, RecordGroup
from zscope.parsers.smf.header import HEADER_LENGTH, HEADER_WITH_SUBTYPE, has_subtype, read_headers
from zscope.schemas import RecordLayout, Section, catalog
from zscope.schemas.arrow import table_schema
from zscope.schemas.tables import DIGEST_TABLE, RAW_TABLE, RECORD_TABLE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zscope.parsers.smf.codecs.raw import Column
    from zscope.parsers.smf.columns import Columns
    from zscope.parsers.smf.ebcdic import CodePage

WHOLE_RECORD = "record"
LENGTH_WORD = 4
"""Not part of what a record says: other framings of the same data have others."""


def header_columns(group: RecordGroup, wanted: Iterable[str], page: CodePage) -> Columns:
    """Columns of the standard header; subsystem and subtype are null where a record does not have them."""
    header = catalog().header
    headers = read_headers(group.data, group.starts)
    lengths = np.where(has_subtype(headers, group.lengths), HEADER_WITH_SUBTYPE, HEADER_LENGTH)
    everyone = np.arange(len(group))
    placed = Placed(everyone, np.zeros_like(everyone), group.starts, lengths)
    return SectionReader(group, header, placed, page, _no_other_section).columns(wanted)


def _no_other_section(name: str) -> Column:
    raise KeyError(name)


def record_batch(group: RecordGroup, wanted: tuple[str, ...] | None, page: CodePage) -> pa.RecordBatch:
    """One row for each record."""
    names = wanted or tuple(table_schema(RECORD_TABLE).names)
    return _batch(RECORD_TABLE, names, header_columns(group, names, page) | _numbered(group))


def digest_batch(group: RecordGroup, wanted: tuple[str, ...] | None, page: CodePage) -> pa.RecordBatch:
    """One row for each record."""
    names = wanted or tuple(table_schema(DIGEST_TABLE).names)
    columns = header_columns(group, [n for n in names if n != "digest"], page) | _numbered(group)
    view = group.data.data
    begins, ends = group.starts + LENGTH_WORD, group.starts + group.lengths
    digests = [xxh3_64_intdigest(view[a:b]) for a, b in zip(begins.tolist(), ends.tolist(), strict=True)]
    columns["digest"] = pa.array(np.array(digests, np.uint64))
    return _batch(DIGEST_TABLE, names, columns)


def raw_batches(
    group: RecordGroup, layout: RecordLayout | None, wanted: tuple[str, ...] | None, page: CodePage
) -> list[pa.RecordBatch]:
    """One row for each record no layout describes, or for each of its sections that none describes."""
    names = wanted or tuple(table_schema(RAW_TABLE).names)
    columns = header_columns(group, names, page) | _numbered(group)
    batches = []
    for part, placed in _undescribed(group, layout):
        if not len(placed.record):
            continue
        rows = {name: column.take(pa.array(placed.record)) for name, column in columns.items()}
        rows["part"] = pa.array([part] * len(placed.record)).dictionary_encode()
        rows["section_no"] = pa.array(placed.number.astype(np.uint32))
        rows["bytes"] = gather_items(group.data, placed.starts, placed.lengths)
        batches.append(_batch(RAW_TABLE, names, rows))
    return batches


def _undescribed(group: RecordGroup, layout: RecordLayout | None) -> Iterable[tuple[str, Placed]]:
    if layout is None:
        everyone = np.arange(len(group))
        yield WHOLE_RECORD, Placed(everyone, np.zeros_like(everyone), group.starts, group.lengths)
        return
    located = [s for s in layout.sections if s.triplet is not None]
    for section in located:
        if not section.fields:
            yield section.key, group.locate(replace(section, repeats=True))
    declared = {section.triplet for section in located}
    most = int(group.triplet_counts.max()) if len(group) else 0
    for triplet in range(most):
        if triplet not in declared:
            section = Section(f"triplet_{triplet}", "", (), triplet, repeats=True)
            yield section.key, group.locate(section)


def _numbered(group: RecordGroup) -> Columns:
    return {
        "record_no": pa.array(group.numbers.astype(np.uint64)),
        "record_offset": pa.array(group.offsets.astype(np.uint64)),
    }


def _batch(table: str, names: tuple[str, ...], columns: Columns) -> pa.RecordBatch:
    schema = table_schema(table)
    chosen = pa.schema([schema.field(n) for n in names], schema.metadata)
    return pa.RecordBatch.from_arrays([columns[n] for n in names], schema=chosen)
