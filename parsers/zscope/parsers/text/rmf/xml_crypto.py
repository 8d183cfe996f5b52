"""The Crypto Hardware Activity report as XML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zscope.parsers.text.rmf.crypto_columns import CryptoTable, crypto_column, unit_kind
from zscope.parsers.text.rmf.xml_report import open_report, table_rows

if TYPE_CHECKING:
    from zscope.parsers.text.out import Sheet
    from zscope.parsers.text.rmf.xml_tree import Element


def read_crypto(unit: Element, sheet: Sheet) -> None:
    """Put the rows of one interval into the table, as far as the column headings tell what they are."""
    out = open_report(unit, sheet)
    out.found("RMF Crypto Hardware Activity", unit.line)
    for segment in unit.all("segment"):
        lines = CryptoTable(unit_kind(segment.text_at("name")), out)
        for table in segment.below("table"):
            for row in table_rows(table, out):
                lines.put(row.line, [(crypto_column(heading), text) for heading, text in row.cells.items()])
