"""The result of a simulation: times of all sessions, and counts over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from zscope.pipelines.flood.parameters import Flood, Mode


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A count over time as exact steps: each value is valid until the next; before the first it is zero."""

    times: NDArray[np.float64]
    counts: NDArray[np.int64]

    @classmethod
    def of(
        cls, times: Sequence[float] | NDArray[np.float64], counts: Sequence[int] | NDArray[np.int64]
    ) -> Curve:
        """Build a curve from the changes of a count in their order; values of no duration are omitted.

        >>> Curve.of([0, 1, 1, 3], [2, 1, 4, 0]).counts.tolist()
        [2, 4, 0]
        """
        at, count = np.asarray(times, np.float64), np.asarray(counts, np.int64)
        lasts = np.ones(at.size, np.bool_)
        lasts[:-1] = at[1:] > at[:-1]
        return cls(at[lasts], count[lasts])

    @property
    def peak(self) -> int:
        """Highest count."""
        return int(self.counts.max(initial=0))

    @property
    def peak_at_s(self) -> float:
        """Time at which the peak is first reached."""
        return float(self.times[int(self.counts.argmax())]) if self.times.size else 0.0

    def at(self, moments: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the count at some times."""
        return np.concatenate([[0], self.counts])[np.searchsorted(self.times, moments, "right")]

    def integral(self, until: float) -> float:
        """Return the integral of the count up to a time.

        >>> Curve.of([0, 2], [3, 1]).integral(4)
        8.0
        """
        return float(self._lengths(until) @ self.counts)

    def time_at_least(self, level: float, until: float) -> float:
        """Return for how long, up to a time, the count is at least `level`."""
        return float(self._lengths(until)[self.counts >= level].sum())

    def _lengths(self, until: float) -> NDArray[np.float64]:
        ends = np.minimum(np.append(self.times[1:], [until] * bool(self.times.size)), until)
        lengths: NDArray[np.float64] = np.maximum(ends - self.times, 0.0)
        return lengths


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """Times of each session by its number, and all curves; in seconds."""

    flood: Flood
    mode: Mode
    arrived: NDArray[np.float64]
    ended: NDArray[np.float64]
    waited: NDArray[np.float64]
    """Time that each session waited for a connection, a thread or a processor."""
    ecbs: Curve
    threads: Curve
    starters: Curve
    """Threads in use for starting sessions, of all daemons."""
    waiting: Curve
    """Sessions that wait for a connection, a thread or a processor."""
    transfers: int
    """Completed data transfers."""

    @property
    def elapsed_s(self) -> float:
        """Time from the start of the burst until the last session has started."""
        return float(self.ended.max())

    @property
    def completed(self) -> Curve:
        """Sessions that have started."""
        return Curve.of(np.sort(self.ended), np.arange(1, len(self.ended) + 1))
