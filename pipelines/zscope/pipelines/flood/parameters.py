"""What a modelled flood is made of: its parameters with their units and bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from enum import StrEnum


class FloodError(ValueError):
    """The parameters describe no flood that can be played through; the message says which and why."""


class Mode(StrEnum):
    """What a worker thread does while a handshake waits for the network."""

    BLOCKING = "blocking"
    """It is held: before PJ48040."""
    NON_BLOCKING = "non-blocking"
    """It is free: with PJ48040."""


class Arrivals(StrEnum):
    """How the requests of a burst are spread over it."""

    EVEN = "even"
    POISSON = "poisson"


class Network(StrEnum):
    """How long the partner takes to answer."""

    CONSTANT = "constant"
    EXPONENTIAL = "exponential"


class Order(StrEnum):
    """Which handshake a free thread goes on with, where threads do not wait themselves."""

    BEGUN = "begun"
    """One that has begun, before any new one."""
    ARRIVAL = "arrival"
    """The one that waits longest."""


MOST_PIECES = 1_000_000
"""Pieces of processor work in all sessions together: more of them take minutes."""
MOST_SAMPLES = 10_000
USUAL_SAMPLES = 200
"""Steps that a curve is sampled in."""
MOST_BUSY = 0.9
"""Share of threads and of processors that data transfer may take: with more of it a flood may never end."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number that can be set, and between which bounds."""

    name: str
    unit: str
    low: float
    high: float
    meaning: str


NUMBERS = (
    Parameter("sessions", "sessions", 1, 200_000, "TLS session requests in the flood."),
    Parameter("burst_s", "s", 0, 3600, "Time over which the requests arrive; 0: all at once."),
    Parameter(
        "connections", "connections", 0, 200_000,
        "Most connections open at a time: what comes later waits outside and has no ECB; 0: no limit.",
    ),
    Parameter("client_ms", "ms", 0, 60_000, "Time from a connection to the first data of its client."),
    Parameter("daemons", "daemons", 1, 64, "Shared SSL daemons; connections are dealt out in turn."),
    Parameter("workers", "threads", 1, 1000, "Worker threads of each daemon."),
    Parameter("share", "", 0.01, 1, "Share of the worker threads that may start sessions, at most."),
    Parameter("processors", "I-streams", 1, 256, "I-streams that all threads run on."),
    Parameter("flows", "flows", 0, 20, "How often a handshake waits for its partner."),
    Parameter("network_ms", "ms", 0, 10_000, "How long each of these waits is."),
    Parameter("cpu_ms", "ms", 0.001, 10_000, "Processor time of a handshake: equal pieces around its waits."),
    Parameter("background_per_s", "1/s", 0, 100_000, "Data transfers that need a thread and processor too."),
    Parameter("background_ms", "ms", 0.001, 10_000, "Processor time of each of these."),
    Parameter("threshold", "", 0.001, 1, "Share of the peak from which on the use of ECBs counts as high."),
    Parameter("seed", "", 0, 2**32 - 1, "The same seed gives the same random arrivals and waits."),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Flood:
    """The parameters of one flood; `NUMBERS` says what each number means.

    By themselves they are near those that reproduce the published use of ECBs.
    """

    sessions: int = 8000
    burst_s: float = 2.0
    arrivals: Arrivals = Arrivals.POISSON
    connections: int = 2500
    client_ms: float = 0.0
    daemons: int = 1
    workers: int = 4
    share: float = 0.5
    processors: int = 4
    flows: int = 2
    network_ms: float = 2.3
    network: Network = Network.CONSTANT
    cpu_ms: float = 0.5
    ecb_in_queue: bool = True
    """Whether, with PJ48040, a session that waits for a thread has an ECB."""
    order: Order = Order.BEGUN
    background_per_s: float = 0.0
    background_ms: float = 0.1
    threshold: float = 0.1
    seed: int = 1

    def __post_init__(self) -> None:
        """Refuse what is outside the bounds."""
        whole = {field.name for field in fields(self) if field.type == "int"}
        for number in NUMBERS:
            _check(number, getattr(self, number.name), whole=number.name in whole)
        if self.sessions * (self.flows + 1) > MOST_PIECES:
            raise FloodError(
                f"{self.sessions:,} sessions of {self.flows} flows are more than can be played through; "
                f"sessions times (flows + 1) may be {MOST_PIECES:,}"
            )
        busy = self.background_per_s * self.background_ms / 1000
        room = MOST_BUSY * min(self.processors, self.threads)
        if busy > room:
            raise FloodError(
                f"data transfer keeps {busy:g} of the threads and processors busy, which "
                "leaves too little for sessions; background_per_s times background_ms may be "
                f"{room * 1000:g} here"
            )

    @property
    def threads(self) -> int:
        """Worker threads of all daemons."""
        return self.daemons * self.workers

    @property
    def starters_of_daemon(self) -> int:
        """Threads of a daemon that may start sessions at the same time: one at least."""
        # A share such as 0.29 of 100 is 28.999... in binary.
        return max(1, math.floor(self.workers * self.share + 1e-9))

    @property
    def starters(self) -> int:
        """Threads of all daemons that may start sessions at the same time."""
        return self.daemons * self.starters_of_daemon

    @property
    def cpu_s(self) -> float:
        """Processor time of a handshake."""
        return self.cpu_ms / 1000

    @property
    def waits_s(self) -> float:
        """All waits of a handshake for the network together, on the average."""
        return self.flows * self.network_ms / 1000


def _check(number: Parameter, value: object, *, whole: bool) -> None:
    wanted = "whole number" if whole else "number"
    if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
        raise FloodError(f"{number.name}: {value!r} is no {wanted}")
    # Not a number is in no range.
    if not number.low <= value <= number.high:
        unit = f" {number.unit}" if number.unit else ""
        raise FloodError(f"{number.name}: {value:g} is not between {number.low:g} and {number.high:g}{unit}")
