"""How long days stay in the store: periods such as `400d`, and what their end removes, in words."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import TYPE_CHECKING

from zscope.schemas.errors import Error

if TYPE_CHECKING:
    from zscope.pipelines.store.maintenance import ExpireResult

_PERIOD = re.compile(r"(\d{1,6})\s*([dwmy]?)", re.IGNORECASE)
_DAYS = {"": 1, "d": 1, "w": 7, "m": 31, "y": 366}


class PeriodError(Error, ValueError):
    """A text that is not a period."""


def days_in(text: str) -> int:
    """Convert a period to days; months and years count with their longest length.

    >>> days_in("400d"), days_in("13m")
    (400, 403)
    """
    if (match := _PERIOD.fullmatch(text.strip())) is None or int(match[1]) < 1:
        raise PeriodError(f"{text!r} is not a period such as 400d, 60w, 13m or 2y")
    return int(match[1]) * _DAYS[match[2].lower()]


def first_kept_day(today: date, kept_days: int) -> date:
    """Return the first day that is kept.

    >>> str(first_kept_day(date(2026, 3, 2), 31)), str(first_kept_day(date(2026, 3, 2), 999_999))
    ('2026-01-30', '0001-01-01')
    """
    return today - timedelta(days=min(kept_days, today.toordinal() - 1))


def describe_expired(expired: ExpireResult, first_kept: date, *, dry_run: bool) -> str:
    """Describe what was removed, or with `dry_run` what would be."""
    if not expired.files:
        return f"there are no rows older than {first_kept}"
    verb = "would be removed" if dry_run else "removed"
    return (
        f"{expired.rows:,} rows of {expired.days:,} days before {first_kept} {verb}, "
        f"{expired.bytes / 1e6:,.1f} MB"
    )
