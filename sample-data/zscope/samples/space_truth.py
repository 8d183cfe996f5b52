"""Worlds in which applications work for connections, with the CPU time of each address space and that of TLS.

They exist to test what of the CPU time that moves with TLS the estimate takes for TLS. Handshakes and bytes
are charged to the TCP/IP stack or to the job; the jobs work for their connections, with or without TLS. Sizes
of noise and of other work are in units of the standard deviation of the CPU time of TLS.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from zscope.samples.cost_truth import DAY, FULL_US, INTERVAL_S, MB_US, MONDAY, RESUMED_US

Series = np.ndarray[Any, np.dtype[np.float64]]

_SET_UP_US, _PLAIN_MB_US = 80.0, 500.0
"""What the stack does for a connection and for a megabyte, with or without TLS."""
_STACK_US, _JOBS_US, _REST_US = 100_000.0, 50_000.0, 300_000.0
_SHARES = (0.6, 0.3, 0.1)
"""Shares of the three jobs in the connections with TLS."""
_MINUTES = INTERVAL_S // 60
_WARM_UP = 200
_LOAD_SD, _MB_OF_CONNECTION, _MB_SD = 0.3, 0.05, 0.3


@dataclass(frozen=True)
class SpaceWorld:
    """The parameters of a world."""

    days: int = 14
    persistence: float = 0.8
    """Autocorrelation of loads and noise from interval to interval."""
    rate: float = 40.0
    """Connections with TLS per second."""
    full_us: float = FULL_US
    relative_full: tuple[float, float, float] = (1.0, 1.0, 1.0)
    """What a full handshake costs by job, as a ratio to `full_us`."""
    in_stack: float = 1.0
    """Share of the handshakes' CPU time that is charged to the stack."""
    bytes_in_stack: float = 1.0
    work_us: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """What an application does for a connection, by job."""
    work_of_mb_us: float = 0.0
    work_of_new_client_us: float = 0.0
    """Work for a new client, who has a full handshake."""
    plain: tuple[float, float, float] = (0.3, 0.0, 0.0)
    """Connections without TLS by job, as a ratio to those with TLS."""
    plain_work: float = 1.0
    """Work for a connection without TLS, as a ratio to the work for one with TLS."""
    plain_follows: float = 0.5
    """Correlation of the random load without TLS with that of TLS."""
    others_rate: float = 15.0
    """Connections per second of jobs that have no TLS."""
    mean_logit: float = 0.4
    """Mean logit of the resumed share: 0.4 is 57 %, 1.2 is 75 %."""
    mix_sd: float = 0.5
    mix_follows_load: float = 0.0
    noise: float = 1.0
    stack_noise: float = 0.1
    jobs_noise: float = 0.1
    other: float = 1.0
    """Size of other work outside, of which `inside` is the share in the jobs with TLS."""
    other_follows: float = 0.0
    """Correlation of that work with the random load of TLS."""
    inside: float = 0.0
    traffic: float = 0.0
    """Size of the stack's work for datagrams that belong to no connection."""
    traffic_follows: float = 0.0
    traffic_known: bool = False
    clock_minutes: int = 0
    """How far the clock of the counts is ahead of that of the CPU time."""
    lost: tuple[tuple[int, int], ...] = ()
    """First and last interval of times without counts."""


@dataclass(frozen=True)
class SpaceIntervals:
    """The intervals of a world, and what TLS cost in it."""

    columns: dict[str, Any] = field(repr=False)
    """With the names of the step cost_interval."""
    tls_s_per_day: float
    parts_s_per_day: tuple[float, float, float]
    """CPU time of full handshakes, of resumed ones and of bytes."""
    jobs_s_per_day: tuple[float, ...]

    def measured(self, *, spaces: bool = True, plain: bool = True) -> dict[str, Any]:
        """Return the columns that records of address spaces and of connections without TLS lead to."""
        hidden: set[str] = set()
        if not spaces:
            hidden |= {"tls_spaces_cpu_s", "stack_cpu_s"}
        if not plain:
            hidden |= {"plain_connections", "plain_mb"}
        return {name: None if name in hidden else column for name, column in self.columns.items()}


def space_intervals(world: SpaceWorld, seed: int) -> SpaceIntervals:
    """Return the intervals of a world."""
    return _Simulation(world, seed).intervals()


class _Simulation:
    """One replicate of a world, in minutes and with one interval more before and after it."""

    def __init__(self, world: SpaceWorld, seed: int) -> None:
        self.world = world
        self.random = np.random.default_rng(seed)
        self.count = world.days * DAY
        self.slot = np.arange(-1, self.count + 1)
        self.shock = self.persistent()

    def persistent(self) -> Series:
        """Return an autoregressive series of order 1 and variance 1, by interval."""
        keeps = self.world.persistence
        new = self.random.standard_normal(self.count + 2 + _WARM_UP) * np.sqrt(1 - keeps * keeps)
        for at in range(1, len(new)):
            new[at] += keeps * new[at - 1]
        return np.asarray(new[_WARM_UP:])

    def following(self, correlation: float) -> Series:
        """Return such a series with this correlation to the random load of TLS."""
        own = np.sqrt(1 - correlation**2)
        return np.asarray(correlation * self.shock + own * self.persistent())

    def load(self, correlation: float) -> Series:
        """Return a load around 1: office hours, weekends, and a random part."""
        hour = self.slot % DAY * 24 / DAY
        office = 1 / (1 + np.exp(-(hour - 8) / 0.4)) - 1 / (1 + np.exp(-(hour - 17.5) / 0.7))
        weekend = self.slot // DAY % 7 >= 5
        logarithm = 0.4 * _standardized(office) - 0.5 * weekend + _LOAD_SD * self.following(correlation)
        return np.asarray(np.exp(logarithm - logarithm.var() / 2))

    def minutes(self, rates: Series) -> Series:
        """Return the rates of the minutes, between those of the middles of the intervals."""
        at = np.arange(len(rates) * _MINUTES)
        return np.asarray(np.interp(at, np.arange(len(rates)) * _MINUTES + (_MINUTES - 1) / 2, rates))

    def counts(self, rates: Series) -> Series:
        """Return random numbers of connections per second, by minute."""
        return np.asarray(self.random.poisson(self.minutes(rates) * 60) / 60.0)

    def sizes(self) -> Series:
        """Return the megabytes of a connection, by minute."""
        return self.minutes(_MB_OF_CONNECTION * np.exp(_MB_SD * self.persistent()))

    def intervals(self) -> SpaceIntervals:
        """Return the intervals."""
        world = self.world
        full: list[Series] = []
        resumed: list[Series] = []
        mb: list[Series] = []
        plain: list[Series] = []
        plain_mb: list[Series] = []
        for share, ratio in zip(_SHARES, world.plain, strict=True):
            connections = world.rate * share * self.load(0.8)
            logit = world.mean_logit + world.mix_sd * self.persistent()
            logit += world.mix_follows_load * _standardized(np.log(connections))
            resumed_share = 1 / (1 + np.exp(-logit))
            full.append(self.counts(connections * (1 - resumed_share)))
            resumed.append(self.counts(connections * resumed_share))
            mb.append((full[-1] + resumed[-1]) * self.sizes())
            plain.append(self.counts(world.rate * share * ratio * self.load(world.plain_follows)))
            plain_mb.append(plain[-1] * self.sizes())
        others = self.counts(world.others_rate * self.load(world.plain_follows))
        others_mb = others * self.sizes()

        of_full = [world.full_us * of * each for of, each in zip(world.relative_full, full, strict=True)]
        handshakes = [of + RESUMED_US * each for of, each in zip(of_full, resumed, strict=True)]
        in_bytes = [MB_US * each for each in mb]
        tls = [of + each for of, each in zip(handshakes, in_bytes, strict=True)]
        unit = float(_by_interval(np.sum(tls, axis=0)).std())
        in_stack = [
            world.in_stack * of + world.bytes_in_stack * each
            for of, each in zip(handshakes, in_bytes, strict=True)
        ]
        all_connections = np.sum([*full, *resumed, *plain, others], axis=0)
        traffic = unit * world.traffic * np.repeat(self.following(world.traffic_follows), _MINUTES)
        stack = _STACK_US + _SET_UP_US * all_connections + traffic + np.sum(in_stack, axis=0)
        stack += _PLAIN_MB_US * np.sum([*mb, *plain_mb, others_mb], axis=0) + self.noise(
            world.stack_noise * unit
        )
        other = unit * world.other * np.repeat(self.following(world.other_follows), _MINUTES)
        jobs = np.zeros_like(stack)
        for at, share in enumerate(_SHARES):
            varies = np.repeat(1 + 0.1 * self.persistent(), _MINUTES)
            connections = full[at] + resumed[at] + world.plain_work * plain[at]
            work = world.work_us[at] * connections + world.work_of_mb_us * (mb[at] + plain_mb[at])
            work += world.work_of_new_client_us * full[at]
            jobs += _JOBS_US * share + varies * work + tls[at] - in_stack[at]
            jobs += self.noise(world.jobs_noise * unit * share) + world.inside * share * other
        rest = _REST_US + self.noise(world.noise * unit) + (1 - world.inside) * other

        def counted(rates: Series) -> Series:
            amount = INTERVAL_S * _by_interval(np.roll(rates, world.clock_minutes))[1:-1]
            for first, last in world.lost:
                amount[first:last] = np.nan
            return amount

        def cpu_s(rates: Series) -> Series:
            return INTERVAL_S * _by_interval(rates)[1:-1] / 1e6

        def per_day(rates: Series) -> float:
            return float(_by_interval(rates)[1:-1].mean()) * 86_400 / 1e6

        columns = {
            "start_local": MONDAY + np.arange(self.count) * np.timedelta64(INTERVAL_S, "s"),
            "seconds": np.full(self.count, float(INTERVAL_S)),
            "cpu_s": cpu_s(stack + jobs + rest),
            "full_handshakes": counted(np.sum(full, axis=0)),
            "resumed_handshakes": counted(np.sum(resumed, axis=0)),
            "tls_mb": counted(np.sum(mb, axis=0)),
            "tls_spaces_cpu_s": cpu_s(stack + jobs),
            "stack_cpu_s": cpu_s(stack),
            "plain_connections": counted(np.sum([*plain, others], axis=0)),
            "plain_mb": counted(np.sum([*plain_mb, others_mb], axis=0)),
            "datagrams": counted(1e3 + traffic) if world.traffic_known else None,
            "busy_share": np.full(self.count, 0.5),
        }
        return SpaceIntervals(
            columns,
            per_day(np.sum(tls, axis=0)),
            (
                per_day(np.sum(of_full, axis=0)),
                per_day(RESUMED_US * np.sum(resumed, axis=0)),
                per_day(np.sum(in_bytes, axis=0)),
            ),
            tuple(per_day(of_job) for of_job in tls),
        )

    def noise(self, size: float) -> Series:
        """Return noise that lasts, by minute."""
        return size * np.repeat(self.persistent(), _MINUTES)


def _by_interval(rates: Series) -> Series:
    return np.asarray(rates.reshape(-1, _MINUTES).mean(axis=1))


def _standardized(values: Series) -> Series:
    return np.asarray((values - values.mean()) / values.std())


def _of_all(work_us: float) -> tuple[float, float, float]:
    return (work_us, work_us, work_us)


_USUAL = SpaceWorld(bytes_in_stack=0.0, work_us=(5000.0, 2000.0, 10000.0))
"""Handshakes in the stack, bytes in the jobs, and ten times as much work of the applications as TLS."""
_CALLER = SpaceWorld(in_stack=0.0, bytes_in_stack=0.0)
SPACE_WORLDS = {
    "all in the stack": SpaceWorld(),
    "all in the caller": _CALLER,
    "half and half": SpaceWorld(in_stack=0.5, bytes_in_stack=0.5),
    "handshakes in the stack, bytes in the caller": SpaceWorld(bytes_in_stack=0.0),
    "stack, application 0.1 ms": SpaceWorld(work_us=_of_all(100.0)),
    "stack, application 1 ms": SpaceWorld(work_us=_of_all(1000.0)),
    "stack, application 5 ms": SpaceWorld(work_us=_of_all(5000.0)),
    "stack, application 20 ms": SpaceWorld(work_us=_of_all(20_000.0)),
    "caller, application 0.1 ms": replace(_CALLER, work_us=_of_all(100.0)),
    "caller, application 1 ms": replace(_CALLER, work_us=_of_all(1000.0)),
    "caller, application 5 ms": replace(_CALLER, work_us=_of_all(5000.0)),
    "caller, application 20 ms": replace(_CALLER, work_us=_of_all(20_000.0)),
    "usual": _USUAL,
    "usual, work for bytes": replace(_USUAL, work_of_mb_us=20_000.0),
    "stack, logon 10 ms": SpaceWorld(work_of_new_client_us=10_000.0),
    "caller, logon 10 ms": replace(_CALLER, work_of_new_client_us=10_000.0),
    "usual, logon 10 ms": replace(_USUAL, work_of_new_client_us=10_000.0),
    "30 % of other work inside": SpaceWorld(other=3.0, other_follows=0.95, inside=0.3),
    "caller, 30 % inside": replace(_CALLER, other=3.0, other_follows=0.95, inside=0.3),
    "plain load follows": replace(_USUAL, plain_follows=0.95),
    "nothing without TLS": replace(_USUAL, plain=(0.0, 0.0, 0.0), others_rate=0.0),
    "no plain of the jobs": replace(_USUAL, plain=(0.0, 0.0, 0.0)),
    "plain in all jobs": replace(_USUAL, plain=(0.5, 0.5, 0.5)),
    "plain does 40 % less": replace(_USUAL, plain=(0.5, 0.5, 0.5), plain_work=0.6),
    "rare plain": replace(_USUAL, plain=(0.02, 0.0, 0.0), others_rate=0.5),
    "noise lasts": replace(_USUAL, persistence=0.95),
    "other work follows": replace(_USUAL, other_follows=0.95, other=3.0),
    "other work gives way, r -0.2": replace(_USUAL, other_follows=-0.2),
    "other work gives way, r -0.5": replace(_USUAL, other_follows=-0.5),
    "stack, other work gives way, r -0.2": SpaceWorld(other_follows=-0.2),
    "mix follows load": replace(_USUAL, mix_follows_load=0.5, other_follows=0.95),
    "full costs 0.6, 1 and 3": replace(_USUAL, relative_full=(0.6, 1.0, 3.0)),
    "stack, full costs 0.6, 1 and 3": SpaceWorld(relative_full=(0.6, 1.0, 3.0)),
    "datagrams follow": replace(_USUAL, traffic=0.1, traffic_follows=0.95),
    "datagrams follow, three times": replace(_USUAL, traffic=0.3, traffic_follows=0.95),
    "datagrams follow, three times, counted": replace(
        _USUAL, traffic=0.3, traffic_follows=0.95, traffic_known=True
    ),
    "stack, datagrams follow, three times": SpaceWorld(traffic=0.3, traffic_follows=0.95),
    "few handshakes": replace(_USUAL, rate=0.4, others_rate=0.2),
    "constant mix": replace(_USUAL, mix_sd=0.03),
    "7 days": replace(_USUAL, days=7),
    "28 days": replace(_USUAL, days=28),
    "quiet stack": SpaceWorld(stack_noise=0.02, jobs_noise=0.02),
    "stack, noise lasts": SpaceWorld(persistence=0.95),
}
