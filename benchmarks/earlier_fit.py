"""An ordinary regression with intervals from a bootstrap of hours, for comparison with the estimate."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

Numbers = np.ndarray[Any, np.dtype[np.float64]]
REPLICATES = 400
_ENOUGH_HOURS = 48
_COMPARED = np.array([[1.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [1, -1, 0, 0]])


def earlier_intervals(
    full: Numbers, resumed: Numbers, mb: Numbers, cpu_us: Numbers, rng: np.random.Generator
) -> tuple[Numbers, Numbers, Numbers]:
    """Return the costs of full, resumed, a megabyte, and full less resumed, and the ends of their intervals.

    The arguments are rates per second in intervals of 15 minutes without a gap.
    """
    columns = np.stack([full, resumed, mb, np.ones(len(full))], axis=1)
    scale = columns.std(axis=0) + columns.mean(axis=0) * (columns.std(axis=0) == 0)
    columns = columns / scale
    hours = -(-len(full) // 4)
    block = np.arange(len(full)) // 4 if hours >= _ENOUGH_HOURS else np.arange(len(full))
    starts = np.flatnonzero(np.diff(block, prepend=-1))
    squares = np.add.reduceat(columns[:, :, None] * columns[:, None, :], starts).reshape(len(starts), 16)
    products = np.add.reduceat(columns * cpu_us[:, None], starts)
    weights = rng.exponential(size=(REPLICATES, len(starts)))
    bootstrap = np.linalg.solve((weights @ squares).reshape(-1, 4, 4), (weights @ products)[..., None])[
        ..., 0
    ]
    ordinary = np.linalg.solve(squares.sum(axis=0).reshape(4, 4), products.sum(axis=0))
    best = min(_non_negative(columns, cpu_us), key=lambda fit: fit[0])[1]

    costs = _COMPARED / scale
    freedom = max(len(starts) - 4, 1)
    student = 1.95996 + 2.3723 / freedom + 2.8225 / freedom**2
    margin = student * len(starts) / freedom * (bootstrap @ costs.T).std(axis=0, ddof=1)
    us, middle = costs @ best, costs @ ordinary
    low = np.where(middle - margin > us, us, middle - margin)
    low[:3] = np.maximum(low[:3], 0)
    return us, low, np.maximum(middle + margin, us)


def _non_negative(columns: Numbers, cpu_us: Numbers) -> Iterator[tuple[float, Numbers]]:
    """Yield squared error and coefficients of fits on subsets of the columns, if none is negative."""
    for count in range(5):
        for chosen in combinations(range(4), count):
            coefficients = np.zeros(4)
            coefficients[list(chosen)] = np.linalg.lstsq(columns[:, chosen], cpu_us, rcond=None)[0]
            if (coefficients >= 0).all():
                yield float(((cpu_us - columns @ coefficients) ** 2).sum()), coefficients
