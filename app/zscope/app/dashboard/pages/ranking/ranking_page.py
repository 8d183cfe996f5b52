"""Ports and jobs by connections, bytes and CPU time, and what changed against the period before."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

import streamlit as st

from zscope.app.dashboard.drawing import grid, no_data, plain, selectable_grid, without_effect
from zscope.app.dashboard.links import page_link
from zscope.app.dashboard.pages.connections.search import ConnectionSearch, search, sources_with_rows
from zscope.app.dashboard.pages.ranking.ranking_queries import (
    POSTURE,
    PRICE,
    Ranked,
    RankedBy,
    compared_periods,
    connections_by_source,
    ranking,
)
from zscope.app.dashboard.registry import Page
from zscope.app.shared.column_labels import label

if TYPE_CHECKING:
    from zscope.app.dashboard.page_data import PageData

PAGE = Page(title="Ports and jobs", icon="leaderboard", section="TLS", order=17)

_COMPARISON = "period_comparison"
_FILTER_OF: dict[Ranked, str] = {"server_port": "port", "job_name": "job"}
_DAY = "%Y-%m-%d %H:%M"
_HEIGHT_PX = 480
_MOST_CONNECTIONS = 100
_CHANGE_COLUMNS = (
    "subject", "value", "earlier", "later", "change_pct", "earlier_pct", "later_pct", "why"
)  # fmt: skip


def render(data: PageData) -> None:
    """Draw the page."""
    sources = connections_by_source(data)
    if not sources:
        no_data(
            "There are no connections. They come from zERT records (SMF 119 subtype 11 or 12) or from TCP "
            "connection termination records (subtype 2).",
            "zscope ingest SMF.DUMP --select '119(2,11,12)'",
        )
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        by: Ranked = st.segmented_control(
            "Rank", get_args(Ranked), default="server_port", required=True, format_func=label,
            key="ranking_of", bind="query-params", persist_state="session",
        )  # fmt: skip
        ranked_by: RankedBy = st.segmented_control(
            "By", get_args(RankedBy), default="connections", required=True, format_func=_capital,
            key="ranking_by", bind="query-params", persist_state="session",
        )  # fmt: skip
        source: str = st.selectbox(
            "Source", list(sources), key="ranking_source", bind="query-params", persist_state="session",
            width=240, help="Both sources record the same connections: the one with more of them is chosen.",
        )  # fmt: skip
    _table(data, by, source, ranked_by)
    _what_changed(data)


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _table(data: PageData, by: Ranked, source: str, ranked_by: RankedBy) -> None:
    rows = ranking(data, by, source, ranked_by)
    picked = selectable_grid(
        rows, "ranking", (data.version, data.filters, by, source, ranked_by), config=_config(by),
        height=min(_HEIGHT_PX, 38 + 35 * rows.num_rows),
    )  # fmt: skip
    if picked and picked[by] is not None:
        _connections(data, by, picked[by])
    periods = compared_periods(data, source)
    compared = (
        f"Change: connections per hour from {periods.begin:{_DAY}} to {periods.end:{_DAY}} UTC against the "
        f"period of the same length before. "
        if periods
        else ""
    )
    st.caption(
        f"Select a row to see its connections; click a heading to sort. {compared}CPU time: share of the "
        "price of TLS, at most and as estimated, over all systems. Resumed, failed and unprotected come from "
        "zERT connection detail."
    )
    without_effect(data.without_effect(PRICE))
    without_effect([name for name in data.without_effect(POSTURE) if name not in data.without_effect(PRICE)])


def _connections(data: PageData, by: Ranked, value: int | str) -> None:
    """The newest connections of a port or job, and the way to all of them."""
    name = _FILTER_OF[by]
    st.markdown(f"**Connections of {name} {plain(value)}**, the newest")
    sources = sources_with_rows(data)
    only: dict[str, Any] = {f"{name}s": (value,)}
    narrowed = replace(data, filters=replace(data.filters, **only))
    rows = search(narrowed, ConnectionSearch(source=sources[0])).rows if sources else None
    if rows is None or not rows.num_rows:
        st.caption("There are no records of its single connections, only summaries.")
        return
    grid(rows.slice(0, _MOST_CONNECTIONS), "ranking-connections", sources=["connection_detail"])
    page_link("connections", "All of them, and the history of each", **{name: str(value)})


def _config(by: Ranked) -> dict[str, object]:
    column = st.column_config
    return {
        by: column.NumberColumn("Port", format="%d", pinned=True)
        if by == "server_port"
        else column.TextColumn("Job", pinned=True),
        "connections": column.NumberColumn("Connections", format="localized"),
        "share_pct": column.ProgressColumn(
            "Share (%)", format="%.1f", min_value=0, max_value=100, help="Share of the connections shown.",
        ),
        "trend": column.BarChartColumn(
            "Over time", help="Connections of each hour or day; hours and days without data are left out.",
        ),
        "change_pct": column.NumberColumn("Change (%)", format="%+.1f"),
        "bytes": column.NumberColumn("Bytes", format="compact"),
        "high_cpu_s_per_day": column.NumberColumn("CPU at most (s a day)", format="%.3g"),
        "cpu_s_per_day": column.NumberColumn("CPU estimate (s a day)", format="%.3g"),
        "status": column.TextColumn("Status", help="How far the CPU time can be trusted: see Price of TLS."),
        "resumed_pct": column.NumberColumn("Resumed (%)", format="%.1f"),
        "failed_handshakes": column.NumberColumn("Failed handshakes", format="localized"),
        "unprotected_pct": column.NumberColumn("Unprotected (%)", format="%.1f"),
    }  # fmt: skip


def _what_changed(data: PageData) -> None:
    st.header("What changed against the period before")
    rows = data.metric(_COMPARISON, ["subject", "value"])
    if not rows.num_rows:
        st.info("There is nothing to compare in these periods.", icon=":material/inbox:")
        return
    grid(rows, "ranking-changes", sources=[_COMPARISON], columns=_CHANGE_COLUMNS)
    st.caption(
        "Connections counted once, protocols, cipher suites, handshakes and settings of the AT-TLS policy, "
        "in the chosen period, or in the last seven days, against the period before."
    )
    without_effect(data.without_effect(_COMPARISON))
