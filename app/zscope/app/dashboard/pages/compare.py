"""Two benchmark runs side by side: what differs between them, and by how much more than noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from zscope.app.dashboard.parts.run_differences import drawn, sentence
from zscope.app.dashboard.parts.run_intervals import draw_intervals, tell_left_out
from zscope.app.dashboard.queries.benchmark_arithmetic import RUN_COMMANDS
from zscope.app.dashboard.queries.compare import MEASURES, differences, intervals, of_side, roles
from zscope.app.dashboard.queries.runs import Run, newest_pair, runs
from zscope.app.dashboard.queries.tags import side_by_side
from zscope.app.dashboard.show import clean, grid, nothing, picture, plain, synthetic_badge

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.answers import Data

_SIDES = ("both", "client", "server")
_TABLE = (
    "measured", "baseline_value", "candidate_value", "unit", "change_pct", "low_pct", "high_pct", "noise",
    "baseline_intervals", "candidate_intervals", "remarks",
)  # fmt: skip
_ENOUGH = 2


def render(data: Data) -> None:
    """Draw the page."""
    found = runs(data)
    tell_left_out(data)
    if len(found) < _ENOUGH:
        there = f"only one, {plain(found[0].name)}" if found else "none"
        nothing(f"It takes two benchmark runs to compare; there is {there}. A run is a stretch of time that "
                "you name, or that is found in the data.", RUN_COMMANDS)  # fmt: skip
        return
    pair = _pair(found)
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


def _pair(found: list[Run]) -> tuple[Run, Run] | None:
    """The two runs that are chosen; at first the newest two that can be compared."""
    names = [run.name for run in found]
    older, newer = newest_pair(found) or (found[1], found[0])
    chosen = [
        column.selectbox(
            title, names, index=names.index(first.name), key=key, format_func=clean, bind="query-params",
            persist_state="session", filter_mode="contains", help=words,
        )
        for column, title, key, first, words in zip(
            st.columns(2), ("Run A, the baseline", "Run B, compared with it"), ("compare_a", "compare_b"),
            (older, newer), ("What is compared with.", "What is compared."), strict=True,
        )
    ]  # fmt: skip
    by_name = {run.name: run for run in found}
    baseline, candidate = by_name[chosen[0] or older.name], by_name[chosen[1] or newer.name]
    if baseline is candidate:
        st.info("A run is the same as itself: choose two.", icon=":material/link_off:")
        return None
    return baseline, candidate


def _why_not(baseline: Run, candidate: Run) -> str:
    told = "; ".join(
        f"{plain(run.name)}: "
        + ", ".join(
            f"{role} of {plain(kind or 'no kind named')}" for role, kind in sorted(run.sides, key=str)
        )
        for run in (baseline, candidate)
    )
    return f"These two need a side and the kind of workload in common. {told}."


def _differences(data: Data, table: pa.Table, baseline: Run, candidate: Run) -> None:
    there = roles(table)
    side: str = st.segmented_control(
        "Side", _SIDES, default=there[0], required=True, key="compare_side", bind="query-params",
        persist_state="session",
        help="Of both: CPU is client plus server, all else is as the client sees it.",
    )  # fmt: skip
    shown = of_side(table, side)
    if not shown.num_rows:
        st.info(f"The two runs have no {side} side in common, only: {', '.join(there)}.")
        return
    st.subheader("What B takes more or less than A")
    words = "Percent change of each measure with its 95 % interval."
    picture(drawn(shown), shown, "compare-differences", words, sources=["run_comparison"])
    st.markdown("\n".join(f"- {sentence(row)}" for row in shown.to_pylist()))
    names = {"measured": "Measure", "baseline_value": "A", "candidate_value": "B", "noise": "Against noise"}
    grid(shown.select(_TABLE), "compare-values", sources=["run_comparison"],
         config={key: _column(key, name) for key, name in names.items()})  # fmt: skip
    _intervals(data, side, baseline, candidate)


def _column(key: str, name: str) -> Any:  # noqa: ANN401 - Streamlit's own kind of dictionary
    if key.endswith("_value"):
        return st.column_config.NumberColumn(name, format="%.5g")
    return st.column_config.TextColumn(name)


def _intervals(data: Data, side: str, baseline: Run, candidate: Run) -> None:
    st.subheader("The intervals behind it")
    table = intervals(data, {run.name: run.from_utc for run in (baseline, candidate)})
    kept = [n for n, role in enumerate(table["role"].to_pylist()) if side in ("both", role)]
    measure: str = st.segmented_control(
        "Shown", tuple(MEASURES), default="cpu_per_tran", required=True, key="compare_shown",
        format_func=lambda name: MEASURES[name], bind="query-params", persist_state="session",
    )  # fmt: skip
    st.caption(
        "Each point is an interval. Crosses are left out of all figures: they begin before the run, end "
        "after it, are ramps at its edges, or have no CPU data; the tooltip and the data tell the reason."
    )
    draw_intervals(table.take(kept), measure, (baseline.name, candidate.name), "compare-intervals")


def _environments(baseline: Run, candidate: Run) -> None:
    st.subheader("What was set, and where they ran")
    table = side_by_side(baseline.tags, candidate.tags)
    names = {"tag": "What", "compared": "Compared", "left": "A", "right": "B"}
    grid(
        table, "compare-tags", config={key: st.column_config.TextColumn(name) for key, name in names.items()}
    )
    for letter, run in zip("AB", (baseline, candidate), strict=True):
        begin, end = (f"{moment:%Y-%m-%d %H:%M:%S}" for moment in (run.from_utc, run.to_utc))
        st.caption(f"{letter}: {plain(run.name)}, {begin} to {end} UTC")
