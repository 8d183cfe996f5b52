"""The table `run`: what its columns mean, and runs as its rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING

import pyarrow as pa

from zscope.schemas.arrow import TEXT, UTC

if TYPE_CHECKING:
    from zscope.pipelines.runs.entry import Run


def _column(
    name: str, arrow: pa.DataType, meaning: str, *, unit: str = "", required: bool = False
) -> pa.Field:
    metadata = {"meaning": meaning} | ({"unit": unit} if unit else {})
    return pa.field(name, arrow, nullable=not required, metadata=metadata)


RUN_SCHEMA = pa.schema(
    [
        _column("name", TEXT, "Name of the run; its sides share it.", required=True),
        _column("system", TEXT, "System on which this side ran.", required=True),
        _column("role", TEXT, "client or server: the side of the connections.", required=True),
        _column("from_utc", UTC, "When the run began on this side.", required=True),
        _column("to_utc", UTC, "When it ended, that moment excluded.", required=True),
        _column("workload", TEXT, "Workload, such as CRR40(64B/8kB)."),
        _column(
            "workload_kind", TEXT, "CRR, RR or STR; null where the workload has several parts or no name."
        ),
        _column("clients", pa.int64(), "Clients, from the workload."),
        _column("client_bytes", pa.int64(), "What a client sends for a transaction.", unit="bytes"),
        _column("server_bytes", pa.int64(), "What the server sends for it.", unit="bytes"),
        _column(
            "transactions", pa.int64(), "Transactions from start to end as counted by the workload driver."
        ),
        _column("tags", pa.list_(TEXT), "key=value: what was set for the run, in order.", required=True),
        _column("note", TEXT, "What else is to be said."),
        _column("synthetic", pa.bool_(), "Whether its data were generated, not measured.", required=True),
    ],
    {"meaning": "One row per side of a benchmark run: client or server, on one system (runs.toml)."},
)


def as_table(runs: Iterable[Run]) -> pa.Table:
    """Runs as rows, in the order of their beginning."""
    rows = [
        asdict(run) for run in sorted(runs, key=lambda run: (run.from_utc, run.name, run.system, run.role))
    ]
    return pa.Table.from_pylist(rows, RUN_SCHEMA)
