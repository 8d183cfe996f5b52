"""z/TPF floods: the ECBs in use during a burst of TLS session starts, measured or from the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from zscope.app.dashboard.drawing import grid, no_data, picture
from zscope.app.dashboard.pages.ztpf_floods.modelled_flood import modelled_flood
from zscope.app.dashboard.published import published_section
from zscope.app.dashboard.registry import Page
from zscope.app.dashboard.style import spread_colours, values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.app.dashboard.page_data import PageData

PAGE = Page(title="z/TPF floods", icon="flood", section="Other systems", order=120, filtered=False)


AREA = "z/TPF"
_STEPS = 1_000
_MEASURED, _MODEL = "Floods", "Flood model"


def floods(data: PageData) -> pa.Table:
    """Return the figures of each series."""
    return data.metric("ztpf_flood")


def curves(data: PageData, series: pa.Table, column: str) -> Iterator[tuple[int | None, pa.Table]]:
    """Yield the samples of one column, for each number of sessions.

    Floods of different sizes would hide each other in one chart. Of a long series, each thousandth is reduced
    to its highest sample.
    """
    drawn = data.rows(f"""
        WITH placed AS (
            SELECT series, since_start_us, {column},
                {_STEPS} * since_start_us
                // (1 + max(since_start_us) OVER (PARTITION BY series, system)) AS step
            FROM ztpf_sample WHERE {column} IS NOT NULL
        )
        SELECT series, arg_max(since_start_us, {column}) / 1e6 AS since_start_s, max({column}) AS {column}
        FROM placed GROUP BY series, step ORDER BY series, since_start_s
    """)
    named: dict[int | None, list[str]] = {}
    for row in series.select(["series", "sessions"]).to_pylist():
        named.setdefault(row["sessions"], []).append(row["series"])
    for sessions, names in sorted(named.items(), key=lambda each: (each[0] is None, each[0] or 0)):
        samples = drawn.filter(pc.is_in(drawn["series"], pa.array(names)))
        if samples.num_rows:
            yield sessions, samples


_CURVES = {"ecbs_in_use": "ECBs in use", "tls_starts_completed": "TLS sessions started"}
_OF_FLOODS = (
    "series", "system", "sessions", "peak_ecbs", "duration_s", "ecb_seconds", "ecb_seconds_per_session",
    "starts_per_s", "gaps", "remarks",
)  # fmt: skip
"""The most important columns; the download contains all."""
_OF_CHANGES = (
    "series", "against", "throughput_gain_pct", "elapsed_ratio", "peak_change_pct", "duration_change_pct",
    "ecb_seconds_change_pct", "excess_change_pct",
)  # fmt: skip


def render(data: PageData) -> None:
    """Draw the page."""
    shown = st.segmented_control(
        "Show", (_MEASURED, _MODEL), default=_MEASURED, required=True, key="ztpf_show", bind="query-params",
        persist_state="session", help="The floods of the store, or a simulated flood that needs no data.",
    )  # fmt: skip
    if shown == _MODEL:
        modelled_flood(data)
    else:
        _measured_floods(data)


def _measured_floods(data: PageData) -> None:
    series = floods(data)
    if series.num_rows:
        st.header("Floods")
        grid(series, "ztpf-floods", sources=["ztpf_flood"], columns=_OF_FLOODS)
        _changes(series)
        for column, title in _CURVES.items():
            st.header(title)
            for sessions, samples in curves(data, series, column):
                _curve(samples, column, title, sessions)
    else:
        no_data(
            "There are no z/TPF floods. They need samples of the ECBs in use or of the TLS sessions started "
            "over time, as CSV, as an export of a Grafana panel, or as JSON lines.",
            "zscope ingest --run before ecb-series.csv",
        )
    published_section(data, AREA, "ztpf")


def _changes(series: pa.Table) -> None:
    compared = series.filter(pc.is_valid(series["against"])).select(_OF_CHANGES)
    if compared.num_rows:
        st.header("Comparison of two floods")
        grid(compared, "ztpf-changes", sources=["ztpf_flood"])


def _curve(samples: pa.Table, column: str, title: str, sessions: int | None) -> None:
    flood = "number of sessions not known" if sessions is None else f"{sessions:,} sessions requested"
    st.caption(f"Floods, {flood}")
    series = sorted(set(samples["series"].to_pylist()))
    chart = (
        alt.Chart(values(samples))
        .mark_line()
        .encode(
            x=alt.X("since_start_s:Q", title="Seconds since the first sample"),
            y=alt.Y(f"{column}:Q", title=title),
            color=alt.Color("series:N", title="Series", scale=spread_colours(series)),
            strokeDash=alt.StrokeDash("series:N", title="Series", sort=series),
            tooltip=[
                alt.Tooltip("series:N", title="Series"),
                alt.Tooltip("since_start_s:Q", title="Seconds", format=",.2f"),
                alt.Tooltip(f"{column}:Q", title=title, format=",.0f"),
            ],
        )
        .properties(height=260)
    )
    words = f"{title} over time, a line for each series; {flood}."
    picture(chart, samples, f"ztpf-{column}-{sessions or 0}", words, sources=["ztpf_sample"])
