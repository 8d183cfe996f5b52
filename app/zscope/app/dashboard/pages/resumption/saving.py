"""What a higher resumption rate would save, for a rate that the reader chooses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import altair as alt
import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from zscope.app.dashboard.drawing import no_data, number, picture, plain, without_effect
from zscope.app.dashboard.style import BLUE, GREY, PUBLISHED, values
from zscope.app.dashboard.tiles import tile

if TYPE_CHECKING:
    from zscope.app.dashboard.page_data import PageData

LOWEST, HIGHEST, USUAL = 50, 100, 95
_ALWAYS = (50, 60, 70, 80, 90, 95, 100)
"""Rates that the metric calculates by default."""
BOUNDS = ("tls31-resumption-tls12-cpu", "tls31-resumption-tls13-cpu")
"""The published results that the bound is based on."""
_SYSTEM = alt.Y("system:N", title="System")
_SAVING_TIPS = [
    alt.Tooltip("system:N", title="System"),
    alt.Tooltip("resumed_pct:Q", title="Resumed now (%)", format=".1f"),
    alt.Tooltip("moved_per_day:Q", title="Handshakes per day that would be resumed", format=",.0f"),
    alt.Tooltip("cpu_s_per_day:Q", title="CPU time now (s per day)", format=",.0f"),
]
_SAVING_MOST_SYSTEMS = 24
_MOST_REASONS = 10


@dataclass(frozen=True, slots=True)
class CitedResult:
    """A published figure and its place in a document."""

    as_printed: str
    value: float | None
    direction: str | None
    where: str


def cited_results(data: PageData, *ids: str) -> dict[str, CitedResult]:
    """Return published results by their names."""
    marks = ", ".join("?" for _ in ids)
    rows = data.rows(
        "SELECT id, as_printed, value, direction, document, published, figure FROM reference_result "
        f"WHERE id IN ({marks})",
        ids,
    )
    return {
        row["id"]: CitedResult(
            row["as_printed"], row["value"], row["direction"],
            ", ".join(str(row[part]) for part in ("document", "published", "figure") if row[part]),
        )
        for row in rows.to_pylist()
    }  # fmt: skip


def saving(data: PageData, target_pct: int) -> pa.Table:
    """Return the savings of each system at a resumption rate: a row for the estimate, a row for the bound."""
    name, rate = "resumption_saving", int(target_pct)
    if rate in _ALWAYS:
        return data.metric(name).filter(pc.field("target_pct") == rate)
    setting = f"SET VARIABLE target_pct = {rate}"
    return data.metric(name, where=f"target_pct = {rate}", settings=[setting])


def by_estimate(savings: pa.Table) -> pa.Table:
    """Return the systems for which the estimate has a value or a range."""
    return savings.filter((pc.field("basis") == "estimate") & pc.is_valid(pc.field("saving_high_s_per_day")))


def without_estimate(savings: pa.Table) -> pa.Table:
    """Return the systems for which the estimate has no figure, with the reasons."""
    return savings.filter((pc.field("basis") == "estimate") & ~pc.is_valid(pc.field("saving_high_s_per_day")))


def by_bound(savings: pa.Table) -> pa.Table:
    """Return the systems for which a published bound gives a figure."""
    return savings.filter(
        (pc.field("basis") == "published bound") & pc.is_valid(pc.field("saving_high_s_per_day"))
    )


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
