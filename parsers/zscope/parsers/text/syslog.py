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

from zscope.parsers.text.out import shown
from zscope.parsers.text.report import Line

MOST_LINES = 200_000
"""A reply is given up behind so many lines: NETSTAT itself stops at 65,533."""
MOST_OPEN = 256
"""So many replies can be under way at a time; then the oldest is taken as it is."""

MOST_LINES_APART = 50_000
"""A message that had no line for so long will not have another one."""

_FIRST = re.compile(
    r"[ 01+-]?(?P<type>[NWMOX])(?P<request>[A-Z ])[0-9A-F]{7} (?P<system>\S{1,8}) +"
    r"(?P<day>\d{5}|\d{7}) (?P<clock>\d\d:\d\d:\d\d)(?:\.\d\d)? .{8} [0-9A-F]{8}(?: [ *+@-]?(?P<text>.*))?$",
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
    wanted: bool = True
    """Whether a report begins in it; of other messages only the connector is of interest."""
    latest: int = 0
    """Number of its last line so far."""


@dataclass(slots=True)
class Regrouper:
    """Puts replies together; what is not the beginning of a report is passed over at once.

    Messages of other kinds are followed too: their lines have connectors like those of the replies, and when
    two that are under way have the same one, nobody can tell whose a line is.
    """

    begins: Callable[[str], bool]
    """Whether a report begins with this text."""
    belongs: Callable[[str], bool]
    """Whether this text is certainly part of a report."""
    tell: Callable[[int, str], None]
    """Told of lines that could not be put anywhere: number and what is wrong."""
    _open: list[Reply] = field(default_factory=list)
    _in_log: bool = False

    def take(self, no: int, text: str) -> Iterator[Reply] | None:
        """The replies that are complete with this line; None if it is no line of a log."""
        # Nearly all lines of other texts are told apart by these characters alone.
        if text[:1] in _MARKS or text[1:2] in _MARKS:
            if first := _FIRST.match(text):
                self._in_log = True
                return self._begin(no, first)
            if following := _NEXT.match(text):
                self._in_log = True
                return self._go_on(no, following)
            if self._in_log and _CONTINUED.match(text):
                return iter(())
        if self._in_log and text.strip() and any(reply.wanted for reply in self._open):
            self.tell(no, f"{shown(text)} has no prefix of a log line although a reply is not at its end")
        return None

    def rest(self) -> Iterator[Reply]:
        """The replies whose end is not there."""
        yield from (reply for reply in self._open if reply.wanted)
        self._open.clear()

    def _begin(self, no: int, match: re.Match[str]) -> Iterator[Reply]:
        text = (match["text"] or "").lstrip("*+@-").lstrip()
        several = match["type"] == "M"
        connector = _CONNECTOR.search(text) if several else None
        if connector:
            text = text[: connector.start()].rstrip()
        reply = Reply(match["system"], _day(match["day"]), _clock(match["clock"]), [Line(no, text)])
        reply.wanted, reply.latest = self.begins(text), no
        if not several:
            reply.complete = True
            if reply.wanted:
                yield reply
            return
        reply.connector = connector[1].lstrip("0") if connector else ""
        stale = no - MOST_LINES_APART
        for other in list(self._open):
            same = (other.connector, other.system) == (reply.connector, reply.system)
            if same or (other.latest < stale and other.connector == reply.connector):
                yield from self._closed(other)
        self._open.append(reply)
        if len(self._open) > MOST_OPEN:
            yield from self._closed(self._open[0])

    def _go_on(self, no: int, match: re.Match[str]) -> Iterator[Reply]:
        connector, text = match["connector"].lstrip("0"), (match["text"] or "").rstrip()
        possible = [reply for reply in self._open if reply.connector == connector]
        if len(possible) > 1:
            yield from self._doubtful(possible, no, text)
            return
        if not possible:
            if self.belongs(text):
                self.tell(no, f"{shown(text)} belongs to a reply whose beginning is not there")
            return
        reply = possible[0]
        reply.latest = no
        if reply.wanted:
            reply.lines.append(Line(no, text))
        reply.complete = match["type"] == "E"
        if reply.complete or len(reply.lines) > MOST_LINES:
            yield from self._closed(reply)

    def _doubtful(self, possible: list[Reply], no: int, text: str) -> Iterator[Reply]:
        """None of the replies gets any more: what they would show could be each other's."""
        systems = ", ".join(sorted(reply.system for reply in possible))
        problem = (
            f"{shown(text)} may belong to either of {systems}, whose replies have the same connector number"
        )
        if any(reply.wanted for reply in possible):
            self.tell(no, problem)
        for reply in possible:
            yield from self._closed(reply)

    def _closed(self, reply: Reply) -> Iterator[Reply]:
        self._open.remove(reply)
        if reply.wanted:
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
