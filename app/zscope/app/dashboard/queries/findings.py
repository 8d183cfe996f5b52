"""Findings about how connections are protected, and the rows behind one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from zscope.app.dashboard.looks import SEVERITY_MARKS
from zscope.app.dashboard.queries.certificates import this_hour

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zscope.app.dashboard.answers import Data

PLACE = ("system", "server_port", "job_name")
"""Where a finding was made; the filters for these narrow the findings."""
MOST = 2000
EVIDENCE_ROWS = 500


def findings(data: Data) -> pa.Table:
    """All findings, the worst first; `rank` is 0 for the worst severity, `mark` a shape and a word."""
    found = data.metric("finding", where=this_hour())
    ranks = pa.array([list(SEVERITY_MARKS).index(severity) for severity in found["severity"].to_pylist()])
    marks = pa.array([SEVERITY_MARKS[severity] for severity in found["severity"].to_pylist()], pa.string())
    told = found.append_column("rank", ranks.cast(pa.int64())).append_column("mark", marks)
    return told.sort_by([("rank", "ascending"), ("connections", "descending"), ("id", "ascending")])


def narrowed(found: pa.Table, severities: Sequence[str], what: str | None) -> pa.Table:
    """Of the findings those of some severities and of one kind; without a choice all."""
    if severities:
        found = found.filter(pc.is_in(found["severity"], pa.array(severities)))
    return found.filter(pc.equal(found["what"], what)) if what else found


def kinds(found: pa.Table) -> pa.Table:
    """How many places and connections each kind of finding has, the worst first."""
    grouped = found.group_by(["id", "severity", "mark", "what", "rank"]).aggregate(
        [("connections", "sum"), ("connections", "count")]
    )
    named = grouped.rename_columns(
        {"connections_sum": "connections", "connections_count": "places"}
    )  # fmt: skip
    return named.sort_by([("rank", "ascending"), ("places", "descending"), ("id", "ascending")])


def evidence(data: Data, statement: str) -> pa.Table:
    """Some of the rows that the statement of a finding shows."""
    return data.rows(f"SELECT * FROM ({statement}\n) WHERE {this_hour()} LIMIT {EVIDENCE_ROWS}")
