"""From the records of a window to batches of the tables that were asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zscope.parsers.smf.columns import Columns, Plans, SectionReader, gather_fields, storage
from zscope.parsers.smf.spread import spread
from zscope.schemas import RecordLayout, Section, TableLayout, catalog
from zscope.schemas.arrow import table_schema
from zscope.schemas.tables import HEADER_COLUMNS, SMF_SOURCE

if TYPE_CHECKING:
    from zscope.parsers.smf.codecs.raw import Column
    from zscope.parsers.smf.ebcdic import CodePage
    from zscope.parsers.smf.groups import Placed, RecordGroup
    from zscope.parsers.smf.header import Positions
    from zscope.schemas import RowKind


@dataclass(frozen=True, slots=True)
class TablePlan:
    """Where the wanted columns of one table come from."""

    rows: tuple[tuple[Section, tuple[str, ...]], ...]
    """Sections of which each occurrence makes a row, with the columns that are its own."""
    schema: pa.Schema
    lent: tuple[tuple[Section, tuple[str, ...]], ...]
    """Columns of sections that occur once in a record."""
    kind: RowKind | None


@dataclass(frozen=True, slots=True)
class LayoutPlan:
    """All that can be worked out about a layout before there are records; kept from window to window."""

    record: RecordLayout
    sections: Plans = field(default_factory=Plans)
    _tables: dict[tuple[str, tuple[str, ...] | None], TablePlan] = field(default_factory=dict)

    def table(self, table: TableLayout, wanted: tuple[str, ...] | None) -> TablePlan:
        """The plan for some columns of a table; None asks for all of them."""
        key = table.name, wanted
        if key not in self._tables:
            whole = table_schema(table.name)
            names = tuple(whole.names) if wanted is None else wanted
            rows = [self.record.section(row) for row in table.rows]
            lent: list[tuple[Section, tuple[str, ...]]] = [(catalog().header, HEADER_COLUMNS)]
            for join in table.joins:
                section = self.record.section(join.section)
                columns = tuple(f.column for f in section.columns) if join.columns is None else join.columns
                lent.append((section, columns))
            self._tables[key] = TablePlan(
                tuple((row, tuple(f.column for f in row.columns if f.column in names)) for row in rows),
                pa.schema([whole.field(n) for n in names], whole.metadata),
                tuple((section, tuple(c for c in columns if c in names)) for section, columns in lent),
                table.kind,
            )
        return self._tables[key]


@dataclass
class TableBuilder:
    """Makes all tables of one record group; a section that several tables use is decoded once."""

    group: RecordGroup
    layout: LayoutPlan
    page: CodePage
    _placed: dict[str, Placed] = field(default_factory=dict)
    _columns: dict[tuple[str, str], pa.Array] = field(default_factory=dict)

    def build(self, table: TableLayout, wanted: tuple[str, ...] | None) -> pa.RecordBatch | None:
        """The rows of one table; None when there are none."""
        plan = self.layout.table(table, wanted)
        made: list[tuple[Positions, pa.RecordBatch]] = []
        for section, own in plan.rows:
            rows = self._place(section)
            if len(rows.record):
                made.append((rows.record, self._batch(plan, section, own, rows)))
        if len(made) < 2:
            return made[0][1] if made else None
        # Rows of one record belong together: how many records are decoded at a time must not show.
        order = np.argsort(np.concatenate([records for records, _ in made]), kind="stable")
        return in_one([batch for _, batch in made]).take(pa.array(order))

    def _batch(self, plan: TablePlan, section: Section, own: tuple[str, ...], rows: Placed) -> pa.RecordBatch:
        """A row for each occurrence of one section."""
        arrays = self._made(plan, section, rows)
        for lender, columns in plan.lent:
            if columns:
                _fill(arrays, self._lent(lender, columns, rows))
        _fill(arrays, self._read(section, own, rows))
        for column in plan.schema:
            if column.name not in arrays:
                arrays[column.name] = pa.nulls(len(rows.record), column.type)
        return pa.RecordBatch.from_arrays([arrays[n] for n in plan.schema.names], schema=plan.schema)

    def _made(self, plan: TablePlan, section: Section, rows: Placed) -> Columns:
        """What the reader itself knows about each row."""
        made: Columns = {}
        names = plan.schema.names
        if "record_no" in names:
            made["record_no"] = pa.array(self.group.numbers[rows.record].view(np.uint64))
        if "record_offset" in names:
            made["record_offset"] = pa.array(self.group.offsets[rows.record].view(np.uint64))
        if "section_no" in names:
            made["section_no"] = pa.array(rows.number.astype(np.uint32))
        if "source" in names:
            made["source"] = _same(SMF_SOURCE, len(rows.record))
        if plan.kind and plan.kind.column in names:
            made[plan.kind.column] = _same(plan.kind.texts[section.key], len(rows.record))
        return made

    def _lent(self, section: Section, columns: tuple[str, ...], rows: Placed) -> Columns:
        """Columns of a section that occurs once, repeated for every row of its record; null without it."""
        lender = self._place(section)
        found = self._read(section, columns, lender)
        if lender.in_each and rows.in_each:
            return found
        if rows.in_each:
            onto = spread(lender.record, len(self.group))
            return {name: onto.column(column) for name, column in found.items()}
        where = np.full(len(self.group), -1, np.int64)
        where[lender.record] = np.arange(len(lender.record))
        source = where[rows.record]
        indices = pa.array(source, mask=None if lender.in_each else source < 0)
        return {name: column.take(indices) for name, column in found.items()}

    def _read(self, section: Section, wanted: tuple[str, ...], placed: Placed) -> Columns:
        missing = tuple(name for name in wanted if (section.key, name) not in self._columns)
        if missing:
            reader = SectionReader(self.group, section, placed, self.page, self._peek, self.layout.sections)
            for name, column in reader.columns(missing).items():
                self._columns[section.key, name] = column
        return {name: self._columns[section.key, name] for name in wanted}

    def _place(self, section: Section) -> Placed:
        if section.key not in self._placed:
            self._placed[section.key] = self.group.locate(section)
        return self._placed[section.key]

    def _peek(self, name: str) -> Column:
        """The stored number of a field in any section that occurs once, for each record; 0 without it."""
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


def _fill(arrays: Columns, found: Columns) -> None:
    """Add columns; where one is there already, its nulls are filled."""
    for name, column in found.items():
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
    """Batches of one table as one; their dictionaries become one as well."""
    together = pa.Table.from_batches(batches).unify_dictionaries().combine_chunks()
    (batch,) = together.to_batches()
    return batch
