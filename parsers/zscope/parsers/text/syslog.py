"""Prefixes of SYSLOG and OPERLOG lines, and the replies that they take apart into records of their own.

A reply of several lines is one M record, D records and an E record. Records of two replies can alternate, so
they belong together by the connector number, which stands at the end of the M record's text and in front of
the flags of all others. Which system wrote a D record it does not say: that is in its M record.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta

from zscope.parsers.text.report import Line

MOST_LINES = 200_000
"""A reply is given up behind so many lines: NETSTAT itself stops at 65,533."""
MOST_OPEN = 256
"""So many replies can be under way at a time; then the oldest is taken as it is."""

_FIRST = re.compile(
    r"[ 01+-]?(?P<type>[NWMOX])(?P<request>[A-Z ])[0-9A-F]{7} (?P<system>\S{1,8}) +"
    r"(?P<day>\d{5}|\d{7}) (?P<clock>\d\d:\d\d:\d\d)(?:\.\d\d)? .{8} [0-9A-F]{8}(?:  ?(?P<text>.*))?$",
    re.ASCII,
)
_NEXT = re.compile(
    r"[ 01+-]?(?P<type>[DEL])(?P<request>[A-Z ]) +(?P<connector>\d{1,4}) [0-9A-F]{8}(?:  ?(?P<text>.*))?$",
    re.ASCII,
)
_CONTINUED = re.compile(r"[ 01+-]?S[A-Z ]? {20,}", re.ASCII)
_CONNECTOR = re.compile(r" (\d{1,4})\s*$", re.ASCII)


@dataclass(slots=True)
class Reply:
    """A reply put together again, or a message of one line."""

    system: str
    day: date | None
    clock: time | None
    lines: list[Line]
    complete: bool = False
    connector: str = ""


@dataclass(slots=True)
class Regrouper:
    """Puts replies together; what is not the beginning of a report is passed over at once."""

    begins: Callable[[str], bool]
    """Whether a report begins with this text."""
    _open: list[Reply] = field(default_factory=list)

    def take(self, no: int, text: str) -> Iterator[Reply] | None:
        """The replies that are complete with this line; None if it is no line of a log."""
        # Nearly all lines of other texts are told apart by these characters alone.
        if text[:1] not in _MARKS and text[1:2] not in _MARKS:
            return None
        if first := _FIRST.match(text):
            return self._begin(no, first)
        if following := _NEXT.match(text):
            return self._go_on(no, following)
        return iter(()) if _CONTINUED.match(text) else None

    def rest(self) -> Iterator[Reply]:
        """The replies whose end is not there."""
        yield from self._open
        self._open.clear()

    def _begin(self, no: int, match: re.Match[str]) -> Iterator[Reply]:
        text = match["text"] or ""
        several = match["type"] == "M"
        connector = _CONNECTOR.search(text) if several else None
        if connector:
            text = text[: connector.start()].rstrip()
        if not self.begins(text):
            return
        reply = Reply(match["system"], _day(match["day"]), _clock(match["clock"]), [Line(no, text)])
        if not several:
            reply.complete = True
            yield reply
            return
        reply.connector = connector[1].lstrip("0") if connector else ""
        for other in [r for r in self._open if (r.connector, r.system) == (reply.connector, reply.system)]:
            self._open.remove(other)
            yield other
        self._open.append(reply)
        if len(self._open) > MOST_OPEN:
            yield self._open.pop(0)

    def _go_on(self, no: int, match: re.Match[str]) -> Iterator[Reply]:
        connector = match["connector"].lstrip("0")
        reply = next((r for r in reversed(self._open) if r.connector == connector), None)
        if reply is None:
            return
        reply.lines.append(Line(no, (match["text"] or "").rstrip()))
        reply.complete = match["type"] == "E"
        if reply.complete or len(reply.lines) > MOST_LINES:
            self._open.remove(reply)
            yield reply


_MARKS = frozenset("NWMOXDELS")


def _day(digits: str) -> date | None:
    """Year and day of the year; None for a day that no year has.

    >>> _day("25073"), _day("2025073")
    (datetime.date(2025, 3, 14), datetime.date(2025, 3, 14))
    """
    year, number = int(digits[:-3]), int(digits[-3:])
    first = date(year if year > 99 else 2000 + year, 1, 1) if 0 < year < 10_000 else None
    found = first + timedelta(days=number - 1) if first and 0 < number <= 366 and year < 9_999 else None
    return found if found and first and found.year == first.year else None


def _clock(digits: str) -> time | None:
    try:
        return datetime.strptime(digits, "%H:%M:%S").time()  # noqa: DTZ007 - local time has no zone
    except ValueError:
        return None
