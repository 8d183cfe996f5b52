"""The options of `ingest`, and the selection of tables, systems and times to load."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from zscope.parsers.options import ReadOptions
from zscope.parsers.select import Selection, SelectionError, parse
from zscope.pipelines.settings import Settings
from zscope.schemas import catalog
from zscope.schemas.stored import local_clock
from zscope.schemas.tables import ANY_RECORD_TABLES, DIGEST_TABLE, table_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from zscope.pipelines.ingest.outcome import FileOutcome


@dataclass(frozen=True, slots=True)
class RowSelection:
    """Rows to load: of these tables, systems and local times."""

    records: Selection
    tables_text: str
    systems: tuple[str, ...] = ()
    begin: datetime | None = None
    end: datetime | None = None
    """The first moment that is not included."""

    def filter(self, table: str, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return the selected rows.

        Rows without a system or time do not match a selection by system or time.
        """
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
        """Return the one spelling of this selection, which is stored with each load."""
        parts = [self.tables_text]
        if self.systems:
            parts.append(f"systems {','.join(self.systems)}")
        if self.begin:
            parts.append(f"from {self.begin.isoformat()}")
        if self.end:
            parts.append(f"to before {self.end.isoformat()}")
        return "; ".join(parts)


def row_selection(
    select: str | None,
    systems: Iterable[str] = (),
    begin: date | None = None,
    end: date | None = None,
) -> RowSelection:
    """Parse what the user selects; a day as the end includes that day.

    >>> str(row_selection("70(2)", ["SYSB", "SYSA"], date(2026, 3, 2), date(2026, 3, 2)))
    'smf70_crypto_accel,smf70_crypto_cca,smf70_crypto_pkcs11,smf70_icsf; systems SYSA,SYSB; \
from 2026-03-02T00:00:00; to before 2026-03-03T00:00:00'
    """
    selection = parse(select)
    if unstored := [name for name in selection.columns if name in ANY_RECORD_TABLES]:
        raise SelectionError(f"{unstored[0]} is not stored; use zscope decode")
    if some := [name for name, columns in selection.columns.items() if columns is not None]:
        raise SelectionError(
            f"{some[0]}[...]: columns cannot be selected here, whole tables are stored; use zscope sql"
        )
    tables, types = _whole_records(selection)
    if not tables:
        raise SelectionError(f"{select!r} selects no records or reports that zscope decodes")
    text = "everything" if select is None else ",".join(sorted(tables))
    if types:
        tables[DIGEST_TABLE] = None
    last = end if end is None or isinstance(end, datetime) else _day_after(end)
    return RowSelection(
        Selection(tables, types),
        text,
        tuple(sorted({system.upper() for system in systems})),
        _midnight(begin),
        _midnight(last),
    )


def _day_after(day: date) -> date | None:
    return None if day == date.max else day + timedelta(days=1)


def _midnight(day: date | None) -> datetime | None:
    return day if day is None or isinstance(day, datetime) else datetime.combine(day, time.min)


def _whole_records(
    selection: Selection,
) -> tuple[dict[str, tuple[str, ...] | None], frozenset[tuple[int, int | None]]]:
    """Return all tables of every record that has a selected table, and the types of these records.

    A record is loaded as a whole or not at all: its digest does not show which of its tables were loaded.
    """
    records = {(r.type, r.subtype): r for r, table in catalog().tables() if table.name in selection.columns}
    names = {table.name for record in records.values() for table in record.tables}
    names |= set(selection.columns)
    return {name: None for name in table_names() if name in names}, frozenset(records)


def _ignore(_: object) -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestOptions:
    """What to load, how to read it, and which functions to call meanwhile."""

    selection: RowSelection
    """The tables, systems and local times to load."""
    read_options: ReadOptions = field(default_factory=ReadOptions)
    """How to decode the input: code page, framing, number of threads, and what the input does not state."""
    settings: Settings = field(default_factory=Settings)
    """Time zones of the systems, waiting times, from what size on the store has summaries."""
    dry_run: bool = False
    """Do everything except commit."""
    notify: Callable[[str], None] = _ignore
    """Called with messages for the user, for example that another process is changing the store."""
    on_outcome: Callable[[FileOutcome], None] = _ignore
    """Called with the outcome of each input as soon as it is finished."""

    @property
    def selection_key(self) -> str:
        """Everything that decides which rows a file yields: with the same key it yields the same rows again.

        The key is stored with each load. A changed spelling would load every file a second time.
        """
        read = self.read_options
        parts = {
            "code page": read.code_page if read.code_page != ReadOptions().code_page else None,
            "framing": read.framing.value if read.framing else None,
            "system": read.system,
            "taken": " ".join(str(part) for part in (read.day, read.clock) if part) or None,
            "run": read.run,
            "columns": ", ".join(f"{ours}={theirs!r}" for ours, theirs in read.renamed_columns) or None,
            "times": read.time_format,
            "formatter zone": read.formatter_zone,
        }
        return "; ".join(
            [str(self.selection), *(f"{name} {value}" for name, value in parts.items() if value)]
        )
