"""Compare runs: the differences between two benchmark runs, and whether they are more than noise."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import altair as alt
import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from zscope.app.dashboard.drawing import clean, grid, no_data, picture, plain, synthetic_badge
from zscope.app.dashboard.registry import Page
from zscope.app.dashboard.run_intervals import (
    MEASURES,
    RUN_COMMANDS,
    draw_intervals,
    interval_table,
    warn_about_unusable_runs,
)
from zscope.app.dashboard.style import BLUE, GREY, ORANGE, colours, values
from zscope.app.dashboard.tags import side_by_side
from zscope.app.shared.percent_changes import decimals
from zscope.schemas.sql_text import literal

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime

    from zscope.app.dashboard.page_data import PageData
    from zscope.app.dashboard.style import Chart


LEFT_OUT = "left_out_hour"
NOISE = {True: "more than noise", False: "within noise", None: "no interval"}
"""Labels of the values of `distinguishable`."""


@dataclass(frozen=True, slots=True)
class BenchmarkRun:
    """A benchmark run with all its sides."""

    name: str
    from_utc: datetime
    to_utc: datetime
    sides: frozenset[tuple[str, str | None]]
    """Role and kind of workload of each side; two runs can be compared if they have one in common."""
    workloads: frozenset[tuple[str, str | None]]
    """Role and workload of each side; runs that are compared should have one in common, too."""
    tags: tuple[str, ...]
    """Settings and environment, key=value."""
    synthetic: bool


def runs(data: PageData) -> list[BenchmarkRun]:
    """Return all benchmark runs, the newest first."""
    machines = {
        row["system"]: row["machine"]
        for row in data.rows("""
            SELECT system, list_sort(list_distinct(list(DISTINCT concat_ws(
                ' ', nullif(trim(machine_type), ''), nullif(trim(physical_model), ''),
                nullif(trim(zos_level), '')
            )))) AS machine
            FROM smf70_interval GROUP BY system
        """).to_pylist()
    }
    sides = data.rows("SELECT * FROM run WHERE role <> 'tls-test' ORDER BY name, role, system").to_pylist()
    by_name = groupby(sides, key=lambda row: row["name"])
    every = [_run(name, list(rows), machines) for name, rows in by_name]
    return sorted(every, key=lambda run: (run.to_utc, run.name), reverse=True)


def measured_pairs(data: PageData) -> set[tuple[str, str]]:
    """Return the names of the baseline and the candidate of all pairs with a measure that can be compared."""
    table = data.metric("run_comparison", where="change_pct IS NOT NULL")
    return set(zip(table["baseline"].to_pylist(), table["candidate"].to_pylist(), strict=True))


def newest_pair(
    newest_first: Sequence[BenchmarkRun], measured: Collection[tuple[str, str]]
) -> tuple[BenchmarkRun, BenchmarkRun] | None:
    """Return the two newest runs that can be compared, the older first; preferably of the same workload."""
    pairs = [
        (older, newer)
        for n, newer in enumerate(newest_first)
        for older in newest_first[n + 1 :]
        if (older.name, newer.name) in measured
    ]
    alike = (
        pair for pair in pairs if pair[0].sides & pair[1].sides and pair[0].workloads & pair[1].workloads
    )
    comparable = (pair for pair in pairs if pair[0].sides & pair[1].sides)
    return next(alike, None) or next(comparable, None)


def _run(name: str, sides: Sequence[dict[str, Any]], machines: dict[str, list[str]]) -> BenchmarkRun:
    tags = [tag for side in sides for tag in side["tags"] or ()]
    for side in sides:
        tags.append(f"{side['role']} system={side['system']}")
        tags += [f"{side['role']} machine={machine}" for machine in machines.get(side["system"], ())]
        for key in ("workload", "transactions", "note"):
            tags += [f"{key}={side[key]}"] if side[key] is not None else []
    begin, end = min(side["from_utc"] for side in sides), max(side["to_utc"] for side in sides)
    return BenchmarkRun(
        name=name,
        from_utc=begin,
        to_utc=end,
        sides=frozenset((side["role"], side["workload_kind"]) for side in sides),
        workloads=frozenset((side["role"], _same(side["workload"])) for side in sides),
        tags=tuple(dict.fromkeys(tags)),
        synthetic=any(side["synthetic"] for side in sides),
    )


def _same(workload: str | None) -> str | None:
    """A workload without case and spaces, for comparison."""
    return workload and workload.replace(" ", "").upper()


def differences(data: PageData, baseline: str, candidate: str) -> pa.Table:
    """Return a row for each side and measure that two runs have in common."""
    table = data.metric(
        "run_comparison", where=f"baseline = {literal(baseline)} AND candidate = {literal(candidate)}"
    )
    order = list(MEASURES)
    measures = table["measure"].to_pylist()
    ranks = [order.index(name) if name in order else len(order) for name in measures]
    titles = [MEASURES.get(name, name) for name in measures]
    noise = [NOISE[value] for value in table["distinguishable"].to_pylist()]
    table = table.append_column("measured", pa.array(titles, pa.string()))
    table = table.append_column("noise", pa.array(noise, pa.string()))
    return table.take(pc.sort_indices(pa.array(ranks, pa.int64())))


def compared_sides(differences: pa.Table) -> tuple[str, ...]:
    """Return the sides that were compared; `both` is the sum of client and server."""
    present = set(differences["role"].to_pylist())
    return tuple(role for role in ("both", "client", "server") if role in present)


def intervals(data: PageData, starts: Mapping[str, datetime]) -> pa.Table:
    """Return the intervals of runs with their measures; `starts` is the start of each run by name."""
    names = ", ".join(literal(name) for name in starts)
    return interval_table(data.metric("run_interval", where=f"name IN ({names})").to_pylist(), starts)


PAGE = Page(title="Compare runs", icon="compare_arrows", area="Benchmark", order=20, filtered=False)


_NOISE_COLOURS = dict(zip(NOISE.values(), (BLUE, GREY, ORANGE), strict=True))
_NOISE_SHAPES = ["diamond", "circle", "cross"]


def drawn(shown: pa.Table) -> Chart:
    """Return the change of each measure as a point with its interval."""
    base = alt.Chart(values(shown)).encode(
        y=alt.Y("measured:N", title=None, sort=list(MEASURES.values()), axis=alt.Axis(labelLimit=200)),
        color=alt.Color("noise:N", title="The change is", scale=colours(_NOISE_COLOURS)),
        tooltip=[
            alt.Tooltip("measured:N", title="Measure"),
            alt.Tooltip("change_pct:Q", title="Change (%)", format="+.2f"),
            alt.Tooltip("low_pct:Q", title="From (%)", format="+.2f"),
            alt.Tooltip("high_pct:Q", title="To (%)", format="+.2f"),
            alt.Tooltip("noise:N", title="The change is"),
            alt.Tooltip("remarks:N", title="Remarks"),
        ],
    )
    x = alt.X(
        "change_pct:Q", title="Change from A to B (%), with its 95 % interval", scale=alt.Scale(zero=True)
    )
    zero = alt.Chart(alt.InlineData([{"zero": 0}])).mark_rule(color=GREY, strokeDash=[6, 4])
    layers = [
        zero.encode(x=alt.X("zero:Q")),
        base.mark_rule(strokeWidth=2).encode(x=alt.X("low_pct:Q"), x2=alt.X2("high_pct:Q")),
        base.mark_point(filled=True, size=110, opacity=1).encode(
            x=x,
            shape=alt.Shape(
                "noise:N", title="The change is",
                scale=alt.Scale(domain=list(_NOISE_COLOURS), range=_NOISE_SHAPES),
            ),
        ),
    ]  # fmt: skip
    return alt.layer(*layers, height=60 + 34 * shown.num_rows)


def sentence(row: dict[str, Any]) -> str:
    """Return a row of the comparison in words."""
    remarks = f" ({plain(row['remarks'], 300)})" if row["remarks"] else ""
    change = row["change_pct"]
    if change is None:
        return f"{row['measured']}: nothing to compare{remarks}."
    digits = decimals(change, row["low_pct"], row["high_pct"])
    text = f"{row['measured']}: {abs(change):.{digits}f} % {'more' if change >= 0 else 'less'} in B than in A"
    if row["low_pct"] is None:
        return f"{text}; too few intervals to compare with the noise{remarks}."
    verdict = "**more than noise**" if row["distinguishable"] else "within the noise"
    interval = f"{row['low_pct']:+.{digits}f} to {row['high_pct']:+.{digits}f}"
    return f"{text} (95 %: {interval}), {verdict}{remarks}."


_SIDES = ("both", "client", "server")
_TABLE = (
    "measured", "baseline_value", "candidate_value", "unit", "change_pct", "low_pct", "high_pct", "noise",
    "status", "untrimmed_change_pct", "baseline_intervals",
    "baseline_left_out", "candidate_intervals", "candidate_left_out", "remarks",
)  # fmt: skip
_ENOUGH = 2


def render(data: PageData) -> None:
    """Draw the page."""
    _compared(data)
    _left_out(data)


def _compared(data: PageData) -> None:
    every = runs(data)
    warn_about_unusable_runs(data)
    if len(every) < _ENOUGH:
        present = f"only one, {plain(every[0].name)}" if every else "none"
        no_data(f"A comparison needs two benchmark runs; there is {present}. A run is a period of time that "
                "you name, or that zscope proposes from the data.", RUN_COMMANDS)  # fmt: skip
        return
    pair = _pair(data, every)
    if pair is None:
        return
    baseline, candidate = pair
    if baseline.synthetic or candidate.synthetic:
        synthetic_badge()
    table = differences(data, baseline.name, candidate.name)
    if table.num_rows:
        _differences(data, table, baseline, candidate)
    else:
        st.info(_why_not(baseline, candidate), icon=":material/link_off:")
    _environments(baseline, candidate)


def _pair(data: PageData, every: list[BenchmarkRun]) -> tuple[BenchmarkRun, BenchmarkRun] | None:
    """The two chosen runs; by default the newest two that can be compared."""
    names = [run.name for run in every]
    older, newer = newest_pair(every, measured_pairs(data)) or (every[1], every[0])
    chosen = [
        column.selectbox(
            title, names, index=names.index(first.name), key=key, format_func=clean, bind="query-params",
            persist_state="session", filter_mode="contains", help=words,
        )
        for column, title, key, first, words in zip(
            st.columns(2), ("Run A, the baseline", "Run B, compared with it"), ("compare_a", "compare_b"),
            (older, newer), ("The run to compare with.", "The run to compare."), strict=True,
        )
    ]  # fmt: skip
    by_name = {run.name: run for run in every}
    baseline, candidate = by_name[chosen[0] or older.name], by_name[chosen[1] or newer.name]
    if baseline is candidate:
        st.info("Both are the same run: choose two different runs.", icon=":material/link_off:")
        return None
    return baseline, candidate


def _why_not(baseline: BenchmarkRun, candidate: BenchmarkRun) -> str:
    described = "; ".join(
        f"{plain(run.name)}: "
        + ", ".join(
            f"{role} of {plain(kind or 'no kind named')}" for role, kind in sorted(run.sides, key=str)
        )
        for run in (baseline, candidate)
    )
    return f"These runs cannot be compared: they need a side and the kind of workload in common. {described}."


def _differences(data: PageData, table: pa.Table, baseline: BenchmarkRun, candidate: BenchmarkRun) -> None:
    sides = compared_sides(table)
    side: str = st.segmented_control(
        "Side", _SIDES, default=sides[0], required=True, key="compare_side", bind="query-params",
        persist_state="session",
        help="Both: CPU time is client plus server, everything else is measured at the client.",
    )  # fmt: skip
    shown = table.filter(pc.field("role") == side)
    if not shown.num_rows:
        st.info(f"The two runs have no {side} side in common, only: {', '.join(sides)}.")
        return
    st.header("Changes from A to B")
    words = "Percent change of each measure with its 95 % interval."
    picture(drawn(shown), shown, "compare-differences", words, sources=["run_comparison"])
    rows = shown.to_pylist()
    [remarks, *others] = {row["remarks"] for row in rows}
    if remarks and not others:
        rows = [row | {"remarks": None} for row in rows]
    st.markdown("\n".join(f"- {sentence(row)}" for row in rows))
    if remarks and not others:
        st.caption(f"All measures: {plain(remarks, 300)}.")
    names = {"measured": "Measure", "baseline_value": "A", "candidate_value": "B", "noise": "Noise"}
    grid(shown.select(_TABLE), "compare-values", sources=["run_comparison"],
         config={key: _column(key, name) for key, name in names.items()})  # fmt: skip
    _intervals(data, side, baseline, candidate)


def _column(key: str, name: str) -> Any:  # noqa: ANN401 - a dictionary of Streamlit
    if key.endswith("_value"):
        return st.column_config.NumberColumn(name, format="%.5g")
    return st.column_config.TextColumn(name)


def _intervals(data: PageData, side: str, baseline: BenchmarkRun, candidate: BenchmarkRun) -> None:
    st.header("Intervals of the runs")
    table = intervals(data, {run.name: run.from_utc for run in (baseline, candidate)})
    of_side = [n for n, role in enumerate(table["role"].to_pylist()) if side in ("both", role)]
    measure: str = st.segmented_control(
        "Measure", tuple(MEASURES), default="cpu_per_tran", required=True, key="compare_shown",
        format_func=lambda name: MEASURES[name], bind="query-params", persist_state="session",
    )  # fmt: skip
    st.caption(
        "Each point is an interval. Crosses are not used: they begin before the run, end after it, are ramps "
        "at its start or end, or have no CPU data. The tooltip and the data below show the reason."
    )
    draw_intervals(table.take(of_side), measure, (baseline.name, candidate.name), "compare-intervals")


def _left_out(data: PageData) -> None:
    """Draw the hours that shares, rates and prices leave out, because they have benchmark runs."""
    hours = data.metric(LEFT_OUT, ["system"])
    if hours.num_rows:
        st.header("Hours that figures of production leave out")
        grid(hours, "compare-left-out", sources=[LEFT_OUT])


def _environments(baseline: BenchmarkRun, candidate: BenchmarkRun) -> None:
    st.header("Settings and environment")
    table = side_by_side(baseline.tags, candidate.tags)
    names = {"tag": "Tag", "compared": "Compared", "left": "A", "right": "B"}
    grid(
        table, "compare-tags", config={key: st.column_config.TextColumn(name) for key, name in names.items()}
    )
    for letter, run in zip("AB", (baseline, candidate), strict=True):
        begin, end = (f"{moment:%Y-%m-%d %H:%M:%S}" for moment in (run.from_utc, run.to_utc))
        st.caption(f"{letter}: {plain(run.name)}, {begin} to {end} UTC")
