"""Snapshots of the connections in a dump, from which displays are generated."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zscope.parsers.api import scan

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

TABLE = "smf119_zert_detail"
ENDED = (3, 4)
"""Events of the records that describe the whole connection."""
CLOSED_S = 240
"""Time for which a connection is still displayed after its end, waiting for late packets."""
RESUMED, TLS13, CLIENT = 2, 0x0304, 1
_COLUMNS = (
    "system,stack,job_name,user_id,connection_id,local_ip,local_port,remote_ip,remote_port,start_utc,end_utc,"
    "in_bytes,out_bytes,in_segments,out_segments,tls_version,cipher,session_id,handshake_type,handshake_role,"
    "event_type"
)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The connections of a system at one point in time."""

    system: str
    at_utc: datetime
    open: list[dict[str, Any]]
    """Established connections."""
    closing: list[dict[str, Any]]
    """Connections that ended shortly before."""


def busiest_snapshots(dump: Path) -> list[Snapshot]:
    """Return for each system the snapshot with the most open connections."""
    times = pa.Table.from_batches(
        [_ended(batch.rows) for batch in scan(dump, f"{TABLE}[system,start_utc,end_utc,event_type]")]
        or [_nothing()]
    )
    systems = sorted(name for name in times["system"].unique().to_pylist() if name)
    times_by_system = {name: _busiest(times.filter(pc.equal(times["system"], name))) for name in systems}
    open_then: dict[str, list[dict[str, Any]]] = {name: [] for name in systems}
    closing: dict[str, list[dict[str, Any]]] = {name: [] for name in systems}
    for batch in scan(dump, f"{TABLE}[{_COLUMNS}]"):
        rows = _ended(batch.rows)
        for name, time in times_by_system.items():
            at = pa.scalar(time, rows["start_utc"].type)
            started = pc.and_(pc.equal(rows["system"], name), pc.less_equal(rows["start_utc"], at))
            recent = pa.scalar(time - timedelta(seconds=CLOSED_S), rows["start_utc"].type)
            displayed = rows.filter(pc.and_(started, pc.greater(rows["end_utc"], recent))).to_pylist()
            open_then[name] += [row for row in displayed if row["end_utc"] > time]
            closing[name] += [row for row in displayed if row["end_utc"] <= time]
    return [Snapshot(name, times_by_system[name], open_then[name], closing[name]) for name in systems]


def _nothing() -> pa.RecordBatch:
    utc = pa.timestamp("us", "UTC")
    schema = pa.schema([("system", pa.string()), ("start_utc", utc), ("end_utc", utc)])
    return pa.RecordBatch.from_pylist([], schema)


def _ended(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Return the rows of ended connections, without dictionaries, which differ between batches."""
    ended = rows.filter(pc.is_in(rows["event_type"], pa.array(ENDED, pa.uint8())))
    plain = [
        column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
        for column in ended.columns
    ]
    table = pa.RecordBatch.from_arrays(plain, ended.schema.names)
    return table.drop_columns(["event_type"])


def _busiest(times: pa.Table) -> datetime:
    """Return the first whole second with the most open connections."""
    starts, ends = (_seconds(times[name]) for name in ("start_utc", "end_utc"))
    starts, ends = np.sort(starts), np.sort(ends)
    seconds = np.unique(np.ceil(starts).astype(np.int64))
    count = np.searchsorted(starts, seconds, "right") - np.searchsorted(ends, seconds, "right")
    busiest: datetime = pa.scalar(int(seconds[np.argmax(count)]), pa.timestamp("s", "UTC")).as_py()
    return busiest


def _seconds(column: pa.ChunkedArray) -> NDArray[np.float64]:
    micro = column.cast(pa.int64()).to_numpy()
    return np.asarray(micro, np.float64) / 1e6


@dataclass(slots=True)
class CacheCounters:
    """Counters of a session cache of System SSL: the handshakes of servers up to some time."""

    full: int = 0
    resumed: int = 0
    missed: int | None = None
    """Retrievals without a usable session; None for a made-up share of the successful ones."""
    reset: datetime | None = None
    """Time of the last reset of the counters in UTC."""
    started: datetime | None = None
    """Start of the started task in UTC; None for some days before a display."""


def cache_counters(dump: Path, times: list[datetime]) -> dict[tuple[str, bool, datetime], CacheCounters]:
    """Return the counters by system, whether TLS 1.3, and time."""
    counts: dict[tuple[str, bool, datetime], CacheCounters] = {}
    columns = "system,end_utc,tls_version,handshake_type,handshake_role,event_type"
    for batch in scan(dump, f"{TABLE}[{columns}]"):
        for row in _ended(batch.rows).to_pylist():
            if row["tls_version"] is None or row["handshake_role"] == CLIENT:
                continue
            for time in times:
                if row["end_utc"] <= time:
                    key = row["system"], row["tls_version"] >= TLS13, time
                    counters = counts.setdefault(key, CacheCounters())
                    counters.full += row["handshake_type"] != RESUMED
                    counters.resumed += row["handshake_type"] == RESUMED
    return counts
