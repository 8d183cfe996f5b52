"""What the tables of the listing have in common: headings found or not, rows put, trouble told."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from zscope.parsers.issues import Code
from zscope.parsers.text.rmf.cells import HeadingUnreadable
from zscope.parsers.text.rmf.facts import label_line

if TYPE_CHECKING:
    from zscope.parsers.text.out import Out
    from zscope.parsers.text.report import Line
    from zscope.parsers.text.rmf.cells import Layout
    from zscope.parsers.text.rmf.figures import Figures, Trouble

_Columns = TypeVar("_Columns")
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

    def headings(
        self, line: Line, columns_of: Callable[[str], _Columns], layout_of: Callable[[_Columns], Layout]
    ) -> _Columns | None:
        """The columns by a heading line."""
        self._told_headless = True
        try:
            columns = columns_of(line.text)
        except HeadingUnreadable as error:
            problem = f"the column headings are not in the usual order at {error}: the rows are left out"
            self.out.issue(Code.REPORT_UNREADABLE, problem, line.no, 1, table=self.table)
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

    def put(self, line: Line, figures: Figures, known: dict[str, Any]) -> dict[str, Any]:
        """A row with the figures as they are printed, and what is known beyond them."""
        extra = dict(figures.extra)
        if figures.changed:
            extra["changed"] = ", ".join(figures.changed)
        row = self.out.row(self.table, line.no, {**figures.values, **known}, extra)
        self.rows.append(row)
        return row
