"""Simulate a flood: every session is a process that competes for threads and processors.

Every change of a count is recorded, so nothing is sampled. Times are whole nanoseconds during the simulation:
sums of them are exact, and simultaneous events are simultaneous. Results are in seconds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from itertools import cycle, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from simpy import Environment, Event

from zscope.pipelines.flood.closed_form import least_elapsed_s
from zscope.pipelines.flood.parameters import Arrivals, Flood, FloodError, Mode, Network, Order
from zscope.pipelines.flood.trace import Curve, Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray


class CountLog:
    """Records how a count changes over time."""

    __slots__ = ("count", "counts", "times")

    def __init__(self) -> None:
        self.count = 0
        self.times: list[float] = []
        self.counts: list[int] = []

    def change(self, now: float, by: int) -> None:
        """Record a change of the count."""
        self.count += by
        self.times.append(now)
        self.counts.append(self.count)


class Pool:
    """A limited number of units, served in the order of requests."""

    __slots__ = ("_env", "_free", "_waiting")

    def __init__(self, env: Environment, size: int) -> None:
        self._env = env
        self._free = size
        self._waiting: deque[Event] = deque()

    def take(self) -> Event | None:
        """Take a unit; return None if one is free, otherwise an event that occurs when one is assigned."""
        if self._free:
            self._free -= 1
            return None
        event = Event(self._env)
        self._waiting.append(event)
        return event

    def give(self) -> None:
        """Return a unit, which goes to the longest waiting request."""
        if self._waiting:
            self._waiting.popleft().succeed()
        else:
            self._free += 1


class Threads:
    """The worker threads of a daemon, of which only some may start sessions at the same time."""

    __slots__ = ("_begun", "_data", "_env", "_free", "_in_use", "_new", "_numbers", "_starters")

    def __init__(self, env: Environment, workers: int, starters: int, in_use: CountLog) -> None:
        self._env = env
        self._free = workers
        self._starters = starters
        self._in_use = in_use
        self._numbers = 0
        # Each with the number under which it began to wait.
        self._begun: deque[tuple[int, Event]] = deque()
        self._new: deque[tuple[int, Event]] = deque()
        self._data: deque[tuple[int, Event]] = deque()

    def start(self, *, begun: bool) -> Event | None:
        """Take a thread for a handshake; handshakes that have begun have precedence over new ones."""
        if self._free and self._starters:
            self._starters -= 1
            self._take()
            return None
        return self._wait(self._begun if begun else self._new)

    def transfer(self) -> Event | None:
        """Take a thread for a data transfer."""
        if self._free:
            self._take()
            return None
        return self._wait(self._data)

    def end_start(self) -> None:
        """Return the thread of a handshake."""
        self._starters += 1
        self._give()

    def end_transfer(self) -> None:
        """Return the thread of a data transfer."""
        self._give()

    def _take(self) -> None:
        self._free -= 1
        self._in_use.change(self._env.now, 1)

    def _wait(self, queue: deque[tuple[int, Event]]) -> Event:
        event = Event(self._env)
        self._numbers += 1
        queue.append((self._numbers, event))
        return event

    def _give(self) -> None:
        self._free += 1
        self._in_use.change(self._env.now, -1)
        # If no further start is allowed, a data transfer gets the thread; after a start ends, one start is.
        starts = (self._begun or self._new) if self._starters else None
        if starts and not (self._data and self._data[0] < starts[0]):
            self._starters -= 1
            queue = starts
        elif self._data:
            queue = self._data
        else:
            return
        _, event = queue.popleft()
        self._take()
        event.succeed()


NS = 1_000_000_000
"""Nanoseconds in a second."""
_AT_A_TIME = 1024


@dataclass(frozen=True, slots=True)
class Draws:
    """The random properties of a flood, drawn before the simulation: both modes have the same flood."""

    arrived: list[int]
    waits: list[list[int]]
    pieces: list[int]
    """Processor time before, between and after the waits, the same in every session."""


def draw(flood: Flood) -> Draws:
    """Draw the arrivals and waits of a flood."""
    arrivals, network, _ = _generators(flood)
    if flood.arrivals is Arrivals.POISSON:
        # Given their number, the arrivals of a Poisson process are uniformly distributed.
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
    """Yield the times between data transfers, without end."""
    *_, background = _generators(flood)
    while True:
        yield from _ns(background.exponential(1 / flood.background_per_s, _AT_A_TIME))


def _ns(seconds: NDArray[np.float64]) -> Any:  # noqa: ANN401 - lists as deep as the array has dimensions
    return np.rint(seconds * NS).astype(np.int64).tolist()


def _generators(flood: Flood) -> list[np.random.Generator]:
    """Return one generator for each purpose, so that none affects the draws of another."""
    return np.random.default_rng(flood.seed).spawn(3)


MOST_TRANSFERS = 500_000
"""Maximum number of data transfers during a flood; more would take minutes."""
_Steps = Generator[Event, Any, None]


def simulate(flood: Flood, mode: Mode) -> Trace:
    """Simulate a flood in one mode."""
    expected = flood.background_per_s * least_elapsed_s(flood, mode)
    if expected > MOST_TRANSFERS:
        raise _too_many_transfers()
    return _Simulation(flood, mode).trace()


def _too_many_transfers() -> FloodError:
    return FloodError(
        f"more than {MOST_TRANSFERS:,} data transfers during the flood are too many for the simulation; "
        "choose a lower background_per_s, or a longer background_ms for the same load"
    )


class _Simulation:
    def __init__(self, flood: Flood, mode: Mode) -> None:
        self.flood = flood
        self.mode = mode
        self.draws = draw(flood)
        self.env = Environment()
        self.over = Event(self.env)
        self.ecbs, self.waiting, self.in_use, self.starting = CountLog(), CountLog(), CountLog(), CountLog()
        self.processors = Pool(self.env, flood.processors)
        self.connections = Pool(self.env, flood.connections or flood.sessions)
        self.daemons = [
            Threads(self.env, flood.workers, flood.starters_of_daemon, self.in_use)
            for _ in range(flood.daemons)
        ]
        self.client_ns = round(flood.client_ms / 1000 * NS)
        self.transfer_ns = round(flood.background_ms / 1000 * NS)
        self.ended: list[float] = [0] * flood.sessions
        self.waited: list[float] = [0] * flood.sessions
        self.left = flood.sessions
        self.transfers = 0  # that have ended

    def trace(self) -> Trace:
        handshake = self._blocking if self.mode is Mode.BLOCKING else self._non_blocking
        for number in range(self.flood.sessions):
            self.env.process(self._session(number, handshake(number)))
        if self.flood.background_per_s:
            self.env.process(self._background())
        self.env.run(until=self.over)
        return Trace(
            flood=self.flood,
            mode=self.mode,
            arrived=np.array(self.draws.arrived) / NS,
            ended=np.array(self.ended) / NS,
            waited=np.array(self.waited) / NS,
            ecbs=_curve(self.ecbs),
            threads=_curve(self.in_use),
            starters=_curve(self.starting),
            waiting=_curve(self.waiting),
            transfers=self.transfers,
        )

    def _session(self, number: int, handshake: _Steps) -> _Steps:
        """Run a session from the request to the end of SSL_accept."""
        yield self.env.timeout(self.draws.arrived[number])
        yield from self._queue(number, self.connections.take())
        yield from handshake
        self.connections.give()
        self.ended[number] = self.env.now
        self.left -= 1
        if not self.left:
            self.over.succeed()

    def _blocking(self, number: int) -> _Steps:
        """Run a handshake before PJ48040: thread and ECB are held until it ends."""
        threads = self.daemons[number % self.flood.daemons]
        self.ecbs.change(self.env.now, 1)
        yield from self._first_data()
        yield from self._queue(number, threads.start(begun=False))
        self.starting.change(self.env.now, 1)
        for piece, wait in zip(self.draws.pieces, (*self.draws.waits[number], 0), strict=True):
            yield from self._think(number, piece)
            if wait:
                yield self.env.timeout(wait)
        self._end_start(threads)

    def _non_blocking(self, number: int) -> _Steps:
        """Run a handshake with PJ48040: thread and ECB are free while it waits for the network."""
        flood, threads = self.flood, self.daemons[number % self.flood.daemons]
        yield from self._first_data()
        begun = held = False
        for piece, wait in zip(self.draws.pieces, (*self.draws.waits[number], None), strict=True):
            # If the data of the partner has already arrived, the handshake keeps its thread.
            if not held:
                if flood.ecb_in_queue:
                    self.ecbs.change(self.env.now, 1)
                yield from self._queue(number, threads.start(begun=begun and flood.order is Order.BEGUN))
                self.starting.change(self.env.now, 1)
                if not flood.ecb_in_queue:
                    self.ecbs.change(self.env.now, 1)
            yield from self._think(number, piece)
            begun, held = True, wait == 0
            if not held:
                self._end_start(threads)
            if wait:
                yield self.env.timeout(wait)

    def _end_start(self, threads: Threads) -> None:
        self.starting.change(self.env.now, -1)
        threads.end_start()
        self.ecbs.change(self.env.now, -1)

    def _first_data(self) -> _Steps:
        if self.client_ns:
            yield self.env.timeout(self.client_ns)

    def _think(self, number: int, piece: int) -> _Steps:
        """Run a piece of processor work of a handshake."""
        yield from self._queue(number, self.processors.take())
        yield self.env.timeout(piece)
        self.processors.give()

    def _queue(self, number: int, turn: Event | None) -> _Steps:
        """Wait for an assignment, unless it is immediate."""
        if turn is None:
            return
        began = self.env.now
        self.waiting.change(began, 1)
        yield turn
        self.waiting.change(self.env.now, -1)
        self.waited[number] += self.env.now - began

    def _background(self) -> _Steps:
        transfers = zip(range(MOST_TRANSFERS), background_gaps(self.flood), cycle(self.daemons), strict=False)
        for _, gap, threads in transfers:
            yield self.env.timeout(gap)
            self.env.process(self._transfer(threads))
        raise _too_many_transfers()

    def _transfer(self, threads: Threads) -> _Steps:
        for turn in (threads.transfer, self.processors.take):
            event = turn()
            if event is not None:
                yield event
        yield self.env.timeout(self.transfer_ns)
        self.processors.give()
        threads.end_transfer()
        self.transfers += 1


def _curve(log: CountLog) -> Curve:
    return Curve.of(np.array(log.times, np.int64) / NS, log.counts)
