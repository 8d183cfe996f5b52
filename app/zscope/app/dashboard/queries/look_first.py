"""The findings in short: how many of each severity, and the worst kinds, each with its busiest place."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pyarrow as pa

from zscope.app.dashboard.looks import SEVERITY_MARKS
from zscope.app.dashboard.queries.findings import PLACE, findings

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Data

_COUNTED = pa.schema([("severity", pa.string()), ("mark", pa.string()), ("findings", pa.int64())])
_KINDS = pa.schema(
    [("mark", pa.string()), ("what", pa.string()), ("places", pa.int64()), ("connections", pa.int64()),
     ("system", pa.string()), ("server_port", pa.int64()), ("job_name", pa.string()), ("remedy", pa.string())]
)  # fmt: skip


def by_severity(data: Data) -> pa.Table:
    """How many findings there are of each severity, those of which there are none included."""
    counted = Counter(findings(data)["severity"].to_pylist())
    rows = [
        {"severity": severity, "mark": mark, "findings": counted[severity]}
        for severity, mark in SEVERITY_MARKS.items()
    ]
    return pa.Table.from_pylist(rows, _COUNTED)


def worst_kinds(data: Data, most: int) -> pa.Table:
    """The worst kinds of finding, those at most places first, each with its place of most connections."""
    found = findings(data)
    grouped = (
        found.group_by(["rank", "id"], use_threads=False)
        .aggregate([("connections", "sum"), ([], "count_all")])
        .sort_by([("rank", "ascending"), ("count_all", "descending"), ("id", "ascending")])
        .slice(0, most)
    )
    # The findings are sorted by severity and connections, so the first of a kind is at its busiest place.
    busiest = {row["id"]: row for row in reversed(found.to_pylist())}
    rows = [
        {name: busiest[row["id"]][name] for name in ("mark", "what", "remedy", *PLACE)}
        | {"places": row["count_all"], "connections": row["connections_sum"]}
        for row in grouped.to_pylist()
    ]
    return pa.Table.from_pylist(rows, _KINDS)
