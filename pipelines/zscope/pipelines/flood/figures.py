"""The figures of a simulated flood, and the comparison of both modes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from zscope.pipelines.flood.parameters import Mode
from zscope.pipelines.flood.simulate import simulate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zscope.pipelines.flood.parameters import Flood
    from zscope.pipelines.flood.trace import Trace

_FIRST, _LAST = 0.05, 0.95
"""Shares of the completions between which the throughput is computed, to exclude start and end."""


@dataclass(frozen=True, slots=True)
class FigureDefinition:
    """Name, unit and meaning of a figure."""

    name: str
    unit: str
    meaning: str


FIGURES = (
    FigureDefinition("throughput_per_s", "1/s", "Session starts per second, between 5 % and 95 % of them."),
    FigureDefinition(
        "elapsed_s", "s", "Time from the start of the burst until the last session has started."
    ),
    FigureDefinition("peak_ecbs", "ECBs", "Maximum number of ECBs in use for starting sessions."),
    FigureDefinition("peak_at_s", "s", "Time at which the peak is first reached."),
    FigureDefinition(
        "duration_s", "s", "Time in which the ECBs in use are at least the threshold share of the peak."
    ),
    FigureDefinition("ecb_seconds", "ECB*s", "Integral of the ECBs in use over time."),
    FigureDefinition("ecb_seconds_per_session", "ECB*s", "The same divided by the number of sessions."),
    FigureDefinition(
        "mean_wait_ms", "ms", "Mean time that a session waits for a connection, a thread or a processor."
    ),
    FigureDefinition("p95_wait_ms", "ms", "95th percentile of this time."),
    FigureDefinition("thread_busy_pct", "%", "Share of the time in which worker threads are in use or held."),
    FigureDefinition("starter_busy_pct", "%", "The same for the threads that may start sessions."),
    FigureDefinition("processor_busy_pct", "%", "Share of the time in which I-streams work."),
)


@dataclass(frozen=True, slots=True)
class FloodFigures:
    """The figures of one mode; `FIGURES` has their meanings."""

    throughput_per_s: float | None
    """None if all sessions start at the same time."""
    elapsed_s: float
    peak_ecbs: int
    peak_at_s: float
    duration_s: float
    ecb_seconds: float
    ecb_seconds_per_session: float
    mean_wait_ms: float
    p95_wait_ms: float
    thread_busy_pct: float
    starter_busy_pct: float
    processor_busy_pct: float

    @classmethod
    def of(cls, trace: Trace) -> FloodFigures:
        """Compute the figures of a simulated flood."""
        flood, elapsed, ecbs = trace.flood, trace.elapsed_s, trace.ecbs
        ecb_seconds = ecbs.integral(elapsed)
        worked_s = flood.sessions * flood.cpu_s + trace.transfers * flood.background_ms / 1000
        return cls(
            throughput_per_s=_throughput(trace),
            elapsed_s=elapsed,
            peak_ecbs=ecbs.peak,
            peak_at_s=ecbs.peak_at_s,
            duration_s=ecbs.time_at_least(flood.threshold * ecbs.peak, elapsed),
            ecb_seconds=ecb_seconds,
            ecb_seconds_per_session=ecb_seconds / flood.sessions,
            mean_wait_ms=float(trace.waited.mean()) * 1000,
            p95_wait_ms=float(np.quantile(trace.waited, 0.95, method="inverted_cdf")) * 1000,
            thread_busy_pct=100 * trace.threads.integral(elapsed) / (flood.threads * elapsed),
            starter_busy_pct=100 * trace.starters.integral(elapsed) / (flood.starters * elapsed),
            processor_busy_pct=100 * worked_s / (flood.processors * elapsed),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """The same flood before and with PJ48040, or in one mode only."""

    traces: dict[Mode, Trace]
    figures: dict[Mode, FloodFigures]

    def value(self, name: str, mode: Mode) -> float | None:
        """Return a figure of one mode; None if the mode was not simulated."""
        value: float | None = getattr(self.figures[mode], name) if mode in self.figures else None
        return value

    def change_pct(self, name: str) -> float | None:
        """Return the change of a figure from before PJ48040 to with it."""
        before, after = (self.value(name, mode) for mode in Mode)
        if before is None or after is None or not before:
            return None
        return 100 * (after / before - 1)


def compare(flood: Flood, modes: Iterable[Mode] = Mode) -> Comparison:
    """Simulate a flood in both modes, or in one."""
    return compared_traces({mode: simulate(flood, mode) for mode in modes})


def compared_traces(traces: dict[Mode, Trace]) -> Comparison:
    """Compute the figures of simulations."""
    return Comparison(traces, {mode: FloodFigures.of(trace) for mode, trace in traces.items()})


def _throughput(trace: Trace) -> float | None:
    ended = np.sort(trace.ended)
    first, last = (math.ceil(share * len(ended)) for share in (_FIRST, _LAST))
    took = float(ended[last - 1] - ended[first - 1])
    return (last - first) / took if took else None
