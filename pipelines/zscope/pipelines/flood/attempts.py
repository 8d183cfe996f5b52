"""The published tests as floods: what is known of each, and which parameters would lead to its figures.

The closed forms turn the figures that are aimed at into parameters. What nobody published is assumed, and
told as an assumption.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from zscope.pipelines.flood.parameters import Arrivals, Flood
from zscope.pipelines.flood.published import GAIN, HIGH_BEFORE, HIGH_WITH, PEAK_BEFORE, PEAK_WITH

Aims = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Attempt:
    """A published test, or two of them taken for one."""

    name: str
    words: str
    flood: Flood
    """With what is published or assumed; parameters that are looked for have any value."""
    published: frozenset[str]
    """Parameters that are told of this very test."""
    found: frozenset[str]
    """Parameters that are looked for."""
    figures: tuple[str, ...]
    """The published figures that it is held against."""
    aims: tuple[str, ...]
    """Those of them that the parameters are to lead to."""
    solve: Callable[[Flood, Aims], Flood]
    """The parameters that lead to these figures by the closed forms."""
    tried_sessions: int
    """Sessions with which it is played through where many parameters are tried."""

    def basis(self, parameter: str) -> str:
        """Where the value of a parameter is from."""
        if parameter in self.found:
            return "found"
        return "published" if parameter in self.published else "assumed"


def throughput(flood: Flood, aims: Aims) -> Flood:
    """A queue that never ends: what the waits add to the time that a thread is held is the gain."""
    rate_with = min(flood.starters, flood.processors) / flood.cpu_s
    return _with_rates(flood, rate_with / (1 + aims[GAIN] / 100), rate_with, cpu_ms=flood.cpu_ms)


def ecbs(flood: Flood, aims: Aims) -> Flood:
    """A limit of connections is the peak before; with PJ48040 sessions start nearly as fast as they come."""
    burst, rate_with = _steady_burst(flood, aims[PEAK_WITH], aims[HIGH_WITH])
    connections = round(aims[PEAK_BEFORE])
    level, arriving, high = flood.threshold * connections, flood.sessions / burst, aims[HIGH_BEFORE]
    # high = (sessions - level) / rate - level / (arriving - rate), solved for the rate.
    middle = high * arriving + flood.sessions
    root = math.sqrt(middle**2 - 4 * high * (flood.sessions - level) * arriving)
    rate_before = (middle - root) / (2 * high)
    return _with_rates(flood, rate_before, rate_with, burst_s=burst, connections=connections)


def both(flood: Flood, aims: Aims) -> Flood:
    """Without a limit: the figures before tell how long requests arrive, the peaks the rates."""
    burst, rate_before = _steady_burst(flood, aims[PEAK_BEFORE], aims[HIGH_BEFORE])
    return _with_rates(flood, rate_before, (flood.sessions - aims[PEAK_WITH]) / burst, burst_s=burst)


def _steady_burst(flood: Flood, peak: float, high: float) -> tuple[float, float]:
    """How long requests arrive, and how fast sessions start, for a peak of ECBs that are high for so long."""
    left = (flood.sessions - flood.threshold * peak) / (flood.sessions - peak)
    burst = high / (left - flood.threshold)
    return burst, (flood.sessions - peak) / burst


def _with_rates(flood: Flood, before: float, with_it: float, **more: Any) -> Flood:  # noqa: ANN401 - parameters
    cpu_s = min(flood.starters, flood.processors) / with_it
    waits_s = max(0.0, flood.starters / before - cpu_s)
    return replace(flood, **{"cpu_ms": cpu_s * 1000, "network_ms": waits_s * 1000 / flood.flows, **more})


_SYSTEM = Flood(daemons=1, workers=4, processors=4, share=0.5, flows=2, connections=0, arrivals=Arrivals.EVEN)
_OF_SYSTEM = frozenset({"daemons", "workers", "processors", "share"})
_OF_ECB_TEST = frozenset({"sessions", "share"})
_ALL = (GAIN, PEAK_BEFORE, HIGH_BEFORE, PEAK_WITH, HIGH_WITH)

ATTEMPTS = (
    Attempt(
        "throughput test",
        "Tens of thousands of requests at once: one daemon of 4 threads on 4 I-streams.",
        replace(_SYSTEM, sessions=20_000, burst_s=0.0, cpu_ms=1.0),
        _OF_SYSTEM,
        frozenset({"network_ms"}),
        (GAIN,),
        (GAIN,),
        throughput,
        1000,
    ),
    Attempt(
        "ECB test",
        "8000 requests, and a limit of connections that are open at a time.",
        replace(_SYSTEM, sessions=8000),
        _OF_ECB_TEST,
        frozenset({"burst_s", "connections", "network_ms", "cpu_ms"}),
        _ALL,
        (PEAK_BEFORE, HIGH_BEFORE, PEAK_WITH, HIGH_WITH),
        ecbs,
        8000,
    ),
    Attempt(
        "both tests",
        "8000 requests without a limit of connections, for the figures of both tests.",
        replace(_SYSTEM, sessions=8000),
        _OF_ECB_TEST,
        frozenset({"burst_s", "network_ms", "cpu_ms"}),
        _ALL,
        (PEAK_BEFORE, HIGH_BEFORE, PEAK_WITH),
        both,
        8000,
    ),
)
"""The two measurements, and both taken for one."""
