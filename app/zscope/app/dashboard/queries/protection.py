"""Shares of connections that are unprotected, old, weak or unknown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zscope.app.dashboard.answers import Data

Place = Literal["server_port", "system", "system and port", "job_name"]
Weight = Literal["connections", "bytes"]
_BY: dict[Place, tuple[str, ...]] = {
    "server_port": ("server_port",),
    "system": ("system",),
    "system and port": ("system", "server_port"),
    "job_name": ("job_name",),
}


@dataclass(frozen=True, slots=True)
class Kind:
    """Something that can be wrong with protection, and of which connections the share of it is."""

    name: str
    counted: tuple[str, ...]
    """Beginnings of the columns of the metric that count it; no connection is in two of them."""
    of_tls: bool
    always: bool = True
    """Whether it is told where there is none of it, too."""

    @property
    def of(self) -> str:
        """What the share is of."""
        return "connections with TLS" if self.of_tls else "all connections"


KINDS = (
    Kind("unprotected", ("unprotected",), of_tls=False),
    Kind("old version", ("ssl", "tls10_tls11"), of_tls=True),
    Kind("weak encryption", ("weak_cipher",), of_tls=True),
    Kind("no forward secrecy", ("without_pfs",), of_tls=True),
    Kind("unknown", ("unknown",), of_tls=False),
    Kind("no encryption", ("not_encrypted",), of_tls=True, always=False),
    Kind("export suite", ("export",), of_tls=True, always=False),
    Kind("anonymous", ("anonymous",), of_tls=True, always=False),
    Kind("short RSA key", ("short_rsa_key",), of_tls=True, always=False),
)
_COLUMNS = pa.schema(
    [("kind", pa.string()), ("of", pa.string()), ("found", pa.int64()), ("out_of", pa.int64()),
     ("share_pct", pa.float64())]
)  # fmt: skip


def totals(data: Data, weight: Weight) -> pa.Table:
    """The share of each kind, all together; no rows where zERT saw no connection."""
    return _long(data.metric("tls_posture", []).to_pylist(), weight, ())


def by_place(data: Data, place: Place, weight: Weight, most: int = 20) -> pa.Table:
    """The share of each kind at the busiest places."""
    keys = _BY[place]
    rows = data.metric("tls_posture", list(keys)).to_pylist()
    rows.sort(key=lambda row: row[_amount(weight, of_tls=False)] or 0, reverse=True)
    named = [
        {**row, "place": " · ".join("unknown" if row[key] is None else str(row[key]) for key in keys)}
        for row in rows[:most]
    ]
    return _long(named, weight, [pa.field("place", pa.string())])


def over_time(data: Data, by: Literal["hour_utc", "day"], weight: Weight) -> pa.Table:
    """The share of each kind in each hour or day."""
    found = data.metric("tls_posture", [by])
    column = "day_utc" if by == "day" else by
    return _long(found.to_pylist(), weight, [found.schema.field(column)])


def _amount(weight: Weight, *, of_tls: bool) -> str:
    total = {"connections": "connections", "bytes": "total_bytes"}[weight]
    return f"tls_{weight}" if of_tls else total


def _long(rows: list[dict[str, Any]], weight: Weight, keys: Sequence[pa.Field]) -> pa.Table:
    """One row for each kind, of those that are always told or that there is something of."""
    told = [
        {
            **{key.name: row[key.name] for key in keys},
            "kind": kind.name,
            "of": kind.of,
            "found": sum(row[f"{part}_{weight}"] or 0 for part in kind.counted),
            "out_of": row[_amount(weight, of_tls=kind.of_tls)] or 0,
        }
        for kind in KINDS
        for row in rows
        if kind.always or any(other[f"{part}_{weight}"] for other in rows for part in kind.counted)
    ]
    shares = [row | {"share_pct": 100 * row["found"] / row["out_of"]} for row in told if row["out_of"]]
    return pa.Table.from_pylist(shares, pa.schema([*keys, *_COLUMNS]))
