"""The tables with rows about single connections, from the declarations of the tables.

A new record type or report appears here, and so on the pages, because it is declared; no page has a list.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from zscope.schemas.load import catalog
from zscope.schemas.model import record_label
from zscope.schemas.reports import report_tables

if TYPE_CHECKING:
    from zscope.schemas.model import ConnectionMatch, ConnectionRows


@dataclass(frozen=True, slots=True)
class ConnectionTable:
    """A table with rows about single connections."""

    table: str
    title: str
    rows: ConnectionRows
    """The declaration of its rows about connections."""
    is_report: bool

    @property
    def matches(self) -> tuple[ConnectionMatch, ...]:
        """How rows of a connection are recognised; empty: by the number and start of the connection."""
        return self.rows.matches


@cache
def connection_tables() -> tuple[ConnectionTable, ...]:
    """Return the tables with rows about single connections; those with number and start come first."""
    records = [
        ConnectionTable(
            table.name,
            table.connection.source or f"SMF {record_label(record.type, record.subtype)}, {record.title}",
            table.connection,
            is_report=False,
        )
        for record in catalog().records.values()
        for table in record.tables
        if table.connection
    ]
    reports = [
        ConnectionTable(
            report.name, report.connection.source or report.title, report.connection, is_report=True
        )
        for report in report_tables().values()
        if report.connection
    ]
    return tuple(
        sorted(
            (*records, *reports), key=lambda table: (bool(table.matches), table.rows.facts_rank, table.table)
        )
    )
