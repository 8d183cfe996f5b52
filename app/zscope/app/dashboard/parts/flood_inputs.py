"""The parameters of a modelled flood, as the reader sets them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from typing import Any

import streamlit as st

from zscope.pipelines.flood.attempts import ATTEMPTS
from zscope.pipelines.flood.parameters import NUMBERS, Arrivals, Flood, Network, Order, Parameter
from zscope.pipelines.flood.published import published_figures

_TITLES = {
    "sessions": "Session requests", "burst_s": "Burst (s)", "network_ms": "Network wait (ms)",
    "cpu_ms": "Processor time (ms)", "daemons": "Daemons", "workers": "Worker threads each",
    "processors": "I-streams", "connections": "Connections at most", "flows": "Network flows",
    "share": "Share that starts sessions", "client_ms": "First data after (ms)",
    "background_per_s": "Data transfers a second", "background_ms": "Processor time of each (ms)",
    "threshold": "High from this share of the peak", "seed": "Seed",
}  # fmt: skip
_SHOWN = ("sessions", "burst_s", "network_ms", "cpu_ms", "daemons", "workers", "processors", "connections")
"""Parameters that one changes first."""
_AT_A_ROW = 4
_USUAL = "the usual"
_BEGINS = {_USUAL: "", **{attempt.name: f"{attempt.name.split()[0].lower()}_" for attempt in ATTEMPTS}}
"""What one can begin with, and what stands before the names of its inputs in the address."""
_HIGHEST = {"sessions": 20_000, "flows": 10, "background_per_s": 2000.0}
"""Where a page has less time than a command."""
_CHOICES: Mapping[str, tuple[str, type[StrEnum], str]] = {
    "arrivals": ("Arrivals", Arrivals, "How the requests are spread over the burst."),
    "network": ("Network waits", Network, "Whether they are all alike or random."),
    "order": ("First served with PJ48040", Order, "Handshakes that have begun, or whoever waits longest."),
}


def flood_inputs() -> Flood:
    """Draw the inputs and read the flood from them; what cannot be played through raises FloodError."""
    begin = st.segmented_control(
        "Begin with", tuple(_BEGINS), default=_USUAL, required=True, key="flood_begin", bind="query-params",
        persist_state="session", help="Parameters that lead to the published figures of a test, by closed "
        "forms; each keeps what you change in it.",
    )  # fmt: skip
    name = str(begin or _USUAL)
    inputs = _Inputs(_begin(name), _BEGINS[name])
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
def _begin(name: str) -> Flood:
    """The flood of a test by the closed forms, with as many digits as can be read; or the usual one."""
    published = {name: figure.value for name, figure in published_figures().items()}
    for attempt in ATTEMPTS:
        if attempt.name == name:
            found = attempt.solve(attempt.flood, published)
            values = {number.name: getattr(found, number.name) for number in NUMBERS}
            short: dict[str, Any] = {
                name: float(f"{value:.6g}") for name, value in values.items() if isinstance(value, float)
            }
            return replace(found, **short)
    return Flood()


@dataclass(frozen=True, slots=True)
class _Inputs:
    """Inputs that show the values of a flood at first, and are kept apart from those of another."""

    usual: Flood
    of: str

    def number(self, number: Parameter) -> Any:  # noqa: ANN401 - an int or a float, as the parameter is
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
            "With PJ48040, a session that waits for a thread has an ECB", self.usual.ecb_in_queue,
            key=self._key("ecb_in_queue"), bind="query-params", persist_state="session",
        )  # fmt: skip

    def _key(self, name: str) -> str:
        return f"flood_{self.of}{name}"
