"""Protocols and cipher suites by one source: how many connections and bytes, over time, by port."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from zscope.app.dashboard.queries.cipher_fold import Fold, shown
from zscope.app.dashboard.queries.suite_marks import (
    NOT_KNOWN,
    SHAPES,
    is_without_pfs,
    mark,
    weaknesses,
)
from zscope.schemas.ddl import literal

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Data

Measure = Literal["connections", "bytes"]
Subject = Literal["protocols", "cipher suites"]
ONCE = "each connection once"
NOT_TOLD = "not told"
PORTS = 15
METRICS = {"protocols": "protocol_distribution", "cipher suites": "cipher_distribution"}
NAMES = {"protocols": "protocol", "cipher suites": "cipher_name"}
_MADE_OF = ["key_exchange", "authentication", "encryption", "pfs"]
_SUITES = pa.schema(
    [
        ("mark", pa.string()),
        ("protocol", pa.string()),
        ("cipher", pa.string()),
        ("cipher_name", pa.string()),
        ("weak_because", pa.string()),
        ("key_exchange", pa.string()),
        ("authentication", pa.string()),
        ("encryption", pa.string()),
        ("pfs", pa.string()),
        ("connections", pa.int64()),
        ("bytes", pa.int64()),
        ("connections_pct", pa.float64()),
        ("bytes_pct", pa.float64()),
    ]
)
_Row = Mapping[str, Any]


def sources(data: Data) -> list[str]:
    """The sources that tell of connections: each connection once first, then the fullest."""
    rows = data.metric("protocol_distribution", ["source"]).to_pylist()
    known = [row for row in rows if row["connections"] or row["failed_handshakes"]]
    known.sort(key=lambda row: (row["source"] != ONCE, -(row["connections"] or 0)))
    return [row["source"] for row in known]


def protocols(data: Data, source: str) -> pa.Table:
    """The connections under each protocol, by one source."""
    found = data.metric("protocol_distribution", where=_of(source))
    rows = [
        {**row, "protocol": row["protocol"] or NOT_TOLD, "bytes": _bytes(row)} for row in found.to_pylist()
    ]
    rows.sort(key=lambda row: -(row["connections"] or 0))
    names = ["protocol", "connections", "bytes", "connections_pct", "bytes_pct"]
    return pa.table({name: pa.array([row[name] for row in rows], _type(name)) for name in names})


def suites(data: Data, source: str) -> pa.Table:
    """The connections with each suite, by one source, and what there is to say about the suite."""
    by = ["protocol", "cipher", "cipher_name", *_MADE_OF]
    rows = [
        {
            **row,
            "protocol": row["protocol"] or NOT_TOLD,
            "cipher_name": row["cipher_name"] or NOT_TOLD,
            "mark": f"{SHAPES[mark(row)]} {mark(row)}",
            "weak_because": ", ".join(weaknesses(row)) or None,
            "bytes": _bytes(row),
        }
        for row in data.metric("cipher_distribution", by, where=_of(source)).to_pylist()
        if row["connections"] or _bytes(row)
    ]
    rows.sort(key=lambda row: -(row["connections"] or 0))
    return pa.Table.from_pylist([{name: row[name] for name in _SUITES.names} for row in rows], _SUITES)


def headline(found: pa.Table, measure: Measure) -> dict[str, float | None]:
    """Shares of the connections or bytes under TLS, in percent; None where there are none."""
    rows = found.to_pylist()

    def share(of: Iterable[_Row]) -> float | None:
        whole = sum(row[measure] or 0 for row in rows)
        return 100 * sum(row[measure] or 0 for row in of) / whole if whole else None

    return {
        "tls13": share(row for row in rows if row["protocol"] == "TLSv1.3"),
        "without_pfs": share(row for row in rows if is_without_pfs(row)),
        "weak": share(row for row in rows if row["weak_because"]),
        "not_known": share(row for row in rows if row["mark"].endswith(NOT_KNOWN)),
    }


def over_time(
    data: Data, source: str, subject: Subject, shown_as: Fold, by: Literal["hour_utc", "day"]
) -> pa.Table:
    """Connections and bytes of each shown protocol or suite in each hour or day, and of the rest together."""
    key = "day_utc" if by == "day" else by
    rows = [row for row in _spread(data, source, subject, by) if row[key] is not None]
    return _gathered(rows, key, pa.timestamp("us", "UTC"), shown_as)


def by_port(data: Data, source: str, subject: Subject, shown_as: Fold, measure: Measure) -> pa.Table:
    """Connections and bytes of each shown protocol or suite, and of the rest, at the busiest ports."""
    ports = data.metric(METRICS[subject], ["server_port"], where=_of(source)).to_pylist()
    amounts = {row["server_port"]: _amount(row, measure) for row in ports if row["server_port"] is not None}
    busiest = sorted(amounts, key=lambda port: (-amounts[port], port))[:PORTS]
    if not busiest:
        return _gathered([], "server_port", pa.string(), shown_as)
    chosen = f"server_port IN ({', '.join(str(int(port)) for port in busiest)})"
    rows = [
        {**row, "server_port": str(row["server_port"])}
        for row in _spread(data, source, subject, "server_port", chosen)
    ]
    return _gathered(rows, "server_port", pa.string(), shown_as)


def failed(data: Data, source: str) -> pa.Table:
    """The ports where handshakes failed, by one source."""
    found = data.metric("protocol_distribution", ["server_port"], where=_of(source)).to_pylist()
    rows = [
        {
            "server_port": NOT_TOLD if row["server_port"] is None else str(row["server_port"]),
            "failed_handshakes": row["failed_handshakes"],
            "connections": row["connections"],
        }
        for row in found
        if row["failed_handshakes"]
    ]
    rows.sort(key=lambda row: (-row["failed_handshakes"], row["server_port"]))
    names = ["server_port", "failed_handshakes", "connections"]
    return pa.table({name: pa.array([row[name] for row in rows], _type(name)) for name in names})


def _spread(
    data: Data, source: str, subject: Subject, over: str, further: str = "true"
) -> list[dict[str, Any]]:
    name = NAMES[subject]
    by = [over, name, *(["cipher", *_MADE_OF] if subject == "cipher suites" else [])]
    found = data.metric(METRICS[subject], by, where=f"{_of(source)} AND {further}")
    rows: list[dict[str, Any]] = found.to_pylist()
    for row in rows:
        marked = f"{SHAPES[mark(row)]} {mark(row)}" if subject == "cipher suites" else ""
        row["name"] = shown(row[name] or NOT_TOLD, marked)
    return rows


def _gathered(rows: Sequence[_Row], key: str, kind: pa.DataType, shown_as: Fold) -> pa.Table:
    """Rows put together by key and by what they are shown as."""
    sums: dict[tuple[Any, str], list[int]] = {}
    for row in rows:
        if row["name"] in shown_as.groups:
            found = sums.setdefault((row[key], shown_as.groups[row["name"]]), [0, 0])
            found[0] += row["connections"] or 0
            found[1] += _bytes(row) or 0
    return pa.table(
        {
            key: pa.array([at for at, _ in sums], kind),
            "name": pa.array([name for _, name in sums], pa.string()),
            "connections": pa.array([found[0] for found in sums.values()], pa.int64()),
            "bytes": pa.array([found[1] for found in sums.values()], pa.int64()),
        }
    )


def _of(source: str) -> str:
    return f"source = {literal(source)}"


def _bytes(row: _Row) -> int | None:
    parts = [row[way] for way in ("in_bytes", "out_bytes") if row[way] is not None]
    return sum(parts) if parts else None


def _amount(row: _Row, measure: Measure) -> int:
    return (row["connections"] if measure == "connections" else _bytes(row)) or 0


def _type(name: str) -> pa.DataType:
    if name.endswith("_pct"):
        return pa.float64()
    return pa.int64() if name in ("connections", "bytes", "amount", "failed_handshakes") else pa.string()
