"""Turn declarations of records into columns, and columns into records by the writers of layouts.

`zscope.samples.dump.record_declaration` describes the declarations. Their expressions are evaluated with the
functions and names at the end of this module.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from zscope.parsers.smf.codecs import CODECS
from zscope.parsers.smf.record_writer import (
    SectionRows,
    encode_alike,
    encode_records,
    encode_section,
    write_fields,
)
from zscope.parsers.text.coding import code_page
from zscope.samples.dump.arrays import local, pick, utc
from zscope.samples.dump.assemble import SmfBatch, once, optional
from zscope.samples.dump.record_declaration import read_declaration
from zscope.samples.dump.site_names import certificate_names
from zscope.schemas import catalog
from zscope.schemas.arrow import arrow_type

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import CodeType

    from zscope.parsers.smf.codecs.base import ByteRows
    from zscope.parsers.smf.record_writer import SectionBytes
    from zscope.samples.dump.arrays import Choice, Numbers
    from zscope.samples.dump.record_declaration import DeclaredRecordSection, RecordDeclaration
    from zscope.samples.dump.site_context import SiteContext
    from zscope.schemas import Field, RecordLayout, Section


_Cell = tuple[slice, "ByteRows", "Choice"]
"""Place in a section, the bytes of different values, and for each record the number of its value."""


@dataclass(frozen=True)
class DeclaredRecords:
    """Generates the records of one subtype of a declaration."""

    context: SiteContext
    path: str
    subtype: int
    _ready: dict[int, SectionRows] = field(default_factory=dict)
    """Ready sections by number."""
    _tables: dict[tuple[str, str, int], list[tuple[slice, ByteRows]]] = field(default_factory=dict)
    """Tables of the site, encoded."""
    _encoded: dict[tuple[str, str], tuple[Any, ByteRows]] = field(default_factory=dict)
    """Values of columns with few different ones, encoded: they are usually the same each time."""

    def make(
        self, given: Mapping[str, Any], written: Numbers, rng: np.random.Generator | None = None
    ) -> SmfBatch:
        """Generate one record for each of these times, at which they are written.

        Expressions can use the given arrays and other values; `system` is given or declared.
        """
        batch, count = SmfBatch(), len(written)
        if not count:
            return batch
        names: Names = {**self._names, **(random_names(rng, count) if rng else {}), **given}
        names |= {"count": count, "time": written, "subtype": self.subtype}
        names["local"] = lambda times: local(self.context.local_us(names["system"], times))
        names["offset"] = lambda times: self.context.offset_us(names["system"], times)
        for name, expression in self._declaration.values.items():
            names[name] = evaluate(expression, names)
        names["ipl"] = self.context.latest_ipl(names["system"], written)
        sections = [s for s in self._declaration.section if s.subtypes is None or self.subtype in s.subtypes]
        if any(section.text for section in sections):
            self._add_varied(batch, names, sections)
        else:
            self._add_alike(batch, names, sections)
        return batch

    @cached_property
    def _declaration(self) -> RecordDeclaration:
        return read_declaration(self.path)

    @cached_property
    def _layout(self) -> RecordLayout:
        return catalog().records[self._declaration.type, self.subtype]

    @cached_property
    def _identification(self) -> ByteRows:
        writer = self._declaration.writer_of(self.subtype)
        assert writer is not None
        return self.context.identification(writer)

    @cached_property
    def _names(self) -> Names:
        """Names that all expressions can use."""
        return {**FUNCTIONS, **self.context.site_names, **self._declaration.lists}

    def _add_alike(self, batch: SmfBatch, names: Names, sections: Sequence[DeclaredRecordSection]) -> None:
        """Add records, all of one shape at once."""
        systems, written = names["system"], names["time"]
        parts = [self._part(section, names) for section in sections]
        shapes = np.zeros(len(written), np.int64)
        for part in parts:
            if part.kind is not None:
                shapes = shapes * 2 + part.kind
        if self._declaration.shape:
            shapes = evaluate(self._declaration.shape, names)
        for part in parts:
            self._expect(batch, part.section, part.occurrences(len(written)))
        everywhere = parts
        if self._declaration.writer_of(self.subtype):
            everywhere = [_Part(self._section("identification"), self._identification[names["ipl"]]), *parts]
        triplets = np.broadcast_to(evaluate(self._declaration.triplets, names), len(written))
        kind = self._declaration.type, self.subtype
        subsystem = self._declaration.subsystem
        heads = self.context.headers(*kind, systems, written, names.get(subsystem, subsystem))
        for shape in np.unique(shapes):
            rows = np.flatnonzero(shapes == shape)
            there = [section for part in everywhere if (section := part.of(rows, self._block))]
            records = encode_alike(self._layout, heads[rows], there, int(triplets[rows[0]]))
            batch.add(kind, records, systems[rows], written[rows])

    def _add_varied(self, batch: SmfBatch, names: Names, sections: Sequence[DeclaredRecordSection]) -> None:
        """Add records with texts of different lengths."""
        systems, written = names["system"], names["time"]
        parts = [once(self._section("identification"), self._identification[names["ipl"]])]
        for section in sections:
            if section.text or section.same_text:
                parts.append(self._texts(section, names))
            else:
                parts.append(once(self._section(section.key), self._rows(section, names)))
                self._expect(batch, self._section(section.key), len(written))
        columns = {
            "system": pick(self.context.names, systems),
            "written_local": names["local"](written),
            "subsystem": pick([self._declaration.subsystem], np.zeros(len(written))),
        }
        triplets = int(evaluate(self._declaration.triplets, names))
        records = encode_records(self._layout, columns, parts, len(systems), triplets)
        batch.add((self._declaration.type, self.subtype), records, systems, written)

    def _expect(self, batch: SmfBatch, section: Section, occurrences: int) -> None:
        """Count the rows that occurrences of a section become."""
        for table in self._layout.tables:
            if section.key in table.rows:
                batch.expected.tables[table.name] += occurrences

    def _texts(self, declared: DeclaredRecordSection, names: Names) -> SectionBytes:
        if declared.same_text:
            texts = [declared.same_text] * names["count"]
        else:
            picked = evaluate(declared.text, names)
            texts = [picked.values[number] for number in picked.index.tolist()]
        there = evaluate(declared.only_if, names) if declared.only_if else [True] * len(texts)
        encoded = [
            code_page().encode(text) if is_there else None
            for text, is_there in zip(texts, there, strict=True)
        ]
        return optional(self._section(declared.key), encoded)

    def _section(self, key: str) -> Section:
        return self._layout.section(key)

    def _block(self, section: Section, number: int) -> SectionRows:
        """Return a ready section: the names of certificates with a number."""
        if number not in self._ready:
            self._ready[number] = certificate_names(self.context.site, section, number)
        return self._ready[number]

    def _part(self, declared: DeclaredRecordSection, names: Names) -> _Part:
        section = self._section(declared.key)
        if declared.block:
            return _Part(section, None, numbers=evaluate(declared.block, names))
        kind = evaluate(declared.only_if, names) if declared.only_if else None
        lengths = self._lengths(declared, names) if declared.length else None
        if declared.each:
            number = evaluate(declared.each, names)
            if not number:
                return _Part(section, None)
            rows = self._rows(declared, names).reshape(names["count"], -1)
            return _Part(section, rows, kind, number=number)
        rows = self._rows(declared, names)
        return _Part(section, rows, kind, lengths)

    def _lengths(self, declared: DeclaredRecordSection, names: Names) -> Numbers:
        section = self._section(declared.key)
        of_levels = dict(section.lengths or {})

        def at_level(level: str) -> int:
            return self.context.length(section, of_levels.get(level, section.known_length))

        lengths = evaluate(
            declared.length, names | {"known": self.context.length(section), "at_level": at_level}
        )
        return np.broadcast_to(np.asarray(lengths, np.int64), names["count"])

    def _rows(self, declared: DeclaredRecordSection, names: Names) -> ByteRows:
        """Encode a section of all records, in the greatest length that one of them has."""
        section, count = self._section(declared.key), names["count"]
        if declared.each:
            count *= evaluate(declared.each, names)
        if declared.same_text:
            text = np.frombuffer(code_page().encode(declared.same_text), np.uint8)
            return np.broadcast_to(text, (count, len(text)))
        length = self.context.length(section)
        if declared.length:
            length = int(self._lengths(declared, names).max())
        fields = {one.column: one for one in section.columns}
        constants = {
            name: pa.array([value], _plain(arrow_type(fields[name])))
            for name, value in declared.constants.items()
            if name in fields
        }
        row = encode_section(section, constants, 1, length)
        cells, columns = self._cells(declared, names, length)
        for place, encoded, index in cells:
            if not np.ndim(index):
                row[:, place] = encoded[index]
        cells = [cell for cell in cells if np.ndim(cell[2])]
        if not cells and not columns:
            return np.broadcast_to(row, (count, length))
        rows = np.repeat(row, count, axis=0)
        for place, encoded, index in cells:
            rows[:, place] = encoded[index]
        write_fields(rows, section, columns)
        return rows

    def _cells(
        self, declared: DeclaredRecordSection, names: Names, length: int
    ) -> tuple[list[_Cell], dict[str, pa.Array]]:
        """Return what is written into a section: encoded values to pick from, and columns to encode."""
        section = self._section(declared.key)
        fields = {one.column: one for one in section.columns if one.end <= length}
        values = {name: evaluate(expression, names) for name, expression in declared.columns.items()}
        cells: list[_Cell] = []
        for prefix, expression in declared.tables.items():
            table = evaluate(expression, names)
            if isinstance(table, Picked):
                places = self._table(section, prefix, table, length)
                cells += [(place, encoded, table.index) for place, encoded in places]
            else:
                values |= {f"{prefix}_{name}": amounts for name, amounts in table.items()}
        if declared.computed:
            values |= evaluate(declared.computed, names)
        columns = {}
        for name in values.keys() & fields.keys():
            value, of = values[name], fields[name]
            if declared.each:
                value = _spread(value, (names["count"], evaluate(declared.each, names)))
            place = slice(of.offset, of.end)
            if isinstance(value, Picked):
                cells.append((place, self._encode(declared.key, of, value.values), value.index))
            elif isinstance(value, np.ndarray) and value.ndim > 1:
                cells.append((place, value, np.arange(len(value))))
            elif value is not None:
                columns[name] = _column(value, arrow_type(of))
        return cells, columns

    def _encode(self, key: str, of: Field, values: Any) -> ByteRows:  # noqa: ANN401 - texts or an Arrow column
        """Encode the different values of a column."""
        known, encoded = self._encoded.get((key, of.column), (None, None))
        if known is not values or encoded is None:
            column = values if isinstance(values, pa.Array) else pa.array(values, pa.string())
            encoded = CODECS[of.format].encode(of, column, code_page())
            self._encoded[key, of.column] = values, encoded
        return encoded

    def _table(
        self, section: Section, prefix: str, table: Picked, length: int
    ) -> list[tuple[slice, ByteRows]]:
        """Encode the different rows of a table: their places in the section, and their bytes there.

        Fields side by side are one place, as each place takes time for each record.
        """
        key = section.key, prefix, length
        if key not in self._tables:
            runs: list[tuple[slice, ByteRows]] = []
            mine = {f"{prefix}_{name}": values for name, values in table.values.items()}
            for one in sorted(section.columns, key=lambda one: one.offset):
                if one.column not in mine or one.end > length:
                    continue
                place, encoded = slice(one.offset, one.end), self._encode(section.key, one, mine[one.column])
                if runs and runs[-1][0].stop == one.offset:
                    before, beside = runs.pop()
                    place, encoded = slice(before.start, one.end), np.hstack([beside, encoded])
                runs.append((place, encoded))
            self._tables[key] = runs
        return self._tables[key]


def _spread(value: Any, shape: tuple[int, int]) -> Any:  # noqa: ANN401 - what an expression has as value
    """Return one value for each occurrence of a section, those of one record side by side."""
    if isinstance(value, Picked):
        return Picked(value.values, np.broadcast_to(value.index, shape).ravel())
    return np.broadcast_to(value, shape).ravel()


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _column(values: Any, kind: pa.DataType) -> pa.Array:  # noqa: ANN401 - an array or one value for all records
    if isinstance(values, pa.Array):
        return values
    return pa.array(np.atleast_1d(np.asarray(values)).astype(kind.to_pandas_dtype()), kind)


@dataclass(frozen=True, slots=True)
class _Part:
    """One section of all records."""

    section: Section
    rows: ByteRows | None
    kind: Choice | None = None
    """Which records have it; None: all."""
    lengths: Numbers | None = None
    numbers: Choice | None = None
    """For each record, the number of a ready section; -1 for none."""
    number: int = 1
    """Number of times that each record has it."""

    def occurrences(self, count: int) -> int:
        """Return the number of its occurrences in `count` records; 0 for ready sections."""
        if self.rows is None:
            return 0
        return self.number * (count if self.kind is None else int(np.count_nonzero(self.kind)))

    def of(self, rows: Choice, block: Callable[[Section, int], SectionRows]) -> SectionRows | None:
        """Return the section of records that have the same shape."""
        first = rows[0]
        if self.numbers is not None:
            number = int(self.numbers[first])
            return block(self.section, number) if number >= 0 else None
        if self.rows is None or (self.kind is not None and not self.kind[first]):
            return None
        length = self.rows.shape[1] if self.lengths is None else int(self.lengths[first])
        return SectionRows(self.section, self.rows[rows][:, :length], length // self.number, self.number)


Names = dict[str, Any]


def evaluate(expression: int | str, names: Names) -> Any:  # noqa: ANN401 - whatever the expression is
    """Return the value of an expression of a declaration, which is a part of this package."""
    return eval(_compiled(str(expression)), {"__builtins__": {}}, names)


@cache
def _compiled(expression: str) -> CodeType:
    """Compile an expression; a traceback shows it in place of a file."""
    return compile(expression, f"expression {expression}", "eval")


@dataclass(frozen=True, slots=True)
class Picked:
    """A column with few different values: row i has `values[index[i]]`."""

    values: Any
    """Texts, an Arrow column, or several Arrow columns by name."""
    index: Choice


def numbered(pattern: str, numbers: Numbers) -> Picked:
    """Return texts with a number in each."""
    distinct, index = np.unique(numbers, return_inverse=True)
    return Picked([pattern.format(number) for number in distinct.tolist()], index.reshape(np.shape(numbers)))


def whole(numbers: Choice) -> Numbers:
    """Return whole numbers, rounded towards zero."""
    return numbers.astype(np.int64)


def random_names(rng: np.random.Generator, count: int) -> Names:
    """Return the functions that draw one random number for each record."""

    def choice(weights: Choice) -> Numbers:
        return rng.choice(len(weights), count, p=weights)

    return {
        "choice": choice,
        "integers": lambda low, high: rng.integers(low, high, count),
        "normal": lambda mean, deviation: rng.normal(mean, deviation, count),
        "random": lambda: rng.random(count),
    }


FUNCTIONS: Names = {
    "array": np.array,
    "exp": np.exp,
    "len": len,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "numbered": numbered,
    "pick": Picked,
    "round": np.rint,
    "utc": utc,
    "where": np.where,
    "whole": whole,
}
