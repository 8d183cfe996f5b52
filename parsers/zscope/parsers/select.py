"""Selections of what to decode, such as `119(2,11:12),70` or `smf119_tcp_term[cipher_2]`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from zscope.schemas import catalog
from zscope.schemas.arrow import table_schema
from zscope.schemas.tables import ANY_RECORD_TABLES, table_names

if TYPE_CHECKING:
    from collections.abc import Iterable


class SelectionError(ValueError):
    """A selection that is empty, cannot be parsed or names something unknown."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The tables to read, with their columns; None means all columns."""

    columns: dict[str, tuple[str, ...] | None] = field(default_factory=dict)
    types: frozenset[tuple[int, int | None]] = frozenset()
    """Record types and (type, subtype) pairs that were selected by number."""

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the selected tables."""
        return tuple(self.columns)

    def wants_record(self, record_type: int, subtype: int | None) -> bool:
        """Return whether the selected numbers include this record; without numbers, all are included."""
        return not self.types or (record_type, None) in self.types or (record_type, subtype) in self.types


_ITEM = re.compile(r"\s*([A-Za-z_]\w*|\d+)\s*(?:\(([^()]*)\)|\[([^\[\]]*)\])?\s*(?:,|$)")


def everything() -> Selection:
    """Return the selection of all tables that a layout describes, with all columns.

    >>> "smf_raw" in everything().tables
    False
    """
    return Selection({name: None for name in table_names() if name not in ANY_RECORD_TABLES})


def parse(text: str | Iterable[str] | None) -> Selection:
    """Parse a selection.

    >>> parse("119(2,11:12)").tables
    ('smf119_tcp_term', 'smf119_zert_detail', 'smf119_zert_ssh', 'smf119_zert_ipsec', 'smf119_zert_dn', \
'smf119_zert_summary', 'smf119_zert_summary_ssh', 'smf119_zert_summary_ipsec', 'smf119_zert_summary_dn')
    >>> parse("smf70_cpu[cpu_id, wait_us]").columns
    {'smf70_cpu': ('cpu_id', 'wait_us')}
    """
    if text is None:
        return everything()
    whole = text if isinstance(text, str) else ",".join(text)
    if not whole.strip():
        raise SelectionError("the selection is empty; leave it out to select everything")
    columns: dict[str, tuple[str, ...] | None] = {}
    types: set[tuple[int, int | None]] = set()
    position = 0
    while position < len(whole):
        match = _ITEM.match(whole, position)
        if match is None or match.end() == position:
            raise SelectionError(f"cannot read the selection {whole!r} at {whole[position:]!r}")
        position = match.end()
        name, inner, wanted = match.groups()
        if name.isdigit():
            if wanted is not None:
                raise SelectionError(f"{name}[...]: columns belong to a table, not to a record type")
            types |= _types(int(name), inner)
        elif inner is not None:
            raise SelectionError(f"{name}(...): subtypes belong to a record type, not to a table")
        else:
            columns[name] = _columns(name, wanted)
    for record, table in catalog().tables():
        if (record.type, None) in types or (record.type, record.subtype) in types:
            columns.setdefault(table.name, None)
    return Selection(columns, frozenset(types))


def _types(number: int, inner: str | None) -> set[tuple[int, int | None]]:
    if number > 255:
        raise SelectionError(f"{number} is not a record type: record types range from 0 to 255")
    if inner is None:
        return {(number, None)}
    subtypes: set[tuple[int, int | None]] = set()
    for part in inner.split(","):
        low, colon, high = (piece.strip() for piece in part.partition(":"))
        if not low.isdigit() or (colon and not high.isdigit()):
            raise SelectionError(f"{part.strip()!r} is not a subtype or a range such as 11:12")
        last = int(high) if colon else int(low)
        if not int(low) <= last <= 0xFFFF:
            raise SelectionError(f"{part.strip()!r} is not a range of subtypes from 0 to 65535")
        subtypes |= {(number, subtype) for subtype in range(int(low), last + 1)}
    return subtypes


def _columns(table: str, wanted: str | None) -> tuple[str, ...] | None:
    if table not in table_names():
        raise SelectionError(f"there is no table {table!r}; `zscope fields` lists the tables")
    if wanted is None:
        return None
    names = tuple(name.strip() for name in wanted.split(",") if name.strip())
    known = set(table_schema(table).names)
    for name in names:
        if name not in known:
            raise SelectionError(f"table {table} has no column {name!r}")
    if not names:
        raise SelectionError(f"{table}[]: name at least one column")
    return names
