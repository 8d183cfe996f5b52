"""How the console ends a NETSTAT reply; TSO and the shell print nothing of the kind."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zscope.parsers.issues import Code

if TYPE_CHECKING:
    from zscope.parsers.text.out import Out
    from zscope.parsers.text.report import Line

_ENDING = re.compile(
    r" *(?:(?P<shown>\d{1,9}) OF (?P<of>\d{1,9}) RECORDS DISPLAYED$"
    r"|(?P<last>END OF THE REPORT$)|(?P<truncated>REPORT TRUNCATED DUE TO\b))",
    re.ASCII | re.IGNORECASE,
)
_LONGEST = 80


@dataclass(slots=True)
class Ending:
    """What the last lines of a reply say."""

    line: int
    """Where they begin, or the last line of a reply without them."""
    shown: int | None = None
    """Records that are there."""
    of: int | None = None
    """Records that there would have been."""
    seen: bool = False
    """Whether the reply ends as it should."""
    truncated: bool = False
    """Whether the system says that it stopped at its limit."""


def split_ending(lines: Sequence[Line], first: int) -> tuple[list[Line], Ending, list[Line]]:
    """The lines of a report that begins in line `first`, the ending behind them, and what still follows."""
    body: list[Line] = []
    ending = Ending(lines[-1].no if lines else first)
    for index, line in enumerate(lines):
        found = _ENDING.match(line.text) if 16 < len(line.text) < _LONGEST else None
        if found is None or (found["shown"] and ending.shown is not None):
            body.append(line)
        elif found["shown"]:
            ending.line, ending.shown, ending.of = line.no, int(found["shown"]), int(found["of"])
        else:
            ending.seen, ending.truncated = bool(found["last"]), bool(found["truncated"])
            return body, ending, list(lines[index + 1 :])
    return body, ending, []


def tell_cut(ending: Ending, out: Out, *, expected: bool, rest: Sequence[Line]) -> None:
    """Say that records are missing, and why."""
    if ending.truncated:
        problem = "the system stopped the report at its limit of lines; ask for less with a filter"
        out.issue(Code.REPORT_CUT, problem, ending.line)
    elif expected and not ending.seen:
        problem = "the reply ends without END OF THE REPORT: what followed this line is missing"
        out.issue(Code.REPORT_CUT, problem, ending.line)
    if ending.shown is not None and ending.of is not None and ending.shown < ending.of:
        problem = f"only {ending.shown:,} of {ending.of:,} records are shown; ask for more with MAX="
        out.issue(Code.REPORT_CUT, problem, ending.line)
    for line in rest:
        if line.text.strip():
            out.unknown(line.no, line.text)


def tell_count(ending: Ending, out: Out, records: int | None) -> None:
    """Say that the number of records is not the one the reply gives."""
    if records is not None and ending.shown is not None and records != ending.shown:
        problem = f"the reply counts {ending.shown:,} records, but {records:,} were read"
        out.issue(Code.COUNT_DIFFERS, problem, ending.line)
