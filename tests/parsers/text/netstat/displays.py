"""Reads one NETSTAT report, and tells what its rows say."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from tests.parsers.text.reading import Reading, Row, numbered, read_reports

from zscope.parsers.text.netstat.grammar import Netstat
from zscope.parsers.text.report import Origin, Report, Source
from zscope.schemas.printed import report_table

if TYPE_CHECKING:
    from zscope.parsers.issues import Issue


def read_display(
    tables: Iterable[str], text: str | Iterable[str], origin: Origin | None = None, *, complete: bool = True
) -> Reading:
    """One report, of a terminal if not told otherwise."""
    lines = text.splitlines() if isinstance(text, str) else text
    report = Report("netstat", numbered(lines), origin or Origin(Source.TERMINAL), complete)
    return read_reports(Netstat, tables, [report])


def read_values(table: str, text: str | Iterable[str]) -> tuple[list[Row], list[Issue]]:
    """The rows without what all tables have in common, and without nulls; `extra` as a dictionary."""
    reading = read_display([table], text)
    names = [*(printed.column for printed in report_table(table).columns), "extra"]
    rows = [{name: row[name] for name in names if row[name] is not None} for row in reading.rows]
    return [row | ({"extra": json.loads(row["extra"])} if "extra" in row else {}) for row in rows], (
        reading.issues
    )
