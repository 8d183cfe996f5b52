"""Handshakes: full, resumed, failed and unknown, over time and by place, and the connections of a bar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import altair as alt
import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from zscope.app.dashboard.drawing import grid, no_data, number, picture, plain
from zscope.app.dashboard.over_time import ChartOverTime, LinesBefore, picture_over_time, rows_before
from zscope.app.dashboard.protection_records import HANDSHAKE_COVERAGE, handshake_coverage
from zscope.app.dashboard.registry import Page
from zscope.app.dashboard.style import HANDSHAKE_COLOURS, colours, time_axis, time_tip, values
from zscope.app.dashboard.tiles import MetricFigure, tile
from zscope.app.dashboard.time_axis import UNITS, span
from zscope.app.shared.column_labels import label
from zscope.schemas.sql_text import literal

if TYPE_CHECKING:
    from zscope.app.dashboard.page_data import PageData
    from zscope.app.dashboard.time_axis import Span

PAGE = Page(title="Handshakes", icon="handshake", area="Traffic", order=10)


HandshakeGroup = Literal["server_port", "job_name", "handshake_role", "system"]
KINDS = ("full", "resumed", "failed", "unknown")
_COLUMNS = ("system", "stack", "server_port", "job_name", "handshake_role")
_CONNECTIONS = 500


def over_time(data: PageData, by: Span) -> pa.Table:
    """Return the handshakes of each kind in each hour or day: moment, kind, handshakes, share."""
    return _long(data.metric("handshake_mix", [by]), by)


def by_place(data: PageData, place: HandshakeGroup, most: int = 20) -> pa.Table:
    """Return the handshakes of each kind at the busiest ports, jobs, roles or systems."""
    busiest = data.metric("handshake_mix", [place]).sort_by([("handshakes", "descending")]).slice(0, most)
    return _long(
        busiest.set_column(0, place, pc.fill_null(busiest[place].cast(pa.string()), "unknown")), place
    )


def totals(data: PageData) -> dict[str, float | int | None]:
    """Return the number of handshakes of each kind and their shares."""
    rows = data.metric("handshake_mix", []).to_pylist()
    return rows[0] if rows else {}


def connections(data: PageData, place: HandshakeGroup, value: str, kind: str) -> pa.Table:
    """Return the newest connections with handshakes of one kind at one place."""
    known = "'full', 'resumed', 'failed'"
    of_kind = f"kind = {literal(kind)}" if kind != "unknown" else f"kind NOT IN ({known})"
    at = f"{place} IS NULL" if value == "unknown" else f"{place}::VARCHAR = {literal(value)}"
    return data.rows(f"""
        SELECT event_utc, system, stack, job_name, server_port, local_ip, local_port, remote_ip, remote_port,
            handshake_role, tls_version, cipher_name, kind, in_bytes, out_bytes, connection_id
        FROM handshake
        {data.where(_COLUMNS, "event_utc", of_kind, at)}
        ORDER BY event_utc DESC LIMIT {_CONNECTIONS}
    """)


def _long(table: pa.Table, key: str) -> pa.Table:
    """A row for each kind instead of a column."""
    parts = [
        pa.table(
            {
                key: table[key],
                "kind": pa.array([kind] * table.num_rows, pa.string()),
                "handshakes": table[f"{kind}_handshakes"],
                "share_pct": _share(table, kind),
            }
        )
        for kind in KINDS
    ]
    return pa.concat_tables(parts).filter(pc.field("handshakes") > 0).combine_chunks()


def _share(table: pa.Table, kind: str) -> pa.ChunkedArray:
    share = pc.divide(
        pc.cast(table[f"{kind}_handshakes"], pa.float64()), pc.cast(table["handshakes"], pa.float64())
    )
    return pc.multiply(share, 100.0)


_COLOUR = alt.Color("kind:N", title="Handshake", scale=colours(HANDSHAKE_COLOURS))
_TIPS = [
    alt.Tooltip("kind:N", title="Handshake"),
    alt.Tooltip("handshakes:Q", title="Handshakes", format=","),
    alt.Tooltip("share_pct:Q", title="Share (%)", format=".1f"),
]


def render(data: PageData) -> None:
    """Draw the page."""
    counts = totals(data)
    if not counts.get("handshakes"):
        no_data(
            "There are no handshakes. They come from zERT connection detail records (SMF 119 subtype 11).",
            "zscope ingest SMF.DUMP --select '119(11)'",
        )
        return
    *columns, hours = st.columns(5)
    for column, (title, key, digits, unit, explanation) in zip(
        columns,
        [
            ("Handshakes", "handshakes", 0, "", ""),
            ("Resumed handshakes", "resumed_pct", 1, "%", "Of the full and resumed handshakes."),
            ("Full handshakes", "full_pct", 1, "%", "Of the full and resumed handshakes."),
            ("Failed handshakes", "failed_pct", 2, "%", "Of all handshakes."),
        ],
        strict=True,
    ):
        shown = number(counts[key], digits, unit)
        tile(column, data, title, shown, MetricFigure("handshake_mix", key), explanation)
    covered = number(handshake_coverage(data), 1, "%")
    tile(hours, data, "Hours covered", covered, HANDSHAKE_COVERAGE, "By zERT details, which count them.")
    _over_time(data)
    _by_place(data)


def _over_time(data: PageData) -> None:
    st.header("Over time")
    by = span(data)
    table = over_time(data, by)
    encodings = {
        "x": time_axis(by, timeUnit=UNITS[by]),
        "y": alt.Y("handshakes:Q", title=f"Handshakes per {by.removesuffix('_utc')}"),
    }
    chart = (
        alt.Chart(values(table))
        .mark_bar()
        .encode(**encodings, color=_COLOUR, tooltip=[time_tip(by), *_TIPS])
        .properties(height=260)
    )
    before = rows_before(data, lambda earlier: _all_kinds(earlier, by), by, daily=by == "day")
    lines_before = None if before is None else LinesBefore(before, encodings)
    picture_over_time(
        data,
        ChartOverTime(chart, by, lines_before),
        table,
        "handshakes-over-time",
        "Handshakes of each kind over time, as stacked bars; all of the period before as a line.",
        sources=["handshake_mix"],
    )


def _all_kinds(data: PageData, by: Span) -> pa.Table:
    """The handshakes of all kinds in each hour or day."""
    return data.metric("handshake_mix", [by]).select([by, "handshakes"])


def _by_place(data: PageData) -> None:
    st.header("By place")
    place: HandshakeGroup = st.segmented_control(
        "By", get_args(HandshakeGroup), default="server_port", required=True, format_func=label,
        key="handshakes_by",
        bind="query-params", persist_state="session",
    )  # fmt: skip
    table = by_place(data, place)
    chosen = alt.selection_point(name="picked", fields=[place, "kind"])
    chart = (
        alt.Chart(values(table))
        .mark_bar(cursor="pointer")
        .encode(
            x=alt.X("handshakes:Q", title="Handshakes"),
            y=alt.Y(f"{place}:N", title=label(place), sort="-x"),
            color=_COLOUR,
            opacity=alt.condition(chosen, alt.value(1), alt.value(0.4)),
            tooltip=[alt.Tooltip(f"{place}:N", title=label(place)), *_TIPS],
        )
        .add_params(chosen)
    )
    words = f"Handshakes of each kind by {label(place)}, as bars."
    picked = picture(
        chart, table, f"handshakes-by-{place}", words, sources=["handshake_mix"], pick=(place, "kind")
    )
    if picked is None:
        return
    value, kind = str(picked[place]), str(picked["kind"])
    st.markdown(
        f"**Connections of the bar**: {label(place)} {plain(value)}, {kind}, the newest {_CONNECTIONS}"
    )
    grid(connections(data, place, value, kind), "handshakes-connections", sources=["handshake"])
