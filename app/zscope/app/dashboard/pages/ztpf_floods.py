"""z/TPF floods: the ECBs in use during a burst of TLS session starts, measured or from the model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import altair as alt
import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from zscope.app.dashboard.drawing import grid, number, picture, plain
from zscope.app.dashboard.figure_cards import Card, draw_figures
from zscope.app.dashboard.pages.benchmark.benchmark_page import open_result
from zscope.app.dashboard.registry import Needed, Page
from zscope.app.dashboard.style import BLUE, ORANGE, colours, reference_line, spread_colours, values
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
    from collections.abc import Collection, Iterator, Mapping
    from enum import StrEnum

    from zscope.app.dashboard.page_data import PageData

PAGE = Page(
    title="z/TPF floods", icon="flood", area="Benchmark", order=60, filtered=False,
    needs=Needed(tables=("ztpf_series",), brought_by="time series of ECBs or TLS sessions"),
)  # fmt: skip

FIGURES = (
    (Card("ztpf-floods"), Card("results-ztpf", pick=open_result)),
    (Card("ztpf-changes"), Card("conflicts", where="area = 'z/TPF'")),
)
_STEPS = 1_000
_MEASURED, _MODEL = "Floods", "Flood model"
_CURVES = {"ecbs_in_use": "ECBs in use", "tls_starts_completed": "TLS sessions started"}
_INPUT_TITLES = {
    "sessions": "Session requests", "burst_s": "Burst (s)", "network_ms": "Network wait (ms)",
    "cpu_ms": "Processor time (ms)", "daemons": "Daemons", "workers": "Worker threads each",
    "processors": "I-streams", "connections": "Connections at most", "flows": "Network flows",
    "share": "Share that starts sessions", "client_ms": "First data after (ms)",
    "background_per_s": "Data transfers a second", "background_ms": "Processor time of each (ms)",
    "threshold": "High from this share of the peak", "seed": "Seed",
}  # fmt: skip
_SHOWN_INPUTS = (
    "sessions",
    "burst_s",
    "network_ms",
    "cpu_ms",
    "daemons",
    "workers",
    "processors",
    "connections",
)
"""The most important parameters."""
_INPUTS_AT_A_ROW = 4
_USUAL_PRESET = "default"
_FIRST_PRESET = "ECB test"
"""The preset with which the page opens: it fits most of the published figures."""
_PRESETS = {_USUAL_PRESET: "", **{name: f"{name.split()[0].lower()}_" for name in published_tests()}}
"""The presets, and the prefix of the names of their inputs in the address."""
_HIGHEST_INPUTS = {"sessions": 20_000, "flows": 10, "background_per_s": 2000.0}
"""Limits of the page, which has less time than the command."""
_CHOICES: Mapping[str, tuple[str, type[StrEnum], str]] = {
    "arrivals": ("Arrivals", Arrivals, "How the requests are spread over the burst."),
    "network": ("Network waits", Network, "Whether all network waits are equal or random."),
    "order": ("Served first with PJ48040", Order, "Started handshakes, or the session that waits longest."),
}
_NOT_FITTED = "not an aim of the search"
"""End of the text of a figure that the parameters of a test are not fitted to."""
_KEPT_SIMULATIONS = 64
_MODE_COLOURS = {str(Mode.BLOCKING): ORANGE, str(Mode.NON_BLOCKING): BLUE}
_MODEL_CURVES = {"ecbs_in_use": "ECBs in use", "sessions_started": "Sessions started"}
_FIGURES = {
    "throughput_gain": "throughput gain", "peak_ecbs_before": "peak ECBs before",
    "peak_ecbs_with": "peak ECBs with",
    "duration_before": "high ECBs before", "duration_with": "high ECBs with",
}  # fmt: skip
"""The published figures: before PJ48040, and with it."""


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


def render(data: PageData) -> None:
    """Draw the page."""
    shown = st.segmented_control(
        "Show", (_MEASURED, _MODEL), default=_MEASURED, required=True, key="ztpf_show", bind="query-params",
        persist_state="session", help="The floods of the store, or a simulated flood that needs no data.",
    )  # fmt: skip
    if shown == _MODEL:
        _modelled_flood(data)
    else:
        _measured_floods(data)


def _measured_floods(data: PageData) -> None:
    draw_figures(data, FIGURES)
    series = data.metric("ztpf_flood")
    for column, title in _CURVES.items():
        for place, (sessions, samples) in enumerate(curves(data, series, column)):
            if not place:
                st.header(title)
            _curve(samples, column, title, sessions)


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


def _flood_inputs() -> Flood:
    """Draw the inputs and return the flood; raises FloodError if it cannot be simulated."""
    preset = st.segmented_control(
        "Start with", tuple(_PRESETS), default=_FIRST_PRESET, required=True, key="flood_begin",
        bind="query-params", persist_state="session",
        help="Parameters that reproduce the published figures of a test. Each preset remembers your changes.",
    )  # fmt: skip
    name = str(preset or _FIRST_PRESET)
    inputs = _Inputs(_preset(name), _PRESETS[name])
    numbers = {number.name: number for number in NUMBERS}
    set_to: dict[str, Any] = {}
    for start in range(0, len(_SHOWN_INPUTS), _INPUTS_AT_A_ROW):
        row = zip(st.columns(_INPUTS_AT_A_ROW), _SHOWN_INPUTS[start : start + _INPUTS_AT_A_ROW], strict=True)
        for column, shown in row:
            with column:
                set_to[shown] = inputs.number(numbers[shown])
    with st.expander("More parameters", icon=":material/tune:"):
        columns = st.columns(_INPUTS_AT_A_ROW)
        for place, further in enumerate(name for name in numbers if name not in _SHOWN_INPUTS):
            with columns[place % _INPUTS_AT_A_ROW]:
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
            _INPUT_TITLES[number.name], kind(number.low),
            kind(_HIGHEST_INPUTS.get(number.name, number.high)), usual,
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


def _modelled_flood(data: PageData) -> None:
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
        flood = _flood_inputs()
        with st.spinner("Simulating the flood"):
            published, figures, curves = _simulated(flood)
    except FloodError as error:
        st.warning(f"This flood cannot be simulated: {plain(error, 300)}", icon=":material/block:")
        return
    _beside_published(data, published, _fitted())
    for column, title in _MODEL_CURVES.items():
        _model_curve(curves, column, title)
    st.header("Figures of the model")
    grid(figures, "flood-model-figures")


@lru_cache(maxsize=_KEPT_SIMULATIONS)
def _simulated(flood: Flood) -> tuple[Mapping[str, float | None], pa.Table, pa.Table]:
    """The values of the published figures, all figures, and the curves; cached for all readers."""
    simulations = [Simulation(flood, mode) for mode in Mode]
    return beside_published(simulations), figure_table(simulations), curve_table(simulations)


def _badge() -> None:
    st.badge("MODEL", icon=":material/model_training:", color="orange",
             help="Simulated, not measured on a system.")  # fmt: skip


def _fitted() -> Collection[str]:
    """The published figures that the parameters of the chosen preset are fitted to."""
    name = st.session_state.get("flood_begin") or _FIRST_PRESET
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


def _model_curve(table: pa.Table, column: str, title: str) -> None:
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
            color=alt.Color("mode:N", title="Mode", scale=colours(_MODE_COLOURS)),
            strokeDash=alt.StrokeDash("mode:N", title="Mode", sort=list(_MODE_COLOURS)),
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
