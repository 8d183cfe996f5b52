"""The labels of cache statistics: what column each is in each block, and in which order they come."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache as once
from typing import NamedTuple

from zscope.parsers.text.gsksrvr.heading import Cache
from zscope.parsers.text.gsksrvr.stats_lines import BLOCKS
from zscope.parsers.text.gsksrvr.stats_values import CURRENT_TIME, TABLE
from zscope.schemas.printed import plain_label, report_table

HEADER = ""
"""The block of what stands above the first block heading."""
_TICKETS_ONLY = ("tickets_per_session", "update_")


class Place(NamedTuple):
    """Where a label belongs."""

    block: str
    label: str
    column: str
    position: int
    """Labels come in this order."""


class Places:
    """All labels that the statistics of one cache have."""

    def __init__(self, cache: Cache) -> None:
        places = [Place(HEADER, "Current time", CURRENT_TIME, 0)]
        for position, column in enumerate(report_table(TABLE).columns, 1):
            foreign = cache is Cache.SESSION_ID and column.column.startswith(_TICKETS_ONLY)
            if column.label and not foreign:
                block, _, label = column.label.rpartition(": ")
                places.append(Place(block, label, column.column, position))
        self._places = {(place.block, plain_label(place.label)): place for place in places}

    def get(self, block: str, label: str) -> Place | None:
        """The place of a label in this block."""
        return self._places.get((block, plain_label(label)))

    def begins(self, block: str) -> int | None:
        """Position of the first label of a block; None if the cache has no such block."""
        return min((place.position for place in self.places(block)), default=None)

    def comes_again(self, place: Place) -> bool:
        """Whether a later block has the same label."""
        return any(
            other.position > place.position for other in self._places.values() if other.label == place.label
        )

    def places(self, block: str) -> list[Place]:
        """The labels of a block, in order."""
        return [place for place in self._places.values() if place.block == block]

    def missing(self, there: Collection[str]) -> list[str]:
        """Labels whose columns are not among these; a block as a whole where all of it is missing."""
        names: dict[str, None] = {}
        for place in self._places.values():
            if place.column not in there:
                gone = place.block and not any(other.column in there for other in self.places(place.block))
                label = f"{place.block}: {place.label}" if place.block else place.label
                names[place.block if gone else label] = None
        return list(names)


@once
def places_of(cache: Cache) -> Places:
    """The labels of the statistics of this cache."""
    return Places(cache)


@once
def _counter_labels() -> frozenset[str]:
    labels = (column.label for column in report_table(TABLE).columns)
    return frozenset(plain_label(label.split(": ")[1]) for label in labels if ": " in label)


def is_counter(label: str) -> bool:
    """Whether a label is known from one of the blocks."""
    return plain_label(label) in _counter_labels()


def is_foreign(places: Places, block: str, label: str | None = None) -> bool:
    """Whether a block, or a label in it, is known from the other cache only."""
    if label is None:
        return block in BLOCKS and places.begins(block) is None
    return places.get(block, label) is None and places_of(Cache.TICKET).get(block, label) is not None
