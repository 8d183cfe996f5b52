"""Decode a section of many records into columns.

Sections of one length are gathered together, a cache-sized block at a time: a block is copied out of the
window as opaque items, viewed as a structure, and copied to the columns while it is in the cache. The codecs
then decode whole columns. Everything that depends only on the layout is computed once (`SectionPlan`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from msgspec.structs import replace

from zscope.parsers.issues import Code, Issue
from zscope.parsers.smf.codecs import CODECS
from zscope.parsers.smf.codecs.base import Column, Raw, as_byte_rows
from zscope.parsers.smf.codecs.text_and_addresses import variable_texts
from zscope.parsers.smf.header import Bytes, Positions, gather, sliding
from zscope.schemas import Field, Format, Section
from zscope.schemas.arrow import LONGEST_NUMBER, arrow_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

    from zscope.parsers.smf.codecs.base import Codec
    from zscope.parsers.smf.header import Mask
    from zscope.parsers.smf.sections import RecordGroup, SectionPlaces
    from zscope.parsers.text.coding import CodePage
    from zscope.schemas.model import Condition


BLOCK_ROWS = 2048

Columns = dict[str, pa.Array]


@dataclass(frozen=True, slots=True)
class Stored:
    """The structure of some fields in a section."""

    layout: np.dtype[np.void]
    first: int
    """Offset of the structure in the section."""


@dataclass(frozen=True, slots=True)
class Piece:
    """The plan for sections of one length."""

    stored: Stored | None
    fields: tuple[tuple[Field, Codec, tuple[str, ...]], ...]
    """The fields inside this length, with their partners."""
    absent: tuple[tuple[str, pa.DataType], ...]
    """The columns of the other fields."""


@dataclass(slots=True)
class SectionPlan:
    """How to decode some columns of a section."""

    section: Section
    fixed: tuple[Field, ...]
    variable: tuple[Field, ...]
    """Fields that extend to the end of the section."""
    needed: int
    """The number of bytes of a section that these fields need."""
    from_end: tuple[Field, ...] = ()
    """Fields whose place counts back from the end of the section."""
    _pieces: dict[int, Piece] = field(default_factory=dict)

    def piece(self, length: int) -> Piece:
        """Return the plan for sections of one (effective) length: fields beyond it are null."""
        if length not in self._pieces:
            near = {f.name: f for f in self.section.fields}
            inside, absent, stored = [], [], []
            for f in self.fixed:
                needed = [f, *(near[name] for name in f.partners if name in near)]
                if max(n.end for n in needed) <= length:
                    inside.append((f, CODECS[f.format], f.partners))
                    stored += needed
                else:
                    absent.append((f.column, arrow_type(f)))
            self._pieces[length] = Piece(storage(stored), tuple(inside), tuple(absent))
        return self._pieces[length]


@dataclass(frozen=True, slots=True)
class Plans:
    """The plans for the sections of one layout, reused for all windows."""

    _known: dict[tuple[str, tuple[str, ...]], SectionPlan] = field(default_factory=dict)

    def plan(self, section: Section, wanted: Iterable[str]) -> SectionPlan:
        """Return the plan for some columns of a section."""
        key = section.key, tuple(wanted)
        if key not in self._known:
            fields = [f for f in section.columns if f.column in key[1]]
            fixed = tuple(f for f in fields if f.length is not None and not f.from_end)
            from_end = tuple(f for f in fields if f.from_end)
            variable = tuple(f for f in fields if f.length is None)
            partners = {name for f in fixed for name in f.partners}
            needed = [f.end for f in section.fields if f in fixed or f.name in partners]
            self._known[key] = SectionPlan(section, fixed, variable, max(needed, default=0), from_end)
        return self._known[key]


def storage(fields: Iterable[Field]) -> Stored | None:
    """Return the structure of these fields; None without fields."""
    each = {f.name: f for f in fields}.values()
    if not each:
        return None
    first = min(f.offset for f in each)
    layout = np.dtype(
        {
            "names": [f.name for f in each],
            "formats": [CODECS[f.format].storage(f.length or 0) for f in each],
            "offsets": [f.offset - first for f in each],
            "itemsize": max(f.end for f in each) - first,
        }
    )
    return Stored(layout, first)


@dataclass(frozen=True, slots=True)
class SectionReader:
    """Decodes columns of one section for the records of one group."""

    group: RecordGroup
    section: Section
    placed: SectionPlaces
    page: CodePage
    peek: Callable[[str], Column]
    """Returns a field of another section, for each record of the group."""
    plans: Plans = field(default_factory=Plans)

    def columns(self, wanted: Iterable[str]) -> Columns:
        """Return some columns, with one row for each occurrence of the section."""
        plan = self.plans.plan(self.section, wanted)
        result = self._fixed(plan) if plan.fixed else {}
        for variable in plan.variable:
            result[variable.column] = self._variable(variable)
        for last in plan.from_end:
            result[last.column] = self._from_end(last)
        self._report_longer()
        self._report_shorter()
        return result

    def _fixed(self, plan: SectionPlan) -> Columns:
        """The fields of fixed length."""
        lengths = self.placed.lengths
        if not len(lengths):
            return {f.column: pa.array([], arrow_type(f)) for f in plan.fixed}
        shortest = int(lengths.min())
        if shortest >= plan.needed or shortest == lengths.max():
            return self._piece(plan, min(shortest, plan.needed), slice(None))
        effective = np.minimum(lengths, plan.needed)
        order, pieces = [], []
        for kind in np.unique(effective).tolist():
            rows = np.flatnonzero(effective == kind)
            order.append(rows)
            pieces.append(self._piece(plan, kind, rows))
        back = np.empty(len(lengths), np.int64)
        back[np.concatenate(order)] = np.arange(len(lengths))
        indices = pa.array(back)
        return {f.column: _joined([piece[f.column] for piece in pieces]).take(indices) for f in plan.fixed}

    def _piece(self, plan: SectionPlan, length: int, rows: Positions | slice) -> Columns:
        """Sections of one (effective) length."""
        piece = plan.piece(length)
        starts, records = self.placed.starts[rows], self.placed.record[rows]
        values = gather_fields(self.group.data, starts, piece.stored)
        result: Columns = {column: pa.nulls(len(starts), kind) for column, kind in piece.absent}

        for wanted, codec, names in piece.fields:
            partners = {name: values[name] if name in values else self.peek(name)[records] for name in names}
            flag = partial(self._flag, wanted, starts, records)
            raw = Raw(wanted, values[wanted.name], partners, self.page, flag)
            column = codec.decode(raw)
            conditional = wanted.when or wanted.unless
            result[wanted.column] = where_present(wanted, partners, column) if conditional else column
        return result

    def _flag(
        self,
        field: Field,
        starts: Positions,
        records: Positions,
        code: Code,
        bad: NDArray[np.bool_],
        text: str,
    ) -> None:
        """Report a field of some sections."""
        if bad.any():
            which = records[bad]
            at = starts[bad] - self.group.starts[which] + field.offset
            self.group.flag(code, which, text, self.section.key, field.name, at)

    def _from_end(self, field: Field) -> pa.Array:
        """A number whose place counts back from the end of its section; null in sections too short for it."""
        before = max((f.end for f in self.section.fields if not f.from_end), default=0)
        there = self.placed.lengths >= before + field.offset
        starts = (self.placed.starts + self.placed.lengths - field.offset)[there]
        values = gather_fields(self.group.data, starts, storage([replace(field, offset=0, from_end=False)]))
        flag = partial(self._flag, field, starts, self.placed.record[there])
        column = CODECS[field.format].decode(Raw(field, values[field.name], {}, self.page, flag))
        return spread(np.flatnonzero(there), len(there)).column(column)

    def _variable(self, field: Field) -> pa.Array:
        """A field that extends to the end of its section."""
        sizes = np.maximum(self.placed.lengths - field.offset, 0)
        starts = self.placed.starts + field.offset
        if field.format is Format.RAW:
            return gather_items(self.group.data, starts, sizes)
        if field.format is Format.UINT:
            return self._number_to_the_end(field, starts, sizes)
        return variable_texts(field, gather_padded(self.group.data, starts, sizes), self.page)

    def _number_to_the_end(self, field: Field, starts: Positions, sizes: Positions) -> pa.Array:
        """Numbers as long as their section; null, with an issue, where that is no length of a number."""
        bad = (sizes < 1) | (sizes > LONGEST_NUMBER)
        text = f"a number has no length between 1 and {LONGEST_NUMBER} bytes; it is null"
        self._flag(field, self.placed.starts, self.placed.record, Code.ENTRY_LENGTH, bad, text)
        numbers = np.zeros(len(sizes), np.uint64)
        for place in range(int(sizes[~bad].max(initial=0))):
            inside = np.flatnonzero(~bad & (sizes > place))
            numbers[inside] = numbers[inside] << np.uint64(8) | self.group.data[starts[inside] + place]
        return pa.array(numbers, mask=bad)

    def _report_longer(self) -> None:
        """Report once per file that sections are longer than at any known level."""
        section = self.section
        if section.lengths and section.is_located and len(self.placed.lengths):
            longest = int(self.placed.lengths.max())
            if longest > section.known_length:
                text = (
                    f"sections have {longest} bytes, more than the known {section.known_length}; "
                    "the rest was skipped"
                )
                issue = Issue(Code.SECTION_LONGER, text, self.group.file, section=section.key)
                self.group.issues.add_once(issue, longest)

    def _report_shorter(self) -> None:
        """Report sections that are shorter than at any known level."""
        if not self.section.is_located:
            return
        known = self.section.shortest_length
        short = np.flatnonzero(self.placed.lengths < known)
        if len(short):
            which = self.placed.record[short]
            at = self.placed.starts[short] - self.group.starts[which]
            text = f"is shorter than the {known} bytes of the oldest release; fields after its end are null"
            self.group.flag(Code.SECTION_SHORTER, which, text, self.section.key, at=at)


def where_present(field: Field, partners: Mapping[str, Column], column: pa.Array) -> pa.Array:
    """Return the column with null where a condition `when` does not hold, or where all of `unless` hold."""
    present = np.ones(len(column), np.bool_)
    for condition in field.when:
        present &= _holds(condition, partners)
    absent = np.full(len(column), bool(field.unless))
    for condition in field.unless:
        absent &= _holds(condition, partners)
    present &= ~absent
    return column if present.all() else column.take(pa.array(np.arange(len(column)), mask=~present))


def _holds(condition: Condition, partners: Mapping[str, Column]) -> NDArray[np.bool_]:
    """Whether a condition holds in each row."""
    number = _number(partners[condition.field])
    holds: NDArray[np.bool_] = number & np.uint64(condition.bits) == condition.bits
    return holds & (number >= condition.least)


def _number(stored: Column) -> Column:
    """The bytes of a field as a number, whatever its format."""
    if stored.dtype.kind != "V":
        return stored.astype(np.uint64)
    number = np.zeros(len(stored), np.uint64)
    for byte in as_byte_rows(stored).T:
        number = number << np.uint64(8) | byte
    return number


def _joined(pieces: list[pa.Array]) -> pa.Array:
    """The pieces of one column as one array with a unified dictionary."""
    column = pa.chunked_array(pieces)
    if pa.types.is_dictionary(column.type):
        column = column.unify_dictionaries()
    return column.combine_chunks()


def gather_fields(data: Bytes, starts: Positions, stored: Stored | None) -> dict[str, Column]:
    """Return the stored values of some fields at many places, numbers in the machine's byte order."""
    if stored is None:
        return {}
    layout = stored.layout
    values = {name: np.empty(len(starts), layout[name].newbyteorder("=")) for name in layout.names or ()}
    runs = sliding(data[stored.first :], layout.itemsize)
    for begin in range(0, len(starts), BLOCK_ROWS):
        end = begin + BLOCK_ROWS
        block = runs[starts[begin:end]].view(layout)
        for name, column in values.items():
            column[begin:end] = block[name]
    return values


def gather_padded(data: Bytes, starts: Positions, sizes: Positions) -> pa.Array:
    """Return texts of different lengths as a column of bytes, possibly padded with zeros.

    Unless the longest is much longer than the rest, gathering equal widths is several times faster.
    """
    width = int(sizes.max(initial=1))
    if width * len(sizes) > PADDING_LIMIT * (int(sizes.sum()) + len(sizes)):
        return gather_items(data, starts, sizes)
    rows = gather(data, starts, width)
    if sizes.min(initial=width) < width:
        rows &= _masks(width)[sizes]
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), len(rows), [None, pa.py_buffer(rows)])


PADDING_LIMIT = 4


@lru_cache(maxsize=16)
def _masks(width: int) -> NDArray[np.uint8]:
    """For each size up to a width, a mask for the first bytes of a row."""
    return np.tril(np.full((width + 1, width), 0xFF, np.uint8), -1)


def gather_items(data: Bytes, starts: Positions, sizes: Positions) -> pa.Array:
    """Return runs of different lengths as a column of bytes."""
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    places = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], sizes)
    buffers = [pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(data[places])]
    return pa.Array.from_buffers(pa.binary(), len(sizes), [None, *buffers])


@dataclass(frozen=True, slots=True)
class Spread:
    """Spreads columns over more rows, with nulls in rows that get no value.

    Arrow's `take` with nulls among the indices does the same five times slower, because it tests each value.
    """

    rows: Positions
    """The row of each value, in ascending order."""
    count: int
    """How many rows there are."""
    there: pa.Buffer
    """Validity bitmap of the rows."""

    def column(self, values: pa.Array) -> pa.Array:
        """Return one column with all rows."""
        kind = values.type
        if pa.types.is_dictionary(kind):
            return pa.DictionaryArray.from_arrays(self.column(values.indices), values.dictionary, safe=False)
        valid = self.there
        if values.null_count:
            there = np.zeros(self.count, np.bool_)
            there[self.rows] = values.is_valid().to_numpy(zero_copy_only=False)
            valid = _bits(there)
        if pa.types.is_string(kind) or pa.types.is_binary(kind):
            _, offsets, content = values.buffers()
            bounds = np.frombuffer(offsets, np.int32)[values.offset : values.offset + len(values) + 1]
            ends = np.zeros(self.count + 1, np.int32)
            # Rows without a value end where the previous row ends.
            ends[self.rows + 1] = np.diff(bounds)
            np.cumsum(ends, out=ends)
            return pa.Array.from_buffers(kind, self.count, [valid, pa.py_buffer(ends + bounds[0]), content])
        width = kind.bit_width // 8
        stored = np.frombuffer(values.buffers()[1], f"u{width}")[values.offset : values.offset + len(values)]
        placed = np.zeros(self.count, stored.dtype)
        placed[self.rows] = stored
        return pa.Array.from_buffers(kind, self.count, [valid, pa.py_buffer(placed)])


def spread(rows: Positions, count: int) -> Spread:
    """Return how to spread columns over `count` rows; the values go to `rows`."""
    there = np.zeros(count, np.bool_)
    there[rows] = True
    return Spread(rows, count, _bits(there))


def _bits(mask: Mask) -> pa.Buffer:
    return pa.py_buffer(np.packbits(mask, bitorder="little"))
