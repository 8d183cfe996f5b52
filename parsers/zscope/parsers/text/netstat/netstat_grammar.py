"""Read NETSTAT replies: recognise the heading and the report, and check that the reply is complete."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import time
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import pyparsing as pp

from zscope.parsers.issues import Code
from zscope.parsers.text.captured_report import KnownFrom, ReportSource, single_lines
from zscope.parsers.text.netstat import all as all_report
from zscope.parsers.text.netstat import config, conn, devlinks, ttls, ttls_group
from zscope.parsers.text.netstat.reply import (
    NetstatReport,
    ReplyBody,
    compare_count,
    report_joined_ending,
    report_missing_lines,
    split_ending,
)
from zscope.parsers.text.report_rows import ReportRows, quoted
from zscope.parsers.written_forms import NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zscope.parsers.text.captured_report import CapturedReport, Line, Origin
    from zscope.parsers.text.report_rows import FileRows


_LONGEST = 200
"""No heading has more characters."""


class HeadingForm(StrEnum):
    """The forms of the heading."""

    TERMINAL = "terminal"
    CONSOLE = "console"
    ZVM = "zvm"


@dataclass(frozen=True, slots=True)
class NetstatHeading:
    """The parts of a heading. A part that is missing or may be cut off is None."""

    form: HeadingForm
    release: str | None = None
    stack: str | None = None
    clock: str | None = None
    """Time of day as printed; the console prints none."""
    rest: str = ""
    """Text after the heading that is not part of it."""
    line_count: int = 1
    """Two if a narrow screen wrapped the heading."""

    @property
    def whole(self) -> bool:
        """Whether the heading has all its parts and nothing else."""
        last = self.clock if self.form is HeadingForm.TERMINAL else self.stack
        return self.form is HeadingForm.ZVM or (last is not None and not self.rest)


def _words(text: str) -> pp.ParserElement:
    return pp.And([pp.CaselessLiteral(word) for word in text.split()]).suppress()


_ID = pp.Opt(pp.Regex(r"(?i)EZ[ZD]\d{4}[A-Z](?!\S)").suppress())
_RELEASE = pp.Regex(r"(?i)(V\d{1,2}R\d{1,2}|\d{1,2}\.\d{1,2})(?!\S)")("release")
_STACK = pp.Regex(rf"(?i){NAME}(?!\S)")("stack")
_CLOCK = pp.Regex(r"\d\d:\d\d:\d\d(?!\S)")("clock")
_CONNECTOR = pp.Opt(pp.Regex(r"\d{1,4}(?!\S)").suppress())
_REST = pp.Regex(r".*")("rest")
_NAMED = _words("TCPIP NAME :") + _STACK

_FORMS: dict[HeadingForm, pp.ParserElement] = {
    HeadingForm.TERMINAL: _ID
    + _words("MVS TCP/IP NETSTAT CS")
    + pp.Opt(_RELEASE + pp.Opt(_NAMED + pp.Opt(_CLOCK)))
    + _REST,
    HeadingForm.CONSOLE: _ID + _words("NETSTAT CS") + pp.Opt(_RELEASE + pp.Opt(_STACK + _CONNECTOR)) + _REST,
    HeadingForm.ZVM: _words("VM TCP/IP NETSTAT") + _REST,
}


def read_heading(lines: Sequence[Line]) -> NetstatHeading | None:
    """Return the heading with which these lines begin, or None.

    >>> from zscope.parsers.text.captured_report import Line
    >>> read_heading([Line(1, "EZD0101I NETSTAT CS 3.1 TCPIPA 087")]).stack
    'TCPIPA'
    """
    first = _read(lines[0].text)
    if first is None or first.whole:
        return first
    if len(lines) > 1:
        joined = _read(f"{lines[0].text} {lines[1].text}", line_count=2)
        if joined is not None and joined.whole:
            return joined
    return _without_last(first)


def _read(text: str, line_count: int = 1) -> NetstatHeading | None:
    for form, element in _FORMS.items():
        try:
            parts = element.parse_string(text[:_LONGEST]).as_dict()
        except pp.ParseException:
            continue
        release, stack, clock = (parts.get(name) for name in ("release", "stack", "clock"))
        return NetstatHeading(form, release, stack, clock, parts["rest"].strip(), line_count)
    return None


def _without_last(heading: NetstatHeading) -> NetstatHeading:
    """Remove the last part of an incomplete heading, which may be half a name."""
    if heading.rest:
        return heading
    release = heading.release if heading.stack else None
    return NetstatHeading(heading.form, release=release)


class _ReportKind(NamedTuple):
    name: str
    reader: NetstatReport


KINDS = (
    _ReportKind("CONN", conn),
    _ReportKind("ALL", all_report),
    _ReportKind("TTLS CONN", ttls),
    _ReportKind("TTLS GROUP", ttls_group),
    _ReportKind("CONFIG", config),
    _ReportKind("DEVLINKS", devlinks),
)
"""The reports that zscope reads, in the order in which they are tried."""
OTHERS = {
    "HOME": r"HOME ADDRESS LIST\b|LINKNAME: .*\bADDRESS:",
    "ROUTE": r"IPV[46] DESTINATIONS\b|DESTINATION +GATEWAY\b",
    "GATE": r"KNOWN GATEWAYS\b|NETADDRESS +FIRSTHOP\b",
    "STATS": r"(IP|TCP|UDP|ICMP)(V[46])? (GENERAL )?STATISTICS\b",
    "BYTEINFO": r"USER ID .*\bB(YTES)? ?(IN|OUT)\b",
    "PORTLIST": r"PORT# +PROT\b",
    "SOCKETS": r"SOCKETS INTERFACE STATUS\b",
    "ARP": r"QUERYING ARP CACHE\b",
    "UP": r"TCPIP STARTED AT\b",
    "VIPADYN": r"DYNAMIC VIPA\b",
}
"""Reports that zscope does not read, and the beginning of their first line."""
_OTHER = re.compile(
    "|".join(f"(?P<{name}>{text})" for name, text in OTHERS.items()), re.ASCII | re.IGNORECASE
)
_FIRST_LINES = 10
"""Number of lines in which the report is looked for: prompts and messages can come before it."""


class Netstat:
    """Reads the NETSTAT replies of one file."""

    def __init__(self, sheet: FileRows) -> None:
        self._sheet = sheet

    def read(self, report: CapturedReport) -> None:
        """Read one reply."""
        heading = read_heading(report.lines)
        out = ReportRows(self._sheet, report.origin, common={"stack": None, "release": None})
        if heading is not None and heading.form is HeadingForm.ZVM:
            problem = "this is a reply of NETSTAT on z/VM, whose reports differ; capture it on z/OS"
            out.issue(Code.ZVM_NETSTAT, problem, report.first_line)
            out.skipped(report.lines)
            return
        heading_lines = heading.line_count if heading else 0
        for line in report.lines[:heading_lines]:
            out.used(line.no)
        below = report.lines[heading_lines:]
        lines, ending, rest = split_ending(below, report.first_line)
        rest = list(single_lines(rest))
        console = report.origin.source in {ReportSource.CONSOLE, ReportSource.SYSLOG}
        if heading is not None:
            console = heading.form is HeadingForm.CONSOLE
            out.common = {"stack": heading.stack, "release": heading.release}
            _use_heading(heading, report, out)
        body = ReplyBody(lines, console or ending.seen, report.complete, report.first_line)
        body.complete &= ending.seen or not console
        for number in ending.lines:
            out.furniture(number)
        report_joined_ending(lines, out)
        report_missing_lines(ending, out, expected=not report.complete or console, rest=rest)
        if kind := _kind(body, out):
            out.add_report(f"NETSTAT {kind.name}", report.first_line)
            if kind.reader is not conn:
                body.lines = list(single_lines(body.lines))
                _report_doubled(body.lines, out)
            compare_count(ending, out, kind.reader.read(body, out))
        else:
            out.skipped(body.lines)

    def finish(self) -> None:
        """Do nothing: no reply depends on another."""


def _use_heading(heading: NetstatHeading, report: CapturedReport, out: ReportRows) -> None:
    first = report.first_line
    if heading.rest:
        out.add_unknown_line(first, heading.rest)
    elif not heading.whole:
        problem = "the heading is incomplete; this line and others may be cut off"
        out.issue(Code.REPORT_CUT, problem, first, len(report.lines[0].text) + 1)
    if heading.clock is not None:
        try:
            _set_clock(report.origin, time.fromisoformat(heading.clock))
        except ValueError:
            out.issue(Code.BAD_VALUE, f"{quoted(heading.clock)} is not a time of day", first, field="time")


def _set_clock(origin: Origin, clock: time) -> None:
    """Set the time of day from the heading, which has precedence over the prefix but shows no day."""
    origin.clock = clock
    if origin.day is None:
        origin.time_from = KnownFrom.NO_DATE


def _kind(body: ReplyBody, out: ReportRows) -> _ReportKind | None:
    first = _first_lines(body.lines)
    for line in first:
        for kind in KINDS:
            if kind.reader.BEGINS.match(line.text):
                return kind
        if other := _OTHER.match(line.text.lstrip()):
            problem = f"NETSTAT {other.lastgroup} is not a report that zscope reads"
            out.issue(Code.OTHER_REPORT, problem, line.no)
            return None
    if first:
        known = ", ".join(kind.name for kind in KINDS)
        problem = f"{quoted(first[0].text)} begins no NETSTAT report that zscope reads: {known}"
        out.issue(Code.REPORT_UNREADABLE, problem, first[0].no, 1)
    elif body.console and body.complete:
        out.issue(Code.OTHER_REPORT, "the NETSTAT reply contains no report", body.first_line)
    else:
        out.issue(Code.REPORT_UNREADABLE, "no line follows the heading of the report", body.first_line)
    return None


def _report_doubled(lines: Sequence[Line], out: ReportRows) -> None:
    """Report a line with labels or values that is the same as the one before it."""
    for one, other in pairwise(lines):
        if one.text == other.text and one.text.strip(" -"):
            problem = f"{quoted(other.text.strip())} is the same as the line before it, and may be doubled"
            out.issue(Code.REPORT_REPEATED, problem, other.no, 1)


def _first_lines(lines: Sequence[Line]) -> list[Line]:
    first: list[Line] = []
    for line in lines:
        if line.text.strip():
            first.append(line)
            if len(first) == _FIRST_LINES:
                break
    return first
