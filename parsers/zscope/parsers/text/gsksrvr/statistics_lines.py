"""The lines and labels of cache statistics.

A line is a label with its value, the heading of a block, or the dashes below it. A label belongs to one
column in each block, and labels follow each other in a fixed order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache as once
from typing import TYPE_CHECKING, NamedTuple

import pyparsing as pp

from zscope.parsers.text.gsksrvr.gsk_heading import Cache
from zscope.schemas.reports import plain_label, report_table

if TYPE_CHECKING:
    from collections.abc import Collection


USUAL_WIDTH = 48
"""From the first character of a label to the last one of its number."""
BLOCKS = ("Add statistics", "Update statistics", "Retrieval statistics")
_BY_LENGTH = {len(name): name for name in BLOCKS}


@dataclass(frozen=True, slots=True)
class StatisticsEntry:
    """A label with a value."""

    label: str
    value: str
    width: int
    """From the first character of the label to the last one of the value."""


@dataclass(frozen=True, slots=True)
class BlockHeading:
    """The line before the counters of a block."""

    name: str
    width: int | None
    """Where the line ends; None if blanks were removed, the usual width if the line is cut."""


@dataclass(frozen=True, slots=True)
class Dashes:
    """The line below a block heading, with as many dashes as the heading has characters."""

    length: int
    width: int | None

    @property
    def block(self) -> str | None:
        """The block whose heading has this length."""
        return _BY_LENGTH.get(self.length)


_LABEL = pp.Regex(r"[A-Za-z][^:]{0,79}(?=:(\s|$))")("label")
_VALUE = pp.Regex(r".*")("value")
_NAME = pp.Regex(r"(?i)([A-Z]{1,20} ){1,4}statistics\b")("name")
_DASH_RUN = pp.Regex(r"-{6,80}(?!-)")("dashes")

_ENTRY = _LABEL + pp.Suppress(":") + _VALUE
_HEADING = _NAME + pp.Regex(r"(?i)(C(o(u(nt?)?)?)?)?")("count") + pp.StringEnd()
_DASHES = _DASH_RUN + pp.Regex(r"-{5}(?!\S)") + pp.StringEnd()
_LINE = pp.Group(_ENTRY)("entry") | pp.Group(_HEADING)("heading") | pp.Group(_DASHES)("rule")


def line_kind(text: str) -> StatisticsEntry | BlockHeading | Dashes | None:
    """Return what a line without surrounding blanks is, or None.

    >>> line_kind("Cache timeout:       10")
    StatisticsEntry(label='Cache timeout', value='10', width=23)
    >>> line_kind("READY") is None
    True
    """
    try:
        parsed = _LINE.parse_string(text)
    except pp.ParseException:
        return None
    if "entry" in parsed:
        entry = parsed["entry"]
        return StatisticsEntry(entry["label"], entry["value"], len(text))
    width = len(text) if "  " in text else None
    if "heading" in parsed:
        heading = parsed["heading"]
        whole = heading["count"].upper() == "COUNT"
        return BlockHeading(heading["name"], width if whole else USUAL_WIDTH)
    return Dashes(len(parsed["rule"]["dashes"]), width)


TABLE = "gsk_cache_stats"
CURRENT_TIME = "taken_local"
HEADER = ""
"""The block of the labels before the first block heading."""
_TICKETS_ONLY = ("tickets_per_session", "update_")


class StatisticsPlace(NamedTuple):
    """A label with its block and column."""

    block: str
    label: str
    column: str
    position: int
    """Position in the order of the display."""


class StatisticsPlaces:
    """All labels in the statistics of one cache."""

    def __init__(self, cache: Cache) -> None:
        places = [StatisticsPlace(HEADER, "Current time", CURRENT_TIME, 0)]
        for position, column in enumerate(report_table(TABLE).columns, 1):
            foreign = cache is Cache.SESSION_ID and column.column.startswith(_TICKETS_ONLY)
            if column.label and not foreign:
                block, _, label = column.label.rpartition(": ")
                places.append(StatisticsPlace(block, label, column.column, position))
        self._places = {(place.block, plain_label(place.label)): place for place in places}

    def get(self, block: str, label: str) -> StatisticsPlace | None:
        """Return the place of a label in this block, or None."""
        return self._places.get((block, plain_label(label)))

    def begins(self, block: str) -> int | None:
        """Return the position of the first label of a block; None if the cache has no such block."""
        return min((place.position for place in self.places(block)), default=None)

    def comes_again(self, place: StatisticsPlace) -> bool:
        """Return whether a later block has the same label."""
        return any(
            other.position > place.position for other in self._places.values() if other.label == place.label
        )

    def places(self, block: str) -> list[StatisticsPlace]:
        """Return the labels of a block, in order."""
        return [place for place in self._places.values() if place.block == block]

    def missing(self, present: Collection[str]) -> list[str]:
        """Return the labels whose columns are not in `present`; a block without any of them counts as one."""
        names: dict[str, None] = {}
        for place in self._places.values():
            if place.column not in present:
                is_missing = place.block and not any(
                    other.column in present for other in self.places(place.block)
                )
                label = f"{place.block}: {place.label}" if place.block else place.label
                names[place.block if is_missing else label] = None
        return list(names)


@once
def places_of(cache: Cache) -> StatisticsPlaces:
    """Return the labels in the statistics of a cache."""
    return StatisticsPlaces(cache)


@once
def _counter_labels() -> frozenset[str]:
    labels = (column.label for column in report_table(TABLE).columns)
    return frozenset(plain_label(label.split(": ")[1]) for label in labels if ": " in label)


def is_counter(label: str) -> bool:
    """Return whether one of the blocks has this label."""
    return plain_label(label) in _counter_labels()


def is_foreign(places: StatisticsPlaces, block: str, label: str | None = None) -> bool:
    """Return whether only the ticket cache has this block, or this label in the block."""
    if label is None:
        return block in BLOCKS and places.begins(block) is None
    return places.get(block, label) is None and places_of(Cache.TICKET).get(block, label) is not None
