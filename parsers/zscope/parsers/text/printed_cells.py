"""The cells of a printed row: its words with their positions."""

from __future__ import annotations

import re
from typing import NamedTuple

_WORD = re.compile(r"\S+")


class Cell(NamedTuple):
    """A word of a row."""

    text: str
    start: int
    """Column of its first character, from 1."""
    end: int
    """Column of its last character."""

    @property
    def span(self) -> slice:
        """Return where the word is in its line."""
        return slice(self.start - 1, self.start - 1 + len(self.text))


def cells_of(text: str, word: re.Pattern[str] = _WORD) -> list[Cell]:
    """Return the words of a line with their positions; what is one word can be another pattern.

    >>> cells_of("  A  N Y")
    [Cell(text='A', start=3, end=3), Cell(text='N', start=6, end=6), Cell(text='Y', start=8, end=8)]
    """
    return [Cell(index.group(), index.start() + 1, index.end()) for index in word.finditer(text)]
