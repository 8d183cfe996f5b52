"""Worlds in which applications work for connections, with the CPU time of each address space and that of TLS.

They exist to test what of the CPU time that moves with TLS the estimate takes for TLS. Handshakes and bytes
are charged to the TCP/IP stack or to the job; the jobs work for their connections, with or without TLS. All
happens by the minute; what is measured are intervals.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from zscope.samples.cost_truth import MB_US, RESUMED_US
from zscope.samples.simulated_series import (
    DAY,
    INTERVAL_S,
    MONDAY,
    Series,
    autoregressive,
    disturbances,
    standardized,
)
from zscope.samples.space_worlds import HOURS_OF_DAY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zscope.samples.space_worlds import SpaceWorld

_SET_UP_US, _PLAIN_MB_US = 80.0, 500.0
"""What the stack does for a connection and for a megabyte, with or without TLS."""
_STACK_US, _JOBS_US, _REST_US = 100_000.0, 50_000.0, 300_000.0
_SHARES = (0.6, 0.3, 0.1)
"""Shares of the three jobs in the connections with TLS."""
_MINUTES = INTERVAL_S // 60
_HOUR_MINUTES = 60
_LOAD_SD, _MB_OF_CONNECTION, _MB_SD = 0.3, 0.05, 0.3
_MOST_LOAD_SD = 3.0
"""Beyond this, costs grow no more with the load."""
_DATAGRAMS = 1e3


@dataclass(frozen=True)
class SpaceIntervals:
    """The intervals of a world, and what TLS cost in it."""

    columns: dict[str, Any] = field(repr=False)
    """With the names of the step cost_interval."""
    tls_s_per_day: float
    parts_s_per_day: tuple[float, float, float]
    """CPU time of full handshakes, of resumed ones and of bytes."""
    jobs_s_per_day: tuple[float, ...]
    jobs: Series
    """The counts and the CPU time of the jobs: intervals x jobs x columns of the estimate (`JOB_COLUMNS`)."""

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


@dataclass(frozen=True)
class _Connections:
    """Connections and megabytes per second, by job and minute."""

    full: Series
    resumed: Series
    mb: Series
    plain: Series
    plain_mb: Series
    others: Series
    """Of jobs without TLS, by minute."""
    others_mb: Series

    @property
    def with_tls(self) -> Series:
        return np.asarray(self.full + self.resumed)

    @property
    def without_tls(self) -> Series:
        return np.asarray(self.plain.sum(axis=0) + self.others)

    @property
    def mb_without_tls(self) -> Series:
        return np.asarray(self.plain_mb.sum(axis=0) + self.others_mb)


@dataclass(frozen=True)
class _TlsCpu:
    """CPU time of TLS in microseconds per second, by job and minute."""

    full: Series
    resumed: Series
    mb: Series
    in_stack: Series
    """The part of all of it that is charged to the stack."""

    @property
    def all(self) -> Series:
        return np.asarray(self.full + self.resumed + self.mb)


@dataclass(frozen=True)
class _SystemCpu:
    """CPU time of a system in microseconds per second, by minute."""

    stack: Series
    traffic: Series
    """The part of the stack that is for datagrams of no connection."""
    jobs: Series
    """By job and minute."""
    rest: Series

    @property
    def spaces(self) -> Series:
        return np.asarray(self.stack + self.jobs.sum(axis=0))

    @property
    def all(self) -> Series:
        return np.asarray(self.spaces + self.rest)


class _Simulation:
    """One replicate of a world, in minutes and with one interval more before and after it."""

    def __init__(self, world: SpaceWorld, seed: int) -> None:
        self.world = world
        self.random = np.random.default_rng(seed)
        self.count = world.days * DAY
        self.slot = np.arange(-1, self.count + 1)
        self.weekend = self.slot // DAY % 7 >= 5
        hour = self.slot % DAY * HOURS_OF_DAY / DAY
        self.office = standardized(
            1 / (1 + np.exp(-(hour - 8) / 0.4)) - 1 / (1 + np.exp(-(hour - 17.5) / 0.7))
        )
        self.shock = self.persistent()

    def intervals(self) -> SpaceIntervals:
        """Return the intervals."""
        connections = self.connections()
        tls = self.tls(connections)
        cpu = self.system(connections, tls)
        columns, jobs = self.measured(connections, cpu)
        return SpaceIntervals(
            columns,
            _s_per_day(tls.all.sum(axis=0)),
            (
                _s_per_day(tls.full.sum(axis=0)),
                _s_per_day(tls.resumed.sum(axis=0)),
                _s_per_day(tls.mb.sum(axis=0)),
            ),
            tuple(_s_per_day(of_job) for of_job in tls.all),
            jobs,
        )

    def persistent(self) -> Series:
        """Return an autoregressive series of variance 1, by interval."""
        return autoregressive(self.random, (self.count + 2,), self.world.persistence)

    def following(self, correlation: float) -> Series:
        """Return such a series with this correlation to the random load of TLS."""
        own = np.sqrt(1 - correlation**2)
        return np.asarray(correlation * self.shock + own * self.persistent())

    def noise(self, size: float) -> Series:
        """Return noise that lasts, by minute."""
        return np.asarray(size * _by_minute(self.persistent()))

    def load(self, correlation: float) -> Series:
        """Return a load around 1: office hours, weekends, and a random part."""
        logarithm = 0.4 * self.office - 0.5 * self.weekend + _LOAD_SD * self.following(correlation)
        return np.asarray(np.exp(logarithm - logarithm.var() / 2))

    def counts(self, rates: Series) -> Series:
        """Return random numbers of connections per second, by minute."""
        return np.asarray(self.random.poisson(_between(rates) * 60) / 60.0)

    def sizes(self) -> Series:
        """Return the megabytes of a connection, by minute."""
        return _between(_MB_OF_CONNECTION * np.exp(_MB_SD * self.persistent()))

    def connections(self) -> _Connections:
        """Return what the jobs and their clients do."""
        world = self.world
        by_job: list[tuple[Series, ...]] = []
        for share, ratio in zip(_SHARES, world.plain, strict=True):
            rate = world.rate * share * self.load(0.8)
            logit = world.mean_logit + world.mix_sd * self.persistent()
            logit += world.mix_follows_load * standardized(np.log(rate))
            resumed_share = 1 / (1 + np.exp(-logit))
            full = self.counts(rate * (1 - resumed_share))
            resumed = self.counts(rate * resumed_share)
            mb = (full + resumed) * self.sizes()
            plain = self.counts(world.rate * share * ratio * self.load(world.plain_follows))
            by_job.append((full, resumed, mb, plain, plain * self.sizes()))
        others = self.counts(world.others_rate * self.load(world.plain_follows))
        full, resumed, mb, plain, plain_mb = (np.stack(column) for column in zip(*by_job, strict=True))
        return _Connections(full, resumed, mb, plain, plain_mb, others, others * self.sizes())

    def tls(self, connections: _Connections) -> _TlsCpu:
        """Return what TLS costs."""
        world = self.world
        load = standardized(np.log(connections.with_tls.sum(axis=0) + 0.01))
        of_load = 1 + world.costs_follow_load * np.clip(load, -_MOST_LOAD_SD, _MOST_LOAD_SD)
        full_us = world.full_us * np.array(world.relative_full)[:, None]
        full = full_us * connections.full * of_load
        resumed = RESUMED_US * connections.resumed * of_load
        mb = MB_US * connections.mb * of_load
        in_stack = world.in_stack * (full + resumed) + world.bytes_in_stack * mb
        if world.common_in_stack is not None:
            common = RESUMED_US * connections.with_tls * of_load
            in_stack += (world.common_in_stack - world.in_stack) * common
        return _TlsCpu(full, resumed, mb, in_stack)

    def system(self, connections: _Connections, tls: _TlsCpu) -> _SystemCpu:
        """Return the CPU time of the address spaces."""
        world = self.world
        unit = float(_by_interval(tls.all.sum(axis=0)).std())
        traffic = unit * world.traffic * _by_minute(self.following(world.traffic_follows))
        stack = _STACK_US + traffic + tls.in_stack.sum(axis=0) + self.noise(world.stack_noise * unit)
        stack += _SET_UP_US * (connections.with_tls.sum(axis=0) + connections.without_tls)
        stack += _PLAIN_MB_US * (connections.mb.sum(axis=0) + connections.mb_without_tls)
        other = unit * world.other * self.following(world.other_follows)
        other += unit * world.other_follows_clock * (self.office - 2 * self.weekend)
        other = _by_minute(other)
        jobs = self.applications(connections) + tls.all - tls.in_stack
        for of_job, share in enumerate(_SHARES):
            jobs[of_job] += _JOBS_US * share + self.noise(world.jobs_noise * unit * share)
            jobs[of_job] += world.inside * share * other
        rest = _REST_US + self.noise(world.noise * unit) + (1 - world.inside) * other
        irregular = disturbances(
            self.random, (1, self.count), shifts=world.shifts, batch=world.batch, spikes=world.spikes
        )
        rest += unit * _by_minute(np.pad(irregular[0], 1, mode="edge"))
        return _SystemCpu(stack, traffic, jobs, rest)

    def applications(self, connections: _Connections) -> Series:
        """Return what the applications of each job do for its connections."""
        world = self.world
        work = np.array(world.work_us)[:, None] * (
            connections.with_tls + world.plain_work * connections.plain
        )
        work += world.work_of_mb_us * (connections.mb + connections.plain_mb)
        work += world.work_of_new_client_us * connections.full
        clock = 1 + world.work_follows_clock * self.office
        varies = np.stack([clock + world.work_varies * self.persistent() for _ in _SHARES])
        return np.asarray(_by_minute(varies) * work)

    def measured(self, connections: _Connections, cpu: _SystemCpu) -> tuple[dict[str, Any], Series]:
        """Return the columns of the intervals and those of the jobs, as a store would have them."""
        world = self.world
        recorded = self.recorded_share()
        lost = self.lost()

        def counted(rates: Series) -> Series:
            by_their_clock = np.roll(recorded * rates, world.clock_minutes)
            return np.where(lost, np.nan, INTERVAL_S * _by_interval(by_their_clock)[1:-1])

        def of_spaces_s(rates: Series) -> Series:
            return INTERVAL_S * _apportioned(rates, world.spaces_late_minutes)[1:-1] / 1e6

        by_job = [
            (
                counted(full),
                counted(resumed),
                counted(mb),
                counted(plain),
                counted(plain_mb),
                of_spaces_s(cpu_us),
            )
            for full, resumed, mb, plain, plain_mb, cpu_us in zip(
                *(connections.full, connections.resumed, connections.mb),
                *(connections.plain, connections.plain_mb, cpu.jobs),
                strict=True,
            )
        ]
        cpu_s = INTERVAL_S * _by_interval(cpu.all)[1:-1] / 1e6
        most_s = float(np.quantile(cpu_s, world.limit)) if world.limit < 1 else 2 * float(cpu_s.max())
        columns = {
            "start_local": MONDAY + np.arange(self.count) * np.timedelta64(INTERVAL_S, "s"),
            "seconds": np.full(self.count, float(INTERVAL_S)),
            "cpu_s": np.minimum(cpu_s, most_s),
            "full_handshakes": counted(connections.full.sum(axis=0)),
            "resumed_handshakes": counted(connections.resumed.sum(axis=0)),
            "tls_mb": counted(connections.mb.sum(axis=0)),
            "tls_spaces_cpu_s": of_spaces_s(cpu.spaces),
            "stack_cpu_s": of_spaces_s(cpu.stack),
            "plain_connections": counted(connections.without_tls),
            "plain_mb": counted(connections.mb_without_tls),
            "datagrams": counted(_DATAGRAMS + cpu.traffic) if world.traffic_known else None,
            "busy_share": np.minimum(cpu_s, most_s) / most_s,
        }
        return columns, np.stack([np.stack(job, axis=1) for job in by_job], axis=1)

    def recorded_share(self) -> Series:
        """Return the share of the records that are not lost, by minute."""
        recorded = np.ones(self.count + 2)
        recorded[1:-1][self.within(self.world.halved_hours)] = 0.5
        return _by_minute(recorded)

    def lost(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return which intervals have no counts: those of hours in which records were lost."""
        of_hour = DAY // HOURS_OF_DAY
        missing = self.within(self.world.lost_hours)
        if self.world.lost_share:
            missing |= self.random.random(self.count) < self.world.lost_share
        return np.repeat(missing.reshape(-1, of_hour).any(axis=1), of_hour)

    def within(self, hours: Iterable[tuple[int, int]]) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return which intervals are in these hours."""
        hour = np.arange(self.count) * HOURS_OF_DAY // DAY
        inside = np.zeros(self.count, bool)
        for first, end in hours:
            inside |= (first <= hour) & (hour < end)
        return inside


def _by_interval(rates: Series) -> Series:
    return np.asarray(rates.reshape(-1, _MINUTES).mean(axis=1))


def _by_minute(rates: Series) -> Series:
    return np.repeat(rates, _MINUTES, axis=-1)


def _between(rates: Series) -> Series:
    """Return the rates of the minutes, between those of the middles of the intervals."""
    at = np.arange(len(rates) * _MINUTES)
    return np.asarray(np.interp(at, np.arange(len(rates)) * _MINUTES + (_MINUTES - 1) / 2, rates))


def _apportioned(rates: Series, late_minutes: int) -> Series:
    """Return the rates of the intervals from intervals that begin later, as a store has them: by time."""
    measured = _by_interval(np.roll(rates, -late_minutes))
    of_one_before = late_minutes / _MINUTES
    return np.asarray((1 - of_one_before) * measured + of_one_before * np.roll(measured, 1))


def _s_per_day(rates: Series) -> float:
    return float(_by_interval(rates)[1:-1].mean()) * 86_400 / 1e6
