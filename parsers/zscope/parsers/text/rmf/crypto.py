"""The Crypto Hardware Activity report as a listing.

No listing of it is published. So its parts are found by their titles, their columns by the words and the
order of the headings, and a line is taken only if it has exactly what the headings ask for.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from zscope.parsers.issues import Code
from zscope.parsers.text.out import shown
from zscope.parsers.text.rmf.crypto_columns import CryptoTable, unit_kind
from zscope.parsers.text.rmf.crypto_headings import above_columns, column_names, columns_under, part_title
from zscope.parsers.text.rmf.crypto_icsf import IcsfServices
from zscope.parsers.text.rmf.crypto_lines import CardLines

if TYPE_CHECKING:
    from zscope.parsers.text.out import Out
    from zscope.parsers.text.report import Line, Report
    from zscope.parsers.text.rmf.heading import Heading

_TITLE = "CRYPTOHARDWAREACTIVITY"
_ABOUT_PAGE = re.compile(r"(?:^|\s)(?:SYSTEM ID|RPT VERSION|PAGE +\d+$)", re.ASCII | re.IGNORECASE)
_OF_HEADINGS = re.compile(r"(?:^|\s)(?:RATE|EXEC|UTIL)(?:\s|%|$)", re.ASCII | re.IGNORECASE)
_RULE = re.compile(r"[-\s]*", re.ASCII)


def read_crypto(pages: list[Report], heading: Heading, out: Out) -> None:
    """Put the rows of one interval, from all its pages, into the table."""
    part: _Cards | IcsfServices | None = None
    seen: set[tuple[str | None, ...]] = set()
    lines = [line for page in pages for line in page.lines if not _of_page(line.text)]
    for line in lines:
        if title := part_title(line.text):
            if part:
                part.finish()
            kind = unit_kind(title)
            part = IcsfServices(out) if kind == "icsf" else _Cards(kind, out, seen)
        elif part is None or not part.take(line):
            out.unknown(line.no, line.text, heading.title)
    if part:
        part.finish()
    else:
        problem = "the report has no part that is known; expected: CRYPTOGRAPHIC ... or ICSF SERVICES"
        out.issue(Code.REPORT_UNREADABLE, problem, heading.line_no, 1)


def _of_page(text: str) -> bool:
    """Whether the line belongs to the top of a page, or only divides others."""
    return bool(_RULE.fullmatch(text) or _ABOUT_PAGE.search(text)) or _TITLE in "".join(text.split()).upper()


class _Cards:
    """Takes the lines of a part about cards."""

    def __init__(self, kind: str, out: Out, seen: set[tuple[str | None, ...]]) -> None:
        self._out = out
        self._table = CryptoTable(kind, out, seen)
        self._above: tuple[str, ...] = ()
        self._lines: CardLines | None = None
        self._refused = False

    def take(self, line: Line) -> bool:
        """Take a line; False if it does not fit what the headings say."""
        if above := above_columns(line.text):
            self.finish()
            self._above = (*self._above, *above)
            return True
        if names := column_names(line.text):
            if self._lines is not None and self._lines.empty:
                return self._refuse(line, "two lines of column names follow each other")
            self.finish()
            columns = columns_under(self._above, names)
            self._above = ()
            if columns is None:
                return self._refuse(line, "the column names do not go with the line above them")
            self._lines, self._refused = CardLines(columns), False
            return True
        if _OF_HEADINGS.search(line.text):
            return self._refuse(line, "these column names are not known")
        return self._refused or (self._lines is not None and self._lines.take(line))

    def finish(self) -> None:
        """No more lines belong to the headings there were."""
        if self._lines is not None:
            for number, cells in self._lines.trusted(self._out):
                self._table.put(number, cells)
        self._lines = None

    def _refuse(self, line: Line, why: str) -> bool:
        self.finish()
        self._refused = True
        problem = f"{why} ({shown(line.text)}): the lines below are left out"
        self._out.issue(Code.REPORT_UNREADABLE, problem, line.no, 1)
        return True
