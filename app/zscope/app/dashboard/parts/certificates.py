"""Certificates on a time axis, as a list, and where one of them is used."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import altair as alt
import pyarrow.compute as pc
import streamlit as st

from zscope.app.dashboard.looks import (
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
from zscope.app.dashboard.picking import chosen
from zscope.app.dashboard.queries.certificates import (
    AS_IT_SHOULD_BE,
    EXPIRY_MARKS,
    PLACE,
    closest,
    uses,
)
from zscope.app.dashboard.queries.certificates import certificates as shown_in
from zscope.app.dashboard.show import grid, nothing, number, picture, plain, without_effect

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.answers import Data

_COLOURS = dict(zip(EXPIRY_MARKS.values(), (RED, ORANGE, PURPLE, GREEN, BLUE, GREY), strict=True))
_SHAPES = {
    AS_IT_SHOULD_BE: "circle", "self-signed": "square", "short key": "triangle-up",
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


def certificates(data: Data) -> None:
    """Draw them, or say what would bring them."""
    found = shown_in(data)
    without_effect(data.filters.without_effect(PLACE))
    if not found.num_rows:
        nothing(
            "No certificates: they come from zERT detail records (SMF 119 subtype 11) with distinguished "
            "names, and from zERT summary records (subtype 12) of z/OS 3.2.",
            "zscope ingest SMF.DUMP --select '119(11,12)'",
        )
        return
    _numbers(found)
    _on_time_axis(closest(found), found.num_rows)
    _listed(data, found)


def _numbers(found: pa.Table) -> None:
    days, remarks = found["days_left"], found["remark"]
    gone = pc.equal(found["expiry"], "expired")
    soon = pc.and_kleene(pc.less_equal(days, 90), pc.invert(gone))
    shown = {
        "Certificates": found.num_rows,
        "Expired": _count(gone),
        "Expire within 90 days": _count(soon),
        "Self-signed": _count(pc.match_substring(remarks, "self-signed")),
        "Short keys": _count(pc.match_substring(remarks, "short key")),
    }
    for column, (title, value) in zip(st.columns(len(shown)), shown.items(), strict=True):
        column.metric(title, number(value, 0), border=True)


def _count(true: pa.ChunkedArray) -> int:
    return pc.sum(true).as_py() or 0


def _on_time_axis(near: pa.Table, all_of_them: int) -> None:
    st.subheader("When they expire")
    if not near.num_rows:
        st.caption("No record tells of any of them when it expires.")
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
            "Certificates by their last day on a time axis, with lines for today and for 30, 60, 90 days on.",
            sources=["certificate_inventory"])  # fmt: skip
    if all_of_them > near.num_rows:
        st.caption(f"The {near.num_rows} of {all_of_them:,} whose last day is the closest to today.")


def _days_ahead() -> list[alt.Chart]:
    """Lines for today and some days ahead; their words one above the other, as the lines can be close."""
    today = datetime.now(UTC)
    lines = []
    for floor, days in enumerate(_AHEAD_DAYS):
        told = {
            "day": (today + timedelta(days=days)).isoformat(),
            "words": f"{days} days" if days else "today",
        }
        base = alt.Chart(alt.InlineData([told])).encode(x=time_axis("day", _AXIS))
        lines.append(base.mark_rule(color=GREY, strokeDash=[4, 4] if days else [1, 0], strokeWidth=1.5))
        lines.append(
            base.mark_text(align="left", dx=3, color=GREY).encode(
                text="words:N", y=alt.value(-8 - 12 * (len(_AHEAD_DAYS) - 1 - floor))
            )
        )
    return lines


def _listed(data: Data, found: pa.Table) -> None:
    st.subheader("By days left")
    row = chosen(
        found.slice(0, _MOST), "certificates", (data.version, data.filters), height=360,
        sources=["certificate_inventory"], columns=_COLUMNS,
        config={
            "mark": st.column_config.TextColumn("Expiry", width=140),
            "name": st.column_config.TextColumn("Certificate", help="Common name of its subject."),
            "remark": st.column_config.TextColumn(
                "Remark", help="Self-signed, or a key with less than 112 bits of security: RSA below 2048."
            ),
        },
    )  # fmt: skip
    if found.num_rows > _MOST:
        st.caption(f"The {_MOST:,} of {found.num_rows:,} that expire first.")
    if row is None:
        st.caption("Choose a row, by the box at its left, to see where the certificate is used.")
        return
    _where_used(data, row)


def _where_used(data: Data, certificate: dict[str, Any]) -> None:
    st.markdown(f"**Where it is used**: {plain(certificate['name'])}, serial {plain(certificate['serial'])}")
    grid(uses(data, certificate), "certificate-uses", sources=["certificate_seen"])
