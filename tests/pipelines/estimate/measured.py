"""Intervals of worlds with known costs, as a system would measure them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from zscope.pipelines.estimate.intervals import SystemIntervals
from zscope.samples.cost_worlds import INTERVAL_S, WORLDS, CostIntervals, CostWorld, cost_intervals

if TYPE_CHECKING:
    from collections.abc import Iterator

MONDAY = np.datetime64("2026-03-02T00:00:00")


def measured(world: CostIntervals, row: int = 0, tls_share: float | None = None) -> SystemIntervals:
    """One replicate; with a share of other work in the address spaces with TLS, also their CPU time."""
    count = world.full.shape[1]
    spaces = None if tls_share is None else world.in_tls_spaces(tls_share)[row] * INTERVAL_S / 1e6
    return SystemIntervals(
        MONDAY + np.arange(count) * np.timedelta64(INTERVAL_S, "s"),
        np.full(count, float(INTERVAL_S)),
        world.cpu_us[row] * INTERVAL_S / 1e6,
        world.full[row] * INTERVAL_S,
        world.resumed[row] * INTERVAL_S,
        world.mb[row] * INTERVAL_S,
        spaces,
        world.busy[row],
    )


def changed(name: str, **changes: float) -> CostWorld:
    """A world with some other settings."""
    return replace(WORLDS[name], **changes)  # type: ignore[arg-type]


def replicates(
    world: CostWorld, count: int, *, seed: int = 1, tls_share: float | None = None
) -> Iterator[SystemIntervals]:
    """Some replicates of a world."""
    intervals = cost_intervals(world, count, seed)
    return (measured(intervals, row, tls_share) for row in range(count))


def selected(intervals: SystemIntervals, rows: np.ndarray[Any, Any]) -> SystemIntervals:
    """The intervals at some places, in that order."""
    optional = (intervals.tls_spaces_cpu_s, intervals.busy_share)
    spaces, busy = (None if values is None else values[rows] for values in optional)
    return SystemIntervals(
        intervals.start_local[rows],
        intervals.seconds[rows],
        intervals.cpu_s[rows],
        intervals.full[rows],
        intervals.resumed[rows],
        intervals.tls_mb[rows],
        spaces,
        busy,
    )
