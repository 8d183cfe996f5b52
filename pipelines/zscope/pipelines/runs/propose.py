"""Runs from what the metric run_proposal found in the data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from zscope.pipelines.runs.entry import Run


def proposed_runs(rows: Iterable[Mapping[str, Any]]) -> list[Run]:
    """The runs that the rows of run_proposal stand for, but for those that have a name already.

    They have no workload: records do not tell how many clients there were.
    """
    return [_run(row) for row in rows if row["known_as"] is None]


def _run(row: Mapping[str, Any]) -> Run:
    note = (
        f"Proposed from zERT: {row['connections_per_s']:,.1f} connections a second, "
        f"{row['in_bytes_each']:,.0f} bytes in and {row['out_bytes_each']:,.0f} out of each."
    )
    return Run(
        name=row["name"],
        system=row["system"],
        role=row["role"],
        from_utc=row["from_utc"],
        to_utc=row["to_utc"],
        tags=tuple(row["tags"]),
        note=note,
    )
