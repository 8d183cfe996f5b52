"""What the data cover, for people: the days of each source of a system, their share, and a sentence.

The rows are those of the metric `coverage` by system, source and day. The terminal, the dashboard and the
report draw them and print the sentences.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Row = dict[str, Any]

METRIC = "coverage"
BY = ("system", "source", "day")
STATES = ("complete", "partial", "lost", "not known", "not recorded")
"""States of a day, the best first."""
COLUMNS = (
    *BY, "state", "loss", "hours", "covered_hours", "hours_with_loss", "hours_not_recorded",
    "hours_not_known",
)  # fmt: skip
"""Columns that the pictures and the sentences need."""
HEIGHTS = {"complete": 0.84, "partial": 0.42, "not recorded": 0.08}
"""In a picture: the heights of the states that are drawn as a bar."""
SIGNS = {"lost": "✕", "not known": "?"}
"""In a picture: the signs of the other states."""
PICTURE_LEGEND = (
    "Full height: complete; half: partial; ✕: lost; ?: not known; a line: not recorded; empty: no data of "
    "the system."
)
NOT_RECORDED = STATES[-1]
ONE_DAY = timedelta(days=1)
_ORDER = ("119-1/2", "119-11", "119-12", "119-5", "70", "72", "30", "RMF", "GSKSRVR", "MQ")
_MOST_DAYS_APART = 31
"""A longer time without data is left out."""


@dataclass(frozen=True, slots=True)
class CoveredSource:
    """The days of one source of a system."""

    source: str
    rows: tuple[Row, ...]

    @property
    def states(self) -> dict[date, str]:
        """The state of each day."""
        return {row["day"]: row["state"] for row in self.rows}

    def in_days(self, begin: date, end: date) -> CoveredSource:
        """Return the days from `begin` to before `end`."""
        return CoveredSource(self.source, tuple(row for row in self.rows if begin <= row["day"] < end))

    @property
    def hours(self) -> int:
        """The hours of the days."""
        return sum(row["hours"] for row in self.rows)

    @property
    def covered_pct(self) -> float:
        """The covered share of the hours."""
        return 100.0 * sum(row["covered_hours"] for row in self.rows) / self.hours if self.hours else 0.0

    @property
    def sentence(self) -> str:
        """What is missing of the source, and why."""
        parts = []
        if with_loss := [row for row in self.rows if row["hours_with_loss"]]:
            worst = max(with_loss, key=lambda row: (row["hours_with_loss"], row["day"]))
            lost = sum(row["hours_with_loss"] for row in with_loss)
            place = "on" if len(with_loss) == 1 else f"on {len(with_loss):,} days, most on"
            verb = "is" if lost == 1 else "are"
            parts.append(
                f"{_hours(lost)} of {self.source} {verb} lost or partial, {place} {worst['day']}: "
                f"{worst['loss']}"
            )
        if absent := sum(row["hours_not_recorded"] for row in self.rows):
            parts.append(f"{_hours(absent)} of {self.source} {'is' if absent == 1 else 'are'} not recorded")
        if unknown := sum(row["hours_not_known"] for row in self.rows):
            parts.append(f"of {_hours(unknown)} of {self.source} nothing shows whether the data cover them")
        text = "; ".join(parts) or f"{self.source}: {_hours(self.hours)}, no sign of a loss"
        return f"{text[0].upper()}{text[1:]}."


@dataclass(frozen=True, slots=True)
class CoveredSystem:
    """The days of one system."""

    system: str
    days: tuple[date, ...]
    """The days with data of any source."""
    recorded: tuple[CoveredSource, ...]
    """The sources that it recorded."""
    absent: tuple[str, ...]
    """The sources that it did not record on any of the days."""

    @property
    def title(self) -> str:
        """The system and the number of its days."""
        return f"{self.system}, {len(self.days):,} day{'s' * (len(self.days) != 1)}"

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is missing of each source, and why."""
        absent = (f"Not recorded: {', '.join(self.absent)}.",) if self.absent else ()
        return (*(source.sentence for source in self.recorded), *absent)


def covered_systems(rows: Iterable[Row]) -> list[CoveredSystem]:
    """Return the systems by name, each with its sources, those of connections first.

    >>> row = {"system": "SYSA", "source": "70", "day": date(2026, 3, 2), "state": "partial"}
    >>> row |= {"hours": 24, "covered_hours": 21.0, "hours_with_loss": 3}
    >>> row |= {"hours_not_recorded": 0, "hours_not_known": 0}
    >>> [found] = covered_systems([row | {"loss": "a gap in the intervals of a file"}])
    >>> found.title, found.sentences
    ('SYSA, 1 day', ('3 hours of 70 are lost or partial, on 2026-03-02: a gap in the intervals of a file.',))
    """
    systems: dict[str, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        systems[row["system"]][row["source"]].append(row)
    return [_system(name, by_source) for name, by_source in sorted(systems.items())]


def _system(name: str, by_source: dict[str, list[Row]]) -> CoveredSystem:
    ordered = sorted(
        by_source, key=lambda each: (_ORDER.index(each) if each in _ORDER else len(_ORDER), each)
    )
    sources = [CoveredSource(source, tuple(by_source[source])) for source in ordered]
    recorded = tuple(each for each in sources if set(each.states.values()) != {NOT_RECORDED})
    days = tuple(sorted({day for each in sources for day in each.states}))
    absent = tuple(each.source for each in sources if each not in recorded)
    return CoveredSystem(name, days, recorded, absent)


def day_blocks(days: Sequence[date], most: int) -> Iterator[tuple[date, int]]:
    """Yield first day and number of days of the strips: at most so many, without long times without data."""
    begin = days[0]
    for day, after in pairwise([*days, None]):
        assert day is not None, "only the last one has no next day"
        number = (day - begin).days + 1
        if after is None or (after - day).days > _MOST_DAYS_APART or (after - begin).days >= most:
            yield begin, number
            begin = after or begin


def _hours(number: int) -> str:
    return f"{number:,} hour{'s' * (number != 1)}"
