"""Reads lines of text with a grammar, as if the line layer had handed them on as reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from zscope.parsers.issues import Code, Issue, Issues
from zscope.parsers.text.out import Found, Sheet
from zscope.parsers.text.report import Grammar, Line, Report

Row = dict[str, Any]
FILE = "report.txt"
"""The name all rows have in their column `file`."""


@dataclass(frozen=True)
class Reading:
    """What a grammar made of the reports of a file."""

    tables: dict[str, list[Row]]
    issues: list[Issue]
    found: list[Found]

    @property
    def rows(self) -> list[Row]:
        """The rows of all tables."""
        return [row for rows in self.tables.values() for row in rows]

    @property
    def names(self) -> list[str]:
        """Names of the reports that were recognised."""
        return [found.name for found in self.found]


def numbered(lines: Iterable[str], first: int = 1) -> list[Line]:
    """Lines with their numbers; blanks at their ends stay."""
    return [Line(number, text) for number, text in enumerate(lines, first)]


def in_turn(*reports: Iterable[str]) -> list[list[Line]]:
    """The lines of reports that follow one another in a file, numbered throughout."""
    all_numbered: list[list[Line]] = []
    first = 1
    for lines in reports:
        all_numbered.append(numbered(lines, first))
        first += len(all_numbered[-1])
    return all_numbered


def read_reports(
    grammar: Callable[[Sheet], Grammar], tables: Iterable[str], reports: Iterable[Report]
) -> Reading:
    """What a grammar makes of reports, one after another, when these tables are asked for."""
    sheet = Sheet(dict.fromkeys(tables), Issues(), FILE)
    reader = grammar(sheet)
    for report in reports:
        reader.read(report)
    reader.finish()
    rows = {table: batch.to_pylist() for table, batch in sheet.rest()}
    return Reading(rows, list(sheet.issues), sheet.found)


def codes(issues: Iterable[Issue]) -> list[tuple[Code, int | None]]:
    """What the issues are, and in which lines."""
    return [(issue.code, issue.line_no) for issue in issues]
