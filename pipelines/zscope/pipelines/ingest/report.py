"""The report of a run as rows: one per input, with what was in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from zscope.pipelines.ingest.outcome import Status
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
from zscope.schemas.stored import LOAD_ID

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zscope.pipelines.ingest.outcome import Outcome, Report


def _column(name: str, arrow: pa.DataType, meaning: str) -> pa.Field:
    return pa.field(name, arrow, metadata={"meaning": meaning})


_OWN = (
    _column("file", pa.string(), "File as it was named."),
    _column("status", pa.string(), "loaded, repeated, refused or nothing to load."),
    _column("note", pa.string(), "What else there is to say about it."),
)
_SHOWN = (
    "load_id", "kind", "form", "records", "rows", "duplicates", "outside", "issues", "gaps", "seconds",
    "mb_per_second", "first_local", "last_local", "packing", "spanned", "lines", "content_bytes",
    "begun_at_byte", "selection", "content_digest", "started_utc",
)  # fmt: skip
FLAT_SCHEMA = pa.schema([*_OWN, *(LOAD_SCHEMA.field(name) for name in _SHOWN)])
_SHORTER = {"total_bytes": "bytes"}
"""Columns of the tables about loads that have a shorter name in the report."""
_CODE = pa.struct([("code", pa.string()), ("issues", pa.uint64())])


def _nested(schema: pa.Schema) -> pa.ListType:
    """A table about loads as a column of the report, whose rows tell the load already."""
    fields = [f.with_name(_SHORTER.get(f.name, f.name)) for f in schema if f.name != LOAD_ID.name]
    return pa.list_(pa.struct(fields))


def _nested_rows(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{_SHORTER.get(name, name): row[name] for name in row if name != LOAD_ID.name} for row in rows]


WHOLE_SCHEMA = pa.schema(
    [
        *FLAT_SCHEMA,
        _column("kinds", _nested(LOAD_KIND_SCHEMA), "What the file holds, by system and kind."),
        _column("tables", _nested(LOAD_TABLE_SCHEMA), "Rows stored and left out, by table."),
        _column("issues_by_code", pa.list_(_CODE), "Issues, by what is wrong."),
        _column("missing", _nested(LOAD_GAP_SCHEMA), "Stretches of missing intervals."),
    ]
)
ESSENTIAL = ("file", "status", "load_id", "records", "rows", "duplicates", "issues", "seconds")


def report_rows(report: Report, *, nested: bool) -> pa.Table:
    """One row per input; nested columns are for formats that have such."""
    schema = WHOLE_SCHEMA if nested else FLAT_SCHEMA
    return pa.Table.from_pylist([_row(outcome) for outcome in report.outcomes], schema)


def _row(outcome: Outcome) -> dict[str, Any]:
    load = outcome.load
    if load and outcome.status is Status.REPEATED:
        # What was in it counts for the load that brought it.
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
