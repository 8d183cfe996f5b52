"""Cutting a text into reports: prefixes, margins, message ids and what stands between reports are taken off.

Nothing above this module knows how a report was captured, except for what its `Origin` says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import date, time

from zscope.parsers.text.headings import (
    CSV_FAMILIES,
    MQ,
    NETSTAT,
    RMF,
    ZVM,
    Heading,
    begins_report,
    certainly_inside,
    ends_before,
    ends_with,
    family_of,
    goes_on,
    heading_of,
    headless,
    paging,
    routed,
    titled,
)
from zscope.parsers.text.report import Line, Origin, Report, Source, Told
from zscope.parsers.text.supplied.forms import Forms, forms_for
from zscope.parsers.text.syslog import MOST_LINES, Regrouper, Reply

_MESSAGE_ID = re.compile(r" {0,8}EZZ\d{4}I ", re.ASCII)
_CONNECTOR_ONLY = re.compile(r" *\d{1,4} +$", re.ASCII)
_CONTROLS = frozenset(" 01+-")
_FEWEST_LINES = 5
"""So many lines must begin like lines with carriage control before that is believed."""
_MOST_HELD = 1_000
LINES_TOGETHER = 20_000
"""Of reports whose lines have nothing to do with each other: there is no end to how many they may be. And of
a page of Performance Toolkit, which has dozens, or in one piece as many as there are virtual machines.
"""
TAB = 8

Tell = Callable[[int, str], None]


@dataclass(frozen=True, slots=True)
class Known:
    """What is known about a file from outside it."""

    system: str | None = None
    system_from: Told | None = None
    day: date | None = None
    clock: time | None = None
    day_from: Told = Told.NOTHING
    run: str | None = None
    forms: Forms = field(default_factory=forms_for)
    """The tables that it can hold as CSV, with the names of their columns."""

    def complete(self, origin: Origin) -> Origin:
        """Fill in what the capture itself does not tell."""
        if origin.system is None:
            origin.system, origin.system_from = self.system, self.system_from
        origin.run = origin.run or self.run
        if origin.day is None and self.day:
            origin.day, origin.time_from = self.day, self.day_from
            if origin.clock is None:
                origin.clock = self.clock
        if origin.day is None and origin.clock:
            origin.time_from = Told.NO_DATE
        return origin


def _nobody(no: int, text: str) -> None:
    """Nobody wants to hear of lines that belong nowhere."""


@dataclass(slots=True)
class Segmenter:
    """Cuts one file into reports."""

    known: Known
    tell: Tell = _nobody
    """Told of lines that belong to a report and could not be put into one: number and what is wrong."""
    tell_headless: Tell = _nobody
    """Told of reports that begin without a heading."""
    _margin: int = 0
    _ids: bool = False
    _control: bool = False
    _titled: bool = False
    """Whether the report has had the titles of its table."""
    _report: Report | None = None
    _interrupted: bool = False
    """By a prompt or a message: the report is over, unless a line follows that looks like one of its own."""
    _held: list[Line] = field(default_factory=list)
    """What came since; it belongs to the report if that goes on."""
    _replies: Regrouper = field(init=False)

    def __post_init__(self) -> None:
        self._replies = Regrouper(begins_report, certainly_inside, self.tell)

    def reports(self, texts: Iterable[str]) -> Iterator[Report]:
        """The reports in the order in which they end."""
        yield from self._reports(Line(number, text) for number, text in enumerate(texts, 1))

    def _reports(self, lines: Iterable[Line]) -> Iterator[Report]:
        for number, raw in lines:
            # A form feed begins a page; it is no line of its own.
            for part in raw.lstrip("\f").split("\f") if "\f" in raw else (raw,):
                yield from self._line(number, part)
        yield from self._close()
        for reply in self._replies.rest():
            yield from self._of_reply(reply)

    def _line(self, number: int, raw: str) -> Iterator[Report]:
        # Pages of the web and of mail programs put blanks that do not break lines.
        raw = raw.replace("\xa0", " ").rstrip(" ")
        text = (raw.expandtabs(TAB) if "\t" in raw else raw).rstrip()
        replies = self._replies.take(number, text)
        if replies is not None:
            for reply in replies:
                yield from self._of_reply(reply)
        elif heading := heading_of(text, raw, self.known.forms):
            yield from self._close()
            self._begin(number, heading)
        elif headless(text) and self._is_another(text):
            yield from self._close()
            self._begin_without_heading(number, text)
        elif self._report is not None:
            csv = self._report.family in CSV_FAMILIES
            yield from self._go_on(self._report, number, raw if csv else text)
        elif certainly_inside(text):
            self.tell(number, f"{text.strip()[:60]!r} belongs to a report whose beginning is not there")

    def _is_another(self, text: str) -> bool:
        """Whether a line that can begin the body of a report does not belong to the one under way."""
        report = self._report
        if report is None or report.family != NETSTAT:
            return True
        has_body = len(report.lines) > 1
        return (self._interrupted and has_body) or (self._titled and titled(text))

    def _begin(self, number: int, heading: Heading) -> None:
        text = heading.text
        self._ids = _MESSAGE_ID.match(text) is not None
        self._margin, self._control, self._titled = heading.column, heading.control, False
        told = Told.PREFIX if heading.day else Told.NOTHING
        origin = Origin(heading.source, heading.system, heading.system_from, heading.day, heading.clock, told)
        first = Line(number, _MESSAGE_ID.sub("", text, count=1) if self._ids else text)
        expects_end = text[:8].upper() == "EZD0101I"
        self._report = Report(heading.family, [first], self.known.complete(origin), not expects_end)

    def _begin_without_heading(self, number: int, text: str) -> None:
        column = len(text) - len(text.lstrip())
        source = Source.CONSOLE if text.upper() == text else Source.TERMINAL
        self._begin(number, Heading(NETSTAT, text[column:], column, source))
        self._titled = titled(text)
        self.tell_headless(
            number, "a display begins without its heading: stack, release and time are not known"
        )

    def _go_on(self, report: Report, number: int, text: str) -> Iterator[Report]:
        line = self._freed(report, text)
        if ends_with(line):
            self._resume(report)
            report.lines.append(Line(number, line))
            report.complete = True
            yield from self._close()
        elif ends_before(line, report.family) and not _completes(report, line):
            self._interrupted = True
        elif self._interrupted and not goes_on(line, report.family):
            self._held.append(Line(number, line))
            if len(self._held) > _MOST_HELD:
                self._held.clear()
        elif not paging(line):
            self._resume(report)
            report.lines.append(Line(number, line))
            self._titled = self._titled or titled(line)
            if report.family == MQ and len(report.lines) > LINES_TOGETHER:
                # Each line is a block by itself, and a busy day has millions of them.
                yield report
                self._report = Report(report.family, report.lines[:1], report.origin)
            elif len(report.lines) > (LINES_TOGETHER if report.family == ZVM else MOST_LINES):
                report.complete = False
                yield from self._close()

    def _resume(self, report: Report) -> None:
        """The interruption was none: what came meanwhile is part of the report."""
        report.lines += self._held
        self._held.clear()
        self._interrupted = False

    def _freed(self, report: Report, text: str) -> str:
        """A line without margin and message id."""
        if report.family in {RMF, ZVM} or report.family in CSV_FAMILIES:
            return text
        margin = text[: self._margin]
        system = report.origin.system
        if self._margin and (
            not margin.strip() or _CONNECTOR_ONLY.match(margin) or margin.split() == [system]
        ):
            text = text[self._margin :]
        if self._ids and (found := _MESSAGE_ID.match(text)):
            text = text[found.end() :]
        return text

    def _close(self) -> Iterator[Report]:
        if self._report is not None:
            report, self._report = self._report, None
            self._interrupted = False
            self._held.clear()
            if report.family == RMF and (self._control or _begin_with_control(report.lines)):
                first, *others = report.lines
                kept = first if self._control else Line(first.no, first.text[1:])
                report.lines = [kept, *(Line(line.no, line.text[1:]) for line in others)]
            yield report

    def _of_reply(self, reply: Reply) -> Iterator[Report]:
        first = reply.lines[0]
        if routed(first.text):
            known = replace(self.known, day=reply.day, clock=reply.clock, day_from=Told.PREFIX)
            for report in Segmenter(known, self.tell, self.tell_headless)._reports(reply.lines[1:]):
                report.origin.source = Source.SYSLOG
                yield report
            return
        told = Told.PREFIX if reply.day else Told.NOTHING
        origin = Origin(Source.SYSLOG, reply.system, Told.PREFIX, reply.day, reply.clock, told)
        yield Report(family_of(first.text), reply.lines, self.known.complete(origin), reply.complete)


def _completes(report: Report, line: str) -> bool:
    """Whether a word that looks like a prompt is the value of the label before it, on a line of its own."""
    before = report.lines[-1].text
    return line.strip() == "READY" and before.endswith(":")


def _begin_with_control(lines: list[Line]) -> bool:
    """Whether every line of a page begins like one with a carriage control character.

    Without such characters each page has lines that begin with a letter.
    """
    filled = [line.text for line in lines if line.text]
    return len(filled) >= _FEWEST_LINES and all(text[0] in _CONTROLS for text in filled)
