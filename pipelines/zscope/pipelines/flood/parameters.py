"""The parameters of a modelled flood, with their units and limits."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from enum import StrEnum

from zscope.schemas.errors import Error


class FloodError(Error, ValueError):
    """Parameters that cannot be simulated; the message contains which and why."""


class Mode(StrEnum):
    """State of a worker thread while a handshake waits for the network."""

    BLOCKING = "blocking"
    """Held: before PJ48040."""
    NON_BLOCKING = "non-blocking"
    """Free: with PJ48040."""


class Arrivals(StrEnum):
    """Distribution of the requests of a burst."""

    EVEN = "even"
    POISSON = "poisson"


class Network(StrEnum):
    """Distribution of the response times of the partner."""

    CONSTANT = "constant"
    EXPONENTIAL = "exponential"


class Order(StrEnum):
    """Which handshake a free thread continues with, in non-blocking mode."""

    BEGUN = "begun"
    """Handshakes that have begun, before new ones."""
    ARRIVAL = "arrival"
    """The handshake that waits longest."""


MOST_PIECES = 1_000_000
"""Maximum number of pieces of processor work in all sessions; more would take minutes."""
MOST_SAMPLES = 10_000
USUAL_SAMPLES = 200
"""Default number of steps of a sampled curve."""
MOST_BUSY = 0.9
"""Maximum share of threads and processors for data transfer; with more, a flood may never end."""


@dataclass(frozen=True, slots=True)
class FloodParameter:
    """A numeric parameter with its limits."""

    name: str
    unit: str
    low: float
    high: float
    meaning: str


NUMBERS = (
    FloodParameter("sessions", "sessions", 1, 200_000, "TLS session requests in the flood."),
    FloodParameter("burst_s", "s", 0, 3600, "Time over which the requests arrive; 0: all at once."),
    FloodParameter(
        "connections", "connections", 0, 200_000,
        "Maximum number of open connections; further requests wait without an ECB; 0: no limit.",
    ),
    FloodParameter("client_ms", "ms", 0, 60_000,
                   "Time between a connection and the first data of its client."),
    FloodParameter("daemons", "daemons", 1, 64, "Shared SSL daemons; connections are assigned in turn."),
    FloodParameter("workers", "threads", 1, 1000, "Worker threads of each daemon."),
    FloodParameter("share", "", 0.01, 1, "Maximum share of the worker threads that may start sessions."),
    FloodParameter("processors", "I-streams", 1, 256, "I-streams that all threads run on."),
    FloodParameter("flows", "flows", 0, 20, "Number of times that a handshake waits for its partner."),
    FloodParameter("network_ms", "ms", 0, 10_000, "Length of each of these waits."),
    FloodParameter("cpu_ms", "ms", 0.001, 10_000,
                   "Processor time of a handshake, in equal pieces around its waits."),
    FloodParameter("background_per_s", "1/s", 0, 100_000,
                   "Data transfers, which also need a thread and a processor."),
    FloodParameter("background_ms", "ms", 0.001, 10_000, "Processor time of each of these."),
    FloodParameter("threshold", "", 0.001, 1,
                   "Share of the peak above which the use of ECBs counts as high."),
    FloodParameter("seed", "", 0, 2**32 - 1, "The same seed gives the same random arrivals and waits."),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Flood:
    """The parameters of one flood; `NUMBERS` has the meanings of the numeric ones.

    The defaults are close to those that reproduce the published number of ECBs.
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
        """Raise FloodError for values outside the limits."""
        whole = {field.name for field in fields(self) if field.type == "int"}
        for number in NUMBERS:
            _check(number, getattr(self, number.name), whole=number.name in whole)
        if self.sessions * (self.flows + 1) > MOST_PIECES:
            raise FloodError(
                f"{self.sessions:,} sessions of {self.flows} flows are too many for the simulation; "
                f"sessions times (flows + 1) may be {MOST_PIECES:,} at most"
            )
        busy = self.background_per_s * self.background_ms / 1000
        room = MOST_BUSY * min(self.processors, self.threads)
        if busy > room:
            raise FloodError(
                f"data transfers keep {busy:g} of the threads and processors busy, which "
                "leaves too little for sessions; background_per_s times background_ms may be "
                f"{room * 1000:g} here"
            )

    @property
    def threads(self) -> int:
        """Worker threads of all daemons."""
        return self.daemons * self.workers

    @property
    def starters_of_daemon(self) -> int:
        """Threads of a daemon that may start sessions at the same time: at least one."""
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
        """Total time that a handshake waits for the network, on average."""
        return self.flows * self.network_ms / 1000


def _check(number: FloodParameter, value: object, *, whole: bool) -> None:
    wanted = "whole number" if whole else "number"
    if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
        raise FloodError(f"{number.name}: {value!r} is not a {wanted}")
    # NaN is outside of every range.
    if not number.low <= value <= number.high:
        unit = f" {number.unit}" if number.unit else ""
        raise FloodError(f"{number.name}: {value:g} is not between {number.low:g} and {number.high:g}{unit}")
