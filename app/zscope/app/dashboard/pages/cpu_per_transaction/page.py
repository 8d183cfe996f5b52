"""CPU per transaction: over time, by system and by benchmark run, for one way of counting at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import pyarrow.compute as pc
import streamlit as st

from zscope.app.dashboard.drawing import (
    ROWS,
    ChartWithRows,
    clean,
    grid,
    no_data,
    number,
    picture,
    synthetic_badge,
    with_rows,
    without_effect,
)
from zscope.app.dashboard.pages.cpu_per_transaction.queries import (
    METRIC,
    PEAKS,
    RUNS,
    TITLES,
    WAYS,
    by_job,
    by_system,
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
from zscope.app.dashboard.registry import Page
from zscope.app.dashboard.style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    RED,
    SKY,
    colours,
    spread_colours,
    time_axis,
    time_tip,
    values,
)
from zscope.app.dashboard.time_axis import PIECE

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.pages.cpu_per_transaction.queries import CostOverTime
    from zscope.app.dashboard.store import PageData
    from zscope.app.dashboard.style import Chart

PAGE = Page(title="CPU per transaction", icon="speed", section="TLS", order=20)


_SIDES = {"client": BLUE, "server": ORANGE, "both": GREY}
_UNKNOWN = "not known"
_COLUMNS = (
    "name", "role", "value", "low", "high", "intervals", "trimmed", "counted_by", "systems", "workload",
    "status", "why", "synthetic",
)  # fmt: skip


def runs_section(data: PageData) -> None:
    """Draw each run and side as a dot with its interval."""
    st.subheader("By benchmark run")
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
    base = alt.Chart(values(measured)).encode(
        y=alt.Y("name:N", title="Run", sort=alt.EncodingSortField("value", op="max"),
                axis=alt.Axis(labelLimit=260, labelOverlap=False)),
        color=alt.Color("role:N", title="Side", scale=colours(_SIDES), legend=alt.Legend(orient="top")),
        tooltip=[
            alt.Tooltip("name:N", title="Run"), alt.Tooltip("role:N", title="Side"),
            alt.Tooltip("value:Q", title="CPU per transaction (µs)", format=",.1f"),
            alt.Tooltip("low:Q", title="Low, 95 %", format=",.1f"),
            alt.Tooltip("high:Q", title="High, 95 %", format=",.1f"),
            alt.Tooltip("intervals:Q", title="Intervals"), alt.Tooltip("counted_by:N", title="Counted by"),
            alt.Tooltip("systems:N", title="Systems"), alt.Tooltip("workload:N", title="Workload"),
            alt.Tooltip("synthetic:N", title="Synthetic"),
        ],
    )  # fmt: skip
    scale = alt.Scale(type="log", nice=False, padding=12)
    intervals = base.mark_rule(strokeWidth=6, opacity=0.4).encode(
        x=alt.X("low:Q", title="CPU per transaction (µs, logarithmic)", scale=scale), x2="high:Q"
    )
    dots = base.mark_point(filled=True, size=30, opacity=1).encode(
        x=alt.X("value:Q", scale=scale),
        shape=alt.Shape("role:N", title="Side", scale=alt.Scale(domain=list(_SIDES))),
    )
    return alt.layer(intervals, dots).properties(height=alt.Step(20))


_STATUS_COLOURS = {
    "no transactions": SKY, "no transaction data": GREY, "no records": GREY,
    "partly counted": PURPLE, "gap": RED, "no CPU data": ORANGE, "overlap": GREEN, "no UTC": GREY,
    "no end time": GREY,
}  # fmt: skip
_DRAWN = (
    "system", "run", "status", "cpu_us_per_transaction", "ziip_us_per_transaction",
    "lpar_cpu_us_per_ended_connection", "transactions", "transactions_per_s", "apportioned_pct", "cpu_s",
    "ziip_s",
)  # fmt: skip


def panels(costs: CostOverTime, way: str, *, logarithmic: bool, ziip: bool) -> ChartWithRows:
    """Return the charts over time, one below the other."""
    draw = _Lines(costs, measure(way))
    shown = [draw.lines(measure(way), f"{TITLES[measure(way)]} (µs)", 240, logarithmic=logarithmic)]
    if ziip:
        shown.append(draw.lines("ziip_us_per_transaction", "zIIP per tr. (µs)", 120, logarithmic=logarithmic))
    shown.append(draw.lines("transactions", "Transactions", 100))
    shown.append(draw.lines("cpu_s", "CPU time (s)", 100, last=not ziip))
    if ziip:
        shown.append(draw.lines("ziip_s", "zIIP time (s)", 80, last=True))
    if without_value(costs).num_rows:
        shown.append(_reasons())
    chart: Chart = alt.vconcat(*shown, spacing=8).resolve_scale(
        x="shared", color="independent", shape="independent"
    )
    return with_rows(chart, costs.rows, (costs.clock, PIECE, "interval_ms", *_DRAWN))


class _Lines:
    """Draws measures of the same rows."""

    def __init__(self, costs: CostOverTime, main: str) -> None:
        self.main = main
        self.clock = costs.clock
        self.systems = costs.systems
        of_runs = costs.rows["run"].null_count < costs.rows.num_rows
        self.tips = [
            alt.Tooltip("system:N", title="System"),
            time_tip(self.clock),
            *([alt.Tooltip("run:N", title="Run")] if of_runs else []),
            alt.Tooltip(f"{main}:Q", title=f"{TITLES[main]} (µs)", format=",.0f"),
            alt.Tooltip("ziip_us_per_transaction:Q", title="zIIP per transaction (µs)", format=",.0f"),
            alt.Tooltip("transactions:Q", title="Transactions", format=",.1f"),
            alt.Tooltip("transactions_per_s:Q", title="Transactions per second", format=",.2f"),
            alt.Tooltip("apportioned_pct:Q", title="Apportioned (%)", format=".1f"),
            alt.Tooltip("cpu_s:Q", title="CPU time (s)", format=",.1f"),
            alt.Tooltip("ziip_s:Q", title="zIIP time (s)", format=",.1f"),
            *([alt.Tooltip("status:N", title="Status")] if self.clock == "interval_start_utc" else []),
        ]

    def lines(
        self, measure: str, title: str, height: int, *, logarithmic: bool = False, last: bool = False
    ) -> Chart:
        """A line for each system, broken off where rows are missing; the last chart has the time axis."""
        first = measure == self.main
        legend = alt.Legend(orient="top") if first else None
        ticks = 3 if logarithmic else 5
        # A logarithmic scale has no zero.
        placed = f"datum.{measure} > 0 ? datum.{measure} : null" if logarithmic else f"datum.{measure}"
        chart: Chart = (
            alt.Chart(ROWS, height=height)
            .transform_calculate(placed=placed)
            .mark_line(point=alt.OverlayMarkDef(size=16), strokeWidth=1.2)
            .encode(
                x=time_axis(self.clock) if last else time_axis(self.clock).axis(None),
                y=alt.Y("placed:Q", title=title, axis=alt.Axis(tickCount=ticks, format="~s"),
                        scale=alt.Scale(type="log") if logarithmic else alt.Scale(zero=True)),
                color=alt.Color("system:N", title="System", legend=legend,
                                scale=spread_colours(self.systems)),
                shape=alt.Shape("system:N", title="System", legend=legend,
                                scale=alt.Scale(domain=list(self.systems))),
                detail=f"{PIECE}:N",
                tooltip=self.tips,
            )
        )  # fmt: skip
        return chart


def _reasons() -> Chart:
    """Intervals without a value as bars, in a row for each system and status."""
    chart: Chart = (
        alt.Chart(ROWS, height=alt.Step(16))
        .transform_filter("datum.status !== 'ok'")
        .transform_calculate(
            ends="toDate(datum.interval_start_utc) + datum.interval_ms",
            reason="datum.system + ': ' + datum.status",
        )
        .mark_bar(height=9)
        .encode(
            x=time_axis("interval_start_utc"),
            x2="ends:T",
            y=alt.Y("reason:N", title="No value", axis=alt.Axis(labelOverlap=False, labelLimit=200)),
            color=alt.Color("status:N", scale=colours(_STATUS_COLOURS), legend=None),
            tooltip=[
                alt.Tooltip("system:N", title="System"),
                time_tip("interval_start_utc"),
                alt.Tooltip("status:N", title="Status"),
            ],
        )
    )
    return chart


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


def _time(us: float | None) -> str:
    """A time in the unit with the fewest digits."""
    if us is None:
        return number(None)
    unit, divisor = ("s", 1e6) if us >= 1e7 else ("ms", 1e3) if us >= 1e4 else ("µs", 1)
    return number(us / divisor, 0 if us / divisor >= 100 else 1, unit)


def _headline(data: PageData, way: str, *, ziip: bool) -> None:
    sums = totals(data, way)
    shown = [
        (TITLES[measure(way)], _time(sums["cpu_us"])),
        *([("zIIP time of the same", _time(sums["ziip_us"]))] if ziip else []),
        ("Transactions", number(sums["transactions"], 0)),
        ("CPU time in these intervals", number(sums["matched_cpu_s"], 0, "s")),
        ("Apportioned transactions", number(sums["apportioned_pct"], 1, "%")),
    ]
    for column, (title, value) in zip(st.columns(len(shown)), shown, strict=True):
        column.metric(title, value, border=True)
    st.caption(
        f"Counted by {way}. {WAYS[way]} CPU time is the whole busy time of the general-purpose processors of "
        "the system, including other work: it is that of the transactions only within benchmark runs. A "
        "transaction recorded by two systems counts on each of them. Apportioned transactions span several "
        "intervals and are distributed evenly over them."
    )
    without_effect(data.without_effect(METRIC))


def _over_time(data: PageData, way: str, *, logarithmic: bool, ziip: bool) -> None:
    st.subheader("Over time")
    costs = over_time(data, way)
    if not costs.rows.num_rows:
        st.info("No data has a known time.", icon=":material/inbox:")
        return
    picture(
        panels(costs, way, logarithmic=logarithmic, ziip=ziip), costs.rows, "cpu-per-transaction-over-time",
        "CPU time per transaction, transactions and CPU seconds of each system over time, one below the "
        "other, and the intervals without a value with the reason.",
        sources=[METRIC],
    )  # fmt: skip
    each = "day" if costs.clock == "day_utc" else "interval"
    notes = [f"Each point is one {each} of a system. A line breaks off where there is no value."]
    if logarithmic:
        notes.append("A logarithmic scale does not show zeros.")
    if costs.left_out:
        notes.append(f"{costs.left_out} systems with fewer transactions are not drawn; choose them above.")
    st.caption(" ".join(notes))


def _by_system(data: PageData, way: str) -> None:
    st.subheader("By system")
    columns = (
        "run", "system", "cpu_us_per_transaction", "ziip_us_per_transaction", "why",
        "lpar_cpu_us_per_ended_connection", "transactions", "transactions_per_s", "response_us",
        "apportioned_pct", "matched_cpu_s", "matched_ziip_s",
    )  # fmt: skip
    table = by_system(data, way)
    shown = [name for name in columns if name in table.column_names]
    grid(table, "cpu-per-transaction-by-system", sources=[METRIC], columns=shown,
         config={"transactions_per_s": st.column_config.NumberColumn("Transactions per second",
                                                                     format="%.4g")})  # fmt: skip
    with st.expander("Time by status: which intervals are used"):
        grid(statuses(data, way), "cpu-per-transaction-statuses", sources=[METRIC])
        st.caption(
            "CPU per transaction uses the intervals with the status ok or no transactions. In all others, "
            "CPU "
            "time or part of the count is missing: gap (between CPU intervals), no CPU data, partly counted, "
            "no end time (of connections), no records (before, after or between the times with records)."
        )


def _by_job(data: PageData, way: str) -> None:
    table = by_job(data, way)
    if not table.num_rows:
        return
    st.subheader("By job")
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
    st.subheader("Usual and peak load")
    grid(peaks, "cpu-per-transaction-peaks", sources=[PEAKS])
    st.caption("Averages of CPU intervals; CPU time in s/s is the number of busy processors.")
