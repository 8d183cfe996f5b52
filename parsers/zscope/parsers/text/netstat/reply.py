"""A NETSTAT reply without its report: the command, and the lines with which the console ends a reply."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import time
from typing import TYPE_CHECKING, Protocol

from zscope.parsers.issues import Code

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zscope.parsers.text.captured_report import Line
    from zscope.parsers.text.report_rows import ReportRows

_ENDING = re.compile(
    r" *(?:(?P<shown>\d{1,9}) OF (?P<of>\d{1,9}) RECORDS DISPLAYED$"
    r"|(?P<last>END OF THE REPORT$)|(?P<truncated>REPORT TRUNCATED DUE TO\b))",
    re.ASCII | re.IGNORECASE,
)
_ENDING_LONGEST = 80
_JOINED_ENDING = re.compile(
    r"[^ ] *(?:\d{1,9} OF \d{1,9} RECORDS DISPLAYED|END OF THE REPORT)$", re.ASCII | re.IGNORECASE
)


@dataclass(slots=True)
class ReplyEnding:
    """The last lines of a reply. TSO and the shell print none."""

    line: int
    """Number of the first of these lines, or of the last line of a reply without them."""
    shown: int | None = None
    """Number of records in the reply."""
    of: int | None = None
    """Number of records without a limit."""
    seen: bool = False
    """Whether the reply has its last line."""
    truncated: bool = False
    """Whether the system truncated the reply at its limit."""
    lines: list[int] = field(default_factory=list)
    """Numbers of these lines."""


def split_ending(lines: Sequence[Line], first: int) -> tuple[list[Line], ReplyEnding, list[Line]]:
    """Split lines into the report, its ending and what follows; `first` is the number of the first line."""
    body: list[Line] = []
    ending = ReplyEnding(lines[-1].no if lines else first)
    for index, line in enumerate(lines):
        match = _ENDING.match(line.text) if 16 < len(line.text) < _ENDING_LONGEST else None
        if match is None or (match["shown"] and ending.shown is not None):
            body.append(line)
        elif match["shown"]:
            ending.line, ending.shown, ending.of = line.no, int(match["shown"]), int(match["of"])
            ending.lines.append(line.no)
        else:
            ending.lines.append(line.no)
            ending.seen, ending.truncated = bool(match["last"]), bool(match["truncated"])
            return body, ending, list(lines[index + 1 :])
    return body, ending, []


def report_joined_ending(lines: Sequence[Line], out: ReportRows) -> None:
    """Report a last line of the report to which the ending of the reply is joined."""
    last = next((line for line in reversed(lines) if line.text.strip()), None)
    if last is not None and _JOINED_ENDING.search(last.text[-_ENDING_LONGEST:]):
        problem = "the line ends with the number of records, or the end, of the reply: a line end is missing"
        out.issue(Code.REPORT_CUT, problem, last.no)


def report_missing_lines(
    ending: ReplyEnding, out: ReportRows, *, expected: bool, rest: Sequence[Line]
) -> None:
    """Report missing records, with the reason."""
    if ending.truncated:
        problem = "the system truncated the report at its line limit; use a filter to display less"
        out.issue(Code.REPORT_CUT, problem, ending.line)
    elif expected and not ending.seen:
        problem = "the reply ends without END OF THE REPORT; lines after this one are missing"
        out.issue(Code.REPORT_CUT, problem, ending.line)
    if ending.shown is not None and ending.of is not None and ending.shown < ending.of:
        problem = f"only {ending.shown:,} of {ending.of:,} records are displayed; use MAX= to display more"
        out.issue(Code.REPORT_CUT, problem, ending.line)
    for line in rest:
        if line.text.strip():
            out.add_unknown_line(line.no, line.text)


def compare_count(ending: ReplyEnding, out: ReportRows, records: int | None) -> None:
    """Report a number of records that differs from the number in the reply."""
    if records is not None and ending.shown is not None and records != ending.shown:
        problem = f"the reply counts {ending.shown:,} records, but {records:,} were read"
        out.issue(Code.COUNT_DIFFERS, problem, ending.line)


@dataclass(slots=True)
class ReplyBody:
    """The lines of a reply between its heading and its ending."""

    lines: list[Line]
    """Including blank lines."""
    console: bool
    """Whether the reply is in upper case, as the console prints it."""
    complete: bool
    """False if an expected ending is missing: the last entry may be incomplete."""
    first_line: int
    """Number of the first line, which is the heading if there is one."""


class NetstatReport(Protocol):
    """The interface of a module that reads one kind of report."""

    BEGINS: re.Pattern[str]
    """Matches the line with which only this report begins, in upper and lower case."""

    def read(self, body: ReplyBody, out: ReportRows) -> int | None:
        """Write the rows of a report; return the number of records if the console counts them, else None."""


@dataclass(frozen=True, slots=True)
class Command:
    """Where a NETSTAT command was entered, and the parts of the heading of its reply, for writing."""

    console: bool = False
    """DISPLAY TCPIP on the console: in upper case, with an ending. Otherwise TSO or the shell."""
    release: str = "V2R5"
    stack: str = "TCPIP"
    clock: time = time(9, 41, 7)
    """Not shown on the console."""
    connector: int | None = None
    """Connector number of a console reply, which its heading shows."""

    def heading(self) -> str:
        """Return the first line of the reply.

        >>> Command(console=True, connector=87).heading()
        'EZD0101I NETSTAT CS V2R5 TCPIP 087'
        """
        if not self.console:
            named = f"{self.release}       TCPIP Name: {self.stack:<16}{self.clock:%H:%M:%S}"
            return f"MVS TCP/IP NETSTAT CS {named}"
        connector = "" if self.connector is None else f" {self.connector:03}"
        return f"EZD0101I NETSTAT CS {self.release} {self.stack}{connector}".upper()


def reply_lines(
    command: Command, body: Iterable[str], shown: int | None = None, of: int | None = None
) -> list[str]:
    """Return the lines of a reply; on the console, its ending has the numbers of records `shown` and `of`."""
    if not command.console:
        return [command.heading(), *body]
    counted = [] if shown is None else [f"{shown} OF {shown if of is None else of} RECORDS DISPLAYED"]
    return [command.heading(), *(line.upper() for line in body), *counted, "END OF THE REPORT"]
