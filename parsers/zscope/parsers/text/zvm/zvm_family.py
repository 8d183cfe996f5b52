"""The family of Performance Toolkit reports on z/VM: how their pages begin and go on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from zscope.parsers.text.captured_report import ReportSource
from zscope.parsers.text.report_family import FoundHeading, ReportFamily
from zscope.parsers.text.zvm.page_begin import RUN, begins_page

if TYPE_CHECKING:
    from zscope.parsers.options import ReadOptions
    from zscope.parsers.text.captured_report import Grammar
    from zscope.parsers.text.report_family import ColumnNames
    from zscope.parsers.text.report_rows import FileRows
    from zscope.schemas.reports import ReportTable

_FIGURE = r"(?: +(?:\d{0,12}\.\d{1,3}[KMG]?|\d{1,12}[KMG]?|\.{3,6}|-{3,6}))"


def _grammar(sheet: FileRows, options: ReadOptions) -> Grammar:  # noqa: ARG001 - the same for all families
    from zscope.parsers.text.zvm.zvm_reader import PerformanceToolkit

    return PerformanceToolkit(sheet)


def _has_table(table: ReportTable) -> bool:
    return table.family == "zvm"


def _heading(text: str, raw: str, renamed: ColumnNames) -> FoundHeading | None:  # noqa: ARG001
    if not begins_page(text):
        return None
    return FoundHeading(text, ReportSource.TEXT if RUN.search(text) else ReportSource.TERMINAL)


ZVM = ReportFamily(
    name="zvm",
    place=7,
    described="a listing or screen of Performance Toolkit (FCX112, FCX215)",
    grammar=_grammar,
    has_table=_has_table,
    find_heading=_heading,
    interruption=re.compile(r" *READY$| ?[-*+@]?[A-Z]{3,5}\d{3,5}[A-Z] +[A-Za-z(]", re.ASCII),
    has_margin=False,
    is_page=True,
    certain=(
        r"[01+-]? *(?:Userid +(?:\S{1,12} +){0,20}TCPU|ID +(?:\S{1,12} +){0,20}Write/s +Read/s)(?!\S)"
        rf"|[ 01+-]? {{0,2}}(?:[^\s>]{{1,9}}(?={_FIGURE})(?=.{{0,200}} \.)|[0-9A-F]{{2}} +(?:Yes|No)(?!\S))"
        rf"{_FIGURE}{{6,40}}(?: +\S{{1,12}}){{0,2}}$"
    ),
)
FAMILIES = (ZVM,)
