"""Cache statistics: read and write the counters of a cache since the last reset.

Several blocks have the same labels. A counter is therefore read only while its block is certain: from the
block heading, or the dashes below it, as long as the labels follow in the order of the display.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from zscope.parsers.issues import Code
from zscope.parsers.text.captured_report import KnownFrom
from zscope.parsers.text.gsksrvr.gsk_heading import Cache, Display, heading_lines
from zscope.parsers.text.gsksrvr.statistics_history import StatisticsDisplay
from zscope.parsers.text.gsksrvr.statistics_lines import (
    BLOCKS,
    CURRENT_TIME,
    HEADER,
    TABLE,
    USUAL_WIDTH,
    BlockHeading,
    Dashes,
    StatisticsEntry,
    StatisticsPlace,
    StatisticsPlaces,
    is_counter,
    is_foreign,
    line_kind,
    places_of,
)
from zscope.parsers.text.gsksrvr.statistics_values import Printed, check, typed_values
from zscope.parsers.text.report_rows import quoted
from zscope.parsers.text.spelling import nearly
from zscope.schemas.reports import plain_label

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from zscope.parsers.text.captured_report import Line
    from zscope.parsers.text.report_rows import ReportRows


_CONTINUATION = re.compile(r"\d[\d.:/]*[%M]?(?!\S)", re.ASCII)
"""Text that a narrow screen may have moved to the next line."""


@dataclass(slots=True)
class _StatisticsReader:
    out: ReportRows
    places: StatisticsPlaces
    printed: dict[str, Printed] = field(default_factory=dict)
    extra: dict[str, str] = field(default_factory=dict)
    unknown: list[Line] = field(default_factory=list)
    spoiled: set[str] = field(default_factory=set)
    """Columns with a doubtful value."""
    block: str = HEADER
    certain: bool = True
    """Whether the block is known; after a gap it is unknown up to the next block heading."""
    entries: int = 0
    """Number of labels in this block so far."""
    position: int = -1
    widths: frozenset[int] = frozenset()
    """Columns in which counters may end; empty for any."""
    before: str | None = None
    """Table column of the value in the line before."""

    def take(self, line: Line) -> bool:
        """Read one line; return False if a second display begins without a heading."""
        text = line.text.strip()
        before, self.before = self.before, None
        kind = line_kind(text)
        if isinstance(kind, StatisticsEntry):
            return self._entry(line, kind)
        if isinstance(kind, BlockHeading):
            return self._begin(line, kind.name, kind.width)
        if isinstance(kind, Dashes):
            return self._dashes(line, kind)
        if before and _CONTINUATION.match(text):
            message = (
                f"{quoted(self.printed[before].text)} seems to continue in line {line.no}; the column is null"
            )
            self._spoil(before, self.printed.pop(before).line, message)
            self.out.skipped([line])
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
        self.out.furniture(line.no)
        self.block, self.certain, self.entries = block, True, 0
        self.widths = frozenset() if width is None else frozenset({USUAL_WIDTH, width})
        return True

    def _dashes(self, line: Line, dashes: Dashes) -> bool:
        if self.block and not self.entries and dashes.length == len(self.block):
            self.out.furniture(line.no)
            if self.widths and dashes.width is not None:
                self.widths |= {dashes.width}
            return True
        if dashes.block:
            return self._begin(line, dashes.block, dashes.width)
        self.unknown.append(line)
        if self.certain:
            self._lose(line, f"{quoted(line.text)} matches no block heading")
        return True

    def _entry(self, line: Line, entry: StatisticsEntry) -> bool:
        if header := self.places.get(HEADER, entry.label):
            if self.block or not self.certain or header.position <= self.position:
                return False
            self._take(line, entry, header)
        elif self.certain:
            self._in_block(line, entry)
        else:
            # An issue says that everything up to the next block heading is skipped.
            self.out.skipped([line])
        return True

    def _in_block(self, line: Line, entry: StatisticsEntry) -> None:
        place = self.places.get(self.block, entry.label)
        if place:
            gap = place.position - self.position - 1
            if gap == 0 or (gap > 0 and not self.places.comes_again(place)):
                self._take(line, entry, place)
            else:
                self._lose(line, f"{quoted(entry.label)} is out of order in {self.block}")
        elif is_counter(entry.label) and self.block == HEADER:
            self._lose(line, f"{quoted(entry.label)} is before the first block heading")
        elif is_counter(entry.label) and self.places.begins(self.block) is not None:
            # The labels since the heading may be from two blocks.
            for other in self.places.places(self.block):
                self.printed.pop(other.column, None)
            self._lose(line, f"{quoted(entry.label)} does not belong to {self.block}, which is skipped")
        else:
            self._keep(line, entry)

    def _take(self, line: Line, entry: StatisticsEntry, place: StatisticsPlace) -> None:
        self.position = place.position
        self.entries += 1
        self.out.used(line.no)
        if not entry.value:
            return
        if place.block and self.widths and entry.width not in self.widths:
            message = f"{quoted(entry.value)} is not aligned with the counters; the column is null"
            self._spoil(place.column, line.no, message)
        else:
            self.printed[place.column] = Printed(entry.value, line.no)
            self.before = place.column

    def _keep(self, line: Line, entry: StatisticsEntry) -> None:
        label = f"{self.block}: {entry.label}" if self.block else entry.label
        if label in self.extra:
            self.unknown.append(line)
            return
        if self.block == HEADER and is_foreign(self.places, HEADER, entry.label):
            self._foreign(line, label)
        missing = {
            plain_label(place.label): place.label
            for place in self.places.places(self.block)
            if place.column not in self.printed
        }
        if near := nearly(plain_label(entry.label), missing):
            message = f"the label {quoted(entry.label)} is unknown, and nearly the same as {missing[near]}"
            self.out.issue(Code.UNKNOWN_COLUMN, message, line.no, field=entry.label[:60], table=TABLE)
        self.extra[label] = entry.value
        self.entries += 1
        self.out.used(line.no)

    def _foreign(self, line: Line, label: str) -> None:
        message = (
            f"{quoted(label)} belongs to the ticket cache; stored in `extra`; two displays may be merged"
        )
        self.out.issue(Code.UNKNOWN_LINE, message, line.no, table=TABLE)

    def _lose(self, line: Line, reason: str) -> None:
        self.certain = False
        message = f"{reason}; lines are missing, and everything up to the next block heading is skipped"
        self.out.issue(Code.REPORT_CUT, message, line.no, 1, table=TABLE)

    def _spoil(self, column: str, line: int, message: str) -> None:
        self.spoiled.add(column)
        self.out.issue(Code.BAD_VALUE, message, line, field=column, table=TABLE)


def read(out: ReportRows, cache: Cache, body: Sequence[Line], heading_line: int) -> StatisticsDisplay | None:
    """Read a display; its row is written when all displays of the file are known."""
    reader = _StatisticsReader(out, places_of(cache))
    lines = [line for line in body if line.text.strip()]
    for at, line in enumerate(lines):
        if not reader.take(line):
            message = "a second display seems to start here without a heading; the rest is skipped"
            out.issue(Code.REPORT_UNREADABLE, message, line.no, 1)
            out.skipped(lines[at:])
            break
    if not reader.printed:
        instead = f"the line is {quoted(lines[0].text)}" if lines else "the display ends"
        message = f"expected 'Current time:', but {instead}; the display is skipped"
        out.issue(Code.REPORT_UNREADABLE, message, lines[0].no if lines else heading_line, 1)
        out.skipped(lines)
        return None
    for line in reader.unknown:
        out.add_unknown_line(line.no, line.text)
    values = typed_values(out, reader.printed)
    if current := values.pop(CURRENT_TIME, None):
        out.origin = replace(out.origin, day=current.date(), clock=current.time(), time_from=KnownFrom.REPORT)
    if missing := reader.places.missing(reader.spoiled | reader.printed.keys()):
        message = f"the display is incomplete; missing: {', '.join(missing)}"
        out.issue(Code.REPORT_CUT, message, lines[-1].no, table=TABLE)
    check(out, values, reader.printed, complete=not missing)
    return StatisticsDisplay(out, heading_line, cache, values, reader.extra)


_SECTION_END = " "
_VALUE_COLUMN = 21
_NEW_SECTION = "cache_size_mb"
"""The first column of the second part of the header."""


def stats_lines(
    rows: Sequence[Mapping[str, Any]], *, split_heading: bool = True, reset: bool = False
) -> list[str]:
    """Return the lines of a display for each row; labels without a value are omitted.

    `reset` writes the reply to RESET STATS, which displays the counters again.
    """
    return [line for row in rows for line in _display(row, split_heading, reset)]


def _display(row: Mapping[str, Any], split_heading: bool, reset: bool) -> Iterator[str]:
    cache = Cache(row["cache"])
    yield from heading_lines(cache, Display.STATISTICS, split=split_heading, reset=reset)
    yield _SECTION_END
    for place in places_of(cache).places(HEADER):
        if place.column == _NEW_SECTION:
            yield _SECTION_END
        if (value := row.get(place.column)) is not None:
            yield f"{place.label + ':':<{_VALUE_COLUMN}}{_header_value(place, value, row.get('time_zone'))}"
    for block in BLOCKS:
        counters = [line for place in places_of(cache).places(block) if (line := _counter(place, row))]
        if counters:
            yield _SECTION_END
            yield f"{block}{'Count':>{USUAL_WIDTH - len(block)}}"
            yield f"{'-' * len(block)}{'-----':>{USUAL_WIDTH - len(block)}}"
            yield from counters


def _header_value(place: StatisticsPlace, value: object, zone: str | None) -> str:
    if isinstance(value, datetime):
        return f"{value:%Y/%m/%d %H:%M:%S} {zone or ''}".rstrip()
    return f"{value}M" if place.column.endswith("_mb") else str(value)


def _counter(place: StatisticsPlace, row: Mapping[str, Any]) -> str:
    value = row.get(place.column)
    percentage = place.column.endswith("_pct")
    if percentage and value is None and row.get(place.column.replace("success_pct", "requested")) == 0:
        value = 0.0  # a percentage of zero requests, which readers must ignore
    if value is None:
        return ""
    label = f"{place.label}:"
    number = f"{value:.3f}%" if percentage else str(value)
    return f"{label}{number:>{USUAL_WIDTH - len(label)}}"
