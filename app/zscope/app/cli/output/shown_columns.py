"""The columns of a table on a terminal, and how an answer is written: units, ranges, numbers and notes.

The headings of an answer are names of columns in words, with the unit last. The low and the high end of a
figure are one column, a range. Numbers are written as in figures (`written_values`), and a missing number as
a hyphen. Reasons are notes: clauses that several rows share have numbers, others stand below their row.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from zscope.app.cli.output.cells import cells, is_right_aligned, visible
from zscope.app.cli.output.writers import is_number
from zscope.app.shared.column_labels import words_and_unit
from zscope.app.shared.written_values import shown, shown_range

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zscope.app.cli.output.row_stream import Rows

MISSING = "-"
"""A missing number of an answer."""
_RANGE = "range"
_NOTES = "notes"
_VALUE = "value"
"""Name of the estimate if the low and high columns have no other part, as in low, value, high."""
_ENDS = ("low", "high")
_BETWEEN_CLAUSES = "; "
_PAIR = 2
_FRACTION = re.compile(r"\.\d+")
"""The fraction of the second in a time."""
_ZEROS = (re.compile(r"\.0+$"), re.compile(r":00$"), re.compile(r"T00:00$"))
"""Trailing zeros of times, omitted if all times of a column have them."""


@dataclass(slots=True)
class ShownColumn:
    """A column of the shown rows."""

    names: tuple[str, ...]
    """Names of the result columns that are shown: one, or two for a range (low and high)."""
    values: list[str]
    right: bool
    essential: bool = False
    parts: tuple[str, ...] = ()
    """Parts of the heading, each including its separator. Headings are split between parts."""
    base: str = ""
    """For a range, the name of the column with the estimate; otherwise empty."""
    marks: bool = False
    """Whether its values are the numbers of notes."""
    width: int = 0
    """Characters on the screen; the longest value at first."""
    head: list[str] = field(default_factory=list)
    """The lines of its heading."""

    def __post_init__(self) -> None:
        self.head = ["".join(self.parts).rstrip()]
        self.width = max(map(len, [*self.head, *self.values]))

    @property
    def title(self) -> str:
        """Its name, or the heading of a range."""
        return "".join(self.parts).rstrip() if self.base else self.names[0]

    @property
    def same(self) -> bool:
        """Whether all of several rows have one value, which may be no value."""
        return len(self.values) > 1 and len(set(self.values)) == 1

    @property
    def empty(self) -> bool:
        """Whether no row has a value."""
        return bool(self.values) and {*self.values} <= {"", MISSING}

    def fold_head(self) -> None:
        """Divide a heading that is longer than the values into two lines, as equal as possible."""
        widest = max(map(len, self.values), default=0)
        whole = "".join(self.parts).rstrip()
        self.head = [whole]
        if len(whole) > widest and len(self.parts) > 1:
            places = range(1, len(self.parts))
            halves = (
                ["".join(self.parts[:place]).rstrip(), "".join(self.parts[place:]).rstrip()]
                for place in places
            )
            self.head = min(halves, key=lambda lines: max(map(len, lines)))
        self.width = max(widest, *map(len, self.head))


class Notes(NamedTuple):
    """The notes of an answer."""

    names: tuple[str, ...] = ()
    """The columns whose texts are notes."""
    shared: tuple[str, ...] = ()
    """Notes shared by several rows, numbered from 1."""
    own: tuple[str, ...] = ()
    """Notes that apply to a single row, one entry per row. Empty if there are no notes."""


def plain_columns(table: pa.Table, rows: Rows, *, raw: bool) -> list[ShownColumn]:
    """Return the columns under their names; numbers have about six digits, raw ones all."""
    return [
        ShownColumn(
            (about.name,),
            _short_times(_cells(table[place], about, raw=raw), about),
            is_right_aligned(about, raw=raw),
            about.name in rows.essential,
            tuple(re.findall(r"[^_]*_+|[^_]+$", visible(about.name))) or ("",),
        )
        for place, about in enumerate(table.schema)
    ]


def answer_columns(table: pa.Table, rows: Rows) -> tuple[list[ShownColumn], Notes]:
    """Return the columns of an answer, and the notes to its rows."""
    ends = _ends(table.schema)
    within = {*rows.notes, *(high for high, _ in ends.values())}
    columns = [
        _range_column(table, rows, name, *ends[name]) if name in ends else _column(table, rows, name)
        for name in table.column_names
        if name not in within
    ]
    notes, numbers = _notes(table, rows.notes)
    if notes.shared:
        name = notes.names[0] if len(notes.names) == 1 else _NOTES
        columns.append(ShownColumn((name,), numbers, right=False, essential=True, parts=(name,), marks=True))
    return columns, notes


def _column(table: pa.Table, rows: Rows, name: str) -> ShownColumn:
    about = table.field(name)
    number = is_right_aligned(about, raw=False)
    parts = _heading(name, rows.units.get(name, "") if number else "")
    values = _values(table[name], about)
    return ShownColumn((name,), values, number, name in rows.essential, parts)


def _range_column(table: pa.Table, rows: Rows, low: str, high: str, base: str) -> ShownColumn:
    ends = zip(_numbers(table[low]), _numbers(table[high]), strict=True)
    values = [shown_range(least, most, low) or MISSING for least, most in ends]
    parts = _range_heading(low, rows.units.get(low, ""))
    return ShownColumn(
        (low, high), values, right=True, essential=low in rows.essential, parts=parts, base=base
    )


def head_ranges(columns: Sequence[ShownColumn]) -> None:
    """Shorten the heading of a range that is next to its figure."""
    for before, column in pairwise(columns):
        if column.base and column.base == before.names[0] and before.essential and column.essential:
            column.parts = (_RANGE,)
    for column in columns:
        column.fold_head()


def in_order(columns: Sequence[ShownColumn], essential: Sequence[str]) -> list[ShownColumn]:
    """Put the essential columns first, in the order in which they are declared."""
    first = [column for name in essential for column in columns if column.names[0] == name]
    return [*first, *(column for column in columns if column not in first)]


def _heading(name: str, unit: str) -> tuple[str, ...]:
    words, unit = words_and_unit(visible(name), unit)
    return tuple(f"{part} " for part in (*words.split(), *filter(None, [unit]))) or ("",)


def _range_heading(name: str, unit: str) -> tuple[str, ...]:
    """Return the heading of a range from the name of its low end."""
    words, unit = words_and_unit(name, unit)
    parts = (*(word for word in words.split() if word != _ENDS[0]), _RANGE, *filter(None, [unit]))
    return tuple(f"{part} " for part in parts)


def _ends(schema: pa.Schema) -> dict[str, tuple[str, str]]:
    """Return the low ends of ranges with their high ends and the names of the figures.

    >>> _ends(pa.schema({"low_us": pa.float64(), "high_us": pa.float64(), "highest": pa.int64()}))
    {'low_us': ('high_us', 'us')}
    """
    low, high = _ENDS
    numbers = [column.name for column in schema if is_number(column.type)]
    found = {}
    for name in numbers:
        parts = name.split("_")
        other = "_".join(high if part == low else part for part in parts)
        if other != name and other in numbers:
            found[name] = (other, "_".join(part for part in parts if part != low) or _VALUE)
    return found


def _numbers(column: pa.ChunkedArray) -> Iterator[float | None]:
    for value in column.to_pylist():
        if isinstance(value, Decimal):
            yield int(value) if value == value.to_integral_value() else float(value)
        else:
            yield value


def _values(column: pa.ChunkedArray, about: pa.Field) -> list[str]:
    if pa.types.is_timestamp(about.type):
        return _short_times([_FRACTION.sub("", text) for text in _cells(column, about, raw=False)], about)
    if is_right_aligned(about, raw=False):
        return [shown(value, about.name) or MISSING for value in _numbers(column)]
    if pa.types.is_list(about.type):
        return [visible(shown(value)) for value in column.to_pylist()]
    return _cells(column, about, raw=False)


def _cells(column: pa.ChunkedArray, about: pa.Field, *, raw: bool) -> list[str]:
    whole = pa.concat_arrays(_plain(chunk) for chunk in column.chunks) if column.num_chunks else None
    texts: list[str] = [] if whole is None else cells(whole, about, raw=raw).to_pylist()
    return texts


def _plain(chunk: pa.Array) -> pa.Array:
    """Dictionaries of batches differ, so they are resolved."""
    return pc.dictionary_decode(chunk) if pa.types.is_dictionary(chunk.type) else chunk


def _short_times(values: list[str], about: pa.Field) -> list[str]:
    """Leave out seconds and fractions, or the time of day, if all times of a column have zeros there.

    >>> _short_times(["2026-03-02T09:00:00.000000Z", ""], pa.field("at", pa.timestamp("us", "UTC")))
    ['2026-03-02T09:00Z', '']
    """
    if not pa.types.is_timestamp(about.type) or not any(values):
        return values
    zone = "Z" if about.type.tz else ""
    times = [value.removesuffix("Z") for value in values]
    for zeros in _ZEROS:
        if not all(zeros.search(time) for time in times if time):
            break
        times = [zeros.sub("", time) for time in times]
    return [f"{time}{zone}" if "T" in time else time for time in times]


def _notes(table: pa.Table, names: Sequence[str]) -> tuple[Notes, list[str]]:
    """Divide the reasons of rows into clauses, and return the numbers of those that each row shares."""
    given = tuple(name for name in names if name in table.column_names)
    texts = [_cells(table[name], table.field(name), raw=False) for name in given]
    of_row = [
        dict.fromkeys(clause for text in row if text for clause in text.split(_BETWEEN_CLAUSES))
        for row in (zip(*texts, strict=True) if texts else ())
    ]
    count = Counter(clause for row in of_row for clause in row)
    several = [clause for clause, found in count.items() if found > 1]
    shared = {clause: number for number, clause in enumerate(several, start=1)}
    own = [_BETWEEN_CLAUSES.join(clause for clause in row if clause not in shared) for row in of_row]
    numbers = [_spans([shared[clause] for clause in row if clause in shared]) for row in of_row]
    return Notes(given, tuple(shared), tuple(own) if any(own) else ()), numbers


def _spans(numbers: Sequence[int]) -> str:
    """Write numbers in ascending order, successive ones as a span.

    >>> _spans([5, 1, 2, 3, 7, 8])
    '1-3, 5, 7, 8'
    """
    spans: list[list[int]] = []
    for number in sorted(numbers):
        if spans and spans[-1][-1] == number - 1:
            spans[-1].append(number)
        else:
            spans.append([number])
    return ", ".join(
        f"{span[0]}-{span[-1]}" if len(span) > _PAIR else ", ".join(map(str, span)) for span in spans
    )
