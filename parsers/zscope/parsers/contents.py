"""What an inventory contains: the tables that its files fill, and the records that have no layout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zscope.schemas import catalog
from zscope.schemas.reports import report_tables

if TYPE_CHECKING:
    import pyarrow as pa

FRAME = (2, 3)
"""Types of the records with which the dump program begins and ends its output."""


def filled_tables(rows: pa.Table) -> frozenset[str]:
    """Return the tables that the files of an inventory fill."""
    tables: set[str] = set()
    for record_type, subtype, report in _kinds(rows):
        if record_type is not None:
            layout = catalog().records.get((record_type, -1 if subtype is None else subtype))
            tables |= {table.name for table in layout.tables} if layout else set()
        elif report:
            tables |= {
                table.name
                for table in report_tables().values()
                if report in (table.reports or (table.title,))
            }
    return frozenset(tables)


def without_layout(rows: pa.Table) -> tuple[list[str], list[str]]:
    """Return the kinds of records that are only counted, and those of which only the header is read."""
    counted, headers = set(), set()
    for record_type, subtype, _ in _kinds(rows):
        if record_type is None or (record_type in FRAME and subtype is None):
            continue
        layout = None if subtype is None else catalog().records.get((record_type, subtype))
        if layout is None:
            counted.add((record_type, -1 if subtype is None else subtype))
        elif layout.header_only:
            headers.add((record_type, layout.subtype))
    return _labels(counted), _labels(headers)


def _kinds(rows: pa.Table) -> set[tuple[int | None, int | None, str | None]]:
    columns = (rows[name].to_pylist() for name in ("record_type", "record_subtype", "report"))
    return set(zip(*columns, strict=True))


def _labels(kinds: set[tuple[int, int]]) -> list[str]:
    return [str(number) if subtype < 0 else f"{number}-{subtype}" for number, subtype in sorted(kinds)]
