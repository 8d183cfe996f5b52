"""Published results about floods of TLS sessions on z/TPF, and the published tests as floods.

Closed forms turn the published figures into parameters. What is not published is assumed, and marked so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from zscope.pipelines.flood.parameters import Arrivals, Flood, Mode
from zscope.schemas.published import published_tables

if TYPE_CHECKING:
    from collections.abc import Callable

    from zscope.pipelines.flood.figures import Comparison


GAIN, PEAK_BEFORE, PEAK_WITH, HIGH_BEFORE, HIGH_WITH = (
    "throughput_gain", "peak_ecbs_before", "peak_ecbs_with", "duration_before", "duration_with",
)  # fmt: skip
_FROM = {
    GAIN: ("ztpf-sharedssl-throughput", "value", "throughput_per_s", None),
    PEAK_BEFORE: ("ztpf-inetd-peak-ecbs", "baseline_value", "peak_ecbs", Mode.BLOCKING),
    PEAK_WITH: ("ztpf-inetd-peak-ecbs", "candidate_value", "peak_ecbs", Mode.NON_BLOCKING),
    HIGH_BEFORE: ("ztpf-inetd-duration", "baseline_value", "duration_s", Mode.BLOCKING),
    HIGH_WITH: ("ztpf-inetd-duration", "candidate_value", "duration_s", Mode.NON_BLOCKING),
}
"""Id of the published result, its column, and the figure of the model with its mode; None for the change
between modes.
"""
_UNITS = {"pct": "%"}


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """A published figure."""

    name: str
    result: str
    """Id of the published result."""
    value: float
    unit: str
    as_printed: str


@cache
def published_figures() -> Mapping[str, PublishedFigure]:
    """Return the published figures that a model can be compared with.

    >>> [figure.value for figure in published_figures().values()]
    [46.0, 2500.0, 100.0, 20.0, 2.0]
    """
    rows = {row["id"]: row for row in published_tables()["reference_result"].to_pylist()}
    return {
        name: PublishedFigure(
            name, result, rows[result][column], _UNITS.get(rows[result]["unit"], rows[result]["unit"]),
            rows[result]["as_printed"],
        )
        for name, (result, column, _, _) in _FROM.items()
    }  # fmt: skip


def modelled_figures(comparison: Comparison) -> Mapping[str, float | None]:
    """Return the figures of a modelled flood that correspond to the published ones."""
    return {
        name: comparison.change_pct(figure) if mode is None else comparison.value(figure, mode)
        for name, (_, _, figure, mode) in _FROM.items()
    }


Aims = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class PublishedTest:
    """A published test, or two of them treated as one."""

    name: str
    description: str
    flood: Flood
    """Published or assumed parameters; those to be determined have any value."""
    published: frozenset[str]
    """Parameters that are published for this test."""
    determined: frozenset[str]
    """Parameters to be determined."""
    figures: tuple[str, ...]
    """Published figures that the result is compared with."""
    aims: tuple[str, ...]
    """Those of the figures that the parameters should reproduce."""
    solve: Callable[[Flood, Aims], Flood]
    """Returns the parameters that lead to these figures by the closed forms."""
    tried_sessions: int
    """Number of sessions for the sensitivity analysis."""

    def basis(self, parameter: str) -> str:
        """Return the origin of the value of a parameter."""
        if parameter in self.determined:
            return "fitted"
        return "published" if parameter in self.published else "assumed"


def throughput(flood: Flood, aims: Aims) -> Flood:
    """Solve for an endless queue: the waits, which extend the time that a thread is held, are the gain."""
    rate_with = min(flood.starters, flood.processors) / flood.cpu_s
    return _with_rates(flood, rate_with / (1 + aims[GAIN] / 100), rate_with, cpu_ms=flood.cpu_ms)


def ecbs(flood: Flood, aims: Aims) -> Flood:
    """Solve with a limit of connections, which is the peak before; with PJ48040 sessions start nearly as they
    arrive.
    """
    burst, rate_with = _steady_burst(flood, aims[PEAK_WITH], aims[HIGH_WITH])
    connections = round(aims[PEAK_BEFORE])
    level, arriving, high = flood.threshold * connections, flood.sessions / burst, aims[HIGH_BEFORE]
    # high = (sessions - level) / rate - level / (arriving - rate), solved for the rate.
    middle = high * arriving + flood.sessions
    root = math.sqrt(middle**2 - 4 * high * (flood.sessions - level) * arriving)
    rate_before = (middle - root) / (2 * high)
    return _with_rates(flood, rate_before, rate_with, burst_s=burst, connections=connections)


def both(flood: Flood, aims: Aims) -> Flood:
    """Solve without a limit: the figures before give the length of the burst, the peaks the rates."""
    burst, rate_before = _steady_burst(flood, aims[PEAK_BEFORE], aims[HIGH_BEFORE])
    return _with_rates(flood, rate_before, (flood.sessions - aims[PEAK_WITH]) / burst, burst_s=burst)


def _steady_burst(flood: Flood, peak: float, high: float) -> tuple[float, float]:
    """Return the length of the burst and the rate of starts for a peak of ECBs and the time it lasts."""
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

PUBLISHED_TESTS = (
    PublishedTest(
        "throughput test",
        "Tens of thousands of requests at once; one daemon with 4 threads on 4 I-streams.",
        replace(_SYSTEM, sessions=20_000, burst_s=0.0, cpu_ms=1.0),
        _OF_SYSTEM,
        frozenset({"network_ms"}),
        (GAIN,),
        (GAIN,),
        throughput,
        1000,
    ),
    PublishedTest(
        "ECB test",
        "8000 requests, and a limit of open connections.",
        replace(_SYSTEM, sessions=8000),
        _OF_ECB_TEST,
        frozenset({"burst_s", "connections", "network_ms", "cpu_ms"}),
        _ALL,
        (PEAK_BEFORE, HIGH_BEFORE, PEAK_WITH, HIGH_WITH),
        ecbs,
        8000,
    ),
    PublishedTest(
        "both tests",
        "8000 requests without a limit of open connections, for the figures of both tests.",
        replace(_SYSTEM, sessions=8000),
        _OF_ECB_TEST,
        frozenset({"burst_s", "network_ms", "cpu_ms"}),
        _ALL,
        (PEAK_BEFORE, HIGH_BEFORE, PEAK_WITH),
        both,
        8000,
    ),
)
"""The two published tests, and both treated as one."""
