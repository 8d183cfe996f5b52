"""A NETSTAT report without its heading and its ending, and what a module that reads one has to offer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from zscope.parsers.text.out import Out
    from zscope.parsers.text.report import Line


@dataclass(slots=True)
class Body:
    """The lines that say something: the heading and the ending of the console are dealt with already."""

    lines: list[Line]
    """After the heading; blank lines are still there."""
    console: bool
    """All is in upper case, as the console prints it."""
    complete: bool
    """False where the end was expected and is not there: the last entry may lack something."""
    first_line: int
    """Where the report begins: its heading, if it has one."""


class ReportReader(Protocol):
    """A module that reads one of the reports."""

    BEGINS: re.Pattern[str]
    """Matches the first line of the body that tells this report from all others, in any case."""

    def read(self, body: Body, out: Out) -> int | None:
        """Make rows of the body; how many records it has, where the console counts them.

        The grammar has found the report for the inventory; it compares the number and tells of a cut.
        """
