"""The family of tables that users supply as CSV or JSON."""

from __future__ import annotations

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

_SEPARATORS = (",", ";", "\t")


def _grammar(sheet: FileRows, options: ReadOptions) -> Grammar:
    from zscope.parsers.text.csv_and_json.table_reader import SuppliedCsv

    return SuppliedCsv(sheet, options)


def _object_grammar(sheet: FileRows, options: ReadOptions, origin: Origin) -> ObjectGrammar:
    from zscope.parsers.text.csv_and_json.table_reader import SuppliedObjects

    return SuppliedObjects(sheet, options, origin)


def _has_table(table: ReportTable) -> bool:
    return bool(table.csv)


def _columns(text: str, raw: str, renamed: ColumnNames) -> FoundHeading | None:  # noqa: ARG001
    if not any(separator in raw for separator in _SEPARATORS):
        return None
    from zscope.parsers.text.csv_and_json.forms import forms_for

    return FoundHeading(raw, ReportSource.CSV) if forms_for(renamed).heading(raw) else None


def _row_above(heading: str, renamed: ColumnNames) -> Callable[[str], bool]:
    from zscope.parsers.text.csv_and_json.forms import forms_for

    supplied = forms_for(renamed).heading(heading)
    return supplied.may_be_row if supplied else lambda _: False


SUPPLIED = ReportFamily(
    name="supplied",
    place=9,
    described="a CSV or JSON file whose columns have the names of docs/capture.md or of --map",
    grammar=_grammar,
    object_grammar=_object_grammar,
    has_table=_has_table,
    find_heading=_columns,
    row_above=_row_above,
    separators=_SEPARATORS,
    uninterrupted=True,
    interruption=NEVER,
    has_margin=False,
    keeps_tabs=True,
)
FAMILIES = (SUPPLIED,)
