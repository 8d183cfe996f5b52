"""The columns of a table, found from its heading line, and the cells of its rows.

Columns move between releases, so they are found from their headings. Figures do not stand right under them,
but as far from them in one release as in the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from zscope.parsers.text.rmf.label_lines import LONGEST

_WORD = re.compile(r"(?:[YN] ){2}[YN](?!\S)|\S+")
"""Three flags are one cell."""
TOUCHED_WORD = re.compile(r"(?:HIGH|MED|LOW)\*?(?=\d)|\S+", re.IGNORECASE)
"""Rates of 10,000 and more begin right behind the priority of a processor."""


class Shape(NamedTuple):
    """How the cells of a column look."""

    usual: re.Pattern[str]
    other: re.Pattern[str] | None = None
    """What they may be too, where they end exactly in their place: elsewhere it is a cell that was cut."""


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(rf"{text}|-+", re.ASCII | re.IGNORECASE)


_DECIMAL = _pattern(r"\d{1,9}(?:\.\d{0,4})?")
HUNDREDTHS = Shape(_pattern(r"\d{1,9}\.\d\d"), _DECIMAL)
TENTHS = Shape(_pattern(r"\d{1,9}\.\d"), _DECIMAL)
COUNT = Shape(_pattern(r"\d{1,9}"))
CPU_COUNT = Shape(_pattern(r"\d{1,4}(?:\.\d{1,2})?"))
HEX_ID = Shape(_pattern(r"[0-9A-F]{1,4}"))
CPU_TYPE = Shape(re.compile(r"[A-Z]{2,4}", re.ASCII | re.IGNORECASE))
SPAN = Shape(re.compile(r"\d{2,4}\.\d\d\.\d\d\.\d{3}", re.ASCII))
ANYTHING = Shape(re.compile(r"\S.*"))


class Cell(NamedTuple):
    """A word of a row."""

    text: str
    start: int
    """Column of its first character, counted from 1."""
    end: int
    """Column of its last character."""


def cells_of(text: str, word: re.Pattern[str] = _WORD) -> list[Cell]:
    """The words of a line with their places.

    >>> cells_of("  A  N Y N")
    [Cell(text='A', start=3, end=3), Cell(text='N Y N', start=6, end=10)]
    """
    return [Cell(found.group(), found.start() + 1, found.end()) for found in word.finditer(text)]


@dataclass(frozen=True, slots=True)
class Column:
    """A column that a report is known to have."""

    name: str
    """Of the column in our table."""
    heading: str
    """Its words in the last heading line; empty when it has none there."""
    shape: Shape
    shift: int = 0
    """How much further right figures end than the heading does, or the column before where it has none."""
    optional: bool = False
    """Not in all releases and modes."""


class Place(NamedTuple):
    """A column in a report."""

    name: str
    """Empty for one that is not known."""
    heading: str
    shape: Shape
    start: int
    """Where its heading begins."""
    edge: int
    """Where its figures end."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a table as a report has them."""

    places: tuple[Place, ...]
    missing: str = ""
    """The heading from which on the line is cut."""
    bounds: tuple[float, ...] = field(init=False)

    def __post_init__(self) -> None:
        edges = [place.edge for place in self.places]
        bounds = tuple((one + other) / 2 for one, other in pairwise(edges))
        object.__setattr__(self, "bounds", bounds)

    def place(self, name: str) -> Place | None:
        """The column of this name, if it is there."""
        return next((place for place in self.places if place.name == name), None)

    @property
    def end(self) -> int:
        """The column behind which nothing is known."""
        return self.places[-1].edge + 4


class HeadingUnreadable(Exception):  # noqa: N818 - says what is so, like the others here
    """The line is a column heading, but its columns are not in the order they have."""


def layout_of(text: str, columns: Sequence[Column]) -> Layout:
    """The columns by their headings; raises HeadingUnreadable where they are not what they should be."""
    if len(text) > LONGEST:
        raise HeadingUnreadable(text[:LONGEST].strip())
    places: list[Place] = []
    at = 0
    for words, start, end in _headings(text, columns):
        found = _next(columns, at, words)
        if found is None:
            if words in {column.heading for column in columns}:
                raise HeadingUnreadable(words)
            places.append(Place("", words, ANYTHING, start, end))
            continue
        at, column = found + 1, columns[found]
        places.append(Place(column.name, words, column.shape, start, end + column.shift))
        if at < len(columns) and not columns[at].heading:
            below = columns[at]
            places.append(Place(below.name, below.name, below.shape, start, places[-1].edge + below.shift))
            at += 1
    rest = [column.heading for column in columns[at:] if not column.optional]
    if rest and places and not places[-1].name and rest[0].startswith(places[-1].heading):
        places.pop()
    if not places or any(one.edge >= other.edge for one, other in pairwise(places)):
        raise HeadingUnreadable(text.strip())
    return Layout(tuple(places), rest[0] if rest else "")


def _headings(text: str, columns: Sequence[Column]) -> Iterator[tuple[str, int, int]]:
    """Words that belong together, with their first and last column."""
    known = sorted({column.heading for column in columns if column.heading}, key=len, reverse=True)
    several = [re.escape(words).replace(r"\ ", " +") for words in known]
    pattern = rf"(?<!\S)(?:{'|'.join(several)})(?!\S)|\S+"
    for found in re.finditer(pattern, text.upper()):
        yield " ".join(found.group().split()), found.start() + 1, found.end()


def _next(columns: Sequence[Column], at: int, words: str) -> int | None:
    for number in range(at, len(columns)):
        if columns[number].heading == words:
            return number
        if not columns[number].optional:
            return None
    return None
