"""What can be worked out about a flood without playing it through.

Rates are those of a long queue: every thread that may start sessions is always busy. Where several things are
short at the same time they are upper bounds. Arrivals and ends are treated as a fluid: so many per second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zscope.pipelines.flood.parameters import Mode

if TYPE_CHECKING:
    from zscope.pipelines.flood.parameters import Flood


def rate_per_s(flood: Flood, mode: Mode) -> float:
    """Session starts per second out of a long queue."""
    held = flood.cpu_s + (flood.waits_s if mode is Mode.BLOCKING else 0)
    limits = [flood.starters / held, flood.processors / flood.cpu_s]
    if flood.connections:
        limits.append(flood.connections / (flood.client_ms / 1000 + flood.waits_s + flood.cpu_s))
    return min(limits)


def gain_pct(flood: Flood) -> float:
    """How many more session starts per second, in percent, out of a long queue."""
    return 100 * (rate_per_s(flood, Mode.NON_BLOCKING) / rate_per_s(flood, Mode.BLOCKING) - 1)


def least_elapsed_s(flood: Flood, mode: Mode) -> float:
    """From the begin of the burst to the last start, at least, where nothing is random."""
    last = flood.burst_s * (1 - 1 / flood.sessions)
    one = flood.client_ms / 1000 + flood.waits_s + flood.cpu_s
    return max(flood.sessions / rate_per_s(flood, mode), last + one)


def fluid_peak(flood: Flood, mode: Mode) -> float:
    """Most sessions that have arrived and have not started, of a steady burst."""
    left = max(0.0, flood.sessions - rate_per_s(flood, mode) * flood.burst_s)
    return min(left, flood.connections or left)


def fluid_duration_s(flood: Flood, mode: Mode) -> float:
    """How long there are as many of them as the threshold says."""
    rate, level = rate_per_s(flood, mode), flood.threshold * fluid_peak(flood, mode)
    if not level:
        return 0.0
    growing = flood.sessions / flood.burst_s - rate if flood.burst_s else None
    rises = level / growing if growing else 0.0
    return (flood.sessions - level) / rate - rises


def mean_wait_md1_s(rate: float, service_s: float) -> float:
    """Mean wait for one server with constant service and Poisson arrivals (Pollaczek and Khinchine).

    >>> mean_wait_md1_s(0.5, 1.0)
    0.5
    """
    busy = rate * service_s
    return busy * service_s / (2 * (1 - busy))
