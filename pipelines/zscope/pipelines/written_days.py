"""Days as people on z/OS write them."""

from __future__ import annotations

import re
from calendar import isleap
from datetime import date, timedelta

_JULIAN = re.compile(r"(\d{4})[./-]?(\d{3})")


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
