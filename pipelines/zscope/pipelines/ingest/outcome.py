"""Outcomes of an ingest: one per input, and the report of all."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from zscope.parsers.issues import Issues
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
from zscope.pipelines.store.parts import ISSUE_TABLE, parquet_schema
from zscope.schemas.stored import LOAD_ID

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zscope.parsers.issues import Issue, Severity
    from zscope.pipelines.store.loads import Load


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


def _column(name: str, arrow: pa.DataType, meaning: str) -> pa.Field:
    return pa.field(name, arrow, metadata={"meaning": meaning})


_OUTCOME_COLUMNS = (
    _column("file", pa.string(), "Path of the file, as given."),
    _column("status", pa.string(), "loaded, repeated, refused or nothing to load."),
    _column("note", pa.string(), "Additional information."),
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
        _column("kinds", _nested(LOAD_KIND_SCHEMA), "Records and reports in the file, by system and kind."),
        _column("tables", _nested(LOAD_TABLE_SCHEMA), "Rows stored and omitted, by table."),
        _column("issues_by_code", pa.list_(_CODE), "Issues by code."),
        _column("missing", _nested(LOAD_GAP_SCHEMA), "Gaps between intervals."),
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
