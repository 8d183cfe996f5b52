"""Results about a flood that follow from closed forms, without simulation.

Rates are those of a long queue: every thread that may start sessions is always busy. If several resources are
short at the same time, they are upper bounds. Arrivals and completions are treated as a fluid with a rate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zscope.pipelines.flood.parameters import Mode

if TYPE_CHECKING:
    from zscope.pipelines.flood.parameters import Flood


def rate_per_s(flood: Flood, mode: Mode) -> float:
    """Return the session starts per second from a long queue."""
    held = flood.cpu_s + (flood.waits_s if mode is Mode.BLOCKING else 0)
    limits = [flood.starters / held, flood.processors / flood.cpu_s]
    if flood.connections:
        limits.append(flood.connections / (flood.client_ms / 1000 + flood.waits_s + flood.cpu_s))
    return min(limits)


def gain_pct(flood: Flood) -> float:
    """Return the increase of session starts per second from a long queue, in percent."""
    return 100 * (rate_per_s(flood, Mode.NON_BLOCKING) / rate_per_s(flood, Mode.BLOCKING) - 1)


def least_elapsed_s(flood: Flood, mode: Mode) -> float:
    """Return the minimum time from the start of the burst to the last session start, without randomness."""
    last = flood.burst_s * (1 - 1 / flood.sessions)
    one = flood.client_ms / 1000 + flood.waits_s + flood.cpu_s
    return max(flood.sessions / rate_per_s(flood, mode), last + one)


def fluid_peak(flood: Flood, mode: Mode) -> float:
    """Return the maximum number of sessions that have arrived and not started, for a steady burst."""
    left = max(0.0, flood.sessions - rate_per_s(flood, mode) * flood.burst_s)
    return min(left, flood.connections or left)


def fluid_duration_s(flood: Flood, mode: Mode) -> float:
    """Return how long this number is at least the threshold."""
    rate, level = rate_per_s(flood, mode), flood.threshold * fluid_peak(flood, mode)
    if not level:
        return 0.0
    growing = flood.sessions / flood.burst_s - rate if flood.burst_s else None
    rises = level / growing if growing else 0.0
    return (flood.sessions - level) / rate - rises


def mean_wait_md1_s(rate: float, service_s: float) -> float:
    """Return the mean wait for one server with constant service and Poisson arrivals (Pollaczek-Khinchine).

    >>> mean_wait_md1_s(0.5, 1.0)
    0.5
    """
    busy = rate * service_s
    return busy * service_s / (2 * (1 - busy))
