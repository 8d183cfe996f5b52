"""Days as people on z/OS write them, and periods of days."""

from __future__ import annotations

import re
from calendar import isleap
from dataclasses import dataclass
from datetime import date, timedelta

_JULIAN = re.compile(r"(\d{4})[./-]?(\d{3})")
_MONTH = re.compile(r"(\d{4})-(\d{2})")
_WEEK = re.compile(r"(\d{4})-?W(\d{2})")
_DAYS_OF_WEEK = 7
_FRIDAY = 5
_ALIKE = 0.1
"""Largest difference in the share of weekend days that is not reported."""


def parse_day(text: str) -> date:
    """Parse a day: 2026-03-05, or with the number of the day in the year 2026.064 or 2026064.

    >>> parse_day("2026-03-05") == parse_day("2026.064") == parse_day("2026064")
    True
    """
    match = _JULIAN.fullmatch(text.strip())
    if match is None:
        return date.fromisoformat(text)
    year, number = int(match[1]), int(match[2])
    if not 1 <= number <= 365 + isleap(year):
        raise ValueError(f"{text}: the year {year} has no day {match[2]}")
    return date(year, 1, 1) + timedelta(days=number - 1)


@dataclass(frozen=True, slots=True)
class DaysPeriod:
    """A period of whole days."""

    first: date
    last: date
    is_month: bool = False

    @property
    def before(self) -> DaysPeriod:
        """The period to compare it with: the month before, or else the same days of the week before.

        As many weeks before as it takes for the two not to overlap.

        >>> parse_period("2026-03-09").before == parse_period("2026-03-02")
        True
        """
        if self.is_month:
            last = self.first - timedelta(days=1)
            return DaysPeriod(last.replace(day=1), last, is_month=True)
        weeks = (self.last - self.first).days // _DAYS_OF_WEEK + 1
        earlier = timedelta(days=weeks * _DAYS_OF_WEEK)
        return DaysPeriod(self.first - earlier, self.last - earlier)


def weekend_note(a: DaysPeriod, b: DaysPeriod) -> str:
    """Return a note if one of two periods has a larger part of its days on Saturdays and Sundays.

    >>> weekend_note(parse_period("2026-03-09..2026-03-12"), parse_period("2026-03-13..2026-03-16"))
    'A has 0 of 4 days on a Saturday or Sunday, B has 2 of 4: changes can come from that alone'
    >>> weekend_note(parse_period("2026-W10"), parse_period("2026-W11"))
    ''
    """
    counts = []
    for period in (a, b):
        length = (period.last - period.first).days + 1
        of_weekend = sum((period.first + timedelta(days=n)).isoweekday() > _FRIDAY for n in range(length))
        counts.append((of_weekend, length))
    (in_a, days_a), (in_b, days_b) = counts
    # Months have four or five weekends.
    if abs(in_a / days_a - in_b / days_b) <= _ALIKE:
        return ""
    return (
        f"A has {in_a} of {days_a} days on a Saturday or Sunday, B has {in_b} of {days_b}: "
        "changes can come from that alone"
    )


def parse_period(text: str) -> DaysPeriod:
    """Parse a day, a week 2026-W10, a month 2026-03 or a span of days 2026-03-02..2026-03-08.

    >>> parse_period("2026-W10") == parse_period("2026-03-02..2026-03-08")
    True
    """
    text = text.strip()
    first_text, dots, last_text = text.partition("..")
    if dots:
        first, last = parse_day(first_text), parse_day(last_text)
        if last < first:
            raise ValueError(f"{text}: the last day is before the first")
        return DaysPeriod(first, last)
    if match := _WEEK.fullmatch(text):
        monday = date.fromisocalendar(int(match[1]), int(match[2]), 1)
        return DaysPeriod(monday, monday + timedelta(days=_DAYS_OF_WEEK - 1))
    if match := _MONTH.fullmatch(text):
        first = date(int(match[1]), int(match[2]), 1)
        return DaysPeriod(
            first, (first + timedelta(days=31)).replace(day=1) - timedelta(days=1), is_month=True
        )
    day = parse_day(text)
    return DaysPeriod(day, day)
