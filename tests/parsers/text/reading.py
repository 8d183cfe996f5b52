"""Read lines of text with a grammar, as if the report splitter had returned them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zscope.parsers.issues import Code, Issue, Issues
from zscope.parsers.text.captured_report import CapturedReport, Grammar, Line
from zscope.parsers.text.report_rows import FileRows, ReportSummary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Row = dict[str, Any]
FILE = "report.txt"
"""The value of the column `file` in all rows."""


@dataclass(frozen=True)
class Reading:
    """The result of reading the reports of a file."""

    tables: dict[str, list[Row]]
    issues: list[Issue]
    reports: list[ReportSummary]

    @property
    def rows(self) -> list[Row]:
        """Return the rows of all tables."""
        return [row for rows in self.tables.values() for row in rows]

    @property
    def names(self) -> list[str]:
        """Return the names of the reports."""
        return [report.name for report in self.reports]


def numbered(lines: Iterable[str], first: int = 1) -> list[Line]:
    """Return the lines with their numbers; trailing blanks are unchanged."""
    return [Line(number, text) for number, text in enumerate(lines, first)]


def in_turn(*reports: Iterable[str]) -> list[list[Line]]:
    """Return the lines of reports that follow each other in a file, numbered throughout."""
    all_numbered: list[list[Line]] = []
    first = 1
    for lines in reports:
        all_numbered.append(numbered(lines, first))
        first += len(all_numbered[-1])
    return all_numbered


def read_reports(
    grammar: Callable[[FileRows], Grammar], tables: Iterable[str], reports: Iterable[CapturedReport]
) -> Reading:
    """Read reports one after another with a grammar; these tables are requested."""
    sheet = FileRows(dict.fromkeys(tables), Issues(), FILE)
    reader = grammar(sheet)
    for report in reports:
        reader.read(report)
    reader.finish()
    rows = {table: batch.to_pylist() for table, batch in sheet.remaining_batches()}
    return Reading(rows, list(sheet.issues), sheet.reports)


def codes(issues: Iterable[Issue]) -> list[tuple[Code, int | None]]:
    """Return the codes and lines of the issues."""
    return [(issue.code, issue.line_no) for issue in issues]
