"""Queries of the page Ciphers and versions: connections and bytes by protocol and suite, from one source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from zscope.app.dashboard.protection_records import protection_records, records_named
from zscope.app.dashboard.style import DAY
from zscope.app.dashboard.suites import NOT_KNOWN, SHAPES, WEAK, mark
from zscope.schemas.sql_text import literal

if TYPE_CHECKING:
    from zscope.app.dashboard.page_data import PageData
    from zscope.app.dashboard.time_axis import Span


@dataclass(frozen=True, slots=True)
class FoldedShares:
    """The protocols or suites of a chart: large ones one by one, small ones together."""

    groups: Mapping[str, str]
    """The label of each protocol or suite."""
    amounts: Mapping[str, int]
    """The amount of each label, the largest first and the rest at the end."""
    marks: Mapping[str, str]

    @property
    def labels(self) -> list[str]:
        """All labels."""
        return list(self.amounts)

    @property
    def table(self) -> pa.Table:
        """The labels with their amounts and shares."""
        whole = sum(self.amounts.values())
        shares = [100 * amount / whole if whole else None for amount in self.amounts.values()]
        return pa.table(
            {
                "name": pa.array(self.labels, pa.string()),
                "mark": pa.array(list(self.marks.values()), pa.string()),
                "amount": pa.array(list(self.amounts.values()), pa.int64()),
                "share_pct": pa.array(shares, pa.float64()),
            }
        )


def fold(whole: pa.Table, column: str, measure: str, most: int) -> FoldedShares:
    """Return the largest protocols or suites, and the rest as one; weak suites are a separate rest."""
    amounts: dict[str, int] = {}
    marks: dict[str, str] = {}
    for row in whole.to_pylist():
        name = shown(row[column], row.get("mark", ""))
        amounts[name] = amounts.get(name, 0) + (row[measure] or 0)
        marks[name] = row.get("mark", "")
    ranked = sorted(amounts, key=lambda key: (-amounts[key], key))
    large = ranked if len(ranked) <= most + 1 else ranked[:most]
    weak = [name for name in ranked[len(large) :] if marks[name].startswith(SHAPES[WEAK])]
    rest = [name for name in ranked[len(large) :] if name not in weak]
    groups = {name: name for name in large}
    groups |= _together(weak, f"{SHAPES[WEAK]} other weak suites")
    groups |= _together(rest, "other")
    sums = dict.fromkeys(groups.values(), 0)
    for name, label in groups.items():
        sums[label] += amounts[name]
    label_marks = {label: marks.get(label, "") for label in sums}
    if weak:
        label_marks[groups[weak[0]]] = marks[weak[0]]
    return FoldedShares(groups, sums, label_marks)


def _together(names: list[str], word: str) -> dict[str, str]:
    """The label of small protocols or suites; a single one has its own name."""
    return (
        dict.fromkeys(names, f"{word} ({len(names)})") if len(names) > 1 else {name: name for name in names}
    )


def shown(name: str, marked: str) -> str:
    """Return a suite with the shape of its mark before the name.

    >>> shown("TLS_RSA_WITH_RC4_128_SHA", "▲ weak")
    '▲ TLS_RSA_WITH_RC4_128_SHA'
    """
    return f"{marked[0]} {name}" if marked else name


Measure = Literal["connections", "bytes"]
Subject = Literal["protocols", "cipher suites"]
ONCE = "each connection once"
NOT_IN_SOURCE = "not known"
PORTS = 15
METRICS = {"protocols": "protocol_distribution", "cipher suites": "cipher_distribution"}
NAMES = {"protocols": "protocol", "cipher suites": "cipher_name"}
_MADE_OF = [
    "key_exchange", "authentication", "encryption", "pfs", "suite_rating", "weak_because", "is_without_pfs",
]  # fmt: skip
SUITE_COLUMNS = ("protocol", "cipher", "cipher_name", *_MADE_OF)
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
        ("is_without_pfs", pa.bool_()),
        ("connections", pa.int64()),
        ("bytes", pa.int64()),
        ("connections_pct", pa.float64()),
        ("bytes_pct", pa.float64()),
    ]
)
_Row = Mapping[str, Any]


def sources(data: PageData) -> list[str]:
    """Return the sources with connections: the one without duplicates first, then by connections."""
    rows = data.metric("protocol_distribution", ["source"]).to_pylist()
    known = [row for row in rows if row["connections"] or row["failed_handshakes"]]
    known.sort(key=lambda row: (row["source"] != ONCE, -(row["connections"] or 0)))
    return [row["source"] for row in known]


def protocols(data: PageData, source: str) -> pa.Table:
    """Return the connections of each protocol in one source."""
    table = data.metric("protocol_distribution", where=of_source(source))
    rows = [
        {**row, "protocol": row["protocol"] or NOT_IN_SOURCE, "bytes": _bytes(row)}
        for row in table.to_pylist()
    ]
    rows.sort(key=lambda row: -(row["connections"] or 0))
    names = ["protocol", "connections", "bytes", "connections_pct", "bytes_pct"]
    return pa.table({name: pa.array([row[name] for row in rows], _type(name)) for name in names})


def suites(data: PageData, source: str) -> pa.Table:
    """Return the connections of each suite in one source, with the rating of the suite."""
    by = list(SUITE_COLUMNS)
    rows = [
        {
            **row,
            "protocol": row["protocol"] or NOT_IN_SOURCE,
            "cipher_name": row["cipher_name"] or NOT_IN_SOURCE,
            "mark": mark(row["suite_rating"]),
            "bytes": _bytes(row),
        }
        for row in data.metric("cipher_distribution", by, where=of_source(source)).to_pylist()
        if row["connections"] or _bytes(row)
    ]
    rows.sort(key=lambda row: -(row["connections"] or 0))
    return pa.Table.from_pylist([{name: row[name] for name in _SUITES.names} for row in rows], _SUITES)


def headline(all_suites: pa.Table, measure: Measure) -> dict[str, float | None]:
    """Return shares of the connections or bytes under TLS in percent; None without any."""
    rows = all_suites.to_pylist()

    def share(of: Iterable[_Row]) -> float | None:
        whole = sum(row[measure] or 0 for row in rows)
        return 100 * sum(row[measure] or 0 for row in of) / whole if whole else None

    return {
        "tls13": share(row for row in rows if row["protocol"] == "TLSv1.3"),
        "without_pfs": share(row for row in rows if row["is_without_pfs"]),
        "weak": share(row for row in rows if row["weak_because"]),
        "not_known": share(row for row in rows if row["mark"].endswith(NOT_KNOWN)),
    }


@dataclass(frozen=True, slots=True)
class ZertFigures:
    """Two figures of other pages: of the records that count for the posture, and of zERT detail records."""

    unprotected_pct: float | None
    failed: int
    records: str = ""
    """The records of the first, with the share of the hours that they cover."""


def zert_figures(data: PageData) -> ZertFigures:
    """Return the share of unprotected connections and the failed handshakes as other pages show them."""
    posture = protection_records(data)
    handshakes = data.metric("handshake_mix", []).to_pylist()
    return ZertFigures(
        posture[0]["unprotected_pct"] if posture else None,
        (handshakes[0]["failed_handshakes"] or 0) if handshakes else 0,
        records_named(posture[0]) if posture else "",
    )


def over_time(data: PageData, source: str, subject: Subject, shown_as: FoldedShares, by: Span) -> pa.Table:
    """Return connections and bytes of each label in each hour or day."""
    rows = [row for row in _spread(data, source, subject, by) if row[by] is not None]
    return _gathered(rows, by, pa.date32() if by == DAY else pa.timestamp("us", "UTC"), shown_as)


def by_port(
    data: PageData, source: str, subject: Subject, shown_as: FoldedShares, measure: Measure
) -> pa.Table:
    """Return connections and bytes of each label at the busiest ports."""
    ports = data.metric(METRICS[subject], ["server_port"], where=of_source(source)).to_pylist()
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


def failed(data: PageData, source: str) -> pa.Table:
    """Return the ports with failed handshakes in one source."""
    ports = data.metric("protocol_distribution", ["server_port"], where=of_source(source)).to_pylist()
    rows = [
        {
            "server_port": NOT_IN_SOURCE if row["server_port"] is None else str(row["server_port"]),
            "failed_handshakes": row["failed_handshakes"],
            "connections": row["connections"],
        }
        for row in ports
        if row["failed_handshakes"]
    ]
    rows.sort(key=lambda row: (-row["failed_handshakes"], row["server_port"]))
    names = ["server_port", "failed_handshakes", "connections"]
    return pa.table({name: pa.array([row[name] for row in rows], _type(name)) for name in names})


def _spread(
    data: PageData, source: str, subject: Subject, over: str, further: str = "true"
) -> list[dict[str, Any]]:
    name = NAMES[subject]
    by = [over, name, *(["cipher", "suite_rating"] if subject == "cipher suites" else [])]
    table = data.metric(METRICS[subject], by, where=f"{of_source(source)} AND {further}")
    rows: list[dict[str, Any]] = table.to_pylist()
    for row in rows:
        marked = mark(row["suite_rating"]) if subject == "cipher suites" else ""
        row["name"] = shown(row[name] or NOT_IN_SOURCE, marked)
    return rows


def _gathered(rows: Sequence[_Row], key: str, kind: pa.DataType, shown_as: FoldedShares) -> pa.Table:
    """Sums of the rows by key and label."""
    sums: dict[tuple[Any, str], list[int]] = {}
    for row in rows:
        if row["name"] in shown_as.groups:
            amounts = sums.setdefault((row[key], shown_as.groups[row["name"]]), [0, 0])
            amounts[0] += row["connections"] or 0
            amounts[1] += _bytes(row) or 0
    return pa.table(
        {
            key: pa.array([at for at, _ in sums], kind),
            "name": pa.array([name for _, name in sums], pa.string()),
            "connections": pa.array([amounts[0] for amounts in sums.values()], pa.int64()),
            "bytes": pa.array([amounts[1] for amounts in sums.values()], pa.int64()),
        }
    )


def of_source(source: str) -> str:
    """Return the condition of the rows of a source."""
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
