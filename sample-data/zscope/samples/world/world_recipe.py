"""Recipes of worlds. The same recipe always gives the same files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

from zscope.parsers.zones import zone_of
from zscope.samples.dump.recipe import YEARS, Recipe, RecipeError, System, SystemClockChange, microseconds
from zscope.samples.world.cost import CostModel
from zscope.samples.world.world_scenario import SCENARIO

if TYPE_CHECKING:
    from zscope.samples.world.declared_runs import DeclaredRun

RunChoice = Literal["all", "few", "none"]
RUN_CHOICES: tuple[RunChoice, ...] = ("all", "few", "none")
Recording = Literal["connections", "counts"]
RECORDINGS: tuple[Recording, ...] = ("connections", "counts")
PACKINGS = ("none", "gzip")
ZONE = "+01:00"
"""The zone of the sample data: clocks are an hour ahead of UTC, also in summer."""
WORLD_SYSTEMS = SCENARIO.system
SYSTEMS = tuple(System(system.name, system.level) for system in WORLD_SYSTEMS)
NAMES = tuple(system.name for system in SYSTEMS)
CLIENTS = sum(system.role == "client" for system in WORLD_SYSTEMS)
"""The first systems are clients, the others servers."""
MINUTE_US = 60_000_000
DAY_US = 1_440 * MINUTE_US
INTERVAL_MINUTES, RUN_INTERVAL_MINUTES = 15, 1
INTERVALS_A_DAY = 1_440 // INTERVAL_MINUTES
CONNECTION_NUMBERS = 1 << 32
NIGHTS = 2
CONNECTIONS_A_ROW = 250
"""Connections that one row stands for while connections are only counted."""
_RECORDED_INTERVAL = 8
"""Interval of the last day, in the night, in which connections have records of their own."""


@dataclass(frozen=True, slots=True)
class WorldRecipe:
    """All properties of a world; the defaults give a week."""

    seed: int = 1
    start: datetime = datetime(2026, 3, 9, tzinfo=UTC)
    days: int = 7
    connections_per_hour: int = 240
    """Between all systems, on average over a working day."""
    runs: RunChoice = "all"
    run_minutes: int = 12
    planned: tuple[DeclaredRun, ...] = ()
    """Runs in place of those of `benchmark_runs.toml`."""
    recording: Recording = "connections"
    """`connections`: every connection has SMF records at both ends. `counts`: connections are in the
    counters of stacks, zERT summaries and session caches, and have records of their own only in one interval
    and in the nights of runs.
    """
    resumed_share: float = 0.5
    """Mean share of resumed handshakes, which varies from interval to interval."""
    correlated: bool = False
    """Follow every full handshake by one resumption, so that their costs cannot be separated."""
    cost: CostModel = field(default_factory=CostModel)
    packing: str = "none"
    zone: str = ZONE
    """The zone of the clocks of all systems, as in zscope.toml, except those with one of their own."""
    zones: Mapping[str, str] = field(default_factory=dict, hash=False)
    holidays: tuple[int, ...] = ()
    """Days with the load of a Sunday, whatever their weekday; the first day is 0."""
    processors_added_at: datetime | None = None
    """From the first interval after it on, every system has two processors more."""
    connection_numbers: int = CONNECTION_NUMBERS
    """After so many connections, a stack uses their numbers again."""
    kept_open: Mapping[str, int] = field(default_factory=dict, hash=False)
    """By client, how many successive connections with TLS to a service of a server are a single one that
    stays open.
    """
    other_suites: Mapping[str, str] = field(default_factory=dict, hash=False)
    """By suite, the one that its connections have instead."""

    def __post_init__(self) -> None:
        offset_us = self.systems[0].utc_offset_minutes * MINUTE_US
        start_us = microseconds(self.start if self.start.tzinfo else self.start.replace(tzinfo=UTC))
        after_midnight_us = min(start_us % DAY_US, (start_us + offset_us) % DAY_US)
        checks = (
            (self.start.utcoffset() is None, "the start needs a time zone, preferably UTC"),
            (after_midnight_us >= INTERVAL_MINUTES * MINUTE_US or after_midnight_us % MINUTE_US > 0,
             "a world must start at midnight UTC or at midnight of its clocks, or some minutes later"),
            (not YEARS[0] < self.start.year < YEARS[1],
             f"dates must be from {YEARS[0] + 1} to {YEARS[1] - 1}"),
            (not 1 <= self.days <= 366, "a world must have from 1 to 366 days"),
            (not 4 <= self.connections_per_hour <= 1_000_000,
             "an hour must have from 4 to 1,000,000 connections"),
            (self.runs not in RUN_CHOICES, f"runs must be one of {', '.join(RUN_CHOICES)}"),
            (not 5 <= self.run_minutes <= 20, "a run must last from 5 to 20 minutes"),
            (self.recording not in RECORDINGS, f"recording must be one of {', '.join(RECORDINGS)}"),
            (self.recording == "counts" and self.correlated,
             "pairs of full and resumed handshakes need a recording of connections"),
            (not 0.2 <= self.resumed_share <= 0.8, "the resumed share must be from 0.2 to 0.8"),
            (bool(self.kept_open) and (self.recording == "counts" or self.correlated),
             "connections that stay open need a recording of connections, and no pairs of them"),
            (not {*self.kept_open} <= {*NAMES[:CLIENTS]} or min(self.kept_open.values(), default=1) < 1,
             f"kept_open has numbers from 1 on of the clients {', '.join(NAMES[:CLIENTS])}"),
            (not _are_alike(self.other_suites),
             "other_suites has suites of the scenario, each with another one of the same version of TLS"),
            (self.packing not in PACKINGS, f"packing must be one of {', '.join(PACKINGS)}"),
            (self.seed < 0, "the seed cannot be negative"),
        )  # fmt: skip
        for wrong, text in checks:
            if wrong:
                raise RecipeError(text)

    @property
    def start_us(self) -> int:
        """Start in microseconds since 1970."""
        return microseconds(self.start)

    def day_us(self, day: int) -> int:
        """Return the start of a day; the nights of benchmark runs follow the days of traffic."""
        return self.start_us + day * DAY_US

    @property
    def systems(self) -> tuple[System, ...]:
        """The systems with their clocks."""
        return tuple(self._with_clock(system) for system in SYSTEMS)

    def _with_clock(self, system: System) -> System:
        zone = self.zones.get(system.name, self.zone)
        hours = [self.start + timedelta(hours=hour) for hour in range(24 * (self.days + NIGHTS))]
        minutes = _offset_minutes(zone, self.start)
        later = ((hour, _offset_minutes(zone, hour)) for hour in hours)
        change = next((SystemClockChange(*each) for each in later if each[1] != minutes), None)
        return replace(system, utc_offset_minutes=minutes, clock_change=change)

    @property
    def weekday(self) -> int:
        """Day of the week on which the clocks of the systems are at the start."""
        return self.systems[0].local(self.start).weekday()

    @property
    def change_day(self) -> int:
        """First day with the changed AT-TLS policy; the number of days if there is no change."""
        return self.days // 2 if self.recording == "counts" and self.days > 1 else self.days

    @property
    def recorded_us(self) -> tuple[int, int]:
        """Start and end of the time in which all connections have records of their own."""
        if self.recording == "connections":
            return self.start_us, self.day_us(self.days + NIGHTS)
        begin = self.day_us(self.days - 1) + _RECORDED_INTERVAL * INTERVAL_MINUTES * MINUTE_US
        return begin, begin + INTERVAL_MINUTES * MINUTE_US

    @property
    def summary_us(self) -> int:
        """Length of the intervals of zERT summaries."""
        return (60 if self.recording == "connections" else 30) * MINUTE_US

    @property
    def display_hours(self) -> range:
        """Hours of a day at which the caches of System SSL are displayed."""
        return range(0, 24, 6 if self.recording == "connections" else 3)

    def record_recipe(self, interval_minutes: int) -> Recipe:
        """Return the recipe for the generators of records."""
        end = self.start + timedelta(days=self.days + NIGHTS)
        return Recipe(
            seed=self.seed, start=self.start, end=end, systems=self.systems, interval_minutes=interval_minutes
        )

    def to_json(self) -> dict[str, Any]:
        """Return the recipe as JSON values, without the cost model and what is special about few worlds."""
        names = (
            "seed", "days", "connections_per_hour", "runs", "run_minutes", "recording",
            "resumed_share", "correlated", "packing",
        )  # fmt: skip
        special = {
            "zone": (self.zone, ZONE),
            "zones": (dict(self.zones), {}),
            "holidays": (list(self.holidays), []),
            "processors_added_at": (self.processors_added_at and self.processors_added_at.isoformat(), None),
            "connection_numbers": (self.connection_numbers, CONNECTION_NUMBERS),
            "kept_open": (dict(self.kept_open), {}),
            "other_suites": (dict(self.other_suites), {}),
            "planned": ([run.name for run in self.planned], []),
        }
        return {
            "start": self.start.isoformat(),
            **{name: getattr(self, name) for name in names},
            **{name: value for name, (value, usual) in special.items() if value != usual},
        }


def small_world() -> WorldRecipe:
    """Return the recipe of the world in sample-data: a week and two nights of runs, small enough to load at
    once.
    """
    return WorldRecipe(
        start=datetime(2026, 3, 8, 23, tzinfo=UTC),
        connections_per_hour=90_000,
        run_minutes=8,
        recording="counts",
        packing="gzip",
    )


def _are_alike(other_suites: Mapping[str, str]) -> bool:
    """Tell whether each suite has the version of TLS of the one that it replaces."""
    versions = {suite.code: suite.version for suite in SCENARIO.suite}
    return all(versions.get(old, "none") == versions.get(new) for old, new in other_suites.items())


def moment(microseconds: int) -> datetime:
    """Return a time in UTC."""
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)


def _offset_minutes(zone: str, at: datetime) -> int:
    """Return how far clocks of a zone are ahead of UTC at a time."""
    offset = at.astimezone(zone_of(zone)).utcoffset()
    return offset // timedelta(minutes=1) if offset else 0
