"""One report of a capture, without what the capture added: its lines, and where and when it was captured."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


class Line(NamedTuple):
    """One line of a report."""

    no: int
    """Line number in the file, from 1."""
    text: str
    """The text without prefix, carriage control, message ID, margin and trailing blanks."""


class RowStretch(Line):
    """Rows of a table that follow each other, as one line whose text has line feeds.

    Only families that declare `plain_rows` get stretches.
    """

    __slots__ = ()

    @property
    def last_no(self) -> int:
        """Return the number of the last line."""
        return self.no + self.text.count("\n")

    def split_last(self, lines: int) -> tuple[RowStretch, RowStretch]:
        """Return the stretch without its last row, and that row, which has so many lines."""
        text, *last = f"\n{self.text}".rsplit("\n", lines)
        return RowStretch(self.no, text[1:]), RowStretch(self.last_no - lines + 1, "\n".join(last))

    def lines(self) -> list[Line]:
        """Return the lines one by one."""
        return [Line(number, text) for number, text in enumerate(self.text.split("\n"), self.no)]


def single_lines(lines: Iterable[Line]) -> Iterator[Line]:
    """Yield the lines, those of stretches one by one."""
    for line in lines:
        if isinstance(line, RowStretch):
            yield from line.lines()
        else:
            yield line


class ReportSource(StrEnum):
    """How a report was captured; the values are those of the column `source`."""

    TEXT = "text"
    """A listing of RMF or of Performance Toolkit."""
    XML = "xml"
    CSV = "csv"
    """Supplied figures, or the output of a formatter."""
    JSON = "json"
    """Supplied figures, or the output of a formatter, as JSON objects."""
    TERMINAL = "terminal"
    """TSO or the z/OS UNIX shell, whose output is identical."""
    CONSOLE = "console"
    SYSLOG = "syslog"


class KnownFrom(StrEnum):
    """Where the system or the date of a report is known from; the values are those of `system_from` and
    `time_from`.
    """

    REPORT = "report"
    PREFIX = "prefix"
    ROUTE = "route"
    OPTION = "option"
    FILE_NAME = "file-name"
    NO_DATE = "no-date"
    """Only the time of day is known."""
    NOTHING = "none"


@dataclass(slots=True)
class Origin:
    """The system and the time of a report, and where they are known from."""

    source: ReportSource
    system: str | None = None
    system_from: KnownFrom | None = None
    day: date | None = None
    clock: time | None = None
    time_from: KnownFrom = KnownFrom.NOTHING
    run: str | None = None
    """The benchmark run, if an option names it."""

    def captured_at(self) -> datetime | None:
        """Return date and time, if both are known."""
        return datetime.combine(self.day, self.clock) if self.day and self.clock else None


@dataclass(slots=True)
class CapturedReport:
    """One report: its first line and all others up to its end."""

    family: str
    """The name of the family whose grammar reads it: `rmf`, `netstat`, `gsksrvr`, `supplied` and so on."""
    lines: list[Line]
    """The heading is first; blank lines are included."""
    origin: Origin
    complete: bool = True
    """False if the reply should have an end line and has none."""

    @property
    def first_line(self) -> int:
        """Return the number of the first line."""
        return self.lines[0].no


class ObjectGrammar(Protocol):
    """Reads the objects of one family in one JSON file."""

    def take(self, line: int, value: Mapping[str, Any]) -> bool:
        """Read an object that begins in this line; return False if it is of another family."""

    def finish(self) -> None:
        """Finish the file."""


class Grammar(Protocol):
    """Reads the reports of one family in one file."""

    def read(self, report: CapturedReport) -> None:
        """Read one report."""

    def finish(self) -> None:
        """Finish the file."""
