"""Post-quantum readiness: the key exchange of the traffic, as far as it is known, and what is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import pyarrow as pa
import streamlit as st

from zscope.app.dashboard.drawing import grid, no_data, number, picture, without_effect
from zscope.app.dashboard.protection_records import POSTURE, chosen_records, of_records
from zscope.app.dashboard.style import GREEN, GREY, ORANGE, colours, values
from zscope.app.dashboard.tiles import MetricFigure, tile
from zscope.schemas.attls import attls_defaults

if TYPE_CHECKING:
    from zscope.app.dashboard.page_data import PageData

OPEN, NOT_OPEN, UNKNOWN = "open to a quantum computer", "not open", "not known"
_COLOURS = {OPEN: ORANGE, NOT_OPEN: GREEN, UNKNOWN: GREY}
_COUNTED_BY = {OPEN: "quantum_open", UNKNOWN: "quantum_unknown", NOT_OPEN: "quantum_not_open"}
"""Prefixes of the columns of the metric."""
_NO_GROUP = "TLS13"
_ALLOWED = pa.schema([
    ("system", pa.string()), ("action_name", pa.string()), ("parameter", pa.string()),
    ("groups", pa.string()), ("has_hybrid", pa.bool_()),
])  # fmt: skip
_COUNTED = pa.schema([
    ("protocol", pa.string()), ("key_exchange", pa.string()), ("readiness", pa.string()),
    ("connections", pa.int64()), ("bytes", pa.int64()), ("share_pct", pa.float64()),
])  # fmt: skip


def key_exchanges(data: PageData, where: str) -> pa.Table:
    """Return connections and bytes with TLS by protocol, key exchange and what is known of it.

    They are among the rows of the posture that meet a condition.
    """
    suites = {
        row["code"]: row["key_exchange"]
        for row in data.rows("SELECT code, key_exchange FROM cipher").to_pylist()
    }
    counted: dict[tuple[str, str, str], list[int]] = {}
    for row in data.metric(POSTURE, ["protocol", "cipher"], where=where).to_pylist():
        for readiness, (connections, volume) in _parts(row).items():
            if connections:
                exchange = suites.get(row["cipher"]) or "not recorded"
                if exchange == _NO_GROUP:
                    exchange = "group not recorded"
                sums = counted.setdefault((row["protocol"] or "unknown", exchange, readiness), [0, 0])
                sums[0] += connections
                sums[1] += volume
    whole = sum(connections for connections, _ in counted.values())
    rows = [
        dict(zip(_COUNTED.names, (*key, connections, volume, 100 * connections / whole), strict=True))
        for key, (connections, volume) in sorted(counted.items(), key=lambda item: (-item[1][0], item[0]))
    ]
    return pa.Table.from_pylist(rows, _COUNTED)


def _parts(row: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """Connections and bytes by what is known of their key exchange."""
    return {
        readiness: (row[f"{name}_connections"] or 0, row[f"{name}_bytes"] or 0)
        for readiness, name in _COUNTED_BY.items()
    }


def seen_groups(data: PageData) -> pa.Table:
    """Return the groups that displays of connections name: the only source of the group of a connection."""
    groups = data.rows(f"""
        SELECT coalesce(key_share_name, key_share) AS key_group,
            count(DISTINCT (system, connection_id))::BIGINT AS connections
        FROM netstat_ttls
        {data.where(("system", "stack", "job_name"), "taken_utc", "key_share IS NOT NULL")}
        GROUP BY ALL ORDER BY connections DESC, key_group
    """)
    hybrid = [_is_hybrid(group) for group in groups["key_group"].to_pylist()]
    return groups.add_column(1, "is_hybrid", pa.array(hybrid, pa.bool_()))


def _is_hybrid(group: str) -> bool:
    """Whether a group is known by its name to be a hybrid group with ML-KEM."""
    return "MLKEM" in group.upper()


def allowed_groups(data: PageData) -> pa.Table:
    """Return the groups for TLSv1.3 that each action of the policies allows, with their names."""
    found = data.rows(f"""
        SELECT system, action_name, parameter,
            list(DISTINCT coalesce(code, parameter_value) ORDER BY coalesce(code, parameter_value)) AS codes
        FROM tls_action
        {data.where(("system", "stack"), "", "parameter IN ('ClientKeyShareGroups', 'ServerKeyShareGroups')")}
        GROUP BY system, action_name, parameter ORDER BY ALL
    """)
    names = attls_defaults().groups
    rows = []
    for row in found.to_pylist():
        groups = [names.get(code, code) for code in row.pop("codes")]
        rows.append({**row, "groups": ", ".join(groups), "has_hybrid": any(map(_is_hybrid, groups))})
    return pa.Table.from_pylist(rows, _ALLOWED)


def quantum_section(data: PageData) -> None:
    """Draw what is known of the key exchange of the traffic, and name what is not."""
    records = chosen_records(data, "quantum_records")
    where = of_records(records) if records else ""
    if records is None or not (rows := key_exchanges(data, where)).num_rows:
        no_data(
            "There are no connections with TLS. They come from zERT records: summaries (SMF 119 subtype 12) "
            "or connection details (11).",
            "zscope ingest SMF.DUMP --select '119(11:12)'",
        )
        return
    _shares(data, rows, where)
    without_effect(data.without_effect(POSTURE))
    _groups(data, seen_groups(data))
    _policy(data, allowed_groups(data))


def _shares(data: PageData, rows: pa.Table, where: str) -> None:
    listed = rows.to_pylist()
    whole = sum(row["connections"] for row in listed)
    for column, readiness in zip(st.columns(len(_COLOURS)), _COLOURS, strict=True):
        count = sum(row["connections"] for row in listed if row["readiness"] == readiness)
        tile(
            column, data, readiness.capitalize(), number(100 * count / whole, 1, "%"),
            MetricFigure(
                POSTURE, f"100 * {_COUNTED_BY[readiness]}_connections / tls_connections", ("source",), where
            ),
            f"{count:,} of {whole:,} connections with TLS.",
        )  # fmt: skip
    st.header("Key exchange of the traffic")
    chart = (
        alt.Chart(values(rows))
        .transform_calculate(place="datum.protocol + ', ' + datum.key_exchange")
        .mark_bar()
        .encode(
            x=alt.X("share_pct:Q", title="Share of the connections with TLS (%)"),
            y=alt.Y("place:N", title=None, sort="-x", axis=alt.Axis(labelLimit=240)),
            color=alt.Color(
                "readiness:N",
                title=None,
                scale=colours(_COLOURS),
                legend=alt.Legend(orient="top", labelLimit=240),
            ),
            tooltip=[
                alt.Tooltip("protocol:N", title="Protocol"),
                alt.Tooltip("key_exchange:N", title="Key exchange"),
                alt.Tooltip("readiness:N", title="Readiness"),
                alt.Tooltip("connections:Q", title="Connections", format=","),
                alt.Tooltip("bytes:Q", title="Bytes", format=","),
                alt.Tooltip("share_pct:Q", title="Share (%)", format=".1f"),
            ],
        )
    )
    picture(chart, rows, "posture-key-exchange",
            "Shares of the connections with TLS by protocol and key exchange, as bars.")  # fmt: skip
    st.caption(
        "Up to TLSv1.2 the cipher suite names the key exchange, and none of them withstands a quantum "
        "computer except pre-shared keys. With TLSv1.3 the group decides, which no SMF record "
        "contains: whether such connections use a hybrid with ML-KEM is not known."
    )


def _groups(data: PageData, seen: pa.Table) -> None:
    st.header("Where the group is known")
    if not seen.num_rows:
        st.caption(
            "Only NETSTAT TTLS displays of single connections name the group, and none is loaded for these "
            "filters: zscope ingest NETSTAT.TXT"
        )
        return
    hybrid = sum(row["connections"] for row in seen.to_pylist() if row["is_hybrid"])
    whole = sum(seen["connections"].to_pylist())
    tile(st.container(), data, "Connections in NETSTAT TTLS displays", number(whole, 0), None)
    tile(st.container(), data, "With a hybrid group with ML-KEM", number(hybrid, 0), None)
    grid(seen, "posture-key-groups", sources=["netstat_ttls"])
    st.caption("Displays are samples: they do not show what share of all traffic a group has.")


def _policy(data: PageData, allowed: pa.Table) -> None:
    st.header("What the policy allows")
    if not allowed.num_rows:
        st.caption(
            "No loaded AT-TLS policy states groups for TLSv1.3; then the defaults of System SSL count."
        )
        return
    hybrid = sum(allowed["has_hybrid"].to_pylist())
    tile(st.container(), data, "Lists of groups", number(allowed.num_rows, 0), None)
    tile(st.container(), data, "With a hybrid with ML-KEM", number(hybrid, 0), None)
    grid(allowed, "posture-allowed-groups", sources=["tls_action"])
