"""How much CPU time the connections of a world cost each system, interval by interval."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from zscope.parsers.synthetic.connections import ABBREVIATED, FAILED, FULL
from zscope.parsers.synthetic.world.cast import IS_TLS13, KEY_EXCHANGES
from zscope.parsers.synthetic.world.cost import FULL_KINDS, RESUMED_KINDS, SIDES
from zscope.parsers.synthetic.world.recipe import CLIENTS, NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zscope.parsers.synthetic.batch import Numbers
    from zscope.parsers.synthetic.world.cost import CostModel, RunFactors, SideCost
    from zscope.parsers.synthetic.world.links import Links

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Price:
    """What connections cost on one side, run factors included."""

    links: Links
    side: str
    cost: SideCost
    factors: Sequence[RunFactors]

    @cached_property
    def handshake(self) -> Floats:
        """Microseconds for the handshake of each connection."""
        made = self.links["handshake"]
        full = np.array([getattr(self.cost, name) for name in FULL_KINDS])[KEY_EXCHANGES[self.links["suite"]]]
        old, new = (getattr(self.cost, name) for name in RESUMED_KINDS)
        resumed = np.where(IS_TLS13[self.links["suite"]], new, old)
        kinds = [made == FULL, made == ABBREVIATED, made == FAILED]
        price: Floats = np.select(kinds, [full, resumed, self.cost.failed_us], 0.0)
        return price * self._factor("handshake") * self._factor("everything")

    @cached_property
    def connection(self) -> Floats:
        """For being a connection."""
        price: Floats = self.cost.connection_us * self._factor("everything")
        return price

    @cached_property
    def life(self) -> Floats:
        """For its bytes and requests, spread over its life."""
        size = (self.links["up"] + self.links["down"]).astype(float)
        price = size * self.cost.megabyte_us / 1e6 + self.links["requests"] * self.cost.request_us
        shared: Floats = price * self._factor("everything")
        return shared

    def _factor(self, name: str) -> Floats:
        """Of the run each connection belongs to; the last entry is for other traffic."""
        known = [getattr(getattr(run, self.side), name) for run in self.factors]
        factors: Floats = np.array([*known, 1.0])[self.links["run"]]
        return factors


@dataclass
class Meter:
    """Adds up the CPU time of all systems on a grid of RMF intervals, and says what RMF shows of it."""

    model: CostModel
    first_us: int
    length_us: int
    count: int
    base_us_per_s: float
    noise_key: tuple[int, ...]
    factors: Sequence[RunFactors] = ()
    spent: Floats = field(init=False)
    """Microseconds by system and interval, without the base."""

    def __post_init__(self) -> None:
        self.spent = np.zeros((len(NAMES), self.count))

    def charge(self, links: Links) -> None:
        """Charge connections to the systems of both ends."""
        for which in SIDES:
            price = Price(links, which, getattr(self.model, which), self.factors)
            systems = links[which].astype(np.int64)
            self._add(systems, links["start"], price.connection)
            self._add(systems, links["shaken"], price.handshake)
            self._spread(systems, links, price.life)

    @cached_property
    def base_us(self) -> float:
        """That of one interval."""
        return self.base_us_per_s * self.length_us / 1e6

    @property
    def expected(self) -> Floats:
        """By the model without its error."""
        return self.spent + self.base_us

    @cached_property
    def _errors(self) -> Floats:
        rng = np.random.default_rng(list(self.noise_key))
        return np.maximum(0, 1 + self.model.noise * rng.normal(0, 1, (len(NAMES), self.count)))

    def shown(self) -> Numbers:
        """What RMF shows: whole microseconds by system and interval."""
        return np.rint(self.expected * self._errors).astype(np.int64)

    def worked(self, interval: int) -> Numbers:
        """The same of one interval; asked for when all its connections have been charged."""
        return np.rint(self.expected[:, interval] * self._errors[:, interval]).astype(np.int64)

    def begin(self, interval: int) -> int:
        """When an interval begins."""
        return self.first_us + interval * self.length_us

    def _add(self, systems: Numbers, times: Numbers, price: Floats) -> None:
        place = (times - self.first_us) // self.length_us
        assert not len(place) or (place.min() >= 0 and place.max() < self.count), "a time outside the grid"
        flat = np.bincount(systems * self.count + place, price, len(NAMES) * self.count)
        self.spent += flat.reshape(self.spent.shape)

    def _spread(self, systems: Numbers, links: Links, price: Floats) -> None:
        """Charge each interval for the part of a connection's life that lies in it."""
        starts, ends = (links[name] - self.first_us for name in ("start", "end"))
        first = starts // self.length_us
        pieces = np.maximum((ends - 1) // self.length_us, first) - first + 1
        rows = np.repeat(np.arange(len(links)), pieces)
        number = np.arange(len(rows)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        place = first[rows] + number
        begin = np.maximum(starts[rows], place * self.length_us)
        end = np.minimum(ends[rows], (place + 1) * self.length_us)
        lasting = np.maximum(ends - starts, 1)[rows]
        part = np.where(pieces[rows] == 1, 1.0, (end - begin) / lasting)
        flat = np.bincount(systems[rows] * self.count + place, price[rows] * part, len(NAMES) * self.count)
        self.spent += flat.reshape(self.spent.shape)


def is_server(system: int) -> bool:
    """Whether a system, by its number, is a server."""
    return system >= CLIENTS
