"""The period of a page: all days, a period relative to the newest data, chosen days, or moments.

A relative period is in the address as words, so a bookmark of the last week shows the last week of the data
that are loaded when it is opened. Moments come from a range that the reader has marked in a chart over time.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

ALL = "all"
_DAY = timedelta(days=1)
_RELATIVE = {"last day": (0, 0), "last week": (6, 0), "same day last week": (7, 7)}
"""Days of the first and of the last day before the newest day of the data."""


@dataclass(frozen=True, slots=True)
class Period:
    """A period, in the forms in which widgets, addresses and queries need it."""

    address: tuple[str, ...] = ()
    """The values of the parameter in the address; empty for all days."""
    words: str = ALL
    """Its name among the buttons; empty for chosen days."""
    days: tuple[date, ...] = ()
    """The first and the last day; only one while the reader has chosen one."""
    begin: datetime | None = None
    """First moment, in UTC."""
    end: datetime | None = None
    """First moment after it, in UTC."""


ALL_DAYS = Period()


def relative_periods(first: datetime, newest: datetime) -> tuple[str, ...]:
    """Return the relative periods that begin within the data.

    >>> relative_periods(datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 7, 23, tzinfo=UTC))
    ('last day', 'last week')
    """
    return tuple(
        words for words, (before, _) in _RELATIVE.items() if newest.date() - before * _DAY >= first.date()
    )


def read_period(
    wanted: Sequence[str],
    first: datetime | None,
    last: datetime | None,
    newest: datetime | None = None,
) -> Period:
    """Return the period with these values in the address, as far as the data reach; else all days.

    `first` and `last` are the first and the last hour of the data. Relative periods end with the day of
    `newest`, or of the last hour.

    >>> first, last = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 10, 23, tzinfo=UTC)
    >>> [str(day) for day in read_period(["same day last week"], first, last).days]
    ['2026-03-03']
    >>> read_period(["2026-03-09T10:00", "2026-03-09T14:30"], first, last).words
    '2026-03-09 10:00 to 14:30'
    >>> [str(day) for day in read_period(["2026-02-01", "2026-03-02"], first, last).days]
    ['2026-03-01', '2026-03-02']
    >>> read_period(["1999-01-01"], first, last) == read_period(["tomorrow"], first, last) == ALL_DAYS
    True
    """
    if not wanted or first is None or last is None:
        return ALL_DAYS
    if len(wanted) == 1 and wanted[0] in _RELATIVE:
        return _relative(wanted[0], first, newest or last)
    try:
        moments = sorted(_moment(text) for text in wanted)
    except ValueError:
        return ALL_DAYS
    if any("T" in text for text in wanted):
        return _between(moments[0], moments[-1], first, last)
    return _of_days([moment.date() for moment in moments], first.date(), last.date())


def between(begin: datetime, end: datetime) -> tuple[str, str]:
    """Return the values in the address for the time between two moments, in whole minutes.

    >>> between(datetime(2026, 3, 9, 10, 0, 12, tzinfo=UTC), datetime(2026, 3, 9, 10, 30, 1, tzinfo=UTC))
    ('2026-03-09T10:00', '2026-03-09T10:31')
    """
    return _minutes(begin), _minutes(end + timedelta(seconds=59, microseconds=999_999))


def _minutes(moment: datetime) -> str:
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="minutes")


def _moment(text: str) -> datetime:
    """A day or a moment, in UTC."""
    moment = datetime.fromisoformat(text)
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def _relative(words: str, first: datetime, newest: datetime) -> Period:
    if words not in relative_periods(first, newest):
        return ALL_DAYS
    before, until = _RELATIVE[words]
    days = (newest.date() - before * _DAY, newest.date() - until * _DAY)
    shown = days[:1] if days[0] == days[1] else days
    return Period((words,), words, shown, _midnight(days[0]), _midnight(days[1]) + _DAY)


def _between(begin: datetime, end: datetime, first: datetime, last: datetime) -> Period:
    if begin >= end or end <= first or begin >= last + timedelta(hours=1):
        return ALL_DAYS
    ended = f"{end:%H:%M}" if begin.date() == end.date() else f"{end:%Y-%m-%d %H:%M}"
    days = (max(begin.date(), first.date()), min((end - timedelta(microseconds=1)).date(), last.date()))
    shown = days[:1] if days[0] == days[1] else days
    return Period(between(begin, end), f"{begin:%Y-%m-%d %H:%M} to {ended}", shown, begin, end)


def _of_days(days: Sequence[date], first: date, last: date) -> Period:
    if days[0] > last or days[-1] < first:
        return ALL_DAYS
    ends = (days[0], days[-1]) if len(days) > 1 else days
    shown = tuple(min(max(day, first), last) for day in ends)
    address = tuple(day.isoformat() for day in shown)
    return Period(address, "", shown, _midnight(shown[0]), _midnight(shown[-1]) + _DAY)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
