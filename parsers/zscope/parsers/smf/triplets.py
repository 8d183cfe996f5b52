"""The triplets of a record: offset, length and number of each kind of section.

They stand behind the header. Most records say how many they have. Where a layout says it instead, the text of
a release stands in that place, and only the first section tells where the triplets end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zscope.parsers.smf.header import Positions

COUNT_WORD, TRIPLET_COUNT = 20, 24
FIRST_TRIPLET = 28
TRIPLET_BYTES = 8
USUAL_TRIPLETS = 10
"""So many are gathered at once; no layout known has more."""


class Triplets:
    """The distinct triplets that some records have in one place."""

    def __init__(self, words: NDArray[np.uint64], which: NDArray[np.int32] | None) -> None:
        words = words.view(">u8").astype(np.uint64)
        self.offset = (words >> np.uint64(32)).astype(np.int64)
        self.length = (words >> np.uint64(16) & np.uint64(0xFFFF)).astype(np.int64)
        self.number = (words & np.uint64(0xFFFF)).astype(np.int64)
        self.which = which
        """Index of the triplet of each record; None where all have the same."""

    def once_inside(self, head: int, lengths: Positions) -> bool:
        """Whether the section occurs at most once everywhere, behind the head and inside the record."""
        absent = self.number == 0
        sound = (self.number == 1) & (self.length > 0) & (self.offset >= head)
        if not (absent | sound).all():
            return False
        ends = np.where(absent, 0, self.offset + self.length)
        if self.which is None:
            return bool(ends[0] <= lengths.min())
        return bool((ends[self.which] <= lengths).all())


def end_of(triplets: int) -> int:
    """Where so many triplets end in their record.

    >>> end_of(2)
    44
    """
    return FIRST_TRIPLET + TRIPLET_BYTES * triplets


def clear_of_sections(words: NDArray[np.uint64], counts: Positions) -> Positions:
    """How many triplets lie in front of all sections that they lead to; `words` has a column for each.

    A triplet that leads to itself or to the front of itself is a lie of its own and says nothing about the
    others.
    """
    clear: Positions = counts.copy()
    for index in range(int(counts.max(initial=0))):
        triplet = Triplets(np.ascontiguousarray(words[:, index]), None)
        used = (index < clear) & (triplet.number > 0) & (triplet.length > 0)
        used &= triplet.offset >= end_of(index + 1)
        before = (triplet.offset - FIRST_TRIPLET) // TRIPLET_BYTES
        clear = np.where(used, np.minimum(clear, before), clear)
    return clear
