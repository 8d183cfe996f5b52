"""Ciphers and versions: protocols and cipher suites by connections and bytes, over time and by port."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, get_args

import altair as alt
import pyarrow as pa
import streamlit as st

from zscope.app.dashboard.drawing import clean, grid, no_data, number, picture, plain, without_effect
from zscope.app.dashboard.over_time import ChartOverTime, LinesBefore, picture_over_time, rows_before
from zscope.app.dashboard.pages.ciphers.ciphers_queries import (
    METRICS,
    NAMES,
    SUITE_COLUMNS,
    Measure,
    Subject,
    ZertFigures,
    by_port,
    failed,
    fold,
    headline,
    of_source,
    over_time,
    protocols,
    sources,
    suites,
    zert_figures,
)
from zscope.app.dashboard.registry import Page
from zscope.app.dashboard.style import (
    BLUE,
    CATEGORIES,
    FAILED,
    GREY,
    ORANGE,
    PROTOCOL_COLOURS,
    RED,
    colours,
    time_axis,
    time_tip,
    values,
)
from zscope.app.dashboard.suites import NOT_KNOWN, SHAPES, WEAK, WITH_PFS, WITHOUT_PFS, mark
from zscope.app.dashboard.tiles import MetricFigure, tile
from zscope.app.dashboard.time_axis import UNITS, span

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zscope.app.dashboard.page_data import PageData

PAGE = Page(title="Ciphers and versions", icon="enhanced_encryption", area="Security", order=20)


_MARK_COLOURS = {
    mark(rating): colour
    for rating, colour in ((WEAK, RED), (WITHOUT_PFS, ORANGE), (WITH_PFS, BLUE), (NOT_KNOWN, GREY))
}
_SHOWN = tuple(colour for colour in CATEGORIES if colour not in (RED, GREY))
_SERIES = len(_SHOWN)
_TITLES = {"protocols": "Protocol", "cipher suites": "Cipher suite"}
_MOST = 12
_LEGEND_LINE = 18


def shares(whole: pa.Table, subject: Subject, measure: Measure) -> None:
    """Draw the largest protocols or suites as bars with their share; the data below the chart has all."""
    part = fold(whole, NAMES[subject], measure, _MOST).table
    if not sum(part["amount"].to_pylist()):
        st.caption(f"This source has no {measure} for it.")
        return
    base = alt.Chart(values(part)).encode(
        x=alt.X("share_pct:Q", title=f"Share of {'all' if subject == 'protocols' else 'TLS'} {measure} (%)"),
        y=alt.Y("name:N", title=None, sort=part["name"].to_pylist(), axis=alt.Axis(labelLimit=320)),
        tooltip=[
            alt.Tooltip("name:N", title=_TITLES[subject]),
            alt.Tooltip("share_pct:Q", title="Share (%)", format=".2f"),
            alt.Tooltip("amount:Q", title=measure.capitalize(), format=","),
        ],
    )
    filled = (
        alt.Color("name:N", scale=_scale(part["name"].to_pylist()), legend=None)
        if subject == "protocols"
        else alt.Color("mark:N", scale=colours({**_MARK_COLOURS, "": GREY}), legend=None)
    )
    words = base.mark_text(align="left", dx=4).encode(text=alt.Text("share_pct:Q", format=".1f"))
    chart = alt.layer(base.mark_bar().encode(color=filled), words, height=alt.Step(22))
    picture(chart, whole, f"{_short(subject)}-shares",
            f"Share of {measure} of each {_TITLES[subject]}, as bars.",
            sources=[METRICS[subject]])  # fmt: skip


def over_time_and_ports(
    data: PageData, source: str, subject: Subject, measure: Measure, whole: pa.Table
) -> None:
    """Draw the shares in each hour or day, and at each of the busiest ports."""
    shown_as = fold(whole, NAMES[subject], measure, _SERIES)
    drawn = shown_as.labels
    if not sum(shown_as.amounts.values()):
        st.caption(f"This source has no {measure} for it.")
        return
    columns = 1 if subject == "cipher suites" else 4
    colour = alt.Color(
        "name:N", title=None, scale=_scale(drawn), sort=drawn,
        legend=alt.Legend(orient="top", columns=columns, labelLimit=400),
    )  # fmt: skip
    tips = [
        alt.Tooltip("name:N", title=_TITLES[subject]),
        alt.Tooltip("connections:Q", title="Connections", format=","),
        alt.Tooltip("bytes:Q", title="Bytes", format=","),
    ]
    left, right = st.columns(2)
    with left:
        by = span(data)
        table = over_time(data, source, subject, shown_as, by)
        encodings = {
            "x": time_axis(by, timeUnit=UNITS[by]),
            "y": alt.Y(
                f"{measure}:Q", title=f"Share of {measure}", stack="normalize", axis=alt.Axis(format="%")
            ),
            "color": colour,
            "order": alt.Order("position:Q"),
        }
        chart = (
            alt.Chart(values(_placed(table, drawn)))
            .mark_bar()
            .encode(**encodings, tooltip=[time_tip(by), *tips])
            .properties(height=320 + _LEGEND_LINE * len(drawn) // columns)
        )
        before = rows_before(
            data,
            lambda earlier: over_time(earlier, source, subject, shown_as, by),
            by,
            daily=by == "day",
        )
        lines_before = None if before is None else LinesBefore(_placed(before, drawn), encodings)
        picture_over_time(
            data,
            ChartOverTime(chart, by, lines_before),
            table,
            f"{_short(subject)}-over-time",
            f"Share of {measure} of each {_TITLES[subject]} over time, as stacked bars; the limits of the "
            "shares in the period before as lines.",
            sources=[METRICS[subject]],
        )
        if sum(whole["connections"].to_pylist()) > sum(table["connections"].to_pylist()):
            st.caption("The chart leaves out connections whose time in UTC is not known.")
    with right:
        table = by_port(data, source, subject, shown_as, measure)
        chart = (
            alt.Chart(values(_placed(table, drawn)))
            .mark_bar()
            .encode(
                x=alt.X(f"{measure}:Q", title=f"Share of {measure} at the port", stack="normalize",
                        axis=alt.Axis(format="%")),
                y=alt.Y("server_port:N", title="Port, the busiest first",
                        sort=alt.EncodingSortField(measure, op="sum", order="descending")),
                color=colour,
                order=alt.Order("position:Q"),
                tooltip=[alt.Tooltip("server_port:N", title="Port"), *tips],
            )
            .properties(height=alt.Step(20))
        )  # fmt: skip
        picture(chart, table, f"{_short(subject)}-by-port",
                f"Share of {measure} of each {_TITLES[subject]} at each port, as stacked bars.",
                sources=[METRICS[subject]])  # fmt: skip


def _short(subject: Subject) -> str:
    return subject.replace(" ", "-")


def _scale(labels: Sequence[str]) -> alt.Scale:
    """Protocols have fixed colours; of suites, red is for weak ones only, grey for the rest."""
    used = {PROTOCOL_COLOURS[label] for label in labels if label in PROTOCOL_COLOURS}
    large = cycle([colour for colour in _SHOWN if colour not in used])

    def of(label: str) -> str:
        if label.startswith(SHAPES[WEAK]):
            return RED
        if label in PROTOCOL_COLOURS:
            return PROTOCOL_COLOURS[label]
        return GREY if label.startswith("other (") else next(large)

    return colours({label: of(label) for label in labels})


def _placed(table: pa.Table, labels: Sequence[str]) -> pa.Table:
    """The rows with the position of each name in a stack: that of the legend."""
    places = [labels.index(name) if name in labels else len(labels) for name in table["name"].to_pylist()]
    return table.append_column("position", pa.array(places, pa.int64()))


_FAILED_HANDSHAKES_MOST = 15


def failed_by_port(table: pa.Table) -> None:
    """Draw failed handshakes by port; they are not part of the shares above."""
    st.header("Failed handshakes")
    if not table.num_rows:
        st.caption(
            "This source has no failed handshakes. They are in zERT records since z/OS 3.2 and in AT-TLS "
            "data."
        )
        return
    shown = table.slice(0, _FAILED_HANDSHAKES_MOST)
    chart = (
        alt.Chart(values(shown))
        .mark_bar(color=FAILED)
        .encode(
            x=alt.X(
                "failed_handshakes:Q", title="Failed handshakes", axis=alt.Axis(tickMinStep=1, format=",d")
            ),
            y=alt.Y("server_port:N", title="Port", sort="-x"),
            tooltip=[
                alt.Tooltip("server_port:N", title="Port"),
                alt.Tooltip("failed_handshakes:Q", title="Failed handshakes", format=","),
                alt.Tooltip("connections:Q", title="Established connections", format=","),
            ],
        )
        .properties(height=alt.Step(22))
    )
    picture(chart, table, "failed-by-port", "Failed handshakes at each port, as bars.",
            sources=["protocol_distribution"])  # fmt: skip


_COLUMNS = ("system", "stack", "hour_utc", "job_name", "server_port")


def render(data: PageData) -> None:
    """Draw the page."""
    names = sources(data)
    if not names:
        no_data(
            "There are no connections with known protection. It comes from zERT, AT-TLS, FTP and TN3270 "
            "records (SMF 119) and from NETSTAT TTLS displays.",
            "zscope ingest SMF.DUMP --select '119(2:3,11:12,21,70)'",
        )
        return
    source, measure = _choice(names)
    all_protocols, all_suites, failures = protocols(data, source), suites(data, source), failed(data, source)
    _numbers(data, source, all_suites, failures, measure)
    _beside_other_pages(data, source, all_protocols, failures)
    _distributions(all_protocols, all_suites, measure)
    _spread(data, source, measure, {"protocols": all_protocols, "cipher suites": all_suites})
    failed_by_port(failures)
    without_effect(data.filters.without_effect(_COLUMNS, "hour_utc"))


def _choice(names: list[str]) -> tuple[str, Measure]:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        source: str = st.selectbox(
            "Source", names, key="ciphers_source", bind="query-params", persist_state="session",
            format_func=clean, width=260,
            help="Several sources record the same connections, so one source is shown at a time.",
        )  # fmt: skip
        measure: Measure = st.segmented_control(
            "Shares of", get_args(Measure), default="connections", required=True, key="ciphers_measure",
            bind="query-params", persist_state="session",
        )  # fmt: skip
    return source, measure


_WEIGHED = {"connections": "connections", "bytes": "coalesce(in_bytes, 0) + coalesce(out_bytes, 0)"}


def _numbers(data: PageData, source: str, all_suites: pa.Table, failures: pa.Table, measure: Measure) -> None:
    figures = headline(all_suites, measure)
    failed_count = sum(failures["failed_handshakes"].to_pylist())
    of_what = f"Of all {measure} under TLS in this source."
    whole = f"sum({_WEIGHED[measure]})"

    def share(condition: str) -> MetricFigure:
        part = f"sum({_WEIGHED[measure]}) FILTER ({condition})"
        expression = f"100 * coalesce({part}, 0) / nullif({whole}, 0)"
        return MetricFigure("cipher_distribution", expression, SUITE_COLUMNS, of_source(source))

    cards = [
        ("TLSv1.3", figures["tls13"], 1, "%", share("protocol = 'TLSv1.3'"), of_what),
        ("Without forward secrecy", figures["without_pfs"], 1, "%", share("is_without_pfs"),
         f"{of_what} Whoever gets the private key later can decrypt traffic recorded earlier."),
        ("Weak", figures["weak"], 1, "%", share("weak_because IS NOT NULL"),
         f"{of_what} 3DES, RC4, DES or RC2, no encryption, export strength, or anonymous."),
        ("Failed handshakes", failed_count, 0, "",
         MetricFigure("protocol_distribution", "sum(failed_handshakes)", ("source",), of_source(source)),
         "Not counted as connections; see below."),
        ("Suite not known", figures["not_known"], 1, "%", None,
         f"{of_what} Or not in this source. They count neither as weak nor as without forward secrecy."),
    ]  # fmt: skip
    for column, card in zip(st.columns(len(cards)), cards, strict=True):
        title, value, digits, unit, figure, explanation = card
        tile(column, data, title, number(value, digits, unit), figure, explanation)
    st.caption(f"The percentages are shares of the {measure} under TLS.")


def _beside_other_pages(data: PageData, source: str, all_protocols: pa.Table, failures: pa.Table) -> None:
    """Explain why two figures differ from those of other pages, with both."""
    other, here = zert_figures(data), _figures_here(all_protocols, failures)
    if other.unprotected_pct is None or here.unprotected_pct is None:
        return
    st.markdown("**Beside other pages**")
    rows = {
        "figure": ["without protection, % of the connections", "failed handshakes"],
        "here": [here.unprotected_pct, here.failed],
        "there": [other.unprotected_pct, other.failed],
        "page": [f"Posture and certificates, {other.records}", "Handshakes, zERT details"],
    }
    grid(pa.table(rows), "ciphers-beside-other-pages", config=_BESIDE)
    st.caption(f"Here: {plain(source)}. {_WHY}")


_BESIDE = {
    "figure": st.column_config.TextColumn("Figure"),
    "here": st.column_config.NumberColumn("In this source", format="localized"),
    "there": st.column_config.NumberColumn("On the other page", format="localized"),
    "page": st.column_config.TextColumn("Other page and its records"),
}
_WHY = (
    "The source each connection once adds connections that only AT-TLS, FTP or TN3270 recorded, and counts a "
    "connection or handshake that two records describe once."
)


def _figures_here(all_protocols: pa.Table, failures: pa.Table) -> ZertFigures:
    """The same figures in the source that is shown."""
    rows = all_protocols.to_pylist()
    whole = sum(row["connections"] or 0 for row in rows)
    none = sum(row["connections"] or 0 for row in rows if row["protocol"].startswith("none"))
    failed_count = sum(failures["failed_handshakes"].to_pylist())
    return ZertFigures(100 * none / whole if whole else None, failed_count)


def _distributions(all_protocols: pa.Table, all_suites: pa.Table, measure: Measure) -> None:
    left, right = st.columns([2, 3])
    with left:
        st.header("Protocols")
        shares(all_protocols, "protocols", measure)
    with right:
        st.header("Cipher suites")
        shares(all_suites, "cipher suites", measure)
        st.caption("Marks: " + ", ".join(f"{shape} {word}" for word, shape in SHAPES.items()))


def _spread(data: PageData, source: str, measure: Measure, whole: Mapping[Subject, pa.Table]) -> None:
    st.header("Over time and by port")
    subject: Subject = st.segmented_control(
        "Show", get_args(Subject), default="protocols", required=True, key="ciphers_subject",
        bind="query-params", persist_state="session",
    )  # fmt: skip
    over_time_and_ports(data, source, subject, measure, whole[subject])
