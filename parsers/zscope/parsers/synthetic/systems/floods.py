"""Samples of the floods on z/TPF: a climb, a level with some noise, and a fall, as charts of them show."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from zscope.parsers.synthetic.systems.plan import declared

if TYPE_CHECKING:
    from zscope.parsers.synthetic.systems.plan import Flood

_QUIET_STEPS = 4
"""Before the flood, and behind it."""
_NOISE = 0.02


def samples(flood: Flood, seed: int) -> list[dict[str, Any]]:
    """The rows of one series; the run begins with the first step of the climb."""
    high = round(flood.high_s / flood.step_s)
    # Half of the climb and half of the fall are above the threshold as well, nearly.
    noise = np.random.default_rng([seed, flood.sessions, flood.peak_ecbs]).uniform(-_NOISE, 0, high)
    level = flood.idle_ecbs + (flood.peak_ecbs - flood.idle_ecbs) * (1 + noise)
    level[high // 2] = flood.peak_ecbs
    quiet = [flood.idle_ecbs] * _QUIET_STEPS
    ecbs = [*quiet, *(round(value) for value in level.tolist()), *quiet]
    done = [round(flood.sessions * step / high) for step in range(1, high + 1)]
    starts = [*[0] * _QUIET_STEPS, *done, *[flood.sessions] * _QUIET_STEPS]
    starting = [*[0] * _QUIET_STEPS, *[flood.threads_starting] * high, *[0] * _QUIET_STEPS]
    first = flood.run.begin - timedelta(seconds=_QUIET_STEPS * flood.step_s)
    return [
        {
            "run": flood.run.name,
            "system": flood.run.system,
            "sample_utc": first + timedelta(seconds=number * flood.step_s),
            "ecbs_in_use": in_use,
            "tls_starts_completed": completed,
            "worker_threads": declared()["ztpf"]["worker_threads"],
            "threads_starting": threads,
            "sessions_requested": flood.sessions,
        }
        for number, (in_use, completed, threads) in enumerate(zip(ecbs, starts, starting, strict=True))
    ]
