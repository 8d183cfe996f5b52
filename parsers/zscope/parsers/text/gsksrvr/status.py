"""Cache status: how full a cache is, and how many sessions each user has in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import pyparsing as pp

from zscope.parsers.issues import Code
from zscope.parsers.text.out import shown

if TYPE_CHECKING:
    from zscope.parsers.text.gsksrvr.heading import Cache
    from zscope.parsers.text.out import Out
    from zscope.parsers.text.report import Line

TABLE = "gsk_cache_status"
DATA_SPACE = "*DSPACE*"
_NOT_APPLICABLE = "N/A"
_KNOWN_LABELS = ("USER", "COUNT", "MAX SIZE")
_LONGEST_USER = 8

_NAME = pp.Regex(r"\S+(?: \S+)*")
_NAMES = (
    pp.CaselessKeyword("User")
    + pp.Group(pp.Located(pp.CaselessKeyword("Count")))
    + pp.Group(pp.Located(_NAME))[0, 6]
    + pp.StringEnd()
)
_TOKEN = re.compile(r"\S+")
_USED_OF_MAXIMUM = re.compile(r"(\d+M?)/(\d+M?)$", re.ASCII | re.IGNORECASE)


class _Column(NamedTuple):
    label: str
    ends: frozenset[int]
    """Where its values may end, counted from the first character of the line; empty for anywhere."""


_USUAL = (_Column("Count", frozenset({23})), _Column("Max size", frozenset({45})))
"""Where the columns are when the line that names them is missing."""


class _Value(NamedTuple):
    text: str
    end: int


@dataclass(slots=True)
class _Reader:
    out: Out
    cache: Cache
    columns: Sequence[_Column] = _USUAL
    named: bool = False
    """Whether the line with the names of the columns was there."""
    data_space: bool = False
    users: set[str] = field(default_factory=set)
    unknown: list[Line] = field(default_factory=list)

    @property
    def rows(self) -> bool:
        return self.data_space or bool(self.users)

    def take(self, line: Line) -> bool:
        """Read one line; False where a second display begins, whose heading is not there."""
        text = line.text.strip()
        if found := _columns(text):
            if self.named or self.rows:
                return False
            self.columns, self.named = found, True
            self._tell_unknown_columns(line)
            return True
        user, *values = [_Value(token[0], token.end()) for token in _TOKEN.finditer(text)]
        if user.text.upper() == DATA_SPACE:
            if self.rows:
                return False
            return self._data_space(line, values)
        return self._user(line, user.text, values)

    def _data_space(self, line: Line, values: list[_Value]) -> bool:
        self.data_space = True
        printed = self._aligned(line, values)
        row = {"cache": self.cache.value, "row_kind": "data-space"}
        count = printed.pop("Count", None)
        if count is not None and (found := _USED_OF_MAXIMUM.match(count)):
            row |= {"used_mb": found[1], "maximum_mb": found[2]}
        elif count is not None:
            self._bad(line, "Count", count, "used and maximum size such as 41/256")
        beyond = {label: text for label, text in printed.items() if text.upper() != _NOT_APPLICABLE}
        self.out.row(TABLE, line.no, row, extra=beyond)
        return True

    def _user(self, line: Line, user: str, values: list[_Value]) -> bool:
        fits = len(user) <= _LONGEST_USER and 1 <= len(values) <= len(self.columns)
        if not fits or not any(value.text[0].isdigit() for value in values):
            self.unknown.append(line)
            return True
        if user.upper() in self.users:
            return False
        printed = self._aligned(line, values)
        if not printed:
            return True
        self.users.add(user.upper())
        row = {
            "cache": self.cache.value,
            "row_kind": "user",
            "user_id": user,
            "entry_count": printed.pop("Count", None),
            "max_entry_bytes": printed.pop("Max size", None),
        }
        self.out.row(TABLE, line.no, row, extra=printed)
        return True

    def _aligned(self, line: Line, values: list[_Value]) -> dict[str, str]:
        """The values that end where their column ends: any other may have lost digits or be another's."""
        taken: dict[str, str] = {}
        for column, value in zip(self.columns, values, strict=False):
            if not column.ends or value.end in column.ends:
                taken[column.label] = value.text
            else:
                self._bad(line, column.label, value.text, f"a value that ends in column {max(column.ends)}")
        needed = len(self.columns) if self.named else 1
        for column in self.columns[len(values) : needed]:
            told = "no value is printed; the column is null"
            self.out.issue(Code.BAD_VALUE, told, line.no, field=column.label, table=TABLE)
        if len(values) > len(self.columns):
            self.unknown.append(line)
        return taken

    def _bad(self, line: Line, label: str, text: str, expected: str) -> None:
        told = f"{shown(text)} is not {expected}; the column is null"
        self.out.issue(Code.BAD_VALUE, told, line.no, field=label, table=TABLE)

    def _tell_unknown_columns(self, line: Line) -> None:
        for column in self.columns:
            if column.label.upper() not in _KNOWN_LABELS:
                told = f"the column {shown(column.label)} is not known: its values are in `extra`"
                self.out.issue(Code.UNKNOWN_COLUMN, told, line.no, table=TABLE)


def read(out: Out, cache: Cache, body: Sequence[Line], heading_line: int) -> None:
    """Make rows of the lines after the heading."""
    reader = _Reader(out, cache)
    for line in body:
        if line.text.strip() and not reader.take(line):
            told = "a second display seems to begin here, without its heading; nothing is taken from here on"
            out.issue(Code.REPORT_UNREADABLE, told, line.no, 1)
            break
    if not reader.rows:
        first = next((line for line in body if line.text.strip()), None)
        found = f"{shown(first.text)} stands" if first else "the display ends"
        told = f"{found} where the line {DATA_SPACE} or a user with a count was expected"
        out.issue(Code.REPORT_UNREADABLE, told, first.no if first else heading_line, 1)
        return
    for line in reader.unknown:
        out.unknown(line.no, line.text)
    if not reader.data_space:
        out.issue(Code.REPORT_CUT, f"the line {DATA_SPACE} of this display is missing", heading_line)


def _columns(text: str) -> Sequence[_Column] | None:
    """The columns that a line names, without the first one; None if it does not name any."""
    if text[:4].upper() != "USER":
        return None
    try:
        _, *located = _NAMES.parse_string(text)
    except pp.ParseException:
        return None
    usual = {column.label.upper(): column for column in _USUAL}
    single_blanks = "  " not in text
    columns = []
    for place in located:
        label = place["value"][0]
        known = usual.get(label.upper())
        ends = frozenset({place["locn_end"]}) | (known.ends if known else frozenset())
        columns.append(_Column(known.label if known else label, frozenset() if single_blanks else ends))
    return columns
