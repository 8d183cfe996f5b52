"""Build record batches of the selected tables from the records of a window.

Some tables have rows for records of every type: headers, digests, and the bytes of records without a layout.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from zscope.parsers.smf.header import (
    FLAGS,
    HEADER,
    HEADER_LENGTH,
    HEADER_WITH_SUBTYPE,
    SUBTYPES_USED,
    has_subtype,
    header_slice,
    read_headers,
    record_types,
    sliding,
)
from zscope.parsers.smf.inner_sections import locate_inside, numbered, report_gaps
from zscope.parsers.smf.marked_sections import entries_after, locate_marked
from zscope.parsers.smf.section_columns import (
    Columns,
    Plans,
    SectionReader,
    gather_fields,
    gather_items,
    spread,
    storage,
)
from zscope.parsers.smf.sections import RecordGroup, SectionPlaces
from zscope.schemas import RecordLayout, Section, TableLayout, catalog
from zscope.schemas.arrow import arrow_type, table_schema
from zscope.schemas.tables import (
    DIGEST_TABLE,
    HEADER_COLUMNS,
    RAW_TABLE,
    RECORD_TABLE,
    RECORD_TYPE,
    SMF_SOURCE,
    section_columns,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zscope.parsers.smf.codecs.base import Column
    from zscope.parsers.smf.header import Positions
    from zscope.parsers.smf.walker import Window
    from zscope.parsers.text.coding import CodePage
    from zscope.schemas import RowKind
    from zscope.schemas.model import RowNumbering


@dataclass(frozen=True, slots=True)
class TablePlan:
    """The origin of the selected columns of one table."""

    rows: tuple[tuple[Section, tuple[str, ...]], ...]
    """Sections whose occurrences become rows, with the columns they give."""
    schema: pa.Schema
    joined: tuple[tuple[Section, tuple[str, ...]], ...]
    """Sections that occur once in a record, with the columns they give to all its rows."""
    kind: RowKind | None
    numbering: RowNumbering | None


@dataclass(frozen=True, slots=True)
class LayoutPlan:
    """Everything about a layout that does not depend on records; reused for all windows."""

    record: RecordLayout
    sections: Plans = field(default_factory=Plans)
    _tables: dict[tuple[str, tuple[str, ...] | None], TablePlan] = field(default_factory=dict)

    def table(self, table: TableLayout, wanted: tuple[str, ...] | None) -> TablePlan:
        """Return the plan for some columns of a table, or for all (None)."""
        key = table.name, wanted
        if key not in self._tables:
            whole = table_schema(table.name)
            names = tuple(whole.names) if wanted is None else wanted
            rows = [self.record.section(row) for row in table.rows]
            joined: list[tuple[Section, tuple[str, ...]]] = [(catalog().header, HEADER_COLUMNS)]
            for join in table.joins:
                section = self.record.section(join.section)
                columns = tuple(f.column for f in section.columns) if join.columns is None else join.columns
                joined.append((section, columns))
            self._tables[key] = TablePlan(
                tuple(
                    (row, tuple(f.column for f in section_columns(row) if f.column in names)) for row in rows
                ),
                pa.schema([whole.field(n) for n in names], whole.metadata),
                tuple((section, tuple(c for c in columns if c in names)) for section, columns in joined),
                table.kind,
                catalog().table(table.name)[1].numbering,
            )
        return self._tables[key]


@dataclass
class TableBuilder:
    """Builds all tables of one record group; a section that several tables use is decoded once."""

    group: RecordGroup
    layout: LayoutPlan
    page: CodePage
    _placed: dict[str, SectionPlaces] = field(default_factory=dict)
    _columns: dict[tuple[str, str], pa.Array] = field(default_factory=dict)

    def build(self, table: TableLayout, wanted: tuple[str, ...] | None) -> pa.RecordBatch | None:
        """Return the rows of one table; None without rows."""
        plan = self.layout.table(table, wanted)
        parts: list[tuple[Positions, pa.RecordBatch]] = []
        for section, own in plan.rows:
            rows = self._place(section)
            if len(rows.record):
                parts.append((rows.record, self._batch(plan, section, own, rows)))
        if len(parts) < 2:
            return parts[0][1] if parts else None
        # Rows of one record stay together, so the result does not depend on the size of windows.
        order = np.argsort(np.concatenate([records for records, _ in parts]), kind="stable")
        return in_one([batch for _, batch in parts]).take(pa.array(order))

    def _batch(
        self, plan: TablePlan, section: Section, own: tuple[str, ...], rows: SectionPlaces
    ) -> pa.RecordBatch:
        """A row for each occurrence of one section."""
        arrays = self._added(plan, section, rows)
        if plan.numbering:
            _fill(arrays, self._numbered(plan.numbering, section, rows, plan.schema.names))
        for joined, columns in plan.joined:
            if columns:
                _fill(arrays, self._joined(joined, columns, rows, section))
        _fill(arrays, self._read(section, own, rows))
        for column in plan.schema:
            if column.name not in arrays:
                arrays[column.name] = pa.nulls(len(rows.record), column.type)
        return pa.RecordBatch.from_arrays([arrays[n] for n in plan.schema.names], schema=plan.schema)

    def _added(self, plan: TablePlan, section: Section, rows: SectionPlaces) -> Columns:
        """Columns that no field of the record gives."""
        added: Columns = {}
        names = plan.schema.names
        if "record_no" in names:
            added["record_no"] = pa.array(self.group.numbers[rows.record].view(np.uint64))
        if "record_offset" in names:
            added["record_offset"] = pa.array(self.group.offsets[rows.record].view(np.uint64))
        if "section_no" in names:
            added["section_no"] = pa.array(rows.number.astype(np.uint32))
        if "source" in names:
            added["source"] = _same(SMF_SOURCE, len(rows.record))
        if plan.kind and plan.kind.column in names:
            added[plan.kind.column] = _same(plan.kind.texts[section.key], len(rows.record))
        return added

    def _numbered(
        self, numbering: RowNumbering, section: Section, rows: SectionPlaces, names: list[str]
    ) -> Columns:
        """Columns of rows whose place in their group says what they are."""
        record = self.layout.record
        base = record.section(section.base)
        kinds = self._joined(base, (numbering.by,), rows, section)[numbering.by]
        versions = {known.version for known in numbering.known if known.version}
        read = {
            name: self._joined(each, (name,), rows, section)[name]
            for each in record.sections
            for name in versions & {field.column for field in each.columns}
        }
        columns = numbered(numbering, rows, kinds, read)
        return {name: column for name, column in columns.items() if name in names}

    def _joined(
        self, section: Section, columns: tuple[str, ...], rows: SectionPlaces, of: Section
    ) -> Columns:
        """Columns of a section that occurs once, repeated for every row of its record; null without it.

        Rows of a section that another one locates get the columns of the occurrence that locates them.
        """
        places = self._place(section)
        values = self._read(section, columns, places)
        if section.key == of.base and rows.within is not None:
            return {name: column.take(pa.array(rows.within)) for name, column in values.items()}
        if places.in_each and rows.in_each:
            return values
        if rows.in_each:
            onto = spread(places.record, len(self.group))
            return {name: onto.column(column) for name, column in values.items()}
        index_of_record = np.full(len(self.group), -1, np.int64)
        index_of_record[places.record] = np.arange(len(places.record))
        source = index_of_record[rows.record]
        indices = pa.array(source, mask=None if places.in_each else source < 0)
        return {name: column.take(indices) for name, column in values.items()}

    def _read(self, section: Section, wanted: tuple[str, ...], placed: SectionPlaces) -> Columns:
        missing = tuple(name for name in wanted if (section.key, name) not in self._columns)
        if missing:
            reader = SectionReader(self.group, section, placed, self.page, self._peek, self.layout.sections)
            for name, column in reader.columns(missing).items():
                self._columns[section.key, name] = column
        return {name: self._columns[section.key, name] for name in wanted}

    def _place(self, section: Section) -> SectionPlaces:
        if section.key not in self._placed:
            if section.mark:
                entry = next(each for each in self.layout.record.sections if each.base == section.key)
                self._placed[section.key] = locate_marked(self.group, section, entry)
                return self._placed[section.key]
            if section.base and (marked := self.layout.record.section(section.base)).mark:
                self._placed[section.key] = entries_after(self.group, section, marked, self._place(marked))
                return self._placed[section.key]
            if not section.base:
                self._placed[section.key] = self.group.locate(section)
                return self._placed[section.key]
            outer: list[tuple[Section, SectionPlaces]] = []
            base = section.base
            while base and len(outer) < 2:
                found = self.layout.record.section(base)
                outer.append((found, self._place(found)))
                base = found.base
            self._placed[section.key] = locate_inside(self.group, section, outer)
            if all(other.base != section.key for other in self.layout.record.sections):
                located = [each for each in self.layout.record.sections if each.is_located]
                report_gaps(self.group, {each.key: self._place(each) for each in located})
        return self._placed[section.key]

    def _peek(self, name: str) -> Column:
        """The stored number of a field in any section that occurs once, for each record; 0 if absent."""
        for section in self.layout.record.sections:
            for candidate in section.fields:
                if candidate.name == name:
                    placed = self._place(section)
                    there = placed.lengths >= candidate.end
                    values = gather_fields(self.group.data, placed.starts[there], storage([candidate]))[name]
                    result = np.zeros(len(self.group), values.dtype)
                    result[placed.record[there]] = values
                    return result
        raise KeyError(name)


def _same(text: str, count: int) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(np.zeros(count, np.int32), [text])


def _fill(arrays: Columns, values: Columns) -> None:
    """Add columns; the nulls of an existing column are filled."""
    for name, column in values.items():
        before = arrays.get(name)
        arrays[name] = column if before is None else _first_of(before, column)


def _first_of(column: pa.Array, other: pa.Array) -> pa.Array:
    if not column.null_count:
        return column
    if not pa.types.is_dictionary(column.type):
        return pc.coalesce(column, other)
    texts = pc.coalesce(column.dictionary_decode(), other.dictionary_decode())
    return texts.dictionary_encode()


def in_one(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    """Return the batches of one table as one batch with unified dictionaries."""
    together = pa.Table.from_batches(batches).unify_dictionaries().combine_chunks()
    (batch,) = together.to_batches()
    return batch


WHOLE_RECORD = "record"
LENGTH_WORD = 4
"""The descriptor is not part of the digest: it depends on the framing of the data."""


def header_columns(group: RecordGroup, wanted: Iterable[str], page: CodePage) -> Columns:
    """Return columns of the standard header; subsystem and subtype are null in records without subtypes."""
    header = catalog().header
    headers = read_headers(group.data, group.starts)
    lengths = np.where(has_subtype(headers, group.lengths), HEADER_WITH_SUBTYPE, HEADER_LENGTH)
    everyone = np.arange(len(group))
    placed = SectionPlaces(everyone, np.zeros_like(everyone), group.starts, lengths)
    names = [name for name in wanted if name != RECORD_TYPE.name]
    columns = SectionReader(group, header, placed, page, _no_other_section).columns(names)
    types = record_types(group.data, group.starts, group.lengths, headers["type"])
    return columns | {RECORD_TYPE.name: pa.array(types, arrow_type(RECORD_TYPE.field))}


def _no_other_section(name: str) -> Column:
    raise KeyError(name)


def record_batch(group: RecordGroup, wanted: tuple[str, ...] | None, page: CodePage) -> pa.RecordBatch:
    """Return one row for each record."""
    names = wanted or tuple(table_schema(RECORD_TABLE).names)
    return _batch(RECORD_TABLE, names, header_columns(group, names, page) | _numbered(group))


def digest_batch(group: RecordGroup, wanted: tuple[str, ...] | None, page: CodePage) -> pa.RecordBatch:
    """Return one row for each record."""
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
    """Return one row for each record without a layout, or for each section without one."""
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


def _undescribed(group: RecordGroup, layout: RecordLayout | None) -> Iterable[tuple[str, SectionPlaces]]:
    if layout is None or (layout.triplets is None and layout.header_only):
        everyone = np.arange(len(group))
        yield WHOLE_RECORD, SectionPlaces(everyone, np.zeros_like(everyone), group.starts, group.lengths)
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


Kinds = NDArray[np.int32]
NO_SUBTYPE = np.int32(1 << 16)
_KIND_FIELDS = ("flags", "type", "subtype")
_FROM_FLAGS = np.dtype(
    {
        "names": list(_KIND_FIELDS),
        "formats": [HEADER[name] for name in _KIND_FIELDS],
        "offsets": [header_slice(name).start - FLAGS for name in _KIND_FIELDS],
        "itemsize": HEADER_WITH_SUBTYPE - FLAGS,
    }
)


def record_kinds(window: Window) -> Kinds:
    """Return type and subtype of each record as one number."""
    headers = sliding(window.data, _FROM_FLAGS.itemsize)[window.starts + FLAGS].view(_FROM_FLAGS)
    has = (headers["flags"] & SUBTYPES_USED) != 0
    has &= window.lengths >= HEADER_WITH_SUBTYPE
    kinds: Kinds = np.where(has, headers["subtype"], NO_SUBTYPE)
    types = record_types(window.data, window.starts, window.lengths, headers["type"])
    kinds |= types.astype(np.int32) << 17
    return kinds


def type_and_subtype(kind: int) -> tuple[int, int | None]:
    """Return type and subtype from the number of a kind."""
    subtype = kind & 0x1FFFF
    return kind >> 17, None if subtype == NO_SUBTYPE else subtype


def kind_of(record_type: int, subtype: int | None) -> int:
    """Return the number of a type and subtype."""
    return record_type << 17 | (int(NO_SUBTYPE) if subtype is None else subtype)


def distinct_kinds(kinds: Kinds) -> list[int]:
    """Return the distinct kinds, which is faster by dictionary encoding than by sorting."""
    numbers: list[int] = pa.array(kinds).unique().to_pylist()
    return numbers
