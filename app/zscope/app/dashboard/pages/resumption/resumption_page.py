"""Resumption: rates from zERT and GSKSRVR, the session caches, and the CPU time that a higher rate saves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from zscope.app.dashboard.drawing import no_data, number, picture, plain, without_effect
from zscope.app.dashboard.over_time import ChartOverTime, LinesBefore, picture_over_time, rows_before
from zscope.app.dashboard.pages.resumption.caches import caches_section
from zscope.app.dashboard.pages.resumption.resumption_queries import (
    BOUNDS,
    HIGHEST,
    IN_PERIOD,
    LOWEST,
    USUAL,
    VERSIONS,
    by_bound,
    by_estimate,
    is_narrowed,
    over_time,
    resumed,
    saving,
    side_by_side,
    sides,
    totals,
    why_sources_differ,
    without_estimate,
    without_time,
)
from zscope.app.dashboard.protection_records import HANDSHAKE_COVERAGE, handshake_coverage
from zscope.app.dashboard.published import cited_results
from zscope.app.dashboard.registry import Page
from zscope.app.dashboard.style import (
    BLUE,
    DAY,
    GREY,
    PUBLISHED,
    PURPLE,
    RESUMED,
    reference_line,
    time_axis,
    time_tip,
    time_title,
    values,
)
from zscope.app.dashboard.tiles import MetricFigure, tile
from zscope.app.dashboard.time_axis import span

if TYPE_CHECKING:
    from zscope.app.dashboard.page_data import PageData
    from zscope.app.dashboard.time_axis import Span


_SYSTEM = alt.Y("system:N", title="System")
_SAVING_TIPS = [
    alt.Tooltip("system:N", title="System"),
    alt.Tooltip("resumed_pct:Q", title="Resumed now (%)", format=".1f"),
    alt.Tooltip("moved_per_day:Q", title="Handshakes per day that would be resumed", format=",.0f"),
    alt.Tooltip("cpu_s_per_day:Q", title="CPU time now (s per day)", format=",.0f"),
]
_SAVING_MOST_SYSTEMS = 24
_MOST_REASONS = 10


@st.fragment
def saving_section(data: PageData) -> None:
    """Draw the section; moving the slider draws only this section again."""
    st.header("Savings of a higher resumption rate")
    target: int = st.slider(
        "Resumed share of handshakes (%)", LOWEST, HIGHEST, USUAL, key="resumption_target",
        bind="query-params", persist_state="session",
    )  # fmt: skip
    savings = saving(data, target)
    if not savings.num_rows:
        no_data(
            "Savings cannot be calculated. The calculation needs zERT connection detail records and the CPU "
            "time of the same system at the same time (SMF 70 or RMF reports).",
            "zscope ingest SMF.DUMP --select '70,119(11)'",
        )
        return
    left, right = st.columns(2)
    with left:
        _by_estimate(savings, target)
    with right:
        _by_bound(data, savings, target)
    without_effect(data.filters.without_effect(("system",)))


def _by_estimate(savings: pa.Table, target: int) -> None:
    table = by_estimate(savings)
    st.markdown(f"**Estimated from these systems**, at {target} %")
    if table.num_rows:
        base = alt.Chart(values(table.slice(0, _SAVING_MOST_SYSTEMS)))
        tips = [
            *_SAVING_TIPS,
            alt.Tooltip("saving_s_per_day:Q", title="Saved (CPU s per day)", format=",.1f"),
            alt.Tooltip("saving_low_s_per_day:Q", title="At least", format=",.1f"),
            alt.Tooltip("saving_high_s_per_day:Q", title="At most", format=",.1f"),
            alt.Tooltip("attainable_pct:Q", title="Exceeded by 5 % of the handshakes (%)", format=".1f"),
            alt.Tooltip("why:N", title="Why"),
        ]
        axis = alt.X("saving_low_s_per_day:Q", title="CPU seconds saved per day, with the 95 % interval")
        spread = base.mark_rule(strokeWidth=3, color=BLUE).encode(
            x=axis, x2=alt.X2("saving_high_s_per_day:Q"), y=_SYSTEM, tooltip=tips
        )
        points = base.mark_point(filled=True, size=110, color=BLUE).encode(
            x=alt.X("saving_s_per_day:Q"), y=_SYSTEM, tooltip=tips
        )
        labels = base.mark_text(dy=-11).encode(
            x=alt.X("saving_s_per_day:Q"), y=_SYSTEM, text=alt.Text("saving_s_per_day:Q", format=",.1f")
        )
        zero = alt.Chart(alt.InlineData([{"zero": 0}])).mark_rule(color=GREY).encode(x=alt.X("zero:Q"))
        chart = alt.layer(zero, spread, points, labels, height=alt.Step(34))
        picture(chart, table, "saving-by-estimate",
                f"CPU seconds that each system would save per day at {target} %, with the interval.",
                sources=["resumption_saving"])  # fmt: skip
    _conditions(table)
    _refusals(without_estimate(savings))


def _conditions(table: pa.Table) -> None:
    """What would have to be true, if the target is beyond the resumed shares in the data."""
    beyond = table.filter(pc.field("reach") != "seen").to_pylist()
    for row in beyond[:_MOST_REASONS]:
        st.markdown(f"- **{plain(row['system'])}**: {plain(row['why'], 400)}")
    if len(beyond) > _MOST_REASONS:
        st.caption("Choose systems above to see the conditions of the others.")


def _refusals(table: pa.Table) -> None:
    """The systems without a figure, and the reasons."""
    rows = table.to_pylist()
    if not rows:
        return
    st.warning("No figure for these systems:", icon=":material/block:")
    for row in rows[:_MOST_REASONS]:
        st.markdown(f"- **{plain(row['system'])}**: {plain(row['why'], 400)}")
    if len(rows) > _MOST_REASONS:
        st.caption("Choose systems above to see the reasons of the others.")


def _by_bound(data: PageData, savings: pa.Table, target: int) -> None:
    table = by_bound(savings)
    st.markdown(f"**From published bounds**: at most this, at {target} %")
    if not table.num_rows:
        reasons = {row["why"] for row in savings.to_pylist() if row["basis"] == "published bound"}
        st.caption(f"No figure: {plain('; '.join(sorted(map(str, reasons))), 400)}")
        return
    base = alt.Chart(values(table.slice(0, _SAVING_MOST_SYSTEMS)))
    tips = [
        *_SAVING_TIPS,
        alt.Tooltip("saving_high_s_per_day:Q", title="Saved at most (CPU s per day)", format=",.1f"),
        alt.Tooltip("bounded_pct:Q", title="Full handshakes with a published bound (%)", format=".1f"),
        alt.Tooltip("why:N", title="Based on"),
    ]
    axis = alt.X("saving_high_s_per_day:Q", title="CPU seconds saved per day, at most")
    bars = base.mark_bar(color=PUBLISHED, opacity=0.55, height=14).encode(x=axis, y=_SYSTEM, tooltip=tips)
    ends = base.mark_text(dx=4, align="left").encode(
        x=axis, y=_SYSTEM, text=alt.Text("saving_high_s_per_day:Q", format="<,.1f")
    )
    picture(alt.layer(bars, ends, height=alt.Step(34)), table, "saving-by-bound",
            f"CPU seconds that each system would save per day at most at {target} %, from published bounds.",
            sources=["resumption_saving"])  # fmt: skip
    results = cited_results(data, *BOUNDS)
    figures = "; ".join(
        f"{versions}: {plain(results[name].as_printed)} ({plain(results[name].where, 200)})"
        for versions, name in zip(("TLSv1.2", "TLSv1.3"), BOUNDS, strict=True)
        if name in results
    )
    st.caption(f"Published: {figures}. A system that does more than open connections saves far less.")
    moved = sum(row["moved_per_day"] or 0 for row in table.to_pylist())
    title = "Handshakes a day, resumed instead of full"
    tile(st.container(), data, title, number(moved, 0), None, "All systems shown together.")


PAGE = Page(title="Resumption", icon="autorenew", area="Traffic", order=20)

_SOURCES = ["zERT", "GSKSRVR"]
_OF_SOURCE: dict[str, Any] = {"title": None, "sort": _SOURCES, "legend": alt.Legend(orient="top")}
_COLOUR = alt.Color("source:N", scale=alt.Scale(domain=_SOURCES, range=[RESUMED, PURPLE]), **_OF_SOURCE)
_SHAPE = alt.Shape("source:N", scale=alt.Scale(domain=_SOURCES, range=["circle", "diamond"]), **_OF_SOURCE)
_SIZE = alt.Size("source:N", scale=alt.Scale(domain=_SOURCES, range=[190, 70]), **_OF_SOURCE)
"""Different sizes, so that both are visible where they agree."""
_SHARE = alt.Scale(domain=[0, 100])
_TIPS = [
    alt.Tooltip("source:N", title="Source"),
    alt.Tooltip("system:N", title="System"),
    alt.Tooltip("resumed_pct:Q", title="Resumed (%)", format=".1f"),
    alt.Tooltip("resumed_handshakes:Q", title="Resumed handshakes", format=","),
    alt.Tooltip("full_handshakes:Q", title="Full handshakes", format=","),
    alt.Tooltip("counted:N", title="Counted over"),
]
_PUBLISHED = "tls31-sysplex-tickets-hit"
_COLUMNS = ("system", "side", "stack", "server_port", "job_name")
_MOST_SYSTEMS = 24


def render(data: PageData) -> None:
    """Draw the page."""
    _numbers(data)
    if with_handshakes := sides(data):
        _rates(data, with_handshakes)
    else:
        no_data(
            "There are no full or resumed handshakes. They come from zERT connection detail records (SMF 119 "
            "subtype 11) and from GSKSRVR displays of the session caches.",
            "zscope ingest SMF.DUMP GSKSRVR.txt",
        )
    caches_section(data)
    saving_section(data)


def _numbers(data: PageData) -> None:
    by_source = totals(data)
    gsk = by_source.get("GSKSRVR", {})
    if not by_source:
        return
    of_servers = "starts_with(handshake_role, 'server')"
    of_gsksrvr = "side = 'server' AND source = 'GSKSRVR'"
    counted = f"{of_gsksrvr} AND {IN_PERIOD}"
    cards = [
        ("Resumed handshakes", resumed(data), 1, "%", MetricFigure("handshake_mix", "resumed_pct"),
         "Of the handshakes of clients and servers in zERT records, as on Overview and Handshakes."),
        ("Servers only, zERT", resumed(data, "server"), 1, "%",
         MetricFigure("handshake_mix", "resumed_pct", where=of_servers),
         "Of the handshakes in which the recording side is the server: these are comparable with GSKSRVR."),
        ("Servers only, GSKSRVR", gsk.get("resumed_pct"), 1, "%",
         MetricFigure("resumption_rate", "resumed_pct", ("source",), counted),
         "Of the handshakes that used its caches."),
        ("Cache hit rate", gsk.get("hit_rate_pct"), 1, "%",
         MetricFigure("resumption_rate", "hit_rate_pct", ("source",), counted),
         "Lookups that returned a session."),
        ("Counter resets", gsk.get("resets"), 0, "",
         MetricFigure("resumption_rate", "sum(resets)", ("source",), of_gsksrvr),
         "Part of the counts before a reset is lost."),
    ]  # fmt: skip
    cards.append(("Hours covered", handshake_coverage(data), 1, "%", HANDSHAKE_COVERAGE, "By zERT details."))
    for column, card in zip(st.columns(len(cards)), cards, strict=True):
        title, value, digits, unit, figure, explanation = card
        tile(column, data, title, number(value, digits, unit), figure, explanation)
    st.caption(
        "The first figure is about all handshakes in zERT details. GSKSRVR counts servers "
        "only, so the second leaves out the handshakes of clients: the shares differ if clients resume more "
        "or less often."
    )


def _rates(data: PageData, with_handshakes: list[str]) -> None:
    st.header("zERT and GSKSRVR side by side")
    st.caption(
        "Share of resumed handshakes among all full and resumed handshakes. The two sources count the same "
        "handshakes in different ways: they are compared, never added."
    )
    side: str = st.segmented_control(
        "Side", with_handshakes, default=with_handshakes[0], required=True, key="resumption_side",
        bind="query-params",
        persist_state="session", help="GSKSRVR counts servers only.",
    )  # fmt: skip
    systems, by = side_by_side(data, side), span(data)
    times = over_time(data, side, by)
    before = rows_before(data, lambda earlier: over_time(earlier, side, by), "start", "end", daily=by == DAY)
    present = [name for name in VERSIONS if name in systems["versions"].to_pylist()]
    for column, name in zip(st.columns(len(present)), present, strict=True) if present else ():
        with column:
            st.markdown(f"**{name}**")
            _by_system(name, _of(systems, name))
            _over_time(data, name, by, _of(times, name), None if before is None else _of(before, name))
    result = cited_results(data, _PUBLISHED).get(_PUBLISHED)
    if result and VERSIONS[0] in present:
        st.caption(
            f"Published for TLSv1.3 with sysplex-wide tickets: {plain(result.as_printed)} of the handshakes "
            f"used a cached ticket ({plain(result.where, 200)}). It was measured with one workload; other "
            "workloads can differ."
        )
    if reasons := why_sources_differ(data):
        listed = "  \n".join(plain(reason, 400) for reason in reasons)
        st.info(f"**Why the two can differ**  \n{listed}", icon=":material/difference:")
    if without_time(data):
        st.caption(
            "Handshakes that GSKSRVR counted are not in the charts over time where the time zone of their "
            "system is not known."
        )
    if is_narrowed(data):
        st.caption(
            "GSKSRVR knows no stack, port or job: its rates are not drawn while one is chosen, and its "
            "figures above are about all of them."
        )
    without_effect(data.filters.without_effect(_COLUMNS, "interval_start_utc"))


def _of(table: pa.Table, versions: str) -> pa.Table:
    return table.filter(pc.field("versions") == versions)


def _by_system(versions: str, table: pa.Table) -> None:
    drawn = list(dict.fromkeys(table["system"].to_pylist()))[:_MOST_SYSTEMS]
    base = alt.Chart(values(table.filter(pc.field("system").isin(pa.array(drawn, pa.string())))))
    points = base.mark_point(filled=True, opacity=0.9).encode(
        x=alt.X("resumed_pct:Q", title="Resumed (%)", scale=_SHARE),
        y=alt.Y("system:N", title="System"),
        color=_COLOUR,
        shape=_SHAPE,
        size=_SIZE,
        tooltip=_TIPS,
    )
    picture(
        alt.layer(points, *_line_at(table), height=alt.Step(28)), table,
        f"resumed-by-system-{_short(versions)}",
        f"Share of resumed handshakes with {versions} by system: a circle for zERT, a diamond for GSKSRVR.",
        sources=["resumption_rate"],
    )  # fmt: skip


def _line_at(table: pa.Table) -> list[alt.Chart]:
    """The published share as a vertical line."""
    shares = [share for share in table["published_pct"].to_pylist() if share is not None]
    if not shares:
        return []
    row = alt.InlineData([{"published": shares[0]}])
    return [alt.Chart(row).mark_rule(strokeDash=[6, 4], color=PUBLISHED).encode(x=alt.X("published:Q"))]


def _over_time(data: PageData, versions: str, by: Span, table: pa.Table, before: pa.Table | None) -> None:
    title = time_title(by)
    sources = [
        (alt.Chart(values(rows)), width)
        for source, width in (("GSKSRVR", 4), ("zERT", 2))
        if (rows := table.filter(pc.field("source") == source)).num_rows
    ]
    encodings = {
        "x": time_axis("start", title),
        "y": alt.Y("resumed_pct:Q", title="Resumed (%)", scale=_SHARE),
        "color": _COLOUR,
    }
    shown = {
        **encodings,
        "tooltip": [time_tip("start", f"{title}, from"), time_tip("end", f"{title}, to"), *_TIPS],
    }
    shares = [share for share in table["published_pct"].to_pylist() if share is not None]
    chart = alt.layer(
        *(marks.mark_rule(strokeWidth=width).encode(**shown, x2=alt.X2("end:T")) for marks, width in sources),
        *(marks.mark_point(filled=True, size=45).encode(**shown, shape=_SHAPE) for marks, _ in sources),
        *(reference_line(shares[0], f"published: > {shares[0]:g} %") if shares else []),
        height=280,
    )
    lines = (
        None
        if before is None or not before.num_rows
        else LinesBefore(before, {**encodings, "detail": alt.Detail("system:N")})
    )
    picture_over_time(
        data,
        ChartOverTime(chart, "start", lines, title),
        table,
        f"resumed-over-time-{_short(versions)}",
        f"Share of resumed handshakes with {versions} over time: zERT for all chosen systems, with a circle "
        "for each hour or day; GSKSRVR for each system, with a diamond for the time between two displays.",
        sources=["resumption_rate"],
    )


def _short(versions: str) -> str:
    return "tls13" if versions == VERSIONS[0] else "older"
