"""The family of files that the formatter of MQ accounting and statistics records writes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from zscope.parsers.text.captured_report import ReportSource
from zscope.parsers.text.report_family import NEVER, FoundHeading, ReportFamily

if TYPE_CHECKING:
    from collections.abc import Callable

    from zscope.parsers.options import ReadOptions
    from zscope.parsers.text.captured_report import Grammar, ObjectGrammar, Origin
    from zscope.parsers.text.report_family import ColumnNames
    from zscope.parsers.text.report_rows import FileRows
    from zscope.schemas.reports import ReportTable


def _grammar(sheet: FileRows, options: ReadOptions) -> Grammar:
    from zscope.parsers.text.mq_formatter.formatter_files import MqFormatter

    return MqFormatter(sheet, options.formatter_clock)


def _object_grammar(sheet: FileRows, options: ReadOptions, origin: Origin) -> ObjectGrammar:
    from zscope.parsers.text.mq_formatter.formatter_files import MqObjects

    return MqObjects(sheet, origin, options.formatter_clock)


def _has_table(table: ReportTable) -> bool:
    return table.family == "mq"


def _columns(text: str, raw: str, renamed: ColumnNames) -> FoundHeading | None:  # noqa: ARG001
    if "," not in raw or "lpar" not in raw.lower():
        return None
    from zscope.parsers.text.mq_formatter.layout import names_structure

    return FoundHeading(raw, ReportSource.CSV) if names_structure(raw) else None


def _row_above(heading: str, renamed: ColumnNames) -> Callable[[str], bool]:  # noqa: ARG001
    from zscope.parsers.text.mq_formatter.layout import may_be_block

    return partial(may_be_block, heading)


MQ = ReportFamily(
    name="mq",
    place=8,
    described="a CSV or JSON file of the MQ formatter",
    grammar=_grammar,
    object_grammar=_object_grammar,
    has_table=_has_table,
    find_heading=_columns,
    row_above=_row_above,
    separators=(",",),
    uninterrupted=True,
    interruption=NEVER,
    has_margin=False,
    keeps_tabs=True,
    rows_apart=True,
)
FAMILIES = (MQ,)
