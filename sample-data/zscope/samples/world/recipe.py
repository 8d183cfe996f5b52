"""Recipes of worlds. The same recipe always gives the same files."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from zscope.samples.dump.recipe import YEARS, Recipe, RecipeError, System
from zscope.samples.world.cost import CostModel

RunChoice = Literal["all", "few", "none"]
RUN_CHOICES: tuple[RunChoice, ...] = ("all", "few", "none")
PACKINGS = ("none", "gzip")
OFFSET_MINUTES = 60
ZONE = "+01:00"
"""The clocks of all systems are an hour ahead of UTC, also in summer."""
SYSTEMS = (
    System("CLI1", "3.2", OFFSET_MINUTES),
    System("CLI2", "V2R3", OFFSET_MINUTES),
    System("SRV1", "3.2", OFFSET_MINUTES),
    System("SRV2", "3.2", OFFSET_MINUTES),
)
NAMES = tuple(system.name for system in SYSTEMS)
CLIENTS = 2
"""The first two systems are clients, the others servers."""
MINUTE_US = 60_000_000
DAY_US = 1_440 * MINUTE_US
INTERVAL_MINUTES, RUN_INTERVAL_MINUTES = 15, 1
INTERVALS_A_DAY = 1_440 // INTERVAL_MINUTES
NIGHTS = 2


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
    correlated: bool = False
    """Follow every full handshake by one resumption, so that their costs cannot be separated."""
    cost: CostModel = field(default_factory=CostModel)
    packing: str = "none"

    def __post_init__(self) -> None:
        midnight = self.start.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        checks = (
            (self.start.utcoffset() is None, "the start needs a time zone, preferably UTC"),
            (self.start != midnight, "a world must start at midnight UTC"),
            (not YEARS[0] < self.start.year < YEARS[1],
             f"dates must be from {YEARS[0] + 1} to {YEARS[1] - 1}"),
            (not 1 <= self.days <= 366, "a world must have from 1 to 366 days"),
            (not 4 <= self.connections_per_hour <= 1_000_000,
             "an hour must have from 4 to 1,000,000 connections"),
            (self.runs not in RUN_CHOICES, f"runs must be one of {', '.join(RUN_CHOICES)}"),
            (not 5 <= self.run_minutes <= 20, "a run must last from 5 to 20 minutes"),
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

    def record_recipe(self, interval_minutes: int) -> Recipe:
        """Return the recipe for the generators of records."""
        end = self.start + timedelta(days=self.days + NIGHTS)
        return Recipe(
            seed=self.seed, start=self.start, end=end, systems=SYSTEMS, interval_minutes=interval_minutes
        )

    def to_json(self) -> dict[str, Any]:
        """Return the recipe as JSON values, without the cost model."""
        names = ("seed", "days", "connections_per_hour", "runs", "run_minutes", "correlated", "packing")
        return {"start": self.start.isoformat(), **{name: getattr(self, name) for name in names}}


def small_world() -> WorldRecipe:
    """Return the recipe of the world in sample-data: a day and two nights of runs, small enough to load at
    once.
    """
    return WorldRecipe(days=1, connections_per_hour=40, run_minutes=8, packing="gzip")


def microseconds(time: datetime) -> int:
    """Return the microseconds since 1970."""
    return (time - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def moment(microseconds: int) -> datetime:
    """Return a time in UTC."""
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)
