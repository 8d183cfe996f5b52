"""A count over time as the steps it is made of: exact, and sampled only where it is shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """Counts, each of which holds from its time to the next one; before the first there is nothing."""

    times: NDArray[np.float64]
    counts: NDArray[np.int64]

    @classmethod
    def of(
        cls, times: Sequence[float] | NDArray[np.float64], counts: Sequence[int] | NDArray[np.int64]
    ) -> Curve:
        """The changes of a count in their order; what lasts for no time at all is left out.

        >>> Curve.of([0, 1, 1, 3], [2, 1, 4, 0]).counts.tolist()
        [2, 4, 0]
        """
        at, count = np.asarray(times, np.float64), np.asarray(counts, np.int64)
        lasts = np.ones(at.size, np.bool_)
        lasts[:-1] = at[1:] > at[:-1]
        return cls(at[lasts], count[lasts])

    @property
    def peak(self) -> int:
        """The highest count."""
        return int(self.counts.max(initial=0))

    @property
    def peak_at_s(self) -> float:
        """When it is reached first."""
        return float(self.times[int(self.counts.argmax())]) if self.times.size else 0.0

    def at(self, moments: NDArray[np.float64]) -> NDArray[np.int64]:
        """The count at each of some moments."""
        return np.concatenate([[0], self.counts])[np.searchsorted(self.times, moments, "right")]

    def integral(self, until: float) -> float:
        """Count times time up to a moment.

        >>> Curve.of([0, 2], [3, 1]).integral(4)
        8.0
        """
        return float(self._lengths(until) @ self.counts)

    def time_at_least(self, level: float, until: float) -> float:
        """How long, up to a moment, the count is as high as this or higher."""
        return float(self._lengths(until)[self.counts >= level].sum())

    def _lengths(self, until: float) -> NDArray[np.float64]:
        ends = np.minimum(np.append(self.times[1:], [until] * bool(self.times.size)), until)
        lengths: NDArray[np.float64] = np.maximum(ends - self.times, 0.0)
        return lengths
