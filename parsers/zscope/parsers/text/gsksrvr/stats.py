"""Cache statistics: the counters of a cache since the last reset.

The same labels stand in several blocks. So a counter is taken only while the block it belongs to is certain:
from its heading, or the dashes below, as long as labels follow each other in the order of the report.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from zscope.parsers.issues import Code
from zscope.parsers.text.gsksrvr.resets import Shown
from zscope.parsers.text.gsksrvr.stats_checks import check
from zscope.parsers.text.gsksrvr.stats_lines import (
    BLOCKS,
    USUAL_WIDTH,
    BlockHeading,
    Dashes,
    Entry,
    line_kind,
)
from zscope.parsers.text.gsksrvr.stats_places import HEADER, Place, Places, is_counter, is_foreign, places_of
from zscope.parsers.text.gsksrvr.stats_values import CURRENT_TIME, TABLE, Printed, typed_values
from zscope.parsers.text.out import shown
from zscope.parsers.text.report import Told
from zscope.schemas.printed import plain_label

if TYPE_CHECKING:
    from zscope.parsers.text.gsksrvr.heading import Cache
    from zscope.parsers.text.out import Out
    from zscope.parsers.text.report import Line

_GOES_ON = re.compile(r"\d[\d.:/]*[%M]?(?!\S)", re.ASCII)
"""What a narrow screen may have put into a line of its own."""


@dataclass(slots=True)
class _Reader:
    out: Out
    places: Places
    printed: dict[str, Printed] = field(default_factory=dict)
    extra: dict[str, str] = field(default_factory=dict)
    unknown: list[Line] = field(default_factory=list)
    spoiled: set[str] = field(default_factory=set)
    """Columns whose value is there and cannot be trusted."""
    block: str = HEADER
    certain: bool = True
    """Whether the block is known; from a gap up to the next block heading it is not."""
    entries: int = 0
    """In this block so far."""
    position: int = -1
    widths: frozenset[int] = frozenset()
    """Where counters may end; empty for anywhere."""
    before: str | None = None
    """Column of the value in the line before."""

    def take(self, line: Line) -> bool:
        """Read one line; False where a second display begins, whose heading is not there."""
        text = line.text.strip()
        before, self.before = self.before, None
        kind = line_kind(text)
        if isinstance(kind, Entry):
            return self._entry(line, kind)
        if isinstance(kind, BlockHeading):
            return self._begin(line, kind.name, kind.width)
        if isinstance(kind, Dashes):
            return self._dashes(line, kind)
        if before and _GOES_ON.match(text):
            told = f"{shown(self.printed[before].text)} seems to go on in line {line.no}; the column is null"
            self._spoil(before, self.printed.pop(before).line, told)
        else:
            self.unknown.append(line)
        return True

    def _begin(self, line: Line, name: str, width: int | None) -> bool:
        plain = plain_label(name)
        block = next((known for known in BLOCKS if plain_label(known) == plain), name)
        first = self.places.begins(block)
        if first is not None:
            if first <= self.position:
                return False
            self.position = first - 1
        elif is_foreign(self.places, block):
            self._foreign(line, block)
        self.block, self.certain, self.entries = block, True, 0
        self.widths = frozenset() if width is None else frozenset({USUAL_WIDTH, width})
        return True

    def _dashes(self, line: Line, dashes: Dashes) -> bool:
        if self.block and not self.entries and dashes.length == len(self.block):
            if self.widths and dashes.width is not None:
                self.widths |= {dashes.width}
            return True
        if dashes.block:
            return self._begin(line, dashes.block, dashes.width)
        self.unknown.append(line)
        if self.certain:
            self._lose(line, f"{shown(line.text)} fits no block heading")
        return True

    def _entry(self, line: Line, entry: Entry) -> bool:
        if header := self.places.get(HEADER, entry.label):
            if self.block or not self.certain or header.position <= self.position:
                return False
            self._take(line, entry, header)
        elif self.certain:
            self._in_block(line, entry)
        return True

    def _in_block(self, line: Line, entry: Entry) -> None:
        place = self.places.get(self.block, entry.label)
        if place:
            gap = place.position - self.position - 1
            if gap == 0 or (gap > 0 and not self.places.comes_again(place)):
                self._take(line, entry, place)
            else:
                self._lose(line, f"{shown(entry.label)} does not follow here in {self.block}")
        elif is_counter(entry.label) and self.block == HEADER:
            self._lose(line, f"{shown(entry.label)} stands before any heading of a block")
        elif is_counter(entry.label) and self.places.begins(self.block) is not None:
            # What was taken since the heading may be from two blocks.
            for other in self.places.places(self.block):
                self.printed.pop(other.column, None)
            self._lose(line, f"{shown(entry.label)} does not belong to {self.block}, which is left out")
        else:
            self._keep(line, entry)

    def _take(self, line: Line, entry: Entry, place: Place) -> None:
        self.position = place.position
        self.entries += 1
        if not entry.value:
            return
        if place.block and self.widths and entry.width not in self.widths:
            told = f"{shown(entry.value)} does not end where counters end; the column is null"
            self._spoil(place.column, line.no, told)
        else:
            self.printed[place.column] = Printed(entry.value, line.no)
            self.before = place.column

    def _keep(self, line: Line, entry: Entry) -> None:
        label = f"{self.block}: {entry.label}" if self.block else entry.label
        if label in self.extra:
            self.unknown.append(line)
            return
        if self.block == HEADER and is_foreign(self.places, HEADER, entry.label):
            self._foreign(line, label)
        self.extra[label] = entry.value
        self.entries += 1

    def _foreign(self, line: Line, label: str) -> None:
        told = (
            f"{shown(label)} is known for tickets only, it is in `extra`; two displays may have run into one"
        )
        self.out.issue(Code.UNKNOWN_LINE, told, line.no, table=TABLE)

    def _lose(self, line: Line, reason: str) -> None:
        self.certain = False
        told = f"{reason}: lines are missing; nothing is taken from here to the next heading of a block"
        self.out.issue(Code.REPORT_CUT, told, line.no, 1, table=TABLE)

    def _spoil(self, column: str, line: int, told: str) -> None:
        self.spoiled.add(column)
        self.out.issue(Code.BAD_VALUE, told, line, field=column, table=TABLE)


def read(out: Out, cache: Cache, body: Sequence[Line], heading_line: int) -> Shown | None:
    """Read the lines after the heading; what the display shows becomes a row when all are known."""
    reader = _Reader(out, places_of(cache))
    lines = [line for line in body if line.text.strip()]
    for line in lines:
        if not reader.take(line):
            told = "a second display seems to begin here, without its heading; nothing is taken from here on"
            out.issue(Code.REPORT_UNREADABLE, told, line.no, 1)
            break
    if not reader.printed:
        found = f"{shown(lines[0].text)} stands" if lines else "the display ends"
        told = f"{found} where 'Current time:' was expected; the display is left out"
        out.issue(Code.REPORT_UNREADABLE, told, lines[0].no if lines else heading_line, 1)
        return None
    for line in reader.unknown:
        out.unknown(line.no, line.text)
    values = typed_values(out, reader.printed)
    if taken := values.pop(CURRENT_TIME, None):
        out.origin = replace(out.origin, day=taken.date(), clock=taken.time(), time_from=Told.REPORT)
    if missing := reader.places.missing(reader.spoiled | reader.printed.keys()):
        told = f"the display is not complete, this is missing: {', '.join(missing)}"
        out.issue(Code.REPORT_CUT, told, lines[-1].no, table=TABLE)
    check(out, values, reader.printed, complete=not missing)
    return Shown(out, heading_line, cache, values, reader.extra)
