"""The columns of a report as its headings have them: where each ends, and what it is."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from zscope.parsers.text.rmf.cells import Cell, cells_of

if TYPE_CHECKING:
    from zscope.parsers.text.zvm.kinds import Choice, Kind

TOLERANCE = 2
"""Figures end where their heading ends, or as many columns from there."""
LONGEST = 1_000
"""Print lines have 133 characters; what is far longer is no line of a report."""
_HEADING = re.compile(r"User +Status(?!\S)|\S+", re.ASCII | re.IGNORECASE)
_GROUP = re.compile(r"<[^<>]{1,200}>|[^\s<>]+")
_RULES = "<>-_= "


class Competing(Exception):  # noqa: N818 - says what is so
    """Two words are equally good for a place, so nothing in the report can be believed."""

    def __init__(self, column: int, text: str) -> None:
        super().__init__(text)
        self.column = column
        self.text = text


class Column(NamedTuple):
    """One column of a report."""

    name: str
    """In our table; empty for one that goes into `extra`."""
    label: str
    """Its words, with the group they stand in where the table does not have the column."""
    start: int
    end: int
    """Where its heading ends, counted from 1: figures are right-aligned."""
    text: bool = False
    """Whether it holds words instead of figures."""


class _Word(NamedTuple):
    cell: Cell
    above: tuple[str, ...]
    """What stands above it, from the top."""
    group: str
    """The title in brackets that is the topmost above it."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a report, the one with the key left out."""

    key: Cell
    columns: tuple[Column, ...]
    figures: tuple[Column, ...] = field(init=False)
    """Those that hold numbers."""
    _ends: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        figures = tuple(column for column in self.columns if not column.text)
        object.__setattr__(self, "figures", figures)
        object.__setattr__(self, "_ends", tuple(column.end for column in figures))

    def nearest(self, cell: Cell) -> Column | None:
        """The column whose heading ends nearest to where a figure ends; none that is too far off."""
        at = bisect_left(self._ends, cell.end)
        near = [
            (abs(column.end - cell.end), column)
            for column in self.figures[max(0, at - 1) : at + 1]
            if abs(column.end - cell.end) <= TOLERANCE
        ]
        if len(near) == 2 and near[0][0] == near[1][0]:
            names = " and ".join(column.label for _, column in near)
            raise Competing(cell.start, f"{cell.text} ends as near to {names}")
        return min(near)[1] if near else None

    def words_over(self, cell: Cell) -> Column | None:
        """The column of words that a cell stands in."""
        for column in self.columns:
            if column.text and cell.start <= column.end + TOLERANCE and cell.end >= column.start - TOLERANCE:
                return column
        return None

    def has(self, name: str) -> bool:
        """Whether the report has this column of the table."""
        return any(column.name == name for column in self.columns)

    def label(self, name: str) -> str:
        """What the report calls a column of the table."""
        return next((column.label for column in self.columns if column.name == name), name)


def find_layout(kind: Kind, headings: str, above: Sequence[str]) -> Layout:
    """The columns by the last heading line and the lines above it; raises `Competing`."""
    groups = [cells_of(text[:LONGEST], _GROUP) for text in above]
    cells = cells_of(headings[:LONGEST], _HEADING)
    words = [_Word(cell, *_above(cell, groups)) for cell in cells[1:]]
    brackets = any(group.text.startswith("<") for line in groups for group in line)
    names = dict(_named(kind, words, brackets=brackets))
    labels = _labels(words, names)
    columns = []
    for word, label in zip(words, labels, strict=True):
        cell, plain = word.cell, _plain(word)
        text = plain in kind.texts
        name = kind.texts[plain] if text else names.get(cell.start, "")
        columns.append(Column(name, label, cell.start, cell.end, text))
    return Layout(cells[0], tuple(columns))


def _plain(word: _Word) -> str:
    return " ".join(word.cell.text.upper().split())


def _above(cell: Cell, lines: Iterable[Sequence[Cell]]) -> tuple[tuple[str, ...], str]:
    """What stands above a word: of each line the bracket that covers most of it, or the words it touches."""
    found: list[str] = []
    group = ""
    for line in lines:
        begin = bisect_left(line, cell.start, key=lambda other: other.end)
        touching = line[begin : bisect_right(line, cell.end, key=lambda other: other.start)]
        brackets = [other for other in touching if other.text.startswith("<")]
        if brackets:
            title = " ".join(
                max(brackets, key=lambda other: _overlap(cell, other)).text.strip(_RULES).split()
            )
            found.append(title)
            group = group or title
        found.extend(other.text for other in touching if not other.text.startswith("<"))
    return tuple(found), group


def _overlap(one: Cell, other: Cell) -> int:
    return min(one.end, other.end) - max(one.start, other.start) + 1


def _named(kind: Kind, words: Sequence[_Word], *, brackets: bool) -> Iterator[tuple[int, str]]:
    """The columns of the table, by where their words start."""
    by_text: dict[str, list[_Word]] = {}
    for word in words:
        by_text.setdefault(_plain(word), []).append(word)
    for text, column in kind.words.items():
        first, *others = by_text.get(text, [None])
        if first and others and others[0]:
            raise _twice(others[0])
        if first:
            yield first.cell.start, column
    for text, choice in kind.choices.items():
        yield from _chosen(choice, by_text.get(text, []), brackets=brackets)


def _chosen(choice: Choice, words: Sequence[_Word], *, brackets: bool) -> Iterator[tuple[int, str]]:
    """Brackets decide where there are any, else the order does."""
    taken: dict[str, _Word] = {}
    for word in words:
        over = {part for text in word.above for part in text.upper().split()}
        column = next((name for name, marks in choice.columns if marks & over), None)
        if column in taken:
            raise _twice(word)
        if column:
            taken[column] = word
    if not taken and (not brackets or (choice.alone and len(words) == 1)):
        if len(words) > len(choice.columns) > 1:
            raise _twice(words[len(choice.columns)])
        taken = {name: word for (name, _), word in zip(choice.columns, words, strict=False)}
    for name, word in taken.items():
        yield word.cell.start, name


def _twice(word: _Word) -> Competing:
    return Competing(word.cell.start, f"the heading {word.cell.text} is there more than once")


def _labels(words: Sequence[_Word], names: dict[int, str]) -> list[str]:
    """What each column is called, each name once."""
    labels: list[str] = []
    used: dict[str, int] = {}
    for word in words:
        text = " ".join(word.cell.text.split())
        label = text if word.cell.start in names else f"{word.group} {text}".strip()
        used[label] = used.get(label, 0) + 1
        labels.append(label if used[label] == 1 else f"{label} {used[label]}")
    return labels
