"""Handshakes by kind: over time, by place, and the connections behind a bar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pyarrow as pa
import pyarrow.compute as pc

from zscope.schemas.ddl import literal

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Data

Place = Literal["server_port", "job_name", "handshake_role", "system"]
KINDS = {"full": "full", "abbreviated": "resumed", "failed": "failed", "unknown": "unknown"}
"""As the metric counts them, and as people call them."""
_COLUMNS = ("system", "stack", "server_port", "job_name", "handshake_role")
_CONNECTIONS = 500


def over_time(data: Data, by: Literal["hour_utc", "day"]) -> pa.Table:
    """Handshakes of each kind in each hour or day: moment, kind, handshakes, share."""
    return _long(data.metric("handshake_mix", [by]), f"{by}_utc" if by == "day" else by)


def by_place(data: Data, place: Place, most: int = 20) -> pa.Table:
    """Handshakes of each kind at the busiest ports, jobs, roles or systems."""
    found = data.metric("handshake_mix", [place])
    busiest = found.sort_by([("handshakes", "descending")]).slice(0, most)
    return _long(
        busiest.set_column(0, place, pc.fill_null(busiest[place].cast(pa.string()), "unknown")), place
    )


def totals(data: Data) -> dict[str, float | int | None]:
    """Handshakes of each kind and their shares, all together."""
    rows = data.metric("handshake_mix", []).to_pylist()
    return rows[0] if rows else {}


def behind(data: Data, place: Place, value: str, kind: str) -> pa.Table:
    """The newest connections with handshakes of one kind at one place."""
    told = {shown: kind for kind, shown in KINDS.items()}[kind]
    of_kind = (
        f"kind = {literal(told)}" if told != "unknown" else "kind NOT IN ('full', 'abbreviated', 'failed')"
    )
    at = f"{place} IS NULL" if value == "unknown" else f"{place}::VARCHAR = {literal(value)}"
    return data.rows(f"""
        SELECT event_utc, system, stack, job_name, server_port, local_ip, local_port, remote_ip, remote_port,
            handshake_role, tls_version, cipher_name, kind, in_bytes, out_bytes, connection_id
        FROM handshake
        {data.where(_COLUMNS, "event_utc", of_kind, at)}
        ORDER BY event_utc DESC LIMIT {_CONNECTIONS}
    """)


def _long(found: pa.Table, key: str) -> pa.Table:
    """One row for each kind instead of a column."""
    parts = [
        pa.table(
            {
                key: found[key],
                "kind": pa.array([shown] * found.num_rows, pa.string()),
                "handshakes": found[f"{kind}_handshakes"],
                "share_pct": _share(found, kind),
            }
        )
        for kind, shown in KINDS.items()
    ]
    return pa.concat_tables(parts).filter(pc.field("handshakes") > 0).combine_chunks()


def _share(found: pa.Table, kind: str) -> pa.ChunkedArray:
    share = pc.divide(
        pc.cast(found[f"{kind}_handshakes"], pa.float64()), pc.cast(found["handshakes"], pa.float64())
    )
    return pc.multiply(share, 100.0)
