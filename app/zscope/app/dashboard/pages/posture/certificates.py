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
from zscope.app.dashboard.pages.posture.icalendar import calendar_of
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
from zscope.app.dashboard.tiles import MetricFigure, tile, tile_places
from zscope.pipelines.metrics import metric
from zscope.schemas.sql_text import literal

if TYPE_CHECKING:
    from zscope.app.dashboard.page_data import PageData


PLACE = ("system", "server_port", "job_name")
EXPIRY_MARKS = {
    "expired": "✕ expired", "ended since": "✕ ended since", "<= 30 days": "▲ within 30 days",
    "<= 60 days": "◆ within 60 days", "<= 90 days": "● within 90 days", "later": "○ later",
    "unknown": "? unknown",
}  # fmt: skip
"""Labels of the values of the metric."""
NO_REMARK = "no remark"
_COUNTED_BY = {
    "Certificates": "count(*)",
    "Expired": "count(*) FILTER (expiry = 'expired')",
    "Ended since": "count(*) FILTER (expiry = 'ended since')",
    "Expire within 90 days": "count(*) FILTER (ends_within_90_days)",
    "Self-signed": "count(*) FILTER (self_signed)",
    "Short keys": "count(*) FILTER (has_short_key)",
}
"""The expressions of the tiles."""
_MEANING_OF_SHORT = next(
    column.meaning for column in metric("certificate_inventory").columns if column.name == "has_short_key"
)
_IDENTITY = ("serial", "issuer_dn")
_USES = 500


def judged_as_of(data: PageData) -> datetime | None:
    """Return the moment as of which certificates are judged: the last at which the data show one."""
    [row] = data.rows("SELECT max(last_seen_utc) AS as_of FROM certificate_seen").to_pylist()
    moment: datetime | None = row["as_of"]
    return moment


def all_certificates(data: PageData) -> pa.Table:
    """Return the certificates used at a place that matches the filters, the first to expire first.

    Besides the columns of the metric: `name`, `remark` on weaknesses, and `mark`, the label of its expiry.
    """
    table = data.metric("certificate_inventory")
    described = [
        row | {"name": name_of(row), "remark": remark_of(row), "mark": EXPIRY_MARKS[row["expiry"]]}
        for row in table.to_pylist()
    ]
    further = [pa.field(name, pa.string()) for name in ("name", "remark", "mark")]
    return pa.Table.from_pylist(described, pa.schema([*table.schema, *further]))


def closest(certificates: pa.Table, most: int = 25) -> pa.Table:
    """Return the certificates that expire closest to the end of the data, by their last day."""
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
    if row["has_short_key"]:
        remarks.append("short key")
    return ", ".join(remarks) or NO_REMARK


_COLOURS = dict(zip(EXPIRY_MARKS.values(), (RED, GREY, ORANGE, PURPLE, GREEN, BLUE, GREY), strict=True))
_SHAPES = {
    NO_REMARK: "circle", "self-signed": "square", "short key": "triangle-up",
    "self-signed, short key": "diamond",
}  # fmt: skip
_MONTHS = pa.schema([
    ("year", pa.int64()), ("month", pa.int64()), ("certificates", pa.int64()), ("mark", pa.string()),
    ("names", pa.string()),
])  # fmt: skip
_MONTH_NAMES = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_MOST_MONTHS = 240
_NAMED = 5
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
    as_of = judged_as_of(data)
    _numbers(data, certificates)
    if as_of:
        st.caption(_how_judged(certificates, as_of))
    _by_month(certificates)
    _on_time_axis(closest(certificates), certificates.num_rows, as_of)
    _listed(data, certificates)


def _numbers(data: PageData, certificates: pa.Table) -> None:
    shown = {
        "Certificates": certificates.num_rows,
        "Expired": _count(pc.equal(certificates["expiry"], "expired")),
        "Ended since": _count(pc.equal(certificates["expiry"], "ended since")),
        "Expire within 90 days": _count(certificates["ends_within_90_days"]),
        "Self-signed": _count(certificates["self_signed"]),
        "Short keys": _count(certificates["has_short_key"]),
    }
    for column, (title, value) in zip(tile_places(len(shown)), shown.items(), strict=True):
        # Places of certificates are in another metric.
        narrowed = data.filters.conditions(PLACE)
        figure = None if narrowed else MetricFigure("certificate_inventory", _COUNTED_BY[title], ())
        tile(column, data, title, number(value, 0), figure)


def _how_judged(certificates: pa.Table, as_of: datetime) -> str:
    """The moment as of which certificates are judged, and what has happened by the clock since then."""
    words = (
        f"As of {as_of:%Y-%m-%d}, the last day on which the data show a certificate. Expired: used after its "
        "end. Ended since: valid when it was last seen, but its end is before that day."
    )
    today = datetime.now(UTC)
    if any(end and as_of <= end < today for end in certificates["not_after_utc"].to_pylist()):
        words += (
            f" Between that day and today, {today:%Y-%m-%d}, more have ended; newer data shows whether "
            "they were renewed."
        )
    return words


def _count(true: pa.ChunkedArray) -> int:
    return pc.sum(true).as_py() or 0


def by_month(certificates: pa.Table) -> pa.Table:
    """Return the months in which certificates end, with their number, the worst expiry and some names."""
    months: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for row in certificates.to_pylist():
        if row["not_after_utc"] is not None:
            last = row["not_after_utc"].astimezone(UTC)
            months.setdefault((last.year, last.month), []).append(row)
    marks = list(EXPIRY_MARKS.values())
    rows = [
        {
            "year": year,
            "month": month,
            "certificates": len(found),
            "mark": min((row["mark"] for row in found), key=marks.index),
            "names": _some(list(dict.fromkeys(row["name"] for row in found))),
        }
        for (year, month), found in sorted(months.items())
    ]
    return pa.Table.from_pylist(rows, _MONTHS)


def _some(names: list[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _by_month(certificates: pa.Table) -> None:
    """Draw a calendar: years as rows, months as columns, with the number of certificates that end."""
    months = by_month(certificates)
    if not months.num_rows:
        return
    st.header("Calendar")
    shown = values(months.slice(0, _MOST_MONTHS))
    base = (
        alt.Chart(shown)
        .transform_calculate(name=f"{_MONTH_NAMES!r}[datum.month - 1]")
        .encode(
            x=alt.X("name:N", title=None, scale=alt.Scale(domain=_MONTH_NAMES),
                    axis=alt.Axis(orient="top", labelAngle=0)),
            y=alt.Y("year:O", title=None),
            tooltip=[
                alt.Tooltip("year:O", title="Year"), alt.Tooltip("name:N", title="Month"),
                alt.Tooltip("certificates:Q", title="Certificates"),
                alt.Tooltip("mark:N", title="The first to end"), alt.Tooltip("names:N", title="Which"),
            ],
        )
    )  # fmt: skip
    present = {mark: colour for mark, colour in _COLOURS.items() if mark in months["mark"].to_pylist()}
    cells = base.mark_rect(cornerRadius=3).encode(
        color=alt.Color("mark:N", title="The first to end", scale=colours(present),
                        legend=alt.Legend(orient="top")),
    )  # fmt: skip
    numbers = base.mark_text(color="black", fontSize=13).encode(text=alt.Text("certificates:Q"))
    picture(alt.layer(cells, numbers, height=alt.Step(30)), months, "certificates-by-month",
            "Number of certificates that end in each month, as a calendar.")  # fmt: skip
    st.download_button(
        "Calendar file (iCal)", lambda: calendar_of(certificates.to_pylist(), datetime.now(UTC)),
        "certificates.ics", "text/calendar", key="certificates-ics", icon=":material/calendar_month:",
        on_click="ignore", type="tertiary",
        help="A day for the end of each certificate, with a reminder thirty days before.",
    )  # fmt: skip
    st.caption("Years without a certificate that ends are left out.")


def _on_time_axis(near: pa.Table, total: int, as_of: datetime | None) -> None:
    st.header("Expiry dates")
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
    chart = alt.layer(*(_days_ahead(as_of) if as_of else ()), points, height=alt.Step(24))
    picture(chart, near, "certificates-by-expiry",
            "Certificates by expiry date on a time axis, with lines for the end of the data and 30, 60 and "
            "90 days after it.",
            sources=["certificate_inventory"])  # fmt: skip
    if total > near.num_rows:
        st.caption("The certificates that expire closest to the end of the data; all are below.")


def _days_ahead(as_of: datetime) -> list[alt.Chart]:
    """Lines for the end of the data and some days after it; labels are staggered as lines can be close."""
    lines = []
    for floor, days in enumerate(_AHEAD_DAYS):
        labelled = {
            "day": (as_of + timedelta(days=days)).isoformat(),
            "words": f"{days} days" if days else "end of the data",
        }
        base = alt.Chart(alt.InlineData([labelled])).encode(x=time_axis("day", _AXIS))
        lines.append(base.mark_rule(color=GREY, strokeDash=[4, 4] if days else [1, 0], strokeWidth=1.5))
        lines.append(
            base.mark_text(align="left", dx=3).encode(
                text=alt.Text("words:N"), y=alt.value(-8 - 12 * (len(_AHEAD_DAYS) - 1 - floor))
            )
        )
    return lines


def _listed(data: PageData, certificates: pa.Table) -> None:
    st.header("All certificates, by days left")
    row = selectable_grid(
        certificates.slice(0, _MOST), "certificates", (data.version, data.filters), height=360,
        sources=["certificate_inventory"], columns=_COLUMNS,
        config={
            "mark": st.column_config.TextColumn("Expiry", width=140),
            "name": st.column_config.TextColumn("Certificate", help="Common name of its subject."),
            "remark": st.column_config.TextColumn(
                "Remark", help=f"Self-signed, or a short key. {_MEANING_OF_SHORT}"
            ),
        },
    )  # fmt: skip
    if certificates.num_rows > _MOST:
        st.caption(f"The {_MOST:,} certificates that expire first.")
    if row is None:
        st.caption("Select a row with the box at its left to see where the certificate is used.")
        return
    _where_used(data, row)


def _where_used(data: PageData, certificate: dict[str, Any]) -> None:
    st.markdown(f"**Where it is used**: {plain(certificate['name'])}, serial {plain(certificate['serial'])}")
    grid(uses(data, certificate), "certificate-uses", sources=["certificate_seen"])
