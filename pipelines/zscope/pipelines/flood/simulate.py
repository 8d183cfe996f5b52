"""Playing a flood through: one process for each session, which competes for threads and processors.

Nothing is sampled while time passes: every change of a count is recorded. Inside, times are whole
nanoseconds; what comes out is in seconds.
"""

from __future__ import annotations

from collections.abc import Generator
from itertools import cycle
from typing import Any

import numpy as np
from simpy import Environment, Event

from zscope.pipelines.flood.closed import least_elapsed_s
from zscope.pipelines.flood.curves import Curve
from zscope.pipelines.flood.draws import NS, background_gaps, draw
from zscope.pipelines.flood.parameters import Flood, FloodError, Mode, Order
from zscope.pipelines.flood.pools import Log, Pool, Threads
from zscope.pipelines.flood.trace import Trace

MOST_TRANSFERS = 500_000
"""Data transfers in the time of a flood: more of them take minutes."""
_Steps = Generator[Event, Any, None]


def simulate(flood: Flood, mode: Mode) -> Trace:
    """Play a flood through."""
    expected = flood.background_per_s * least_elapsed_s(flood, mode)
    if expected > MOST_TRANSFERS:
        raise _too_many_transfers()
    return _Run(flood, mode).trace()


def _too_many_transfers() -> FloodError:
    return FloodError(
        f"more than {MOST_TRANSFERS:,} data transfers in the time of the flood are more than can be played "
        "through; choose a lower background_per_s, or a longer background_ms for the same load"
    )


class _Run:
    def __init__(self, flood: Flood, mode: Mode) -> None:
        self.flood = flood
        self.mode = mode
        self.draws = draw(flood)
        self.env = Environment()
        self.over = Event(self.env)
        self.ecbs, self.waiting, self.in_use, self.starting = Log(), Log(), Log(), Log()
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
        """From the request to the end of SSL_accept."""
        yield self.env.timeout(self.draws.arrived[number])
        yield from self._queue(number, self.connections.take())
        yield from handshake
        self.connections.give()
        self.ended[number] = self.env.now
        self.left -= 1
        if not self.left:
            self.over.succeed()

    def _blocking(self, number: int) -> _Steps:
        """Before PJ48040: thread and ECB are held to the end."""
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
        """With PJ48040: the thread is free while the handshake waits for the network, and the ECB exits."""
        flood, threads = self.flood, self.daemons[number % self.flood.daemons]
        yield from self._first_data()
        begun = held = False
        for piece, wait in zip(self.draws.pieces, (*self.draws.waits[number], None), strict=True):
            # Where the partner's data is there already, nothing has to wait for it.
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
        """A piece of processor work of a handshake."""
        yield from self._queue(number, self.processors.take())
        yield self.env.timeout(piece)
        self.processors.give()

    def _queue(self, number: int, turn: Event | None) -> _Steps:
        """Wait for one's turn, if that is not now."""
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


def _curve(log: Log) -> Curve:
    return Curve.of(np.array(log.times, np.int64) / NS, log.counts)
