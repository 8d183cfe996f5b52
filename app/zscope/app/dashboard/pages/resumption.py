"""Resumption: what zERT and GSKSRVR tell, what the session caches do, what a higher rate would save."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import pyarrow.compute as pc
import streamlit as st

from zscope.app.dashboard.looks import BLUE, GREY, ORANGE, reference_line, time_axis, time_tip, values
from zscope.app.dashboard.parts.resumption_saving import saving_section
from zscope.app.dashboard.parts.session_caches import caches_section
from zscope.app.dashboard.periods import span
from zscope.app.dashboard.queries.resumption import (
    VERSIONS,
    over_time,
    published,
    side_by_side,
    sides,
    totals,
    why_sources_differ,
    without_time,
)
from zscope.app.dashboard.show import nothing, number, picture, plain, without_effect

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.answers import Data

_SOURCES = ["zERT", "GSKSRVR"]
_COLOUR = alt.Color(
    "source:N", title=None, scale=alt.Scale(domain=_SOURCES, range=[BLUE, ORANGE]),
    legend=alt.Legend(orient="top"),
)  # fmt: skip
_SHAPE = alt.Shape("source:N", title=None, scale=alt.Scale(domain=_SOURCES, range=["circle", "diamond"]))
_SIZE = alt.Size("source:N", scale=alt.Scale(domain=_SOURCES, range=[190, 70]), legend=None)
"""So that both are seen where they agree."""
_SHARE = alt.Scale(domain=[0, 100])
_TIPS = [
    alt.Tooltip("source:N", title="Source"),
    alt.Tooltip("system:N", title="System"),
    alt.Tooltip("resumed_pct:Q", title="Resumed (%)", format=".1f"),
    alt.Tooltip("resumed_handshakes:Q", title="Resumed handshakes", format=","),
    alt.Tooltip("full_handshakes:Q", title="Full handshakes", format=","),
    alt.Tooltip("counted:N", title="Over"),
]
_PUBLISHED = "tls31-sysplex-tickets-hit"
_COLUMNS = ("system", "side")
_MOST_SYSTEMS = 24


def render(data: Data) -> None:
    """Draw the page."""
    _numbers(data)
    found = sides(data)
    if found:
        _rates(data, found)
    else:
        nothing(
            "No resumed or full handshakes: they come from zERT connection detail records (SMF 119 subtype"
            " 11) and from displays of the session caches of GSKSRVR.",
            "zscope ingest SMF.DUMP GSKSRVR.txt",
        )
    caches_section(data)
    saving_section(data)


def _numbers(data: Data) -> None:
    told = totals(data)
    zert, gsk = told.get("zERT", {}), told.get("GSKSRVR", {})
    if not told:
        return
    cards = [
        ("Resumed by zERT", zert.get("resumed_pct"), 1, "%", "Of the handshakes that servers did."),
        ("Resumed by GSKSRVR", gsk.get("resumed_pct"), 1, "%", "Of the handshakes that its caches saw."),
        ("Hit rate of the caches", gsk.get("hit_rate_pct"), 1, "%", "Look-ups that found their session."),
        ("Resets of the counters", gsk.get("resets"), 0, "", "What they counted before is partly lost."),
    ]
    for column, (title, value, digits, unit, help_text) in zip(st.columns(4), cards, strict=True):
        column.metric(title, number(value, digits, unit), border=True, help=help_text)


def _rates(data: Data, found: list[str]) -> None:
    st.subheader("zERT and GSKSRVR side by side")
    st.caption(
        "Share of handshakes that resume an earlier session, of all that were full or resumed. The two"
        " sources count the same handshakes in their own ways: they are compared, never added up."
    )
    side: str = st.segmented_control(
        "Side", found, default=found[0], required=True, key="resumption_side", bind="query-params",
        persist_state="session", help="GSKSRVR counts servers only.",
    )  # fmt: skip
    systems, (by, _) = side_by_side(data, side), span(data)
    times = over_time(data, side, by)
    there = [name for name in VERSIONS if name in systems["versions"].to_pylist()]
    for column, name in zip(st.columns(len(there)), there, strict=True) if there else ():
        with column:
            st.markdown(f"**{name}**")
            _by_system(name, _of(systems, name))
            _over_time(name, _of(times, name))
    figure = published(data, _PUBLISHED).get(_PUBLISHED)
    if figure and VERSIONS[0] in there:
        st.caption(
            f"Published for TLSv1.3 with sysplex-wide tickets: {plain(figure.as_printed)} of the handshakes"
            f" used a cached ticket ({plain(figure.where, 200)}). It was measured with one workload and is no"
            " promise for another."
        )
    if reasons := why_sources_differ(data):
        told = "  \n".join(plain(reason, 400) for reason in reasons)
        st.info(f"**Why the two can differ**  \n{told}", icon=":material/difference:")
    if lost := without_time(data):
        st.caption(
            f"{lost:,} handshakes that GSKSRVR counted are not in the pictures over time: no time zone."
        )
    without_effect(data.filters.without_effect(_COLUMNS, "interval_start_utc"))


def _of(table: pa.Table, versions: str) -> pa.Table:
    return table.filter(pc.field("versions") == versions)


def _by_system(versions: str, table: pa.Table) -> None:
    kept = list(dict.fromkeys(table["system"].to_pylist()))[:_MOST_SYSTEMS]
    base = alt.Chart(values(table.filter(pc.field("system").isin(kept))))
    points = base.mark_point(filled=True, opacity=0.9).encode(
        x=alt.X("resumed_pct:Q", title="Resumed (%)", scale=_SHARE),
        y=alt.Y("system:N", title="System"),
        color=_COLOUR,
        shape=_SHAPE,
        size=_SIZE,
        tooltip=_TIPS,
    )
    picture(
        alt.layer(points, *_line_at(table)).properties(height=alt.Step(28)), table,
        f"resumed-by-system-{_short(versions)}",
        f"Share of resumed handshakes with {versions} by system: by zERT a circle, by GSKSRVR a diamond.",
        sources=["resumption_rate"],
    )  # fmt: skip


def _line_at(table: pa.Table) -> list[alt.Chart]:
    """The published share as a vertical line."""
    shares = [share for share in table["published_pct"].to_pylist() if share is not None]
    if not shares:
        return []
    row = alt.InlineData([{"published": shares[0]}])
    return [alt.Chart(row).mark_rule(strokeDash=[6, 4], color=GREY).encode(x="published:Q")]


def _over_time(versions: str, table: pa.Table) -> None:
    sources = [
        (alt.Chart(values(table.filter(pc.field("source") == source))), width)
        for source, width in (("GSKSRVR", 4), ("zERT", 2))
    ]
    shown = {
        "x": time_axis("start_utc"),
        "y": alt.Y("resumed_pct:Q", title="Resumed (%)", scale=_SHARE),
        "color": _COLOUR,
        "tooltip": [time_tip("start_utc", "From (UTC)"), time_tip("end_utc", "To (UTC)"), *_TIPS],
    }
    shares = [share for share in table["published_pct"].to_pylist() if share is not None]
    chart = alt.layer(
        *(marks.mark_rule(strokeWidth=width).encode(**shown, x2="end_utc:T") for marks, width in sources),
        *(marks.mark_point(filled=True, size=45).encode(**shown, shape=_SHAPE) for marks, _ in sources),
        *(reference_line(shares[0], f"published: more than {shares[0]:g} %") if shares else []),
    ).properties(height=280)
    picture(
        chart, table, f"resumed-over-time-{_short(versions)}",
        f"Share of resumed handshakes with {versions} over time: zERT of all chosen systems with a"
        " circle for each hour or day, GSKSRVR of each system with a diamond for the time between displays.",
        sources=["resumption_rate"],
    )  # fmt: skip


def _short(versions: str) -> str:
    return "tls13" if versions == VERSIONS[0] else "older"
