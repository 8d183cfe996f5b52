"""Reassemble multi-line replies from the records of SYSLOG and OPERLOG.

A multi-line reply is one M record, D records and an E record. Records of several replies can alternate; the
connector number joins them. It is at the end of the M record's text and before the flags of the others. Only
the M record has the system.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING

from zscope.parsers.text.captured_report import Line
from zscope.parsers.text.report_rows import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MOST_LINES = 200_000
"""A reply is closed after so many lines; NETSTAT itself stops at 65,533."""
MOST_OPEN = 256
"""Number of replies in progress; beyond it the oldest is closed."""

MOST_LINES_BETWEEN = 50_000
"""A message without a line for so long is complete."""

_MARKS = frozenset("NWMOXDELS")
"""Types of records."""
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


def is_log_record(text: str) -> bool:
    """Return whether a line is the first record of a message in SYSLOG or OPERLOG."""
    return (text[:1] in _MARKS or text[1:2] in _MARKS) and _FIRST.match(text) is not None


def is_log_line(text: str) -> bool:
    """Return whether a line is a record of SYSLOG or OPERLOG, the first or a further one of its message."""
    return is_log_record(text) or _NEXT.match(text) is not None


@dataclass(slots=True)
class SyslogReply:
    """A reassembled reply, or a message of one line."""

    system: str
    day: date | None
    clock: time | None
    lines: list[Line]
    complete: bool = False
    connector: str = ""
    wanted: bool = True
    """Whether a report begins in it; of other messages only the connector is needed."""
    latest: int = 0
    """Number of its last line so far."""
    suspected: bool = False
    """Whether it was reported that a display may begin in it."""


@dataclass(slots=True)
class ReplyCollector:
    """Reassembles replies; messages that do not begin a report are dropped.

    Other messages are followed as well: their lines have connectors of the same kind, and a line that may
    belong to two messages with the same connector is ambiguous.
    """

    begins_report: Callable[[str], bool]
    """Returns whether a report begins with this text."""
    is_report_line: Callable[[str], bool]
    """Returns whether this text can only be part of a report."""
    report_problem: Callable[[int, str], None]
    """Receives number and text for lines that belong to no reply."""
    nearly_begins: Callable[[str], bool]
    """Returns whether a report would begin with this text if one or two characters were different."""
    add_outside: Callable[[Line], object]
    """Receives the lines without a beginning that may be part of a report."""
    _open: list[SyslogReply] = field(default_factory=list)
    _orphans: set[str] = field(default_factory=set)
    """Connectors of lines without a beginning that were reported."""
    _ended: set[str] = field(default_factory=set)
    """Connectors of reports whose last line was read, until another message has them."""
    in_log: bool = False
    """Whether the text has records of a log."""

    def add_line(self, no: int, text: str) -> Iterator[SyslogReply] | None:
        """Return the replies that this line completes; None if it is not a log line."""
        # These characters alone exclude nearly all lines that are not log records.
        if text[:1] in _MARKS or text[1:2] in _MARKS:
            if first := _FIRST.match(text):
                self.in_log = True
                return self._begin_reply(no, first)
            if following := _NEXT.match(text):
                self.in_log = True
                return self._continue_reply(no, following)
            if self.in_log and _CONTINUED.match(text):
                if any(reply.wanted for reply in self._open):
                    problem = f"{quoted(text)} continues a line that a display cannot have; it is skipped"
                    self.report_problem(no, problem)
                return iter(())
        if self.in_log and text.strip() and any(reply.wanted for reply in self._open):
            self.report_problem(no, f"{quoted(text)} has no log prefix, but a reply has not ended")
        return None

    def unfinished(self) -> Iterator[SyslogReply]:
        """Yield the replies without an end."""
        yield from (reply for reply in self._open if reply.wanted)
        self._open.clear()

    def _begin_reply(self, no: int, match: re.Match[str]) -> Iterator[SyslogReply]:
        text = (match["text"] or "").lstrip("*+@-").lstrip()
        several = match["type"] == "M"
        connector = _CONNECTOR.search(text) if several else None
        if connector:
            text = text[: connector.start()].rstrip()
        reply = SyslogReply(match["system"], _day(match["day"]), _clock(match["clock"]), [Line(no, text)])
        reply.wanted, reply.latest = self.begins_report(text), no
        if not reply.wanted and self.nearly_begins(text):
            self._suspect(reply, no, text)
        if not several:
            reply.complete = True
            if reply.wanted:
                yield reply
            elif self.is_report_line(text):
                self._suspect(reply, no, text)
            return
        reply.connector = connector[1].lstrip("0") if connector else ""
        self._orphans.discard(reply.connector)
        self._ended.discard(reply.connector)
        stale = no - MOST_LINES_BETWEEN
        for other in list(self._open):
            same = (other.connector, other.system) == (reply.connector, reply.system)
            if same or (other.latest < stale and other.connector == reply.connector):
                yield from self._close(other)
        self._open.append(reply)
        if len(self._open) > MOST_OPEN:
            yield from self._close(self._open[0])

    def _continue_reply(self, no: int, match: re.Match[str]) -> Iterator[SyslogReply]:
        connector, text = match["connector"].lstrip("0"), (match["text"] or "").rstrip()
        possible = [reply for reply in self._open if reply.connector == connector]
        if len(possible) > 1:
            yield from self._close_ambiguous(possible, no, text)
            return
        if not possible:
            self._orphan(no, connector, text)
            return
        reply = possible[0]
        reply.latest = no
        if reply.wanted:
            reply.lines.append(Line(no, text))
        elif self.is_report_line(text):
            self._suspect(reply, no, text)
        reply.complete = match["type"] == "E"
        if reply.complete and reply.wanted:
            self._ended.add(connector)
        if reply.complete or len(reply.lines) > MOST_LINES:
            yield from self._close(reply)

    def _orphan(self, no: int, connector: str, text: str) -> None:
        """Report a line without a beginning if it may be part of a display."""
        if connector in self._ended:
            self._ended.discard(connector)
            problem = f"{quoted(text)} follows the last line of its reply: lines may be missing or exchanged"
            self.report_problem(no, problem)
            return
        if not self.is_report_line(text):
            if connector in self._orphans or not any(reply.wanted for reply in self._open):
                self.add_outside(Line(no, text))
                return
            self._orphans.add(connector)
        self.report_problem(no, f"{quoted(text)} belongs to a reply whose beginning is missing")

    def _suspect(self, reply: SyslogReply, no: int, text: str) -> None:
        """Report once that a reply with a damaged first line may be a display."""
        if not reply.suspected:
            first = reply.lines[0]
            problem = f"{quoted(first.text)} seems to be the damaged heading of a display, which is skipped"
            if no != first.no:
                problem = f"{problem}: line {no} is {quoted(text)}"
            self.report_problem(first.no, problem)
        reply.suspected = True

    def _close_ambiguous(self, possible: list[SyslogReply], no: int, text: str) -> Iterator[SyslogReply]:
        """Close all replies: each could contain lines of the other."""
        systems = ", ".join(sorted(reply.system for reply in possible))
        problem = (
            f"{quoted(text)} may belong to any of {systems}, whose replies have the same connector number"
        )
        if any(reply.wanted for reply in possible):
            self.report_problem(no, problem)
        for reply in possible:
            yield from self._close(reply)

    def _close(self, reply: SyslogReply) -> Iterator[SyslogReply]:
        self._open.remove(reply)
        if reply.wanted:
            yield reply


def _day(digits: str) -> date | None:
    """Return the date of a year and a day of the year; None if that day does not exist.

    >>> _day("25073"), _day("2025073")
    (datetime.date(2025, 3, 14), datetime.date(2025, 3, 14))
    """
    year, number = int(digits[:-3]), int(digits[-3:])
    first = date(year if year > 99 else 2000 + year, 1, 1) if 0 < year < 10_000 else None
    day = first + timedelta(days=number - 1) if first and 0 < number <= 366 and year < 9_999 else None
    return day if day and first and day.year == first.year else None


def _clock(digits: str) -> time | None:
    try:
        return datetime.strptime(digits, "%H:%M:%S").time()  # noqa: DTZ007 - local time has no zone
    except ValueError:
        return None
