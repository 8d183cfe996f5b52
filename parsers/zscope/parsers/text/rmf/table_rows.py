"""Rows of the processor and partition tables of listings, and the issues about them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from zscope.parsers.issues import Code
from zscope.parsers.text.report_rows import quoted
from zscope.parsers.text.rmf.interval_values import label_line
from zscope.parsers.text.rmf.table_layout import HeadingUnreadableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from zscope.parsers.text.captured_report import Line
    from zscope.parsers.text.report_rows import ReportRows
    from zscope.parsers.text.rmf.page_write import Row
    from zscope.parsers.text.rmf.table_layout import RmfLayout, RowFigures, RowProblem

_Columns = TypeVar("_Columns")
_ABOUT = ("row_kind", "cpu_type_name", "cpu_id", "thread", "partition_name")
"""Columns that identify a row in both tables."""
_RULED = re.compile(r"(?=.*--)[-A-Z/% ]+$", re.ASCII)


@lru_cache(maxsize=1024)
def is_ruled(text: str) -> bool:
    """Return whether a line has titles over groups of columns, or hyphens above a total."""
    return _RULED.match(text) is not None and not label_line(text).known


@dataclass(slots=True)
class RmfTableRows:
    """The rows of one table in one interval."""

    out: ReportRows
    table: str
    first_headings: str
    """Beginning of the heading line, for the issue about rows without headings."""
    rows: list[dict[str, Any]] = field(default_factory=list)
    _told_headless: bool = False
    _by_key: dict[tuple[Any, ...], dict[str, Any]] = field(default_factory=dict)
    """Rows by their key."""
    _rowless: Line | None = None
    """The last heading line, until a row follows it."""
    _told_again: bool = False
    _handed_on: int = 0
    """The number of rows that were handed on."""

    def headings(
        self, line: Line, columns_of: Callable[[str], _Columns], layout_of: Callable[[_Columns], RmfLayout]
    ) -> _Columns | None:
        """Return the columns by a heading line."""
        self._told_headless = True
        self._rowless = line
        try:
            columns = columns_of(line.text)
        except HeadingUnreadableError as error:
            problem = f"the column headings are not in the usual order at {error}: the rows are skipped"
            self.out.issue(Code.REPORT_UNREADABLE, problem, line.no, 1, table=self.table)
            self._rowless = None
            return None
        if missing := layout_of(columns).missing:
            problem = f"the column headings end before {missing}; the columns from there on are null"
            self.out.issue(Code.REPORT_CUT, problem, line.no, len(line.text) + 1, table=self.table)
        for heading in layout_of(columns).doubtful:
            problem = f"the column heading {quoted(heading.words)} is unknown, and missing at its place are "
            problem += f"{', '.join(heading.lacking)}: if one of them has a wrong letter, its column is null"
            self.out.issue(
                Code.UNKNOWN_COLUMN, problem, line.no, heading.start, field=heading.words, table=self.table
            )
        return columns

    def report_headless(self, line: Line, column: int) -> None:
        """Report rows without column headings, once for all of them."""
        self.out.skipped([line])
        if not self._told_headless:
            problem = f"rows without column headings above them ({self.first_headings}) are skipped"
            self.out.issue(Code.REPORT_UNREADABLE, problem, line.no, column, table=self.table)
            self._told_headless = True

    def report_problem(self, line: Line, problem: RowProblem | None) -> None:
        """Report the problem of a row."""
        if problem is not None:
            code = Code.REPORT_CUT if problem.cut else Code.REPORT_UNREADABLE
            self.out.issue(code, problem.text, line.no, problem.column, table=self.table)

    def report_total_without_rows(self, line: Line) -> None:
        """Report a total without rows above it."""
        problem = "there are no rows above this total: the kind of its processors is not known"
        self.out.issue(Code.REPORT_CUT, problem, line.no, 1, table=self.table)

    def report_missing_rows(self) -> None:
        """Report headings without rows, and types of processors without a total."""
        if self._rowless is not None:
            problem = "the table ends after its column headings: rows were expected"
            self.out.issue(Code.REPORT_CUT, problem, self._rowless.no, 1, table=self.table)
        totals = {row.get("cpu_type_name") for row in self.rows if row["row_kind"] == "total"}
        for kind in types_of(self.rows) if None not in totals else ():
            if kind not in totals:
                last = max(row["line_no"] for row in self.rows if row.get("cpu_type_name") == kind)
                problem = f"there is no total of {kind} after these rows: the table may be cut"
                self.out.issue(Code.REPORT_CUT, problem, last, 1, table=self.table)

    def add_figures(self, line: Line, figures: RowFigures, known: dict[str, Any]) -> dict[str, Any]:
        """Add a row with the printed figures and further values.

        Only the first of several rows with the same key is added, and returned.
        """
        values = {**figures.values, **figures.known, **known}
        row = self.out.typed(self.table, line.no, values, figures.all_extra())
        return self.add_row(line, row, {})

    def add_row(self, line: Line, row: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
        """Add a row of typed values, and further values to it.

        Only the first of several rows with the same key is added, and returned.
        """
        self._rowless = None
        row.update(known, line_no=line.no)
        key = tuple(map(row.get, _ABOUT)) if row.get("cpu_type_name") else None
        if key is not None and (before := self._by_key.setdefault(key, row)) is not row:
            self._tell_again(line, before["line_no"])
            return before
        self._told_again = False
        self.out.used(line.no)
        self.rows.append(row)
        return row

    def end_page(self) -> None:
        """Hand on the rows of a page."""
        self.out.add_rows(self.table, self.rows[self._handed_on :])
        self._handed_on = len(self.rows)

    def _tell_again(self, line: Line, before: int) -> None:
        """Report a repeated row, once for adjacent ones."""
        self.out.skipped([line])
        if not self._told_again:
            problem = f"the row has the same key as the one in line {before}; it is skipped"
            self.out.issue(Code.REPORT_REPEATED, problem, line.no, 1, table=self.table)
            self._told_again = True


def types_of(rows: Iterable[Row]) -> list[str]:
    """Return the processor types of the rows, in order."""
    return list(dict.fromkeys(row["cpu_type_name"] for row in rows if row.get("cpu_type_name")))
