"""A modelled flood of TLS sessions on z/TPF, before and with APAR PJ48040, beside what was published."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import altair as alt
import streamlit as st

from zscope.app.dashboard.looks import BLUE, ORANGE, colours, reference_line, values
from zscope.app.dashboard.parts.flood_inputs import flood_inputs
from zscope.app.dashboard.show import grid, number, picture, plain
from zscope.pipelines.flood.figures import compare
from zscope.pipelines.flood.parameters import Flood, FloodError, Mode
from zscope.pipelines.flood.published import PEAK_BEFORE, PEAK_WITH, modelled, published_figures
from zscope.pipelines.flood.rows import compared
from zscope.pipelines.flood.series import series

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from zscope.app.dashboard.answers import Data

_KEPT = 64
_COLOURS = {str(Mode.BLOCKING): ORANGE, str(Mode.NON_BLOCKING): BLUE}
_CURVES = {"ecbs_in_use": "ECBs in use", "sessions_started": "Sessions started"}
_FIGURES = {
    "throughput_gain": "throughput gain", "peak_ecbs_before": "peak ECBs before",
    "peak_ecbs_with": "peak ECBs with",
    "duration_before": "high ECBs before", "duration_with": "high ECBs with",
}  # fmt: skip
"""The published figures; before PJ48040, or with it."""


def render(data: Data) -> None:  # noqa: ARG001 - a model needs no data
    """Draw the page."""
    _badge()
    st.markdown(
        "Many TLS sessions start at once at shared SSL daemons. **Blocking**, before PJ48040: a worker "
        "thread and the ECB of the connection are held while a handshake waits for the network. "
        "**Non-blocking**, with PJ48040: both are free meanwhile. Everything below is played through by a "
        "simulation; nothing of it was measured. `zscope model flood` does the same, and `--reproduce` tells "
        "which parameters the published figures take."
    )
    try:
        flood = flood_inputs()
        with st.spinner("Playing the flood through"):
            published, figures, curves = _played(flood)
    except FloodError as error:
        st.warning(f"This flood cannot be played through: {plain(error, 300)}", icon=":material/block:")
        return
    _beside_published(published)
    for column, title in _CURVES.items():
        _curve(curves, column, title)
    st.subheader("Figures of the model")
    grid(figures, "flood-model-figures")


@lru_cache(maxsize=_KEPT)
def _played(flood: Flood) -> tuple[Mapping[str, float | None], pa.Table, pa.Table]:
    """What corresponds to the published figures, all figures, and the curves; kept for all readers."""
    comparison = compare(flood)
    return modelled(comparison), compared(comparison), series(comparison.traces.values())


def _badge() -> None:
    st.badge("MODEL", icon=":material/model_training:", color="orange",
             help="Played through by a simulation, not measured on a system.")  # fmt: skip


def _beside_published(came: Mapping[str, float | None]) -> None:
    st.subheader("Model beside published")
    for column, (name, title) in zip(st.columns(len(_FIGURES)), _FIGURES.items(), strict=True):
        figure = published_figures()[name]
        unit = "" if figure.unit == "ECBs" else figure.unit
        digits = 0 if figure.unit == "ECBs" else 1
        column.metric(f"MODEL: {title}", number(came[name], digits, unit), border=True)
        column.caption(f"Published: {plain(figure.as_printed)}")
    st.caption(
        "Before PJ48040, and with it. The published gain and the published ECBs are of two tests, and not "
        "all of their parameters are known; none were found that lead to all five figures."
    )


def _curve(table: pa.Table, column: str, title: str) -> None:
    st.subheader(f"{title} (MODEL)")
    tip = [
        alt.Tooltip("mode:N", title="MODEL, mode"),
        alt.Tooltip("since_start_s:Q", title="Since the begin of the burst (s)", format=",.3f"),
        alt.Tooltip(f"{column}:Q", title=title, format=","),
    ]
    lines = (
        alt.Chart(values(table))
        .mark_line(interpolate="step-after")
        .encode(
            x=alt.X("since_start_s:Q", title="Seconds since the begin of the burst"),
            y=alt.Y(f"{column}:Q", title=f"{title}, MODEL"),
            color=alt.Color("mode:N", title="Mode", scale=colours(_COLOURS)),
            strokeDash=alt.StrokeDash("mode:N", title="Mode", sort=list(_COLOURS)),
            tooltip=tip,
        )
    )
    drawn = [lines]
    if column == "ecbs_in_use":
        for name, words in (
            (PEAK_BEFORE, "published peak before"),
            (PEAK_WITH, "published peak with PJ48040"),
        ):
            figure = published_figures()[name]
            drawn += reference_line(figure.value, f"{words}: about {figure.value:,.0f}")
    chart = alt.layer(*drawn).properties(height=280, title="MODEL: simulated, not measured")
    words = f"{title} over time in a model, not measured: a line before PJ48040 and one with it."
    picture(chart, table, f"flood-model-{column}", words)
