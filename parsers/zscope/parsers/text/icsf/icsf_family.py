"""The family of listings of ICSF: SMF 82 records as CSFSMFR formats them, of any subtype."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from zscope.parsers.text.captured_report import ReportSource
from zscope.parsers.text.report_family import NEVER, FoundHeading, ReportFamily

if TYPE_CHECKING:
    from zscope.parsers.options import ReadOptions
    from zscope.parsers.text.captured_report import Grammar
    from zscope.parsers.text.report_family import ColumnNames
    from zscope.parsers.text.report_rows import FileRows
    from zscope.schemas.reports import ReportTable

_HEADING = re.compile(r"[01+-]? {0,3}(?P<text>Subtype=[0-9A-F]{4}(?: .*)?)$", re.ASCII | re.IGNORECASE)


def _grammar(sheet: FileRows, options: ReadOptions) -> Grammar:  # noqa: ARG001 - the same for all families
    from zscope.parsers.text.icsf.record_listing import RecordListing

    return RecordListing(sheet)


def _has_table(table: ReportTable) -> bool:
    return table.family == "icsf"


def _heading(text: str, raw: str, renamed: ColumnNames) -> FoundHeading | None:  # noqa: ARG001
    match = _HEADING.match(text) if "ubtype=" in text or "UBTYPE=" in text else None
    return FoundHeading(match["text"], ReportSource.TEXT, match.start("text") > 0) if match else None


ICSF = ReportFamily(
    name="icsf",
    place=11,
    described="a listing of SMF 82 records by CSFSMFR",
    grammar=_grammar,
    has_table=_has_table,
    find_heading=_heading,
    uninterrupted=True,
    interruption=NEVER,
    has_margin=False,
    certain=r"Subtype=[0-9A-F]{4}(?: |$)",
)
FAMILIES = (ICSF,)
