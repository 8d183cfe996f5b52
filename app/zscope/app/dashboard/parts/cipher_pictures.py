"""Pictures of protocols and cipher suites: shares, over time, by port, and the handshakes that failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import pyarrow as pa
import streamlit as st

from zscope.app.dashboard.looks import (
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
from zscope.app.dashboard.periods import span
from zscope.app.dashboard.queries.cipher_fold import fold
from zscope.app.dashboard.queries.ciphers import METRICS, NAMES, by_port, over_time
from zscope.app.dashboard.queries.suite_marks import NOT_KNOWN, SHAPES, WEAK, WITH_PFS, WITHOUT_PFS
from zscope.app.dashboard.show import picture

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zscope.app.dashboard.answers import Data
    from zscope.app.dashboard.queries.ciphers import Measure, Subject

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
    """The largest ones as bars with their share; the table has all."""
    part = fold(whole, NAMES[subject], measure, _MOST).table
    if not sum(part["amount"].to_pylist()):
        st.caption(f"This source tells of no {measure} here.")
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


def over_time_and_ports(data: Data, source: str, subject: Subject, measure: Measure, found: pa.Table) -> None:
    """Shares in each hour or day, and at each of the busiest ports."""
    shown_as = fold(found, NAMES[subject], measure, _SERIES)
    kept = shown_as.labels
    if not sum(shown_as.amounts.values()):
        st.caption(f"This source tells of no {measure} here.")
        return
    columns = 1 if subject == "cipher suites" else 4
    colour = alt.Color(
        "name:N", title=None, scale=_scale(kept), sort=kept,
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
            alt.Chart(values(_placed(table, kept)))
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
            .properties(height=320 + _LEGEND_LINE * len(kept) // columns)
        )
        picture(chart, table, f"{_short(subject)}-over-time",
                f"Share of {measure} of each {_TITLES[subject]} over time, as stacked bars.",
                sources=[METRICS[subject]])  # fmt: skip
        if lost := sum(found["connections"].to_pylist()) - sum(table["connections"].to_pylist()):
            st.caption(f"{lost:,} connections are not in this picture: their time in UTC is not known.")
    with right:
        table = by_port(data, source, subject, shown_as, measure)
        chart = (
            alt.Chart(values(_placed(table, kept)))
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
    """Red is kept for weak suites, grey for the rest."""
    large = iter((*_SHOWN, *_SHOWN))

    def of(label: str) -> str:
        if label.startswith(SHAPES[WEAK]):
            return RED
        return GREY if label.startswith("other (") else next(large)

    return colours({label: of(label) for label in labels})


def _placed(table: pa.Table, kept: Sequence[str]) -> pa.Table:
    """With the place that each name has in a stack: that of the legend."""
    places = [kept.index(name) if name in kept else len(kept) for name in table["name"].to_pylist()]
    return table.append_column("position", pa.array(places, pa.int64()))
