"""Days and moments as users write them, and the period between two of them."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

import click

YEARS = (1970, 2999)
"""SMF knows none before; far beyond, days cannot be counted with any more."""


def day_or_moment(text: str) -> date:
    """A day in UTC, or a moment: in UTC unless it says another offset.

    >>> day_or_moment("2026-03-02T09:00+01:00")
    datetime.datetime(2026, 3, 2, 8, 0, tzinfo=datetime.timezone.utc)
    """
    try:
        found = date.fromisoformat(text) if len(text) <= len("2026-03-02") else datetime.fromisoformat(text)
    except ValueError as error:
        raise click.BadParameter(f"{text!r} is no day such as 2026-03-02 or 2026-03-02T09:41Z") from error
    if not YEARS[0] <= found.year <= YEARS[1]:
        raise click.BadParameter(f"{text!r} is far from any data; years go from {YEARS[0]} to {YEARS[1]}")
    if isinstance(found, datetime):
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    return found


def start_of(day: date) -> datetime:
    """Where a day begins; a moment is that moment."""
    return day if isinstance(day, datetime) else datetime.combine(day, time(), UTC)


def period(begin: date | None, end: date | None) -> tuple[datetime | None, datetime | None]:
    """From when on and before when, of days that are both within the period or of moments.

    >>> [f"{moment:%d %H}" for moment in period(date(2026, 3, 2), date(2026, 3, 2)) if moment]
    ['02 00', '03 00']
    """
    first = None if begin is None else start_of(begin)
    last = None if end is None else start_of(end)
    if last is not None and not isinstance(end, datetime):
        last += timedelta(days=1)
    if first is not None and last is not None and last <= first:
        raise click.UsageError(f"--to {end} is not after --from {begin}: there is nothing between them")
    return first, last
