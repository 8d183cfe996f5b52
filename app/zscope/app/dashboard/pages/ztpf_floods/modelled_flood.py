"""The part of the page about a simulated flood of TLS sessions, before and with APAR PJ48040."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import altair as alt
import streamlit as st

from zscope.app.dashboard.drawing import grid, number, picture, plain
from zscope.app.dashboard.style import BLUE, ORANGE, colours, reference_line, values
from zscope.app.dashboard.tiles import tile
from zscope.pipelines.flood_model import (
    NUMBERS,
    PEAK_BEFORE,
    PEAK_WITH,
    Arrivals,
    Flood,
    FloodError,
    FloodParameter,
    Mode,
    Network,
    Order,
    Simulation,
    beside_published,
    curve_table,
    figure_table,
    published_figures,
    published_tests,
    reproduction,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from enum import StrEnum

    import pyarrow as pa

    from zscope.app.dashboard.page_data import PageData

_TITLES = {
    "sessions": "Session requests", "burst_s": "Burst (s)", "network_ms": "Network wait (ms)",
    "cpu_ms": "Processor time (ms)", "daemons": "Daemons", "workers": "Worker threads each",
    "processors": "I-streams", "connections": "Connections at most", "flows": "Network flows",
    "share": "Share that starts sessions", "client_ms": "First data after (ms)",
    "background_per_s": "Data transfers a second", "background_ms": "Processor time of each (ms)",
    "threshold": "High from this share of the peak", "seed": "Seed",
}  # fmt: skip
_SHOWN = ("sessions", "burst_s", "network_ms", "cpu_ms", "daemons", "workers", "processors", "connections")
"""The most important parameters."""
_AT_A_ROW = 4
_USUAL = "default"
_FIRST = "ECB test"
"""The preset with which the page opens: it fits most of the published figures."""
_BEGINS = {_USUAL: "", **{name: f"{name.split()[0].lower()}_" for name in published_tests()}}
"""The presets, and the prefix of the names of their inputs in the address."""
_HIGHEST = {"sessions": 20_000, "flows": 10, "background_per_s": 2000.0}
"""Limits of the page, which has less time than the command."""
_CHOICES: Mapping[str, tuple[str, type[StrEnum], str]] = {
    "arrivals": ("Arrivals", Arrivals, "How the requests are spread over the burst."),
    "network": ("Network waits", Network, "Whether all network waits are equal or random."),
    "order": ("Served first with PJ48040", Order, "Started handshakes, or the session that waits longest."),
}


def flood_inputs() -> Flood:
    """Draw the inputs and return the flood; raises FloodError if it cannot be simulated."""
    preset = st.segmented_control(
        "Start with", tuple(_BEGINS), default=_FIRST, required=True, key="flood_begin", bind="query-params",
        persist_state="session", help="Parameters that reproduce the published figures of a test. "
        "Each preset remembers your changes.",
    )  # fmt: skip
    name = str(preset or _FIRST)
    inputs = _Inputs(_preset(name), _BEGINS[name])
    numbers = {number.name: number for number in NUMBERS}
    set_to: dict[str, Any] = {}
    for start in range(0, len(_SHOWN), _AT_A_ROW):
        row = zip(st.columns(_AT_A_ROW), _SHOWN[start : start + _AT_A_ROW], strict=True)
        for column, shown in row:
            with column:
                set_to[shown] = inputs.number(numbers[shown])
    with st.expander("More parameters", icon=":material/tune:"):
        columns = st.columns(_AT_A_ROW)
        for place, further in enumerate(name for name in numbers if name not in _SHOWN):
            with columns[place % _AT_A_ROW]:
                set_to[further] = inputs.number(numbers[further])
        with st.container(horizontal=True, vertical_alignment="bottom"):
            for choice in _CHOICES:
                set_to[choice] = inputs.choice(choice)
        set_to["ecb_in_queue"] = inputs.ecb_in_queue()
    return Flood(**set_to)


@cache
def _preset(name: str) -> Flood:
    """The flood that reproduces a published test, rounded for display; or the default flood."""
    flood = published_tests().get(name, Flood())
    values = {number.name: getattr(flood, number.name) for number in NUMBERS if not number.whole}
    rounded: dict[str, Any] = {name: float(f"{value:.6g}") for name, value in values.items()}
    return replace(flood, **rounded)


@dataclass(frozen=True, slots=True)
class _Inputs:
    """Inputs with the values of a preset; `of` separates them from the inputs of other presets."""

    usual: Flood
    of: str

    def number(self, number: FloodParameter) -> Any:  # noqa: ANN401 - an int or a float
        usual = getattr(self.usual, number.name)
        kind = type(usual)
        chosen = st.number_input(
            _TITLES[number.name], kind(number.low), kind(_HIGHEST.get(number.name, number.high)), usual,
            key=self._key(number.name), help=number.meaning, bind="query-params", persist_state="session",
            format=None if kind is int else "%.6g",
        )  # fmt: skip
        return kind(usual if chosen is None else chosen)

    def choice(self, name: str) -> StrEnum:
        title, kind, words = _CHOICES[name]
        chosen = st.segmented_control(
            title, [str(value) for value in kind], default=str(getattr(self.usual, name)), required=True,
            key=self._key(name), help=words, bind="query-params", persist_state="session",
        )  # fmt: skip
        return kind(chosen or getattr(self.usual, name))

    def ecb_in_queue(self) -> bool:
        return st.toggle(
            "With PJ48040, a session that waits for a thread uses an ECB", self.usual.ecb_in_queue,
            key=self._key("ecb_in_queue"), bind="query-params", persist_state="session",
        )  # fmt: skip

    def _key(self, name: str) -> str:
        return f"flood_{self.of}{name}"


_NOT_FITTED = "not an aim of the search"
"""End of the text of a figure that the parameters of a test are not fitted to."""
_KEPT = 64
_COLOURS = {str(Mode.BLOCKING): ORANGE, str(Mode.NON_BLOCKING): BLUE}
_CURVES = {"ecbs_in_use": "ECBs in use", "sessions_started": "Sessions started"}
_FIGURES = {
    "throughput_gain": "throughput gain", "peak_ecbs_before": "peak ECBs before",
    "peak_ecbs_with": "peak ECBs with",
    "duration_before": "high ECBs before", "duration_with": "high ECBs with",
}  # fmt: skip
"""The published figures: before PJ48040, and with it."""


def modelled_flood(data: PageData) -> None:
    """Draw the inputs of the model and what it computes from them."""
    _badge()
    st.markdown(
        "Many TLS sessions start at the same time at shared SSL daemons. **Blocking**, before PJ48040: a "
        "handshake that waits for the network occupies a worker thread and the ECB of the connection. "
        "**Non-blocking**, with PJ48040: both are free during the wait. Everything in this part "
        "is simulated, nothing was measured. `zscope model flood` runs the same model; its option "
        "`--reproduce` lists the parameters that reproduce the published figures."
    )
    try:
        flood = flood_inputs()
        with st.spinner("Simulating the flood"):
            published, figures, curves = _simulated(flood)
    except FloodError as error:
        st.warning(f"This flood cannot be simulated: {plain(error, 300)}", icon=":material/block:")
        return
    _beside_published(data, published, _fitted())
    for column, title in _CURVES.items():
        _curve(curves, column, title)
    st.header("Figures of the model")
    grid(figures, "flood-model-figures")


@lru_cache(maxsize=_KEPT)
def _simulated(flood: Flood) -> tuple[Mapping[str, float | None], pa.Table, pa.Table]:
    """The values of the published figures, all figures, and the curves; cached for all readers."""
    simulations = [Simulation(flood, mode) for mode in Mode]
    return beside_published(simulations), figure_table(simulations), curve_table(simulations)


def _badge() -> None:
    st.badge("MODEL", icon=":material/model_training:", color="orange",
             help="Simulated, not measured on a system.")  # fmt: skip


def _fitted() -> Collection[str]:
    """The published figures that the parameters of the chosen preset are fitted to."""
    name = st.session_state.get("flood_begin") or _FIRST
    figures = [row for row in reproduction().to_pylist() if (row["part"], row["test"]) == ("figure", name)]
    return {row["name"] for row in figures if not row["text"].endswith(_NOT_FITTED)}


def _beside_published(data: PageData, simulated: Mapping[str, float | None], fitted: Collection[str]) -> None:
    st.header("Model and published results")
    for column, (name, title) in zip(st.columns(len(_FIGURES)), _FIGURES.items(), strict=True):
        figure = published_figures()[name]
        unit, digits = ("", 0) if figure["unit"] == "ECBs" else (figure["unit"], 1)
        tile(column, data, f"MODEL: {title}", number(simulated[name], digits, unit), None)
        aim = "" if name in fitted else " This preset is not fitted to it."
        column.caption(f"Published: {plain(figure['as_printed'])}.{aim}")
    st.caption(
        "Before PJ48040, and with it. The published gain and the published ECBs come from two tests with "
        "partly unknown parameters; no set of parameters reproduces all five figures."
    )


def _curve(table: pa.Table, column: str, title: str) -> None:
    st.header(f"{title} (MODEL)")
    tip = [
        alt.Tooltip("mode:N", title="MODEL, mode"),
        alt.Tooltip("since_start_s:Q", title="Since the start of the burst (s)", format=",.3f"),
        alt.Tooltip(f"{column}:Q", title=title, format=","),
    ]
    lines = (
        alt.Chart(values(table))
        .mark_line(interpolate="step-after")
        .encode(
            x=alt.X("since_start_s:Q", title="Seconds since the start of the burst"),
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
            drawn += reference_line(figure["value"], f"{words}: about {figure['value']:,.0f}")
    chart = alt.layer(*drawn, height=280, title="MODEL: simulated, not measured")
    words = f"{title} over time in the model, not measured: one line before PJ48040, one line with it."
    picture(chart, table, f"flood-model-{column}", words)
