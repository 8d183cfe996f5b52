"""NETSTAT replies: which report one is, from where and when, and whether all of it is there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import time
from typing import TYPE_CHECKING, NamedTuple

from zscope.parsers.issues import Code
from zscope.parsers.text.netstat import all as all_report
from zscope.parsers.text.netstat import config, conn, devlinks, ttls, ttls_group
from zscope.parsers.text.netstat.body import Body, ReportReader
from zscope.parsers.text.netstat.ending import split_ending, tell_count, tell_cut
from zscope.parsers.text.netstat.heading import Form, Heading, read_heading
from zscope.parsers.text.out import Out, shown
from zscope.parsers.text.report import Source, Told

if TYPE_CHECKING:
    from zscope.parsers.text.out import Sheet
    from zscope.parsers.text.report import Line, Origin, Report


class _Kind(NamedTuple):
    name: str
    reader: ReportReader


KINDS = (
    _Kind("CONN", conn),
    _Kind("ALL", all_report),
    _Kind("TTLS CONN", ttls),
    _Kind("TTLS GROUP", ttls_group),
    _Kind("CONFIG", config),
    _Kind("DEVLINKS", devlinks),
)
"""The reports that are read, in the order in which they are tried."""
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
"""Reports that have nothing for zscope, and how to tell them."""
_OTHER = re.compile(
    "|".join(f"(?P<{name}>{text})" for name, text in OTHERS.items()), re.ASCII | re.IGNORECASE
)
_FIRST_LINES = 10
"""So many lines are searched for what tells the report: prompts and messages can stand before it."""


class Netstat:
    """Reads the NETSTAT replies of one file."""

    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet

    def read(self, report: Report) -> None:
        """Take one reply."""
        heading = read_heading(report.lines)
        out = Out(self._sheet, report.origin, lead={"stack": None, "release": None})
        if heading is not None and heading.form is Form.ZVM:
            problem = "this is NETSTAT of z/VM, which prints other reports; take it on z/OS"
            out.issue(Code.ZVM_NETSTAT, problem, report.first_line)
            return
        below = report.lines[heading.line_count if heading else 0 :]
        lines, ending, rest = split_ending(below, report.first_line)
        console = report.origin.source in {Source.CONSOLE, Source.SYSLOG}
        if heading is not None:
            console = heading.form is Form.CONSOLE
            out.lead = {"stack": heading.stack, "release": heading.release}
            _tell_heading(heading, report, out)
        body = Body(lines, console or ending.seen, report.complete, report.first_line)
        body.complete &= ending.seen or not console
        tell_cut(ending, out, expected=not report.complete or console, rest=rest)
        if kind := _kind(body, out):
            out.found(f"NETSTAT {kind.name}", report.first_line)
            tell_count(ending, out, kind.reader.read(body, out))

    def finish(self) -> None:
        """Every reply stands for itself: nothing is left."""


def _tell_heading(heading: Heading, report: Report, out: Out) -> None:
    first = report.first_line
    if heading.rest:
        out.unknown(first, heading.rest)
    elif not heading.whole:
        problem = "the heading ends too early; this line and others may have lost their ends"
        out.issue(Code.REPORT_CUT, problem, first, len(report.lines[0].text) + 1)
    if heading.clock is not None:
        try:
            _set_clock(report.origin, time.fromisoformat(heading.clock))
        except ValueError:
            out.issue(Code.BAD_VALUE, f"{shown(heading.clock)} is no time of day", first, field="time")


def _set_clock(origin: Origin, clock: time) -> None:
    """What the report says beats its prefix; the day it cannot tell."""
    origin.clock = clock
    if origin.day is None:
        origin.time_from = Told.NO_DATE


def _kind(body: Body, out: Out) -> _Kind | None:
    first = _first_lines(body.lines)
    for line in first:
        for kind in KINDS:
            if kind.reader.BEGINS.match(line.text):
                return kind
        if other := _OTHER.match(line.text.lstrip()):
            problem = f"NETSTAT {other.lastgroup} has nothing that zscope reads"
            out.issue(Code.OTHER_REPORT, problem, line.no)
            return None
    if first:
        known = ", ".join(kind.name for kind in KINDS)
        problem = f"{shown(first[0].text)} begins no NETSTAT report that is read: {known}"
        out.issue(Code.REPORT_UNREADABLE, problem, first[0].no, 1)
    elif body.console and body.complete:
        out.issue(Code.OTHER_REPORT, "a NETSTAT reply without a report in it", body.first_line)
    else:
        out.issue(Code.REPORT_UNREADABLE, "nothing follows the heading of the report", body.first_line)
    return None


def _first_lines(lines: Sequence[Line]) -> list[Line]:
    found: list[Line] = []
    for line in lines:
        if line.text.strip():
            found.append(line)
            if len(found) == _FIRST_LINES:
                break
    return found
