"""Floods for the tests of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zscope.pipelines.flood.parameters import Arrivals, Flood, Mode
from zscope.pipelines.flood.simulate import simulate

if TYPE_CHECKING:
    from zscope.pipelines.flood.trace import Trace

PLAIN: dict[str, Any] = {
    "sessions": 100, "burst_s": 0.0, "arrivals": Arrivals.EVEN, "connections": 0, "daemons": 1, "workers": 1,
    "processors": 1, "flows": 0, "network_ms": 0.0, "cpu_ms": 2.0,
}  # fmt: skip
"""One thread, one processor, no network: the simplest flood."""


def plain(**changes: Any) -> Flood:  # noqa: ANN401 - parameters
    """Return the simplest flood with some parameters changed."""
    return Flood(**{**PLAIN, **changes})


def simulated(mode: Mode = Mode.BLOCKING, **changes: Any) -> Trace:  # noqa: ANN401 - parameters
    """Simulate the simplest flood with some parameters changed."""
    return simulate(plain(**changes), mode)
