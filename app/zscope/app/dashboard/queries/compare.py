"""Two benchmark runs: how far apart they are, and the intervals that this comes from."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from zscope.schemas.ddl import literal

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Data

MEASURES = {
    "cpu_per_tran": "CPU per transaction",
    "ziip_per_tran": "zIIP time per transaction",
    "transaction_rate": "Transactions per second",
    "latency": "Latency",
    "throughput": "Throughput",
}
NOISE = {True: "more than noise", False: "within noise", None: "no interval"}
"""What `distinguishable` says, in words."""


def differences(data: Data, baseline: str, candidate: str) -> pa.Table:
    """One row for each side and measure that two runs have in common."""
    found = data.metric(
        "run_comparison", where=f"baseline = {literal(baseline)} AND candidate = {literal(candidate)}"
    )
    order = list(MEASURES)
    rows = [order.index(name) if name in order else len(order) for name in found["measure"].to_pylist()]
    found = found.append_column("measured", pa.array(_named(found["measure"]), pa.string()))
    noise = [NOISE[value] for value in found["distinguishable"].to_pylist()]
    found = found.append_column("noise", pa.array(noise, pa.string()))
    return found.take(pc.sort_indices(pa.array(rows, pa.int64())))


def roles(found: pa.Table) -> tuple[str, ...]:
    """The sides that were compared, both together first."""
    there = set(found["role"].to_pylist())
    return tuple(role for role in ("both", "client", "server") if role in there)


def of_side(found: pa.Table, role: str) -> pa.Table:
    """The measures of one side."""
    return found.filter(pc.field("role") == role)


def intervals(data: Data, began: Mapping[str, datetime]) -> pa.Table:
    """The intervals of runs with what came out of each, by name of the run and its begin."""
    names = ", ".join(literal(name) for name in began)
    return drawable(data.metric("run_interval", where=f"name IN ({names})").to_pylist(), began)


def drawable(rows: list[dict[str, Any]], began: Mapping[str, datetime]) -> pa.Table:
    """Intervals with their measures and the minutes since the run began."""
    lines = [
        {
            "run": row["name"],
            "side": f"{row['role']} {row['system']}",
            "role": row["role"],
            "interval_start_utc": row["interval_start_utc"],
            "minutes": (row["interval_start_utc"] - began[row["name"]]).total_seconds() / 60,
            "used": "left out" if row["trimmed"] else "used",
            "why": row["why"],
            "seconds": row["interval_ms"] / 1000,
            "cpu_s": row["cpu_s"],
            "transactions": row["transactions"],
            "cpu_per_tran": _ratio(row["cpu_s"], row["transactions"], 1e6),
            "ziip_per_tran": _ratio(row["ziip_s"], row["transactions"], 1e6),
            "transaction_rate": _ratio(row["transactions"], row["interval_ms"], 1e3),
            "latency": row["latency_ms"],
            "throughput": _ratio(_sum(row["in_bytes"], row["out_bytes"]), row["interval_ms"], 1e3),
        }
        for row in rows
    ]
    text = ("run", "side", "role", "used", "why")
    kinds = {name: pa.string() for name in text} | {"interval_start_utc": pa.timestamp("us", "UTC")}
    names = (
        "run", "side", "role", "interval_start_utc", "minutes", "used", "why", "seconds", "cpu_s",
        "transactions", *MEASURES,
    )  # fmt: skip
    return pa.table(
        {name: pa.array([line[name] for line in lines], kinds.get(name, pa.float64())) for name in names}
    )


def _named(measures: pa.ChunkedArray) -> list[str]:
    return [MEASURES.get(name, name) for name in measures.to_pylist()]


def _ratio(above: float | None, below: float | None, times: float) -> float | None:
    return times * above / below if above is not None and below else None


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other
