"""The report of a run as rows: one per input, with what was in it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from zscope.pipelines.ingest.outcome import Status
from zscope.pipelines.store.history import LOAD_SCHEMA, load_row

if TYPE_CHECKING:
    from zscope.pipelines.ingest.outcome import Outcome, Report

_OWN = (
    pa.field("file", pa.string(), metadata={"meaning": "File as it was named."}),
    pa.field("status", pa.string(), metadata={"meaning": "loaded, repeated, refused or nothing to load."}),
    pa.field("note", pa.string(), metadata={"meaning": "What else there is to say about it."}),
)
_SHOWN = (
    "load_id", "kind", "form", "records", "rows", "duplicates", "outside", "issues", "gaps", "seconds",
    "mb_per_second", "first_local", "last_local", "packing", "spanned", "lines", "content_bytes",
    "begun_at_byte", "selection", "content_digest", "started_utc",
)  # fmt: skip
FLAT_SCHEMA = pa.schema([*_OWN, *(LOAD_SCHEMA.field(name) for name in _SHOWN)])
_KIND = pa.struct(
    [
        ("system", pa.string()),
        ("record_type", pa.uint8()),
        ("record_subtype", pa.uint16()),
        ("report", pa.string()),
        ("records", pa.uint64()),
        ("bytes", pa.uint64()),
        ("first_local", pa.string()),
        ("last_local", pa.string()),
    ]
)
_TABLE = pa.struct([("table_name", pa.string()), ("rows", pa.uint64()), ("duplicates", pa.uint64())])
_CODE = pa.struct([("code", pa.string()), ("issues", pa.uint64())])
_GAP = pa.struct(
    [
        ("system", pa.string()),
        ("source", pa.string()),
        ("from_local", pa.string()),
        ("to_local", pa.string()),
        ("missing_intervals", pa.uint32()),
        ("interval_ms", pa.uint64()),
    ]
)
WHOLE_SCHEMA = pa.schema(
    [
        *FLAT_SCHEMA,
        pa.field("kinds", pa.list_(_KIND), metadata={"meaning": "What the file holds, by system and kind."}),
        pa.field("tables", pa.list_(_TABLE), metadata={"meaning": "Rows stored and left out, by table."}),
        pa.field("issues_by_code", pa.list_(_CODE), metadata={"meaning": "Issues, by what is wrong."}),
        pa.field("missing", pa.list_(_GAP), metadata={"meaning": "Stretches of missing intervals."}),
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
        row["kinds"] = [asdict(kind) for kind in load.kinds]
        row["missing"] = [asdict(gap) for gap in load.gaps]
        row["tables"] = [
            {"table_name": name, "rows": counts.stored, "duplicates": counts.duplicates}
            for name, counts in load.tables.items()
        ]
    return row | {
        "file": outcome.file,
        "status": outcome.status.value,
        "note": outcome.note or None,
        "issues": sum(outcome.counts.values()),
        "issues_by_code": [{"code": code, "issues": count} for code, count in outcome.counts.items()],
    }
