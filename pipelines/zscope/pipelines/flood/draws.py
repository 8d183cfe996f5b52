"""Everything random about a flood, drawn before it begins: both modes then meet the very same flood.

Times are whole nanoseconds from here to the end of the simulation: sums of them are exact, and what happens
at the same moment really does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from zscope.pipelines.flood.parameters import Arrivals, Network

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zscope.pipelines.flood.parameters import Flood

NS = 1_000_000_000
"""Nanoseconds in a second."""
_AT_A_TIME = 1024


@dataclass(frozen=True, slots=True)
class Draws:
    """When each session is asked for, how long each of its waits for the network is, and the work around."""

    arrived: list[int]
    waits: list[list[int]]
    pieces: list[int]
    """Processor time before, between and after the waits, the same in every session."""


def draw(flood: Flood) -> Draws:
    """Draw the arrivals and waits of a flood."""
    arrivals, network, _ = _generators(flood)
    if flood.arrivals is Arrivals.POISSON:
        # So many arrivals of a Poisson process in a given time lie anywhere in it.
        places = np.sort(arrivals.random(flood.sessions))
    else:
        places = np.arange(flood.sessions) / flood.sessions
    shape = (flood.sessions, flood.flows)
    mean = flood.network_ms / 1000
    waits = network.exponential(mean, shape) if flood.network is Network.EXPONENTIAL else np.full(shape, mean)
    # Cut between whole nanoseconds, so that the pieces are all of it.
    cuts = [round(flood.cpu_s * NS) * cut // (flood.flows + 1) for cut in range(flood.flows + 2)]
    return Draws(_ns(places * flood.burst_s), _ns(waits), [end - begin for begin, end in pairwise(cuts)])


def background_gaps(flood: Flood) -> Iterator[int]:
    """The times from one data transfer to the next, without end."""
    *_, background = _generators(flood)
    while True:
        yield from _ns(background.exponential(1 / flood.background_per_s, _AT_A_TIME))


def _ns(seconds: NDArray[np.float64]) -> Any:  # noqa: ANN401 - lists as deep as the array has dimensions
    return np.rint(seconds * NS).astype(np.int64).tolist()


def _generators(flood: Flood) -> list[np.random.Generator]:
    """One for each purpose, so that none changes what another draws."""
    return np.random.default_rng(flood.seed).spawn(3)
