"""Background traffic of a world, day by day: clients call services of both servers through a distributor."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from zscope.parsers.synthetic.cast import CLIENT_CERTIFICATES
from zscope.parsers.synthetic.connections import ABBREVIATED, FAILED, FULL, NO_TLS, resume
from zscope.parsers.synthetic.world.cast import FAILED_SHARE, IS_TLS13, PLAIN, PLAIN_SHARE, SERVICES
from zscope.parsers.synthetic.world.links import LINK, TICK_US, Links, ticks
from zscope.parsers.synthetic.world.recipe import (
    CLIENTS,
    DAY_US,
    INTERVAL_MINUTES,
    INTERVALS_A_DAY,
    MINUTE_US,
    NAMES,
    SYSTEMS,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zscope.parsers.synthetic.batch import Numbers
    from zscope.parsers.synthetic.world.recipe import WorldRecipe

INTERVAL_US = INTERVAL_MINUTES * MINUTE_US
_HOURLY = np.array([3, 2, 2, 2, 3, 4, 6, 9, 12, 14, 14, 13, 11, 13, 14, 13, 11, 9, 7, 6, 5, 5, 4, 4], float)
"""How busy the hours of a day are, in UTC."""
_DAILY = np.array([1.0, 1.05, 0.95, 1.1, 1.0, 0.5, 0.4])
"""How busy the days of a week are, from Monday on."""
_RATE_SPREAD, _SHARE_SPREAD, _SIZE_SPREAD = 0.2, 0.10, 0.5
_SHARE_SWING, _SHARE_PERIOD_H = 0.25, 7.0
"""The share of resumed sessions goes up and down in another rhythm than the traffic does."""
_FEWEST, _MOST = 0.08, 0.92
_SHORT_US, _SHORT_SPREAD = 600_000, 0.9
SHORTEST_US, LONGEST_SHORT_US, SHORTEST_LONG_US = 50_000, 9_500_000, 10_500_000
_LONGEST_US = 20 * 3_600_000_000
_CLIENT_SHARE = 0.55
"""Of the connections: those of the first client."""
_TWIN_AFTER_US = (40_000, 2_000_000)
_TWIN_ROOM_US = 14_000_000
"""So long before the end of an interval no pair of connections begins: it shall not be torn apart."""
_FAILED_BYTES = (310, 190)
DISPLAY_HOURS = (0, 6, 12, 18)
"""When the caches of System SSL are displayed, in UTC."""
_PLAIN_CODES = np.array([not service.suites for service in SERVICES])


@dataclass
class Traffic:
    """Makes the connections of one day after the other."""

    recipe: WorldRecipe
    _sessions: dict[int, Links] = field(default_factory=dict)
    """The latest full handshakes, by client, server and service."""
    _turns: Numbers = field(default_factory=lambda: np.zeros(CLIENTS, np.int64))
    """Whose turn it is in the distributor's round, for each client."""
    _next_session: int = 1

    def day(self, day: int) -> Links:
        """The connections that start on a day, in order."""
        rng = np.random.default_rng([self.recipe.seed, 20, day])
        begin = self.recipe.day_us(day)
        counts, shares, sizes = self._intensity(rng, day)
        links = self._started(rng, begin, counts)
        interval = (links["start"] - begin) // INTERVAL_US
        self._meet(rng, links)
        self._handshakes(rng, links, shares[interval])
        self._last(rng, links)
        self._fill(rng, links, sizes[interval])
        if self.recipe.correlated:
            links = self._with_twins(rng, links, begin)
        last = self.recipe.day_us(self.recipe.days) - MINUTE_US
        links["start"] = np.minimum(links["start"], last - SHORTEST_US)
        links["end"] = np.minimum(links["end"], last)
        links["long"] &= links["end"] - links["start"] > SHORTEST_LONG_US
        links["changed"] &= links["long"]
        _clear_of_displays(links, begin)
        middle = ticks((links["start"] + links["end"]) // 2)
        links["shaken"] = np.where(links["changed"], middle, links["start"])
        links["run"] = -1
        return links

    def _intensity(
        self, rng: np.random.Generator, day: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Of each interval: connections to expect, share of resumed ones, factor of sizes."""
        count = INTERVALS_A_DAY
        hours = np.arange(count) * 24 / count
        weekday = (self.recipe.start.weekday() + day) % 7
        rate = self.recipe.connections_per_hour / 4 * _DAILY[weekday]
        rates = (
            rate * _HOURLY[hours.astype(int)] / _HOURLY.mean() * np.exp(rng.normal(0, _RATE_SPREAD, count))
        )
        phase = rng.uniform(0, 2 * np.pi)
        swing = _SHARE_SWING * np.sin(2 * np.pi * hours / _SHARE_PERIOD_H + phase)
        shares = np.clip(0.5 + swing + rng.normal(0, _SHARE_SPREAD, count), _FEWEST, _MOST)
        return rates, shares, np.exp(rng.normal(0, _SIZE_SPREAD, count))

    def _started(self, rng: np.random.Generator, begin: int, rates: NDArray[np.float64]) -> Links:
        """Connections with their times; those without a good handshake come evenly over the day."""
        good = rng.poisson(rates / (2 if self.recipe.correlated else 1))
        room = _TWIN_ROOM_US if self.recipe.correlated else 0
        offsets = np.repeat(np.arange(len(rates)) * INTERVAL_US, good)
        starts = [offsets + rng.uniform(0, INTERVAL_US - room, len(offsets))]
        handshakes = [np.full(len(offsets), FULL)]
        a_day = self.recipe.connections_per_hour * 24
        for share, handshake in ((PLAIN_SHARE, NO_TLS), (FAILED_SHARE, FAILED)):
            count = 0 if self.recipe.correlated else rng.poisson(a_day * share)
            starts.append(rng.uniform(0, DAY_US, count))
            handshakes.append(np.full(count, handshake))
        links = np.zeros(sum(map(len, starts)), LINK)
        links["start"] = begin + ticks(np.concatenate(starts))
        links["handshake"] = np.concatenate(handshakes)
        return links[np.argsort(links["start"], kind="stable")]

    def _meet(self, rng: np.random.Generator, links: Links) -> None:
        """Who calls which service; the distributor gives the connections of each client out by turns."""
        count = len(links)
        clients = (rng.random(count) >= _CLIENT_SHARE).astype(np.uint8)
        # Older stacks cannot tell that a handshake failed.
        links["client"] = np.where(links["handshake"] == FAILED, 0, clients)
        for client in range(CLIENTS):
            rows = np.flatnonzero(links["client"] == client)
            turns = self._turns[client] + np.arange(len(rows))
            links["server"][rows] = CLIENTS + turns % (len(NAMES) - CLIENTS)
            self._turns[client] += len(rows)
        weights = np.array([service.weight for service in SERVICES])
        chosen = rng.choice(len(SERVICES), count, p=weights / weights.sum())
        links["service"] = np.where(links["handshake"] == NO_TLS, PLAIN, chosen)

    def _handshakes(self, rng: np.random.Generator, links: Links, shares: NDArray[np.float64]) -> None:
        """Suites and sessions; a resumed connection takes both over from an earlier full handshake."""
        count = len(links)
        for number, service in enumerate(SERVICES):
            for client in range(CLIENTS) if service.suites else ():
                rows = np.flatnonzero((links["service"] == number) & (links["client"] == client))
                codes, weights = _negotiable(service.weights, client)
                links["suite"][rows] = rng.choice(codes, len(rows), p=weights)
        authenticated = np.array([service.client_auth for service in SERVICES])[links["service"]]
        certificates = rng.integers(1, CLIENT_CERTIFICATES + 1, count)
        good = links["handshake"] == FULL
        links["client_certificate"] = np.where(authenticated & good, certificates, 0)
        links["session"] = (self._next_session + np.arange(count)) & 0xFFFFFFFF
        self._next_session += count
        resumed, luck = good & (rng.random(count) < shares), rng.random(count)
        if self.recipe.correlated:
            return
        links["handshake"][resumed] = ABBREVIATED
        keys = (links["client"].astype(np.int64) * len(NAMES) + links["server"]) * len(SERVICES) + links[
            "service"
        ]
        for key in np.unique(keys[good]).tolist():
            rows = np.flatnonzero((keys == key) & good)
            known = self._sessions.get(key, links[:0])
            taken = ("client_certificate", "suite", "session")
            self._sessions[key] = resume(links, rows, known, luck, taken)

    def _last(self, rng: np.random.Generator, links: Links) -> None:
        """How long the connections last, and which of them are protected only later."""
        count, service = len(links), links["service"]
        long_shares, minutes, changed = (
            np.array([getattr(s, name) for s in SERVICES])[service]
            for name in ("long_share", "long_minutes", "changed_share")
        )
        links["long"] = (rng.random(count) < long_shares) & (links["handshake"] != FAILED)
        short = np.exp(rng.normal(np.log(_SHORT_US), _SHORT_SPREAD, count))
        short = np.clip(short, SHORTEST_US, LONGEST_SHORT_US)
        long = SHORTEST_LONG_US + TICK_US + rng.exponential(1, count) * minutes * MINUTE_US
        lasting = np.where(links["long"], np.minimum(long, _LONGEST_US), short)
        links["end"] = links["start"] + ticks(lasting)
        links["changed"] = links["long"] & (rng.random(count) < changed)

    def _fill(self, rng: np.random.Generator, links: Links, sizes: NDArray[np.float64]) -> None:
        """How much is sent each way."""
        kilobytes, upward = (
            np.array([getattr(s, name) for s in SERVICES])[links["service"]]
            for name in ("kilobytes", "upward")
        )
        size = kilobytes * 1_000 * sizes * np.exp(rng.normal(-0.25, 0.7, len(links)))
        failed = links["handshake"] == FAILED
        links["up"] = np.where(failed, _FAILED_BYTES[0], 200 + size * upward)
        links["down"] = np.where(failed, _FAILED_BYTES[1], 200 + size * (1 - upward))

    def _with_twins(self, rng: np.random.Generator, links: Links, begin: int) -> Links:
        """Let every full handshake be followed by one that resumes its session, in the same interval."""
        twins = links.copy()
        later = ticks(rng.uniform(*_TWIN_AFTER_US, len(links)))
        lasting = links["end"] - links["start"]
        twins["start"] += later
        twins["end"] = twins["start"] + lasting
        twins["handshake"] = ABBREVIATED
        both = np.concatenate([links, twins])
        both = both[np.argsort(both["start"], kind="stable")]
        # Nothing of a short connection lies in the next interval, so any way of counting finds pairs.
        last = begin + ((both["start"] - begin) // INTERVAL_US + 1) * INTERVAL_US - TICK_US
        both["end"] = np.where(both["long"], both["end"], np.minimum(both["end"], last))
        both["changed"] = False
        return both


def _negotiable(weights: dict[int, float], client: int) -> tuple[Numbers, NDArray[np.float64]]:
    """The suites a client can agree on, with their shares: TLSv1.3 came after the older level."""
    newest = SYSTEMS[client].level != "V2R3"
    codes = np.array([code for code in weights if newest or not IS_TLS13[code]])
    shares = np.array([weights[code] for code in codes.tolist()])
    return codes, shares / shares.sum()


def _clear_of_displays(links: Links, begin: int) -> None:
    """Let no handshake be half seen: short connections are over when counters are displayed."""
    for hour in (*DISPLAY_HOURS, 24):
        at = begin + hour * 60 * MINUTE_US
        links["start"][links["start"] == at] += TICK_US
        crossing = ~links["long"] & (links["start"] < at) & (links["end"] >= at)
        links["end"][crossing] = at - TICK_US
        links["start"][crossing] = np.minimum(links["start"][crossing], at - SHORTEST_US)
