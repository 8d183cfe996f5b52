"""The period a report is of: what its heading says and, where that has no date, what is known beyond it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING

from zscope.parsers.text.report import Told

if TYPE_CHECKING:
    from zscope.parsers.text.report import Origin
    from zscope.parsers.text.zvm.heading import Heading, Stamp

_DAY = timedelta(days=1)
_CLOCK_ERROR_S = 1
"""Times are printed in whole seconds."""


@dataclass(frozen=True, slots=True)
class Period:
    """When the figures of a report were measured."""

    start: datetime | None
    seconds: int | None
    told: Told
    """What told the date."""
    contradiction: str = ""
    """What the heading says in two ways."""


def period_of(heading: Heading, origin: Origin) -> Period:
    """The period; `For n Secs` says its length, or else its two ends do.

    A report shows what was before it was made. So a time without a date is the latest one before the run of
    the listing; a screen of a known day ended on that day.
    """
    apart = _apart(heading.begin, heading.end)
    seconds, contradiction = heading.seconds or apart, ""
    if apart is None and heading.begin and heading.end and heading.begin.day:
        contradiction = "To is not behind From"
    elif heading.seconds and apart is not None and not _same_length(heading, apart):
        contradiction = f"For is {heading.seconds} s, but From and To are {apart} s apart"
    try:
        start, told = _start(heading, seconds, origin)
    except OverflowError:
        start, told = None, Told.NOTHING
    return Period(start, seconds, told, contradiction)


def _apart(begin: Stamp | None, end: Stamp | None) -> int | None:
    """How many seconds are between the two ends; times without a date can pass midnight."""
    if begin is None or end is None:
        return None
    if begin.moment and end.moment:
        between = end.moment - begin.moment
    else:
        between = (datetime.combine(date.min, end.clock) - datetime.combine(date.min, begin.clock)) % _DAY
    return int(between.total_seconds()) if between > timedelta() else None


def _same_length(heading: Heading, apart: int) -> bool:
    difference = abs((heading.seconds or 0) - apart)
    if heading.begin and heading.end and not (heading.begin.day and heading.end.day):
        # Without dates nobody sees how many days are between.
        difference = min(difference % 86_400, -difference % 86_400)
    return difference <= _CLOCK_ERROR_S


def _start(heading: Heading, seconds: int | None, origin: Origin) -> tuple[datetime | None, Told]:
    begin, end = heading.begin, heading.end
    if begin and begin.moment:
        return begin.moment, Told.REPORT
    length = timedelta(seconds=seconds) if seconds else None
    if end and end.moment and length:
        return end.moment - length, Told.REPORT
    run = heading.run.moment if heading.run else None
    if run:
        latest, told = run, Told.REPORT
    elif origin.day:
        latest, told = datetime.combine(origin.day, origin.clock or time.max), origin.time_from
    else:
        return None, Told.NOTHING
    if end and length:
        return _latest(end, latest) - length, told
    return (_latest(begin, latest), told) if begin else (None, Told.NOTHING)


def _latest(stamp: Stamp, before: datetime) -> datetime:
    """The last moment with this time of day that is not behind another one."""
    moment = datetime.combine(before.date(), stamp.clock)
    return moment if moment <= before else moment - _DAY
