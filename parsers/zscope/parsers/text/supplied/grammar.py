"""Supplied tables as CSV: a line that names the columns of a declared table, and lines with values below it.

Columns may come in any order, further ones are kept in `extra`. What is wrong with a line is told, and all
other lines are taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zscope.parsers.issues import Code
from zscope.parsers.text.coding import LONGEST_LINE
from zscope.parsers.text.out import Out
from zscope.parsers.text.supplied.cells import cells, says_something
from zscope.parsers.text.supplied.forms import forms_for
from zscope.parsers.text.supplied.taker import Rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zscope.parsers.inputs import Options
    from zscope.parsers.text.out import Sheet
    from zscope.parsers.text.report import Line, Report
    from zscope.parsers.text.supplied.forms import Heading
    from zscope.parsers.text.supplied.taker import Taker


class SuppliedCsv:
    """Reads the supplied tables of one file."""

    def __init__(self, sheet: Sheet, options: Options) -> None:
        self._sheet = sheet
        self._forms = forms_for(options.mapping)
        self._rules = Rules(sheet, options)

    def read(self, report: Report) -> None:
        """Take the lines from one that names the columns to the next such line, or the end of the file."""
        first, *lines = report.lines
        heading = self._forms.heading(first.text)
        assert heading is not None, "a report of this family begins with the names of its columns"
        out = Out(self._sheet, report.origin)
        if problem := _doubled(heading):
            out.issue(Code.REPORT_UNREADABLE, f"{problem}; no line below is taken", first.no, 1)
            return
        if heading.others:
            _tell_others(out, heading, first.no)
        taker = self._rules.taker(report.origin, heading.form, first.no)
        filled = [line for line in lines if says_something(line.text)]
        for line in filled:
            _take(taker, out, heading, line)
        if not filled:
            out.issue(Code.REPORT_CUT, "no line stands behind the names of the columns", first.no)
        if not report.complete:
            told = f"nothing is taken behind line {lines[-1].no:,}: put the rest into another file"
            out.issue(Code.REPORT_CUT, told, lines[-1].no)
        taker.finish()

    def finish(self) -> None:
        """There are no more in this file."""


def _tell_others(out: Out, heading: Heading, line: int) -> None:
    others = " and ".join(form.table.name for form in heading.others)
    taken = heading.form.table.name
    told = f"the columns are those of {others}, too: for these put theirs into a file of their own"
    out.issue(Code.OTHER_REPORT, f"{told}; the lines are taken as {taken}", line, table=taken)


def _doubled(heading: Heading) -> str | None:
    """What is wrong with the names of the columns."""
    small = [name.lower() for name in heading.names if name]
    if doubled := sorted({name for name in small if small.count(name) > 1}):
        return f"the column {', '.join(doubled)} is there twice"
    for column in heading.columns:
        if column and heading.columns.count(column) > 1:
            pairs = zip(heading.names, heading.columns, strict=True)
            names = " and ".join(name for name, meant in pairs if meant == column)
            label = heading.form.label(column)
            return f"{names} are both {label}: say with --map {label}=NAME which is meant"
    return None


def _take(taker: Taker, out: Out, heading: Heading, line: Line) -> None:
    values = _without_last_separator(cells(line.text, heading.separator), len(heading.names))
    table = heading.form.table.name
    if len(line.text) >= LONGEST_LINE:
        told = f"the line has {LONGEST_LINE:,} characters or more; it is left out"
        out.issue(Code.UNKNOWN_LINE, told, line.no, table=table)
        return
    if len(values) != len(heading.names):
        told = (
            f"{len(values)} values stand where {len(heading.names)} columns are named; the line is left out"
        )
        out.issue(Code.UNKNOWN_LINE, told, line.no, table=table)
        return
    told_by, extra = dict[str, str](), dict[str, str]()
    for no, (name, column, value) in enumerate(zip(heading.names, heading.columns, values, strict=True), 1):
        if column:
            told_by[column] = value
        elif value:
            extra[name.lower() or f"column {no}"] = value
    taker.take(line.no, told_by, extra, heading.separator)


def _without_last_separator(values: Sequence[str], expected: int) -> Sequence[str]:
    """Some programs put a separator behind the last value, too."""
    return values[:-1] if len(values) == expected + 1 and not values[-1] else values
