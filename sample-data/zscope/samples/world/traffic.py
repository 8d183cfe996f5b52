"""Background traffic of a world, day by day: clients connect to services of both servers through a
distributor.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from zscope.samples.dump.connections import FAILED, FULL, NO_TLS, RESUMED, resume
from zscope.samples.dump.record_plan import HOURLY
from zscope.samples.dump.site import CLIENT_CERTIFICATES
from zscope.samples.world.services import IS_TLS13, PLAIN_SERVICES, SERVICES, other_suites, suite_weights
from zscope.samples.world.world_connections import (
    SHORTEST_LONG_US,
    TICK_US,
    WorldConnections,
    ticks,
)
from zscope.samples.world.world_recipe import (
    CLIENTS,
    CONNECTIONS_A_ROW,
    DAY_US,
    INTERVAL_MINUTES,
    INTERVALS_A_DAY,
    MINUTE_US,
    NAMES,
    SYSTEMS,
    WORLD_SYSTEMS,
)
from zscope.samples.world.world_scenario import SCENARIO

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zscope.samples.dump.arrays import Floats, Numbers
    from zscope.samples.world.world_recipe import WorldRecipe


INTERVAL_US = INTERVAL_MINUTES * MINUTE_US
_SUNDAY = 6
_DAILY = np.array(SCENARIO.traffic.daily)
PLAIN_SHARE, FAILED_SHARE = SCENARIO.traffic.plain_share, SCENARIO.traffic.failed_share
_CLIENT_EDGES = np.cumsum([system.share for system in WORLD_SYSTEMS[:CLIENTS]])[:-1]
_REPORTING_CLIENTS = np.array([n for n, system in enumerate(SYSTEMS[:CLIENTS]) if system.level != "V2R3"])
"""Older stacks do not report failed handshakes."""
_RATE_SPREAD, _SHARE_SPREAD, _SIZE_SPREAD = 0.2, 0.10, 0.5
_SHARE_SWING, _SHARE_PERIOD_H = 0.2, 7.0
"""The share of resumed sessions oscillates with another period than the traffic."""
_FEWEST, _MOST = 0.08, 0.92
_MORE_RESUMED = 0.1
"""Increase of the share of resumed sessions by the changed policy, which keeps sessions for longer."""
_SHORT_US, _SHORT_SPREAD = 600_000, 0.9
SHORTEST_US, LONGEST_SHORT_US = 50_000, 9_500_000
_LONGEST_US = 20 * 3_600_000_000
_TWIN_AFTER_US = (40_000, 2_000_000)
_TWIN_ROOM_US = 14_000_000
"""No pair of connections starts this close to the end of an interval, which would separate it."""
_FAILED_BYTES = (310, 190)
_ALERT_BYTES = 1_000
"""Failed handshakes differ by up to so many bytes."""


def load_of_day(recipe: WorldRecipe, day: int) -> Floats:
    """Return the load in each interval of a day, relative to the average of a working day."""
    hours = np.arange(INTERVALS_A_DAY) * 24 // INTERVALS_A_DAY
    load: Floats = (
        _DAILY[_SUNDAY if day in recipe.holidays else (recipe.weekday + day) % 7]
        * HOURLY[hours]
        / HOURLY.mean()
    )
    return load


def other_work(recipe: WorldRecipe) -> Floats:
    """Return the CPU time of other work in microseconds a second, by interval: a part follows the load.

    Without the part that follows the connections of each interval.
    """
    load = np.concatenate([load_of_day(recipe, day) for day in range(recipe.days)])
    swing, follows = recipe.cost.base_swing, recipe.cost.base_follows
    return recipe.cost.base_us_per_s * (1 - swing - follows + swing * load)


def other_work_of_connection(recipe: WorldRecipe) -> float:
    """Return the CPU time in microseconds of other work that comes with each connection of a system."""
    connections_per_s = recipe.connections_per_hour / 3600 / CLIENTS
    return recipe.cost.base_us_per_s * recipe.cost.base_follows / connections_per_s


@dataclass
class Traffic:
    """Generates the connections of one day after the other."""

    recipe: WorldRecipe
    _sessions: dict[int, WorldConnections] = field(default_factory=dict)
    """Latest full handshakes by client, server and service."""
    _turns: Numbers = field(default_factory=lambda: np.zeros(CLIENTS, np.int64))
    """For each client, the number of connections that the distributor has assigned."""
    _next_session: int = 1

    def day(self, day: int) -> WorldConnections:
        """Return the connections that start on a day, sorted by start."""
        rng = np.random.default_rng([self.recipe.seed, 20, day])
        begin, is_changed = self.recipe.day_us(day), day >= self.recipe.change_day
        if day == self.recipe.change_day:
            # A changed policy has its own sessions.
            self._sessions.clear()
        counts, shares, sizes = self._intensity(rng, day)
        new = self._started(rng, begin, counts)
        interval = (new.start - begin) // INTERVAL_US
        self._set_services(rng, new)
        self._set_handshakes(rng, new, shares[interval], is_changed=is_changed)
        self._set_durations(rng, new)
        self._set_bytes(rng, new, sizes[interval])
        new.suite[:] = other_suites(self.recipe)[new.suite]
        new = self._kept_open(new)
        if self.recipe.correlated:
            new = self._with_twins(rng, new, begin)
        last = np.full(len(new), self.recipe.day_us(self.recipe.days) - MINUTE_US)
        if self.recipe.recording == "counts":
            last[new.times == 1] = self.recipe.recorded_us[1] - TICK_US
        new.start[:] = np.minimum(new.start, last - SHORTEST_US)
        new.end[:] = np.minimum(new.end, last)
        new.long &= new.end - new.start > SHORTEST_LONG_US
        new.changed &= new.long
        recorded = self.recipe.recorded_us if self.recipe.recording == "counts" else ()
        displays = [begin + hour * 60 * MINUTE_US for hour in (*self.recipe.display_hours, 24)]
        _end_before(new, [*displays, *recorded])
        middle = ticks((new.start + new.end) // 2)
        new.handshake_time[:] = np.where(new.changed, middle, new.start)
        new.run[:] = -1
        return new

    def _intensity(self, rng: np.random.Generator, day: int) -> tuple[Floats, Floats, Floats]:
        """Return for each interval the expected connections, the share of resumed ones, and a size factor."""
        count = INTERVALS_A_DAY
        hours = np.arange(count) * 24 / count
        rate = self.recipe.connections_per_hour * INTERVAL_MINUTES / 60
        rates = rate * load_of_day(self.recipe, day) * np.exp(rng.normal(0, _RATE_SPREAD, count))
        phase = rng.uniform(0, 2 * np.pi)
        swing = _SHARE_SWING * np.sin(2 * np.pi * hours / _SHARE_PERIOD_H + phase)
        usual = self.recipe.resumed_share + _MORE_RESUMED * (day >= self.recipe.change_day)
        shares = np.clip(usual + swing + rng.normal(0, _SHARE_SPREAD, count), _FEWEST, _MOST)
        return rates, shares, np.exp(rng.normal(0, _SIZE_SPREAD, count))

    def _started(self, rng: np.random.Generator, begin: int, rates: Floats) -> WorldConnections:
        """Return connections with start times."""
        if self.recipe.recording == "counts":
            return self._counted(rng, begin, rates)
        good = rng.poisson(rates / (2 if self.recipe.correlated else 1))
        room = _TWIN_ROOM_US if self.recipe.correlated else 0
        offsets = np.repeat(np.arange(len(rates)) * INTERVAL_US, good)
        starts = [offsets + rng.uniform(0, INTERVAL_US - room, len(offsets))]
        handshakes = [np.full(len(offsets), FULL)]
        a_day = self.recipe.connections_per_hour * 24
        # Connections without a successful handshake come evenly, so that their cost does not correlate with
        # handshakes.
        for share, handshake in ((PLAIN_SHARE, NO_TLS), (FAILED_SHARE, FAILED)):
            count = 0 if self.recipe.correlated else rng.poisson(a_day * share)
            starts.append(rng.uniform(0, DAY_US, count))
            handshakes.append(np.full(count, handshake))
        new = WorldConnections.zeros(sum(map(len, starts)))
        new.start[:] = begin + ticks(np.concatenate(starts))
        new.handshake[:] = np.concatenate(handshakes)
        new.times[:] = 1
        return new[np.argsort(new.start, kind="stable")]

    def _counted(self, rng: np.random.Generator, begin: int, rates: Floats) -> WorldConnections:
        """Return rows that stand for many connections, except in the interval with records of connections."""
        own = begin + np.arange(len(rates)) * INTERVAL_US == self.recipe.recorded_us[0]
        times = np.where(own, 1, CONNECTIONS_A_ROW)
        rows = rng.poisson(rates / times)
        interval = np.repeat(np.arange(len(rates)), rows)
        new = WorldConnections.zeros(len(interval))
        new.start[:] = begin + ticks(interval * INTERVAL_US + rng.uniform(0, INTERVAL_US, len(new)))
        new.times[:] = times[interval]
        draws = rng.random(len(new))
        without = [draws < FAILED_SHARE, draws < FAILED_SHARE + PLAIN_SHARE]
        new.handshake[:] = np.select(without, [FAILED, NO_TLS], FULL)
        return new[np.argsort(new.start, kind="stable")]

    def _set_services(self, rng: np.random.Generator, new: WorldConnections) -> None:
        """Set clients, services and servers; the distributor assigns the servers in turn."""
        count = len(new)
        clients = np.searchsorted(_CLIENT_EDGES, rng.random(count), side="right")
        new.client[:] = np.where(new.handshake == FAILED, _in_turn(_REPORTING_CLIENTS, count), clients)
        for client in range(CLIENTS):
            rows = np.flatnonzero(new.client == client)
            turns = self._turns[client] + np.arange(len(rows))
            new.server[rows] = CLIENTS + turns % (len(NAMES) - CLIENTS)
            self._turns[client] += len(rows)
        weights = np.array([service.weight for service in SERVICES])
        chosen = rng.choice(len(SERVICES), count, p=weights / weights.sum())
        new.service[:] = np.where(new.handshake == NO_TLS, _in_turn(PLAIN_SERVICES, count), chosen)

    def _set_handshakes(
        self,
        rng: np.random.Generator,
        new: WorldConnections,
        shares: Floats,
        *,
        is_changed: bool,
    ) -> None:
        """Set suites and sessions; a resumed connection copies both from an earlier full handshake."""
        count = len(new)
        for number, service in enumerate(SERVICES):
            for client in range(CLIENTS) if service.is_protected else ():
                rows = np.flatnonzero((new.service == number) & (new.client == client))
                codes, weights = _negotiable(suite_weights(service, is_changed=is_changed), client)
                new.suite[rows] = rng.choice(codes, len(rows), p=weights)
        authenticated = np.array([service.client_auth for service in SERVICES])[new.service]
        certificates = rng.integers(1, CLIENT_CERTIFICATES + 1, count)
        good = new.handshake == FULL
        new.client_certificate[:] = np.where(authenticated & good, certificates, 0)
        new.session[:] = (self._next_session + np.arange(count)) & 0xFFFFFFFF
        self._next_session += count
        resumed, draws = good & (rng.random(count) < shares), rng.random(count)
        if self.recipe.correlated:
            return
        new.handshake[resumed] = RESUMED
        keys = (new.client * len(NAMES) + new.server) * len(SERVICES) + new.service
        for key in np.unique(keys[good]).tolist():
            rows = np.flatnonzero((keys == key) & good)
            known = self._sessions.get(key, new[:0])
            fields = ("client_certificate", "suite", "session")
            self._sessions[key] = resume(new, rows, known, draws, fields)

    def _set_durations(self, rng: np.random.Generator, new: WorldConnections) -> None:
        """Set durations, and which connections are protected only later."""
        count, service = len(new), new.service
        long_shares, minutes, changed = (
            np.array([getattr(s, name) for s in SERVICES])[service]
            for name in ("long_share", "long_minutes", "changed_share")
        )
        new.long[:] = (rng.random(count) < long_shares) & (new.handshake != FAILED) & (new.times == 1)
        short = np.exp(rng.normal(np.log(_SHORT_US), _SHORT_SPREAD, count))
        short = np.clip(short, SHORTEST_US, LONGEST_SHORT_US)
        long = SHORTEST_LONG_US + TICK_US + rng.exponential(1, count) * minutes * MINUTE_US
        lasting = np.where(new.long, np.minimum(long, _LONGEST_US), short)
        new.end[:] = new.start + ticks(lasting)
        new.changed[:] = new.long & (rng.random(count) < changed)

    def _set_bytes(self, rng: np.random.Generator, new: WorldConnections, sizes: Floats) -> None:
        """Set the bytes in each direction."""
        kilobytes, upward = (
            np.array([getattr(s, name) for s in SERVICES])[new.service] for name in ("kilobytes", "upward")
        )
        size = kilobytes * 1_000 * sizes * np.exp(rng.normal(-0.25, 0.7, len(new)))
        failed = new.handshake == FAILED
        alert = rng.integers(0, _ALERT_BYTES, len(new))
        new.up[:] = np.where(failed, _FAILED_BYTES[0] + alert, 200 + size * upward)
        new.down[:] = np.where(failed, _FAILED_BYTES[1], 200 + size * (1 - upward))

    def _kept_open(self, new: WorldConnections) -> WorldConnections:
        """Join successive connections of a client to a service of a server, if they stay open.

        The handshake is that of the first one.
        """
        is_kept = np.ones(len(new), bool)
        for name, number in self.recipe.kept_open.items():
            with_tls = np.isin(new.handshake, (FULL, RESUMED)) & (new.client == NAMES.index(name))
            for service in range(len(SERVICES)):
                for server in range(CLIENTS, len(NAMES)):
                    rows = np.flatnonzero(with_tls & (new.service == service) & (new.server == server))
                    firsts = np.arange(0, len(rows), number)
                    if not len(firsts):
                        continue
                    kept = rows[firsts]
                    for amount in (new.up, new.down):
                        amount[kept] = np.add.reduceat(amount[rows], firsts)
                    new.end[kept] = np.maximum.reduceat(new.end[rows], firsts)
                    new.long[kept] |= np.diff([*firsts, len(rows)]) > 1
                    is_kept[rows] = False
                    is_kept[kept] = True
        return new[is_kept]

    def _with_twins(self, rng: np.random.Generator, new: WorldConnections, begin: int) -> WorldConnections:
        """Follow every full handshake by a resumption of its session in the same interval."""
        twins = new.copy()
        later = ticks(rng.uniform(*_TWIN_AFTER_US, len(new)))
        lasting = new.end - new.start
        twins.start += later
        twins.end[:] = twins.start + lasting
        twins.handshake[:] = RESUMED
        both = WorldConnections.joined([new, twins])
        both = both[np.argsort(both.start, kind="stable")]
        # Nothing of a short connection lies in the next interval, so any way of counting finds pairs.
        last = begin + ((both.start - begin) // INTERVAL_US + 1) * INTERVAL_US - TICK_US
        both.end[:] = np.where(both.long, both.end, np.minimum(both.end, last))
        both.changed[:] = False
        return both


def _in_turn(numbers: Numbers, count: int) -> Numbers:
    """Repeat the numbers in their order until there are `count` of them."""
    return numbers[np.arange(count) % len(numbers)]


def _negotiable(weights: dict[int, float], client: int) -> tuple[Numbers, Floats]:
    """Return the suites that a client supports with their shares: level V2R3 has no TLSv1.3."""
    newest = SYSTEMS[client].level != "V2R3"
    codes = np.array([code for code in weights if newest or not IS_TLS13[code]])
    shares = np.array([weights[code] for code in codes.tolist()])
    return codes, shares / shares.sum()


def _end_before(new: WorldConnections, times_us: Sequence[int]) -> None:
    """End short connections before counters are displayed, so that no handshake is counted halfway, and
    before connections begin or cease to have records.
    """
    for at in times_us:
        new.start[new.start == at] += TICK_US
        crossing = ~new.long & (new.start < at) & (new.end >= at)
        new.end[crossing] = at - TICK_US
        new.start[crossing] = np.minimum(new.start[crossing], at - SHORTEST_US)
