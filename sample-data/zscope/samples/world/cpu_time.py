"""CPU time of the connections of a world by system and RMF interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from zscope.samples.dump.connections import FAILED, FULL, RESUMED
from zscope.samples.world.cost import FULL_KINDS, RESUMED_KINDS, SIDES, STACK_SHARE
from zscope.samples.world.services import IS_TLS13, KEY_EXCHANGES, SERVICES
from zscope.samples.world.world_recipe import NAMES

if TYPE_CHECKING:
    from zscope.samples.dump.arrays import Flags, Floats, Numbers
    from zscope.samples.world.cost import CostModel, SideCost
    from zscope.samples.world.world_connections import WorldConnections

Factors = Mapping[tuple[str, str], float]
"""Factors of a run by side, on handshakes and on everything."""
FOUR_HOURS_US = 4 * 3_600_000_000


@dataclass(frozen=True)
class ConnectionCost:
    """Cost of connections at one side, including the factors of runs."""

    connections: WorldConnections
    side: str
    cost: SideCost
    factors: Sequence[Factors]

    @cached_property
    def handshake(self) -> Floats:
        """Microseconds for the handshake of each connection, also where a row stands for several."""
        handshakes = self.connections.handshake
        full = np.array([getattr(self.cost, name) for name in FULL_KINDS])[
            KEY_EXCHANGES[self.connections.suite]
        ]
        old, new = (getattr(self.cost, name) for name in RESUMED_KINDS)
        resumed = np.where(IS_TLS13[self.connections.suite], new, old)
        kinds = [handshakes == FULL, handshakes == RESUMED, handshakes == FAILED]
        cost: Floats = np.select(kinds, [full, resumed, self.cost.failed_us], 0.0)
        return cost * self._factor("handshake") * self._factor("everything")

    @cached_property
    def connection(self) -> Floats:
        """Microseconds for each connection itself."""
        return self.cost.connection_us * self._factor("everything")

    @cached_property
    def application(self) -> Floats:
        """Microseconds of the application for each connection."""
        new_client = np.where(self.connections.handshake == FULL, self.cost.new_client_us, 0.0)
        return (self.cost.application_us + new_client) * self._factor("everything")

    @cached_property
    def has_tls(self) -> Flags:
        """Whether each connection has TLS."""
        return np.isin(self.connections.handshake, (FULL, RESUMED))

    @cached_property
    def life(self) -> Floats:
        """Microseconds for its bytes and requests, distributed over its life."""
        of_megabyte = np.where(self.has_tls, self.cost.megabyte_us, self.cost.plain_megabyte_us)
        cost = self._bytes * of_megabyte / 1e6 + self.connections.requests * self.cost.request_us
        return cost * self._factor("everything")

    @cached_property
    def tls_bytes(self) -> Floats:
        """The part of it that the bytes cost more than those of a connection without TLS."""
        more = np.where(self.has_tls, self.cost.megabyte_us - self.cost.plain_megabyte_us, 0.0)
        return self._bytes * more / 1e6 * self._factor("everything")

    @property
    def _bytes(self) -> Floats:
        return (self.connections.up + self.connections.down).astype(float)

    def _factor(self, name: str) -> Floats:
        """Return the factor of the run of each connection; the last entry is for other traffic."""
        known = [factors[self.side, name] for factors in self.factors]
        return np.array([*known, 1.0])[self.connections.run]


@dataclass
class CpuTimeGrid:
    """Sums up the CPU time of all systems in a grid of RMF intervals, and adds the error that RMF shows."""

    model: CostModel
    first_us: int
    length_us: int
    count: int
    other_us_per_s: Floats
    """CPU time of other work, by interval; a single value applies to all intervals."""
    noise_key: tuple[int, ...]
    factors: Sequence[Factors] = ()
    following_us: float = 0.0
    """CPU time of other work that comes with each connection."""
    spent: Floats = field(init=False)
    """Microseconds of connections by system, service and interval."""
    in_stack: Floats = field(init=False)
    """The part of it that is charged to the TCP/IP stack."""
    other_us: Floats = field(init=False)
    """Microseconds of other work by system and interval."""

    def __post_init__(self) -> None:
        self.spent = np.zeros((len(NAMES), len(SERVICES), self.count))
        self.in_stack = np.zeros_like(self.spent)
        base = np.broadcast_to(self.other_us_per_s * self.length_us / 1e6, (self.count,))
        self.other_us = np.tile(base, (len(NAMES), 1))

    def add(self, connections: WorldConnections) -> None:
        """Add connections to the systems at both ends."""
        for which in SIDES:
            costs = ConnectionCost(connections, which, getattr(self.model, which), self.factors)
            rows = connections.systems(which) * len(SERVICES) + connections.service
            times = connections.times.astype(float)
            self._add(rows, connections.start, times * costs.connection, STACK_SHARE)
            self._add(rows, connections.start, times * costs.application, 0.0)
            if self.following_us:
                place = (connections.start - self.first_us) // self.length_us
                flat = connections.systems(which) * self.count + place
                following = np.bincount(flat, times * self.following_us, self.other_us.size)
                self.other_us += following.reshape(self.other_us.shape)
            in_stack = self.model.handshakes_in_stack
            self._add(rows, connections.handshake_time, times * costs.handshake, in_stack)
            in_stack_of_life = np.where(costs.has_tls, self.model.bytes_in_stack, STACK_SHARE)
            self._spread(rows, connections, times * costs.life, in_stack_of_life)

    @property
    def expected(self) -> Floats:
        """CPU time by the model without its error."""
        expected: Floats = self.spent.sum(axis=1) + self.other_us
        return expected

    @cached_property
    def _errors(self) -> Floats:
        rng = np.random.default_rng(list(self.noise_key))
        errors = rng.normal(0, 1, (len(NAMES), self.count))
        if correlation := self.model.noise_correlation:
            for interval in range(1, self.count):
                before, new = errors[:, interval - 1], errors[:, interval]
                errors[:, interval] = correlation * before + np.sqrt(1 - correlation**2) * new
        return np.maximum(0, 1 + self.model.noise * errors)

    def shown(self) -> Numbers:
        """Return what RMF shows: whole microseconds by system and interval."""
        return np.rint(self.expected * self._errors).astype(np.int64)

    def worked(self, interval: int) -> Numbers:
        """Return what RMF shows in one interval, after all its connections have been added."""
        return np.rint(self.expected[:, interval] * self._errors[:, interval]).astype(np.int64)

    def processors_of_four_hours(self, interval: int) -> Numbers:
        """Return how many processors each system used in the four hours up to the end of an interval."""
        first = max(0, interval + 1 - FOUR_HOURS_US // self.length_us)
        used = [self.worked(number) for number in range(first, interval + 1)]
        average: Numbers = np.mean(used, axis=0) / self.length_us
        return average

    def of_services(self, system: int, interval: int) -> Numbers:
        """Return the part of it that the connections of each service cost."""
        times = self.spent[system, :, interval] * self._errors[system, interval]
        whole: Numbers = np.rint(times).astype(np.int64)
        return whole

    def share_in_stack(self, system: int, interval: int) -> Floats:
        """Return the share of what the connections of each service cost that is charged to the stack."""
        spent = self.spent[system, :, interval]
        share: Floats = np.full_like(spent, STACK_SHARE)
        np.divide(self.in_stack[system, :, interval], spent, out=share, where=spent > 0)
        return np.round(share, 12)

    def begin(self, interval: int) -> int:
        """Return the start of an interval."""
        return self.first_us + interval * self.length_us

    def _add(self, rows: Numbers, times: Numbers, cost: Floats, in_stack: float) -> None:
        place = (times - self.first_us) // self.length_us
        assert not len(place) or (place.min() >= 0 and place.max() < self.count), "a time outside the grid"
        flat = np.bincount(rows * self.count + place, cost, self.spent.size).reshape(self.spent.shape)
        self.spent += flat
        self.in_stack += flat * in_stack

    def _spread(self, of: Numbers, connections: WorldConnections, cost: Floats, in_stack: Floats) -> None:
        """Add to each interval the part of a connection's life that lies in it."""
        starts, ends = (times - self.first_us for times in (connections.start, connections.end))
        first = starts // self.length_us
        pieces = np.maximum((ends - 1) // self.length_us, first) - first + 1
        rows = np.repeat(np.arange(len(connections)), pieces)
        number = np.arange(len(rows)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        place = first[rows] + number
        begin = np.maximum(starts[rows], place * self.length_us)
        end = np.minimum(ends[rows], (place + 1) * self.length_us)
        lasting = np.maximum(ends - starts, 1)[rows]
        part = np.where(pieces[rows] == 1, 1.0, (end - begin) / lasting)
        place, cost = of[rows] * self.count + place, cost[rows] * part
        self.spent += np.bincount(place, cost, self.spent.size).reshape(self.spent.shape)
        of_stack = cost * in_stack[rows]
        self.in_stack += np.bincount(place, of_stack, self.in_stack.size).reshape(self.in_stack.shape)
