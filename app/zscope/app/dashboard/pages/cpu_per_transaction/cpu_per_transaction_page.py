"""CPU per transaction: over time, by system and by benchmark run, for one way of counting at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import pyarrow.compute as pc
import streamlit as st

from zscope.app.dashboard.amounts import amount, amount_axis, amount_tip, with_amounts
from zscope.app.dashboard.drawing import (
    clean,
    folded,
    grid,
    no_data,
    number,
    panels,
    picture,
    synthetic_badge,
    without_effect,
)
from zscope.app.dashboard.over_time import rows_before, zoom_of
from zscope.app.dashboard.pages.cpu_per_transaction.cpu_per_transaction_queries import (
    METRIC,
    PEAKS,
    RUNS,
    TITLES,
    WAYS,
    by_job,
    by_system,
    count_of,
    counted,
    has_cpu,
    has_runs,
    measure,
    of_runs,
    over_time,
    statuses,
    totals,
    ways,
    without_value,
)
from zscope.app.dashboard.pages.cpu_per_transaction.panels import MEASURES, charts_over_time, shown_measures
from zscope.app.dashboard.registry import Page
from zscope.app.dashboard.style import (
    BLUE,
    GREY,
    ORANGE,
    colours,
    values,
)
from zscope.app.dashboard.tiles import MetricFigure, tile

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.page_data import PageData
    from zscope.app.dashboard.style import Chart

PAGE = Page(title="CPU per transaction", icon="speed", area="Cost", order=20)


_SIDES = {"client": BLUE, "server": ORANGE, "both": GREY}
_UNKNOWN = "not known"
_COLUMNS = (
    "name", "role", "value", "low", "high", "intervals", "trimmed", "counted_by", "systems", "workload",
    "status", "why", "synthetic",
)  # fmt: skip


def runs_section(data: PageData) -> None:
    """Draw each run and side as a dot with its interval."""
    st.header("By benchmark run")
    if not has_runs(data):
        no_data("There are no benchmark runs. Name the time of a run, and zscope measures it from the data.",
                "zscope runs propose")  # fmt: skip
        return
    every = of_runs(data, "cpu_per_tran")
    if not every.num_rows:
        st.info("No run started in the chosen period.", icon=":material/inbox:")
        return
    if pc.any(every["synthetic"]).as_py():
        synthetic_badge()
    kinds = sorted({kind or _UNKNOWN for kind in every["workload_kind"].to_pylist()})
    kind = kinds[0]
    if len(kinds) > 1:
        kind = st.segmented_control(
            "Workload", kinds, default=kinds[0], required=True, key="cpu_per_transaction_workload",
            bind="query-params", persist_state="session", format_func=clean,
        )  # fmt: skip
    of_kind = every.filter(pc.equal(pc.fill_null(every["workload_kind"], _UNKNOWN), kind))
    measured = of_kind.filter(pc.field("value").is_valid())
    if measured.num_rows:
        picture(_dots(measured), measured, "cpu-per-transaction-runs",
                "CPU time per transaction of each run and side, as a dot with its 95 % interval.",
                sources=[RUNS])  # fmt: skip
    counted_by = sorted({clean(way) for way in measured["counted_by"].to_pylist() if way})
    st.caption(
        f"Transactions are counted by: {', '.join(counted_by) or 'nothing'}. The bar is the 95 % interval: "
        "the "
        "variation between the intervals of this run, not between runs on different days. Both is client "
        "plus "
        "server. The page Benchmark compares the runs with published results."
    )
    without_effect(data.without_effect(RUNS))
    missing = of_kind.filter(pc.field("value").is_null())
    if missing.num_rows:
        st.markdown(f"**Without a result** ({missing.num_rows})")
        grid(missing, "cpu-per-transaction-runs-missing", sources=[RUNS], columns=_COLUMNS)


def _dots(measured: pa.Table) -> Chart:
    base = alt.Chart(values(with_amounts(measured, value="us", low="us", high="us"))).encode(
        y=alt.Y("name:N", title="Run", sort=alt.EncodingSortField("value", op="max"),
                axis=alt.Axis(labelLimit=260, labelOverlap=False)),
        color=alt.Color("role:N", title="Side", scale=colours(_SIDES), legend=alt.Legend(orient="top")),
        tooltip=[
            alt.Tooltip("name:N", title="Run"), alt.Tooltip("role:N", title="Side"),
            amount_tip("value", "CPU per transaction"), amount_tip("low", "Low, 95 %"),
            amount_tip("high", "High, 95 %"),
            alt.Tooltip("intervals:Q", title="Intervals"), alt.Tooltip("counted_by:N", title="Counted by"),
            alt.Tooltip("systems:N", title="Systems"), alt.Tooltip("workload:N", title="Workload"),
            alt.Tooltip("synthetic:N", title="Synthetic"),
        ],
    )  # fmt: skip
    scale = alt.Scale(type="log", nice=False, padding=12)
    intervals = base.mark_rule(strokeWidth=6, opacity=0.4).encode(
        x=alt.X("low:Q", title="CPU per transaction (logarithmic)", scale=scale, axis=amount_axis("us")),
        x2=alt.X2("high:Q"),
    )
    dots = base.mark_point(filled=True, size=30, opacity=1).encode(
        x=alt.X("value:Q", scale=scale),
        shape=alt.Shape("role:N", title="Side", scale=alt.Scale(domain=list(_SIDES))),
    )
    return alt.layer(intervals, dots, height=alt.Step(20))


_LINEAR, _LOGARITHMIC = "linear", "logarithmic"


def render(data: PageData) -> None:
    """Draw the page."""
    names = ways(data)
    if not has_cpu(data):
        no_data(
            "There is no CPU time. It comes from RMF, as SMF 70 records or as CPU Activity reports.",
            "zscope ingest SMF.DUMP --select '70(1)'",
        )
    if not names:
        no_data(
            "There are no transactions. They come from TCP connections (SMF 119 subtype 2), from zERT (SMF "
            "119 "
            "subtype 11), or from your own counts (CSV).",
            "zscope ingest SMF.DUMP --select '119(2,11)'",
        )
    else:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            way = st.segmented_control(
                "Transactions counted by", names, default=names[0], required=True,
                key="cpu_per_transaction_counted_by", bind="query-params", persist_state="session",
                help="All ways count the same work, so they are shown one at a time and never added.",
            )  # fmt: skip
            scale = st.segmented_control(
                "Scale of CPU per transaction", (_LOGARITHMIC, _LINEAR), default=_LOGARITHMIC, required=True,
                key="cpu_per_transaction_scale", bind="query-params", persist_state="session",
            )  # fmt: skip
            ziip = st.toggle(
                "Show zIIPs", key="cpu_per_transaction_ziip", bind="query-params",
                persist_state="session",
            )  # fmt: skip
        _headline(data, way, ziip=ziip)
        _over_time(data, way, logarithmic=scale == _LOGARITHMIC, ziip=ziip)
        _by_system(data, way)
        _by_job(data, way)
    _peaks(data)
    runs_section(data)


def _headline(data: PageData, way: str, *, ziip: bool) -> None:
    sums = totals(data, way)
    known = f"FILTER ({count_of(way)} IS NOT NULL)"

    def figure(expression: str) -> MetricFigure:
        return MetricFigure(METRIC, expression, ("counted_by",), counted(way))

    per = f"{known} / sum({count_of(way)}) {known}"
    shown = [
        (TITLES[measure(way)], amount(sums["cpu_us"], "us"), figure(f"1e6 * sum(matched_cpu_s) {per}")),
        *(
            [("zIIP time of the same", amount(sums["ziip_us"], "us"),
              figure(f"1e6 * sum(matched_ziip_s) {per}"))]
            if ziip
            else []
        ),
        ("Transactions", number(sums["transactions"], 0), figure("sum(transactions)")),
        ("CPU time in these intervals", amount(sums["matched_cpu_s"], "s"),
         figure(f"sum(matched_cpu_s) {known}")),
        ("Apportioned transactions", number(sums["apportioned_pct"], 1, "%"),
         figure("100 * sum(apportioned_transactions) / sum(transactions)")),
    ]  # fmt: skip
    for column, (title, value, of) in zip(st.columns(len(shown)), shown, strict=True):
        tile(column, data, title, value, of)
    st.caption(
        f"Counted by {way}. {WAYS[way]} CPU time is the whole busy time of the general-purpose processors of "
        "the system, including other work: it is that of the transactions only within benchmark runs. A "
        "transaction recorded by two systems counts on each of them. Apportioned transactions span several "
        "intervals and are distributed evenly over them."
    )
    without_effect(data.without_effect(METRIC))


def _over_time(data: PageData, way: str, *, logarithmic: bool, ziip: bool) -> None:
    st.header("Over time")
    costs = over_time(data, way)
    if not costs.rows.num_rows:
        st.info("No data has a known time.", icon=":material/inbox:")
        return
    titles = shown_measures(measure(way), ziip=ziip)
    chosen: str = st.segmented_control(
        "Measure", tuple(titles), default=measure(way), required=True,
        key=f"cpu_per_transaction_shown_{measure(way)}_{ziip}",
        format_func=lambda name: titles.get(name, name), persist_state="session",
    )  # fmt: skip
    logarithmic = logarithmic and MEASURES[chosen] == "us"
    before = rows_before(
        data, lambda earlier: over_time(earlier, way).rows, costs.clock, daily=costs.clock == "day"
    )
    charts, days = charts_over_time(
        costs, without_value(costs), before, chosen, titles[chosen], logarithmic=logarithmic
    )
    panels(
        charts, costs.rows, "cpu-per-transaction-over-time", sources=[METRIC],
        zoom=zoom_of(data, days.moment, chosen),
    )  # fmt: skip
    each = "days" if costs.clock == "day" else "intervals"
    notes = [
        f"Each point is the median of the {each} in a part of a day, the band has 80 % of them.",
        "Each panel has its own scale.",
    ]
    if logarithmic:
        notes.append("A logarithmic scale does not show zeros.")
    if costs.left_out:
        notes.append(f"{costs.left_out} systems with fewer transactions are not drawn; choose them above.")
    st.caption(" ".join(notes))


def _by_system(data: PageData, way: str) -> None:
    st.header("By system")
    columns = (
        "run", "system", "cpu_us_per_transaction", "ziip_us_per_transaction", "why",
        "lpar_cpu_us_per_ended_connection", "transactions", "transactions_per_s", "response_us",
        "apportioned_pct", "matched_cpu_s", "matched_ziip_s",
    )  # fmt: skip
    table = by_system(data, way)
    shown = [name for name in columns if name in table.column_names]
    grid(table, "cpu-per-transaction-by-system", sources=[METRIC], columns=shown,
         config={"why": st.column_config.TextColumn("Why", width="medium"),
                 "transactions_per_s": st.column_config.NumberColumn("Transactions per second",
                                                                     format="%.4g")})  # fmt: skip
    folded(
        "Time by status: which intervals are used", "cpu-per-transaction-statuses-data",
        lambda: _statuses(data, way),
    )  # fmt: skip


def _statuses(data: PageData, way: str) -> None:
    grid(statuses(data, way), "cpu-per-transaction-statuses", sources=[METRIC])
    st.caption(
        "CPU per transaction uses the intervals with the status ok or no transactions. In all others, CPU "
        "time or part of the count is missing: gap (between CPU intervals), no CPU data, partly counted, "
        "no end time (of connections), no records (before, after or between the times with records)."
    )


def _by_job(data: PageData, way: str) -> None:
    table = by_job(data, way)
    if not table.num_rows:
        return
    st.header("By job")
    columns = (
        "run", "job_name", "system", "cpu_us_per_transaction", "ziip_us_per_transaction", "transactions",
        "transactions_per_s", "matched_cpu_s",
    )  # fmt: skip
    shown = [name for name in columns if name in table.column_names]
    grid(table, "cpu-per-transaction-by-job", sources=[METRIC], columns=shown)
    st.caption("CPU time of the address spaces of the job (SMF 30), per connection of the job.")


def _peaks(data: PageData) -> None:
    peaks = data.metric(PEAKS)
    if not peaks.num_rows:
        return
    st.header("Usual and peak load")
    grid(peaks, "cpu-per-transaction-peaks", sources=[PEAKS])
    st.caption("Averages of CPU intervals; CPU time in s/s is the number of busy processors.")
