"""CPU per transaction: over time, by system and by benchmark run, each way of counting on its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from zscope.app.dashboard.parts.cost_of_runs import runs_section
from zscope.app.dashboard.parts.cost_over_time import panels
from zscope.app.dashboard.queries.cpu_per_transaction import (
    METRIC,
    WAYS,
    by_system,
    has_cpu,
    over_time,
    statuses,
    totals,
    ways,
)
from zscope.app.dashboard.show import grid, nothing, number, picture, without_effect

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Data

_LINEAR, _LOGARITHMIC = "linear", "logarithmic"


def render(data: Data) -> None:
    """Draw the page."""
    found = ways(data)
    cpu = has_cpu(data)
    if not cpu:
        nothing(
            "No CPU time: it comes from RMF, as SMF 70 records or as CPU Activity reports.",
            "zscope ingest SMF.DUMP --select '70(1)'",
        )
    if not found:
        nothing(
            "No transactions: they come from TCP connections (SMF 119 subtype 2), from zERT (SMF 119 "
            "subtype 11) or from counts of your own (CSV).",
            "zscope ingest SMF.DUMP --select '119(2,11)'",
        )
    else:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            way = st.segmented_control(
                "Transactions counted by", found, default=found[0], required=True,
                key="cpu_per_transaction_counted_by", bind="query-params", persist_state="session",
                help="The ways tell of the same work, so they are shown one at a time and never added.",
            )  # fmt: skip
            scale = st.segmented_control(
                "Scale of CPU per transaction", (_LOGARITHMIC, _LINEAR), default=_LOGARITHMIC, required=True,
                key="cpu_per_transaction_scale", bind="query-params", persist_state="session",
            )  # fmt: skip
            ziip = st.toggle(
                "Show zIIPs, too", key="cpu_per_transaction_ziip", bind="query-params",
                persist_state="session",
            )  # fmt: skip
        _headline(data, way, ziip=ziip)
        _over_time(data, way, logarithmic=scale == _LOGARITHMIC, ziip=ziip)
        _by_system(data, way)
    runs_section(data)


def _time(us: float | None) -> str:
    """A time in the unit in which it has few digits."""
    if us is None:
        return number(None)
    unit, divisor = ("s", 1e6) if us >= 1e7 else ("ms", 1e3) if us >= 1e4 else ("µs", 1)
    return number(us / divisor, 0 if us / divisor >= 100 else 1, unit)


def _headline(data: Data, way: str, *, ziip: bool) -> None:
    found = totals(data, way)
    shown = [
        ("CPU per transaction", _time(found["cpu_us"])),
        *([("zIIP per transaction", _time(found["ziip_us"]))] if ziip else []),
        ("Transactions", number(found["transactions"], 0)),
        ("CPU time beside them", number(found["matched_cpu_s"], 0, "s")),
        ("Apportioned transactions", number(found["apportioned_pct"], 1, "%")),
    ]
    for column, (title, value) in zip(st.columns(len(shown)), shown, strict=True):
        column.metric(title, value, border=True)
    st.caption(
        f"Counted by {way}. {WAYS[way]} CPU time is all busy time of the general-purpose processors of the "
        "system, so work beside the transactions is in it. What two systems saw counts on each. Apportioned "
        "are transactions that span several intervals: they are spread evenly over them."
    )
    without_effect(data.without_effect(METRIC))


def _over_time(data: Data, way: str, *, logarithmic: bool, ziip: bool) -> None:
    st.subheader("Over time")
    found = over_time(data, way)
    if not found.rows.num_rows:
        st.info("Nothing of this has a place in time.", icon=":material/inbox:")
        return
    picture(
        panels(found, logarithmic=logarithmic, ziip=ziip), found.rows, "cpu-per-transaction-over-time",
        "CPU time per transaction, transactions and CPU seconds of each system over time, one below the "
        "other; below them the intervals without a value and why.",
        sources=[METRIC],
    )  # fmt: skip
    each = "day" if found.clock == "day_utc" else "interval"
    words = [f"Each point is one {each} of a system. A line breaks off where there is no value."]
    if logarithmic:
        words.append("Zeros have no place on a logarithmic scale.")
    if found.left_out:
        words.append(f"Systems with fewer transactions, not drawn: {found.left_out}; choose them above.")
    st.caption(" ".join(words))


def _by_system(data: Data, way: str) -> None:
    st.subheader("By system")
    columns = (
        "run", "system", "cpu_us_per_transaction", "ziip_us_per_transaction", "transactions",
        "transactions_per_s", "apportioned_pct", "matched_cpu_s", "matched_ziip_s",
    )  # fmt: skip
    found = by_system(data, way)
    shown = [name for name in columns if name in found.column_names]
    grid(found, "cpu-per-transaction-by-system", sources=[METRIC], columns=shown,
         config={"transactions_per_s": st.column_config.NumberColumn("Transactions per second",
                                                                     format="%.4g")})  # fmt: skip
    with st.expander("Time by status: what is in the numbers and what is not"):
        grid(statuses(data, way), "cpu-per-transaction-statuses", sources=[METRIC])
        st.caption(
            "CPU per transaction rests on the intervals with the status ok or no transactions. Elsewhere CPU "
            "time or part of the count is missing: gap (between CPU intervals), no CPU data, partly counted, "
            "no end time (of connections)."
        )
