"""What became of a flood that was played through."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from zscope.pipelines.flood.curves import Curve

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zscope.pipelines.flood.parameters import Flood, Mode


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """Times of each session by its number, and everything that was counted; in seconds."""

    flood: Flood
    mode: Mode
    arrived: NDArray[np.float64]
    ended: NDArray[np.float64]
    waited: NDArray[np.float64]
    """How long each session waited for a connection, a thread or a processor."""
    ecbs: Curve
    threads: Curve
    starters: Curve
    """Threads in use for starting sessions, of all daemons."""
    waiting: Curve
    """Sessions that wait for a connection, a thread or a processor."""
    transfers: int
    """Data transfers that ended."""

    @property
    def elapsed_s(self) -> float:
        """From the first moment of the burst until the last session has started."""
        return float(self.ended.max())

    @property
    def completed(self) -> Curve:
        """Sessions that have started."""
        return Curve.of(np.sort(self.ended), np.arange(1, len(self.ended) + 1))
