"""Certificates: when they expire, what is weak about them, and where one is used."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import altair as alt
import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from zscope.app.dashboard.drawing import (
    grid,
    no_data,
    number,
    picture,
    plain,
    selectable_grid,
    without_effect,
)
from zscope.app.dashboard.style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    RED,
    colours,
    time_axis,
    time_tip,
    values,
)
from zscope.schemas.arrow import literal

if TYPE_CHECKING:
    from zscope.app.dashboard.store import PageData


PLACE = ("system", "server_port", "job_name")
EXPIRY_MARKS = {
    "expired": "✕ expired", "<= 30 days": "▲ within 30 days", "<= 60 days": "◆ within 60 days",
    "<= 90 days": "● within 90 days", "later": "○ later", "unknown": "? unknown",
}  # fmt: skip
"""Labels of the values of the metric."""
NO_REMARK = "no remark"
_SHORTEST = {"RSA": 2048, "DSA": 2048, "Diffie-Hellman": 2048, "elliptic curve": 224}
"""Shortest keys with 112 bits of security, by type; for other types it is not known."""
_IDENTITY = ("serial", "issuer_dn")
_USES = 500


def this_hour() -> str:
    """Return a condition that is always true and changes every hour.

    Results are cached until data is loaded, but days left depend on the current time: with this condition, a
    cached result is used for one hour only.
    """
    hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    return f"now() >= TIMESTAMPTZ {literal(hour.isoformat())}"


def all_certificates(data: PageData) -> pa.Table:
    """Return the certificates used at a place that matches the filters, the first to expire first.

    Besides the columns of the metric: `name`, `remark` on weaknesses, and `mark`, the label of its expiry.
    """
    table = data.metric("certificate_inventory", where=this_hour())
    rows = table.to_pylist()
    if place := data.where(PLACE):
        used = data.rows(f"SELECT DISTINCT {', '.join(_IDENTITY)} FROM certificate_seen {place}")
        identities = {tuple(row.values()) for row in used.to_pylist()}
        rows = [row for row in rows if tuple(row[name] for name in _IDENTITY) in identities]
    described = [
        row | {"name": name_of(row), "remark": remark_of(row), "mark": EXPIRY_MARKS[row["expiry"]]}
        for row in rows
    ]
    further = [pa.field(name, pa.string()) for name in ("name", "remark", "mark")]
    return pa.Table.from_pylist(described, pa.schema([*table.schema, *further]))


def closest(certificates: pa.Table, most: int = 25) -> pa.Table:
    """Return the certificates that expire closest to today, before or after it, by their last day."""
    dated = [row for row in certificates.to_pylist() if row["days_left"] is not None]
    near = sorted(dated, key=lambda row: abs(row["days_left"]))[:most]
    return pa.Table.from_pylist(sorted(near, key=lambda row: row["not_after_utc"]), certificates.schema)


def uses(data: PageData, certificate: dict[str, Any]) -> pa.Table:
    """Return the places where a certificate was used, the busiest first."""
    same = " AND ".join(f"{name} IS NOT DISTINCT FROM {_text(certificate[name])}" for name in _IDENTITY)
    return data.rows(f"""
        SELECT system, server_port, job_name, certificate_of, presented_by, connections,
            first_seen_utc, last_seen_utc
        FROM certificate_seen
        {data.where(PLACE, "", same)}
        ORDER BY connections DESC, system, server_port, job_name LIMIT {_USES}
    """)


def _text(value: str | None) -> str:
    return "NULL" if value is None else literal(value)


def name_of(row: dict[str, Any]) -> str:
    """Return the name of a certificate: the common name of its subject, its subject, or its serial number."""
    subject = row["subject_dn"] or ""
    common = next((part.strip()[3:] for part in subject.split(",") if part.strip().startswith("CN=")), "")
    return common or subject or f"serial {row['serial']}"


def remark_of(row: dict[str, Any]) -> str:
    """Return the weaknesses of a certificate in words."""
    remarks = ["self-signed"] if row["self_signed"] else []
    shortest = _SHORTEST.get(row["key_type"])
    if shortest and row["key_bits"] and row["key_bits"] < shortest:
        remarks.append("short key")
    return ", ".join(remarks) or NO_REMARK


_COLOURS = dict(zip(EXPIRY_MARKS.values(), (RED, ORANGE, PURPLE, GREEN, BLUE, GREY), strict=True))
_SHAPES = {
    NO_REMARK: "circle", "self-signed": "square", "short key": "triangle-up",
    "self-signed, short key": "diamond",
}  # fmt: skip
_AHEAD_DAYS = (0, 30, 60, 90)
_MOST = 2000
_AXIS = "Last day (UTC)"
_COLUMNS = (
    "mark", "days_left", "not_after_utc", "name", "remark", "systems", "server_ports", "job_names",
    "connections", "presented_by", "key_type", "key_bits", "signature", "issuer_dn", "serial",
    "first_seen_utc", "last_seen_utc",
)  # fmt: skip


def certificates_section(data: PageData) -> None:
    """Draw the certificates, or what would fill the section."""
    certificates = all_certificates(data)
    without_effect(data.filters.without_effect(PLACE))
    if not certificates.num_rows:
        no_data(
            "There are no certificates. They come from zERT detail records (SMF 119 subtype 11) with "
            "distinguished names, and from zERT summary records (subtype 12) of z/OS 3.2.",
            "zscope ingest SMF.DUMP --select '119(11,12)'",
        )
        return
    _numbers(certificates)
    _on_time_axis(closest(certificates), certificates.num_rows)
    _listed(data, certificates)


def _numbers(certificates: pa.Table) -> None:
    days, remarks = certificates["days_left"], certificates["remark"]
    expired = pc.equal(certificates["expiry"], "expired")
    soon = pc.and_kleene(pc.less_equal(days, 90), pc.invert(expired))
    shown = {
        "Certificates": certificates.num_rows,
        "Expired": _count(expired),
        "Expire within 90 days": _count(soon),
        "Self-signed": _count(pc.match_substring(remarks, "self-signed")),
        "Short keys": _count(pc.match_substring(remarks, "short key")),
    }
    for column, (title, value) in zip(st.columns(len(shown)), shown.items(), strict=True):
        column.metric(title, number(value, 0), border=True)


def _count(true: pa.ChunkedArray) -> int:
    return pc.sum(true).as_py() or 0


def _on_time_axis(near: pa.Table, total: int) -> None:
    st.subheader("Expiry dates")
    if not near.num_rows:
        st.caption("No record contains the expiry date of a certificate.")
        return
    order = list(dict.fromkeys(near["name"].to_pylist()))
    points = (
        alt.Chart(values(near.drop_columns(["certificate_of", "presented_by"])))
        .mark_point(filled=True, size=110, opacity=1)
        .encode(
            x=time_axis("not_after_utc", _AXIS),
            y=alt.Y("name:N", title=None, sort=order, axis=alt.Axis(labelLimit=280, grid=True)),
            color=alt.Color("mark:N", title="Expiry", scale=colours(_COLOURS)),
            shape=alt.Shape(
                "remark:N", title="Remark",
                scale=alt.Scale(domain=list(_SHAPES), range=list(_SHAPES.values())),
                legend=alt.Legend(symbolFillColor=GREY, symbolStrokeColor=GREY),
            ),
            tooltip=[
                alt.Tooltip("name:N", title="Certificate"),
                time_tip("not_after_utc", "Last moment (UTC)"),
                alt.Tooltip("days_left:Q", title="Days left"),
                alt.Tooltip("remark:N", title="Remark"),
                alt.Tooltip("issuer_dn:N", title="Issuer"),
                alt.Tooltip("systems:N", title="Systems"),
                alt.Tooltip("server_ports:N", title="Ports"),
                alt.Tooltip("job_names:N", title="Jobs"),
            ],
        )
    )  # fmt: skip
    chart = alt.layer(*_days_ahead(), points).properties(height=alt.Step(24))
    picture(chart, near, "certificates-by-expiry",
            "Certificates by expiry date on a time axis, with lines for today and 30, 60 and 90 days ahead.",
            sources=["certificate_inventory"])  # fmt: skip
    if total > near.num_rows:
        st.caption(f"The {near.num_rows} of {total:,} certificates with an expiry date closest to today.")


def _days_ahead() -> list[alt.Chart]:
    """Lines for today and some days ahead; the labels are staggered because the lines can be close."""
    today = datetime.now(UTC)
    lines = []
    for floor, days in enumerate(_AHEAD_DAYS):
        labelled = {
            "day": (today + timedelta(days=days)).isoformat(),
            "words": f"{days} days" if days else "today",
        }
        base = alt.Chart(alt.InlineData([labelled])).encode(x=time_axis("day", _AXIS))
        lines.append(base.mark_rule(color=GREY, strokeDash=[4, 4] if days else [1, 0], strokeWidth=1.5))
        lines.append(
            base.mark_text(align="left", dx=3, color=GREY).encode(
                text="words:N", y=alt.value(-8 - 12 * (len(_AHEAD_DAYS) - 1 - floor))
            )
        )
    return lines


def _listed(data: PageData, certificates: pa.Table) -> None:
    st.subheader("All certificates, by days left")
    row = selectable_grid(
        certificates.slice(0, _MOST), "certificates", (data.version, data.filters), height=360,
        sources=["certificate_inventory"], columns=_COLUMNS,
        config={
            "mark": st.column_config.TextColumn("Expiry", width=140),
            "name": st.column_config.TextColumn("Certificate", help="Common name of its subject."),
            "remark": st.column_config.TextColumn(
                "Remark", help="Self-signed, or a key with less than 112 bits of security: RSA below 2048."
            ),
        },
    )  # fmt: skip
    if certificates.num_rows > _MOST:
        st.caption(f"The {_MOST:,} of {certificates.num_rows:,} certificates that expire first.")
    if row is None:
        st.caption("Select a row with the box at its left to see where the certificate is used.")
        return
    _where_used(data, row)


def _where_used(data: PageData, certificate: dict[str, Any]) -> None:
    st.markdown(f"**Where it is used**: {plain(certificate['name'])}, serial {plain(certificate['serial'])}")
    grid(uses(data, certificate), "certificate-uses", sources=["certificate_seen"])
