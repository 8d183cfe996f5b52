"""Write the format `table` on a terminal: what fits its width, the columns with the answer first.

If not all columns fit, those without values and those with one value in all rows are left out, and a line
below the table states them. Of the others, the essential columns come first, then as many as fit. Long texts
of essential columns are wrapped. If even the essential columns do not fit, each row becomes a record: a line
for each column.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from zscope.app.cli.output.aligned import GAP
from zscope.app.cli.output.cells import cells, is_right_aligned, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zscope.app.cli.output.row_stream import Rows

FIRST_ROWS = 200
"""Rows that a terminal shows unless all are wanted."""
_NARROWEST_TEXT = 20
"""A wrapped text has at least this width; below, records are easier to read."""
_MOST_LINES = 4
"""Rows of a table with wrapped texts have at most so many lines on average."""
_LONGEST_WORD = 24
"""Longer words, such as paths, can be divided."""
_LONGEST_NAME = 36
"""A column of longer words without spaces, such as paths, is wrapped too."""
_LONGEST_SAME = 40
"""Longer values that all rows have are named in the line below the table, but not written out."""
_ZEROS = (re.compile(r"\.0+$"), re.compile(r":00$"), re.compile(r"T00:00$"))
"""Ends of times that say nothing if all times of a column have them."""
_RECORDS_UP_TO = 30
"""Columns of a result without essential columns that are shown as records if they do not fit."""


@dataclass(slots=True)
class ShownColumn:
    """A column of the shown rows."""

    name: str
    values: list[str]
    right: bool
    essential: bool
    width: int = 0
    """Characters on the screen; the longest value at first."""
    head: list[str] = field(default_factory=list)
    """The lines of its name."""

    def __post_init__(self) -> None:
        self.head = [self.name]
        self.width = max(map(len, [self.name, *self.values]))

    def fold_name(self) -> None:
        """Divide the name at underscores, so that short values need little room."""
        widest_value = max(map(len, self.values), default=0)
        parts = re.findall(r"[^_]*_+|[^_]+$", self.name)
        width = max(widest_value, *map(len, parts))
        head = [""]
        for part in parts:
            if len(head[-1]) + len(part) > width:
                head.append("")
            head[-1] += part
        self.head = [line for line in head if line]
        self.width = max(width if widest_value == width else 0, widest_value, *map(len, self.head))

    @property
    def same(self) -> bool:
        """Whether all of several rows have one value, which may be no value."""
        return len(self.values) > 1 and len(set(self.values)) == 1

    @property
    def empty(self) -> bool:
        """Whether no row has a value."""
        return bool(self.values) and not any(self.values)


@dataclass(slots=True)
class Screen:
    """The lines to print, and what they leave out."""

    lines: list[str]
    hidden: list[str] = field(default_factory=list)
    """Columns that do not fit."""
    more_rows: bool = False


def screen(rows: Rows, *, width: int, raw: bool, all_rows: bool) -> Screen:
    """Return the table or the records for a terminal of this width."""
    table, more = _first_rows(rows, None if all_rows else FIRST_ROWS)
    columns = [
        ShownColumn(
            visible(field.name),
            _short_times(_values(table[i], field, raw=raw), field),
            is_right_aligned(field, raw=raw),
            field.name in rows.essential,
        )
        for i, field in enumerate(table.schema)
    ]
    if _needed(columns) <= width:
        return Screen(_table(columns), more_rows=more)
    left_out = [column for column in columns if column.empty or _is_stated_below(column)]
    kept = _in_order([column for column in columns if column not in left_out], rows.essential)
    if not kept:
        left_out, kept = [], columns
    shown = _fitting(kept, width)
    if shown is None:
        shown = [column for column in kept if column.essential or table.num_rows == 1] or kept
        lines = _records(shown, width)
    else:
        lines = _table(shown)
    hidden = [column.name for column in kept if column not in shown] if table.num_rows else []
    return Screen([*lines, *_note(left_out, width)], hidden, more)


def _is_stated_below(column: ShownColumn) -> bool:
    """Whether the line below the table has the value of all rows; figures of the answer stay in the table."""
    figure_or_text = column.right or len(column.values[0]) > _LONGEST_SAME if column.values else False
    return column.same and not (column.essential and figure_or_text)


def _first_rows(rows: Rows, limit: int | None) -> tuple[pa.Table, bool]:
    """Return the rows to show, and whether there are more."""
    batches = []
    left = limit
    for batch in rows:
        if left is not None and batch.num_rows > left:
            batches.append(batch.slice(0, left))
            return pa.Table.from_batches(batches, rows.schema), True
        batches.append(batch)
        if left is not None:
            left -= batch.num_rows
    return pa.Table.from_batches(batches, rows.schema), False


def _values(column: pa.ChunkedArray, field: pa.Field, *, raw: bool) -> list[str]:
    whole = pa.concat_arrays(_plain(chunk) for chunk in column.chunks) if column.num_chunks else None
    return [] if whole is None else cells(whole, field, raw=raw).to_pylist()


def _plain(chunk: pa.Array) -> pa.Array:
    """Dictionaries of batches differ, so they are resolved."""
    return pc.dictionary_decode(chunk) if pa.types.is_dictionary(chunk.type) else chunk


def _short_times(values: list[str], field: pa.Field) -> list[str]:
    """Leave out seconds and fractions, or the time of day, if all times of a column have zeros there.

    >>> _short_times(["2026-03-02T09:00:00.000000Z", ""], pa.field("at", pa.timestamp("us", "UTC")))
    ['2026-03-02T09:00Z', '']
    """
    if not pa.types.is_timestamp(field.type) or not any(values):
        return values
    zone = "Z" if field.type.tz else ""
    times = [value.removesuffix("Z") for value in values]
    for zeros in _ZEROS:
        if not all(zeros.search(time) for time in times if time):
            break
        times = [zeros.sub("", time) for time in times]
    return [f"{time}{zone}" if "T" in time else time for time in times]


def _needed(columns: Sequence[ShownColumn]) -> int:
    return sum(column.width for column in columns) + len(GAP) * (len(columns) - 1)


def _in_order(columns: Sequence[ShownColumn], essential: Sequence[str]) -> list[ShownColumn]:
    """Put the essential columns first, in the order in which they are declared."""
    first = [column for name in essential for column in columns if column.name == name]
    return [*first, *(column for column in columns if column not in first)]


def _fitting(columns: Sequence[ShownColumn], width: int) -> list[ShownColumn] | None:
    """Choose the columns of a table; None if the essential ones do not fit.

    If none is essential, all are, but a very wide result has as many as fit.
    """
    essential = [column for column in columns if column.essential]
    if not essential:
        essential = list(columns[:1] if len(columns) > _RECORDS_UP_TO else columns)
    if _needed(essential) > width:
        for column in essential:
            column.fold_name()
    if not _wrapped(essential, width):
        return None
    shown = list(essential)
    for column in columns:
        if column not in shown and _needed([*shown, column]) <= width:
            shown.append(column)
    return shown


def _wrapped(columns: Sequence[ShownColumn], width: int) -> bool:
    """Narrow the columns with long texts until all fit; return whether that is possible."""
    texts = [column for column in columns if not column.right and column.width > _narrowest(column)]
    fixed = [column for column in columns if column not in texts]
    room = width - _needed(fixed) - len(GAP) * (len(texts) if fixed else len(texts) - 1)
    if not texts or _needed(columns) <= width:
        return _needed(columns) <= width
    widths = _shares([column.width for column in texts], room)
    if any(given < _narrowest(column) for column, given in zip(texts, widths, strict=True)):
        return False
    if columns[0].values:
        heights = [
            [len(_folded(value, given)) for value in column.values]
            for column, given in zip(texts, widths, strict=True)
        ]
        if sum(map(max, zip(*heights, strict=True))) > _MOST_LINES * len(columns[0].values):
            return False
    for column, given in zip(texts, widths, strict=True):
        column.width = given
    return True


def _narrowest(column: ShownColumn) -> int:
    """Return the width that a column needs at least if its texts are wrapped."""
    head = max(map(len, column.head))
    if column.width <= _LONGEST_NAME and not any(" " in value for value in column.values):
        return column.width
    longest_word = max((len(word) for value in column.values for word in value.split()), default=0)
    return min(column.width, max(head, _NARROWEST_TEXT, min(longest_word, _LONGEST_WORD)))


def _shares(widths: Sequence[int], room: int) -> list[int]:
    """Divide the room: short texts get what they need, long ones the same share of the rest."""
    given = [0] * len(widths)
    waiting = sorted(range(len(widths)), key=lambda i: widths[i])
    while waiting:
        share = max(0, room // len(waiting))
        i = waiting.pop(0)
        given[i] = min(widths[i], share)
        room -= given[i]
    return given


def _folded(text: str, width: int) -> list[str]:
    """Wrap a text; a word that is longer than a line begins on a line of its own."""
    lines = textwrap.wrap(text, width, break_on_hyphens=False, break_long_words=False) or [""]
    return [line[start : start + width] for line in lines for start in range(0, max(1, len(line)), width)]


def _table(columns: Sequence[ShownColumn]) -> list[str]:
    height = max(len(column.head) for column in columns)
    heads = [["" for _ in range(height - len(column.head))] + column.head for column in columns]
    lines = [_line(parts, columns) for parts in zip(*heads, strict=True)]
    lines.append(GAP.join("-" * column.width for column in columns))
    for row in zip(*(column.values for column in columns), strict=True):
        folded = [
            [value] if len(value) <= column.width else _folded(value, column.width)
            for value, column in zip(row, columns, strict=True)
        ]
        lines += [_line(parts, columns) for parts in zip_longest(*folded, fillvalue="")]
    return lines


def _line(parts: Sequence[str], columns: Sequence[ShownColumn]) -> str:
    padded = [
        part.rjust(column.width) if column.right else part.ljust(column.width)
        for part, column in zip(parts, columns, strict=True)
    ]
    return GAP.join(padded).rstrip()


def _records(columns: Sequence[ShownColumn], width: int) -> list[str]:
    """Write each row as a record; columns without a value in it are left out."""
    names = min(max(len(column.name) for column in columns), max(1, width // 2))
    room = max(8, width - names - len(GAP))
    lines: list[str] = []
    for number, row in enumerate(zip(*(column.values for column in columns), strict=True), start=1):
        lines.append(f"-- {number} ".ljust(width, "-"))
        for column, value in zip(columns, row, strict=True):
            first, *others = _folded(value, room)
            if value:
                lines.append(f"{column.name[:names].ljust(names)}{GAP}{first}")
                lines += [f"{'':{names}}{GAP}{other}" for other in others]
    return lines


def _note(left_out: Sequence[ShownColumn], width: int) -> list[str]:
    """Describe the columns that are alike in all rows, and those without values."""
    alike = [column for column in left_out if not column.empty]
    short = [
        f"{column.name} {column.values[0]}" for column in alike if len(column.values[0]) <= _LONGEST_SAME
    ]
    long = [column.name for column in alike if len(column.values[0]) > _LONGEST_SAME]
    empty = [column.name for column in left_out if column.empty]
    parts = [
        f"all rows: {', '.join(short)}" if short else "",
        f"the same in all rows: {', '.join(long)}" if long else "",
        f"no values: {', '.join(empty)}" if empty else "",
    ]
    text = "; ".join(filter(None, parts))
    return ["", *_folded(f"({text})", width)] if text else []


def page(text: str, *, paged: bool) -> None:
    """Print a text; if it is longer than the terminal, with the pager of the user."""
    lines = text.count("\n")
    command = pager() if paged and lines >= shutil.get_terminal_size().lines else []
    if command:
        sys.stdout.flush()
        # As git does: nothing if all fits, colors, and the text stays on the screen.
        environment = {"LESS": "FRX", **os.environ}
        try:
            process = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment)
        except OSError:
            command = []  # the program of $PAGER cannot be started: the text is printed
        else:
            with suppress(BrokenPipeError):  # the reader has seen enough
                process.communicate(text.encode())
            process.wait()
    if not command:
        sys.stdout.buffer.write(text.encode())
        sys.stdout.buffer.flush()


def pager() -> list[str]:
    """Return the command of the pager: $PAGER, or less; nothing if there is none or PAGER is empty or cat."""
    chosen = os.environ.get("PAGER")
    words = ["less"] if chosen is None else _words(chosen)
    if not words or words[0] == "cat" or shutil.which(words[0]) is None:
        return []
    return words


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:  # a quotation mark that is not closed
        return command.split()


def notes(shown: Iterable[Screen]) -> list[str]:
    """Return what to print below the tables: rows and columns that are not shown, and how to get them."""
    every = list(shown)
    texts = []
    for name in [each for each in every if each.hidden][:1]:
        some = ", ".join(name.hidden[:6]) + (", ..." if len(name.hidden) > 6 else "")
        count = len(name.hidden)
        columns = "1 column does" if count == 1 else f"{count} columns do"
        texts.append(f"{columns} not fit on the screen ({some}); use -o FILE to write all")
    if any(each.more_rows for each in every):
        texts.append(f"first {FIRST_ROWS} rows; --all-rows shows all, -o FILE writes all")
    return texts
