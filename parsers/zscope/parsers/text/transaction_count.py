"""Transaction counts that someone supplies as CSV: system, start, end, transactions and perhaps a workload.

The columns are told by their names, in any order; others are kept in `extra`. Times have their offset from
UTC with them: a count is put beside CPU time by the moment, and an offset would have to be guessed.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from zscope.parsers.issues import Code
from zscope.parsers.text.out import Found, Out, shown
from zscope.parsers.text.report import Told

if TYPE_CHECKING:
    from zscope.parsers.text.out import Sheet
    from zscope.parsers.text.report import Line, Origin, Report

TABLE = "transaction_count"
REQUIRED = ("system", "start", "end", "transactions")
_KNOWN = (*REQUIRED, "workload")
_EXAMPLE = "2026-03-02T10:15:00+01:00 or 2026-03-02T09:15:00Z"
COMMENT = "#"
_LONGEST_HEADING = 1_000
"""Every line of every text is looked at, and some texts have very long ones."""


def names_columns(text: str) -> bool:
    """Whether a line names the columns of a file of counts.

    >>> names_columns("Transactions, System, Start, End"), names_columns("system,start,end")
    (True, False)
    """
    few = len(text) <= _LONGEST_HEADING and text.count(",") >= len(REQUIRED) - 1
    return few and set(REQUIRED) <= set(_names(text))


class TransactionCounts:
    """Reads the counts of one file."""

    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet

    def read(self, report: Report) -> None:
        """Take the lines from one that names the columns to the next such line, or the end of the file."""
        heading, *lines = report.lines
        out = Out(self._sheet, report.origin)
        names = _names(heading.text)
        if doubled := sorted({name for name in names if names.count(name) > 1}):
            told = f"the column {', '.join(doubled)} is there twice; no count is taken"
            out.issue(Code.REPORT_UNREADABLE, told, heading.no, 1)
            return
        first: dict[str, datetime] = {}
        filled = [line for line in lines if line.text.strip() and not line.text.lstrip().startswith(COMMENT)]
        for line in filled:
            if row := self._row(report.origin, names, line):
                first.setdefault(row["system"], row["start_utc"])
        if not filled:
            out.issue(Code.REPORT_CUT, "no count stands behind the names of the columns", heading.no)
        if not report.complete:
            told = f"nothing is taken behind line {lines[-1].no:,}: put the rest into another file"
            out.issue(Code.REPORT_CUT, told, lines[-1].no)
        for system, start in first.items():
            found = Found("TRANSACTION COUNTS", report.origin.source.value, system, _wall(start), heading.no)
            self._sheet.found.append(found)

    def finish(self) -> None:
        """There are no more in this file."""

    def _row(self, origin: Origin, names: Sequence[str], line: Line) -> dict[str, Any] | None:
        """The row of a line, or None where a value is not as it should be, which is told."""
        out = Out(self._sheet, origin)
        cells = _cells(line.text)
        if len(cells) != len(names):
            told = f"{len(cells)} values stand where {len(names)} columns are named; the line is left out"
            out.issue(Code.UNKNOWN_LINE, told, line.no, table=TABLE)
            return None
        told_by = dict(zip(names, cells, strict=True))
        system = told_by["system"] or origin.system
        start, end = (_moment(out, name, told_by[name], line.no) for name in ("start", "end"))
        transactions = _count(out, told_by["transactions"], line.no)
        if not system:
            _refuse(out, "system", "no system is named, and no option names it", line.no)
        if start and end and start >= end:
            _refuse(out, "end", f"{shown(told_by['end'])} is not behind the start", line.no)
            return None
        if start is None or end is None or transactions is None or not system:
            return None
        if told_by["system"]:
            out.lead = {"system": system, "system_from": Told.REPORT.value}
        values = {
            "start_utc": start,
            "end_utc": end,
            "transactions": transactions,
            "workload": told_by.get("workload", ""),
        }
        extra = {name: cell for name, cell in told_by.items() if name not in _KNOWN and cell}
        return out.row(TABLE, line.no, values, extra=extra)


def _names(text: str) -> list[str]:
    return [cell.lower() for cell in _cells(text)]


def _cells(text: str) -> list[str]:
    """The values of a line, without blanks around them; a line that is no CSV is one value."""
    try:
        return [cell.strip() for row in csv.reader([text], skipinitialspace=True) for cell in row]
    except csv.Error:
        return [text]


def _moment(out: Out, column: str, text: str, line: int) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            _refuse(out, column, f"{shown(text)} has no offset from UTC: write it as {_EXAMPLE}", line)
            return None
        return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        _refuse(out, column, f"{shown(text)} is no time with an offset from UTC such as {_EXAMPLE}", line)
        return None


def _count(out: Out, text: str, line: int) -> int | None:
    if text.isascii() and text.isdigit() and len(text) < 20:
        return int(text)
    _refuse(out, "transactions", f"{shown(text)} is no whole number", line)
    return None


def _refuse(out: Out, column: str, problem: str, line: int) -> None:
    told = f"{problem}; the line is left out"
    out.issue(Code.BAD_VALUE, told, line, field=column, table=TABLE)


def _wall(moment: datetime) -> datetime:
    """For the inventory, which has no place for an offset."""
    return moment.replace(tzinfo=None)
