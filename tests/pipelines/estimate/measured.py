"""Intervals of worlds with known costs, as a system would measure them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from zscope.pipelines.estimate.intervals import SystemIntervals
from zscope.samples.cost_truth import WORLDS, CostWorld, cost_intervals

if TYPE_CHECKING:
    from collections.abc import Iterator


def changed(name: str, **changes: float) -> CostWorld:
    """A world with some other parameters."""
    return replace(WORLDS[name], **changes)  # type: ignore[arg-type]


def replicates(
    world: CostWorld, count: int, *, seed: int = 1, tls_share: float | None = None
) -> Iterator[SystemIntervals]:
    """Some replicates of a world."""
    intervals = cost_intervals(world, count, seed)
    return (SystemIntervals(**intervals.measured(row, tls_share)) for row in range(count))
