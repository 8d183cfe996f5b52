"""Posture: findings, unprotected, old or weak connections, certificates, and post-quantum readiness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import altair as alt
import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from zscope.app.dashboard.drawing import grid, no_data, number, picture
from zscope.app.dashboard.over_time import ChartOverTime, LinesBefore, picture_over_time, rows_before
from zscope.app.dashboard.pages.posture.certificates import certificates_section
from zscope.app.dashboard.pages.posture.findings import findings_section
from zscope.app.dashboard.pages.posture.quantum import quantum_section
from zscope.app.dashboard.protection_records import chosen_records, of_records
from zscope.app.dashboard.registry import Page
from zscope.app.dashboard.style import (
    BLUE,
    GREEN,
    GREY,
    OLD,
    ORANGE,
    PURPLE,
    RED,
    SKY,
    UNPROTECTED,
    colours,
    time_axis,
    time_tip,
    values,
)
from zscope.app.dashboard.tiles import MetricFigure, tile
from zscope.app.dashboard.time_axis import PIECE, STEPS, in_pieces, span
from zscope.app.shared.column_labels import label

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zscope.app.dashboard.page_data import PageData
    from zscope.app.dashboard.time_axis import Span

PAGE = Page(title="Posture and certificates", icon="security", area="Security", order=10)


PostureGroup = Literal["server_port", "system", "system and port", "job_name"]
Weight = Literal["connections", "bytes"]
_BY: dict[PostureGroup, tuple[str, ...]] = {
    "server_port": ("server_port",),
    "system": ("system",),
    "system and port": ("system", "server_port"),
    "job_name": ("job_name",),
}


@dataclass(frozen=True, slots=True)
class Weakness:
    """A weakness of connections, and the connections that its share is based on."""

    name: str
    counted: str
    """Prefix of the metric columns that count it."""
    of_tls: bool
    always: bool = True
    """Whether it is shown even if no connection has it."""

    @property
    def of(self) -> str:
        """The connections that the share is based on."""
        return "connections with TLS" if self.of_tls else "all connections"


WEAKNESSES = (
    Weakness("unprotected", "unprotected", of_tls=False),
    Weakness("old version", "old_version", of_tls=True),
    Weakness("weak encryption", "weak_cipher", of_tls=True),
    Weakness("no forward secrecy", "without_pfs", of_tls=True),
    Weakness("unknown", "unknown", of_tls=False),
    Weakness("no encryption", "not_encrypted", of_tls=True, always=False),
    Weakness("export suite", "export", of_tls=True, always=False),
    Weakness("anonymous", "anonymous", of_tls=True, always=False),
    Weakness("short key", "short_key", of_tls=True, always=False),
)
_WHERE = ("source", "system", "job_name", "server_port")
_MOST_PLACES = 100
_COLUMNS = pa.schema(
    [("kind", pa.string()), ("of", pa.string()), ("found", pa.int64()), ("out_of", pa.int64()),
     ("share_pct", pa.float64())]
)  # fmt: skip


def totals(data: PageData, weight: Weight, where: str) -> pa.Table:
    """Return the share of each weakness in total, among the rows that meet a condition."""
    return _long(data.metric("tls_posture", [], where=where).to_pylist(), weight, ())


def by_place(data: PageData, place: PostureGroup, weight: Weight, where: str, most: int = 20) -> pa.Table:
    """Return the share of each weakness by place, for the busiest places."""
    keys = _BY[place]
    rows = data.metric("tls_posture", list(keys), where=where).to_pylist()
    rows.sort(key=lambda row: row[_amount(weight, of_tls=False)] or 0, reverse=True)
    named = [
        {**row, "place": " · ".join("unknown" if row[key] is None else str(row[key]) for key in keys)}
        for row in rows[:most]
    ]
    return _long(named, weight, [pa.field("place", pa.string())])


def places_with(data: PageData, weakness: Weakness) -> pa.Table:
    """Return the jobs and ports with connections that have a weakness, those with the most first."""
    column = f"{weakness.counted}_connections"
    return data.found(
        "tls_posture",
        f"SELECT {', '.join(_WHERE)}, {column}, connections, covered_pct FROM found WHERE {column} > 0 "
        f"ORDER BY {column} DESC, system DESC, job_name DESC, server_port DESC LIMIT {_MOST_PLACES}",
        _WHERE,
    )


def over_time(data: PageData, by: Span, weight: Weight, where: str) -> pa.Table:
    """Return the share of each weakness in each hour or day."""
    table = data.metric("tls_posture", [by], where=where)
    return _long(table.to_pylist(), weight, [table.schema.field(by)])


def _amount(weight: Weight, *, of_tls: bool) -> str:
    total = {"connections": "connections", "bytes": "total_bytes"}[weight]
    return f"tls_{weight}" if of_tls else total


def _long(rows: list[dict[str, Any]], weight: Weight, keys: Sequence[pa.Field]) -> pa.Table:
    """A row for each weakness that is always shown or that a connection has."""
    counts = [
        {
            **{key.name: row[key.name] for key in keys},
            "kind": kind.name,
            "of": kind.of,
            "found": row[f"{kind.counted}_{weight}"] or 0,
            "out_of": row[_amount(weight, of_tls=kind.of_tls)] or 0,
        }
        for kind in WEAKNESSES
        for row in rows
        if kind.always or any(other[f"{kind.counted}_{weight}"] for other in rows)
    ]
    shares = [row | {"share_pct": 100 * row["found"] / row["out_of"]} for row in counts if row["out_of"]]
    return pa.Table.from_pylist(shares, pa.schema([*keys, *_COLUMNS]))


_KINDS = [kind.name for kind in WEAKNESSES]
_COLOURS = {
    "unprotected": UNPROTECTED, "old version": OLD, "weak encryption": RED, "no forward secrecy": ORANGE,
    "unknown": GREY, "no encryption": PURPLE, "export suite": SKY, "anonymous": GREEN, "short key": BLUE,
}  # fmt: skip


def protection_section(data: PageData) -> None:
    """Draw the shares: in total, by place, over time."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        weight: Weight = st.segmented_control(
            "Shares of", get_args(Weight), default="connections", required=True, format_func=str.capitalize,
            key="posture_weight", bind="query-params", persist_state="session",
        )  # fmt: skip
        place: PostureGroup = st.segmented_control(
            "By", get_args(PostureGroup), default="server_port", required=True, format_func=label,
            key="posture_by", bind="query-params", persist_state="session",
        )  # fmt: skip
    records = chosen_records(data, "posture_records")
    if records is None:
        no_data(
            "There are no connections. They come from zERT records: summaries (SMF 119 subtype 12) or "
            "connection details (11).",
            "zscope ingest SMF.DUMP --select '119(11:12)'",
        )
        return
    where = of_records(records)
    rows = totals(data, weight, where).to_pylist()
    for column, row in zip(st.columns(len(rows)), rows, strict=True):
        of_what = row["of"].replace("connections", "bytes of connections") if weight == "bytes" else row["of"]
        [weakness] = (kind for kind in WEAKNESSES if kind.name == row["kind"])
        tile(
            column, data, row["kind"].capitalize(), number(row["share_pct"], 1, "%"),
            MetricFigure("tls_posture", _share(weakness, weight), ("source",), where),
            f"{row['found']:,} of {row['out_of']:,} {weight} ({of_what}).",
        )  # fmt: skip
    st.caption(
        "Unprotected and unknown are shares of all connections, the others are shares of those with "
        "TLS. "
        "Old versions are SSL, TLSv1.0 and TLSv1.1; weak encryption is 3DES, RC4 and weaker."
    )
    _places(data)
    _by_place(data, place, weight, where)
    _over_time(data, weight, where)


def _places(data: PageData) -> None:
    """Draw the jobs and ports whose connections the statements of the Overview are about."""
    for weakness in WEAKNESSES[:2]:
        table = places_with(data, weakness)
        if table.num_rows:
            st.markdown(f"**{weakness.name.capitalize()}, by job and port**, the most connections first")
            grid(table, f"protection-{weakness.counted.replace('_', '-')}", sources=["tls_posture"])


def _share(weakness: Weakness, weight: Weight) -> str:
    """The expression of a share over the columns of the metric."""
    return f"100 * {weakness.counted}_{weight} / {_amount(weight, of_tls=weakness.of_tls)}"


def _by_place(data: PageData, place: PostureGroup, weight: Weight, where: str) -> None:
    st.header("By place")
    table = by_place(data, place, weight, where)
    order = list(dict.fromkeys(table["place"].to_pylist()))
    kinds = [name for name in _KINDS if name in set(table["kind"].to_pylist())]
    base = alt.Chart(values(table)).encode(
        x=alt.X("kind:N", title=None, sort=kinds, axis=alt.Axis(orient="top", labelAngle=0, labelLimit=150)),
        y=alt.Y("place:N", title=label(place), sort=order),
        tooltip=[
            alt.Tooltip("place:N", title=label(place)),
            alt.Tooltip("kind:N", title="What"),
            alt.Tooltip("share_pct:Q", title="Share (%)", format=".2f"),
            alt.Tooltip("found:Q", title=weight.capitalize(), format=","),
            alt.Tooltip("out_of:Q", title="Out of", format=","),
            alt.Tooltip("of:N", title="Based on"),
        ],
    )
    dots = base.mark_circle(color=ORANGE, opacity=0.9).encode(
        size=alt.Size("share_pct:Q", legend=None, scale=alt.Scale(domain=[0, 100], range=[0, 500]))
    )
    words = base.mark_text(align="left", dx=15).encode(text=alt.Text("share_pct:Q", format=".1f"))
    picture(
        (dots + words).properties(height=alt.Step(26)), table, f"protection-by-{place.replace(' ', '-')}",
        f"Share of connections with each weakness by {label(place)}, as dots sized by the share in %.",
        sources=["tls_posture"],
    )  # fmt: skip
    st.caption(f"Shares in %, for the places with the most {weight}; empty without TLS.")


def _over_time(data: PageData, weight: Weight, where: str) -> None:
    st.header("Over time")
    by = span(data)

    def shares(of: PageData) -> pa.Table:
        return in_pieces(over_time(of, by, weight, where), ("kind",), by, STEPS[by])

    table = shares(data)
    kinds = [name for name in _KINDS if name in set(table["kind"].to_pylist())]
    encodings = {
        "x": time_axis(by),
        "y": alt.Y("share_pct:Q", title=f"Share of {weight} (%)"),
        "color": alt.Color(
            "kind:N", title="What", scale=colours({kind: _COLOURS[kind] for kind in kinds})
        ),
        "detail": alt.Detail(f"{PIECE}:N"),
    }  # fmt: skip
    chart = (
        alt.Chart(values(table))
        .mark_line(point=alt.OverlayMarkDef(size=45), strokeWidth=1.5)
        .encode(
            **encodings,
            shape=alt.Shape("kind:N", title="What", sort=kinds),
            tooltip=[
                time_tip(by),
                alt.Tooltip("kind:N", title="What"),
                alt.Tooltip("share_pct:Q", title="Share (%)", format=".2f"),
                alt.Tooltip("found:Q", title=weight.capitalize(), format=","),
                alt.Tooltip("out_of:Q", title="Out of", format=","),
            ],
        )
        .properties(height=280)
    )
    before = rows_before(data, shares, by, daily=by == "day")
    lines_before = None if before is None else LinesBefore(_of(before, "kind", kinds), encodings)
    picture_over_time(
        data,
        ChartOverTime(chart, by, lines_before),
        table.drop_columns([PIECE]),
        "protection-over-time",
        "Share of each weakness over time, as lines with points; the period before as lines without.",
        sources=["tls_posture"],
    )


def _of(table: pa.Table, column: str, names: Sequence[str]) -> pa.Table:
    return table.filter(pc.field(column).isin(pa.array(names, pa.string())))


_PARTS: dict[str, Callable[[PageData], None]] = {
    "findings": findings_section,
    "protection": protection_section,
    "certificates": certificates_section,
    "post-quantum readiness": quantum_section,
}


def render(data: PageData) -> None:
    """Draw the page."""
    part: str = st.segmented_control(
        "Show", list(_PARTS), default="findings", required=True, format_func=str.capitalize,
        key="posture_part", label_visibility="collapsed", bind="query-params", persist_state="session",
    )  # fmt: skip
    _PARTS[part](data)
