"""Helpers that read one NETSTAT report."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.parsers.text.reading import Reading, Row, numbered, read_reports

from zscope.parsers.text.captured_report import CapturedReport, Origin, ReportSource
from zscope.parsers.text.netstat.netstat_grammar import Netstat
from zscope.schemas.reports import report_table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zscope.parsers.issues import Issue


def read_display(
    tables: Iterable[str], text: str | Iterable[str], origin: Origin | None = None, *, complete: bool = True
) -> Reading:
    """Read one report, by default from a terminal."""
    lines = text.splitlines() if isinstance(text, str) else text
    report = CapturedReport("netstat", numbered(lines), origin or Origin(ReportSource.TERMINAL), complete)
    return read_reports(Netstat, tables, [report])


def read_values(table: str, text: str | Iterable[str]) -> tuple[list[Row], list[Issue]]:
    """Return the rows without common columns and nulls, with `extra` as a dictionary, and the issues."""
    reading = read_display([table], text)
    names = [*(printed.column for printed in report_table(table).columns), "extra"]
    rows = [{name: row[name] for name in names if row[name] is not None} for row in reading.rows]
    return [row | ({"extra": json.loads(row["extra"])} if "extra" in row else {}) for row in rows], (
        reading.issues
    )
