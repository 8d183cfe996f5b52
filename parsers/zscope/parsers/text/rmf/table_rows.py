"""What the tables of the listing have in common: headings found or not, rows put, trouble told."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from zscope.parsers.issues import Code
from zscope.parsers.text.rmf.arithmetic_checks import types_of
from zscope.parsers.text.rmf.cells import HeadingUnreadable
from zscope.parsers.text.rmf.facts import label_line

if TYPE_CHECKING:
    from zscope.parsers.text.out import Out
    from zscope.parsers.text.report import Line
    from zscope.parsers.text.rmf.cells import Layout
    from zscope.parsers.text.rmf.figures import Figures, Trouble

_Columns = TypeVar("_Columns")
_ABOUT = ("row_kind", "cpu_type_name", "cpu_id", "thread", "partition_name")
"""Columns of both tables, of which there is one row for each combination."""
_RULED = re.compile(r"(?=.*--)[-A-Z/% ]+$", re.ASCII)


def is_ruled(line: Line) -> bool:
    """Whether it is a line of groups of columns, or one that underlines figures."""
    return _RULED.match(line.text) is not None and not label_line(line).known


@dataclass(slots=True)
class TableRows:
    """The rows of one table in one interval."""

    out: Out
    table: str
    first_headings: str
    """What a heading line begins with, for the message about rows without one."""
    rows: list[dict[str, Any]] = field(default_factory=list)
    _told_headless: bool = False
    _by_key: dict[tuple[Any, ...], dict[str, Any]] = field(default_factory=dict)
    """Rows by what they are about."""
    _rowless: Line | None = None
    """The last heading line, as long as nothing was below it."""
    _told_again: bool = False

    def headings(
        self, line: Line, columns_of: Callable[[str], _Columns], layout_of: Callable[[_Columns], Layout]
    ) -> _Columns | None:
        """The columns by a heading line."""
        self._told_headless = True
        self._rowless = line
        try:
            columns = columns_of(line.text)
        except HeadingUnreadable as error:
            problem = f"the column headings are not in the usual order at {error}: the rows are left out"
            self.out.issue(Code.REPORT_UNREADABLE, problem, line.no, 1, table=self.table)
            self._rowless = None
            return None
        if missing := layout_of(columns).missing:
            problem = f"the column headings end before {missing}; the columns from there on are null"
            self.out.issue(Code.REPORT_CUT, problem, line.no, len(line.text) + 1, table=self.table)
        return columns

    def tell_headless(self, line: Line, column: int) -> None:
        """A row has no column headings above it: told once for all of them."""
        if not self._told_headless:
            problem = f"rows without column headings above them ({self.first_headings}) are left out"
            self.out.issue(Code.REPORT_UNREADABLE, problem, line.no, column, table=self.table)
            self._told_headless = True

    def tell(self, line: Line, trouble: Trouble | None) -> None:
        """What is wrong with a row."""
        if trouble is not None:
            code = Code.REPORT_CUT if trouble.cut else Code.REPORT_UNREADABLE
            self.out.issue(code, trouble.text, line.no, trouble.column, table=self.table)

    def tell_typeless(self, line: Line) -> None:
        """A total stands for the rows above it, and there are none."""
        problem = "there are no rows above this total: the kind of its processors is not known"
        self.out.issue(Code.REPORT_CUT, problem, line.no, 1, table=self.table)

    def tell_end(self) -> None:
        """There are no more lines: the last headings must have rows, and the rows of each type a total."""
        if self._rowless is not None:
            problem = "the table ends behind its column headings: rows were expected"
            self.out.issue(Code.REPORT_CUT, problem, self._rowless.no, 1, table=self.table)
        totals = {row.get("cpu_type_name") for row in self.rows if row["row_kind"] == "total"}
        for kind in types_of(self.rows) if None not in totals else ():
            if kind not in totals:
                last = max(row["line_no"] for row in self.rows if row.get("cpu_type_name") == kind)
                problem = f"there is no total of {kind} below these rows: the table may be cut"
                self.out.issue(Code.REPORT_CUT, problem, last, 1, table=self.table)

    def put(self, line: Line, figures: Figures, known: dict[str, Any]) -> dict[str, Any]:
        """A row with the figures as they are printed, and what is known beyond them.

        The first row about the same thing stays the only one; it is what is given back then.
        """
        self._rowless = None
        key = _about({**figures.values, **known})
        if key is not None and (before := self._by_key.get(key)) is not None:
            self._tell_again(line, before["line_no"])
            return before
        self._told_again = False
        extra = dict(figures.extra)
        if figures.changed:
            extra["changed"] = ", ".join(figures.changed)
        row = self.out.row(self.table, line.no, {**figures.values, **known}, extra)
        self.rows.append(row)
        if key is not None:
            self._by_key[key] = row
        return row

    def _tell_again(self, line: Line, before: int) -> None:
        """Told once for all that are next to each other."""
        if not self._told_again:
            problem = f"the row is about the same as the one in line {before}: what is repeated is left out"
            self.out.issue(Code.REPORT_REPEATED, problem, line.no, 1, table=self.table)
            self._told_again = True


def _about(values: dict[str, Any]) -> tuple[Any, ...] | None:
    """What tells a row from all others; None where it is not known whole."""
    if not values.get("cpu_type_name"):
        return None
    return tuple(values.get(name) for name in _ABOUT)
