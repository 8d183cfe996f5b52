"""Ciphers and versions: protocols and cipher suites by connections and bytes, over time and by port."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import altair as alt
import pyarrow as pa
import streamlit as st

from zscope.app.dashboard.drawing import clean, no_data, number, picture, without_effect
from zscope.app.dashboard.pages.ciphers.queries import (
    METRICS,
    NAMES,
    Measure,
    Subject,
    by_port,
    failed,
    fold,
    headline,
    over_time,
    protocols,
    sources,
    suites,
)
from zscope.app.dashboard.registry import Page
from zscope.app.dashboard.style import (
    BLUE,
    CATEGORIES,
    GREY,
    ORANGE,
    RED,
    colours,
    time_axis,
    time_tip,
    values,
)
from zscope.app.dashboard.suites import NOT_KNOWN, SHAPES, WEAK, WITH_PFS, WITHOUT_PFS
from zscope.app.dashboard.time_axis import span

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zscope.app.dashboard.store import PageData

PAGE = Page(title="Ciphers and versions", icon="enhanced_encryption", section="TLS", order=50)


_MARK_COLOURS = {
    f"{SHAPES[mark]} {mark}": colour
    for mark, colour in ((WEAK, RED), (WITHOUT_PFS, ORANGE), (WITH_PFS, BLUE), (NOT_KNOWN, GREY))
}
_SHOWN = tuple(colour for colour in CATEGORIES if colour not in (RED, GREY))
_SERIES = len(_SHOWN)
_TITLES = {"protocols": "Protocol", "cipher suites": "Cipher suite"}
_UNITS = {"hour_utc": "utcyearmonthdatehours", "day": "utcyearmonthdate"}
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
        alt.value(BLUE)
        if subject == "protocols"
        else alt.Color("mark:N", scale=colours({**_MARK_COLOURS, "": GREY}), legend=None)
    )
    words = base.mark_text(align="left", dx=4, color=GREY).encode(text=alt.Text("share_pct:Q", format=".1f"))
    chart = alt.layer(base.mark_bar().encode(color=filled), words).properties(height=alt.Step(22))
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
        by, column = span(data)
        table = over_time(data, source, subject, shown_as, by)
        chart = (
            alt.Chart(values(_placed(table, drawn)))
            .mark_bar()
            .encode(
                x=time_axis(column, timeUnit=_UNITS[by]),
                y=alt.Y(
                    f"{measure}:Q", title=f"Share of {measure}", stack="normalize", axis=alt.Axis(format="%")
                ),
                color=colour,
                order=alt.Order("position:Q"),
                tooltip=[time_tip(column), *tips],
            )
            .properties(height=320 + _LEGEND_LINE * len(drawn) // columns)
        )
        picture(chart, table, f"{_short(subject)}-over-time",
                f"Share of {measure} of each {_TITLES[subject]} over time, as stacked bars.",
                sources=[METRICS[subject]])  # fmt: skip
        if unplaced := sum(whole["connections"].to_pylist()) - sum(table["connections"].to_pylist()):
            st.caption(f"{unplaced:,} connections are not in this chart: their time in UTC is not known.")
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
    """Red is for weak suites only, grey for the rest."""
    large = iter((*_SHOWN, *_SHOWN))

    def of(label: str) -> str:
        if label.startswith(SHAPES[WEAK]):
            return RED
        return GREY if label.startswith("other (") else next(large)

    return colours({label: of(label) for label in labels})


def _placed(table: pa.Table, labels: Sequence[str]) -> pa.Table:
    """The rows with the position of each name in a stack: that of the legend."""
    places = [labels.index(name) if name in labels else len(labels) for name in table["name"].to_pylist()]
    return table.append_column("position", pa.array(places, pa.int64()))


_FAILED_HANDSHAKES_MOST = 15


def failed_by_port(table: pa.Table) -> None:
    """Draw failed handshakes by port; they are not part of the shares above."""
    st.subheader("Failed handshakes")
    if not table.num_rows:
        st.caption(
            "This source has no failed handshakes. They are in zERT records since z/OS 3.2 and in AT-TLS "
            "data."
        )
        return
    shown = table.slice(0, _FAILED_HANDSHAKES_MOST)
    chart = (
        alt.Chart(values(shown))
        .mark_bar(color=RED)
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


_NOT_KNOWN_FROM_PCT = 0.05
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
    _numbers(all_suites, failures, measure)
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


def _numbers(all_suites: pa.Table, failures: pa.Table, measure: Measure) -> None:
    figures = headline(all_suites, measure)
    failed_count = sum(failures["failed_handshakes"].to_pylist())
    of_what = f"Of all {measure} under TLS in this source."
    cards = [
        ("TLSv1.3", figures["tls13"], 1, "%", of_what),
        ("Without forward secrecy", figures["without_pfs"], 1, "%",
         f"{of_what} Whoever gets the private key later can decrypt traffic recorded earlier."),
        ("Weak", figures["weak"], 1, "%",
         f"{of_what} 3DES, RC4, DES or RC2, no encryption, export strength, or anonymous."),
        ("Failed handshakes", failed_count, 0, "", "Not counted as connections; see below."),
    ]  # fmt: skip
    for column, (title, value, digits, unit, help_text) in zip(st.columns(4), cards, strict=True):
        column.metric(title, number(value, digits, unit), border=True, help=help_text)
    text = f"The first three are shares of the {measure} under TLS."
    if (figures["not_known"] or 0) >= _NOT_KNOWN_FROM_PCT:
        text += (
            f" The suite of {number(figures['not_known'], 1, '%')} of them is not known or not in this "
            "source: "
            "they count neither as weak nor as without forward secrecy."
        )
    st.caption(text)


def _distributions(all_protocols: pa.Table, all_suites: pa.Table, measure: Measure) -> None:
    left, right = st.columns([2, 3])
    with left:
        st.subheader("Protocols")
        shares(all_protocols, "protocols", measure)
    with right:
        st.subheader("Cipher suites")
        shares(all_suites, "cipher suites", measure)
        st.caption("Marks: " + ", ".join(f"{shape} {word}" for word, shape in SHAPES.items()))


def _spread(data: PageData, source: str, measure: Measure, whole: Mapping[Subject, pa.Table]) -> None:
    st.subheader("Over time and by port")
    subject: Subject = st.segmented_control(
        "Show", get_args(Subject), default="protocols", required=True, key="ciphers_subject",
        bind="query-params", persist_state="session",
    )  # fmt: skip
    over_time_and_ports(data, source, subject, measure, whole[subject])
