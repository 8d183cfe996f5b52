"""The period of a page: what an address says, and what queries need.

A relative period is in the address as words, so a bookmark of the last week shows the last week of the data
that are loaded when it is opened. Moments come from a range that the reader has marked in a chart over time.
A period that the data do not reach stays as it is: the page says so, and what is near.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING

import streamlit as st

from zscope.pipelines.metrics.metric_statements import MetricQueryError
from zscope.pipelines.metrics.query_options import day_or_moment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zscope.app.dashboard.filter_choices import Choices

WANTED = "period_wanted"
"""In the session: the period that the reader has just chosen, as in the address."""

ALL = "all"
ONE_DAY = timedelta(days=1)
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
    """The first and the last day, local days; only one while the reader has chosen one."""
    begin: datetime | None = None
    """First moment, in UTC; None for whole days."""
    end: datetime | None = None
    """First moment after it, in UTC."""


ALL_DAYS = Period()


def relative_periods(first: date, newest: date) -> tuple[str, ...]:
    """Return the relative periods that begin within the data.

    >>> relative_periods(date(2026, 3, 1), date(2026, 3, 7))
    ('last day', 'last week')
    """
    return tuple(words for words, (before, _) in _RELATIVE.items() if newest - before * ONE_DAY >= first)


def read_period(wanted: Sequence[str], choices: Choices) -> Period | None:
    """Return the period with these values in the address; None if there is none.

    Relative periods end with the newest day. Days are cut to those of the data if some of them are.
    """
    first, last = choices.first_day, choices.last_day
    if not wanted:
        return ALL_DAYS
    if first is None or last is None:
        return None
    if len(wanted) == 1 and wanted[0] in _RELATIVE:
        return _relative(wanted[0], choices.newest_day or last)
    try:
        ends = [day_or_moment(text) for text in wanted]
    except MetricQueryError:
        return None
    if any(isinstance(end, datetime) for end in ends):
        moments = sorted(_moment(end) for end in ends)
        return _between(moments[0], moments[-1])
    return _of_days(sorted(ends), first, last)


def between(begin: datetime, end: datetime) -> tuple[str, str]:
    """Return the values in the address for the time between two moments, in whole minutes.

    >>> between(datetime(2026, 3, 9, 10, 0, 12, tzinfo=UTC), datetime(2026, 3, 9, 10, 30, 1, tzinfo=UTC))
    ('2026-03-09T10:00', '2026-03-09T10:31')
    """
    return _minutes(begin), _minutes(end + timedelta(seconds=59, microseconds=999_999))


def _minutes(moment: datetime) -> str:
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="minutes")


def _moment(end: date) -> datetime:
    return end if isinstance(end, datetime) else datetime.combine(end, time(), UTC)


def _relative(words: str, newest: date) -> Period:
    before, until = _RELATIVE[words]
    return Period((words,), words, _ends(newest - before * ONE_DAY, newest - until * ONE_DAY))


def _between(begin: datetime, end: datetime) -> Period | None:
    if begin >= end:
        return None
    ended = f"{end:%H:%M}" if begin.date() == end.date() else f"{end:%Y-%m-%d %H:%M}"
    words = f"{begin:%Y-%m-%d %H:%M} to {ended} UTC"
    return Period(between(begin, end), words, (), begin, end)


def _of_days(days: Sequence[date], first: date, last: date) -> Period:
    shown = tuple((days[0], days[-1])[: len(days)])
    if days[0] <= last and days[-1] >= first:
        shown = tuple(min(max(day, first), last) for day in shown)
    return Period(tuple(day.isoformat() for day in shown), "", shown)


def _ends(first: date, last: date) -> tuple[date, ...]:
    return (first,) if first == last else (first, last)


def show_between(begin: datetime, end: datetime) -> None:
    """Choose the time between two moments for the next run of the page."""
    st.session_state[WANTED] = between(begin, end)


def show_days(first: date, last: date) -> None:
    """Choose whole days for the next run of the page."""
    st.session_state[WANTED] = (first.isoformat(), last.isoformat())
