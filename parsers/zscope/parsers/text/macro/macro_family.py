"""The family of macro texts: names of crypto counters in IFASMFCN, as assembler or as C header."""

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

_NAME = re.compile(r" *(?:#define +)?SMF_CrypCtrs_k\w", re.ASCII | re.IGNORECASE)


def _grammar(sheet: FileRows, options: ReadOptions) -> Grammar:  # noqa: ARG001 - the same for all families
    from zscope.parsers.text.macro.counter_names import CounterNames

    return CounterNames(sheet)


def _has_table(table: ReportTable) -> bool:
    return table.family == "macro"


def _heading(text: str, raw: str, renamed: ColumnNames) -> FoundHeading | None:  # noqa: ARG001
    return FoundHeading(text, ReportSource.TEXT) if "_" in text and _NAME.match(text) else None


MACRO = ReportFamily(
    name="macro",
    place=10,
    described="macro IFASMFCN with the names of crypto counters",
    grammar=_grammar,
    has_table=_has_table,
    find_heading=_heading,
    repeats_heading=True,
    uninterrupted=True,
    interruption=NEVER,
    has_margin=False,
    certain=r" *(?:#define +)?SMF_CrypCtrs_k\w+ +\S",
)
FAMILIES = (MACRO,)
