"""The connections of a dump at a moment: what a display would have shown then."""

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
"""Events of records that tell the whole connection."""
CLOSED_S = 240
"""So long after its end a connection is still shown, as waiting for late packets."""
ABBREVIATED, TLS13, CLIENT = 2, 0x0304, 1
_COLUMNS = (
    "system,stack,job_name,user_id,connection_id,local_ip,local_port,remote_ip,remote_port,start_utc,end_utc,"
    "in_bytes,out_bytes,in_segments,out_segments,tls_version,cipher,session_id,handshake_type,handshake_role,"
    "event_type"
)


@dataclass(frozen=True, slots=True)
class Moment:
    """A system at a moment."""

    system: str
    at_utc: datetime
    open: list[dict[str, Any]]
    """Connections that were established then."""
    closing: list[dict[str, Any]]
    """Connections that had ended shortly before."""


def busiest_moments(dump: Path) -> list[Moment]:
    """For each system the moment at which the most of its connections were open."""
    times = pa.Table.from_batches(
        [_ended(batch.rows) for batch in scan(dump, f"{TABLE}[system,start_utc,end_utc,event_type]")]
        or [_nothing()]
    )
    systems = sorted(name for name in times["system"].unique().to_pylist() if name)
    moments = {name: _busiest(times.filter(pc.equal(times["system"], name))) for name in systems}
    open_then: dict[str, list[dict[str, Any]]] = {name: [] for name in systems}
    closing: dict[str, list[dict[str, Any]]] = {name: [] for name in systems}
    for batch in scan(dump, f"{TABLE}[{_COLUMNS}]"):
        rows = _ended(batch.rows)
        for name, moment in moments.items():
            at = pa.scalar(moment, rows["start_utc"].type)
            begun = pc.and_(pc.equal(rows["system"], name), pc.less_equal(rows["start_utc"], at))
            lately = pa.scalar(moment - timedelta(seconds=CLOSED_S), rows["start_utc"].type)
            seen = rows.filter(pc.and_(begun, pc.greater(rows["end_utc"], lately))).to_pylist()
            open_then[name] += [row for row in seen if row["end_utc"] > moment]
            closing[name] += [row for row in seen if row["end_utc"] <= moment]
    return [Moment(name, moments[name], open_then[name], closing[name]) for name in systems]


def _nothing() -> pa.RecordBatch:
    utc = pa.timestamp("us", "UTC")
    schema = pa.schema([("system", pa.string()), ("start_utc", utc), ("end_utc", utc)])
    return pa.RecordBatch.from_pylist([], schema)


def _ended(rows: pa.RecordBatch) -> pa.RecordBatch:
    """The rows of connections that ended, without dictionaries, which differ from batch to batch."""
    kept = rows.filter(pc.is_in(rows["event_type"], pa.array(ENDED, pa.uint8())))
    plain = [
        column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
        for column in kept.columns
    ]
    table = pa.RecordBatch.from_arrays(plain, kept.schema.names)
    return table.drop_columns(["event_type"])


def _busiest(times: pa.Table) -> datetime:
    """A whole second at which the most are open; the first one of several."""
    starts, ends = (_seconds(times[name]) for name in ("start_utc", "end_utc"))
    starts, ends = np.sort(starts), np.sort(ends)
    seconds = np.unique(np.ceil(starts).astype(np.int64))
    count = np.searchsorted(starts, seconds, "right") - np.searchsorted(ends, seconds, "right")
    found: datetime = pa.scalar(int(seconds[np.argmax(count)]), pa.timestamp("s", "UTC")).as_py()
    return found


def _seconds(column: pa.ChunkedArray) -> NDArray[np.float64]:
    micro = column.cast(pa.int64()).to_numpy()
    return np.asarray(micro, np.float64) / 1e6


@dataclass(slots=True)
class Handshakes:
    """TLS handshakes of servers up to some time: what the caches of System SSL have counted by then."""

    full: int = 0
    resumed: int = 0
    missed: int | None = None
    """Look-ups that found nothing they could use; None: a made-up share of those that did."""
    reset: datetime | None = None
    """When the counters were set back, in UTC."""
    started: datetime | None = None
    """When the started task was, in UTC; None: some days before a display."""


def handshakes_before(dump: Path, times: list[datetime]) -> dict[tuple[str, bool, datetime], Handshakes]:
    """By system, whether TLS 1.3, and time."""
    counts: dict[tuple[str, bool, datetime], Handshakes] = {}
    columns = "system,end_utc,tls_version,handshake_type,handshake_role,event_type"
    for batch in scan(dump, f"{TABLE}[{columns}]"):
        for row in _ended(batch.rows).to_pylist():
            if row["tls_version"] is None or row["handshake_role"] == CLIENT:
                continue
            for time in times:
                if row["end_utc"] <= time:
                    key = row["system"], row["tls_version"] >= TLS13, time
                    counted = counts.setdefault(key, Handshakes())
                    counted.full += row["handshake_type"] != ABBREVIATED
                    counted.resumed += row["handshake_type"] == ABBREVIATED
    return counts
