"""How pages use tables, from the declarations of the tables: the kind of data, and rows of connections.

A new record type or report appears here, and so on the pages, because it is declared; no page has a list.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from zscope.schemas.load import catalog
from zscope.schemas.model import record_label
from zscope.schemas.reports import report_tables
from zscope.schemas.sql_text import literal

if TYPE_CHECKING:
    from zscope.schemas.model import ConnectionMatch, ConnectionRows


@dataclass(frozen=True, slots=True)
class DataKind:
    """A kind of data as pages count it: its records or reports, and the tables that they fill."""

    title: str
    records: str
    """A condition on `load_kind`."""
    tables: frozenset[str]


@cache
def data_kinds() -> tuple[DataKind, ...]:
    """Return every kind of data that some table declares, in alphabetical order."""
    conditions: dict[str, list[str]] = defaultdict(list)
    tables: dict[str, set[str]] = defaultdict(set)
    for record in catalog().records.values():
        conditions[record.shown_as].append(
            f"(record_type = {record.type} AND record_subtype {_is(record.subtype)})"
        )
        # A table that several kinds of records fill belongs to the kind that declares its columns.
        tables[record.shown_as] |= {
            table.name
            for table in record.tables
            if catalog().table(table.name)[0].shown_as == record.shown_as
        }
    for report in report_tables().values():
        prefix = literal(report.report_prefix or report.title)
        conditions[report.shown_as].append(f"starts_with(report, {prefix})")
        tables[report.shown_as].add(report.name)
    return tuple(
        DataKind(title, " OR ".join(dict.fromkeys(conditions[title])), frozenset(tables[title]))
        for title in sorted(conditions)
    )


def _is(subtype: int | None) -> str:
    return "IS NULL" if subtype is None else f"= {subtype}"


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
