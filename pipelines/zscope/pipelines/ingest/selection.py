"""What of its inputs a load takes: kinds of records and reports, systems, a stretch of time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from zscope.parsers.select import Selection, SelectionError, parse
from zscope.schemas import catalog
from zscope.schemas.stored import local_clock
from zscope.schemas.tables import ANY_RECORD_TABLES, DIGEST_TABLE, table_names

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Choice:
    """Rows to take: of these tables, systems and local times."""

    selection: Selection
    tables_text: str
    systems: tuple[str, ...] = ()
    begin: datetime | None = None
    end: datetime | None = None
    """The first moment that is not taken any more."""

    def of(self, table: str, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The rows that are to be taken; one without a time or a system is not when those are asked for."""
        conditions = list(self._conditions(table, rows))
        for condition in conditions:
            if not pc.all(condition).as_py():
                break
        else:
            return rows
        mask = conditions[0]
        for condition in conditions[1:]:
            mask = pc.and_(mask, condition)
        return rows.filter(mask)

    def _conditions(self, table: str, rows: pa.RecordBatch) -> Iterable[pa.Array]:
        if self.systems:
            yield pc.is_in(rows["system"].cast(pa.string()), pa.array(self.systems, pa.string()))
        clock = local_clock(table)
        if clock and self.begin:
            yield pc.fill_null(
                pc.greater_equal(rows[clock], pa.scalar(self.begin, pa.timestamp("us"))), False
            )
        if clock and self.end:
            yield pc.fill_null(pc.less(rows[clock], pa.scalar(self.end, pa.timestamp("us"))), False)

    def __str__(self) -> str:
        """In one spelling, so that the same choice is recognised."""
        parts = [self.tables_text]
        if self.systems:
            parts.append(f"systems {','.join(self.systems)}")
        if self.begin:
            parts.append(f"from {self.begin.isoformat()}")
        if self.end:
            parts.append(f"to before {self.end.isoformat()}")
        return "; ".join(parts)


def choose(
    select: str | None,
    systems: Iterable[str] = (),
    begin: date | None = None,
    end: date | None = None,
) -> Choice:
    """Read what the user asks for; a day as the end is taken wholly.

    >>> str(choose("70(2)", ["SYSB", "SYSA"], date(2026, 3, 2), date(2026, 3, 2)))
    'smf70_crypto_accel,smf70_crypto_cca,smf70_crypto_pkcs11,smf70_icsf; systems SYSA,SYSB; \
from 2026-03-02T00:00:00; to before 2026-03-03T00:00:00'
    """
    selection = parse(select)
    if unstored := [name for name in selection.columns if name in ANY_RECORD_TABLES]:
        raise SelectionError(f"{unstored[0]} is for zscope decode; the store takes what records say")
    if some := [name for name, columns in selection.columns.items() if columns is not None]:
        raise SelectionError(f"{some[0]}[...]: the store takes whole tables; choose columns in zscope sql")
    whole, types = _whole_records(selection)
    if not whole:
        raise SelectionError(f"{select!r} selects nothing that zscope makes tables of")
    text = "everything" if select is None else ",".join(sorted(whole))
    if types:
        whole[DIGEST_TABLE] = None
    last = end if end is None or isinstance(end, datetime) else _behind(end)
    return Choice(
        Selection(whole, types),
        text,
        tuple(sorted({system.upper() for system in systems})),
        _moment(begin),
        _moment(last),
    )


def _behind(day: date) -> date | None:
    """The day after; nothing comes behind the last there is."""
    return None if day == date.max else day + timedelta(days=1)


def _moment(day: date | None) -> datetime | None:
    return day if day is None or isinstance(day, datetime) else datetime.combine(day, time.min)


def _whole_records(
    selection: Selection,
) -> tuple[dict[str, tuple[str, ...] | None], frozenset[tuple[int, int | None]]]:
    """All tables of every record that gives a row to one of those selected, and the types of these records.

    A record is taken as a whole or not at all: later it could not be told of which tables it was taken.
    """
    records = {(r.type, r.subtype): r for r, table in catalog().tables() if table.name in selection.columns}
    names = {table.name for record in records.values() for table in record.tables}
    names |= set(selection.columns)
    return {name: None for name in table_names() if name in names}, frozenset(records)
