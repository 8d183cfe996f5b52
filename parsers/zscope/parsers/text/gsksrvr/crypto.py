"""DISPLAY CRYPTO: algorithms with their largest key sizes.

No figure of this display is published. So it is told by the names of its columns, whatever its heading says,
and the columns are taken in the order in which they are named.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import pyparsing as pp

from zscope.parsers.issues import Code
from zscope.parsers.text.out import NOTHING_PRINTED, shown

if TYPE_CHECKING:
    from zscope.parsers.text.out import Out
    from zscope.parsers.text.report import Line

TABLE = "gsk_crypto"
_SIZES = {"HARDWARE": "hardware_bits", "SOFTWARE": "software_bits"}
_SIZE = pp.Group(pp.Located(pp.CaselessKeyword("Hardware") | pp.CaselessKeyword("Software")))
_ALGORITHM = pp.Regex(r"(?i)algorithms?\b").suppress()
_NAMES = (_ALGORITHM + _SIZE[1, 2]("sizes") | _SIZE[2]("sizes")) + pp.StringEnd()
_FIELD = re.compile(r"\S+(?: \S+)*")
_QUOTES = "\"'"


class _Span(NamedTuple):
    text: str
    start: int
    end: int

    def below(self, name: _Span) -> bool:
        """Whether a value stands, at least in part, below the name of a column."""
        return self.start < name.end and name.start < self.end


def has_columns(body: Sequence[Line]) -> bool:
    """Whether one of these lines names the columns of the display."""
    return any(_names(line.text) for line in body)


def read(out: Out, body: Sequence[Line], heading_line: int) -> None:
    """Make rows of the lines after the heading."""
    lines = [line for line in body if line.text.strip()]
    begins = next((index for index, line in enumerate(lines) if _names(line.text)), None)
    if begins is None:
        found = f"{shown(lines[0].text)} stands" if lines else "the display ends"
        told = f"{found} where 'Hardware' and 'Software' were expected; the display is left out"
        out.issue(Code.REPORT_UNREADABLE, told, lines[0].no if lines else heading_line, 1)
        return
    names = _names(lines[begins].text)
    for line in lines[:begins]:
        out.unknown(line.no, line.text)
    for index, line in enumerate(lines[begins + 1 :], begins + 2):
        if _names(line.text):
            told = "a second display seems to begin here, without its heading; nothing is taken from here on"
            out.issue(Code.REPORT_UNREADABLE, told, line.no, 1)
            return
        # A number alone in the next line may be the rest of the last one here.
        goes_on = index < len(lines) and lines[index].text.strip().isdecimal()
        if goes_on or not _row(out, names, line):
            out.unknown(line.no, line.text)


def _row(out: Out, names: Sequence[_Span], line: Line) -> bool:
    """Make a row; False if it is not certain which value is in which column."""
    algorithm, *values = [_Span(found[0], found.start(), found.end()) for found in _FIELD.finditer(line.text)]
    if not algorithm.text.strip("-"):
        return True
    if len(values) == len(names):
        printed = {name.text: value.text for name, value in zip(names, values, strict=True)}
    else:
        pairs = [(name.text, value.text) for name in names for value in values if value.below(name)]
        printed = dict(pairs)
        if not len(printed) == len(pairs) == len(values) > 0:
            return False
    row, beyond = {"algorithm": algorithm.text}, {}
    for name, text in printed.items():
        plain = text.strip(_QUOTES)
        if plain.isdecimal() or plain in NOTHING_PRINTED:
            row[_SIZES[name]] = plain
        else:
            beyond[name.capitalize()] = text
    out.row(TABLE, line.no, row, extra=beyond)
    return True


def _names(text: str) -> list[_Span]:
    """The columns that a line names behind the algorithm; none if it is another line."""
    if "WARE" not in text.upper():
        return []
    try:
        sizes = _NAMES.parse_string(text)["sizes"]
    except pp.ParseException:
        return []
    found = [_Span(place["value"][0].upper(), place["locn_start"], place["locn_end"]) for place in sizes]
    return found if len({name.text for name in found}) == len(found) else []
