"""The session caches of GSKSRVR: hit rates, reasons of misses, fill levels, counter resets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from zscope.app.dashboard.drawing import folded, grid, no_data, number, picture, without_effect
from zscope.app.dashboard.pages.resumption.resumption_queries import REASONS, cache_use, fill, misses, resets
from zscope.app.dashboard.style import BLUE, GREEN, GREY, ORANGE, colours, values
from zscope.app.dashboard.tiles import tile

if TYPE_CHECKING:
    from zscope.app.dashboard.page_data import PageData

_COLOURS = dict(zip(REASONS.values(), (ORANGE, BLUE, GREEN), strict=True))
_MOST_CACHES = 24
_NAME = alt.Y("name:N", title=None, axis=alt.Axis(labelLimit=220))


def caches_section(data: PageData) -> None:
    """Draw the section, or what would fill it."""
    st.header("Session caches")
    if data.filters.roles and "server" not in data.filters.roles:
        st.caption("Session caches belong to servers, so the chosen role hides them.")
        return
    use, full = cache_use(data), fill(data)
    if not use.num_rows and not full.num_rows:
        no_data(
            "There is no data about session caches. It comes from GSKSRVR displays (DISPLAY STATS, SIDCACHE "
            "and TICKETCACHE).",
            "zscope ingest GSKSRVR.txt",
        )
        return
    left, right = st.columns(2)
    with left:
        _misses(use)
    with right:
        _fill(full)
    with left:
        _room(data, use)
    with right:
        _resets(data)
    without_effect(data.filters.without_effect(("system", "side"), "interval_start_utc"))


def _named(table: pa.Table) -> pa.Table:
    """The rows with the name of the system and cache, limited to the caches that a chart can show."""
    names = [f"{row['system']}, {row['cache']}" for row in table.select(["system", "cache"]).to_pylist()]
    drawn = list(dict.fromkeys(names))[:_MOST_CACHES]
    named = table.append_column("name", pa.array(names, pa.string()))
    return named.filter(pc.field("name").isin(pa.array(drawn, pa.string())))


def _misses(use: pa.Table) -> None:
    st.markdown("**Why lookups missed**")
    table = misses(use)
    base = alt.Chart(values(_named(table)))
    bars = base.mark_bar().encode(
        x=alt.X("share_pct:Q", title="Missed lookups (% of all lookups)"),
        y=_NAME,
        color=alt.Color("reason:N", title=None, scale=colours(_COLOURS), legend=alt.Legend(orient="top")),
        order=alt.Order("reason:O"),
        tooltip=[
            alt.Tooltip("name:N", title="Cache"),
            alt.Tooltip("reason:N", title="Reason"),
            alt.Tooltip("missed:Q", title="Missed", format=","),
            alt.Tooltip("lookups:Q", title="Lookups", format=","),
            alt.Tooltip("share_pct:Q", title="Share (%)", format=".2f"),
            alt.Tooltip("hit_rate_pct:Q", title="Hit rate (%)", format=".1f"),
        ],
    )
    rates = (
        base.mark_text(align="left", dx=4)
        .encode(x=alt.X("missed_pct:Q"), y=_NAME, text=alt.Text("words:N"))
        .transform_aggregate(missed_pct="sum(share_pct)", hit_rate="max(hit_rate_pct)", groupby=["name"])
        .transform_calculate(words="'hit rate ' + format(datum.hit_rate, '.1f') + ' %'")
    )
    picture(alt.layer(bars, rates, height=alt.Step(24)), table, "cache-misses",
            "Share of missed lookups of each session cache by reason, as stacked bars.",
            sources=["resumption_rate"])  # fmt: skip
    st.caption(
        "Expired: a longer timeout would help. Not found: the session was replaced, already used, or lost in "
        "a restart. Not authorized: check the security definitions between the systems. All other lookups "
        "were hits."
    )


def _fill(full: pa.Table) -> None:
    st.markdown("**How full the caches are**")
    base = alt.Chart(values(_named(full)))
    tips = [
        alt.Tooltip("name:N", title="Cache"),
        alt.Tooltip("used_mb:Q", title="Used (MB)", format=","),
        alt.Tooltip("most_used_mb:Q", title="Most used in the period (MB)", format=","),
        alt.Tooltip("maximum_mb:Q", title="Can grow to (MB)", format=","),
        alt.Tooltip("entries:Q", title="Entries", format=","),
        alt.Tooltip("most_entries:Q", title="Most entries in the period", format=","),
        alt.Tooltip("timeout_min:Q", title="Timeout (minutes)", format=","),
    ]
    room = base.mark_bar(color=GREY, opacity=0.25).encode(
        x=alt.X("maximum_mb:Q", title="Size (MB): used, and what it can grow to"), y=_NAME, tooltip=tips
    )
    used = base.mark_bar(color=BLUE, height=10).encode(x=alt.X("used_mb:Q"), y=_NAME, tooltip=tips)
    words = base.transform_calculate(
        words="(datum.used_mb === null ? 'n/a' : datum.used_mb) + ' of ' + datum.maximum_mb + ' MB, '"
        " + (datum.most_entries === null ? 'n/a' : format(datum.most_entries, ',')) + ' entries at most'"
    )
    label = words.mark_text(align="left", dx=6).encode(
        x=alt.datum(0), y=_NAME, text=alt.Text("words:N"), tooltip=tips
    )
    picture(alt.layer(room, used, label, height=alt.Step(24)), full, "cache-fill",
            "Used size of each session cache and its maximum size, as bars.",
            sources=["gsk_cache_status", "gsk_cache_stats"])  # fmt: skip


def _room(data: PageData, use: pa.Table) -> None:
    refused, replaced = (sum(n or 0 for n in use[name].to_pylist()) for name in ("refused_full", "replaced"))
    st.markdown("**Refused and replaced**")
    for title, value in {"Not stored, cache full": refused, "Replaced by newer ones": replaced}.items():
        tile(st.container(), data, title, number(value, 0), None)
    st.caption("Sessions. If these are not zero, a larger cache would help.")
    folded(
        f"Counts of each cache ({use.num_rows:,})", "cache-use-data",
        lambda: grid(use, "cache-use", sources=["resumption_rate"]), ":material/table:",
    )  # fmt: skip


def _resets(data: PageData) -> None:
    table = resets(data)
    if not table.num_rows:
        st.caption("The counters were not reset between displays.")
        return
    uncounted = sum(seconds or 0 for seconds in table["uncounted_s"].to_pylist()) / 3600
    st.markdown("**Counter resets**")
    tile(st.container(), data, "Resets", number(table.num_rows, 0), None)
    tile(st.container(), data, "Hours whose counts are lost", number(uncounted, 1), None)
    st.caption("Counting starts again at each reset.")
    folded(
        f"Resets ({table.num_rows:,})", "cache-resets-data",
        lambda: grid(table, "cache-resets", sources=["gsk_cache_delta"]), ":material/restart_alt:",
    )  # fmt: skip
