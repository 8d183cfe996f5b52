"""Compare runs: the differences between two benchmark runs, and whether the runs could show them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import streamlit as st

from zscope.app.dashboard.drawing import clean, grid, no_data, plain, synthetic_badge
from zscope.app.dashboard.figure_cards import Card, draw_figures
from zscope.app.dashboard.registry import Page
from zscope.app.dashboard.run_intervals import (
    MEASURES,
    RUN_COMMANDS,
    draw_intervals,
    interval_table,
    warn_about_unusable_runs,
)
from zscope.app.dashboard.tags import side_by_side
from zscope.app.shared.compared_runs import DIFFERENCES, FIRST_PAIR, differences
from zscope.schemas.sql_text import literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    import pyarrow as pa

    from zscope.app.dashboard.page_data import PageData


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


def intervals(data: PageData, starts: Mapping[str, datetime]) -> pa.Table:
    """Return the intervals of runs with their measures; `starts` is the start of each run by name."""
    names = ", ".join(literal(name) for name in starts)
    return interval_table(data.metric("run_interval", where=f"name IN ({names})").to_pylist(), starts)


FIGURES = ((Card("compared-runs"),), (Card("compared-sentences"),))
LEFT_OUT = ((Card("left-out-hours"),),)
PAGE = Page(title="Compare runs", icon="compare_arrows", area="Benchmark", order=20, filtered=False)


_SIDES = ("both", "client", "server")
_ENOUGH = 2
_LONG = 1000


def render(data: PageData) -> None:
    """Draw the page."""
    _compared(data)
    draw_figures(data, LEFT_OUT)


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
    differing = data.rows(DIFFERENCES, [baseline.name, candidate.name]).to_pylist()
    st.markdown(plain(f"{differences(differing)}.", _LONG))
    of_pair = f"baseline = {literal(baseline.name)} AND candidate = {literal(candidate.name)}"
    sides = data.found("run_comparison", "SELECT DISTINCT role FROM found", where=of_pair)["role"].to_pylist()
    if sides:
        _differences(data, of_pair, sides, (baseline, candidate))
    else:
        st.info(_why_not(baseline, candidate), icon=":material/link_off:")
    _environments(baseline, candidate)


def _pair(data: PageData, every: list[BenchmarkRun]) -> tuple[BenchmarkRun, BenchmarkRun] | None:
    """The two chosen runs; by default those that differ in the fewest tags."""
    names = [run.name for run in every]
    by_name = {run.name: run for run in every}
    found = data.found("run_comparison", FIRST_PAIR.format(found="found")).to_pylist()
    first = [(by_name[row["baseline"]], by_name[row["candidate"]]) for row in found]
    older, newer = first[0] if first else (every[1], every[0])
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


def _differences(
    data: PageData, of_pair: str, sides: Sequence[str], runs_: tuple[BenchmarkRun, BenchmarkRun]
) -> None:
    first = next(side for side in _SIDES if side in sides)
    side: str = st.segmented_control(
        "Side", _SIDES, default=first, required=True, key="compare_side", bind="query-params",
        persist_state="session",
        help="Both: CPU time is client plus server, everything else is measured at the client.",
    )  # fmt: skip
    if side not in sides:
        st.info(f"The two runs have no {side} side in common, only: {', '.join(sides)}.")
        return
    where = f"{of_pair} AND role = {literal(side)}"
    draw_figures(data, [[replace(card, where=where) for card in row] for row in FIGURES])
    _intervals(data, side, *runs_)


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
