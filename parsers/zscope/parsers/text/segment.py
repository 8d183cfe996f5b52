"""Cutting a text into reports: prefixes, margins, message ids and what stands between reports are taken off.

Nothing above this module knows how a report was captured, except for what its `Origin` says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, time

from zscope.parsers.text.headings import (
    NETSTAT,
    RMF,
    Heading,
    begins_report,
    ends_before,
    ends_with,
    family_of,
    goes_on,
    heading_of,
    headless,
    paging,
)
from zscope.parsers.text.report import Line, Origin, Report, Source, Told
from zscope.parsers.text.syslog import MOST_LINES, Regrouper, Reply

_MESSAGE_ID = re.compile(r" {0,8}EZZ\d{4}I ", re.ASCII)
_CONNECTOR_ONLY = re.compile(r"[ \d]*$", re.ASCII)
TAB = 8


@dataclass(frozen=True, slots=True)
class Known:
    """What is known about a file from outside it."""

    system: str | None = None
    system_from: Told | None = None
    day: date | None = None
    clock: time | None = None
    day_from: Told = Told.NOTHING

    def complete(self, origin: Origin) -> Origin:
        """Fill in what the capture itself does not tell."""
        if origin.system is None:
            origin.system, origin.system_from = self.system, self.system_from
        if origin.day is None and self.day:
            origin.day, origin.time_from = self.day, self.day_from
        if origin.clock is None:
            origin.clock = self.clock if origin.day else None
        if origin.day is None and origin.clock:
            origin.time_from = Told.NO_DATE
        return origin


@dataclass(slots=True)
class Segmenter:
    """Cuts one file into reports."""

    known: Known
    lines: int = 0
    """Read so far."""
    _control: bool = False
    """Whether each line begins with a carriage control character; the last page title decides."""
    _margin: int = 0
    _front: str = ""
    _ids: bool = False
    _report: Report | None = None
    _interrupted: bool = False
    """By a prompt or a message: the report is over, unless a line follows that looks like one of its own."""
    _replies: Regrouper = field(default_factory=lambda: Regrouper(begins_report))

    def reports(self, texts: Iterable[str]) -> Iterator[Report]:
        """The reports in the order in which they end."""
        for number, raw in enumerate(texts, 1):
            self.lines = number
            # A form feed begins a page; it is no line of its own.
            for part in raw.lstrip("\f").split("\f") if "\f" in raw else (raw,):
                yield from self._line(number, part)
        yield from self._close()
        for reply in self._replies.rest():
            yield self._of_reply(reply)

    def _line(self, number: int, raw: str) -> Iterator[Report]:
        text = (raw.expandtabs(TAB) if "\t" in raw else raw).rstrip()
        replies = self._replies.take(number, text)
        if replies is not None:
            yield from (self._of_reply(reply) for reply in replies)
            return
        if heading := heading_of(text[1:] if self._control and not text.startswith("1") else text):
            yield from self._close()
            self._begin(number, heading)
        elif headless(text) and (self._report is None or self._report.family != NETSTAT):
            yield from self._close()
            column = len(text) - len(text.lstrip())
            self._begin(number, Heading(NETSTAT, text[column:], column, Source.TERMINAL))
        elif self._report is not None:
            yield from self._go_on(self._report, number, text)

    def _begin(self, number: int, heading: Heading) -> None:
        if heading.family == RMF:
            self._control = heading.control
        text = heading.text
        self._ids = _MESSAGE_ID.match(text) is not None
        self._margin, self._front = heading.column, ""
        told = Told.PREFIX if heading.day else Told.NOTHING
        origin = Origin(heading.source, heading.system, heading.system_from, heading.day, heading.clock, told)
        first = Line(number, _MESSAGE_ID.sub("", text, count=1) if self._ids else text)
        expects_end = text[:8].upper() == "EZD0101I"
        self._report = Report(heading.family, [first], self.known.complete(origin), not expects_end)

    def _go_on(self, report: Report, number: int, text: str) -> Iterator[Report]:
        line = self._freed(report, text)
        if ends_with(line):
            report.lines.append(Line(number, line))
            report.complete = True
            yield from self._close()
        elif ends_before(line, report.family):
            self._interrupted = True
        elif self._interrupted and not goes_on(line, report.family):
            return
        elif not paging(line):
            self._interrupted = False
            report.lines.append(Line(number, line))
            if len(report.lines) > MOST_LINES:
                report.complete = False
                yield from self._close()

    def _freed(self, report: Report, text: str) -> str:
        """A line without carriage control, margin and message id."""
        if report.family == RMF:
            return text[1:] if self._control else text
        if self._margin and _CONNECTOR_ONLY.match(text[: self._margin]):
            text = text[self._margin :]
        elif self._margin and (again := self._in_front_again(text)):
            text = text[again:]
        if self._ids and (found := _MESSAGE_ID.match(text)):
            text = text[found.end() :]
        return text

    def _in_front_again(self, text: str) -> int:
        """The width of the margin, if the system's name stands in it as it does before the heading."""
        system = self._report.origin.system if self._report else None
        front = text[: self._margin].split()
        return self._margin if system and front == [system] else 0

    def _close(self) -> Iterator[Report]:
        if self._report is not None:
            report, self._report = self._report, None
            self._interrupted = False
            yield report

    def _of_reply(self, reply: Reply) -> Report:
        told = Told.PREFIX if reply.day else Told.NOTHING
        origin = Origin(Source.SYSLOG, reply.system, Told.PREFIX, reply.day, reply.clock, told)
        first = reply.lines[0]
        return Report(family_of(first.text), reply.lines, self.known.complete(origin), reply.complete)
