"""Write the format `table` on a terminal: what fits its width, the columns with the answer first.

If not all columns fit, those without values and those with one value in all rows are left out, and a line
below the table states them. Of the others, the essential columns come first, then as many as fit. Long texts
of essential columns are wrapped; the last of them are left out before less than half of them remain. If they
do not fit, each row becomes a record: a line for each column. Notes stand below the rows, whole.
"""

from __future__ import annotations

import os
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

from zscope.app.cli.output.aligned import GAP
from zscope.app.cli.output.shown_columns import (
    Notes,
    ShownColumn,
    answer_columns,
    head_ranges,
    in_order,
    plain_columns,
)
from zscope.pipelines.quantities import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from zscope.app.cli.output.row_stream import Rows

FIRST_ROWS = 200
"""Rows that a terminal shows unless all are wanted."""
_NARROWEST_TEXT = 15
"""A wrapped text has at least this width; below, records are easier to read."""
_NARROWEST_MARKS = 8
"""The numbers of notes have at least this width."""
_MOST_LINES = 4
"""Rows of a table with wrapped texts have at most so many lines on average."""
_LONGEST_WORD = 15
"""Longer words, such as paths, can be divided."""
_LONGEST_NAME = 36
"""A column of longer words without spaces, such as paths, is wrapped too."""
_LONGEST_SAME = 40
"""Longer values that all rows have are named in the line below the table, but not written out."""
_RECORDS_UP_TO = 30
"""Columns of a result without essential columns that are shown as records if they do not fit."""


@dataclass(slots=True)
class Screen:
    """The lines to print, and what they leave out."""

    lines: list[str]
    width: int = 80
    hidden: list[str] = field(default_factory=list)
    """Columns that are not shown."""
    more_rows: bool = False


def screen(rows: Rows, *, width: int, raw: bool, all_rows: bool, all_columns: bool = False) -> Screen:
    """Return the table or the records for a terminal of this width, below the heading of a section."""
    shown = _laid_out(rows, width=width, raw=raw, all_rows=all_rows, all_columns=all_columns)
    if rows.heading:
        shown.lines = [*_folded(rows.heading, width), "", *shown.lines]
    return shown


def _laid_out(rows: Rows, *, width: int, raw: bool, all_rows: bool, all_columns: bool) -> Screen:
    table, more = _first_rows(rows, None if all_rows else rows.first or FIRST_ROWS)
    if raw or all_columns or not rows.essential:
        columns, notes = plain_columns(table, rows, raw=raw), Notes()
        if _needed(columns) <= width:
            return Screen(_table(columns, notes, width), width, more_rows=more)
        if all_columns:
            return Screen(_records(columns, notes, width), width, more_rows=more)
    else:
        columns, notes = answer_columns(table, rows)
    left_out = [column for column in columns if column.empty or _is_stated_below(column)]
    kept = in_order([column for column in columns if column not in left_out], rows.essential)
    if not kept:
        left_out, kept = [], columns
    if rows.essential:
        head_ranges(kept)
    shown = _fitting(kept, width)
    if shown is None:
        shown = [column for column in kept if column.essential or table.num_rows == 1] or kept
        lines = _records(shown, notes, width)
    else:
        lines = _table(shown, notes, width)
    stated = [column for column in left_out if column.essential or not rows.essential]
    lines += [*_numbered(notes, width), *_alike(stated, width)]
    seen = {name for column in (*shown, *stated) for name in column.names} | {*notes.names}
    hidden = [name for name in table.column_names if name not in seen] if table.num_rows else []
    return Screen(lines, width, hidden, more)


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


def _needed(columns: Sequence[ShownColumn]) -> int:
    return sum(column.width for column in columns) + len(GAP) * (len(columns) - 1)


def _fitting(columns: Sequence[ShownColumn], width: int) -> list[ShownColumn] | None:
    """Choose the columns of a table; None if less than half of the essential ones fit, or rows are too high.

    If none is essential, all are, but a very wide result has as many as fit.
    """
    essential = [column for column in columns if column.essential]
    least = (len(essential) + 1) // 2
    if not essential:
        essential = list(columns[:1] if len(columns) > _RECORDS_UP_TO else columns)
        least = len(essential)
        if _needed(essential) > width:
            for column in essential:
                column.fold_head()
    while (widths := _widths(essential, width)) is None:
        if len(essential) <= least:
            return None
        essential.remove([column for column in essential if not column.marks][-1])
    if _lines_of_rows(essential, widths) > _MOST_LINES * len(columns[0].values):
        return None
    for column, given in zip(essential, widths, strict=True):
        column.width = given
    shown = list(essential)
    missing = [column for column in columns if column.essential and column not in shown]
    for column in missing or columns:
        if column not in shown and _needed([*shown, column]) <= width:
            shown.append(column)
    return sorted(shown, key=lambda column: column.marks)


def _widths(columns: Sequence[ShownColumn], width: int) -> list[int] | None:
    """Return widths with which all columns fit, those of long texts narrower; None if that is impossible."""
    if _needed(columns) <= width:
        return [column.width for column in columns]
    texts = [column for column in columns if not column.right and column.width > _narrowest(column)]
    fixed = [column for column in columns if column not in texts]
    room = width - _needed(fixed) - len(GAP) * (len(texts) if fixed else len(texts) - 1)
    given = _shares([(_narrowest(column), column.width) for column in texts], room)
    if given is None:
        return None
    return [given.pop(0) if column in texts else column.width for column in columns]


def _lines_of_rows(columns: Sequence[ShownColumn], widths: Sequence[int]) -> int:
    """Return how many lines the rows have with these widths."""
    heights = [
        [1 if len(value) <= given else len(_folded(value, given)) for value in column.values]
        for column, given in zip(columns, widths, strict=True)
    ]
    return sum(map(max, zip(*heights, strict=True)))


def _narrowest(column: ShownColumn) -> int:
    """Return the width that a column needs at least if its texts are wrapped."""
    head = max(map(len, column.head))
    if column.marks:
        return min(column.width, _NARROWEST_MARKS)
    if column.width <= _LONGEST_NAME and not any(" " in value for value in column.values):
        return column.width
    longest_word = max((len(word) for value in column.values for word in value.split()), default=0)
    return min(column.width, max(head, _NARROWEST_TEXT, min(longest_word, _LONGEST_WORD)))


def _shares(texts: Sequence[tuple[int, int]], room: int) -> list[int] | None:
    """Divide the room: each text gets the least it needs, and of the rest the same share, up to its length.

    >>> _shares([(15, 40), (15, 18), (15, 90)], 90), _shares([(15, 40)], 10)
    ([36, 18, 36], None)
    """
    if not texts or sum(least for least, _ in texts) > room:
        return None
    given = [least for least, _ in texts]
    waiting = sorted(range(len(texts)), key=lambda place: texts[place][1])
    left = room
    while waiting:
        share = left // len(waiting)
        place = waiting.pop(0)
        least, most = texts[place]
        rest = sum(texts[other][0] for other in waiting)
        given[place] = max(least, min(most, share, left - rest))
        left -= given[place]
    return given


def _folded(text: str, width: int) -> list[str]:
    """Wrap a text; a word that is longer than a line begins on a line of its own."""
    lines = textwrap.wrap(text, width, break_on_hyphens=False, break_long_words=False) or [""]
    return [part for line in lines for part in _divided(line, width)]


def _divided(word: str, width: int) -> Iterator[str]:
    """Divide a word that is longer than a line, if possible after a comma, slash, stop or underscore.

    >>> [*_divided("CN=mq.example.com,O=Example,C=DE", 20)]
    ['CN=mq.example.com,', 'O=Example,C=DE']
    """
    while len(word) > width:
        end = 1 + max(word.rfind(sign, width // 2, width) for sign in ",/._") or width
        yield word[:end]
        word = word[end:]
    yield word


def _table(columns: Sequence[ShownColumn], notes: Notes, width: int) -> list[str]:
    """Write headings, a rule and the rows, each with its own notes below."""
    height = max(len(column.head) for column in columns)
    heads = [["" for _ in range(height - len(column.head))] + column.head for column in columns]
    lines = [_line(parts, columns) for parts in zip(*heads, strict=True)]
    lines.append(GAP.join("-" * column.width for column in columns))
    for number, row in enumerate(zip(*(column.values for column in columns), strict=True)):
        folded = [
            [value] if len(value) <= column.width else _folded(value, column.width)
            for value, column in zip(row, columns, strict=True)
        ]
        lines += [_line(parts, columns) for parts in zip_longest(*folded, fillvalue="")]
        lines += _below(notes, number, width)
    return lines


def _below(notes: Notes, row: int, width: int) -> list[str]:
    """Write the notes that only this row has."""
    if not notes.own or not notes.own[row]:
        return []
    return [f"{GAP}{line}" for line in _folded(notes.own[row], max(1, width - len(GAP)))]


def _numbered(notes: Notes, width: int) -> list[str]:
    """Write the notes that rows share, each with its number."""
    lines = [""] if notes.shared else []
    for number, text in enumerate(notes.shared, start=1):
        mark = f"({number}) "
        first, *others = _folded(text, max(1, width - len(mark)))
        lines += [f"{mark}{first}", *(f"{'':{len(mark)}}{other}" for other in others)]
    return lines


def _line(parts: Sequence[str], columns: Sequence[ShownColumn]) -> str:
    padded = [
        part.rjust(column.width) if column.right else part.ljust(column.width)
        for part, column in zip(parts, columns, strict=True)
    ]
    return GAP.join(padded).rstrip()


def _records(columns: Sequence[ShownColumn], notes: Notes, width: int) -> list[str]:
    """Write each row as a record; columns without a value in it are left out."""
    names = min(max(len(column.title) for column in columns), max(1, width // 2))
    room = max(8, width - names - len(GAP))
    lines: list[str] = []
    for number, row in enumerate(zip(*(column.values for column in columns), strict=True), start=1):
        lines.append(f"-- {number} ".ljust(width, "-"))
        for column, value in zip(columns, row, strict=True):
            first, *others = _folded(value, room)
            if value:
                lines.append(f"{column.title[:names].ljust(names)}{GAP}{first}")
                lines += [f"{'':{names}}{GAP}{other}" for other in others]
        lines += _below(notes, number - 1, width)
    return lines


def _alike(left_out: Sequence[ShownColumn], width: int) -> list[str]:
    """Describe the columns that are alike in all rows, and those without values."""
    alike = [column for column in left_out if not column.empty]
    short = [
        f"{column.title} {column.values[0]}" for column in alike if len(column.values[0]) <= _LONGEST_SAME
    ]
    long = [column.title for column in alike if len(column.values[0]) > _LONGEST_SAME]
    empty = [name for column in left_out if column.empty for name in column.names]
    parts = [
        f"all rows: {', '.join(short)}" if short else "",
        f"the same in all rows: {', '.join(long)}" if long else "",
        f"no values: {', '.join(empty)}" if empty else "",
    ]
    text = "; ".join(filter(None, parts))
    return ["", *_folded(f"({text})", width)] if text else []


def page(text: str, *, paged: bool) -> None:
    """Print a text; if it is longer than the terminal, with the pager of the user.

    A terminal that does not say its size, such as one that a program opened, is not read by a person.
    """
    height = shutil.get_terminal_size((0, 0)).lines
    command = pager() if paged and 0 < height <= text.count("\n") else []
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
    """Return what to print below the tables: rows and columns that are not shown, and how to see them."""
    every = list(shown)
    texts = []
    for each in [each for each in every if each.hidden][:1]:
        some = ", ".join(each.hidden[:6]) + (", ..." if len(each.hidden) > 6 else "")
        columns = counted(len(each.hidden), "more column")
        text = f"{columns} ({some}): --all-columns shows all, -o FILE writes all"
        texts += _folded(text, each.width)
    if any(each.more_rows for each in every):
        shown_rows = "first rows of the sections" if len(every) > 1 else f"first {FIRST_ROWS} rows"
        texts.append(f"{shown_rows}; --all-rows shows all, -o FILE writes all")
    return texts
