"""What a caller passes to an ingest and gets back: the options, the outcome of each input, and the report."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from zscope.parsers.issues import Issues
from zscope.parsers.options import ReadOptions, Selection, SelectionError, parse
from zscope.pipelines.settings import Settings
from zscope.pipelines.store.history import (
    LOAD_GAP_SCHEMA,
    LOAD_KIND_SCHEMA,
    LOAD_SCHEMA,
    LOAD_TABLE_SCHEMA,
    gap_rows,
    kind_rows,
    load_row,
    table_rows,
)
from zscope.pipelines.store.parquet_files import ISSUE_TABLE, parquet_schema
from zscope.pipelines.store.transaction import KeptState
from zscope.schemas import catalog
from zscope.schemas.described_columns import described
from zscope.schemas.stored import LOAD_ID, local_clock
from zscope.schemas.tables import ANY_RECORD_TABLES, DIGEST_TABLE, table_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from zscope.parsers.issues import Issue, Severity
    from zscope.pipelines.store.commits import Load


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


def _never() -> bool:
    return False


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
    listed: bool = False
    """Whether the paths are files that the caller listed in folders. A text without reports is then skipped,
    as in a named folder, and not refused.
    """
    passed_over: tuple[Issue, ...] = ()
    """Issues of what the caller found in folders and did not name; they are stored like those of inputs."""
    notify: Callable[[str], None] = _ignore
    """Called with messages for the user, for example that another process is changing the store."""
    on_outcome: Callable[[FileOutcome], None] = _ignore
    """Called with the outcome of each input as soon as it is finished."""
    kept: KeptState = field(default_factory=KeptState)
    """Where a process that loads again and again keeps the state of the store between two loads."""
    stops: Callable[[], bool] = _never
    """Called before each input: if it returns true, the loads so far are committed, and no other begins."""

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


class FileStatus(StrEnum):
    """What became of an input."""

    LOADED = "loaded"
    REPEATED = "repeated"
    """Loaded before with the same content."""
    REFUSED = "refused"
    EMPTY = "nothing to load"
    """Readable, but without selected records or reports."""


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """Outcome of one input: a file, or a member of an archive."""

    file: str
    status: FileStatus
    load: Load | None = None
    """The load that has its data; for a repeated file, an earlier one."""
    issues: tuple[Issue, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)
    """Issues by code, including those that are only counted."""
    note: str = ""

    @property
    def worst(self) -> Severity | None:
        """The highest severity of its issues."""
        return max((issue.severity for issue in self.issues), default=None)


@dataclass(frozen=True, slots=True)
class IngestReport:
    """Outcomes of all inputs of one call of `ingest`."""

    outcomes: tuple[FileOutcome, ...]
    seconds: float
    committed: bool
    """False for a dry run."""

    def count(self, status: FileStatus) -> int:
        """Return the number of inputs with a status."""
        return sum(outcome.status is status for outcome in self.outcomes)

    @property
    def loads(self) -> list[Load]:
        """The new loads."""
        return [o.load for o in self.outcomes if o.status is FileStatus.LOADED and o.load]

    @property
    def issues(self) -> Issues:
        """The issues of all inputs."""
        issues = Issues()
        for outcome in self.outcomes:
            for issue in outcome.issues:
                issues.add(issue)
        return issues


def repeated_note(load: Load) -> str:
    """Return the note for a file that was loaded before."""
    return f"was loaded before, as load {load.load_id}"


def issue_rows(issues: Sequence[Issue], load_id: int) -> pa.Table:
    """Return issues as rows of the table `issue`."""
    return pa.Table.from_pylist(
        [{"load_id": load_id} | issue.to_row() for issue in issues], parquet_schema(ISSUE_TABLE)
    )


_OUTCOME_COLUMNS = (
    described("file", pa.string(), "Path of the file, as given."),
    described("status", pa.string(), "loaded, repeated, refused or nothing to load."),
    described("note", pa.string(), "Additional information."),
)
_LOAD_COLUMNS = (
    "load_id", "kind", "form", "records", "rows", "duplicates", "outside", "issues", "gaps", "seconds",
    "mb_per_second", "first_local", "last_local", "packing", "spanned", "lines", "content_bytes",
    "begun_at_byte", "selection", "content_digest", "started_utc",
)  # fmt: skip
FLAT_SCHEMA = pa.schema([*_OUTCOME_COLUMNS, *(LOAD_SCHEMA.field(name) for name in _LOAD_COLUMNS)])
_SHORTER = {"total_bytes": "bytes"}
"""Columns of the load tables that have a shorter name in the report."""
_CODE = pa.struct([("code", pa.string()), ("issues", pa.uint64())])


def _nested(schema: pa.Schema) -> pa.ListType:
    """Return a load table as a nested column of the report, without the number of the load."""
    fields = [f.with_name(_SHORTER.get(f.name, f.name)) for f in schema if f.name != LOAD_ID.name]
    return pa.list_(pa.struct(fields))


def _nested_rows(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{_SHORTER.get(name, name): row[name] for name in row if name != LOAD_ID.name} for row in rows]


WHOLE_SCHEMA = pa.schema(
    [
        *FLAT_SCHEMA,
        described("kinds", _nested(LOAD_KIND_SCHEMA), "Records and reports in the file, by system and kind."),
        described("tables", _nested(LOAD_TABLE_SCHEMA), "Rows stored and omitted, by table."),
        described("issues_by_code", pa.list_(_CODE), "Issues by code."),
        described("missing", _nested(LOAD_GAP_SCHEMA), "Gaps between intervals."),
    ]
)
ESSENTIAL_COLUMNS = ("file", "status", "load_id", "records", "rows", "duplicates", "issues", "seconds")


def report_rows(report: IngestReport, *, nested: bool) -> pa.Table:
    """Return one row per input; nested columns are for formats that support them."""
    schema = WHOLE_SCHEMA if nested else FLAT_SCHEMA
    return pa.Table.from_pylist([_row(outcome) for outcome in report.outcomes], schema)


def _row(outcome: FileOutcome) -> dict[str, Any]:
    load = outcome.load
    if load and outcome.status is FileStatus.REPEATED:
        # Its records and rows are those of the earlier load.
        return {"file": outcome.file, "status": outcome.status.value, "note": outcome.note} | {
            "load_id": load.load_id,
            "kind": load.kind,
            "form": load.form,
        }
    row: dict[str, Any] = load_row(load) if load else {}
    if load:
        row["kinds"] = _nested_rows(kind_rows(load))
        row["tables"] = _nested_rows(table_rows(load))
        row["missing"] = _nested_rows(gap_rows(load))
    return row | {
        "file": outcome.file,
        "status": outcome.status.value,
        "note": outcome.note or None,
        "issues": sum(outcome.counts.values()),
        "issues_by_code": [{"code": code, "issues": count} for code, count in outcome.counts.items()],
    }
