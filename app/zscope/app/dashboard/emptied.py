"""Why a section of a page has no rows: the filters leave none, or nothing is loaded.

The query that returned nothing is asked again with fewer filters. So a message about filters is only drawn if
there are rows without them, and the nearest day is one on which the section has rows for the other filters.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from zlib import crc32

import streamlit as st

from zscope.app.dashboard.drawing import plain
from zscope.app.dashboard.filter_bar import with_period
from zscope.app.dashboard.filter_choices import Choices, choices
from zscope.app.dashboard.period import ONE_DAY, Period, show_days
from zscope.app.shared.filters import Filters

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    import pyarrow as pa

    from zscope.app.dashboard.page_data import PageData

_LONGEST = 400
_PARTS = {"system": "systems", "stack": "stacks", "port": "ports", "job": "jobs", "role": "roles"}


@dataclass(frozen=True, slots=True)
class Emptied:
    """What leaves no rows."""

    words: str
    nearest: date | None = None
    """The nearest day with rows, if the period leaves none."""


def draw_emptied(data: PageData, section: str) -> bool | None:
    """Draw why the filters leave no rows for what a section has asked for last; return whether they do.

    None if there are filters and it cannot be told.
    """
    if _asked_last(data) is None:
        return None if _words(data.filters) else False
    found = emptied(data)
    if found is None:
        return False
    st.info(plain(found.words, _LONGEST), icon=":material/filter_alt_off:")
    if found.nearest is not None:
        key = f"show-{crc32(section.encode()):08x}"
        if st.button(f"Show {found.nearest}", key=key, icon=":material/event_upcoming:"):
            show_days(found.nearest, found.nearest)
            st.rerun()
    return True


def _asked_last(data: PageData) -> Callable[[Filters], pa.Table] | None:
    """The query that was run last, if it returned nothing for the filters and can be asked with others."""
    reading = next(iter(data.newest), None)
    if reading is None or reading.filters != data.filters or _has_rows(reading.rows):
        return None
    return reading.again


def emptied(data: PageData) -> Emptied | None:
    """Return why the filters leave no rows for the query that was run last; None if they are not why."""
    again, filters = _asked_last(data), data.filters
    if again is None:
        return None

    def has_rows(other: Filters) -> bool:
        return _has_rows(again(other))

    if not filters.with_runs and has_rows(replace(filters, with_runs=True)):
        return Emptied(
            'All hours with such rows have benchmark runs, which are left out. "Benchmark runs" under '
            '"Filters" counts them.'
        )
    chosen = _words(filters)
    if chosen and has_rows(Filters(with_runs=filters.with_runs)):
        return _by_filters(data, has_rows, chosen)
    return None


def _by_filters(data: PageData, has_rows: Callable[[Filters], bool], chosen: str) -> Emptied:
    filters = data.filters
    if filters.has_period and has_rows(filters.without_period()):
        nearest = nearest_day(filters, choices(data.queries, data.version), has_rows)
        period = Filters(filters.begin, filters.end, first_day=filters.first_day, last_day=filters.last_day)
        others = _words(filters.without_period())
        said = f"No rows {_words(period)}{f' for {others}' if others else ''}."
        return Emptied(f"{said} Nearest data: {nearest}." if nearest else said, nearest)
    needless = [
        name
        for name, field in _PARTS.items()
        if getattr(filters, field) and has_rows(_without(filters, field))
    ]
    remedy = f" Without the filter {needless[0]} there are rows." if needless else ""
    return Emptied(f"No rows for these filters: {chosen}.{remedy}")


def _words(filters: Filters) -> str:
    """What is chosen, apart from the runs that count."""
    words = replace(filters, with_runs=False).words()
    day = filters.first_day if filters.first_day == filters.last_day else None
    return words.replace(f"from {day} to {day}", f"on {day}") if day else words


def _without(filters: Filters, field: str) -> Filters:
    nothing: dict[str, Any] = {field: ()}
    return replace(filters, **nothing)


def nearest_day(filters: Filters, offered: Choices, has_rows: Callable[[Filters], bool]) -> date | None:
    """Return the day nearest to the period with rows for the other filters; of two, the later."""
    first, last = offered.first_day, offered.last_day
    begin = filters.first_day or (filters.begin.date() if filters.begin else first)
    end = filters.last_day or (filters.end.date() if filters.end else last)
    if first is None or last is None or begin is None or end is None:
        return None

    def seek(nearest: date, furthest: date, step: timedelta) -> date | None:
        """The first day with rows on the way from one day to another."""
        days = (furthest - nearest) // step + 1

        def within(count: int) -> bool:
            other = nearest + (count - 1) * step
            period = Period(days=(min(nearest, other), max(nearest, other)))
            return has_rows(with_period(filters, period, offered))

        low, high = 0, min(1, days)
        while high < days and not within(high):
            low, high = high, min(2 * high, days)
        if days < 1 or not within(high):
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if within(middle) else (middle, high)
        return nearest + (high - 1) * step

    # Days are whole; a period of moments leaves the rest of its days.
    beside = ONE_DAY if filters.first_day else 0 * ONE_DAY
    found = [
        seek(max(end + beside, first), last, ONE_DAY), seek(min(begin - beside, last), first, -ONE_DAY)
    ]  # fmt: skip
    days = [day for day in found if day is not None]
    return min(days, key=lambda day: (max(begin - day, day - end), begin - day), default=None)


def _has_rows(rows: pa.Table) -> bool:
    """Whether a result says anything: totals over nothing are a row of zeros and nulls."""
    return any(value for column in rows.columns for value in column.to_pylist())
