"""A report as the line layer hands it on: freed of all that the capture added, with what that told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from enum import StrEnum
from typing import Any, NamedTuple, Protocol


class Line(NamedTuple):
    """One line of a report."""

    no: int
    """Its number in the file, from 1."""
    text: str
    """Without prefix, carriage control, message id and trailing blanks; as far left as the report began."""


class Source(StrEnum):
    """How a report was captured."""

    TEXT = "text"
    """A listing, of RMF or of Performance Toolkit."""
    XML = "xml"
    CSV = "csv"
    """Figures that someone supplies, or that a formatter wrote."""
    JSON = "json"
    """The same as objects."""
    TERMINAL = "terminal"
    """TSO or the z/OS UNIX shell: they print the same."""
    CONSOLE = "console"
    SYSLOG = "syslog"


class Told(StrEnum):
    """What told the system or the date of a report."""

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
    """Where and when a report was made, and what told so."""

    source: Source
    system: str | None = None
    system_from: Told | None = None
    day: date | None = None
    clock: time | None = None
    time_from: Told = Told.NOTHING
    run: str | None = None
    """The benchmark run it is of, where an option says so."""

    def taken(self) -> datetime | None:
        """Date and time, if both are known."""
        return datetime.combine(self.day, self.clock) if self.day and self.clock else None


@dataclass(slots=True)
class Report:
    """One report: the line that begins it and all others up to its end."""

    family: str
    """`rmf`, `netstat`, `gsksrvr`, `supplied` and so on: which grammar it is for."""
    lines: list[Line]
    """The heading first; blank lines are empty texts, not left out."""
    origin: Origin
    complete: bool = True
    """False where the end of the reply was expected and is not there."""

    @property
    def first_line(self) -> int:
        """Number of the line it begins with."""
        return self.lines[0].no


class ObjectGrammar(Protocol):
    """Reads the objects of one family in one JSON file, one after another."""

    def take(self, line: int, found: Mapping[str, Any]) -> bool:
        """Take one that begins in this line; false if it is none of this family."""

    def finish(self) -> None:
        """There are no more in this file."""


class Grammar(Protocol):
    """Reads the reports of one family in one file, one after another."""

    def read(self, report: Report) -> None:
        """Take one report."""

    def finish(self) -> None:
        """There are no more in this file."""
