"""Which share of the handshakes resumes a session, as zERT and as GSKSRVR tell it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from zscope.schemas.ddl import literal

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Data

VERSIONS = ("TLSv1.3", "TLSv1.2 and older")
IN_PERIOD = "(source <> 'GSKSRVR' OR basis = 'between displays' OR resets > 0)"
"""Leaves out the first display of each cache: it counts from before the other data begins."""
_SIDES = ("server", "client")
_ENDS = ["interval_start_utc", "interval_end_utc"]
_MOST_MARKS = 3000
"""So many intervals between displays one picture can show; with more of them days are shown."""
_SHARES = pa.schema(
    [
        ("source", pa.string()),
        ("system", pa.string()),
        ("versions", pa.string()),
        ("start_utc", pa.timestamp("us", "UTC")),
        ("end_utc", pa.timestamp("us", "UTC")),
        ("counted", pa.string()),
        ("full_handshakes", pa.int64()),
        ("resumed_handshakes", pa.int64()),
        ("resumed_pct", pa.float64()),
        ("published_pct", pa.float64()),
    ]
)


@dataclass(frozen=True, slots=True)
class Published:
    """A published figure and where it stands."""

    as_printed: str
    where: str


def sides(data: Data) -> list[str]:
    """The sides of which there are handshakes, servers first."""
    found = data.metric("resumption_rate", ["side"], where="full_handshakes + resumed_handshakes > 0")
    return [side for side in _SIDES if side in found["side"].to_pylist()]


def totals(data: Data) -> dict[str, dict[str, Any]]:
    """All that each source counts on the side of servers."""
    rows = data.metric("resumption_rate", ["source"], where=f"side = 'server' AND {IN_PERIOD}").to_pylist()
    return {row["source"]: row for row in rows}


def side_by_side(data: Data, side: str) -> pa.Table:
    """The resumed share of each system by each source; of times of which both tell, where there are such."""
    by = ["source", "system", "versions"]
    counted = f"side = {literal(side)} AND {IN_PERIOD}"
    both = data.metric("resumption_rate", by, where=f"{counted} AND why_sources_differ IS NOT NULL")
    compared = {(row["system"], row["versions"]) for row in both.to_pylist()}
    every = data.metric("resumption_rate", by, where=counted)
    others = [row for row in every.to_pylist() if (row["system"], row["versions"]) not in compared]
    told = [{**row, "counted": "times of which both tell"} for row in both.to_pylist()]
    found = _shares([*told, *({**row, "counted": "all times"} for row in others)])
    return found.drop_columns(["start_utc", "end_utc"])


def why_sources_differ(data: Data) -> list[str]:
    """Why zERT and GSKSRVR need not agree, in the words of the metric; nothing unless both tell."""
    rows = data.metric("resumption_rate", ["source"], where="why_sources_differ IS NOT NULL").to_pylist()
    return [str(row["why_sources_differ"]) for row in rows]


def over_time(data: Data, side: str, by: Literal["hour_utc", "day"]) -> pa.Table:
    """The resumed share over time: zERT of all systems together, GSKSRVR of each system."""
    at = f"side = {literal(side)} AND {IN_PERIOD} AND interval_start_utc IS NOT NULL"
    zert, gsk = f"source = 'zERT' AND {at}", f"source = 'GSKSRVR' AND {at}"
    if by == "hour_utc":
        displays = data.metric("resumption_rate", ["system", "versions", *_ENDS], where=gsk)
        if displays.num_rows <= _MOST_MARKS:
            hours = data.metric("resumption_rate", ["versions", *_ENDS], where=zert)
            return _timed([*hours.to_pylist(), *displays.to_pylist()])
    days = data.metric("resumption_rate", ["versions", "day"], where=zert)
    displays = data.metric("resumption_rate", ["system", "versions", "day"], where=gsk)
    return _timed([*days.to_pylist(), *displays.to_pylist()])


def without_time(data: Data) -> int:
    """Handshakes that GSKSRVR counted between times that nothing tells."""
    rows = data.metric("resumption_rate", ["source"], where=f"{IN_PERIOD} AND interval_start_utc IS NULL")
    return sum(row["full_handshakes"] + row["resumed_handshakes"] for row in rows.to_pylist())


def published(data: Data, *ids: str) -> dict[str, Published]:
    """Published results: the figure as printed, and the document with the place in it."""
    marks = ", ".join("?" for _ in ids)
    rows = data.rows(
        f"SELECT id, as_printed, document, published, figure FROM reference_result WHERE id IN ({marks})", ids
    )
    return {
        row["id"]: Published(
            row["as_printed"],
            ", ".join(str(row[part]) for part in ("document", "published", "figure") if row[part]),
        )
        for row in rows.to_pylist()
    }


def _timed(rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    day = timedelta(days=1)
    return _shares(
        {
            **row,
            "system": row.get("system", "all chosen"),
            "start_utc": row["day_utc"] if "day_utc" in row else row["interval_start_utc"],
            "end_utc": row["day_utc"] + day if "day_utc" in row else row["interval_end_utc"],
            "counted": "each day" if "day_utc" in row else "each interval",
        }
        for row in rows
    )


def _shares(rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Rows of the metric that have a share."""
    kept = [{name: row.get(name) for name in _SHARES.names} for row in rows if row["resumed_pct"] is not None]
    table = pa.Table.from_pylist(kept, _SHARES)
    return table.sort_by([("versions", "descending"), ("system", "ascending"), ("source", "descending")])
