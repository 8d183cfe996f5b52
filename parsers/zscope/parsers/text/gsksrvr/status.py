"""Cache status: read and write the size of a cache and the number of sessions of each user."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import pyparsing as pp

from zscope.parsers.issues import Code
from zscope.parsers.text.gsksrvr.gsk_heading import Cache, Display, heading_lines
from zscope.parsers.text.report_rows import quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zscope.parsers.text.captured_report import Line
    from zscope.parsers.text.report_rows import ReportRows


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


class _StatusColumn(NamedTuple):
    label: str
    ends: frozenset[int]
    """Where its values may end, counted from the start of the line; empty for any column."""


_USUAL = (_StatusColumn("Count", frozenset({23})), _StatusColumn("Max size", frozenset({45})))
"""The columns if the line that names them is missing."""


class _StatusValue(NamedTuple):
    text: str
    end: int


@dataclass(slots=True)
class _StatusReader:
    out: ReportRows
    cache: Cache
    columns: Sequence[_StatusColumn] = _USUAL
    named: bool = False
    """Whether the line with the column names was read."""
    data_space: bool = False
    users: set[str] = field(default_factory=set)
    unknown: list[Line] = field(default_factory=list)

    @property
    def rows(self) -> bool:
        return self.data_space or bool(self.users)

    def take(self, line: Line) -> bool:
        """Read one line; return False if a second display begins without a heading."""
        text = line.text.strip()
        if columns := _columns(text):
            if self.named or self.rows:
                return False
            self.columns, self.named = columns, True
            self.out.furniture(line.no)
            self._report_unknown_columns(line)
            return True
        user, *values = [_StatusValue(token[0], token.end()) for token in _TOKEN.finditer(text)]
        if user.text.upper() == DATA_SPACE:
            if self.rows:
                return False
            return self._data_space(line, values)
        return self._user(line, user.text, values)

    def _data_space(self, line: Line, values: list[_StatusValue]) -> bool:
        self.data_space = True
        printed = self._aligned(line, values)
        row = {"cache": self.cache.value, "row_kind": "data-space"}
        count = printed.pop("Count", None)
        if count is not None and (match := _USED_OF_MAXIMUM.match(count)):
            row |= {"used_mb": match[1], "maximum_mb": match[2]}
        elif count is not None:
            self._bad(line, "Count", count, "used and maximum size such as 41/256")
        extra = {label: text for label, text in printed.items() if text.upper() != _NOT_APPLICABLE}
        self.out.row(TABLE, line.no, row, extra=extra)
        return True

    def _user(self, line: Line, user: str, values: list[_StatusValue]) -> bool:
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

    def _aligned(self, line: Line, values: list[_StatusValue]) -> dict[str, str]:
        """Return the values that end where their column ends: others may be cut or in the wrong column."""
        aligned: dict[str, str] = {}
        for column, value in zip(self.columns, values, strict=False):
            if not column.ends or value.end in column.ends:
                aligned[column.label] = value.text
            else:
                self._bad(line, column.label, value.text, f"a value that ends in column {max(column.ends)}")
        needed = len(self.columns) if self.named else 1
        for column in self.columns[len(values) : needed]:
            message = "no value is printed; the column is null"
            self.out.issue(Code.BAD_VALUE, message, line.no, field=column.label, table=TABLE)
        if len(values) > len(self.columns):
            self.unknown.append(line)
        return aligned

    def _bad(self, line: Line, label: str, text: str, expected: str) -> None:
        message = f"{quoted(text)} is not {expected}; the column is null"
        self.out.issue(Code.BAD_VALUE, message, line.no, field=label, table=TABLE)

    def _report_unknown_columns(self, line: Line) -> None:
        for column in self.columns:
            if column.label.upper() not in _KNOWN_LABELS:
                message = f"the column {quoted(column.label)} is unknown; its values are stored in `extra`"
                self.out.issue(Code.UNKNOWN_COLUMN, message, line.no, table=TABLE)


def read(out: ReportRows, cache: Cache, body: Sequence[Line], heading_line: int) -> None:
    """Write the rows of a display; `heading_line` is the number of its first line."""
    reader = _StatusReader(out, cache)
    for at, line in enumerate(body):
        if line.text.strip() and not reader.take(line):
            message = "a second display seems to start here without a heading; the rest is skipped"
            out.issue(Code.REPORT_UNREADABLE, message, line.no, 1)
            out.skipped(body[at:])
            break
    if not reader.rows:
        first = next((line for line in body if line.text.strip()), None)
        instead = f"the line is {quoted(first.text)}" if first else "the display ends"
        message = f"expected the line {DATA_SPACE} or a user with a count, but {instead}"
        out.issue(Code.REPORT_UNREADABLE, message, first.no if first else heading_line, 1)
        out.skipped(body)
        return
    for line in reader.unknown:
        out.add_unknown_line(line.no, line.text)
    if not reader.data_space:
        out.issue(Code.REPORT_CUT, f"the line {DATA_SPACE} of this display is missing", heading_line)


def _columns(text: str) -> Sequence[_StatusColumn] | None:
    """Return the columns that a line names after the first one, or None."""
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
        columns.append(_StatusColumn(known.label if known else label, frozenset() if single_blanks else ends))
    return columns


def status_lines(
    rows: Sequence[Mapping[str, Any]], *, sizes: bool = True, split_heading: bool = True
) -> list[str]:
    """Return the lines of a display; `sizes` is false for the form before z/OS 3.1.

    >>> status_lines([{"cache": "ticket", "row_kind": "data-space", "used_mb": 3, "maximum_mb": 20}])[-1]
    '*DSPACE*           3/20                   N/A'
    """
    cache = Cache(rows[0]["cache"])
    heading = heading_lines(cache, Display.STATUS, split=split_heading)
    return [*heading, _line("User", "Count", "Max size", sizes), *(_row(row, sizes) for row in rows)]


def _row(row: Mapping[str, Any], sizes: bool) -> str:
    if row["row_kind"] == "data-space":
        return _line(DATA_SPACE, f"{row['used_mb']}/{row['maximum_mb']}", "N/A", sizes)
    return _line(row["user_id"], row["entry_count"], row.get("max_entry_bytes"), sizes)


def _line(user: str, count: object, size: object, sizes: bool) -> str:
    line = f"{user:<8}{_shown(count):>15}"
    return f"{line}{_shown(size):>22}" if sizes else line


def _shown(value: object) -> str:
    return "N/A" if value is None else str(value)
